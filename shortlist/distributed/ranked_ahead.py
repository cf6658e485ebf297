"""How sure a model is that a cluster has trained: the last examples of each part are ranked before they are learned.

A shard alone says little about the model of the end: it knows less than all of them together, and of data in order of
their labels only a few. So each worker notes what it has learned when only some examples of its part are left in the
first pass. Mixed as what they learn in the end is, these notes rank what was left, in all parts. What is learned is the
same as without, bit by bit, and which worker does what changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shortlist.arrays.kernels import Longs
from shortlist.arrays.rows import Rows
from shortlist.categories.merging import PartedLearner
from shortlist.files.store import State
from shortlist.labels import LabelSets
from shortlist.models.confidence import Confidence
from shortlist.models.confidence.honest import how_many
from shortlist.models.confidence.window import Seen, look
from shortlist.models.observing import honest


def left_of_each(counts: Sequence[int]) -> list[int]:
    """How many examples of each part are ranked, if the parts have so many: as many in all as on one machine."""
    n = sum(counts)
    wanted = min(n // 4, how_many(n))
    edges = [0, *(int(behind) * wanted // max(1, n) for behind in np.cumsum(counts))]
    return np.diff(edges).tolist()


def mixed(began: PartedLearner, shards: list[PartedLearner], n_features: int) -> PartedLearner:
    """What shards have learned since the pass began, mixed; the learner stays as it is."""
    together: PartedLearner = began._shard(1)
    together._mix(shards)
    together.n_features_in_ = n_features
    return together


def rankings(learner: PartedLearner, rows: Rows, labels: LabelSets, which: Longs, whole: bool) -> State:
    """What is kept of the rankings of rows that nobody has learned."""
    ranking, known = honest(learner, rows, which, whole)
    seen = look(ranking.ids, ranking.scores, labels.chosen(which), known)
    return State("Honest", arrays=seen._asdict())


def confidence_of(states: Sequence[State]) -> Confidence:
    """What the rankings of all parts tell; in no order, as curves are drawn from the last of them."""
    confidence, like = Confidence(), Seen.room(0)._asdict()
    found = [Seen(*(state.array(name, own.dtype, own.ndim) for name, own in like.items())) for state in states]
    seen = Seen.stack(found)
    confidence.fit_seen(seen.take(np.random.default_rng(0).permutation(seen.true.size)))
    return confidence
