"""The project type of Annif: scores, both places that a model can be in, and all of it through
Annif's own commands.
"""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import installing
from shortlist.integrations import descending
from tests.server.servers import in_thread

WORDS = {
    "birds": "feather wing nest song",
    "fish": "fin scale river lake",
    "money": "bank rate coin loan",
}
URI = "http://example.org/{}"
TOKEN = "a token that is long enough"


@given(st.lists(st.one_of(st.none(), st.just(float("nan")), st.floats(0, 1)), max_size=50))
def test_scores_keep_the_order_and_are_shares(probabilities):
    ranked = [(str(n), probability) for n, probability in enumerate(probabilities)]
    found = list(descending(ranked))
    assert [label for label, _ in found] == [label for label, _ in ranked]
    scores = np.array([score for _, score in found], dtype=np.float32)
    assert (np.diff(scores) < 0).all()
    assert ((scores > 0) & (scores <= 1)).all()


def test_a_score_is_how_likely_the_label_is_or_one_over_its_place():
    assert [score for _, score in descending([("a", 0.9), ("b", 0.5)])] == [0.9, 0.5]
    unknown = [score for _, score in descending([("a", None), ("b", float("nan")), ("c", None)])]
    assert unknown == pytest.approx([1, 1 / 2, 1 / 3])


def test_without_the_package_the_command_says_what_to_install(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "annif", None)
    monkeypatch.delitem(sys.modules, "shortlist.integrations.annif_backend", raising=False)
    found = run("annif", "train", "--help")
    assert found.code == 2
    assert found.err == f"shortlist: this needs the package annif; {installing('annif')}\n"


# With the real package.


@pytest.fixture
def annif(tmp_path):
    """annif("suggest", …): Annif's own command, in a folder with a vocabulary, two projects and
    documents.
    """
    pytest.importorskip("annif", reason="needs the package annif: make integrations")
    rows = "".join(f"{URI.format(name)},{name}\n" for name in WORDS)
    (tmp_path / "vocabulary.csv").write_text(f"uri,label_en\n{rows}")
    lines = [
        f"{word} {other} seen\t<{URI.format(name)}>\n"
        for name, words in WORDS.items()
        for word in words.split()
        for other in words.split()
    ]
    (tmp_path / "documents.tsv").write_text("".join(lines))
    (tmp_path / "more.tsv").write_text(f"zeppelin\t<{URI.format('money')}>\n" * 3)
    own = "name={0}\nlanguage=en\nbackend=shortlist\nvocab=animals\nallow_learn=true\nlimit=10\n"

    def configure(more=""):
        (tmp_path / "projects.cfg").write_text(
            f"[own]\n{own.format('own')}\n[served]\n{own.format('served')}{more}"
        )

    def call(*arguments, stdin="", code=0):
        command = [sys.executable, "-m", "shortlist.cli", "annif", *arguments]
        done = subprocess.run(
            command,
            cwd=tmp_path,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=600,
            env=os.environ | {"SHORTLIST_TOKEN": TOKEN, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + (done.stderr if code else "")

    configure()
    call("load-vocab", "animals", "vocabulary.csv", "--language", "en")
    call.configure, call.folder = configure, tmp_path
    return call


def best(printed):
    """The first suggestion: its URI."""
    return printed.split("\n")[0].split("\t")[0].strip("<>")


@pytest.mark.real
def test_train_suggest_learn_and_eval_with_annifs_commands(annif):
    assert "train it first" in annif("learn", "own", "more.tsv", code=1)
    annif("train", "own", "documents.tsv")
    assert best(annif("suggest", "own", stdin="a nest and a song")) == URI.format("birds")
    assert best(annif("suggest", "own", stdin="zeppelin")) != URI.format("money")
    annif("learn", "own", "more.tsv")
    assert best(annif("suggest", "own", stdin="zeppelin")) == URI.format("money")
    annif(
        "eval",
        "own",
        "documents.tsv",
        "--metrics-file",
        "found.json",
        "--metric",
        "Precision@1",
        "--metric",
        "F1@5",
    )
    assert json.loads((annif.folder / "found.json").read_text())["Precision@1"] == 1
    assert "--learner must be one of" in annif(
        "train", "own", "documents.tsv", "-b", "shortlist.learner=none", code=1
    )


@pytest.mark.real
def test_a_project_that_asks_a_server_learns_into_its_journal(annif, tmp_path):
    annif("train", "own", "documents.tsv")
    folder = tmp_path / "state"
    folder.mkdir()
    from shortlist.server import snapshots

    snapshots.take_base(folder, tmp_path / "data" / "projects" / "own" / "model.shortlist")
    with in_thread(folder, token=TOKEN) as server:
        annif.configure(f"server={server.base_url}\n")
        assert best(annif("suggest", "served", stdin="a nest and a song")) == URI.format("birds")
        before = annif("suggest", "served", stdin="zeppelin")
        assert best(before) != URI.format("money")
        annif("learn", "served", "more.tsv")
        annif("learn", "served", "more.tsv")
        (entry,) = server.ask("examples")["examples"]
        assert entry["labels"] == [URI.format("money")]
        assert best(annif("suggest", "served", stdin="zeppelin")) == URI.format("money")
        server.ask("undo", number=entry["number"])
        assert annif("suggest", "served", stdin="zeppelin") == before
        assert "shortlist train" in annif("train", "served", "documents.tsv", code=1)
    assert "cannot reach" in annif("suggest", "served", stdin="a nest", code=1)
