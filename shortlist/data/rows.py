"""Sparse rows in the one layout that kernels take, vectors beside them, and partial judgements."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from shortlist.compiled.kernels import Floats, Ints, Longs, dot, kernel, part, step
from shortlist.errors import InputError


def grown(array: NDArray[Any], size: int, *, doubled: bool = True) -> NDArray[Any]:
    """The array with room for at least ``size`` entries, zeros behind; at least doubled, so that
    growth is cheap.

    Zeros that are never written take no memory: the system provides it page by page on the first
    write.
    """
    if array.shape[0] >= size:
        return array
    room = max(size, 2 * array.shape[0] if doubled else 0)
    try:
        larger = np.zeros((room, *array.shape[1:]), dtype=array.dtype)
    except (MemoryError, ValueError) as problem:
        raise InputError(
            f"there is no memory for {room} columns, labels or edges: {problem}"
        ) from None
    larger[: array.shape[0]] = array
    return larger


def give_back() -> None:
    """Return freed memory, which glibc keeps for itself, to the system: a third of all memory
    after many texts.
    """
    with contextlib.suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


Scalar = TypeVar("Scalar", bound=np.generic)


class Rows(NamedTuple):
    """Checked sparse rows, in the one layout that kernels take. Row i is the slice
    indptr[i]:indptr[i+1].
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    data: NDArray[np.float64]
    n_features: int

    @property
    def n_rows(self) -> int:
        return self.indptr.size - 1

    def lengths(self) -> NDArray[np.int64]:
        """How many entries each row has."""
        return np.diff(self.indptr)

    def block(self, first: int, last: int) -> Rows:
        """Rows first..last-1, sharing memory."""
        return Rows(self.indptr[first : last + 1], self.indices, self.data, self.n_features)

    def row(self, i: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """The columns and the values of row i."""
        part = slice(self.indptr[i], self.indptr[i + 1])
        return self.indices[part], self.data[part]

    def to_matrix(self) -> scipy.sparse.csr_array:
        """As a SciPy matrix, with the 32-bit offsets that scikit-learn's estimators ask for
        where they suffice.
        """
        # a block of rows shares arrays with others: take its own entries
        first = self.indptr[0]
        last = self.indptr[-1]
        offsets = np.int32 if last - first <= np.iinfo(np.int32).max else np.int64
        indices = self.indices[first:last]
        indptr = self.indptr - first
        parts = self.data[first:last], indices.astype(offsets, copy=False), indptr.astype(offsets)
        return scipy.sparse.csr_array(parts, shape=(self.n_rows, self.n_features))

    def take(self, which: list[int] | NDArray[np.int64]) -> Rows:
        """The rows of those numbers, in that order."""
        which = np.asarray(which, dtype=np.int64)
        indptr = offsets_of(self.indptr, which)
        indices = np.empty(indptr[-1], dtype=np.int32)
        data = np.empty(indptr[-1])
        copy_rows(self.indptr, self.indices, which, indptr, indices)
        copy_rows(self.indptr, self.data, which, indptr, data)
        return Rows(indptr, indices, data, self.n_features)

    def only(self, is_kept: NDArray[np.bool_]) -> Rows:
        """The rows with some of their entries; ``kept`` has a mark for each."""
        entries = slice(
            self.indptr[0], self.indptr[-1]
        )  # a block of rows shares arrays with others
        ends = np.append(0, np.cumsum(is_kept))[self.indptr - entries.start]
        return Rows(
            ends, self.indices[entries][is_kept], self.data[entries][is_kept], self.n_features
        )

    @classmethod
    def stack(cls, parts: list[Rows]) -> Rows:
        """The rows of all parts, one part after the other; as wide as the widest."""
        if len(parts) == 1:
            return parts[0]
        starts = np.cumsum([0] + [part.indices.size for part in parts])
        indptr = [part.indptr[1:] + start for part, start in zip(parts, starts, strict=False)]
        return cls(
            np.concatenate([np.zeros(1, dtype=np.int64), *indptr]),
            np.concatenate([np.empty(0, dtype=np.int32), *(part.indices for part in parts)]),
            np.concatenate([np.empty(0), *(part.data for part in parts)]),
            max((part.n_features for part in parts), default=0),
        )


def check_nonnegative(
    rows: Rows, called: Callable[[int], str] = "row {}".format, n_vector: int = 0
) -> None:
    """Refuse negative values, except in the first ``n_vector`` columns; ``called`` names a row
    in the error.
    """
    if rows.data.size == 0 or rows.data.min() >= 0:
        return
    wrong = np.flatnonzero((rows.data < 0) & (rows.indices >= n_vector))
    if wrong.size:
        row = int(np.searchsorted(rows.indptr, wrong[0], side="right")) - 1
        raise InputError(
            f"Negative values in data: {called(row)} holds {rows.data[wrong[0]]:g} in column "
            f"{rows.indices[wrong[0]]}, "
            "and this learner takes values of at least 0 there; TunedIndex and MMP learn from "
            "dense vectors of either "
            "sign (where they stand before words, set vector to their number of columns), and "
            "sparse features v can be "
            "replaced by pairs max(v, 0), max(0, -v)"
        )


class RowStore(Protocol):
    """Rows that are stored in less memory than ``Rows``, and made on demand."""

    n_rows: int

    @property
    def n_features(self) -> int:
        """How many columns there are."""

    def lengths(self) -> NDArray[np.int64]:
        """How many entries each row has beside its vector, at most."""

    def chosen(self, which: NDArray[np.int64]) -> Rows:
        """The rows of those numbers, in that order."""

    def all(self) -> Rows:
        """All rows."""


def offsets_of(indptr: NDArray[np.int64], which: NDArray[np.int64]) -> NDArray[np.int64]:
    """The offsets of the rows of those numbers after they are concatenated."""
    offsets = np.zeros(which.size + 1, dtype=np.int64)
    (indptr[which + 1] - indptr[which]).cumsum(out=offsets[1:])
    return offsets


@kernel
def copy_rows(
    starts: NDArray[np.int64],
    values: NDArray[Any],
    which: NDArray[np.int64],
    indptr: NDArray[np.int64],
    copied: NDArray[Any],
) -> None:
    """Copy the entries of rows of those numbers, each from its place in ``values`` to its place
    in ``copied``.
    """
    for i in range(which.size):
        first = starts[which[i]] - indptr[i]
        for j in range(indptr[i], indptr[i + 1]):
            copied[j] = values[first + j]


def as_plain(array: NDArray[np.generic], dtype: type[Scalar]) -> NDArray[Scalar]:
    """The array as kernels are compiled for: that type, contiguous, writable. Copied only if it
    is not.
    """
    if array.dtype == dtype and array.flags.carray and type(array) is np.ndarray:
        return array  # type: ignore[return-value] # the usual case; np.require takes some microseconds
    return np.require(array, dtype=dtype, requirements=["C", "A", "W"])


# What users may pass as rows of features: anything like an array, a sparse matrix, or checked rows.
MatrixLike: TypeAlias = "ArrayLike | scipy.sparse.sparray | scipy.sparse.spmatrix | Rows"


# Dense vectors and sparse rows side by side: the columns of the vector come first, then those of
# the row.


Vectors = NDArray[np.float32]  # rows × numbers


def beside(vectors: Vectors | None, rows: Rows) -> Rows:
    """The rows, with their vectors as the first columns if there are any, without stored zeros."""
    if vectors is None:
        return rows
    stored = vectors != 0
    lengths = rows.lengths()
    entries = slice(rows.indptr[0], rows.indptr[-1])
    ends = np.cumsum(np.count_nonzero(stored, axis=1))  # of the vectors' numbers, row after row
    indptr = np.append(0, ends + np.cumsum(lengths))
    is_word = np.zeros(indptr[-1], dtype=np.bool_)
    is_word[np.arange(lengths.sum()) + np.repeat(ends, lengths)] = True
    indices = np.empty(is_word.size, dtype=np.int32)
    data = np.empty(is_word.size)
    indices[is_word] = vectors.shape[1] + rows.indices[entries]
    data[is_word] = rows.data[entries]
    columns = np.arange(vectors.shape[1], dtype=np.int32)
    indices[~is_word] = np.broadcast_to(columns, vectors.shape)[stored]
    data[~is_word] = vectors[stored]
    return Rows(indptr, indices, data, vectors.shape[1] + rows.n_features)


# Rows without zeros, as vectors are: their columns are 0, 1, 2, …, and need not be looked up.


PARTS = 8


@step
def is_full(indices: Ints) -> bool:
    """Whether these columns, which ascend, are 0, 1, 2, … to the last."""
    return indices.size > 0 and indices[indices.size - 1] == indices.size - 1


@step
def inner(indices: Ints, data: Floats, dense: Floats) -> float:
    """Inner product of a row (indices int32[m], data float64[m]) with a dense vector; in eight
    sums if it is full.
    """
    if not is_full(indices):
        return dot(indices, data, dense)
    a = b = c = d = e = f = g = h = 0.0
    j = 0
    # a range of such steps takes longer to begin than a short row to add up
    while j + PARTS <= data.size:
        a += data[j] * dense[j]
        b += data[j + 1] * dense[j + 1]
        c += data[j + 2] * dense[j + 2]
        d += data[j + 3] * dense[j + 3]
        e += data[j + 4] * dense[j + 4]
        f += data[j + 5] * dense[j + 5]
        g += data[j + 6] * dense[j + 6]
        h += data[j + 7] * dense[j + 7]
        j += PARTS
    total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    while j < data.size:
        total += data[j] * dense[j]
        j += 1
    return total


# Partial judgements: of an example some labels are right, some are wrong, and the others were not
# judged. By default a judgement is complete: all labels that are not right are wrong.


class Partial(NamedTuple):
    """The labels judged wrong in examples whose judgements are partial.

    Of example i these are ids[indptr[i]:indptr[i+1]], each once; none if it is complete. If all
    examples are complete, all three arrays are empty.
    """

    complete: NDArray[np.bool_]
    indptr: Longs
    ids: Ints

    @classmethod
    def of(cls, complete: NDArray[np.bool_], lists: list[list[int]]) -> Partial:
        """From the numbers of the labels judged wrong; those of complete judgements are left
        out.
        """
        wrong_ids = [
            [] if whole else list(dict.fromkeys(ids))
            for whole, ids in zip(complete, lists, strict=True)
        ]
        indptr = np.append(0, np.cumsum([len(ids) for ids in wrong_ids])).astype(np.int64)
        return cls(
            complete, indptr, np.array([c for ids in wrong_ids for c in ids], dtype=np.int32)
        ).or_nothing()

    def or_nothing(self) -> Partial:
        return NOTHING_PARTIAL if self.complete.all() else self

    def chosen(self, which: Longs) -> Partial:
        """The partial judgements of those examples, in that order."""
        if self.complete.size == 0:
            return self
        return Partial(
            self.complete[which], *chosen_runs(self.indptr, self.ids, which)
        ).or_nothing()

    @classmethod
    def stack(cls, parts: list[Partial], sizes: list[int]) -> Partial:
        """The partial judgements of all parts, which have ``sizes`` examples, one part after
        the other.
        """
        if not any(part.complete.size for part in parts):
            return NOTHING_PARTIAL
        filled = [
            part
            if part.complete.size
            else cls(np.ones(n, dtype=np.bool_), np.zeros(n + 1, dtype=np.int64), part.ids)
            for part, n in zip(parts, sizes, strict=True)
        ]
        return cls(
            np.concatenate([part.complete for part in filled]),
            *stacked_runs([part[1:] for part in filled]),
        )

    def among_known(self, indptr: Longs, ids: Ints, n_known: int) -> Partial:
        """For a learner that knew ``before`` labels, numbered in order of first appearance.

        Unknown labels that were judged wrong are dropped. A judgement of all known labels is
        complete. Which labels an example knows does not depend on later examples.
        """
        n = self.complete.size
        right = np.diff(indptr)
        wrong = np.diff(self.indptr)
        known_so_far = np.full(n, n_known)
        np.maximum.at(known_so_far, np.repeat(np.arange(n), right), ids + 1)
        known_so_far = np.maximum.accumulate(known_so_far)
        example = np.repeat(np.arange(n), wrong)
        is_kept = (self.ids >= 0) & (self.ids < known_so_far[example])
        complete = self.complete | (
            right + np.bincount(example[is_kept], minlength=n) == known_so_far
        )
        is_kept &= ~complete[example]
        starts = np.append(0, np.cumsum(np.bincount(example[is_kept], minlength=n)))
        return Partial(complete, starts.astype(np.int64), self.ids[is_kept]).or_nothing()


NOTHING_PARTIAL = Partial(
    np.zeros(0, dtype=np.bool_), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32)
)


def chosen_runs(indptr: Longs, ids: Ints, which: Longs) -> tuple[Longs, Ints]:
    """The runs ids[indptr[i]:indptr[i+1]] of those numbers, in that order."""
    starts = offsets_of(indptr, which)
    chosen = np.empty(starts[-1], dtype=np.int32)
    copy_rows(indptr, ids, which, starts, chosen)
    return starts, chosen


def stacked_runs(parts: list[tuple[Longs, Ints]]) -> tuple[Longs, Ints]:
    """All runs of all parts, one part after the other."""
    counts = np.concatenate(
        [np.zeros(1, dtype=np.int64), *(np.diff(indptr) for indptr, _ in parts)]
    )
    return np.cumsum(counts), np.concatenate(
        [np.zeros(0, dtype=np.int32), *(ids for _, ids in parts)]
    )


@part
def is_complete(partial: Partial, i: int) -> bool:
    """Whether all labels of example i were judged."""
    return partial.complete.size == 0 or partial.complete[i]
