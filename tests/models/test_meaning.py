"""Encoders that a model names, and labels that are known by their names before any example."""

import json
import subprocess
import sys

import numpy as np
import pytest

import shortlist as sl
from shortlist import LabelVocabulary
from shortlist.label_vocabulary import Concept
from shortlist.models import encoding
from tests.encoders.conftest import cache, folder  # noqa: F401 - fixtures

TOPICS = {
    "grain": ["wheat", "corn", "cereal", "harvest"],
    "money": ["bank", "rates", "loan", "finance"],
    "sport": ["goal", "match", "team", "game"],
}


def encoder(texts):
    """A vector that counts words by topic: words of one topic mean the same."""
    found = np.array(
        [
            [sum(word in words for word in text.split()) for words in TOPICS.values()]
            for text in texts
        ]
    )
    return found + 0.01


NAMES = LabelVocabulary(
    [Concept("c1", "cereal", ("harvest",)), Concept("c2", "finance"), Concept("c3", "game")]
)


def test_names_alone_are_ranked():
    model = sl.Categorizer(encoder=encoder).set_vocabulary(NAMES)
    assert model.rank("wheat fell", k=3).labels[0] == "c1"
    assert model.rank(["a loan", "the team"], k=1).labels.tolist() == [["c2"], ["c3"]]
    assert np.isnan(model.rank("wheat").probabilities).all()
    assert model.assign("wheat fell", precision=0.9) == []
    assert sum(vote for _, vote in model.explain("wheat fell", "c1")) == pytest.approx(
        model.rank("wheat fell").scores[0]
    )


def test_examples_take_over_and_labels_without_any_stay():
    model = sl.Categorizer(encoder=encoder).set_vocabulary(NAMES)
    for _ in range(5):
        model.learn("wheat fell", "c3")  # whatever the names say
    assert model.rank("wheat fell", k=1).labels[0] == "c3"
    assert model.rank("a loan", k=1).labels[0] == "c2"
    fitted = (
        sl.Categorizer(encoder=encoder)
        .set_vocabulary(NAMES)
        .fit(["corn and wheat", "bank rates"], ["c1", "c2"])
    )
    assert fitted.rank("the team", k=1).labels[0] == "c3"
    assert fitted.label_counts_[fitted.classes_.tolist().index("c3")] == 0


def test_beside_an_encoder_names_teach_their_words():
    names = LabelVocabulary(NAMES, teach=5)
    model = sl.Categorizer(encoder=encoder).set_vocabulary(names)
    model.fit(["corn and wheat", "bank rates"] * 9, [["c1", "c4"], ["c2", "c4"]] * 9)
    assert dict(model.explain("a game", "c3").votes)["game"] > 0.0


def test_a_label_that_nobody_has_used_is_suggested_and_never_decided():
    texts, labels = ["corn and wheat", "bank rates", "a loan"] * 60, ["c1", "c2", "c2"] * 60
    model = sl.Categorizer(encoder=encoder).set_vocabulary(NAMES).fit(texts, labels)
    assert model.rank("the team", k=1).labels[0] == "c3"
    assert (model.assign("the team", precision=0.5), model.assign("bank rates", precision=0.5)) == (
        [],
        ["c2"],
    )


def named(labels="c1 c2 c3", **options):
    names = dict(zip(labels.split(), ["cereal harvest", "finance", "game"], strict=True))
    return sl.Categorizer(encoder=encoder, **options).set_vocabulary(
        LabelVocabulary.from_names(names)
    )


def test_labels_that_have_only_names_can_be_merged(tmp_path):
    model = named()
    model.save(tmp_path / "m.shortlist")
    opened = sl.load(tmp_path / "m.shortlist")
    opened.encoder = encoder
    for one in (model.set_vocabulary(LabelVocabulary(list(NAMES)[::-1])), opened):
        one.encoder = None  # merging encodes nothing
        one.merge_labels(["c1"], "c3")
        vector = encoder(["a loan"])[0]
        assert one.rank("a loan", k=1, vector=vector).labels[0] == "c2"


def test_fit_sorts_the_labels_that_have_only_names_and_knows_numbers():
    texts, labels = ["corn and wheat", "bank rates"] * 60, ["c1", "c3"] * 60
    model = named("c3 c2 c1").fit(texts, labels)
    assert model.classes_.tolist() == ["c1", "c2", "c3"]
    assert model.predict_proba(["wheat"]).shape == (1, 3)
    assert named("1 2 3").fit(texts, [1, 3] * 60).classes_.tolist() == [1, 3]
    bounded = named("c3 c2 c1", max_memory="1GB").fit(texts, labels)
    assert bounded.rank(texts).scores.tolist() == model.rank(texts).scores.tolist()


def test_names_that_cannot_be_encoded_change_nothing():
    model = named()

    def failing(texts):
        raise RuntimeError("down")

    failing.__module__, failing.__qualname__ = encoder.__module__, encoder.__qualname__
    model.encoder = failing
    for call in (
        lambda: model.set_vocabulary(LabelVocabulary([*NAMES, Concept("c4", "loan")])),
        lambda: model.partial_fit([], [], classes=["loan"]),
    ):
        with pytest.raises(RuntimeError, match="down"):
            call()
        assert (model.classes_.tolist(), len(model.vocabulary_)) == (["c1", "c2", "c3"], 3)
    model.encoder = np.cos  # any other
    with pytest.raises(sl.InputError, match="mean nothing to the other"):
        model.set_vocabulary(NAMES)
    nothing = sl.Categorizer(encoder=encoder).set_vocabulary(
        LabelVocabulary([Concept("c1", "x", deprecated=True)])
    )
    with pytest.raises(ValueError, match="this Categorizer has learned nothing yet"):
        nothing.rank("wheat")


def test_a_vocabulary_that_comes_later_names_new_labels_only():
    model = sl.Categorizer(encoder=encoder).fit(
        ["corn and wheat", "bank rates"] * 10, ["c1", "c2"] * 10
    )
    before = model.rank("corn", k=1).scores
    model.set_vocabulary(NAMES)
    assert model.rank("the team", k=1).labels[0] == "c3"
    assert model.rank("corn", k=1).scores == before


def test_names_for_which_max_memory_has_no_room_change_nothing():
    def wide(texts):
        return np.pad(encoder(texts), [(0, 0), (0, 4093)])

    many = LabelVocabulary([*NAMES, *[Concept(f"d{n}", "game") for n in range(997)]])
    model = sl.Categorizer(encoder=wide, max_memory="64MB").set_vocabulary(NAMES)
    new, plain = sl.Categorizer(encoder=wide, max_memory="64MB"), sl.Categorizer(max_memory="64MB")
    for call in (
        lambda: model.set_vocabulary(many),
        lambda: new.set_vocabulary(many),
        lambda: plain.set_vocabulary(many).set_params(encoder=wide).fit(["wheat"], ["c1"]),
        lambda: model.partial_fit([], [], classes=[f"game {n}" for n in range(997)]),
    ):
        with pytest.raises(sl.InputError, match="max_memory is too small for 1,000 labels"):
            call()
    assert (model.classes_.tolist(), len(model.vocabulary_)) == (["c1", "c2", "c3"], 3)
    assert (new.__sklearn_is_fitted__(), new.vocabulary_) == (False, None)


def test_names_in_a_dictionary_and_deprecated_ones():
    names = LabelVocabulary.from_names({"c1": "cereal", 2: "finance"})
    assert (names.name("c1"), names.name(2), len(names)) == ("cereal", "finance", 2)
    old = LabelVocabulary([Concept("c1", "cereal"), Concept("c4", "harvest", deprecated=True)])
    model = sl.Categorizer(encoder=encoder).set_vocabulary(old)
    assert model.classes_.tolist() == ["c1"]


def test_labels_that_are_words_are_their_own_names():
    texts, labels = (
        ["corn fell", "rates rose", "they won"] * 2,
        ["cerealHarvest", "bank_loan", "q1"] * 2,
    )
    labels[0] = "bank_loan"
    learner = sl.TunedIndex(step=0)  # the weights stay as they begin
    fitted = sl.Categorizer(learner, encoder=encoder).fit(texts, labels)
    kept = fitted.learner_.vector_weights_
    names = encoder(["bank loan", "cereal Harvest"])
    expected = np.vstack([2 * names / np.linalg.norm(names, axis=1, keepdims=True), np.zeros(3)])
    assert fitted.classes_.tolist() == ["bank_loan", "cerealHarvest", "q1"]
    np.testing.assert_allclose(kept[:, :3].T, expected, rtol=1e-6)
    bounded = sl.Categorizer(learner, encoder=encoder, max_memory="1GB").fit(texts, labels)
    assert bounded.learner_.vector_weights_.tobytes() == kept.tobytes()
    named = sl.Categorizer(encoder=encoder).partial_fit([], [], classes=["cereal", "loan", "q1"])
    assert named.rank(["wheat fell", "my bank"], k=1).labels.tolist() == [["cereal"], ["loan"]]


@pytest.mark.parametrize(
    ("label", "names"),
    [
        ("card_arrival", ("card arrival",)),
        ("AddToPlaylist", ("Add To Playlist",)),
        ("体育", ("体育",)),
        ("_rec.sport/hockey", ("rec sport hockey",)),
        ("größeÄnderung", ("größe Änderung",)),
        ("Q42", ()),
        ("A", ()),
        ("", ()),
        (7, ()),
        ("c1", ("cereal", "harvest")),
    ],
)
def test_what_a_label_is_called(label, names):
    assert encoding.names_of(NAMES, label) == names


def test_without_an_encoder_a_vocabulary_ranks_nothing():
    model = sl.Categorizer().set_vocabulary(NAMES)
    with pytest.raises(ValueError, match="learned nothing yet"):
        model.rank("wheat")


@pytest.fixture
def fresh():
    """No encoder that was loaded before."""
    encoding._loaded.cache_clear()
    yield
    encoding._loaded.cache_clear()


@pytest.mark.usefixtures("fresh")
def test_a_model_file_finds_its_encoder_by_name_and_digest(folder, tmp_path):  # noqa: F811
    pytest.importorskip("onnxruntime", reason="encoders run with onnxruntime")
    model = sl.Categorizer(encoder=str(folder)).fit(
        ["the cat sat", "a dog ran"] * 5, ["cat", "dog"] * 5
    )
    model.save(tmp_path / "m.shortlist")
    opened = sl.load(tmp_path / "m.shortlist")
    assert opened.encoder == str(folder)
    assert opened.encoder_digest_ == model.encoder_digest_
    assert opened.rank("the cat").scores.tolist() == model.rank("the cat").scores.tolist()
    opened.learn("a cat ran", "cat")
    weights = folder / "model.safetensors"
    damaged = bytearray(weights.read_bytes())
    damaged[-2] ^= 1
    weights.write_bytes(damaged)
    encoding._loaded.cache_clear()
    with pytest.raises(sl.InputError, match=r"digest|SHA-256|other"):
        sl.load(tmp_path / "m.shortlist").rank("the cat")
    (tmp_path / "gone").mkdir()
    weights.unlink()
    encoding._loaded.cache_clear()
    with pytest.raises(sl.InputError):
        sl.load(tmp_path / "m.shortlist").rank("the cat")


STARS = ["wheat harvest", "a loan", "the game"] * 8, [1, 2, 3] * 8


def test_ratings_of_texts_by_their_meaning(tmp_path):
    plain, rater = sl.TextRater().fit(*STARS), sl.TextRater(encoder=encoder).fit(*STARS)
    # words that no example had
    assert rater.predict(["cereal", "finance", "match"]).tolist() == [1, 2, 3]
    assert plain.predict(["cereal"]).tolist() == plain.predict(["finance"]).tolist()
    rater.learn(["new words about a team"], [3])
    assert rater.predict(["a match with new words"]).tolist() == [3]
    found = rater.explain("a new loan")
    assert dict(found.votes).keys() >= {"(vector)", "loan"}
    row = rater._matrix(["a new loan"], None)
    assert sum(vote for _, vote in found.votes) == pytest.approx(rater.learner_.explain(row).score)
    rater.save(tmp_path / "stars.shortlist")
    opened = sl.load(tmp_path / "stars.shortlist")
    with pytest.raises(sl.InputError, match="made by the encoder"):
        opened.predict(["cereal"])
    opened.encoder = encoder
    assert opened.neighbour_distances(["cereal", "a match"]) == pytest.approx(
        rater.neighbour_distances(["cereal", "a match"])
    )


@pytest.mark.usefixtures("fresh")
def test_a_rater_finds_its_encoder_by_name_and_digest(folder, tmp_path):  # noqa: F811
    pytest.importorskip("onnxruntime", reason="encoders run with onnxruntime")
    rater = sl.TextRater(encoder=str(folder)).fit(*STARS)
    rater.save(tmp_path / "stars.shortlist")
    opened = sl.load(tmp_path / "stars.shortlist")
    assert opened.predict(STARS[0]).tolist() == rater.predict(STARS[0]).tolist()
    (folder / "model.safetensors").unlink()
    encoding._loaded.cache_clear()
    with pytest.raises(sl.InputError, match="model"):
        sl.load(tmp_path / "stars.shortlist").predict(["cereal"])


def test_documents_by_meaning():
    index = sl.RetrievalIndex(["corn prices", "the bank", "a match"], encoder=encoder)
    scores = index.scores(["loan", "team", "wheat"], "meaning")
    assert scores.argmax(axis=1).tolist() == [1, 2, 0]
    assert (scores <= 1 + 1e-12).all()
    assert index.scores([], "meaning").shape[0] == 0
    with pytest.raises(sl.InputError, match="needs an encoder"):
        sl.RetrievalIndex(["corn"]).scores(["corn"], "meaning")
    with pytest.raises(sl.InputError, match="not a finite row for each text"):
        sl.RetrievalIndex(["corn"], encoder=lambda texts: [[np.nan]])


# A terminal without a network: every connection but those inside the process is refused.
WITHOUT_NETWORK = """
import socket, sys
def refuse(*given, **named):
    raise AssertionError("a connection was opened")
socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = socket.create_connection = refuse
from shortlist.cli import main
main()
"""


@pytest.mark.long
@pytest.mark.parametrize("name", ["all-MiniLM-L6-v2", "a folder"])
def test_the_whole_path_without_a_network(name, folder, tmp_path):  # noqa: F811
    pytest.importorskip("onnxruntime", reason="encoders run with onnxruntime")
    encoder_name = str(folder)
    if name != "a folder":
        encoder_name = name
        try:
            sl.encoders.load_encoder(name)
        except sl.InputError as problem:
            pytest.skip(str(problem))
    (tmp_path / "names.tsv").write_text("c1\tcorn harvest\nc2\tfinance\n", encoding="utf-8")
    rows = [{"text": "corn harvest", "labels": ["c1"]}, {"text": "the bank", "labels": ["c2"]}] * 5
    (tmp_path / "data.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")

    def run(*given):
        command = [sys.executable, "-c", WITHOUT_NETWORK, *given]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    by = ["--encoder", encoder_name]
    run("train", "--vocabulary", "names.tsv", *by, "--output", "names.shortlist")
    assert (
        json.loads(run("rank", "names.shortlist", "--text", "corn harvest", "--json"))["labels"][0]
        == "c1"
    )
    run("learn", "names.shortlist", "data.jsonl")
    run("train", "data.jsonl", *by, "--output", "data.shortlist")
    assert "c2" in run("rank", "data.shortlist", "--text", "the bank")
    assert "(vector)" in run("explain", "data.shortlist", "--text", "the bank")
    assert json.loads(run("evaluate", "data.shortlist", "data.jsonl", "--json"))
