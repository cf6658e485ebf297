"""Rankings that are exchangeable: how likely each label is to be true is known."""

import numpy as np

from shortlist.confidence.calibration_examples import look
from shortlist.data.labels import LabelSets


def single(n, seed, labels=30, sharpness=6.0):
    """Rankings of all labels, exactly one of which is true, with odds that rise with its score."""
    draws = np.random.default_rng(seed)
    scores = -np.sort(-(draws.random((n, labels)) ** 3), axis=1)
    ids = draws.permuted(np.tile(np.arange(labels, dtype=np.int32), (n, 1)), axis=1)
    odds = np.exp(sharpness * scores)
    chance = odds / odds.sum(axis=1, keepdims=True)
    place = (np.cumsum(chance, axis=1) < draws.random((n, 1))).sum(axis=1).clip(max=labels - 1)
    true = ids[np.arange(n), place]
    return ids, scores, LabelSets(np.arange(n + 1, dtype=np.int64), true), chance


def several(n, seed, labels=30):
    """Rankings of all labels, each of which is true by itself."""
    draws = np.random.default_rng(seed)
    scores = -np.sort(-(draws.random((n, labels)) ** 3), axis=1)
    ids = draws.permuted(np.tile(np.arange(labels, dtype=np.int32), (n, 1)), axis=1)
    chance = 1 / (1 + np.exp(4.0 - 6.0 * scores))
    hits = draws.random((n, labels)) < chance
    return ids, scores, LabelSets.of(ids[i, hits[i]].tolist() for i in range(n)), chance


def hits_of(ids, truth):
    rows = (
        set(truth.ids[a:b].tolist())
        for a, b in zip(truth.indptr[:-1], truth.indptr[1:], strict=True)
    )
    return np.array(
        [[label in own for label in row] for row, own in zip(ids.tolist(), rows, strict=True)]
    )


def observe(confidence, ids, scores, truth, known=None):
    """Let a confidence take up rankings at once."""
    confidence.note(look(ids, scores, truth, known))
    confidence._settle()
