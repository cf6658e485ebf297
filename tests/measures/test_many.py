"""Many rankings at once: the values of scikit-learn, and no more memory than the rankings
themselves.
"""

import numpy as np
import pytest
import scipy.sparse
import sklearn.metrics

import papers.measures  # noqa: F401 - losses, coverage, maxF1 and others
from shortlist.data.labels import LabelSets
from shortlist.data.ranking import Ranking
from shortlist.errors import InputError
from shortlist.measures import evaluate, positions
from shortlist.measures import significance as resampling

ROWS, LABELS, K = 5_000, 100, 10
NAMES = ["P@10", "recall@10", "nDCG@10", "AP"]


def test_values_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    scores = np.zeros((ROWS, LABELS))  # of what is not retrieved
    ids = rng.permuted(np.tile(np.arange(LABELS, dtype=np.int32), (ROWS, 1)), axis=1)[:, :K]
    best = np.sort(rng.random((ROWS, K)), axis=1)[:, ::-1]
    np.put_along_axis(scores, ids.astype(np.int64), best, axis=1)
    truth = np.zeros((ROWS, LABELS), dtype=np.int8)
    # three true labels in each row, all of them retrieved
    for column in (ids[:, 0], ids[:, 3], ids[:, 7]):
        truth[np.arange(ROWS), column] = 1
    given = scores > 0
    ranking = Ranking(np.ascontiguousarray(ids), np.ascontiguousarray(best), range(LABELS))
    sets = LabelSets(np.arange(0, 3 * ROWS + 1, 3), np.ascontiguousarray(ids[:, [0, 3, 7]]).ravel())

    expected = [
        sklearn.metrics.precision_score(truth, given, average="samples"),
        sklearn.metrics.recall_score(truth, given, average="samples"),
        sklearn.metrics.ndcg_score(truth, scores, k=K, ignore_ties=True),
        sklearn.metrics.label_ranking_average_precision_score(truth, scores),
    ]
    values = evaluate(ranking, sets, NAMES, resamples=0).per_instance
    np.testing.assert_allclose([values[name].mean() for name in NAMES], expected)


def test_a_million_labels_take_no_more_memory_than_their_rankings():
    """Nothing of the size rows × labels, nor even labels, is made: every array is bounded by
    what was retrieved.
    """
    import tracemalloc

    rng = np.random.default_rng(0)
    n, labels = 2_000, 1_000_000
    ids = np.sort(rng.choice(labels, (n, K), replace=False), axis=1).astype(np.int32)
    ranking = Ranking(ids, np.tile(np.arange(K, 0, -1.0), (n, 1)), range(labels))
    sets = LabelSets(
        np.arange(0, 2 * n + 1, 2), np.column_stack([ids[:, 2], (ids[:, 2] + 1) % labels]).ravel()
    )
    names = [
        *NAMES,
        "R1",
        "MRR",
        "loss1",
        "loss2",
        "loss3",
        "coverage",
        "ROC",
        "micro-F1",
        "macro-F1",
        "maxF1",
    ]
    tracemalloc.start()
    evaluate(ranking, sets, names, resamples=20)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000_000


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 3, 8, -1])
def test_intervals_do_not_depend_on_the_number_of_threads(n_jobs, monkeypatch):
    monkeypatch.setattr(resampling, "ENOUGH_FOR_THREADS", 10)
    monkeypatch.setattr(positions, "PLACES_CHECKED", 10)
    random = np.random.default_rng(0)
    ids = np.argsort(random.random((200, 6)), axis=1).astype(np.int32)
    ranking = Ranking(ids, np.tile(np.arange(6.0, 0, -1), (200, 1)), list(range(6)))
    truth = [[int(c)] for c in random.integers(0, 6, 200)]
    expected = evaluate(ranking, truth, ["MRR", "P@5"], resamples=99, n_jobs=1)
    found = evaluate(ranking, truth, ["MRR", "P@5"], resamples=99, n_jobs=n_jobs)
    assert found.to_dict() == expected.to_dict()


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 8])
def test_the_first_row_at_fault_is_named_by_any_number_of_threads(n_jobs, monkeypatch):
    monkeypatch.setattr(positions, "PLACES_CHECKED", 3)
    ids = np.zeros((40, 1), dtype=np.int32)
    ids[[17, 31]] = 9
    with pytest.raises(InputError, match="row 17 of the ranking holds a label number"):
        evaluate(Ranking(ids, np.ones((40, 1)), ["a"]), [["a"]] * 40, ["MRR"], n_jobs=n_jobs)


def test_no_threads_at_all_are_refused():
    ranking = Ranking(np.zeros((1, 1), dtype=np.int32), np.ones((1, 1)), ["a"])
    with pytest.raises(InputError, match="n_jobs must be at least 1"):
        evaluate(ranking, [["a"]], ["MRR"], n_jobs=0)


@pytest.mark.parametrize("resamples", [1, 4, 19, 23])
def test_samples_are_drawn_one_after_the_other(resamples):
    """Twenty with each generator, however many are added up at the same time."""
    rng = np.random.default_rng(5)
    rows = scipy.sparse.random_array((50, 3), density=0.5, format="csr", rng=rng)
    dense, expected = rows.toarray(), []
    for sample in range(resamples):
        if sample % 20 == 0:
            own = np.random.default_rng([7, sample])
        times = np.bincount(own.integers(50, size=50), minlength=50).astype(np.float64)
        expected.append(
            [
                sum((value * n for value, n in zip(column, times, strict=True)), 0.0)
                for column in dense.T
            ]
        )
    for parts in ([rows], [dense], [dense[:, :1], rows[:, 1:]]):
        assert resampling.resampled_sums(parts, resamples, 7).tolist() == expected
