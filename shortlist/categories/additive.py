"""Learners whose state is sums over examples: they learn in any order and in parts, and merge exactly.

Kept are Σ_i x_i[f]·[c ∈ y_i] for each feature f and label c (sparse), and Σ_i x_i[f] for each feature. What a learner
makes of the sums is made when it is asked for, and forgotten when they change.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from shortlist.categories.learner import CategoryLearner
from shortlist.door import Rows
from shortlist.errors import InputError
from shortlist.kernels import Longs
from shortlist.labels import LabelSets
from shortlist.store import State


class AdditiveLearner(CategoryLearner):
    """Base class: adds up. A learner turns the sums into a ranking."""

    nonnegative = True
    number: Any = np.float64  # what is added up: real numbers, or whole ones

    def _begin(self) -> None:
        self._totals = np.zeros(0, dtype=self.number)
        self._sums = scipy.sparse.csr_array((0, 0), dtype=self.number)
        self._pending: list[Any] = []  # sums not yet added: adding many small matrices one by one is slow
        self._derived: Any = None

    def _learn(self, rows: Rows, labels: LabelSets, order: Longs, first_pass: bool) -> None:
        X = rows.to_matrix().astype(self.number, copy=False)
        self._add((X.T @ as_indicator(labels, len(self._labels))).tocsr(), X.sum(axis=0))

    def _add(self, sums: Any, totals: NDArray[Any]) -> None:
        self._pending.append(sums)
        self._totals = added(self._totals, totals)
        self._derived = None

    def merge(self, other: Any) -> Any:
        """Take up what another learner of this kind has added up on other rows, over the same columns. Exact."""
        kind = type(self)
        if not isinstance(other, kind):
            raise InputError(f"only a {kind.__name__} can be merged into this one, not a {type(other).__name__}")
        other._check_fitted()
        if not self.__sklearn_is_fitted__():
            self._start()
        numbers = self._labels.learn([[name] for name in other._labels.names], len(other._labels)).ids
        sums = other._all_sums().tocoo()
        shape = (sums.shape[0], len(self._labels))
        moved = scipy.sparse.csr_array((sums.data, (sums.row, numbers[sums.col])), shape)
        self._add(moved, other._totals)
        counts = np.zeros(len(self._labels), dtype=np.int64)
        counts[numbers] = other.label_counts_
        self._label_counts = added(self.label_counts_, counts)
        self.n_examples_ += other.n_examples_
        self.n_features_in_ = max(self.n_features_in_, other.n_features_in_)
        return self

    def _all_sums(self) -> Any:
        """All sums, features × labels."""
        shape = (self._totals.size, len(self._labels))
        if self._pending:
            for matrix in [self._sums, *self._pending]:
                matrix.resize(shape)
            self._sums = sum(self._pending, self._sums).tocsr()
            self._pending = []
        self._sums.resize(shape)
        return self._sums

    def _to_arrays(self) -> dict[str, NDArray[Any]]:
        sums = self._all_sums()
        sums.sort_indices()
        return {
            "totals": self._totals,
            "sums_indptr": sums.indptr.astype(np.int64),
            "sums_label": sums.indices.astype(np.int32),
            "sums": sums.data,
        }

    def _from_arrays(self, state: State) -> None:
        self._totals, sums = state.array("totals", self.number), state.array("sums", self.number)
        indptr, labels = state.array("sums_indptr", np.int64), state.array("sums_label", np.int32)
        state.require(self._totals.size == self.n_features_in_, "each feature has a total")
        finite = np.isfinite(sums).all() and np.isfinite(self._totals).all()
        state.require(bool(finite and (sums > 0).all() and (self._totals >= 0).all()), "sums are positive")
        self._sums = scipy.sparse.csr_array((sums, labels, indptr), (self._totals.size, len(self._labels)))
        self._sums.check_format(full_check=True)


def as_indicator(labels: LabelSets, n_labels: int) -> Any:
    """Label sets as a SciPy indicator matrix."""
    ones = np.ones(labels.ids.size, dtype=np.int64)
    return scipy.sparse.csr_array((ones, labels.ids, labels.indptr), (labels.n_rows, n_labels))


def added(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """a + b, the shorter one padded with zeros."""
    total = np.zeros(max(a.size, b.size), dtype=a.dtype)
    total[: a.size] += a
    total[: b.size] += b
    return total
