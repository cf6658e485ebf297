"""The progress of labels in a stream: how many examples each has, and the share of its last ones
that was missed (training.py).
"""

from __future__ import annotations

import numpy as np

from shortlist.compiled.kernels import Floats, Ints, Longs
from shortlist.files.store import State
from shortlist.learners.index.edges import are_counts
from shortlist.learners.index.training import MISSED, SEEN


def no_progress(n_labels: int) -> Floats:
    return np.zeros((n_labels, 2))


def joined_progress(progress: Floats, other: Floats, numbers: Ints) -> Floats:
    """The progress of labels that another learner knows, too: its label i is numbers[i] here."""
    seen = progress[:, SEEN].copy()
    missed = seen * progress[:, MISSED]
    np.add.at(seen, numbers, other[:, SEEN])
    np.add.at(missed, numbers, other[:, SEEN] * other[:, MISSED])
    return np.stack([seen, np.minimum(1.0, missed / np.maximum(1.0, seen))], axis=1)


def mixed_progress(earlier: Floats, shards: list[Floats]) -> Floats:
    """Examples add up; misses are averaged."""
    mixed: Floats = np.mean(shards, axis=0)
    mixed[:, SEEN] = earlier[:, SEEN] + sum(shard[:, SEEN] - earlier[:, SEEN] for shard in shards)
    return mixed


def progress_in(state: State, counts: Longs) -> Floats:
    """The progress that a model file has; one from before it was kept knows only the counts."""
    if "progress" not in state.arrays:
        progress = no_progress(counts.size)
        progress[:, SEEN] = counts
        return progress
    progress = np.array(state.array("progress", np.float64, ndim=2))
    state.require(progress.shape == (counts.size, 2), "each label has its progress")
    state.require(are_counts(progress[:, SEEN], counts.size), "labels have so many examples")
    shares = (progress[:, MISSED] >= 0.0) & (progress[:, MISSED] <= 1.0)
    state.require(bool(shares.all()), "a share of their last examples was missed")
    return progress
