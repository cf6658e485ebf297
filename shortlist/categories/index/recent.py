"""The last examples of a stream, some of which are gone through again with each new one.

``fit`` goes several times through some thousand examples that have one label each; a stream brings each of them once.
So while a stream has no more than MOST_EXAMPLES, the rows of its last ones are kept, and with a new example three of
those before it are corrected once more, as the first ones of a further pass are (tuning.py), and by what others have
counted (others.py). They are those that came 2^k, 2^(k−1) and 2^(k−2) examples ago, where 2^k is the most that are
there: none is left out, none is drawn by chance, and how the stream is cut into batches changes nothing.

Only examples of one label that were judged completely are kept, and only while examples have one label on average.
Where they have not, or the stream is longer, all are let go. So they are after a change of what labels mean, or what
was true before would be learned again and again: while far more of the last new examples are missed than before,

    m > m̄ + 0.15 + 3.5·√(m̄·(1 − m̄) / 31),

nothing is kept. m is the share of the last ones that were missed (m grows by a sixteenth of what it falls short of each
new one, so that its variance is that of 31 examples), m̄ that of the last 300 (contest.py). What ``fit`` learns is not
kept.

Where only some labels change their meaning, few examples show it, but those that do have a wrong label first that was
right before, and it is the examples of that label which teach what is no longer true. So with each of them goes which
label was first when it was new. Where label c was first and r is true, let k be how many of the last 16 examples in
which c was first have r, and q be that share of the n before, (how many + 1) / (n + 2). Those of c are let go if

    k / 16 > q + 0.15 + 3.5·√(q·(1 − q)·(1/16 + 1/n)).

Labels that are wrong by chance, and labels that cannot be told apart, do not come up so: each of the former is rare,
and the latter were so before.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.growing import grown
from shortlist.arrays.kernels import Floats, Ints, Longs, part
from shortlist.arrays.partial import is_complete
from shortlist.arrays.rows import Rows
from shortlist.categories.index.limits import are_rows
from shortlist.files.store import State
from shortlist.labels import LabelSets

MOST_EXAMPLES = 1 << 14  # of a stream: through more ``fit`` goes less often, too
AGAIN = 3  # examples that are gone through again with a new one
SLOTS, MOST_ENTRIES = 1 << 12, 1 << 18  # examples that are kept, and entries of their rows, at most
ROOM = MOST_ENTRIES + MOST_ENTRIES // 4  # entries: what is let go stays in between until the room is used up
MOST_BYTES = 2 * (12 * ROOM + 40 * SLOTS)  # of all that, and of a copy that it grows into or that is saved
LATELY, CERTAIN, FAR = 16.0, 3.5, 0.15  # 1 / (what m grows by); the deviations of m, and how much more, are a change
OF_A_LABEL = 16  # examples in which a label was first, the last ones
NOBODY = -1  # no label
# Entries of span: the number of the oldest example, and of the next; how many entries there are, and where they end.
OLDEST, NEXT, ENTRIES, END = 0, 1, 2, 3


class Recent(NamedTuple):
    """Examples as kernels take them. That of number n is in slot n mod SLOTS: the row of twice that number."""

    rows: Rows  # indptr has where each slot begins, and where it ends
    labels: LabelSets
    first: Ints  # the label that was first when the example in a slot was new, or NOBODY
    span: Longs  # empty where nothing is to be kept
    lately: Floats  # float64[1], m

    def examples(self) -> tuple[Rows, Ints, Ints]:
        """The rows that are kept, the oldest first, their labels, and those that were first."""
        oldest, end = self.span[[OLDEST, NEXT]] if self.span.size else (0, 0)
        slots = np.arange(oldest, end, dtype=np.int64) % SLOTS
        return self.rows.take(2 * slots), self.labels.ids[slots], self.first[slots]


def make_recent(n_slots: int) -> Recent:
    """Room for so many examples, SLOTS or none, and as yet for none of their entries."""
    offsets = np.repeat(np.arange(n_slots + 1, dtype=np.int64), 2)[1:-1]
    rows = Rows(np.zeros(2 * n_slots, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(0), 0)
    labels = LabelSets(offsets, np.zeros(n_slots, dtype=np.int32))
    span = np.zeros(END + 1 if n_slots else 0, dtype=np.int64)
    return Recent(rows, labels, np.zeros(n_slots, dtype=np.int32), span, np.zeros(1))


NOTHING_RECENT = make_recent(0)


def with_room(recent: Recent, n_entries: int) -> Recent:
    """With room for so many entries of examples to come."""
    recent = recent if recent.span.size else make_recent(SLOTS)
    rows = recent.rows
    wanted = min(ROOM, int(recent.span[END]) + n_entries)
    if wanted <= rows.indices.size:
        return recent
    size = min(ROOM, max(wanted, 2 * rows.indices.size))
    indices, data = (grown(array, size, doubled=False) for array in (rows.indices, rows.data))
    return recent._replace(rows=rows._replace(indices=indices, data=data))


def recent_of(rows: Rows, ids: Ints, first: Ints, lately: float) -> Recent:
    """What is kept of a stream of these examples, each of which has one label, what was first, and m."""
    if rows.n_rows == 0 and lately == 0.0:
        return NOTHING_RECENT
    recent = with_room(NOTHING_RECENT, rows.indices.size)
    recent.lately[0] = lately
    keep_all(recent, rows, LabelSets(np.arange(rows.n_rows + 1, dtype=np.int64), ids), first)
    return recent


def joined_recent(one: Recent, other: Recent, numbers: Ints) -> Recent:
    """What is kept of two streams, the other one after this one; its label i has the number numbers[i] here."""
    (rows, ids, first), (other_rows, other_ids, other_first) = one.examples(), other.examples()
    ids = np.concatenate([ids, numbers[other_ids]]).astype(np.int32)
    other_first = np.where(other_first == NOBODY, NOBODY, numbers[other_first])
    first = np.concatenate([first, other_first]).astype(np.int32)
    return recent_of(Rows.stack([rows, other_rows]), ids, first, max(one.lately[0], other.lately[0]))


def without_label(recent: Recent, label: int) -> Recent:
    """What is kept but for the examples of a label."""
    rows, ids, first = recent.examples()
    stays = ids != label
    return recent_of(rows.take(np.flatnonzero(stays)), ids[stays], first[stays], recent.lately[0])


def with_columns(recent: Recent, kept: NDArray[np.bool_]) -> Recent:
    """What is kept, of some columns only, which are renumbered in their order."""
    rows, ids, first = recent.examples()
    stays = kept[rows.indices]
    ends = np.append(0, np.cumsum(stays))[rows.indptr]
    numbers = (np.cumsum(kept) - 1).astype(np.int32)
    rows = Rows(ends, numbers[rows.indices[stays]], rows.data[stays], int(kept.sum()))
    return recent_of(rows, ids, first, recent.lately[0])


def can_be_rows(recent: Recent, values: str, step: float) -> bool:
    """Whether a learner that is set so could have learned the rows that are kept."""
    rows, _, _ = recent.examples()
    return are_rows(values, step, squares_of(rows.indptr, rows.data), np.diff(rows.indptr))


def squares_of(starts: Longs, data: Floats) -> Floats:
    """The squares of the lengths of rows."""
    n = starts.size - 1
    return np.bincount(np.repeat(np.arange(n), np.diff(starts)), data * data, n).astype(np.float64)


def to_arrays(recent: Recent) -> dict[str, Any]:
    """The arrays of a model file; none, if nothing is known. Values have the digits that weights have."""
    rows, ids, first = recent.examples()
    if ids.size == 0 and recent.lately[0] == 0.0:
        return {}
    found = rows.indptr[1:], rows.indices, rows.data.astype(np.float32), ids, first, recent.lately.copy()
    return dict(zip(ARRAYS, found, strict=True))


ARRAYS = ("recent_ends", "recent_columns", "recent_values", "recent", "recent_first", "recent_missed")


def from_arrays(state: State, n_features: int, n_labels: int, values: str, step: float) -> Recent:
    """Those of a model file, which may have none; ``values`` and ``step`` are those of the learner."""
    if "recent" not in state.arrays:
        return NOTHING_RECENT
    ids, ends = state.array("recent", np.int32), state.array("recent_ends", np.int64)
    columns, data = state.array("recent_columns", np.int32), state.array("recent_values", np.float32).astype(np.float64)
    lately = state.array("recent_missed", np.float64)
    state.require(lately.size == 1 and 0.0 <= lately[0] <= 1.0, "a share of its last examples was missed")
    state.require(ends.size == ids.size <= SLOTS, "each of its last examples has a row")
    state.require(bool((np.diff(ends, prepend=0) > 0).all()), "the rows of its last examples are in order")
    n = int(ends[-1]) if ends.size else 0
    state.require(n == columns.size == data.size <= MOST_ENTRIES, "the rows of its last examples are whole")
    state.require(bool(((columns >= 0) & (columns < n_features)).all()), "its last examples have columns of its own")
    state.require(bool(((ids >= 0) & (ids < n_labels)).all()), "its last examples have labels of its own")
    first = np.full(ids.size, NOBODY, dtype=np.int32)  # a file of before does not say
    if "recent_first" in state.arrays:
        first = state.array("recent_first", np.int32)
    state.require(first.size == ids.size, "each of its last examples says which label was first")
    state.require(bool(((first >= NOBODY) & (first < n_labels)).all()), "labels of its own were first")
    starts = np.append(0, ends).astype(np.int64)
    allowed = bool((data > 0).all()) and are_rows(values, step, squares_of(starts, data), np.diff(starts))
    state.require(allowed, "the values of its last examples are such as rows have")
    return recent_of(Rows(starts, columns, data, n_features), ids, first, float(lately[0]))


@part
def ago(recent: Recent, n: int) -> int:
    """The row of the example that came n examples ago: 1 is the last one."""
    return 2 * ((recent.span[NEXT] - n) % SLOTS)


@part
def longest_lag(recent: Recent) -> int:
    """2^k, the largest of these numbers that is not above the number of examples; 0 where there are none."""
    n, lag = recent.span[NEXT] - recent.span[OLDEST], 1
    while 2 * lag <= n:
        lag *= 2
    return lag if n > 0 else 0


@part
def has_changed(recent: Recent, missed: float, mean: float) -> bool:
    """Whether labels seem to mean something else now that another example was ``missed`` (1, 0, or −1: not known).

    mean: m̄.
    """
    lately = recent.lately
    if missed >= 0.0:
        lately[0] += (missed - lately[0]) / LATELY
    return lately[0] > mean + FAR + CERTAIN * np.sqrt(mean * (1.0 - mean) / (2.0 * LATELY - 1.0))


@part
def let_all_go(recent: Recent) -> None:
    for k in range(recent.span.size):
        recent.span[k] = 0


@part
def keep(recent: Recent, rows: Rows, labels: LabelSets, i: int, first: int) -> bool:
    """Keep example i as the last one, if it has one label and is not empty; the oldest make room. Gives if so."""
    span, begin, end = recent.span, rows.indptr[i], rows.indptr[i + 1]
    n = end - begin
    if labels.indptr[i + 1] - labels.indptr[i] != 1 or not is_complete(labels.partial, i) or not 0 < n <= MOST_ENTRIES:
        return False
    offsets = recent.rows.indptr
    while span[NEXT] - span[OLDEST] >= SLOTS or span[ENTRIES] + n > MOST_ENTRIES:
        oldest = 2 * (span[OLDEST] % SLOTS)
        span[ENTRIES] -= offsets[oldest + 1] - offsets[oldest]
        span[OLDEST] += 1
    if span[END] + n > recent.rows.indices.size:
        let_label_go(recent, NOBODY)
    slot = span[NEXT] % SLOTS
    for j in range(n):
        recent.rows.indices[span[END] + j] = rows.indices[begin + j]
        recent.rows.data[span[END] + j] = rows.data[begin + j]
    offsets[2 * slot], offsets[2 * slot + 1] = span[END], span[END] + n
    recent.labels.ids[slot] = labels.ids[labels.indptr[i]]
    recent.first[slot] = first
    span[NEXT] += 1
    span[ENTRIES] += n
    span[END] += n
    return True


@part
def take_up(recent: Recent, rows: Rows, labels: LabelSets, i: int, first: int) -> None:
    """Keep example i, before which a label was ``first``; let those of that label go which it speaks against."""
    if keep(recent, rows, labels, i, first):
        label = labels.ids[labels.indptr[i]]
        if first != NOBODY and first != label and is_another_now(recent, first, label):
            let_label_go(recent, first)


@part
def is_another_now(recent: Recent, first: int, label: int) -> bool:
    """Whether those in which a label was first have another one far more often than before."""
    n, found, lately = 0, 0, 0
    for number in range(recent.span[NEXT] - 1, recent.span[OLDEST] - 1, -1):
        slot = number % SLOTS
        if recent.first[slot] == first:
            n += 1
            found += recent.labels.ids[slot] == label
            if n == OF_A_LABEL:
                lately = found
    before = n - OF_A_LABEL
    if before <= 0:
        return False
    mean = (found - lately + 1.0) / (before + 2.0)
    return lately / OF_A_LABEL > mean + FAR + CERTAIN * np.sqrt(mean * (1.0 - mean) * (1.0 / OF_A_LABEL + 1.0 / before))


@part
def let_label_go(recent: Recent, label: int) -> None:
    """Let all examples of a label go, and move those that stay to where the room begins."""
    span, offsets, ids = recent.span, recent.rows.indptr, recent.labels.ids
    number, at = span[OLDEST], 0
    for other in range(span[OLDEST], span[NEXT]):
        slot = other % SLOTS
        if ids[slot] == label:
            continue
        begin, n, to = offsets[2 * slot], offsets[2 * slot + 1] - offsets[2 * slot], number % SLOTS
        for j in range(n):
            recent.rows.indices[at + j] = recent.rows.indices[begin + j]
            recent.rows.data[at + j] = recent.rows.data[begin + j]
        offsets[2 * to], offsets[2 * to + 1] = at, at + n
        ids[to], recent.first[to] = ids[slot], recent.first[slot]
        number += 1
        at += n
    span[NEXT], span[ENTRIES], span[END] = number, at, at


@part
def keep_all(recent: Recent, rows: Rows, labels: LabelSets, first: Ints) -> None:
    for i in range(rows.indptr.size - 1):
        keep(recent, rows, labels, i, first[i])
