"""Agreement with scikit-learn, SciPy and ir_measures, each of which was written by others.

``pip install --no-deps ir-measures`` is enough for these tests: its dependency pytrec_eval, which
cannot be built everywhere, is not used. The measures that need it were recorded once, see
tests/reference/record_ir_measures.py.
"""

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
import sklearn.metrics
from sklearn.metrics import label_ranking_average_precision_score

import papers.measures  # noqa: F401 - losses, coverage, maxF1 and others
from shortlist.data.labels import LabelSets
from shortlist.data.ranking import Ranking
from shortlist.measures import (
    confusion,
    evaluate,
    evaluate_documents,
    evaluate_ratings,
    measure,
    per_label,
)


def problem(n=300, n_labels=12, k=12, tied=False, seed=0):
    """Scores and truths as dense matrices, and the same as a ranking and label sets; each truth
    has 1..11 labels.
    """
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 5, (n, n_labels)).astype(float) if tied else rng.random((n, n_labels))
    truth = rng.random((n, n_labels)) < 0.3
    truth[np.arange(n), rng.integers(n_labels, size=n)] = True
    truth[:, 0] &= truth.sum(axis=1) < n_labels
    ids = np.argsort(-scores, axis=1, kind="stable")[:, :k].astype(np.int32)
    ranking = Ranking(ids, np.take_along_axis(scores, ids, axis=1), range(n_labels))
    return scores, truth, ranking, LabelSets.of(np.flatnonzero(row).tolist() for row in truth)


def cut(scores, ranking):
    """Dense scores in which everything below the cut ties at the bottom."""
    dense = np.full(scores.shape, -1.0)
    np.put_along_axis(dense, ranking.ids.astype(int), ranking.scores, axis=1)
    return dense


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("k", [12, 4])
def test_losses_and_roc_area_with_ties_and_cuts(tied, k):
    scores, truth, ranking, sets = problem(n=60, tied=tied, k=k)
    found = evaluate(ranking, sets, ["loss3", "ROC"], resamples=0)
    dense = cut(scores, ranking)
    assert found["loss3"] == pytest.approx(sklearn.metrics.label_ranking_loss(truth, dense))
    area = [sklearn.metrics.roc_auc_score(y, s) for y, s in zip(truth, dense, strict=True)]
    np.testing.assert_allclose(found.per_instance["ROC"], area)


def test_coverage_and_average_precision_of_complete_rankings():
    scores, truth, ranking, sets = problem(n=60)
    found = evaluate(ranking, sets, ["coverage", "AP"], resamples=0)
    assert found["coverage"] == pytest.approx(sklearn.metrics.coverage_error(truth, scores) - 1)
    assert found["AP"] == pytest.approx(label_ranking_average_precision_score(truth, scores))
    one_by_one = [
        sklearn.metrics.average_precision_score(y, s) for y, s in zip(truth, scores, strict=True)
    ]
    np.testing.assert_allclose(found.per_instance["AP"], one_by_one)


def test_where_ties_are_counted_otherwise():
    """scikit-learn gives tied labels the worst of their ranks; here a ranking has one order."""
    scores, truth, ranking, sets = problem(tied=True)
    found = evaluate(ranking, sets, ["coverage", "AP"], resamples=0)
    assert found["coverage"] < sklearn.metrics.coverage_error(truth, scores) - 1
    in_order = -np.argsort(np.argsort(-scores, axis=1, kind="stable"), axis=1).astype(float)
    assert found["coverage"] == pytest.approx(sklearn.metrics.coverage_error(truth, in_order) - 1)
    assert found["AP"] == pytest.approx(label_ranking_average_precision_score(truth, in_order))
    assert found["AP"] != pytest.approx(label_ranking_average_precision_score(truth, scores))


@pytest.mark.parametrize("k", [1, 3, 10])
def test_ndcg(k):
    scores, truth, ranking, sets = problem()
    expected = sklearn.metrics.ndcg_score(truth, scores, k=k)
    assert evaluate(ranking, sets, [f"nDCG@{k}"], resamples=0)[f"nDCG@{k}"] == pytest.approx(
        expected
    )
    assert evaluate(ranking, sets, ["nDCG"], resamples=0)["nDCG"] == pytest.approx(
        sklearn.metrics.ndcg_score(truth, scores)
    )


@pytest.mark.parametrize("k", [1, 3, 10])
def test_precision_and_recall_at_k(k):
    _, truth, ranking, sets = problem()
    given = np.zeros_like(truth)
    np.put_along_axis(given, ranking.ids[:, :k].astype(int), True, axis=1)
    found = evaluate(ranking, sets, [f"P@{k}", f"recall@{k}"], resamples=0)
    assert found[f"P@{k}"] == pytest.approx(
        sklearn.metrics.precision_score(truth, given, average="samples")
    )
    assert found[f"recall@{k}"] == pytest.approx(
        sklearn.metrics.recall_score(truth, given, average="samples")
    )


@pytest.mark.parametrize("k", [1, 5, 10])
def test_annifs_measures(k):
    """annif eval computes these with scikit-learn, of all subjects that it suggests."""
    _, truth, ranking, sets = problem()
    given = np.zeros_like(truth)
    np.put_along_axis(given, ranking.ids[:, :k].astype(int), True, axis=1)
    found = evaluate(ranking, sets, [f"F1@{k}", f"micro-F1@{k}"], resamples=0)
    for name, average in ((f"F1@{k}", "samples"), (f"micro-F1@{k}", "micro")):
        assert found[name] == pytest.approx(sklearn.metrics.f1_score(truth, given, average=average))
    by_annif = {
        "F1 score (doc avg)": "F1@10",
        "F1 score (microavg)": "micro-F1@10",
        "NDCG@5": "nDCG@5",
    }
    assert {name: measure(name).name for name in by_annif} == by_annif


def test_f1_of_assigned_labels():
    scores, truth, ranking, sets = problem(n_labels=40, k=40)
    found = evaluate(ranking, sets, ["micro-F1", "macro-F1"], resamples=0)
    order = np.argsort(np.argsort(-scores, axis=1), axis=1)
    as_many = order < truth.sum(axis=1, keepdims=True)
    for average in ("micro", "macro"):
        assert found[f"{average}-F1"] == pytest.approx(
            sklearn.metrics.f1_score(truth, as_many, average=average)
        )
    table = per_label(ranking, sets)
    precision, recall, f1, true = sklearn.metrics.precision_recall_fscore_support(truth, as_many)
    np.testing.assert_allclose([table.precision, table.recall, table.f1], [precision, recall, f1])
    np.testing.assert_array_equal(table.true, true)


def test_ratings():
    rng = np.random.default_rng(0)
    true, predicted = rng.integers(1, 6, 500), rng.integers(1, 6, 500)
    found = evaluate_ratings(predicted, true, ["MAE", "exact", "within@1"], resamples=0)
    assert found["MAE"] == pytest.approx(sklearn.metrics.mean_absolute_error(true, predicted))
    assert found["exact"] == pytest.approx(sklearn.metrics.accuracy_score(true, predicted))
    table = confusion(predicted, true)
    np.testing.assert_array_equal(table, sklearn.metrics.confusion_matrix(true, predicted))
    near = sum(np.trace(table, offset) for offset in (-1, 0, 1))
    assert found["within@1"] == pytest.approx(near / 500)


def retrieval(seed=0, n=600, queries=25, tied=False):
    rng = np.random.default_rng(seed)
    grades = rng.choice([0, 0, 0, 1, 2, 3], size=n)
    scores = grades + 2 * rng.standard_normal(n)
    return (np.round(scores) if tied else scores), grades, rng.integers(queries, size=n)


@pytest.mark.parametrize("tied", [False, True])
def test_documents_against_scikit_learn(tied):
    scores, grades, query = retrieval(tied=tied)
    names = ["MAP", "ROC", "nDCG@5", "nDCG", "nDCGexp@5"]
    found = evaluate_documents(scores, grades, query, names, resamples=0).per_instance
    for row, one in enumerate(dict.fromkeys(query.tolist())):
        s, g = scores[query == one], grades[query == one]
        assert found["ROC"][row] == pytest.approx(sklearn.metrics.roc_auc_score(g > 0, s))
        if tied:  # then these depend on the order: give scikit-learn the same one
            s = -np.argsort(np.argsort(-s, kind="stable")).astype(float)
        assert found["MAP"][row] == pytest.approx(sklearn.metrics.average_precision_score(g > 0, s))
        assert found["nDCG@5"][row] == pytest.approx(sklearn.metrics.ndcg_score([g], [s], k=5))
        assert found["nDCG"][row] == pytest.approx(sklearn.metrics.ndcg_score([g], [s]))
        assert found["nDCGexp@5"][row] == pytest.approx(
            sklearn.metrics.ndcg_score([2**g - 1], [s], k=5)
        )


def test_documents_against_what_ir_measures_said():
    recorded = json.loads(
        (Path(__file__).parents[1] / "reference" / "ir_measures.json").read_text()
    )
    data = [recorded[part] for part in ("scores", "grades", "query")]
    found = evaluate_documents(*data, list(recorded["values"]), resamples=0).per_instance
    for name, values in recorded["values"].items():
        np.testing.assert_allclose(
            found[name], [values[str(q)] for q in dict.fromkeys(data[2])], err_msg=name
        )


def test_roc_area_and_mrr_against_ir_measures():
    ir_measures = pytest.importorskip("ir_measures", reason="ir_measures is absent")
    scores, grades, query = retrieval(seed=2)
    names = [(str(q), f"d{i}") for i, q in enumerate(query.tolist())]
    qrels = [ir_measures.Qrel(*name, int(g)) for name, g in zip(names, grades, strict=True)]
    run = [ir_measures.ScoredDoc(*name, float(s)) for name, s in zip(names, scores, strict=True)]
    found = evaluate_documents(scores, grades, query, ["ROC", "MRR"], resamples=0)
    for ours, theirs, provider in (("ROC", "Accuracy", "accuracy"), ("MRR", "RR", "msmarco")):
        asked = ir_measures.parse_measure(theirs)
        said = ir_measures.providers.registry[provider].iter_calc([asked], qrels, run)
        values = {metric.query_id: metric.value for metric in said}
        np.testing.assert_allclose(
            found.per_instance[ours], [values[str(q)] for q in dict.fromkeys(query.tolist())]
        )


def test_intervals_against_scipy():
    _, _, ranking, sets = problem(n=400)
    found = evaluate(ranking, sets, ["R1", "AP", "loss2"], resamples=4000)
    for name, values in found.per_instance.items():
        theirs = scipy.stats.bootstrap(
            (values,), np.mean, n_resamples=4000, method="percentile", random_state=0
        )
        theirs = theirs.confidence_interval
        width = theirs.high - theirs.low
        np.testing.assert_allclose(found.intervals[name], theirs, atol=0.08 * width)
