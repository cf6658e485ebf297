"""Speed against scikit-learn, in one run: 100,000 rankings of 10 labels out of 100.

scikit-learn takes dense matrices of rows × labels, so 100 labels flatter it: with a million it could hold none of this,
and the sparse rankings do not notice. To keep the test short it gets only the first fifth of the rows.
"""

from time import process_time

import numpy as np
import pytest
import sklearn.metrics

from shortlist.labels import LabelSets
from shortlist.measures import evaluate
from shortlist.ranking import Ranking

ROWS, FIFTH, LABELS, K = 100_000, 20_000, 100, 10
NAMES = ["P@10", "recall@10", "nDCG@10", "AP"]


def seconds(work):
    start = process_time()
    result = work()
    return process_time() - start, result


@pytest.mark.speed
def test_a_twentieth_of_the_time_of_scikit_learn():
    rng = np.random.default_rng(0)
    scores = np.zeros((ROWS, LABELS))  # of what is not retrieved
    ids = rng.permuted(np.tile(np.arange(LABELS, dtype=np.int32), (ROWS, 1)), axis=1)[:, :K]
    best = np.sort(rng.random((ROWS, K)), axis=1)[:, ::-1]
    np.put_along_axis(scores, ids.astype(np.int64), best, axis=1)
    truth = np.zeros((ROWS, LABELS), dtype=np.int8)
    for column in (ids[:, 0], ids[:, 3], ids[:, 7]):  # three true labels in each row, all of them retrieved
        truth[np.arange(ROWS), column] = 1
    given = scores > 0
    ranking = Ranking(np.ascontiguousarray(ids), np.ascontiguousarray(best), range(LABELS))
    sets = LabelSets(np.arange(0, 3 * ROWS + 1, 3), np.ascontiguousarray(ids[:, [0, 3, 7]]).ravel())

    def scikit_learn():
        return [
            sklearn.metrics.precision_score(truth[:FIFTH], given[:FIFTH], average="samples"),
            sklearn.metrics.recall_score(truth[:FIFTH], given[:FIFTH], average="samples"),
            sklearn.metrics.ndcg_score(truth[:FIFTH], scores[:FIFTH], k=K, ignore_ties=True),
            sklearn.metrics.label_ranking_average_precision_score(truth[:FIFTH], scores[:FIFTH]),
        ]

    def ours():
        return evaluate(ranking, sets, NAMES, resamples=0).per_instance

    ours()  # compiles
    fast, values = min((seconds(ours) for _ in range(7)), key=lambda pair: pair[0])
    slow, expected = seconds(scikit_learn)
    np.testing.assert_allclose([values[name][:FIFTH].mean() for name in NAMES], expected)
    intervals, _ = seconds(lambda: evaluate(ranking, sets, NAMES))
    print(f"scikit-learn {slow:.2f} s for {FIFTH} rows; shortlist {fast:.3f} s for {ROWS}, {intervals:.1f} s with CIs")
    assert fast <= slow / 20  # though it does five times as much


def test_a_million_labels_take_no_more_memory_than_their_rankings():
    """Nothing of the size rows × labels, nor even labels, is made: every array is bounded by what was retrieved."""
    import tracemalloc

    rng = np.random.default_rng(0)
    n, labels = 2_000, 1_000_000
    ids = np.sort(rng.choice(labels, (n, K), replace=False), axis=1).astype(np.int32)
    ranking = Ranking(ids, np.tile(np.arange(K, 0, -1.0), (n, 1)), range(labels))
    sets = LabelSets(np.arange(0, 2 * n + 1, 2), np.column_stack([ids[:, 2], (ids[:, 2] + 1) % labels]).ravel())
    names = [*NAMES, "R1", "MRR", "loss1", "loss2", "loss3", "coverage", "ROC", "micro-F1", "macro-F1", "maxF1"]
    tracemalloc.start()
    evaluate(ranking, sets, names, resamples=20)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000_000
