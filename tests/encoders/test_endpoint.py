"""Endpoints: the same vectors as the encoder behind them; one sentence for any that is dead, slow
or wrong; and neither address nor key in a model file.
"""

import base64
import contextlib
import json
import pickle
import socket
import threading
import time
import urllib.error
import urllib.request

import numpy as np
import pytest

import shortlist as sl
from shortlist.encoders import EncoderChanged, EndpointError, endpoint, load_encoder
from shortlist.encoders.endpoint import Patience, set_patience
from shortlist.encoders.fingerprint import agree, fingerprint_of
from shortlist.errors import InputError
from tests.encoders.endpoints import Answering, answer_of, honest, serving

QUICK = Patience(seconds=1.0, retries=2)
KEY = "a-key-of-many-letters"


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """Pauses are short, and no endpoint is remembered."""
    monkeypatch.setattr(endpoint, "FIRST_PAUSE", 0.01)
    for name in ("SHORTLIST_ENDPOINT", "SHORTLIST_ENDPOINT_KEY", "SHORTLIST_ENDPOINT_KEY_FILE"):
        monkeypatch.delenv(name, raising=False)
    set_patience(QUICK)
    endpoint._endpoint.cache_clear()
    yield
    endpoint._endpoint.cache_clear()
    set_patience(Patience())


@pytest.fixture
def answering():
    server = Answering()
    yield server
    server.close()


def unit(rows):
    rows = np.array(rows)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


# Our own server is the counterpart.


def test_an_endpoint_gives_the_vectors_of_the_encoder_behind_it(folder):
    encoder = load_encoder(str(folder))
    texts = ["corn harvest", "", "the bank " * 40, "Zürich \ud800", "wheat"] * 20
    with serving(encoder) as address:
        asked = load_encoder(f"{address}#{folder}")
        made = asked(texts)
        wanted = encoder(texts)
        wanted[[not text for text in texts]] = 0  # an empty text is not sent
        np.testing.assert_allclose(made, wanted, atol=1e-6)
        assert (asked.name, asked.dimension, asked.device) == (
            f"endpoint:{folder}",
            encoder.dimension,
            "endpoint",
        )
        again = pickle.loads(pickle.dumps(asked))
        assert np.array_equal(again(["wheat"]), asked(["wheat"]))
        assert asked([]).shape == (0, encoder.dimension)


def ask(address, question, headers=None, path="/embeddings"):
    """The status and the answer of our own server."""
    content = question if isinstance(question, bytes) else json.dumps(question).encode()
    sent = {"content-type": "application/json"} | (headers or {})
    request = urllib.request.Request(address + path, content, sent)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as problem:
        return problem.code, json.load(problem)["error"]["message"]


def test_our_server_speaks_as_openai_does(folder):
    encoder = load_encoder(str(folder))
    question = {"model": str(folder), "input": "corn"}
    with serving(encoder) as address:
        status, answer = ask(address, question)
        assert status == 200
        assert (answer["object"], answer["model"]) == ("list", str(folder))
        assert answer["data"][0]["embedding"] == encoder(["corn"])[0].tolist()
        _, answer = ask(address, question | {"encoding_format": "base64"})
        encoded = np.frombuffer(base64.b64decode(answer["data"][0]["embedding"]), dtype="<f4")
        assert np.array_equal(encoded, encoder(["corn"])[0])
        with urllib.request.urlopen(f"{address}/models") as listed:
            assert json.load(listed)["data"][0]["id"] == str(folder)


@pytest.mark.parametrize(
    ("change", "status", "sentence"),
    [
        ({"model": "other"}, 404, "the only model here is"),
        ({"input": [1, 2]}, 400, "input must be a text or a list of texts"),
        ({"input": ["a"] * 1001}, 413, "1,001 texts are more than"),
        ({"encoding_format": "int8"}, 400, "encoding_format must be one of float, base64"),
        ({"dimensions": 3}, 400, "vectors have 32 dimensions here"),
    ],
)
def test_our_server_refuses_in_a_sentence(folder, change, status, sentence):
    with serving(load_encoder(str(folder))) as address:
        found, said = ask(address, {"model": str(folder), "input": "corn"} | change)
        assert (found, sentence in said) == (status, True)


def test_our_server_is_for_this_machine_or_for_a_token(folder):
    encoder = load_encoder(str(folder))
    question = {"model": str(folder), "input": "corn"}
    with serving(encoder) as address:
        assert ask(address, question, {"host": "evil.example"})[0] == 421
        assert ask(address, question, {"content-type": "text/plain"})[0] == 415
        assert ask(address, b"[" * 9000)[0] == 400
        assert ask(address, b" " * 3_000_000)[0] == 413
    with serving(encoder, token=KEY) as address:
        assert ask(address, question)[0] == 401
        assert ask(address, question, {"authorization": f"Bearer {KEY}"})[0] == 200


def test_our_server_listens_to_others_with_a_token_only(folder):
    from shortlist.server.embeddings import serve_encoder

    encoder = load_encoder(str(folder))
    for host, token, sentence in (
        ("0.0.0.0", None, "listening on 0.0.0.0 lets others in"),
        ("0.0.0.0", "short", "the token has 5 characters"),
    ):
        with pytest.raises(InputError, match=sentence):
            serve_encoder(encoder, host, 0, token, print)


# The key, the address and the model file.


@pytest.mark.parametrize("where", ["environment", "file"])
def test_a_key_is_sent_and_kept_nowhere(answering, tmp_path, monkeypatch, where, caplog):
    if where == "environment":
        monkeypatch.setenv("SHORTLIST_ENDPOINT_KEY", KEY)
    else:
        (tmp_path / "key").write_text(f"{KEY}\n")
        monkeypatch.setenv("SHORTLIST_ENDPOINT_KEY_FILE", str(tmp_path / "key"))
    model = sl.Categorizer(encoder=f"{answering.address}#tiny")
    model.fit(["corn and wheat", "bank rates"] * 9, ["grain", "money"] * 9)
    assert answering.headers[-1]["Authorization"] == f"Bearer {KEY}"
    model.save(tmp_path / "m.shortlist")
    stored = (tmp_path / "m.shortlist").read_bytes()
    assert KEY.encode() not in stored
    assert b"127.0.0.1" not in stored
    assert b"endpoint:tiny" in stored
    answering.answer = lambda texts: (401, json.dumps({"error": f"bad key {KEY}"}).encode())
    with pytest.raises(EndpointError, match="asks for a key") as caught:
        model.rank("other words")
    answering.answer = lambda texts: (418, json.dumps({"error": {"message": KEY}}).encode())
    with pytest.raises(EndpointError, match=r"status 418: …") as other:
        model.rank("other words")
    assert KEY not in f"{caught.value}{other.value}{caplog.text}{model.encoder!r}"


def test_a_model_file_finds_its_endpoint_by_the_environment(answering, tmp_path, monkeypatch):
    model = sl.Categorizer(encoder=f"{answering.address}#tiny")
    model.fit(["corn and wheat", "bank rates"] * 9, ["grain", "money"] * 9)
    model.save(tmp_path / "m.shortlist")
    opened = sl.load(tmp_path / "m.shortlist")
    assert opened.encoder == "endpoint:tiny"
    with pytest.raises(InputError, match="set SHORTLIST_ENDPOINT to it"):
        opened.rank("corn")
    monkeypatch.setenv("SHORTLIST_ENDPOINT", answering.address)
    assert opened.rank("corn").scores.tolist() == model.rank("corn").scores.tolist()


def test_a_changed_model_behind_the_same_name_is_noticed(answering, tmp_path, monkeypatch):
    from shortlist.models import encoding

    model = sl.Categorizer(encoder=f"{answering.address}#tiny")
    model.fit(["corn and wheat", "bank rates"] * 9, ["grain", "money"] * 9)
    model.save(tmp_path / "m.shortlist")
    answering.answer = lambda texts: answer_of([row[::-1] for row in honest(texts)])
    endpoint._endpoint.cache_clear()
    encoding._loaded.cache_clear()
    monkeypatch.setenv("SHORTLIST_ENDPOINT", answering.address)
    with pytest.raises(EncoderChanged, match="gives other vectors for the same texts"):
        sl.load(tmp_path / "m.shortlist").rank("corn")
    opened = sl.load(tmp_path / "m.shortlist")
    opened.encoder = load_encoder("endpoint:tiny")  # a callable is checked as well
    with pytest.raises(EncoderChanged, match="gives other vectors for the same texts"):
        opened.rank("corn")


def test_a_model_that_changes_while_the_endpoint_is_away_is_noticed(answering):
    encoder = load_encoder(f"{answering.address}#tiny")
    answering.answer = lambda texts: (503, b"")
    with pytest.raises(EndpointError):
        encoder(["corn"])
    answering.answer = lambda texts: answer_of([row[::-1] for row in honest(texts)])
    with pytest.raises(EncoderChanged, match="than before"):
        encoder(["corn"])


def test_fingerprints_allow_for_rounding():
    draw = np.random.default_rng(0)
    vectors = unit(draw.normal(size=(3, 1024))).astype(np.float32)
    near = unit(vectors + 1e-3 * draw.normal(size=vectors.shape)).astype(np.float32)
    far = unit(draw.normal(size=(3, 1024))).astype(np.float32)
    first = fingerprint_of(vectors)
    assert agree(first, fingerprint_of(near))
    assert not agree(first, fingerprint_of(far))
    assert not agree(first, fingerprint_of(vectors[:, :512]))
    for wrong in ("vectors:1024:", "vectors:1024:%%", "sha256:1", ""):
        assert not agree(first, wrong)


# Batches and retries.


def test_texts_are_sent_in_batches_and_each_once(answering):
    encoder = load_encoder(f"{answering.address}#tiny")
    texts = [f"text {n}" for n in range(100)]
    answering.asked.clear()
    made = encoder(texts + texts)
    np.testing.assert_allclose(made[:100], unit(honest(texts)), atol=1e-6)
    assert sorted(map(len, answering.asked)) == [4, 32, 32, 32]


def test_a_busy_endpoint_is_asked_again_after_growing_pauses(answering, monkeypatch):
    encoder = load_encoder(f"{answering.address}#tiny")
    pauses = []
    monkeypatch.setattr(endpoint.time, "sleep", pauses.append)
    refusals = [(429, ("retry-after", "7"), b""), (503, b"")]
    answering.answer = lambda texts: refusals.pop() if refusals else answer_of(honest(texts))
    assert encoder(["corn"]).shape == (1, 4)
    assert pauses == [0.01, 7.0]


def test_a_batch_that_is_too_large_is_sent_in_parts(answering):
    encoder = load_encoder(f"{answering.address}#tiny")

    def small(texts):
        if len(texts) > 5 or len(texts[0]) > 1000:
            return 413, b'{"error": "batch size is too large"}'
        return answer_of(honest(texts))

    answering.answer = small
    texts = [f"text {n}" for n in range(40)]
    np.testing.assert_allclose(encoder(texts), unit(honest(texts)), atol=1e-6)
    np.testing.assert_allclose(encoder(["e" * 3000]), unit(honest(["e" * 750])), atol=1e-6)


# Endpoints that are dead, slow or wrong.

WRONG = {
    "HTML": b"<html><body>It works!</body></html>",
    "another JSON": b'{"models": []}',
    "a list": b"[1, 2]",
    "deep": b"[" * 100_000,
}


def refused(encoder, sentence):
    with pytest.raises(EndpointError, match=sentence) as caught:
        encoder(["corn", "some other text"])
    said = str(caught.value)
    assert "\n" not in said
    assert len(said) < 400
    assert said.startswith("http://127.0.0.1:")


@pytest.mark.parametrize("content", WRONG.values(), ids=WRONG)
def test_answers_of_something_else(answering, content):
    encoder = load_encoder(f"{answering.address}#tiny")
    answering.answer = lambda texts: content
    refused(encoder, "does not answer as /v1/embeddings should")


LIES = {
    "too few": (lambda rows: rows[:-1], "a vector for each of 2 texts"),
    "too many": (lambda rows: [*rows, rows[0]], "a vector for each of 2 texts"),
    "NaN": (lambda rows: [[float("nan")] * 4, rows[1]], "numbers that are not finite"),
    "too large": (lambda rows: [[1e300] * 4, rows[1]], "numbers that are not finite"),
    "huge integers": (lambda rows: [[10**400] * 4, rows[1]], "not numbers"),
    "other dimensions": (
        lambda rows: [row[:3] for row in rows],
        "vectors of 3 numbers, and gave 4 before",
    ),
    "of different lengths": (lambda rows: [rows[0], rows[1][:3]], "not numbers, as many for each"),
    "words": (lambda rows: [["1", "2", "3", "4"]] * 2, "not numbers"),
    "nothing": (lambda rows: [None, None], "not numbers"),
    "truth": (lambda rows: [[True] * 4] * 2, "not numbers"),
    "no dimensions": (lambda rows: [[], []], "not numbers"),
}


@pytest.mark.parametrize("lie", LIES)
def test_vectors_that_cannot_be_used(answering, lie):
    encoder = load_encoder(f"{answering.address}#tiny")
    change, sentence = LIES[lie]
    answering.answer = lambda texts: answer_of(change(honest(texts)))
    refused(encoder, sentence)


def test_half_an_answer(answering):
    encoder = load_encoder(f"{answering.address}#tiny")
    answering.cut = 40
    refused(encoder, "the answer ends in the middle")


def test_a_slow_endpoint(answering):
    encoder = load_encoder(f"{answering.address}#tiny")
    set_patience(Patience(seconds=0.3, retries=0))
    answering.before_answer = lambda handler: time.sleep(1)
    refused(encoder, "does not answer within 0.3 s")


def test_an_endpoint_that_answers_drop_by_drop(answering):
    encoder = load_encoder(f"{answering.address}#tiny")
    set_patience(Patience(seconds=0.5, retries=0))

    drops = []

    def drip(handler):
        with contextlib.suppress(OSError):
            for _ in range(200):
                handler.wfile.write(b"H")
                drops.append(1)
                time.sleep(0.1)

    answering.before_answer = drip
    with pytest.raises(EndpointError):
        encoder(["corn"])
    assert len(drops) < 200


def test_a_dead_endpoint(answering):
    encoder = load_encoder(f"{answering.address}#tiny")
    for connection in encoder._engine._client._idle:
        connection.close()
    answering.close()
    refused(encoder, r"cannot be asked \(Connection refused\): start it, or correct its address")
    answering.close = lambda: None


@pytest.mark.parametrize("status", [301, 404, 500])
def test_statuses(answering, status):
    encoder = load_encoder(f"{answering.address}#tiny")
    answering.answer = lambda texts: (status, ("location", "http://other.example/"), b"")
    refused(encoder, f"status {status}")


def test_what_is_no_http(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def greet():
            for _ in range(3):
                connection, _ = listening.accept()
                connection.sendall(b"220 mail.example ESMTP\r\n" * 10)
                connection.close()

        threading.Thread(target=greet, daemon=True).start()
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        with pytest.raises(EndpointError, match="cannot be asked"):
            load_encoder(f"{address}#tiny")


def test_an_endpoint_that_failed_is_left_alone_for_a_time(answering):
    encoder = load_encoder(f"{answering.address}#tiny")
    set_patience(Patience(seconds=1.0, retries=0, rest=60))
    answering.answer = lambda texts: (500, b"")
    refused(encoder, "status 500")
    answering.asked.clear()
    refused(encoder, "status 500")
    assert not answering.asked


@pytest.mark.parametrize("change", [lambda rows: rows[:-1], lambda rows: [[0.0] * 4] * len(rows)])
def test_nothing_is_half_learned(answering, change):
    model = sl.Categorizer(encoder=f"{answering.address}#tiny")
    model.fit(["corn and wheat", "bank rates"] * 9, ["grain", "money"] * 9)
    n, scores = model.learner_.n_examples_, model.rank("corn").scores.tolist()
    texts = [f"new words {n}" for n in range(100)]
    answering.answer = lambda texts: answer_of(honest(texts)[:-1])
    with pytest.raises(EndpointError):
        model.learn_many(texts, ["new"] * 100)
    assert (model.learner_.n_examples_, model.rank("corn").scores.tolist()) == (n, scores)
    assert "new" not in model.classes_.tolist()


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("http://#m", "the address of an endpoint is such as http://localhost:8080/v1"),
        ("http://host:99999/v1#m", "the address of an endpoint is such as"),
        ("http://host/v1", "needs the name of its model"),
        ("http://me:secret@host/v1#m", "takes no name and password"),
    ],
)
def test_addresses(name, sentence):
    with pytest.raises(InputError, match=sentence) as caught:
        load_encoder(name)
    assert "secret" not in str(caught.value)
