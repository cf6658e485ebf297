"""Cases small enough to work out on paper."""

import json
import math

import numpy as np
import pytest

from papers.index_comparison import sign_test
from papers.measures import document_margins
from shortlist import InputError
from shortlist.data.labels import LabelSets
from shortlist.data.ranking import Ranking
from shortlist.measures import (
    Propensities,
    among_first_k,
    confusion,
    evaluate,
    evaluate_documents,
    evaluate_ratings,
    paired_bootstrap,
    per_label,
    place_documents,
    place_labels,
    precision_recall,
    wilcoxon,
)

# Five labels a..e. Row 0 is ranked a b c d e, all of them; rows 1 and 2 retrieve three; row 3 has
# no true label.
NAMES = ["a", "b", "c", "d", "e"]
RANKING = Ranking(
    np.array(
        [[0, 1, 2, 3, 4], [3, 0, 1, -1, -1], [1, 4, 0, -1, -1], [0, 1, 2, -1, -1]], dtype=np.int32
    ),
    np.array(
        [
            [5, 4, 3, 2, 1],
            [9, 8, 8, np.nan, np.nan],
            [2, 1, 1, np.nan, np.nan],
            [3, 2, 1, np.nan, np.nan],
        ]
    ),
    NAMES,
)
TRUTH = [["a", "c"], ["a"], ["c", "e"], []]

BY_HAND = {
    "R1": (1, 0, 0),
    "R2": (1, 1, 1),
    "MRR": (1, 1 / 2, 1 / 2),
    "P@3": (2 / 3, 1 / 3, 1 / 3),
    "recall@2": (1 / 2, 1, 1 / 2),
    "F1@2": (2 * 1 / (2 + 2), 2 * 1 / (2 + 1), 2 * 1 / (2 + 2)),
    "F1@4": (2 * 2 / (4 + 2), 2 * 1 / (3 + 1), 2 * 1 / (3 + 2)),
    "one-error": (0, 1, 1),
    "AP": ((1 + 2 / 3) / 2, 1 / 2, (1 / 2 + 0) / 2),
    "nDCG@3": (
        (1 + 1 / 2) / (1 + 1 / math.log2(3)),
        1 / math.log2(3),
        (1 / math.log2(3)) / (1 + 1 / math.log2(3)),
    ),
    "loss1": (1, 1, 1),
    # row 1: d above a, b ties with a. Row 2: b above e, a ties; c, missing, below a, b and d
    "loss2": (1, 2, 2 + 3),
    "loss3": (1 / 6, 2 / 4, 5 / 6),
    "coverage": (2, 1, 4),
    "ROC": (1 - 1 / 6, 1 - 1.5 / 4, 1 - (1.5 + 2.5) / 6),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_one_measure(name):
    found = evaluate(RANKING, TRUTH, [name], resamples=0)
    np.testing.assert_allclose(found.per_instance[name], [*BY_HAND[name], np.nan])
    assert found[name] == pytest.approx(np.mean(BY_HAND[name]))
    assert found.left_out == {"no relevant label": 1}


def test_measures_that_are_not_means_of_instances():
    found = evaluate(RANKING, TRUTH, ["HR", "maxF1", "micro-F1", "macro-F1"], resamples=0)
    assert found["HR"] == pytest.approx(1 / np.mean(BY_HAND["MRR"]))
    # P and R at 2: (1/2 + 1/2 + 1/2)/3, (1/2 + 1 + 1/2)/3
    p3, r3 = np.mean(BY_HAND["P@3"]), (1 + 1 + 1 / 2) / 3
    assert found["maxF1"] == pytest.approx(
        max(2 * 0.5 * (2 / 3) / (0.5 + 2 / 3), 2 * p3 * r3 / (p3 + r3))
    )
    # assigned: a b | d | b e; true: a c | a | c e; correct: a, e
    assert found["micro-F1"] == pytest.approx(2 * 2 / (5 + 5))
    f1 = {"a": 2 * 1 / (1 + 2), "b": 0, "c": 0, "d": 0, "e": 2 * 1 / (1 + 1)}
    assert found["macro-F1"] == pytest.approx(sum(f1.values()) / 5)


def test_a_table_of_labels():
    table = per_label(RANKING.first(1), [*TRUTH[:3], ["never learned"]])
    rows = {row["label"]: row for row in table.to_dicts()}
    assert rows["a"] == {
        "label": "a",
        "true": 2,
        "assigned": 2,
        "correct": 1,
        "precision": 0.5,
        "recall": 0.5,
        "f1": 0.5,
    }
    assert rows["d"]["true"] == rows["d"]["recall"] == 0
    assert rows[None] == {
        "label": None,
        "true": 1,
        "assigned": 0,
        "correct": 0,
        "precision": 0.0,
        "recall": 0.0,
        "f1": 0.0,
    }
    assert [row["true"] for row in table.to_dicts()] == sorted(
        (row["true"] for row in rows.values()), reverse=True
    )


def test_propensities_of_a_small_training_set():
    """N = 20 examples, A = 1, B = 1: C = (ln 20 − 1)·2, and 1/p = 1 + C/(N_l + 1)."""
    C = (math.log(20) - 1) * 2
    frequent, rare, unseen = 1 + C / 10, 1 + C / 2, 1 + C
    propensities = Propensities([9, 9, 1, 9], 20, A=1, B=1)
    np.testing.assert_allclose(propensities.inverse(np.array([0, 2, 4])), [frequent, rare, unseen])
    found = evaluate(
        RANKING, TRUTH, ["PSP@1", "PSP@3", "PSnDCG@1"], propensities=propensities, resamples=0
    )
    # rows 1 and 2 miss at first
    assert found["PSP@1"] == pytest.approx(frequent / (rare + frequent + unseen))
    everything = (frequent + rare) + frequent + (rare + unseen)
    # only c of row 2 is not retrieved
    assert found["PSP@3"] == pytest.approx((everything - rare) / everything)
    assert found["PSnDCG@1"] == pytest.approx(found["PSP@1"])
    same = Propensities.of(LabelSets.of([[0, 1, 3]] * 9 + [[2]] + [[]] * 10), A=1, B=1)
    np.testing.assert_allclose(same.inverse(np.arange(6)), propensities.inverse(np.arange(6)))


@pytest.mark.parametrize(
    "wrong",
    [
        {"counts": [-1]},
        {"n_examples": 2},
        {"A": -1},
        {"B": -0.1},
        {"counts": [[1]]},
        {"A": math.nan},
    ],
)
def test_impossible_propensities_are_refused(wrong):
    with pytest.raises(InputError):
        Propensities(**{"counts": [1, 2], "n_examples": 10} | wrong)


def test_propensities_are_asked_for():
    with pytest.raises(InputError, match="PSP@1 needs propensities"):
        evaluate(RANKING, TRUTH, ["PSP@1"])


def test_the_examples_of_paper_003():
    """Section 2.1: on one corpus ROC area, on another accuracy, prefers the hypothesis with the
    lower MAP.
    """
    eight = np.array([1, 0, 0, 0, 0, 1, 1, 0])
    down, up = np.arange(8, 0, -1), np.arange(8)
    first, second = (
        evaluate_documents(s, eight, np.zeros(8), ["MAP", "ROC"], resamples=0) for s in (down, up)
    )
    assert (first["MAP"], first["ROC"]) == pytest.approx(((1 + 2 / 6 + 3 / 7) / 3, 7 / 15))
    assert (second["MAP"], second["ROC"]) == pytest.approx(((1 / 2 + 2 / 3 + 3 / 8) / 3, 8 / 15))
    eleven = np.array([1, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0])
    names = ["MAP", "best-accuracy"]
    first, second = (
        evaluate_documents(s, eleven, np.zeros(11), names, resamples=0)
        for s in (np.arange(11, 0, -1), np.arange(11))
    )
    assert first["best-accuracy"] == pytest.approx(0.64, abs=0.005)  # as printed
    assert second["best-accuracy"] == pytest.approx(0.73, abs=0.005)
    assert first["MAP"] > second["MAP"]


def test_queries_keep_their_order_of_appearance_and_may_be_mixed():
    found = evaluate_documents(
        [1, 2, 3, 4], [1, 0, 0, 1], ["b", "a", "b", "a"], ["MRR", "MAP"], resamples=0
    )
    assert found.per_instance["MRR"].tolist() == [0.5, 1.0]
    lonely = evaluate_documents([1, 2, 3], [1, 0, 1], [7, 7, 5], ["ROC", "MAP"], resamples=0)
    # query 5 has nothing else to compare with
    np.testing.assert_array_equal(lonely.per_instance["ROC"], [0, np.nan])
    assert lonely["ROC"] == 0
    assert lonely.left_out == {"ROC is undefined": 1}
    assert lonely["MAP"] == 0.75


def test_ties_of_documents_stay_in_the_order_given():
    assert evaluate_documents([1, 1], [1, 0], [0, 0], ["MRR"], resamples=0)["MRR"] == 1
    assert evaluate_documents([1, 1], [0, 1], [0, 0], ["MRR"], resamples=0)["MRR"] == 0.5


def test_precision_recall_graph():
    """Relevant at 1 and 3 of 3: precision 1 up to recall ½, 2/3 beyond. One that was never
    retrieved adds 0.
    """
    recall, precision = precision_recall(place_documents([3, 2, 1], [1, 0, 1], [0, 0, 0]))
    np.testing.assert_allclose(recall, np.linspace(0, 1, 11))
    np.testing.assert_allclose(precision, [1] * 6 + [2 / 3] * 5)
    _, precision = precision_recall(place_labels(RANKING, [["a", "c"], ["e"], [], []]), levels=3)
    np.testing.assert_allclose(precision, [1 / 2, 1 / 2, 1 / 3])


def test_r_k_curve():
    k, share = among_first_k(place_labels(RANKING, TRUTH))
    np.testing.assert_allclose(k, [1, 2, 3, 4, 5])
    np.testing.assert_allclose(share, [1 / 3, 1, 1, 1, 1])
    cut = Ranking(RANKING.ids[:, :3], RANKING.scores[:, :3], NAMES)
    with pytest.raises(InputError, match="up to k = 4"):
        among_first_k(place_labels(cut, TRUTH), 4)


def test_ratings_on_any_ordered_scale():
    predicted, true = ["good", "bad", "fair"], ["good", "good", "good"]
    found = evaluate_ratings(
        predicted, true, ["MAE", "exact", "within@1"], scale=["bad", "fair", "good"], resamples=0
    )
    assert found.values == {
        "MAE": 1.0,
        "exact": pytest.approx(1 / 3),
        "within@1": pytest.approx(2 / 3),
    }
    half_stars = evaluate_ratings(
        [0.5, 2.0], [1.0, 2.0], ["MAE"], scale=[0.5, 1.0, 1.5, 2.0], resamples=0
    )
    assert half_stars["MAE"] == 0.5
    assert confusion([1, 3, 3], [1, 2, 3]).tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 1]]
    assert confusion([], []).shape == (0, 0)


@pytest.mark.parametrize(
    ("predicted", "true", "scale", "message"),
    [
        ([1, 2], [1], None, "one length"),
        ([1.5], [1], None, "give the scale"),
        ([np.nan], [1], None, "give the scale"),
        (["a"], ["b"], None, "give the scale"),
        ([0], [10**6], None, "give the scale"),
        ([1], [4], [1, 2, 3], "4 is not on the scale"),
        ([1], [1], [1, 1], "different steps"),
    ],
)
def test_ratings_off_the_scale_are_refused(predicted, true, scale, message):
    with pytest.raises(InputError, match=message):
        evaluate_ratings(predicted, true, ["MAE"], scale=scale)


def test_wilcoxon_and_sign_test():
    """Five wins of different size and no loss: both tests give 2/2⁵."""
    better, worse = [0.5, 0.6, 0.7, 0.8, 0.9, 0.3], [0.4, 0.4, 0.4, 0.4, 0.4, 0.3]
    for test in (wilcoxon, sign_test):
        found = test(better, worse)
        assert found.p_value == pytest.approx(2 / 32)
        assert (found.higher, found.equal, found.lower) == (5, 1, 0)
        assert found.difference == pytest.approx(0.25)
        assert test(worse, better).p_value == pytest.approx(2 / 32)
        assert test(worse, worse).p_value == 1
    assert sign_test([1, 2, 3, np.nan], [0, 3, 2, 9]).p_value == 1  # two of three


def test_paired_bootstrap():
    rng = np.random.default_rng(0)
    first = rng.random(200)
    same, clear = first + rng.normal(0, 0.1, 200), first - 0.1 + rng.normal(0, 0.1, 200)
    found = paired_bootstrap(first, clear, resamples=999)
    assert found.p_value == pytest.approx(2 / 1000)
    assert 0 < found.interval[0] < found.difference < found.interval[1]
    nothing = paired_bootstrap(first, same, resamples=999)
    assert nothing.p_value > 0.05
    assert nothing.interval[0] < 0 < nothing.interval[1]
    assert paired_bootstrap(first, first, resamples=9).p_value == 1


@pytest.mark.parametrize("test", [wilcoxon, sign_test, paired_bootstrap])
def test_pairs_must_match(test):
    with pytest.raises(InputError, match="one length"):
        test([1, 2], [1])
    with pytest.raises(InputError, match="at least one"):
        test([np.nan], [1])


def test_the_report_of_an_evaluation():
    found = evaluate(RANKING, TRUTH, ["R1", "loss2", "R1"], resamples=200)
    lines = found.table().splitlines()
    assert lines[0].split() == ["measure", "value", "95", "%", "interval", "better"]
    assert lines[1].startswith("R1")
    assert "0.3333" in lines[1]
    assert lines[-2:] == ["4 examples", "1 left out: no relevant label"]
    report = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert report["measures"]["R1"]["value"] == pytest.approx(1 / 3)
    assert report["measures"]["R1"]["low"] <= 1 / 3 <= report["measures"]["R1"]["high"]
    assert report["left_out"] == {"no relevant label": 1}


def test_nothing_to_average():
    nobody = evaluate(RANKING, [[], [], [], []], ["R1", "loss2", "HR"], resamples=10)
    assert all(math.isnan(value) for value in nobody.values.values())
    assert nobody.to_dict()["measures"]["R1"] == {
        "value": None,
        "better": "higher",
        "low": None,
        "high": None,
    }
    assert "–" in nobody.table()
    empty = Ranking(np.empty((0, 3), dtype=np.int32), np.empty((0, 3)), NAMES)
    assert math.isnan(evaluate(empty, [], ["AP", "macro-F1", "maxF1"], resamples=10)["AP"])
    assert math.isnan(evaluate_documents([], [], [], ["MAP", "best-accuracy"], resamples=10)["MAP"])
    nothing_retrieved = Ranking(np.empty((2, 0), dtype=np.int32), np.empty((2, 0)), NAMES)
    found = evaluate(
        nothing_retrieved, [["a"], ["b"]], ["AP", "coverage", "micro-F1"], resamples=10
    )
    assert found.values == {"AP": 0.0, "coverage": 4.0, "micro-F1": 0.0}


def test_the_same_seed_gives_the_same_interval():
    one, same, other = (
        evaluate(RANKING, TRUTH, ["AP", "maxF1"], resamples=50, random_state=seed).intervals
        for seed in (1, 1, 2)
    )
    assert one == same
    assert one != other


def test_intervals_do_not_depend_on_threads(monkeypatch):
    one = evaluate(RANKING, TRUTH, ["AP", "maxF1"], resamples=90).intervals
    monkeypatch.setattr("shortlist.measures.significance.ENOUGH_FOR_THREADS", 0)
    assert evaluate(RANKING, TRUTH, ["AP", "maxF1"], resamples=90).intervals == one


def test_intervals_hold_the_truth_as_often_as_they_say():
    """100 samples of 60 instances, R1 = 0.4 in truth: about 95 % of the intervals hold it."""
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(100):
        right = rng.random(60) < 0.4
        ranking = Ranking(
            np.where(right, 0, 1)[:, None].astype(np.int32), np.ones((60, 1)), ["true", "false"]
        )
        low, high = evaluate(ranking, [["true"]] * 60, ["R1"], resamples=200).intervals["R1"]
        held += low <= 0.4 <= high
    assert 88 <= held <= 99


def test_the_margin_of_a_document():
    """Figure 1 of paper 001: positive where the ranking is perfect, 0 for a tie, negative
    otherwise.
    """
    scores = [[5, 4, 1, 0], [5, 4, 4, 0], [5, 1, 4, 0], [1, 2, 3, 4], [1, 2, 3, 4]]
    relevant = [[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1]]
    np.testing.assert_array_equal(document_margins(scores, relevant), [3, 0, -3, np.nan, np.nan])
