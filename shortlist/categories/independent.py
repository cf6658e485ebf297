"""IND, independent index learning (paper 004: Madani, Connor and Greiner, section 4.2).

Every feature keeps the exact share of its examples that carry each class, w_fc = n_fc / n_f, and an edge for each
share of at least p_ind. Features are Boolean. Counts only add, so learners of separate parts of the data merge exactly.

p_ind is ``threshold``; where it is not given, ``fit`` chooses it on a random 20 % of the rows, as the paper does.
``partial_fit`` without a ``fit`` before it uses the smallest of the candidates.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from shortlist.categories import index as indexing
from shortlist.categories.index import Index, make_index
from shortlist.categories.learner import CategoryLearner, is_true
from shortlist.door import Rows, as_real
from shortlist.errors import InputError
from shortlist.kernels import Floats, Ints, Longs
from shortlist.labels import LabelSets
from shortlist.store import State

CANDIDATES = [n / 100 for n in (*range(1, 10), *range(10, 65, 5))]
HELD_OUT = 0.2
ALL_EDGES = np.iinfo(np.int32).max


class IndependentIndex(CategoryLearner):
    """IND: an index of exact proportions, each feature on its own.

    Parameters
    ----------
    threshold : edges with a share below it are left out (p_ind); None lets ``fit`` choose it on held-out rows.
    random_state : seed of the choice of the held-out rows.
    n_jobs : threads for ranking; results do not depend on it.
    """

    nonnegative = True

    def __init__(self, threshold: float | None = None, random_state: int = 0, n_jobs: int | None = None) -> None:
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _begin(self) -> None:
        given = CANDIDATES[0] if self.threshold is None else self.threshold
        self.threshold_ = as_real(given, "threshold", least=0, most=1)
        self._counts = scipy.sparse.csr_array((0, 0), dtype=np.int64)  # n_fc: features × classes
        self._seen = np.zeros(0, dtype=np.int64)  # n_f
        self._pending: list[Any] = []  # counts not yet added: adding many small matrices one by one is slow
        self._index_now: Index | None = None

    def fit_rows(self, rows: Rows, Y: Any) -> Any:
        super().fit_rows(rows, Y)
        if self.threshold is None and rows.n_rows > 1:
            self.threshold_ = self._chosen_threshold(rows, self._labels.learn(Y, rows.n_rows))
            self._index_now = None
        return self

    def _chosen_threshold(self, rows: Rows, labels: LabelSets) -> float:
        """The candidate with the best R1 on held-out rows; the smallest of equals."""
        order = np.random.default_rng(self.random_state).permutation(rows.n_rows)
        n_held_out = max(1, round(HELD_OUT * rows.n_rows))
        held_out, rest = order[:n_held_out], order[n_held_out:]
        n_classes = len(self._labels)
        X, Y = as_matrix(rows), as_indicator(labels, n_classes)
        counts, seen = (X[rest].T @ Y[rest]).tocsr(), X[rest].sum(axis=0)
        part, own = X[held_out], Y[held_out]
        part_rows = Rows(part.indptr.astype(np.int64), part.indices.astype(np.int32), np.ones(part.nnz), X.shape[1])
        truth = LabelSets(own.indptr, own.indices)
        hits = []
        for candidate in CANDIDATES:
            ids, scores = np.full((n_held_out, 1), -1, dtype=np.int32), np.empty((n_held_out, 1))
            indexing.rank(part_rows, proportions(counts, seen, candidate), n_classes, ALL_EDGES, 0, ids, scores)
            hits.append(is_true(ids[:, 0], truth).sum())
        return CANDIDATES[int(np.argmax(hits))]

    def _prepare(self, rows: Rows) -> Rows:
        return rows._replace(data=np.ones_like(rows.data))

    def _learn(self, rows: Rows, labels: LabelSets, order: Longs, first_pass: bool) -> None:
        X, Y = as_matrix(rows), as_indicator(labels, len(self._labels))
        self._pending.append((X.T @ Y).tocsr())
        seen = X.sum(axis=0)
        if seen.size > self._seen.size:
            self._seen = np.pad(self._seen, (0, seen.size - self._seen.size))
        self._seen[: seen.size] += seen
        self._index_now = None

    def merge(self, other: IndependentIndex) -> IndependentIndex:
        """Take up what another learner has counted on other rows, over the same columns. Exact."""
        if not isinstance(other, IndependentIndex):
            raise InputError(f"only an IndependentIndex can be merged into this one, not a {type(other).__name__}")
        if not self.__sklearn_is_fitted__():
            self._start()
        numbers = self._labels.learn([[name] for name in other._labels.names], len(other._labels)).ids
        counts = other._all_counts().tocoo()
        shape = (counts.shape[0], len(self._labels))
        self._pending.append(scipy.sparse.csr_array((counts.data, (counts.row, numbers[counts.col])), shape))
        self._seen = _added(self._seen, other._seen)
        moved = np.zeros(len(self._labels), dtype=np.int64)
        moved[numbers] = other.label_counts_
        self._label_counts = _added(self.label_counts_, moved)
        self.n_examples_ += other.n_examples_
        self.n_features_in_ = max(self.n_features_in_, other.n_features_in_)
        self._index_now = None
        return self

    def _all_counts(self) -> Any:
        if self._pending:
            shape = (self._seen.size, len(self._labels))
            for matrix in [self._counts, *self._pending]:
                matrix.resize(shape)
            self._counts = sum(self._pending, self._counts).tocsr()
            self._pending = []
        return self._counts

    def _index(self) -> Index:
        if self._index_now is None:
            self._index_now = proportions(self._all_counts(), self._seen, self.threshold_)
        return self._index_now

    def _rank(self, rows: Rows, ids: Ints, scores: Floats) -> None:
        indexing.rank(rows, self._index(), len(self._labels), ALL_EDGES, 0, ids, scores)

    def _scores(self, rows: Rows) -> Floats:
        return indexing.all_scores(rows, self._index(), len(self._labels), ALL_EDGES, 0)

    def _votes(self, row: Rows, label: int) -> tuple[Ints, Floats]:
        return indexing.votes(row, self._index(), label, ALL_EDGES, 0)

    def edges_touched(self, X: Any) -> float:
        """d, the mean number of edges that vote for each active feature of some rows: the work of ranking them."""
        return self._index().edges_touched(self._check(X), ALL_EDGES)

    @property
    def n_edges_(self) -> int:
        """The number of edges that are used for ranking."""
        return self._index().n_edges

    def _to_arrays(self) -> dict[str, NDArray[Any]]:
        counts = self._all_counts()
        counts.sort_indices()
        return {
            "seen": self._seen,
            "counts_indptr": counts.indptr.astype(np.int64),
            "counts_class": counts.indices.astype(np.int32),
            "counts": counts.data,
            "threshold": np.array([self.threshold_]),
        }

    def _from_arrays(self, state: State) -> None:
        self._seen = state.array("seen", np.int64)
        indptr, classes = state.array("counts_indptr", np.int64), state.array("counts_class", np.int32)
        counts = state.array("counts", np.int64)
        self.threshold_ = float(state.array("threshold", np.float64)[0])
        shape = (self._seen.size, len(self._labels))
        self._counts = scipy.sparse.csr_array((counts, classes, indptr), shape)
        self._counts.check_format(full_check=True)
        state.require(bool((counts > 0).all()), "counts are positive")
        most = np.repeat(self._seen, np.diff(indptr))
        state.require(bool((counts <= most).all()), "shares are at most 1")


def proportions(counts: Any, seen: Longs, threshold: float) -> Index:
    """The index of all shares n_fc / n_f ≥ threshold, heaviest edge of each feature first, ties to the lower class."""
    counts = counts.tocoo()
    feature, classes, number = counts.row, counts.col, counts.data
    kept = number / seen[feature] >= threshold
    feature, classes, number = feature[kept], classes[kept], number[kept]
    order = np.lexsort((classes, -number, feature))
    length = np.bincount(feature, minlength=seen.size).astype(np.int32)
    weights = number[order].astype(np.float64)
    return make_index(length, classes[order].astype(np.int32), weights, seen.astype(np.float64), seen)


def as_matrix(rows: Rows) -> Any:
    """Rows as a Boolean SciPy matrix of whole numbers."""
    first, last = int(rows.indptr[0]), int(rows.indptr[-1])
    ones = np.ones(last - first, dtype=np.int64)
    return scipy.sparse.csr_array((ones, rows.indices[first:last], rows.indptr - first), (rows.n_rows, rows.n_features))


def as_indicator(labels: LabelSets, n_classes: int) -> Any:
    """Label sets as a SciPy indicator matrix."""
    ones = np.ones(labels.ids.size, dtype=np.int64)
    return scipy.sparse.csr_array((ones, labels.ids, labels.indptr), (labels.n_rows, n_classes))


def _added(a: Longs, b: Longs) -> Longs:
    """a + b, the shorter one padded with zeros."""
    total = np.zeros(max(a.size, b.size), dtype=np.int64)
    total[: a.size] += a
    total[: b.size] += b
    return total
