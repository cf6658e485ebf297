"""While a learner learns, some examples are ranked before their turn: from these it is known how sure a ranking is.

Nothing is learned otherwise than without: the learner is the same, bit by bit. ``fit`` gathers rankings in its first
pass (confidence/honest.py), if the learner takes the rows piece by piece. On a stream one example in STRIDE is ranked,
chosen by its number, never by the clock. A learner that scores an example before it corrects anything ranks it on the
way (index/retrieval.py); others are asked before a piece of the stream is learned, and to rank one takes half as long
as to learn it. A learner that cannot stop between two pieces, and may have to put itself in order before it ranks, is
only asked before MANY examples at once.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Floats, Longs
from shortlist.arrays.rows import Rows, RowStore
from shortlist.categories.index.learner import PIECE
from shortlist.categories.index.retrieval import Ahead
from shortlist.categories.learner import CategoryLearner, Watch, at_once
from shortlist.concurrency import ModelLock, Noting
from shortlist.files.store import State
from shortlist.labels import LabelSets, NumberedLabels
from shortlist.models.confidence import Confidence
from shortlist.models.confidence.honest import STRETCHES, moved_level, rows_of_few_labels, stretches
from shortlist.models.confidence.runs import Runs
from shortlist.models.confidence.window import LOOK, WIDTH, Seen, Shares, look
from shortlist.ranking import Ranking
from shortlist.text.counts import keep

DEPTH = 100  # labels of an honest ranking: no list can promise more
STRIDE = 10
MANY = 32
MOST_ON_THE_WAY = 2 * STRETCHES * PIECE  # rows of a fit; of more, a stretch is made by several threads
WAITING = 4 * LOOK
LEAST, MOST, SHARE = 16, 512, 8  # a piece of a stream has a SHARE-th of what is known by then, within these bounds


class FirstPass:
    """Watches a ``fit``, and gathers honest rankings in its first pass; of a fit in windows, in the last of them.

    Further passes may move the level of scores: some rows are ranked at the end of the first pass and of the last one
    (confidence/level.py).
    """

    def __init__(self, whole: bool = False) -> None:
        self._whole = whole  # whether rows are asked about as they are, with features that were never seen
        self._found: list[Seen] = []  # a sixth of what the rankings themselves would take
        self._level: Level | None = None

    def __call__(
        self, learner: CategoryLearner, rows: Rows | RowStore, labels: LabelSets, order: Longs
    ) -> Iterator[Longs]:
        self._found = []
        if not takes_pieces(learner):
            yield order
            return
        on_the_way = learner.ranks_ahead and order.size <= MOST_ON_THE_WAY
        for first, last, ranked in stretches(order.size, PIECE if on_the_way else 0):
            ranked = complete(labels, order, ranked)
            if not ranked.size:
                yield order[first:last]
            elif on_the_way:
                ahead = self._asked(learner, rows, order, first, last, ranked)
                yield order[first:last]
                found = Honest(Ranking(ahead.ids, ahead.scores, ()), ahead.known)
                self._note(labels.chosen(order[ranked]), found)
            else:
                self._note(labels.chosen(order[ranked]), honest(learner, rows, order[ranked], self._whole))
                yield order[first:last]
        if self._found:
            some = rows_of_few_labels(order, labels.indptr)
            self._level = Level(learner, rows.take(some) if isinstance(rows, Rows) else rows.chosen(some))

    def _asked(self, learner: Any, rows: Rows | RowStore, order: Longs, first: int, last: int, ranked: Longs) -> Ahead:
        """Where the rankings of order[ranked] will stand once order[first:last] is learned, in one piece of a store."""
        n, which = (rows.n_rows, order[ranked]) if isinstance(rows, Rows) else (last - first, ranked - first)
        ahead: Ahead = learner._rank_ahead(n, which, DEPTH, self._whole)
        return ahead

    def _note(self, truth: LabelSets, found: Honest) -> None:
        ids, scores = found.ranking.ids, found.ranking.scores
        self._found.append(look(ids, scores, truth, found.known))

    def follow_level(self) -> None:
        """Move the scores of the honest rankings as far as further passes have moved the level of scores.

        To be called after the last pass, while columns still mean what they meant in it.
        """
        if self._level is not None:
            by, self._level = self._level.moved_by_now(), None
            self._found = [seen.moved(by) for seen in self._found]

    def confidence(self) -> Confidence:
        """What these rankings tell."""
        self.follow_level()
        confidence = Confidence()
        if self._found:
            confidence.fit_seen(Seen.stack(self._found))
        return confidence


class Level:
    """Some rows that a learner has learned, to be ranked now and later."""

    def __init__(self, learner: CategoryLearner, rows: Rows) -> None:
        self._learner, self._rows = learner, rows
        self._before = self._scores()

    def _scores(self) -> Floats:
        return self._learner._rank_rows(self._rows, WIDTH).scores

    def moved_by_now(self) -> float:
        return moved_level(self._before, self._scores())


class Honest(NamedTuple):
    """Rankings of rows that are not yet learned, and the share of the features of each that is known (−1: unclear)."""

    ranking: Ranking
    known: Shares


class Note(NamedTuple):
    """Honest rankings, and what was true of them."""

    found: Honest
    truth: LabelSets


class Notes:
    """A confidence, and honest rankings on their way to it.

    To observe many at once takes hardly longer than to observe one, and has the same result: so some may wait, until
    there are WAITING of them, or until it is asked.
    """

    def __init__(self, confidence: Confidence | None = None) -> None:
        self._confidence = confidence or Confidence()
        self._waiting: list[Note] = []
        self._n_waiting = 0  # examples

    @property
    def runs(self) -> Runs:
        """Whether the stream comes sorted by label."""
        return self._confidence.runs

    @runs.setter
    def runs(self, runs: Runs) -> None:
        self._confidence.runs = runs

    def add(self, found: Honest, truth: LabelSets) -> None:
        ranking = Ranking(found.ranking.ids, found.ranking.scores, ())
        self._waiting.append(Note(Honest(ranking, found.known), truth))
        self._n_waiting += truth.n_rows
        if self._n_waiting >= WAITING:
            self._settle()

    def settled(self, lock: ModelLock) -> Confidence:
        """The confidence, which has observed all; whoever asks may read the model, and others may ask meanwhile."""
        if self._waiting:
            with lock.making, Noting():
                self._settle()
        return self._confidence

    def _settle(self) -> None:
        waiting = self._waiting
        if waiting:
            width = max(note.found.ranking.ids.shape[1] for note in waiting)
            together = Ranking.stack([note.found.ranking for note in waiting], width)
            truth = LabelSets.stack([note.truth for note in waiting])
            known = np.concatenate([note.found.known for note in waiting])
            self._confidence.observe(together.ids, together.scores, truth, known)
        self._n_waiting = 0
        self._waiting = []  # last: who finds nothing waiting asks at once


def watching(learner: CategoryLearner, rows: Rows, labels: NumberedLabels, notes: Notes, whole: bool = False) -> Watch:
    """What watches a learner go on learning these rows, and takes note of what it makes of some of them before.

    That is noted once they are learned: learning that fails, or is stopped, leaves both as they belong together.
    ``whole`` is what FirstPass has.
    """
    if takes_pieces(learner):
        return Stream(notes, whole)
    asked = learner.__sklearn_is_fitted__() and learner.n_examples_ > 0 and rows.n_rows >= MANY
    which = np.arange(STRIDE - 1, rows.n_rows, STRIDE) if asked else np.zeros(0, dtype=np.int64)
    which = complete(labels.sets, np.arange(rows.n_rows), which)
    if not which.size:
        return at_once
    found, left = honest(learner, rows, which, whole), rows.n_rows

    def noting(learner: CategoryLearner, some: Rows | RowStore, own: LabelSets, order: Longs) -> Iterator[Longs]:
        nonlocal left
        yield order
        left -= order.size
        if left == 0:
            notes.add(found, learner.label_numbers(labels.take(which.tolist())))

    return noting


class Stream:
    """Watches a learner that takes pieces go on learning, and takes note of honest rankings."""

    def __init__(self, notes: Notes, whole: bool = False) -> None:
        self._notes, self._whole = notes, whole

    def __call__(
        self, learner: CategoryLearner, rows: Rows | RowStore, labels: LabelSets, order: Longs
    ) -> Iterator[Longs]:
        runs = copy.copy(self._notes.runs)
        sorted_ones = runs.note(labels, order, learner.label_counts_)
        yield from self._learned(learner, rows, labels, order, sorted_ones)
        self._notes.runs = runs

    def _learned(
        self, learner: CategoryLearner, rows: Rows | RowStore, labels: LabelSets, order: Longs,
        sorted_ones: NDArray[np.bool_],
    ) -> Iterator[Longs]:  # fmt: skip
        """The order in pieces; those of the rows that are ranked before do not come in a run of labels."""
        before = learner.n_examples_ - order.size
        if order.size == 1 and (before + 1) % STRIDE:  # one that is not ranked, as most that come alone
            yield order
            return
        if learner.ranks_ahead:
            yield from self._on_the_way(learner, rows, labels, order, before, sorted_ones)
            return
        for first, last in pieces(before, order.size):
            begin = first + (-1 - before - first) % STRIDE
            ranked = complete(labels, order, np.arange(begin, last, STRIDE))
            ranked = ranked[~sorted_ones[ranked]]
            if before + first == 0 or ranked.size == 0:
                yield order[first:last]
                continue
            found = honest(learner, rows, order[ranked], self._whole)
            yield order[first:last]
            self._notes.add(found, labels.chosen(order[ranked]))

    def _on_the_way(
        self, learner: Any, rows: Rows | RowStore, labels: LabelSets, order: Longs, before: int,
        sorted_ones: NDArray[np.bool_],
    ) -> Iterator[Longs]:  # fmt: skip
        """By a learner that ranks while it learns: each example is ranked when its turn comes."""
        which = complete(labels, order, np.arange((-1 - before) % STRIDE, order.size, STRIDE))
        which = which[~sorted_ones[which]]
        if which.size == 0:
            yield order
            return
        ahead = learner._rank_ahead(rows.n_rows, order[which], DEPTH, self._whole)
        yield order
        found = Honest(Ranking(ahead.ids, ahead.scores, ()), ahead.known)
        self._notes.add(found, labels.chosen(order[which]))


def complete(labels: LabelSets, order: Longs, which: Longs) -> Longs:
    """Those of order[which] of which all labels were judged: what nobody judged says nothing about how sure one is."""
    whole = labels.partial.complete
    return which[whole[order[which]]] if whole.size else which


def pieces(before: int, n: int) -> Iterator[tuple[int, int]]:
    """The next n examples of a stream, after so many: first and last + 1 of each piece."""
    first = 0
    while first < n:
        last = min(n, first + min(MOST, max(LEAST, (before + first) // SHARE)))
        yield first, last
        first = last


def takes_pieces(learner: CategoryLearner) -> bool:
    """Whether it learns one row after the other, and can be asked in between."""
    return bool(learner.takes_pieces)


def honest(learner: CategoryLearner, rows: Rows | RowStore, which: Longs, whole: bool = False) -> Honest:
    """The rankings of rows that are not yet learned, read as new ones.

    In a text a feature never seen counts for nothing; in a ``whole`` row it has no votes, but its share of the length.
    """
    if not isinstance(rows, Rows):
        chosen = rows.chosen(which)
    elif rows.n_rows == 1:  # of one text, which is learned at once
        chosen = rows
    else:
        chosen = rows.take(which)
    known = np.full(which.size, -1.0, dtype=np.float32)
    if (seen := features_seen(learner, chosen)) is not None:
        left = chosen if seen.all() else keep(chosen, seen)
        known = share_left(chosen, left)
        chosen = chosen if whole else left
    return Honest(learner._rank_rows(chosen, DEPTH), known)


def features_seen(learner: CategoryLearner, rows: Rows) -> NDArray[np.bool_] | None:
    """Which features of rows earlier examples had; None where the learner cannot tell."""
    return learner.has_seen(rows.indices) if hasattr(learner, "has_seen") else None


def share_left(rows: Rows, left: Rows) -> Shares:
    """Which share of the features of each row is left; 1 where it has none."""
    shares, n_features = np.ones(rows.n_rows, dtype=np.float32), np.diff(rows.indptr)
    if left is not rows:
        np.divide(np.diff(left.indptr), n_features, out=shares, where=n_features > 0, casting="same_kind")
    return shares


def confidence_in(state: State, n_labels: int) -> Confidence:
    """The confidence of a model file."""
    part = state.parts["confidence"]
    state.require(part.kind == "Confidence", "its confidence is a Confidence")
    confidence = Confidence.from_state(part)
    known = bool((confidence.window.ring.ids < n_labels).all())
    state.require(known, "the labels that its confidence has seen are its own")
    return confidence
