"""Learners whose state is sums over examples: they learn in any order and in parts, and merge
exactly.

The sums are Σ_i x_i[f]·[c ∈ y_i] for each feature f and label c (sparse), and Σ_i x_i[f] for each
feature. What a learner computes from the sums is computed on demand and cached until they change.

The last digits of a sum of floats depend on the order of addition, unless all partial sums are
exact. So values are rounded to 24 significant bits (a relative change of at most 2⁻²⁵): as long as
no sum exceeds 2²⁹ times the smallest value in it, it fits into the 53 bits of a float64, and any
order and any parts give the same bits.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy
from numpy.typing import NDArray

from shortlist.compiled.kernels import Floats, Ints, Longs
from shortlist.concurrency import lock_of
from shortlist.data.labels import LabelSets
from shortlist.data.rows import Rows
from shortlist.files.store import State
from shortlist.learners.category_learner import Made, MergingLearner, added


class Sums:
    """Sums over examples, features × labels, and those not yet added: adding small matrices one
    by one is slow.
    """

    def __init__(self, added: scipy.sparse.csr_array) -> None:
        self.added = added
        self.pending: list[Any] = []


class AdditiveLearner(MergingLearner):
    """Base class: adds up. ``derived`` keeps what a learner ranks by, made of the sums."""

    nonnegative = True
    number: Any = np.float64  # what is added up: real numbers, or whole ones

    def begin(self) -> None:
        self.totals_ = np.zeros(0, dtype=self.number)
        self._sums = Sums(scipy.sparse.csr_array((0, 0), dtype=self.number))
        self.derived_ = Made()
        lock_of(self)  # made now, since ranking must add no attribute

    def update(self, rows: Rows, labels: LabelSets, order: Longs, first_pass: bool) -> None:
        X = rows._replace(data=rounded(rows.data)).to_matrix().astype(self.number, copy=False)
        self._add(X.T.tocsr() @ as_indicator(labels, len(self.label_index_)), X.sum(axis=0))

    def _add(self, sums: Any, totals: NDArray[Any]) -> None:
        self._sums.pending.append(sums)
        self.totals_ = added(self.totals_, totals)
        self.derived_ = Made()

    def merge_sums(self, other: Any, numbers: Ints) -> None:
        """Exact: the sums over both learners' rows."""
        self._add(self.renumbered(other, numbers), other.totals_)

    def renumbered(self, other: Any, numbers: Ints) -> Any:
        """The sums of another learner, whose labels have these numbers here."""
        sums = other.label_sums().tocoo()
        return scipy.sparse.csr_array(
            (sums.data, (sums.row, numbers[sums.col])), (sums.shape[0], len(self.label_index_))
        )

    def label_sums(self) -> Any:
        """All sums, features × labels; of each feature in the order of the labels."""
        with lock_of(self).making:
            shape = (self.totals_.size, len(self.label_index_))
            sums = self._sums
            if sums.pending or sums.added.shape != shape:
                for matrix in [sums.added, *sums.pending]:
                    matrix.resize(shape)
                total = sum(sums.pending, sums.added).tocsr()
                total.sort_indices()
                sums.added = total
                sums.pending = []
            return sums.added

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        """Sums are added up before, and SciPy has noted that none is there twice: others may be
        asking meanwhile.
        """
        if hasattr(self, "_sums"):
            self.label_sums().sum_duplicates()
        return super().__deepcopy__(memo)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        sums = self.label_sums()
        return {
            "totals": self.totals_,
            "sums_indptr": sums.indptr.astype(np.int64),
            "sums_label": sums.indices.astype(np.int32),
            "sums": sums.data,
        }

    def from_arrays(self, state: State) -> None:
        self.totals_ = state.array("totals", self.number)
        sums = state.array("sums", self.number)
        labels = state.array("sums_label", np.int32)
        indptr = state.offsets("sums_indptr", self.totals_.size, sums.size)
        state.require(self.totals_.size == self.n_features_in_, "each feature has a total")
        positive = np.isfinite(sums) & (sums > 0)
        not_negative = np.isfinite(self.totals_) & (self.totals_ >= 0)
        state.require(bool(positive.all() and not_negative.all()), "sums are positive")
        shape = (self.totals_.size, len(self.label_index_))
        matrix = scipy.sparse.csr_array((sums, labels, indptr), shape)
        matrix.check_format(full_check=True)
        are_seen = self.counts_by_label_[labels] > 0
        state.require(bool(are_seen.all()), "labels with a sum have been seen")
        matrix.sort_indices()
        state.require(matrix.has_canonical_format, "a feature has one sum for each label")
        self._sums = Sums(matrix)


def rounded(values: Floats, bits: int = 24) -> Floats:
    """The values with so many significant bits."""
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.rint(np.ldexp(mantissa, bits)), exponent - bits)


def as_indicator(labels: LabelSets, n_labels: int) -> scipy.sparse.csr_array:
    """Label sets as a SciPy indicator matrix."""
    ones = np.ones(labels.ids.size, dtype=np.int64)
    return scipy.sparse.csr_array((ones, labels.ids, labels.indptr), (labels.n_rows, n_labels))
