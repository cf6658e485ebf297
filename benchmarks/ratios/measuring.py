"""Measures against scikit-learn's, which take dense matrices of rows × labels.

100 labels flatter it: with a million it could hold none of this, and sparse rankings do not notice. It gets only the
first fifth of the rows, and should take twenty times as long all the same.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import sklearn.metrics

from benchmarks.ratios.ratio import Ratio, in_turn
from shortlist.labels import LabelSets
from shortlist.measures import evaluate
from shortlist.ranking import Ranking

ROWS, FIFTH, LABELS, K = 100_000, 20_000, 100, 10
NAMES = ["P@10", "recall@10", "nDCG@10", "AP"]


def measures() -> Iterator[Ratio]:
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
        sklearn.metrics.precision_score(truth[:FIFTH], given[:FIFTH], average="samples")
        sklearn.metrics.recall_score(truth[:FIFTH], given[:FIFTH], average="samples")
        sklearn.metrics.ndcg_score(truth[:FIFTH], scores[:FIFTH], k=K, ignore_ties=True)
        sklearn.metrics.label_ranking_average_precision_score(truth[:FIFTH], scores[:FIFTH])

    def ours():
        evaluate(ranking, sets, NAMES, resamples=0)

    ours()  # compiled
    (fast,), (slow,) = in_turn(ours), in_turn(scikit_learn, repeats=1)
    yield Ratio("four measures of 100,000 rankings: sklearn, 20,000", fast, slow, 20)
    (intervals,) = in_turn(lambda: evaluate(ranking, sets, NAMES), repeats=1)
    yield Ratio("the same with intervals: sklearn without, 20,000", intervals, slow, 1)
