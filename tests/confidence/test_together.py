"""How sure the best label is depends on how much of the scores it has."""

import numpy as np

from shortlist.confidence.calibration import TOGETHER, calibration_error
from shortlist.confidence.calibration_examples import look
from shortlist.confidence.confidence import Confidence
from shortlist.data.labels import LabelSets


def spread(n, seed, labels=12):
    """The best label and the second have scores that say nothing; it is right where the others
    have few votes.
    """
    draws = np.random.default_rng(seed)
    few = draws.random(n) < 0.5
    others = np.where(few, 0.05, 0.6)[:, None] * draws.random((n, labels - 2))
    scores = np.hstack([np.full((n, 1), 1.0), np.full((n, 1), 0.9), -np.sort(-others, axis=1)])
    scores[:, 0] += 0.05 * draws.random(n)
    right = draws.random(n) < np.where(few, 0.98, 0.6)
    ids = np.tile(np.arange(labels, dtype=np.int32), (n, 1))
    return ids, scores, LabelSets.of([[0] if one else [labels - 1] for one in right]), right


def test_it_is_told_by_the_scores_of_the_others():
    confidence = Confidence()
    confidence.fit(look(*spread(2000, 0)[:3]))
    _, scores, _, right = spread(2000, 1)
    best = confidence.probabilities(scores)[:, 0]
    assert calibration_error(best, right) < 0.04
    sure = best > np.median(best)
    assert right[sure].mean() > 0.95
    assert right[~sure].mean() < 0.7


def test_no_more_scores_than_these_are_looked_at():
    confidence = Confidence()
    ids, scores, truth, _ = spread(500, 0)
    confidence.fit(look(ids, scores, truth))
    whole = confidence.probabilities(scores)
    assert (
        confidence.probabilities(scores[:, :TOGETHER].copy())[:, 0].tolist() == whole[:, 0].tolist()
    )
    assert (confidence.probabilities(scores[:, : TOGETHER - 1].copy())[:, 0] != whole[:, 0]).any()


def test_who_was_never_wrong_is_not_sure_of_a_tie():
    ids, scores, _, _ = spread(500, 0)
    confidence = Confidence()
    confidence.fit(look(ids, scores, LabelSets.of([[0]] * 500)))
    assert confidence.probabilities(scores)[:, 0].min() > 0.97
    tie = np.full((1, 8), 0.1)
    assert confidence.probabilities(tie)[0, 0] < 0.5


def test_nor_of_a_label_that_has_hardly_a_vote_but_all_there_are():
    """As the next one has, where the true label was retired."""
    ids, scores, _, _ = spread(500, 0)
    confidence = Confidence()
    confidence.fit(look(ids, scores, LabelSets.of([[0]] * 500)))
    hardly = np.array([[0.02] + [-0.01] * 7, [0.02] + [np.nan] * 7])
    assert confidence.probabilities(hardly)[:, 0].max() < 0.5
