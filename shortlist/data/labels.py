"""Labels and their numbers, in order of first appearance; new labels may arrive at any time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain, islice, repeat
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from shortlist.data.label_input import (
    BEYOND,
    Columns,
    Label,
    LabelsLike,
    check_count,
    indicator_columns,
    label_lists,
    shown,
    warn_of_a_column,
)
from shortlist.data.rows import NOTHING_PARTIAL, Partial, chosen_runs, stacked_runs
from shortlist.errors import InputError

FEW = 20  # labels: fewer are copied faster than compared
SINGLE = 1.05  # average number of labels up to which examples count as having one each
# smallest and largest number of examples to detect recurring labels
FEWEST = 20
FIRST = 1000


class LabelSets(NamedTuple):
    """The labels of many examples as numbers. Example i has ids[indptr[i]:indptr[i+1]], each
    once.
    """

    indptr: NDArray[np.int64]
    ids: NDArray[np.int32]
    partial: Partial = NOTHING_PARTIAL  # partial judgements

    @property
    def n_rows(self) -> int:
        return self.indptr.size - 1

    @property
    def n_labels(self) -> int:
        """The number of labels, if partially judged examples had as many as the others."""
        whole = self.partial.complete
        if whole.size == 0 or not whole.any():  # all examples are complete, or none is
            return self.ids.size
        of_whole = int(np.diff(self.indptr)[whole].sum())
        return max(self.ids.size, of_whole * whole.size // int(whole.sum()))

    @property
    def single(self) -> bool:
        """Whether nearly all examples have one label each."""
        return self.n_labels <= SINGLE * self.n_rows

    @property
    def recurring(self) -> bool:
        """Whether labels recur: one for each example, or at most half as many labels as
        examples in the first ones.
        """
        n = min(FIRST, self.n_rows)
        return self.single or (
            n >= FEWEST and 2 * len(set(self.ids[: self.indptr[n]].tolist())) <= n
        )

    @classmethod
    def of(cls, sets: Iterable[Iterable[int]]) -> LabelSets:
        """From lists of label numbers."""
        lists = [list(dict.fromkeys(label_set)) for label_set in sets]
        return cls(_offsets(lists), np.fromiter(chain.from_iterable(lists), dtype=np.int32))

    def row(self, i: int) -> NDArray[np.int32]:
        """The labels of row i."""
        return self.ids[self.indptr[i] : self.indptr[i + 1]]

    def chosen(self, which: NDArray[np.int64]) -> LabelSets:
        """The label sets of those examples, in that order."""
        return LabelSets(*chosen_runs(self.indptr, self.ids, which), self.partial.chosen(which))

    @classmethod
    def stack(cls, parts: list[LabelSets]) -> LabelSets:
        """The label sets of all parts, one part after the other."""
        partial = Partial.stack([part.partial for part in parts], [part.n_rows for part in parts])
        return cls(*stacked_runs([(part.indptr, part.ids) for part in parts]), partial)


class NumberedLabels(Sequence[list[Label]]):
    """A sequence of label lists: names, each once, and the numbers of each example's labels among
    them.

    Not every name need occur: batches of one file share their names, to which later batches add. A
    label may occur twice in one example, as it was given. If the labels came as an indicator
    matrix, ``columns`` are its labels. When they are learned, new ones are numbered in order of
    first appearance, or in sorted order if ``sorted``.
    """

    def __init__(
        self,
        names: list[Label] | list[str],
        sets: LabelSets,
        columns: Columns | None = None,
        sorted: bool = False,
    ) -> None:
        self.names: list[Any] = names
        self.sets = sets
        self.columns = columns
        self.sorted = sorted

    @classmethod
    def of(cls, lists: Sequence[Sequence[Label]]) -> NumberedLabels:
        """Numbered label lists; names in order of first appearance."""
        if type(lists) is NumberedLabels:
            return lists
        labels = list(chain.from_iterable(lists))
        number = {name: i for i, name in enumerate(dict.fromkeys(labels))}
        ids = np.fromiter(map(number.__getitem__, labels), dtype=np.int32, count=len(labels))
        return cls(list(number), LabelSets(_offsets(lists), ids))

    @classmethod
    def one_each(cls, labels: Sequence[Label]) -> NumberedLabels:
        """The labels of examples that have one each, without making a list for each."""
        number = {name: i for i, name in enumerate(dict.fromkeys(labels))}
        ids = np.fromiter(map(number.__getitem__, labels), dtype=np.int32, count=len(labels))
        return cls(list(number), LabelSets(np.arange(len(labels) + 1), ids))

    @classmethod
    def stack(cls, parts: Iterable[Sequence[Sequence[Label]]]) -> NumberedLabels:
        """The label lists of all parts, one part after the other."""
        parts = list(parts)
        ready = [part for part in parts if isinstance(part, NumberedLabels)]
        # batches of one file
        if len(ready) == len(parts) and len({id(part.names) for part in ready}) == 1:
            return cls(ready[0].names, LabelSets.stack([part.sets for part in ready]))
        index = LabelIndex()
        return cls(index.names, LabelSets.stack([index.learn(part, len(part)) for part in parts]))

    def __len__(self) -> int:
        return self.sets.n_rows

    def __iter__(self) -> Iterator[list[Label]]:
        labels = map(self.names.__getitem__, self.sets.ids.tolist())
        for size in np.diff(self.sets.indptr).tolist():
            yield list(islice(labels, size))

    @overload
    def __getitem__(self, which: int) -> list[Label]: ...
    @overload
    def __getitem__(self, which: slice) -> NumberedLabels: ...
    def __getitem__(self, which: int | slice) -> list[Label] | NumberedLabels:
        if isinstance(which, slice):
            return self.take(range(len(self))[which])
        indptr, ids, _ = self.sets
        row = range(len(self))[which]
        return [self.names[number] for number in ids[indptr[row] : indptr[row + 1]].tolist()]

    def take(self, which: Sequence[int]) -> NumberedLabels:
        """The label lists of those examples, in that order, with the names that occur there."""
        sets = self.sets.chosen(np.asarray(which, dtype=np.int64))
        used = _in_order(_mentioned(sets))
        rank = np.zeros(len(self.names), dtype=np.int32)
        rank[used] = np.arange(len(used))
        sets = LabelSets(
            sets.indptr, rank[sets.ids], sets.partial._replace(ids=rank[sets.partial.ids])
        )
        return NumberedLabels([self.names[number] for number in used], sets, self.columns)

    def numbered_as(self, numbers: NDArray[np.int32]) -> LabelSets:
        """The label sets with the number numbers[i] for name i; each label once in an example."""
        indptr, ids, partial = self.sets
        if partial.ids.size:
            partial = partial._replace(ids=numbers[partial.ids])
        if ids.size > 1 and repeats(indptr, ids):
            return LabelSets.of(
                numbers[row_ids].tolist() for row_ids in np.split(ids, indptr[1:-1])
            )._replace(partial=partial)
        if ids.size > FEW and np.array_equal(numbers, np.arange(numbers.size)):
            return LabelSets(indptr, ids, partial)  # no copy
        return LabelSets(indptr, numbers.take(ids), partial)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Sequence) and not isinstance(other, str) and list(self) == list(other)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))


def in_sorted_order(labels: NumberedLabels) -> NumberedLabels:
    """The same labels, to be learned in sorted order."""
    return NumberedLabels(labels.names, labels.sets, labels.columns, sorted=True)


def sorting(label: Label) -> tuple[bool, Any]:
    """The sorting key of labels: numbers first, then text."""
    return isinstance(label, str), label


class LabelIndex:
    """The labels seen so far: ``names[i]`` is label number i, and ``number[name]`` its inverse."""

    def __init__(self, names: Iterable[Label] = ()) -> None:
        self.names: list[Label] = list(names)
        self.number: dict[Label, int] = {name: i for i, name in enumerate(self.names)}
        if len(self.number) != len(self.names):
            raise InputError("a label is named twice")
        self.n_bytes = sum(map(len, map(str, self.names)))  # of all names
        self._met: tuple[list[Label], NDArray[np.int32]] = ([], np.empty(0, dtype=np.int32))

    def __len__(self) -> int:
        return len(self.names)

    def learn(self, Y: LabelsLike, n_rows: int) -> LabelSets:
        """Number the labels of n_rows examples; unseen labels get the next numbers."""
        labels = numbered(Y, n_rows)
        return labels.numbered_as(self._learn(labels.names, _mentioned(labels.sets)))

    def learn_right(self, Y: LabelsLike, n_rows: int, shuffled: bool = False) -> LabelSets:
        """``learn`` without labels that were only judged wrong (``Partial.among_known``).

        shuffled: the examples are learned in another order, with all their labels known.
        """
        labels = numbered(Y, n_rows)
        n_before = len(self)
        numbers = self._learn(labels.names, labels.sets.ids, labels.sorted)
        partial = labels.sets.partial
        if partial.complete.size == 0:
            return labels.numbered_as(numbers)
        for i in _in_order(partial.ids):
            numbers[i] = self.number.get(labels.names[i], -1)
        sets = labels.numbered_as(numbers)
        return sets._replace(
            partial=sets.partial.among_known(
                sets.indptr, sets.ids, len(self) if shuffled else n_before
            )
        )

    def _learn(
        self, names: list[Label], ids: NDArray[np.int32], sort: bool = False
    ) -> NDArray[np.int32]:
        """Number those of the names that occur in ids; return the numbers of all names, −1 for
        none.
        """
        numbers = self._numbers_of(names)
        if (numbers[ids] >= 0).all():
            return numbers
        new = _in_order(ids[numbers[ids] < 0])
        for i in sorted(new, key=lambda i: sorting(names[i])) if sort else new:
            name = names[i]
            if name not in self.number:
                self.number[name] = len(self.names)
                self.names.append(name)
                self.n_bytes += len(str(name))
            numbers[i] = self.number[name]
        return numbers

    def _numbers_of(self, names: list[Label]) -> NDArray[np.int32]:
        """The numbers of these names, −1 if unknown. Batches that share names look up new ones
        only.
        """
        before, numbers = self._met
        first = numbers.size if before is names else 0
        if first < len(names) or before is not names:
            numbers_of_names = map(self.number.get, islice(names, first, None), repeat(-1))
            more = np.fromiter(numbers_of_names, dtype=np.int32, count=len(names) - first)
            numbers = np.append(numbers[:first], more) if first else more
        self._met = names, numbers
        return numbers

    def find(self, label: Label) -> int:
        """The number of a label, which must have been learned."""
        try:
            return self.number[label]
        except (KeyError, TypeError):  # TypeError: not hashable, as a list
            raise InputError(
                f"the label {shown(label)} has not been learned; {len(self)} others have"
            ) from None

    def look_up(self, Y: LabelsLike, n_rows: int) -> LabelSets:
        """Number the labels of n_rows examples without learning any: unseen ones get numbers
        from len(self) on.
        """
        labels = numbered(Y, n_rows)
        known = map(self.number.get, labels.names, repeat(-1))
        numbers = np.fromiter(known, dtype=np.int32, count=len(labels.names))
        unseen = labels.sets.ids[numbers[labels.sets.ids] < 0]
        for number, i in enumerate(_in_order(unseen), len(self)):
            numbers[i] = number
        return labels.numbered_as(numbers)


def numbered(Y: LabelsLike, n_rows: int) -> NumberedLabels:
    """The labels of n_rows examples, checked."""
    if type(Y) is NumberedLabels:
        check_count(Y.sets.indptr.size - 1, n_rows)
        return Y
    if type(Y) is list and len(Y) == n_rows and set(map(type, Y)) == {str}:
        return NumberedLabels.one_each(Y)
    labels = NumberedLabels.of(label_lists(Y, n_rows))
    if len(getattr(Y, "shape", ())) == 2:
        labels.columns = indicator_columns(Y)
        warn_of_a_column(Y)
    texts = set(map(type, labels.names)) <= {str}  # the usual case, checked first
    if not texts and any(
        isinstance(name, int) and not -BEYOND < name < BEYOND for name in labels.names
    ):
        raise InputError(
            "a label is a whole number of more than 4,300 digits, which no model file can hold; "
            "use text"
        )
    return labels


def judged(
    Y: LabelsLike,
    n_rows: int,
    wrong: LabelsLike | None = None,
    complete: bool | Sequence[bool | None] | None = None,
) -> NumberedLabels:
    """The labels of n_rows examples, and those that were judged wrong.

    complete: whether all other labels are wrong; None: if no label was judged wrong.
    """
    labels = numbered(Y, n_rows)
    if wrong is None and complete is None:
        return labels
    wrong_labels: list[list[Label]] = [[] for _ in range(n_rows)]
    if wrong is not None:
        wrong_labels = label_lists(wrong, n_rows)
    is_complete = completeness(complete, wrong_labels)
    for row, (right_row, wrong_row) in enumerate(zip(labels, wrong_labels, strict=True)):
        for label in wrong_row:
            if label in right_row:
                raise InputError(
                    f"the label {shown(label)} of example {row} is both right and wrong; choose one"
                )
    names = list(dict.fromkeys(chain(labels.names, *wrong_labels)))
    number = {name: i for i, name in enumerate(names)}
    wrong_numbers = [[number[label] for label in wrong_row] for wrong_row in wrong_labels]
    partial = Partial.of(np.array(is_complete, dtype=np.bool_), wrong_numbers)
    return NumberedLabels(names, labels.sets._replace(partial=partial), labels.columns)


def completeness(
    complete: bool | Sequence[bool | None] | None, wrong: Sequence[list[Label]]
) -> list[bool]:
    """For each example whether all labels that are not right are wrong."""
    if complete is None or isinstance(complete, (bool, np.bool_)):
        complete = [complete] * len(wrong)
    check_count(len(complete), len(wrong))
    are_complete = []
    for is_complete, wrong_labels in zip(complete, wrong, strict=True):
        if is_complete is None:
            is_complete = not wrong_labels
        are_complete.append(bool(is_complete))
    return are_complete


def label_counts(lists: Sequence[Sequence[Label]]) -> NDArray[np.int64]:
    """How many labels each example has."""
    if isinstance(lists, NumberedLabels):
        return np.diff(lists.sets.indptr)
    return np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))


def _offsets(lists: Sequence[Sequence[Label]]) -> NDArray[np.int64]:
    """The offset of each list if they are concatenated."""
    return np.fromiter(accumulate(map(len, lists), initial=0), dtype=np.int64, count=len(lists) + 1)


def _mentioned(sets: LabelSets) -> NDArray[np.int32]:
    """The labels of all examples, and those that were judged wrong."""
    return np.append(sets.ids, sets.partial.ids) if sets.partial.ids.size else sets.ids


def _in_order(ids: NDArray[np.int32]) -> list[int]:
    """The distinct numbers, in order of first appearance."""
    first = np.full(ids.max(initial=-1) + 1, ids.size)
    # of several places of a number the last one written stays
    first[ids[::-1]] = np.arange(ids.size)[::-1]
    return list(ids[np.sort(first[first < ids.size])].tolist())


def repeats(indptr: NDArray[np.int64], ids: NDArray[np.int32]) -> bool:
    """Whether a label occurs twice in one example."""
    pairs = np.sort((np.repeat(np.arange(indptr.size - 1), np.diff(indptr)) << 32) + ids)
    return bool((pairs[1:] == pairs[:-1]).any())
