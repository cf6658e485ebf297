"""A learner that keeps the last examples of a stream, to go through some of them again (recent.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.given_labels import LabelsLike
from shortlist.arrays.kernels import Floats, Ints
from shortlist.arrays.rows import Rows
from shortlist.categories.index import recent
from shortlist.categories.index.course import EXAMPLES
from shortlist.categories.index.learner import IndexLearner
from shortlist.categories.index.recent import MOST_EXAMPLES, NOTHING_RECENT, Recent
from shortlist.categories.portions import Watch, at_once
from shortlist.files.store import State

if TYPE_CHECKING:
    from typing_extensions import Self


class StreamingIndex(IndexLearner):
    """Base class: of a stream it keeps the last examples, unless somebody has said how often to go through them."""

    passes: int | None
    step: float
    _stats: Floats
    _recent: Recent
    _streams = False  # whether what is learned is a stream, each example of which comes once
    _set: tuple[str, float] | None = None  # values and step, when the last examples were last looked at

    def _begin(self) -> None:
        super()._begin()
        self._recent = NOTHING_RECENT

    def _learn_more(self, rows: Rows, Y: LabelsLike, watch: Watch = at_once) -> Self:
        self._streams = self.passes is None and float(self.step) > 0
        self._let_others_go()
        try:
            super()._learn_more(rows, Y, watch)
        finally:  # also where it was stopped
            del self._streams
            if hasattr(self, "_stats") and self._stats[EXAMPLES] >= MOST_EXAMPLES:
                self._recent = NOTHING_RECENT
        return self

    def _let_others_go(self) -> None:
        """Let all go if some are rows that it could not have learned itself, as it is set now."""
        kept = getattr(self, "_recent", NOTHING_RECENT)
        if kept.span.size and self._set != (self.values, self.step):
            self._set = self.values, self.step
            if not recent.can_be_rows(kept, self.values, float(self.step)):
                self._recent = NOTHING_RECENT

    def _recent_with_room(self, rows: Rows) -> Recent:
        """The last examples, with room for these; nothing, if these are not to be kept."""
        if not self._streams or self._stats[EXAMPLES] >= MOST_EXAMPLES:
            return NOTHING_RECENT
        self._recent = recent.with_room(self._recent, rows.indices.size)
        return self._recent

    def _join_recent(self, other: StreamingIndex, numbers: Ints) -> None:
        """Take up those of another one, whose stats are joined already; its label i has the number numbers[i] here."""
        is_long = self._stats[EXAMPLES] >= MOST_EXAMPLES
        self._recent = NOTHING_RECENT if is_long else recent.joined_recent(self._recent, other._recent, numbers)
        self._set = None  # the other may have been set otherwise
        self._let_others_go()

    def _forget_columns(self, kept: NDArray[np.bool_]) -> None:
        super()._forget_columns(kept)
        self._recent = recent.with_columns(self._recent, kept)

    def _to_arrays(self) -> dict[str, Any]:
        fits = recent.can_be_rows(self._recent, self.values, float(self.step))
        return super()._to_arrays() | recent.to_arrays(self._recent if fits else NOTHING_RECENT)

    def _compacted(self, arrays: dict[str, Any]) -> dict[str, Any]:
        return super()._compacted({name: array for name, array in arrays.items() if name not in recent.ARRAYS})

    def _from_arrays(self, state: State) -> None:
        super()._from_arrays(state)
        n_features, n_labels = self._index.features.size, len(self._labels)
        self._recent = recent.from_arrays(state, n_features, n_labels, self.values, float(self.step))
