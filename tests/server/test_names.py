"""Names of labels over HTTP."""

import pytest

import shortlist as sl
from shortlist.label_vocabulary import Concept, LabelVocabulary
from shortlist.server import snapshots
from tests.server.servers import in_thread

NAMES = [
    Concept("c1", "grain", ("cereals",)),
    Concept("c2", "money", ("finance",)),
    Concept("c3", "gold"),
]


@pytest.fixture
def named(tmp_path):
    texts, labels = ["wheat and corn", "the bank raised rates"] * 4, ["c1", "c2"] * 4
    model = sl.Categorizer(sl.FeatureFocus(), sl.TextVectorizer()).fit(texts, labels)
    model.set_vocabulary(LabelVocabulary(NAMES, "known")).save(tmp_path / "m.shortlist")
    folder = tmp_path / "state"
    folder.mkdir()
    snapshots.take_base(folder, tmp_path / "m.shortlist")
    with in_thread(folder) as client:
        yield client


def test_names_are_in_every_answer(named):
    (best,) = named.ask("rank", text="wheat", k=1)["rankings"][0]
    assert (best["label"], best["name"]) == ("c1", "grain")
    assert named.ask("explain", text="wheat")["name"] == "grain"
    named.learn("gold at the bank", ["c3"])
    assert named.get("/v1/examples").json()["examples"][0]["names"] == ["gold"]


@pytest.mark.parametrize(
    ("wanted", "found"), [("CEREAL", ["c1"]), ("finance", ["c2"]), ("c", ["c1", "c2"]), ("x", [])]
)
def test_search_finds_synonyms(named, wanted, found):
    labels = named.get("/v1/labels", params={"q": wanted}).json()["labels"]
    assert sorted(one["label"] for one in labels) == found
    assert all(one["name"] for one in labels)


def test_a_name_stands_for_its_label_and_others_are_refused(named):
    named.learn("gold was found", ["gold"])
    assert [one["label"] for one in named.ask("rank", text="gold", k=1)["rankings"][0]] == ["c3"]
    answer = named.post("/v1/learn", json={"examples": [{"text": "a", "labels": ["other"]}]})
    assert answer.status_code == 422
    assert "is not one of the 3 of the vocabulary" in answer.json()["error"]
