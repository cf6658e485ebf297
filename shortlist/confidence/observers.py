"""Ranks some examples before they are learned: these calibration examples tell how certain a
ranking is.

Rankings of learned examples do not tell how good rankings of new ones are. The learner learns bit
by bit the same as without an observer. A learner that scores an example before it corrects anything
ranks it on the way (learners/index/scoring.py); other learners rank before they learn a stretch of
the rows. Learners that take no pieces, such as MMP and Rocchio, are not observed, and models of
them have no probabilities.

- In the first pass of ``fit`` every example is new until it is learned, and late in that pass the
  model is nearly the final one: some rows of the second half are ranked. In trials on ten
  collections such rankings were nearly as good as cross-fitting, which learns several times as
  much; holding out a tenth of the rows, to be learned last, made models worse by up to two points.
- On a stream one example in STREAM_STRIDE is ranked, chosen by its number.

A row is ranked without the features that no earlier row had, as a new text would be: such features
have no votes, but would make the votes of the others lighter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

import numpy as np

from shortlist.compiled.kernels import Floats, Longs
from shortlist.confidence.calibration import TOGETHER, WIDTH
from shortlist.confidence.calibration_examples import SIZE, CalibrationExamples, look
from shortlist.confidence.confidence import Confidence
from shortlist.data.labels import LabelSets
from shortlist.data.rows import Rows, RowStore
from shortlist.learners.category_learner import CategoryLearner
from shortlist.learners.port import RankedAhead, Stretch

DEPTH = 100  # labels of a calibration ranking: no list can promise more

# In a fit, one row in ROWS_FOR_ONE_RANKED is ranked: to rank a row takes about as long as to learn
# it once. Of few rows, one in FEW_ROWS_FOR_ONE_RANKED is, at most ENOUGH_RANKED; at least
# LEAST_RANKED, or half of the rows.
ROWS_FOR_ONE_RANKED = 10
FEW_ROWS_FOR_ONE_RANKED = 8
LEAST_RANKED = 512
ENOUGH_RANKED = 1024
STRETCHES = 20  # of the second half of the rows
LEVEL_ROWS = 64  # to measure the level of scores

# On a stream one example in STREAM_STRIDE is ranked, and a stretch has a STRETCH_SHARE-th of the
# examples so far, within these bounds.
STREAM_STRIDE = 10
SHORTEST_STRETCH = 16
LONGEST_STRETCH = 512
STRETCH_SHARE = 8


class FirstPass:
    """Observes a ``fit``: gathers rankings in its first pass; of a fit in windows, in the last
    window.

    Further passes may move the level of scores, that of labels out of question: some rows are
    ranked at the end of the first pass and of the last one. With ``counts_unknown`` rows are ranked
    with the features that no earlier row had.
    """

    depth = DEPTH

    def __init__(self, counts_unknown: bool = False) -> None:
        self.counts_unknown = counts_unknown
        self._seen: list[CalibrationExamples] = []
        # the scores of some rows: now, and at the end of the first pass
        self._level: tuple[Callable[[], Floats], Floats] | None = None

    def plan(self, learner: CategoryLearner, labels: LabelSets, order: Longs) -> Iterable[Stretch]:
        self._seen = []
        n_rows = order.size
        if learner.ranks_while_learning:
            stretches = [Stretch(0, n_rows, places_ranked_in_fit(n_rows))]
        else:
            stretches = list(stretches_of_fit(n_rows))
        return without_partly_judged(stretches, labels, order)

    def note(self, ranked: RankedAhead, labels: LabelSets) -> None:
        self._seen.append(look(ranked.ids, ranked.scores, labels, ranked.known))

    def finish(
        self, learner: CategoryLearner, rows: Rows | RowStore, labels: LabelSets, order: Longs
    ) -> None:
        if not self._seen:
            return
        which = rows_of_few_labels(order, labels.indptr)
        level_rows = rows.take(which) if isinstance(rows, Rows) else rows.chosen(which)

        def level() -> Floats:
            return learner.rank_rows(level_rows, WIDTH).scores

        self._level = level, level()

    def follow_level(self) -> None:
        """Move the scores of the rankings by as much as further passes have moved the level of
        scores.

        Call this after the last pass, before columns are renumbered.
        """
        if self._level is not None:
            level, level_before = self._level
            self._level = None
            shift = moved_level(level_before, level())
            self._seen = [seen.moved(shift) for seen in self._seen]

    def confidence(self) -> Confidence:
        """The confidence fitted to these rankings."""
        self.follow_level()
        confidence = Confidence()
        if self._seen:
            confidence.fit(CalibrationExamples.stack(self._seen))
        return confidence


class StreamObserver:
    """Observes a learner on a stream: a confidence notes rankings, except in a run of one label.

    Each is noted once its example is learned, so that learner and confidence agree after an
    interruption. Examples that are ``checked`` are spot checks, and all of them are ranked; once
    the confidence has seen any, no others are.
    """

    depth = DEPTH

    def __init__(
        self, confidence: Confidence, counts_unknown: bool = False, checked: bool = False
    ) -> None:
        self._confidence = confidence
        self._runs = confidence.runs
        self._checked = checked
        self._one_label_each = True
        self.counts_unknown = counts_unknown

    def plan(self, learner: CategoryLearner, labels: LabelSets, order: Longs) -> Iterable[Stretch]:
        n_before = learner.n_examples_ - order.size
        in_run, self._runs = self._confidence.runs.after(labels, order, learner.label_counts_)
        if self._checked:
            n_labels_before = int(learner.label_counts_.sum()) - int(labels.indptr[-1])
            self._one_label_each = n_labels_before <= n_before
            places = np.arange(order.size)
        else:
            first = (-1 - n_before) % STREAM_STRIDE
            # most single examples are not ranked
            if first >= order.size or self._confidence.checks.n_checks:
                return [Stretch(0, order.size, order[:0])]
            places = np.arange(first, order.size, STREAM_STRIDE)
            places = places[~in_run[places]]
        if learner.ranks_while_learning:
            stretches = [Stretch(0, order.size, places)]
        else:
            stretches = list(stretches_of_stream(n_before, order.size, places))
        return without_partly_judged(stretches, labels, order)

    def note(self, ranked: RankedAhead, labels: LabelSets) -> None:
        seen = look(ranked.ids, ranked.scores, labels, ranked.known)
        if self._checked:
            self._confidence.check(seen, self._one_label_each)
        else:
            self._confidence.note(seen)

    def finish(
        self, learner: CategoryLearner, rows: Rows | RowStore, labels: LabelSets, order: Longs
    ) -> None:
        self._confidence.runs = self._runs


def without_partly_judged(
    stretches: Iterable[Stretch], labels: LabelSets, order: Longs
) -> Iterable[Stretch]:
    """The stretches without rankings of partly judged examples, which cannot calibrate."""
    complete = labels.partial.complete
    if complete.size == 0:
        return stretches
    return [
        Stretch(first, last, ranked[complete[order[ranked]]]) for first, last, ranked in stretches
    ]


def within(places: Longs, first: int, last: int) -> Longs:
    return places[(places >= first) & (places < last)]


def stretches_of_stream(n_before: int, n: int, places: Longs) -> Iterator[Stretch]:
    """The next n examples of a stream after ``n_before`` ones. A learner that has learned nothing
    ranks nothing.
    """
    first = 0
    while first < n:
        n_so_far = n_before + first
        length = min(LONGEST_STRETCH, max(SHORTEST_STRETCH, n_so_far // STRETCH_SHARE))
        last = min(n, first + length)
        yield Stretch(first, last, within(places, first, last if n_so_far else first))
        first = last


def how_many(n_rows: int) -> int:
    """How many of n rows of a fit to rank, at most."""
    few = min(ENOUGH_RANKED, n_rows // FEW_ROWS_FOR_ONE_RANKED)
    return min(SIZE, n_rows, max(n_rows // ROWS_FOR_ONE_RANKED, LEAST_RANKED, few))


def places_ranked_in_fit(n_rows: int) -> Longs:
    """The places of a fit's n rows that are ranked, all in the second half."""
    half = n_rows // 2
    n_ranked = min(n_rows - half, how_many(n_rows))
    return half + np.arange(n_ranked) * (n_rows - half) // max(1, n_ranked)


def stretches_of_fit(n_rows: int) -> Iterator[Stretch]:
    """The first pass over n rows, stretch by stretch."""
    half = n_rows // 2
    ranked = places_ranked_in_fit(n_rows)
    edges = [0, *(half + np.arange(STRETCHES + 1) * (n_rows - half) // STRETCHES).tolist()]
    for first, last in pairwise(edges):
        if last > first:
            yield Stretch(first, last, within(ranked, first, last))


def rows_of_few_labels(order: Longs, starts: Longs) -> Longs:
    """Up to LEVEL_ROWS of the rows in ``order``, from all parts of it, of those that have no more
    labels than TOGETHER.

    Row i has the labels starts[i]:starts[i+1].
    """
    has_few = (np.diff(starts) <= TOGETHER)[order]
    places = np.flatnonzero(has_few)
    n = min(LEVEL_ROWS, places.size)
    return order[places[np.arange(n) * places.size // max(1, n)]]


def moved_level(first: Floats, second: Floats) -> float:
    """By how much the level of the same rows differs in two rankings.

    Scores are n × at most WIDTH, NaN for no label.
    """
    width = min(first.shape[1], second.shape[1], WIDTH)
    differences = (second[:, TOGETHER:width] - first[:, TOGETHER:width]).ravel()
    moves = differences[~np.isnan(differences)]
    if not moves.size:
        return 0.0
    return math.fsum(moves.tolist()) / moves.size  # the same sum on all machines
