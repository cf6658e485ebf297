"""shortlist encode: vectors of a file, which can be stopped and resumed, for --vectors."""

import json
import os
import subprocess
import sys
import time
import urllib.request

import numpy as np
import pytest

from shortlist.encoders import load_encoder, vectors_file
from shortlist.encoders.vectors_file import write_vectors
from shortlist.errors import InputError
from tests.encoders.conftest import cache, folder  # noqa: F401 - fixtures
from tests.encoders.test_encoders import random_texts


def quiet(n):
    """Tell nobody."""


@pytest.fixture
def data(tmp_path):
    texts = [f"{text} {n}" for n, text in enumerate(random_texts(60))]
    path = tmp_path / "news.jsonl"
    records = [{"text": text, "labels": ["grain" if "corn" in text else "money"]} for text in texts]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path, texts


def test_vectors_of_a_file_serve_other_commands(folder, data, run, tmp_path):  # noqa: F811
    path, texts = data
    made = run("encode", path, "--encoder", folder)
    assert made.code == 0, made.err
    assert "vectors of 60 texts, 32 numbers each" in made.out
    target = tmp_path / "news.jsonl.vectors"
    assert np.array_equal(np.load(target), load_encoder(str(folder))(texts))
    found = run("train", path, "--vectors", target, "-o", tmp_path / "m.shortlist")
    assert found.code == 0, found.err
    again = run("encode", path, "--encoder", folder, "-o", tmp_path / "x.npy", "--json")
    assert json.loads(again.out)["texts"] == 60


def test_what_was_stopped_goes_on(folder, data, tmp_path, monkeypatch):  # noqa: F811
    _, texts = data
    monkeypatch.setattr(vectors_file, "TEXTS_WRITTEN_AT_ONCE", 7)
    encoder = load_encoder(str(folder))
    target = tmp_path / "v.npy"

    def stopping(n):
        if n == 28:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_vectors(texts, encoder, target, stopping)
    assert not target.exists()
    asked = []
    monkeypatch.setattr(
        type(encoder), "__call__", lambda self, some: asked.extend(some) or self._vectors(some)
    )
    monkeypatch.setattr(
        type(encoder), "_vectors", lambda self, some: self._engine.vectors(some), raising=False
    )
    assert write_vectors(texts, encoder, target, quiet) == (60, 28)
    assert asked == texts[28:]
    assert np.load(target).shape == (60, 32)
    assert not list(tmp_path.glob("*.partial*"))


def test_other_texts_or_another_encoder_are_noticed(folder, data, tmp_path, monkeypatch):  # noqa: F811
    _, texts = data
    monkeypatch.setattr(vectors_file, "TEXTS_WRITTEN_AT_ONCE", 7)
    target = tmp_path / "v.npy"

    def stop(n):
        if n == 14:
            raise KeyboardInterrupt

    encoder = load_encoder(str(folder))
    with pytest.raises(KeyboardInterrupt):
        write_vectors(texts, encoder, target, stop)
    with pytest.raises(InputError, match=r"v.npy.partial holds the vectors of other texts"):
        write_vectors(["other", *texts[1:]], encoder, target, quiet)
    with pytest.raises(InputError, match="holds the vectors of more texts"):
        write_vectors(texts[:5], encoder, target, quiet)
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 4}')
    other = load_encoder(str(folder))
    assert write_vectors(texts, other, target, quiet) == (60, 0)
    assert np.array_equal(np.load(target), other(texts))


def test_a_file_without_texts(folder, tmp_path):  # noqa: F811
    assert write_vectors([], load_encoder(str(folder)), tmp_path / "v.npy", quiet) == (0, 0)
    assert np.load(tmp_path / "v.npy").shape == (0, 32)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "name a file of texts to encode, or serve the encoder with --serve"),
        (["x.jsonl", "--serve"], "--serve takes no data"),
        (["-"], "the vectors of standard input need a file"),
        (["x.jsonl", "--encoder-model", "m"], "--encoder-model names the model of an endpoint"),
        (["none.jsonl"], "none.jsonl"),
    ],
)
def test_wrong_arguments(folder, run, arguments, sentence):  # noqa: F811
    found = run("encode", *arguments, "--encoder", folder)
    assert found.code == 2
    assert sentence in found.err


def test_an_address_needs_a_model(run):
    found = run("encode", "x.jsonl", "--encoder", "http://127.0.0.1:1/v1")
    assert (found.code, "needs the name of its model: --encoder-model NAME" in found.err) == (
        2,
        True,
    )


@pytest.mark.long
def test_the_whole_walk_through_an_endpoint(folder, data, tmp_path):  # noqa: F811
    """Names only, learn, train, rank, explain, evaluate and serve, through ``encode --serve``."""
    path, _ = data
    environment = os.environ | {"SHORTLIST_CACHE": "off"}
    command = [sys.executable, "-m", "shortlist"]
    serving = subprocess.Popen(
        [*command, "encode", "--serve", "--encoder", folder, "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    try:
        address = serving.stderr.readline().split(" at ")[1].split()[0]
        names = tmp_path / "names.tsv"
        names.write_text("grain\tcorn harvest\nmoney\tthe bank\n")
        by = ["--encoder", address, "--encoder-model", str(folder)]

        def shortlist(*arguments, endpoint=address):
            done = subprocess.run(
                [*command, *map(str, arguments)],
                capture_output=True,
                text=True,
                cwd=tmp_path,
                env=environment | {"SHORTLIST_ENDPOINT": endpoint},
            )
            assert done.returncode == 0, done.stderr
            return done.stdout

        shortlist("train", "--vocabulary", names, *by, "-o", "n.shortlist")
        assert "grain" in shortlist("rank", "n.shortlist", "--text", "corn harvest")
        shortlist("learn", "n.shortlist", path)
        shortlist("train", path, *by, "-o", "m.shortlist")
        assert "(vector)" in shortlist("explain", "m.shortlist", "--text", "corn harvest")
        assert "R1" in shortlist("evaluate", "m.shortlist", path, "--json")
        assert "endpoint" in shortlist("inspect", "m.shortlist")
        server = subprocess.Popen(
            [*command, "serve", "m.shortlist", *by, "--port", "0"],
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env=environment,
        )
        try:
            while "open http" not in (line := server.stderr.readline()):
                assert line
            url = line.split("open ")[1].split()[0]

            def rank():
                request = urllib.request.Request(
                    f"{url}v1/rank",
                    json.dumps({"text": f"corn {time.monotonic()}"}).encode(),
                    {"content-type": "application/json"},
                )
                return json.load(urllib.request.urlopen(request))["decisions"][0]["reason"]

            assert "words alone" not in (rank() or "")
            serving.terminate()
            serving.wait()
            assert "words alone" in rank()
        finally:
            server.terminate()
            server.communicate()
    finally:
        serving.terminate()
        serving.communicate()
