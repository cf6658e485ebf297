"""Names, parameters and refusals."""

import numpy as np
import pytest

import papers.measures  # noqa: F401 - losses, coverage, maxF1 and others
from shortlist import InputError
from shortlist.data.labels import LabelSets
from shortlist.data.ranking import Ranking
from shortlist.measures import MEASURES, depth, evaluate, evaluate_documents, measure

TWO = Ranking(
    np.array([[0, 1], [1, -1]], dtype=np.int32),
    np.array([[0.9, 0.1], [0.3, np.nan]]),
    ["a", "b", "c"],
)


@pytest.mark.parametrize(
    ("asked", "name", "parameters"),
    [
        ("P@5", "P@5", {"k": 5}),
        ("p@10", "P@10", {"k": 10}),
        ("R1", "R1", {"k": 1}),
        ("ndcg@3", "nDCG@3", {"k": 3}),
        ("NDCG", "nDCG", {}),
        ("loss1", "loss1", {}),
        ("mrr", "MRR", {}),
    ],
)
def test_names_are_understood(asked, name, parameters):
    found = measure(asked)
    assert (found.name, dict(found.parameters)) == (name, parameters)


@pytest.mark.parametrize(
    "asked",
    [
        "",
        "P",
        "P@",
        "P@k",
        "P@x",
        "loss4",
        "R@5",
        "MRR@",
        "precision",
        "accuracy",
        "R" + "9" * 5000,
    ],
)
def test_an_unknown_name_is_refused_with_the_registry(asked):
    with pytest.raises(InputError) as refusal:
        measure(asked)
    assert all(name in str(refusal.value) for name in MEASURES)


@pytest.mark.parametrize("asked", ["P@0", "P@-1", "P@1.5", "R0", "R99999999999"])
def test_k_is_a_whole_number_from_one(asked):
    with pytest.raises(InputError, match="k of"):
        measure(asked)


@pytest.mark.parametrize(
    ("asked", "n_labels", "k"),
    [
        (["R1", "P@5"], 1000, 5),
        (["R1", "P@5"], 3, 3),
        (["P@1000000"], 40, 40),
        (["MRR"], 1000, 200),
        (["MRR"], 7, 7),
        (["loss1", "R1"], 1000, 1000),
        (["R1"], 0, 1),
    ],
)
def test_no_more_labels_are_looked_at_than_there_are(asked, n_labels, k):
    assert depth([measure(name) for name in asked], n_labels) == k


def test_every_entry_explains_itself():
    for name, entry in MEASURES.items():
        assert entry.name == name
        assert entry.formula
        assert entry.description.endswith(".")
        assert entry.families


def test_a_measure_of_another_family_is_refused():
    with pytest.raises(InputError, match="a measure of documents, not of categories"):
        evaluate(TWO, [["a"], ["b"]], ["MAP"])


def test_looking_further_than_the_ranking_reaches_is_refused():
    with pytest.raises(InputError, match="P@3 looks at 3 labels and the ranking holds 2"):
        evaluate(TWO, [["a"], ["b"]], ["P@3"])
    complete = Ranking(TWO.ids, TWO.scores, ["a", "b"])
    assert evaluate(complete, [["a"], ["b"]], ["P@3"], resamples=0)["P@3"] == pytest.approx(1 / 3)


def changed(**arrays):
    return Ranking(arrays.get("ids", TWO.ids), arrays.get("scores", TWO.scores), TWO.label_names)


@pytest.mark.parametrize(
    ("ranking", "message"),
    [
        (TWO[0], "many rows"),
        (changed(ids=TWO.ids.astype(float)), "many rows"),
        (changed(scores=TWO.scores[:, :1]), "many rows"),
        (changed(ids=np.array([[0, 1], [-1, 1]], dtype=np.int32)), "row 1 .* after an empty place"),
        (
            changed(ids=np.array([[0, 3], [1, -1]], dtype=np.int32)),
            "row 0 .* not below the number of labels",
        ),
        (changed(ids=np.array([[0, 2**32], [1, -1]])), "row 0 .* not below the number of labels"),
        (changed(ids=np.array([[2, 2], [1, -1]], dtype=np.int32)), "row 0 .* a label twice"),
        (changed(scores=np.array([[0.9, np.nan], [0.3, 0.1]])), "row 0 .* without a score"),
        (changed(scores=np.array([[0.1, 0.9], [0.3, 0.1]])), "row 0 .* descending"),
    ],
)
def test_hostile_rankings_are_refused(ranking, message):
    with pytest.raises(InputError, match=message):
        evaluate(ranking, LabelSets.of([[0], [1]]), ["R1"])


@pytest.mark.parametrize(
    ("indptr", "ids", "message"),
    [
        ([0, 1], [0], "ranking has 2 rows but the truth has 1"),
        ([0, 0, 2], [1, 1], "truth of row 1 holds a label twice"),
    ],
)
def test_hostile_truths_are_refused(indptr, ids, message):
    truth = LabelSets(np.array(indptr, dtype=np.int64), np.array(ids, dtype=np.int32))
    with pytest.raises(InputError, match=message):
        evaluate(TWO, truth, ["R1"])


@pytest.mark.parametrize(
    ("scores", "relevance", "query", "message"),
    [
        ([1.0, np.nan], [0, 1], [1, 1], "not a finite number"),
        ([1.0, 2.0], [0], [1, 1], "relevance has 1 entry"),
        ([1.0, 2.0], [0, -1], [1, 1], "between 0 and 1000"),
        ([1.0, 2.0], [0, 1], [1], "query has shape"),
    ],
)
def test_hostile_documents_are_refused(scores, relevance, query, message):
    with pytest.raises(InputError, match=message):
        evaluate_documents(scores, relevance, query, ["MAP"])


def test_labels_can_be_given_by_name():
    found = evaluate(TWO, [["a", "c"], ["never seen"]], ["R1", "recall@2"], resamples=0)
    assert found.per_instance["R1"].tolist() == [1.0, 0.0]
    assert found.per_instance["recall@2"].tolist() == [0.5, 0.0]
