"""The honest examples: the last rankings that were made before their example was learned, and what was true of them.

All that is known about how sure a ranking is comes from here, so memory has a bound, and what is forgotten here is
forgotten everywhere. Of each ranking the first WIDTH labels are kept; of the true labels behind them, how many there
are and how deep the deepest stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Floats, Ints, Longs
from shortlist.arrays.rows import grown
from shortlist.errors import InputError
from shortlist.files.store import State
from shortlist.labels import LabelSets
from shortlist.ranking import places_of

SIZE = 8192  # examples: an error rate of 5 % is known to a quarter of a point
WIDTH = 16  # labels of each
MOST_BYTES = 8_000_000  # of a full window, copies of it to work on and to save, and what is made of its rankings
NEVER = np.iinfo(np.int32).max  # the depth of a true label that was not retrieved

Shares = NDArray[np.float32]


class Seen(NamedTuple):
    """Examples, one row each; a place without a label has the id −1 and the score 0."""

    ids: Ints  # × WIDTH
    scores: NDArray[np.float32]  # × WIDTH
    hits: NDArray[np.uint8]  # × WIDTH: whether the label is true
    beyond: Ints  # true labels behind the first WIDTH
    true: Ints  # how many true labels there are
    depth: Ints  # at which place the deepest true label stands, from 1; 0 where there is none, NEVER where it does not
    deepest: NDArray[np.float32]  # its score
    expected: Floats  # the probability that the best label had when it was ranked; −1 where there was none yet
    known: Shares  # the share of its features that earlier examples had; −1 where nobody can tell

    @classmethod
    def room(cls, n: int) -> Seen:
        table, row = (n, WIDTH), (n,)
        return cls(
            np.full(table, -1, dtype=np.int32), np.zeros(table, dtype=np.float32), np.zeros(table, dtype=np.uint8),
            np.zeros(row, dtype=np.int32), np.zeros(row, dtype=np.int32),
            np.zeros(row, dtype=np.int32), np.zeros(row, dtype=np.float32), np.full(row, -1.0),
            np.full(row, -1.0, dtype=np.float32),
        )  # fmt: skip

    @classmethod
    def stack(cls, parts: Sequence[Seen]) -> Seen:
        """One below the other."""
        return cls(*(np.concatenate(own) for own in zip(*(part.arrays for part in parts), strict=True)))

    @property
    def arrays(self) -> list[NDArray[Any]]:
        return list(self)

    def take(self, rows: Longs | slice) -> Seen:
        return Seen(*[array[rows] for array in self.arrays])

    def scores_or_nan(self) -> Floats:
        """The scores, NaN where there is no label."""
        return np.where(self.ids >= 0, self.scores.astype(np.float64), np.nan)

    def moved(self, by: float) -> Seen:
        """The same examples with other scores: so much higher, where there is a label."""
        ranked, deep = self.ids >= 0, (self.depth > 0) & (self.depth < NEVER)
        scores, deepest = (
            clipped(own.astype(np.float64) + np.where(of, by, 0.0)).astype(np.float32)
            for of, own in ((ranked, self.scores), (deep, self.deepest))
        )
        return self._replace(scores=scores, deepest=deepest)


class Window:
    """The last SIZE honest examples, in a ring: the next one goes to ``next``, and ``length`` of them count."""

    def __init__(self) -> None:
        self.ring = Seen.room(0)
        self.next = 0
        self.length = 0

    def add(self, seen: Seen) -> None:
        """Add examples, the newest last, in place of the oldest ones."""
        n = seen.true.size
        room = self.ring.true.size
        if room < SIZE and self.next + n > room:
            self.ring = Seen(*(grown(array, min(SIZE, self.next + n))[:SIZE] for array in self.ring.arrays))
            room = self.ring.true.size
        places = (self.next + np.arange(n)) % room
        for array, new in zip(self.ring.arrays, seen.arrays, strict=True):
            array[places] = new
        self.next = (self.next + n) % SIZE
        self.length = min(SIZE, self.length + n)

    def rows(self, last: int | None = None) -> Longs:
        """Where the examples that count stand in the ring, oldest first; only the ``last`` so many, if given."""
        n = self.length if last is None else min(last, self.length)
        if n <= self.next:
            return np.arange(self.next - n, self.next)
        room = self.ring.true.size
        return np.concatenate([np.arange(room - n + self.next, room), np.arange(self.next)])

    def cut(self, n: int) -> None:
        """Forget all but the last n examples."""
        self.length = min(self.length, n)

    def to_state(self) -> State:
        arrays = {name: array[: self._used()] for name, array in self.ring._asdict().items()}
        return State("Window", {"next": self.next, "length": self.length}, arrays)

    def _used(self) -> int:
        return self.ring.true.size if self.length > self.next else self.next

    @classmethod
    def from_state(cls, state: State) -> Window:
        window = cls()
        kept = {
            name: np.array(state.array(name, array.dtype, array.ndim)) for name, array in window.ring._asdict().items()
        }
        ring = Seen(**kept)
        used = ring.true.size
        pairs = zip(ring.arrays, window.ring.arrays, strict=True)
        alike = all(array.shape == (used, *like.shape[1:]) for array, like in pairs)
        state.require(alike and used <= SIZE, "the honest examples have rows of one kind, and not too many")
        window.next, window.length = (state.settings[name] for name in ("next", "length"))
        whole = type(window.next) is int and type(window.length) is int
        state.require(whole and 0 <= window.next < SIZE and 0 <= window.length <= used, "its honest examples count")
        state.require(window.next == used or used == SIZE, "the honest examples are where they are said to be")
        none = ring.ids < 0
        state.require(bool((ring.ids >= -1).all() and np.isfinite(ring.scores).all()), "its rankings are such")
        state.require(bool(np.isfinite(ring.deepest).all()), "scores are finite")
        state.require(not bool(none[:, :-1][~none[:, 1:]].any()), "no ranking has a gap")
        state.require(bool((ring.hits <= 1).all() and not ring.hits[none].any()), "only labels can be true")
        counted = (ring.beyond >= 0).all() and (ring.depth >= 0).all()
        right = ring.true == ring.hits.sum(axis=1) + ring.beyond.astype(np.int64)
        state.require(bool(counted and right.all()), "true labels are counted")
        for shares, sentence in (
            (ring.expected, "what was expected are probabilities"), (ring.known, "what was known are shares")
        ):  # fmt: skip
            state.require(bool(((shares == -1.0) | ((shares >= 0.0) & (shares <= 1.0))).all()), sentence)
        window.ring = ring
        return window


def clipped(scores: Floats) -> Floats:
    """Scores within the range of those that are kept."""
    largest = float(np.finfo(np.float32).max)
    within: Floats = np.clip(scores, -largest, largest)
    return within


def look(ids: Ints, scores: Floats, truth: LabelSets, known: Shares | None = None) -> Seen:
    """What is to be kept of rankings (n × k) that were made before their examples were learned, and of their truth.

    known: the share of the features of each that earlier examples had, if anybody can tell.
    """
    if not (ids.ndim == 2 and ids.shape == scores.shape and truth.n_rows == ids.shape[0]):
        raise InputError("each honest ranking needs its scores and its true labels: ids and scores n × k, n label sets")
    found = ids >= 0
    if found[:, 1:][~found[:, :-1]].any() or not np.isfinite(scores[found]).all():
        raise InputError("the labels of an honest ranking come first, and each has a finite score")
    n, k = ids.shape
    seen, width = Seen.room(n), min(k, WIDTH)
    finite = clipped(np.where(found, scores, 0.0))
    seen.ids[:, :width], seen.scores[:, :width] = ids[:, :width], finite[:, :width]
    seen.true[:] = np.diff(truth.indptr)
    row = np.repeat(np.arange(n), seen.true)  # of each true label
    place = places_of(truth.ids, row, ids)
    near = place < width
    seen.hits[row[near], place[near]] = 1
    seen.beyond[:] = np.bincount(row[~near], minlength=n)
    np.maximum.at(seen.depth, row, np.where(place < k, place + 1, NEVER).astype(np.int32))
    deep = np.flatnonzero((seen.depth > 0) & (seen.depth < NEVER))
    seen.deepest[deep] = finite[deep, seen.depth[deep] - 1]
    if known is not None:
        seen.known[:] = known
    return seen


# Has the stream changed? If what was expected of the last examples is far from what came, older ones mislead.


LOOK = 32  # examples from one look to the next, and the shortest stretch looked at
LONGEST = 1024
ALARM = 4.5


def stretch_to_keep(seen: Seen, rows: Longs) -> int:
    """How many of the last examples (at ``rows``, oldest first) contradict those before them; 0 where none do."""
    last = rows[::-1][: max(0, min(LONGEST, rows.size - LOOK))]
    p = seen.expected[last]
    p = p[: np.argmax(p < 0.0)] if (p < 0.0).any() else p  # of examples from before there were curves nothing is known
    surplus, spread = np.cumsum(seen.hits[last[: p.size], 0] - p), np.cumsum(p * (1.0 - p))
    s = LOOK << np.arange(LONGEST.bit_length())
    s = s[s <= p.size]
    if s.size == 0:
        return 0
    z = np.abs(surplus[s - 1]) / np.sqrt(1.0 + (1.0 + s / (rows.size - s)) * spread[s - 1])
    return int(s[z.argmax()]) if z.max() > ALARM else 0
