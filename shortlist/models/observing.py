"""While a learner learns, some examples are ranked before their turn: from these it is known how sure a ranking is.

What a model says of examples that it has learned is no measure of what it will say of others. Nothing is learned
otherwise than without: the learner is the same, bit by bit. A learner that scores an example before it corrects
anything ranks it on the way (index/retrieval.py); others are asked before a piece of the rows is learned. Learners that
take no pieces, such as MMP and Rocchio, are not asked, and models of them do not know how sure they are.

- In the first pass of ``fit`` every example is new until its turn comes, and late in that pass the model is nearly what
  it will be in the end: some rows of the second half are ranked. Trials on ten collections found such rankings nearly
  as good a measure of the final model as cross-fitting, which learns several times as much; and keeping a tenth of the
  rows for measuring, to be learned last, made models worse by up to two points.
- On a stream one example in STRIDE is ranked, chosen by its number, never by the clock.

A row to be ranked must be read as a new text will be: without features that no earlier row had. They have no votes, but
would make the votes of the others lighter, and scores lower than those of new texts, in which unknown words count for
nothing.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from shortlist.arrays.kernels import Floats, Longs
from shortlist.arrays.rows import Rows, RowStore
from shortlist.categories.index.learner import PIECE
from shortlist.categories.learner import CategoryLearner
from shortlist.labels import LabelSets
from shortlist.models.calibration import TOGETHER, WIDTH
from shortlist.models.confidence import SIZE, Confidence, Seen, Shares, look
from shortlist.ranking import Ranking
from shortlist.text.counts import keep

DEPTH = 100  # labels of a ranking made before its example is learned: no list can promise more

# Of a fit: one row in SHARE is ranked, as ranking it takes about as long as learning it once.
STRETCHES = 20  # of the second half of the rows
SHARE = 10
LARGER, LEAST, ENOUGH = 8, 512, 1024  # of few rows a larger share, but no more than ENOUGH; LEAST, if half are as many
MOST_ON_THE_WAY = 2 * STRETCHES * PIECE  # rows of a fit; of more, a stretch is made by several threads
ROWS = 64  # to measure the level: what a single one is off by, about 0.02, is a hundredth of a deviation in their mean

# Of a stream: a piece has a PART-th of what is known by then, within these bounds.
STRIDE = 10
SHORTEST, LONGEST, PART = 16, 512, 8

Stretch = tuple[int, int, Longs]  # learn order[first:last], after ranking the rows at these places of that order


class Observer:
    """Lets a learner rank some rows before it learns them.

    Parameters
    ----------
    whole : bool, default=False
        Whether rows are asked about as they are, with features that were never seen.
    """

    def __init__(self, whole: bool = False) -> None:
        self._whole = whole

    def _learned(
        self, learner: Any, rows: Rows | RowStore, labels: LabelSets, order: Longs, stretches: Iterable[Stretch],
        on_the_way: bool, note: Callable[[Seen], None],
    ) -> Iterator[Longs]:  # fmt: skip
        """The order in stretches; what the rankings of each tell is noted once it is learned."""
        for first, last, which in stretches:
            which = complete(labels, order, which)
            asked = order[which]
            if not which.size:
                yield order[first:last]
            elif on_the_way:  # of a store, a stretch is one piece, whose rows count from 0
                n, places = (rows.n_rows, asked) if isinstance(rows, Rows) else (last - first, which - first)
                ahead = learner._rank_ahead(n, places, DEPTH, self._whole)
                yield order[first:last]
                note(look(ahead.ids, ahead.scores, labels.chosen(asked), ahead.known))
            else:
                ranking, known = honest(learner, rows, asked, self._whole)
                yield order[first:last]
                note(look(ranking.ids, ranking.scores, labels.chosen(asked), known))


class FirstPass(Observer):
    """Watches a ``fit``, and gathers rankings in its first pass; of a fit in windows, in the last of them.

    Further passes may move the level of scores, at which labels score that are not in question: some rows are ranked at
    the end of the first pass and of the last one.
    """

    def __init__(self, whole: bool = False) -> None:
        super().__init__(whole)
        self._found: list[Seen] = []  # a sixth of what the rankings themselves would take
        self._level: tuple[Callable[[], Floats], Floats] | None = None  # the scores of some rows: now, and as they were

    def __call__(
        self, learner: CategoryLearner, rows: Rows | RowStore, labels: LabelSets, order: Longs
    ) -> Iterator[Longs]:
        self._found = []
        if not learner.takes_pieces:
            yield order
            return
        on_the_way = learner.ranks_ahead and order.size <= MOST_ON_THE_WAY
        plan = stretches(order.size, PIECE if on_the_way else 0)
        yield from self._learned(learner, rows, labels, order, plan, on_the_way, self._found.append)
        if self._found:
            some = rows_of_few_labels(order, labels.indptr)
            kept = rows.take(some) if isinstance(rows, Rows) else rows.chosen(some)

            def level() -> Floats:
                return learner._rank_rows(kept, WIDTH).scores

            self._level = level, level()

    def follow_level(self) -> None:
        """Move the scores of the rankings as far as further passes have moved the level of scores.

        To be called after the last pass, while columns still mean what they meant in it.
        """
        if self._level is not None:
            (level, before), self._level = self._level, None
            by = moved_level(before, level())
            self._found = [seen.moved(by) for seen in self._found]

    def confidence(self) -> Confidence:
        """What these rankings tell."""
        self.follow_level()
        confidence = Confidence()
        if self._found:
            confidence.fit_seen(Seen.stack(self._found))
        return confidence


class Stream(Observer):
    """Watches a learner go on learning; a confidence takes note of rankings that do not come in a run of labels.

    Each is noted once its example is learned: learning that fails, or is stopped, leaves both as they belong together.
    """

    def __init__(self, confidence: Confidence, whole: bool = False) -> None:
        super().__init__(whole)
        self._confidence = confidence

    def __call__(
        self, learner: CategoryLearner, rows: Rows | RowStore, labels: LabelSets, order: Longs
    ) -> Iterator[Longs]:
        if not learner.takes_pieces:
            yield order
            return
        runs, before = copy.copy(self._confidence.runs), learner.n_examples_ - order.size
        in_runs, first = runs.note(labels, order, learner.label_counts_), (-1 - before) % STRIDE
        if first >= order.size:  # as with most examples that come alone
            yield order
        else:
            which = np.arange(first, order.size, STRIDE)
            which = which[~in_runs[which]]
            on_the_way = learner.ranks_ahead
            plan = [(0, order.size, which)] if on_the_way else pieces(before, order.size, which)
            yield from self._learned(learner, rows, labels, order, plan, on_the_way, self._confidence.note)
        self._confidence.runs = runs


def complete(labels: LabelSets, order: Longs, which: Longs) -> Longs:
    """Those of order[which] of which all labels were judged: what nobody judged says nothing about how sure one is."""
    whole = labels.partial.complete
    return which[whole[order[which]]] if whole.size else which


def within(which: Longs, first: int, last: int) -> Longs:
    return which[(which >= first) & (which < last)]


def pieces(before: int, n: int, which: Longs) -> Iterator[Stretch]:
    """The next n examples of a stream, after so many. A learner that has learned nothing is not asked."""
    first = 0
    while first < n:
        last = min(n, first + min(LONGEST, max(SHORTEST, (before + first) // PART)))
        yield first, last, within(which, first, last if before + first else first)
        first = last


def how_many(n: int) -> int:
    """How many of n rows of a fit are ranked, if as many may be."""
    return min(SIZE, n, max(n // SHARE, LEAST, min(ENOUGH, n // LARGER)))


def stretches(n: int, longest: int = 0) -> Iterator[Stretch]:
    """The first pass over n rows, stretch by stretch.

    Who ranks rows on the way, each when its turn comes, needs no more of them than there must be: ``longest`` is how
    many rows one may have then.
    """
    half = n // 2
    wanted = min(n - half, how_many(n))
    ranked = half + np.arange(wanted) * (n - half) // max(1, wanted)
    count = max(1, -(-(n - half) // longest)) if longest else STRETCHES
    edges = [0, *(half + np.arange(count + 1) * (n - half) // count).tolist()]
    for first, last in pairwise(edges):
        if last > first:
            yield first, last, within(ranked, first, last)


def rows_of_few_labels(order: Longs, starts: Longs) -> Longs:
    """Up to ROWS of the rows in ``order``, from all parts of it, of those that have no more labels than TOGETHER.

    Row i has the labels starts[i]:starts[i+1].
    """
    few = np.flatnonzero((np.diff(starts) <= TOGETHER)[order])
    n = min(ROWS, few.size)
    return order[few[np.arange(n) * few.size // max(1, n)]]


def moved_level(before: Floats, after: Floats) -> float:
    """By how much the level of the same rows differs in two rankings (scores n × at most WIDTH, NaN for no label)."""
    both = min(before.shape[1], after.shape[1], WIDTH)
    differences = (after[:, TOGETHER:both] - before[:, TOGETHER:both]).ravel()
    known = differences[~np.isnan(differences)]
    return math.fsum(known.tolist()) / known.size if known.size else 0.0  # a sum that no machine rounds otherwise


def honest(
    learner: CategoryLearner, rows: Rows | RowStore, which: Longs, whole: bool = False
) -> tuple[Ranking, Shares]:
    """The rankings of rows that are not yet learned, read as new ones; and the known share of the features of each.

    In a text a feature never seen counts for nothing; in a ``whole`` row it has no votes, but its share of the length.
    """
    chosen = rows.take(which) if isinstance(rows, Rows) else rows.chosen(which)
    known, left = known_part(learner, chosen)
    return learner._rank_rows(chosen if whole else left, DEPTH), known


def known_part(learner: CategoryLearner, rows: Rows) -> tuple[Shares, Rows]:
    """Which share of the features of each row earlier examples had, 1 where it has none; and the rows without others.

    Where the learner cannot tell, all count as known.
    """
    shares, n_features = np.ones(rows.n_rows, dtype=np.float32), np.diff(rows.indptr)
    if not hasattr(learner, "has_seen") or (seen := learner.has_seen(rows.indices)).all():
        return shares, rows
    left = keep(rows, seen)
    np.divide(np.diff(left.indptr), n_features, out=shares, where=n_features > 0, casting="same_kind")
    return shares, left
