"""Learners that merge: what was learned apart is put together.

``merge`` takes up what another learner has learned on other rows. On a cluster each pass is cut into parts, which are
learned apart and mixed in a fixed order: the number of parts is part of the result, the number of workers is not.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.columns import note_names
from shortlist.arrays.given_labels import joined_columns
from shortlist.arrays.kernels import Ints
from shortlist.categories.learner import CategoryLearner
from shortlist.concurrency import merging, nothing_if_refused, reading
from shortlist.errors import InputError


class MergingLearner(CategoryLearner):
    """Base class: merges. A learner says how, in ``_merge``."""

    @abstractmethod
    def _merge(self, other: Any, numbers: Ints) -> None:
        """Take up what the other has learned; its label i has the number numbers[i] here."""

    @merging
    def merge(self, other: Self) -> Self:
        """Take up what another learner of this kind has learned on other rows, over the same columns."""
        kind = type(self)
        if not isinstance(other, kind):
            raise InputError(f"only a {kind.__name__} can be merged into this one, not a {type(other).__name__}")
        other._give_to(self)
        return self

    @reading
    def _give_to(self, taker: Any) -> None:
        self._check_fitted()
        with nothing_if_refused(taker):
            taker._take_over(self)

    def _take_over(self, other: Any) -> None:
        if not self.__sklearn_is_fitted__():
            self._start()
            note_names(self, getattr(other, "feature_names_in_", None))
        columns = self._label_columns if self.n_examples_ > 0 else other._label_columns
        self._label_columns = joined_columns(columns, other._label_columns)
        numbers = self._labels.learn([[name] for name in other._labels.names], len(other._labels)).ids
        self._merge(other, numbers)
        counts = np.zeros(len(self._labels), dtype=np.int64)
        counts[numbers] = other.label_counts_
        self._label_counts = added(self._label_counts, counts)
        self.n_examples_ += other.n_examples_
        self.n_features_in_ = max(self.n_features_in_, other.n_features_in_)


class PartedLearner(CategoryLearner):
    """Base class: the parts of a pass can be learned apart, by several machines, and mixed (distributed/)."""

    @abstractmethod
    def _shard(self, n: int) -> Any:
        """A copy to learn one of n parts with, which shares nothing that learning changes."""

    @abstractmethod
    def _mix(self, shards: list[Any]) -> None:
        """Put together what the parts have learned, each from the present state on, in the order given."""


def added(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """a + b, the shorter one padded with zeros."""
    total = np.zeros(max(a.size, b.size), dtype=a.dtype)
    total[: a.size] += a
    total[: b.size] += b
    return total
