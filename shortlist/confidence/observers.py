"""Ranks some examples before they are learned: these calibration examples tell how certain a
ranking is.

Rankings of learned examples do not tell how good rankings of new ones are. The learner learns bit
by bit the same as without an observer. A learner that scores an example before it corrects anything
ranks it on the way (index/retrieval.py); other learners rank before they learn a piece of the rows.
Learners that take no pieces, such as MMP and Rocchio, are not observed, and models of them have no
probabilities.

- In the first pass of ``fit`` every example is new until it is learned, and late in that pass the
  model is nearly the final one: some rows of the second half are ranked. In trials on ten
  collections such rankings were nearly as good as cross-fitting, which learns several times as
  much; holding out a tenth of the rows, to be learned last, made models worse by up to two points.
- On a stream one example in STRIDE is ranked, chosen by its number.

A row is ranked without the features that no earlier row had, as a new text would be: such features
have no votes, but would make the votes of the others lighter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from shortlist.compiled.kernels import Floats, Longs
from shortlist.confidence.calibration import TOGETHER, WIDTH
from shortlist.confidence.confidence import SIZE, Confidence, Seen, Shares, look
from shortlist.data.labels import LabelSets
from shortlist.data.ranking import Ranking
from shortlist.data.rows import Rows, RowStore
from shortlist.learners.category_learner import CategoryLearner

DEPTH = 100  # labels of a calibration ranking: no list can promise more

# In a fit, one row in SHARE is ranked: to rank a row takes about as long as to learn it once.
STRETCHES = 20  # of the second half of the rows
SHARE = 10
# few rows: one in LARGER, at most ENOUGH; at least LEAST, or half of the rows
LARGER, LEAST, ENOUGH = 8, 512, 1024
ROWS = 64  # rows to measure the level of scores

# On a stream, a piece has a PART-th of the examples so far, within these bounds.
STRIDE = 10
SHORTEST, LONGEST, PART = 16, 512, 8

# learn order[first:last], after ranking the rows at these places of that order
Stretch = tuple[int, int, Longs]


def _in_stretches(
    learner: Any,
    rows: Rows | RowStore,
    labels: LabelSets,
    order: Longs,
    plan: Iterable[Stretch],
    whole: bool,
    note: Callable[[Seen], None],
) -> Iterator[Longs]:
    """The order in the stretches of a plan; the rankings of each are noted once it is learned."""
    for first, last, which in plan:
        complete = labels.partial.complete
        # partial judgements cannot calibrate
        which = which[complete[order[which]]] if complete.size else which
        asked = order[which]
        if not which.size:
            yield order[first:last]
        elif learner.ranks_ahead:
            ahead = learner.rank_ahead(rows.n_rows, asked, DEPTH, whole)
            yield order[first:last]
            note(look(ahead.ids, ahead.scores, labels.chosen(asked), ahead.known))
        else:
            ranking, known = rank_before_learning(learner, rows, asked, whole)
            yield order[first:last]
            note(look(ranking.ids, ranking.scores, labels.chosen(asked), known))


class FirstPass:
    """Observes a ``fit``: gathers rankings in its first pass; of a fit in windows, in the last
    window.

    Further passes may move the level of scores, that of labels out of question: some rows are
    ranked at the end of the first pass and of the last one. ``whole`` rows are ranked with the
    features that no earlier row had.
    """

    def __init__(self, whole: bool = False) -> None:
        self._whole = whole
        self._found: list[Seen] = []
        # the scores of some rows: now, and before
        self._level: tuple[Callable[[], Floats], Floats] | None = None

    def __call__(
        self, learner: CategoryLearner, rows: Rows | RowStore, labels: LabelSets, order: Longs
    ) -> Iterator[Longs]:
        self._found = []
        if not learner.takes_pieces:
            yield order
            return
        n = order.size
        plan = [(0, n, ranked_of(n))] if learner.ranks_ahead else stretches(n)
        yield from _in_stretches(
            learner, rows, labels, order, plan, self._whole, self._found.append
        )
        if self._found:
            some = rows_of_few_labels(order, labels.indptr)
            kept = rows.take(some) if isinstance(rows, Rows) else rows.chosen(some)

            def level() -> Floats:
                return learner.rank_rows(kept, WIDTH).scores

            self._level = level, level()

    def follow_level(self) -> None:
        """Move the scores of the rankings by as much as further passes have moved the level of
        scores.

        Call this after the last pass, before columns are renumbered.
        """
        if self._level is not None:
            (level, before), self._level = self._level, None
            by = moved_level(before, level())
            self._found = [seen.moved(by) for seen in self._found]

    def confidence(self) -> Confidence:
        """The confidence fitted to these rankings."""
        self.follow_level()
        confidence = Confidence()
        if self._found:
            confidence.fit(Seen.stack(self._found))
        return confidence


class Stream:
    """Observes a learner on a stream: a confidence notes rankings, except in a run of one label.

    Each is noted once its example is learned, so that learner and confidence agree after an
    interruption.
    """

    def __init__(self, confidence: Confidence, whole: bool = False) -> None:
        self._confidence, self._whole = confidence, whole

    def __call__(
        self, learner: CategoryLearner, rows: Rows | RowStore, labels: LabelSets, order: Longs
    ) -> Iterator[Longs]:
        if not learner.takes_pieces:
            yield order
            return
        before = learner.n_examples_ - order.size
        in_runs, runs = self._confidence.runs.after(labels, order, learner.label_counts_)
        first = (-1 - before) % STRIDE
        if first >= order.size:  # most single examples
            yield order
        else:
            which = np.arange(first, order.size, STRIDE)
            which = which[~in_runs[which]]
            plan = (
                [(0, order.size, which)]
                if learner.ranks_ahead
                else pieces(before, order.size, which)
            )
            yield from _in_stretches(
                learner, rows, labels, order, plan, self._whole, self._confidence.note
            )
        self._confidence.runs = runs


def within(which: Longs, first: int, last: int) -> Longs:
    return which[(which >= first) & (which < last)]


def pieces(before: int, n: int, which: Longs) -> Iterator[Stretch]:
    """The next n examples of a stream after ``before`` ones. A learner that has learned nothing
    ranks nothing.
    """
    first = 0
    while first < n:
        last = min(n, first + min(LONGEST, max(SHORTEST, (before + first) // PART)))
        yield first, last, within(which, first, last if before + first else first)
        first = last


def how_many(n: int) -> int:
    """How many of n rows of a fit to rank, at most."""
    return min(SIZE, n, max(n // SHARE, LEAST, min(ENOUGH, n // LARGER)))


def ranked_of(n: int) -> Longs:
    """The places of a fit's n rows that are ranked, all in the second half."""
    half = n // 2
    wanted = min(n - half, how_many(n))
    return half + np.arange(wanted) * (n - half) // max(1, wanted)


def stretches(n: int) -> Iterator[Stretch]:
    """The first pass over n rows, stretch by stretch."""
    half, ranked = n // 2, ranked_of(n)
    edges = [0, *(half + np.arange(STRETCHES + 1) * (n - half) // STRETCHES).tolist()]
    for first, last in pairwise(edges):
        if last > first:
            yield first, last, within(ranked, first, last)


def rows_of_few_labels(order: Longs, starts: Longs) -> Longs:
    """Up to ROWS of the rows in ``order``, from all parts of it, of those that have no more labels
    than TOGETHER.

    Row i has the labels starts[i]:starts[i+1].
    """
    few = np.flatnonzero((np.diff(starts) <= TOGETHER)[order])
    n = min(ROWS, few.size)
    return order[few[np.arange(n) * few.size // max(1, n)]]


def moved_level(before: Floats, after: Floats) -> float:
    """By how much the level of the same rows differs in two rankings (scores n × at most WIDTH,
    NaN for no label).
    """
    both = min(before.shape[1], after.shape[1], WIDTH)
    differences = (after[:, TOGETHER:both] - before[:, TOGETHER:both]).ravel()
    known = differences[~np.isnan(differences)]
    # the same sum on all machines
    return math.fsum(known.tolist()) / known.size if known.size else 0.0


def rank_before_learning(
    learner: CategoryLearner, rows: Rows | RowStore, which: Longs, whole: bool = False
) -> tuple[Ranking, Shares]:
    """The rankings of rows that are not yet learned, and the known share of the features of each.

    Features never seen are left out; in a ``whole`` row they count for its length.
    """
    chosen = rows.take(which) if isinstance(rows, Rows) else rows.chosen(which)
    known, left = known_part(learner, chosen)
    return learner.rank_rows(chosen if whole else left, DEPTH), known


def known_part(learner: CategoryLearner, rows: Rows) -> tuple[Shares, Rows]:
    """The share of the features of each row that earlier examples had, and the rows without the
    other features.

    The share is 1 for empty rows, and where the learner cannot tell.
    """
    shares, n_features = np.ones(rows.n_rows, dtype=np.float32), np.diff(rows.indptr)
    if not hasattr(learner, "has_seen") or (seen := learner.has_seen(rows.indices)).all():
        return shares, rows
    left = rows.only(seen)
    np.divide(
        np.diff(left.indptr), n_features, out=shares, where=n_features > 0, casting="same_kind"
    )
    return shares, left
