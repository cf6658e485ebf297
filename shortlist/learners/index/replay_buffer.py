"""A buffer of the last examples of a stream, four of which are learned again with each new one.

``fit`` goes through its examples several times; a stream brings each of them once. So while
examples have one label each, the last ones are kept, at most SLOTS of them, and with each new
example four are learned again: those that came 2^k, 2^(k−1), 2^(k−2) and 2^(k−3) examples ago,
where 2^k is the largest power of 2 that is kept. So each example is learned four more times,
nothing is random, and the result does not depend on how a stream is cut into batches. The buffer is
short, so that after labels change their meaning it soon holds new examples only.

Rows are kept in one circular array of entries. A row that does not fit at its end begins at its
start again; examples whose entries it overwrites are forgotten.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.compiled.kernels import Ints, Longs, loop, part
from shortlist.data.labels import LabelSets
from shortlist.data.rows import Rows, is_complete
from shortlist.files.store import State
from shortlist.learners.index.edges import are_rows
from shortlist.learners.index.scoring import Vectors

AGAIN = 4  # examples that are learned again with a new one
# examples that are kept, and entries of their rows
SLOTS = 1 << 9
MOST_ENTRIES = 1 << 17
MOST_EXAMPLES = 1 << 14  # of a stream: ``fit`` goes through more only twice
# entries of span: numbers of the oldest example and of the next, and where that begins
OLDEST = 0
NEXT = 1
END = 2


class Ring(NamedTuple):
    """The example of number n is in slot n mod SLOTS, which is row 2·slot of rows and of labels."""

    rows: Rows
    vectors: Vectors  # one for each slot
    labels: LabelSets
    span: Longs  # empty where nothing is kept

    def examples(self) -> tuple[Rows, Vectors, LabelSets]:
        """The examples that are kept, the oldest first."""
        oldest, end = self.span[[OLDEST, NEXT]] if self.span.size else (0, 0)
        slots = np.arange(oldest, end, dtype=np.int64) % SLOTS
        return self.rows.take(2 * slots), self.vectors[slots], self.labels.chosen(2 * slots)


def make_ring(n_slots: int, n_vector: int = 0) -> Ring:
    """An empty ring of SLOTS slots or of none; memory that is never written is not used."""
    n_entries = MOST_ENTRIES if n_slots else 0
    rows = Rows(
        np.zeros(2 * n_slots, dtype=np.int64),
        np.zeros(n_entries, dtype=np.int32),
        np.zeros(n_entries),
        0,
    )
    labels = LabelSets(np.zeros(2 * n_slots, dtype=np.int64), np.zeros(n_slots, dtype=np.int32))
    vectors = np.zeros((n_slots, n_vector), dtype=np.float32)
    return Ring(rows, vectors, labels, np.zeros(END + 1 if n_slots else 0, dtype=np.int64))


NO_RING = make_ring(0)


def most_bytes(n_vector: int) -> int:
    """The memory of a ring at most, with a copy for saving."""
    return 2 * (12 * MOST_ENTRIES + (36 + 4 * n_vector) * SLOTS)


def ring_of(rows: Rows, vectors: Vectors, labels: LabelSets) -> Ring:
    """The ring of a stream that ends with these examples."""
    if rows.n_rows == 0:
        return NO_RING
    ring = make_ring(SLOTS, vectors.shape[1])
    keep_all(ring, rows, vectors, labels)
    return ring


def joined(ring: Ring, other: Ring, numbers: Ints) -> Ring:
    """The ring of two streams, the other one last; its label i has the number numbers[i] here."""
    (rows, vectors, labels) = ring.examples()
    (other_rows, other_vectors, other_labels) = other.examples()
    width = max(vectors.shape[1], other_vectors.shape[1])  # where one is empty, it has none
    renumbered = other_labels._replace(ids=numbers[other_labels.ids].astype(np.int32))
    all_vectors = np.zeros((labels.n_rows + renumbered.n_rows, width), dtype=np.float32)
    all_vectors[: labels.n_rows, : vectors.shape[1]] = vectors
    all_vectors[labels.n_rows :, : other_vectors.shape[1]] = other_vectors
    return ring_of(
        Rows.stack([rows, other_rows]), all_vectors, LabelSets.stack([labels, renumbered])
    )


def without_label(ring: Ring, label: int) -> Ring:
    """The ring without the examples that have a label."""
    rows, vectors, labels = ring.examples()
    stays = np.flatnonzero(labels.ids != label)
    return ring_of(rows.take(stays), vectors[stays], labels.chosen(stays))


def with_columns(ring: Ring, is_kept: NDArray[np.bool_]) -> Ring:
    """The ring with some columns only, renumbered in their order."""
    rows, vectors, labels = ring.examples()
    rows = rows.only(is_kept[rows.indices])
    numbers = (np.cumsum(is_kept) - 1).astype(np.int32)
    return ring_of(
        rows._replace(indices=numbers[rows.indices], n_features=int(is_kept.sum())), vectors, labels
    )


# Model files.

ARRAYS = ["recent_ends", "recent_columns", "recent_values", "recent_labels", "recent_vectors"]


def to_arrays(ring: Ring) -> dict[str, Any]:
    """The arrays of a model file; none, if no example is kept. Values have the digits that
    weights have.
    """
    rows, vectors, labels = ring.examples()
    if rows.n_rows == 0:
        return {}
    data = rows.data.astype(np.float32)
    arrays = dict(zip(ARRAYS, (rows.indptr[1:], rows.indices, data, labels.ids), strict=False))
    return arrays | ({"recent_vectors": vectors} if vectors.shape[1] else {})


def from_arrays(
    state: State, n_features: int, n_labels: int, n_vector: int, values: str, step: float
) -> Ring:
    """The ring of a model file, which may have none; ``values`` and ``step`` are those of the
    learner.
    """
    if ARRAYS[0] not in state.arrays:
        return NO_RING
    ends = state.array("recent_ends", np.int64)
    columns = state.array("recent_columns", np.int32)
    data = state.array("recent_values", np.float32).astype(np.float64)
    ids = state.array("recent_labels", np.int32)
    n = ends.size
    vectors = np.zeros((ends.size, 0), dtype=np.float32)
    if n_vector:
        vectors = state.array("recent_vectors", np.float32, ndim=2)
    state.require(
        0 < n == ids.size == len(vectors) <= SLOTS,
        "each of its last examples has a row and a label",
    )
    bounded = (
        columns.size <= MOST_ENTRIES
        and ends.min() >= 0
        and ends.max() == ends[-1] == columns.size == data.size
    )
    state.require(
        bounded and bool((np.diff(ends, prepend=0) >= 0).all()),
        "the rows of its last examples are whole",
    )
    state.require(
        bool(((columns >= n_vector) & (columns < n_features)).all()),
        "its last examples have its columns",
    )
    state.require(
        bool(((ids >= 0) & (ids < n_labels)).all()), "its last examples have labels of its own"
    )
    squares = np.square(vectors, dtype=np.float64).sum(axis=1)
    have_length = vectors.shape[1] == n_vector and bool(np.isfinite(squares).all())
    state.require(have_length, "its last examples have vectors as long as its own")
    starts = np.append(0, ends).astype(np.int64)
    row = np.repeat(np.arange(n), np.diff(starts))
    squares += np.bincount(row, data * data, n)
    allowed = bool((data > 0).all()) and are_rows(
        values, step, squares, np.diff(starts) + (n_vector > 0)
    )
    state.require(allowed, "the values of its last examples are such as rows have")
    labels = LabelSets(np.arange(n + 1, dtype=np.int64), ids)
    return ring_of(Rows(starts, columns, data, n_features), vectors, labels)


# Kernels.


@part
def row_of(ring: Ring, lag: int) -> int:
    """The row of the example that came ``lag`` examples ago: 1 is the last one."""
    return 2 * ((ring.span[NEXT] - lag) % SLOTS)


@part
def longest_lag(ring: Ring) -> int:
    """2^k, the largest power of 2 that is not above the number of examples; 0 where there are
    none.
    """
    n = ring.span[NEXT] - ring.span[OLDEST]
    lag = 1
    while 2 * lag <= n:
        lag *= 2
    return lag if n > 0 else 0


@part
def keep(ring: Ring, rows: Rows, vectors: Vectors, labels: LabelSets, i: int) -> None:
    """Keep example i as the last one, if it was judged completely, has one label, and is not
    too large.
    """
    span = ring.span
    begin = rows.indptr[i]
    first = labels.indptr[i]
    n = rows.indptr[i + 1] - begin
    room = ring.rows.indices.size
    if n > room or labels.indptr[i + 1] - first != 1 or not is_complete(labels.partial, i):
        return
    at = span[END] if span[END] + n <= room else 0
    starts = ring.rows.indptr
    label_starts = ring.labels.indptr
    slot = span[NEXT] % SLOTS
    while span[OLDEST] < span[NEXT]:
        oldest = 2 * (span[OLDEST] % SLOTS)
        # Entries from END to the end of the array are given up where the row begins at 0.
        lies_ahead = starts[oldest] >= span[END]
        overlaps = (at == 0 and span[END] > 0 and lies_ahead) or (
            starts[oldest] < at + n and starts[oldest + 1] > at
        )
        if not overlaps and span[NEXT] - span[OLDEST] < SLOTS:
            break
        span[OLDEST] += 1
    for j in range(n):
        ring.rows.indices[at + j] = rows.indices[begin + j]
        ring.rows.data[at + j] = rows.data[begin + j]
    starts[2 * slot] = at
    starts[2 * slot + 1] = at + n
    for g in range(vectors.shape[1]):
        ring.vectors[slot, g] = vectors[i, g]
    ring.labels.ids[slot] = labels.ids[first]
    label_starts[2 * slot] = slot
    label_starts[2 * slot + 1] = slot + 1
    span[NEXT] += 1
    span[END] = at + n


@loop
def keep_all(ring: Ring, rows: Rows, vectors: Vectors, labels: LabelSets) -> None:
    for i in range(rows.indptr.size - 1):
        keep(ring, rows, vectors, labels, i)
