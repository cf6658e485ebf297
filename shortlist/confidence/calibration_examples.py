"""Calibration examples: rankings that were made before their examples were learned.

Of each ranking the first WIDTH labels are kept; of the true labels behind them, how many there are
and how deep the deepest is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.compiled.kernels import Floats, Ints, Longs
from shortlist.confidence.calibration import (
    WIDTH,
)
from shortlist.data.labels import LabelSets
from shortlist.data.ranking import places_of
from shortlist.errors import InputError
from shortlist.files.store import State

SIZE = 8192  # calibration examples: an error rate of 5 % is known to a quarter of a point
# of a full window, its copies to work on and to save, and the arrays made from it
MOST_BYTES = 8_000_000
NEVER = np.iinfo(np.int32).max  # the depth of a true label that was not retrieved

Shares = NDArray[np.float32]


class CalibrationExamples(NamedTuple):
    """Calibration examples, one row each; a place without a label has the id −1 and the score 0."""

    ids: Ints  # × WIDTH
    scores: NDArray[np.float32]  # × WIDTH
    hits: NDArray[np.uint8]  # × WIDTH: whether the label is true
    beyond: Ints  # true labels behind the first WIDTH
    true: Ints  # how many true labels there are
    # at which place the deepest true label stands, from 1; 0 where there is none, NEVER where it
    # does not
    depth: Ints
    deepest: NDArray[np.float32]  # its score
    # the probability that the best label had when it was ranked; −1 where there was none yet
    expected: Floats
    known: Shares  # the share of its features that earlier examples had; −1 where it is not known
    checked: NDArray[np.uint8]  # whether it is a spot check (spot_checks.py)

    @classmethod
    def room(cls, n: int) -> CalibrationExamples:
        table = (n, WIDTH)
        row = (n,)
        return cls(
            np.full(table, -1, dtype=np.int32),
            np.zeros(table, dtype=np.float32),
            np.zeros(table, dtype=np.uint8),
            np.zeros(row, dtype=np.int32),
            np.zeros(row, dtype=np.int32),
            np.zeros(row, dtype=np.int32),
            np.zeros(row, dtype=np.float32),
            np.full(row, -1.0),
            np.full(row, -1.0, dtype=np.float32),
            np.zeros(row, dtype=np.uint8),
        )

    @classmethod
    def stack(cls, parts: Sequence[CalibrationExamples]) -> CalibrationExamples:
        """The examples of all parts, one part after the other."""
        return cls(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))

    @property
    def n_examples(self) -> int:
        return self.true.size

    def take(self, rows: Longs | NDArray[np.bool_] | slice) -> CalibrationExamples:
        return CalibrationExamples._make(array[rows] for array in self)

    def last(self, n: int) -> CalibrationExamples:
        """The last n examples, or all if there are fewer."""
        return self.take(slice(max(0, self.n_examples - n), None))

    def scores_or_nan(self) -> Floats:
        """The scores, NaN where there is no label."""
        return np.where(self.ids >= 0, self.scores.astype(np.float64), np.nan)

    def moved(self, by: float) -> CalibrationExamples:
        """The same examples with scores higher by ``by``, where there is a label."""
        ranked = self.ids >= 0
        deep = (self.depth > 0) & (self.depth < NEVER)
        scores, deepest = (
            clipped(scores.astype(np.float64) + np.where(has_label, by, 0.0)).astype(np.float32)
            for has_label, scores in ((ranked, self.scores), (deep, self.deepest))
        )
        return self._replace(scores=scores, deepest=deepest)

    # Model files. There the examples are a ring, of which the last ``length`` before the place
    # ``next`` count.

    def to_state(self) -> State:
        counts = {"next": self.n_examples % SIZE, "length": self.n_examples}
        return State("Window", counts, self._asdict())

    @classmethod
    def from_state(cls, state: State) -> CalibrationExamples:
        empty = cls.room(0)._asdict()
        arrays = {
            name: np.array(state.array(name, array.dtype, array.ndim))
            for name, array in empty.items()
            if name != "checked"
        }
        if "checked" in state.arrays:
            arrays["checked"] = np.array(state.array("checked", np.uint8))
        else:  # a file of version 1.0
            arrays["checked"] = np.zeros(arrays["true"].size, dtype=np.uint8)
        seen = cls(**arrays)
        used = seen.n_examples
        alike = all(
            getattr(seen, name).shape == (used, *array.shape[1:]) for name, array in empty.items()
        )
        state.require(
            alike and used <= SIZE,
            "the calibration examples have rows of one kind, and not too many",
        )
        next_one, length = (state.settings[name] for name in ("next", "length"))
        whole = type(next_one) is int and type(length) is int
        state.require(
            whole and 0 <= next_one < SIZE and 0 <= length <= used, "its examples are counted"
        )
        state.require(
            next_one == used or used == SIZE, "the next calibration example follows the last"
        )
        finite = np.isfinite(seen.scores).all() and np.isfinite(seen.deepest).all()
        state.require(
            bool((seen.ids >= -1).all() and finite), "its rankings have labels and finite scores"
        )
        state.require(bool((seen.depth >= 0).all()), "places count from 1")
        for shares in (seen.expected, seen.known):
            within = (shares == -1.0) | ((shares >= 0.0) & (shares <= 1.0))
            state.require(bool(within.all()), "probabilities and shares lie between 0 and 1")
        return seen.take(np.arange(next_one - length, next_one))


def clipped(scores: Floats) -> Floats:
    """Scores within the range of float32."""
    largest = float(np.finfo(np.float32).max)
    within: Floats = np.clip(scores, -largest, largest)
    return within


def look(
    ids: Ints, scores: Floats, truth: LabelSets, known_shares: Shares | None = None
) -> CalibrationExamples:
    """Calibration examples: rankings (n × k) that were made before their examples were learned,
    with the true labels.

    Rank deeper here than lists shall be long: depths behind the last of the k labels are not known.
    ``known`` is the share of the features of each that earlier examples had, if it is known.
    """
    if not (ids.ndim == 2 and ids.shape == scores.shape and truth.n_rows == ids.shape[0]):
        raise InputError(
            "each ranking needs its scores and its true labels: ids and scores n × k, n label sets"
        )
    has_label = ids >= 0
    if has_label[:, 1:][~has_label[:, :-1]].any() or not np.isfinite(scores[has_label]).all():
        raise InputError("a ranking must have its labels first, each with a finite score")
    n, k = ids.shape
    seen = CalibrationExamples.room(n)
    width = min(k, WIDTH)
    finite = clipped(np.where(has_label, scores, 0.0))
    seen.ids[:, :width] = ids[:, :width]
    seen.scores[:, :width] = finite[:, :width]
    seen.true[:] = np.diff(truth.indptr)
    row = np.repeat(np.arange(n), seen.true)  # of each true label
    place = places_of(truth.ids, row, ids)
    near = place < width
    seen.hits[row[near], place[near]] = 1
    seen.beyond[:] = np.bincount(row[~near], minlength=n)
    np.maximum.at(seen.depth, row, np.where(place < k, place + 1, NEVER).astype(np.int32))
    deep = np.flatnonzero((seen.depth > 0) & (seen.depth < NEVER))
    seen.deepest[deep] = finite[deep, seen.depth[deep] - 1]
    if known_shares is not None:
        seen.known[:] = known_shares
    return seen
