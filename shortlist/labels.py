"""Labels <-> numbers. Labels are numbered in order of first appearance; new ones may arrive at any time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from shortlist.errors import InputError


class LabelSets(NamedTuple):
    """The labels of many examples, as numbers. Example i has ids[indptr[i]:indptr[i+1]], each once."""

    indptr: NDArray[np.int64]
    ids: NDArray[np.int32]

    @property
    def n_rows(self) -> int:
        return self.indptr.size - 1

    @classmethod
    def of(cls, sets: Iterable[Iterable[int]]) -> LabelSets:
        """From lists of label numbers."""
        lists = [list(dict.fromkeys(one)) for one in sets]
        indptr = np.zeros(len(lists) + 1, dtype=np.int64)
        np.cumsum([len(one) for one in lists], out=indptr[1:])
        return cls(indptr, np.fromiter(chain.from_iterable(lists), dtype=np.int32, count=int(indptr[-1])))

    def chosen(self, which: NDArray[np.int64]) -> LabelSets:
        """The label sets of those examples, in that order."""
        lengths = np.diff(self.indptr)[which]
        indptr = np.zeros(which.size + 1, dtype=np.int64)
        np.cumsum(lengths, out=indptr[1:])
        return LabelSets(indptr, self.ids[np.repeat(self.indptr[which] - indptr[:-1], lengths) + np.arange(indptr[-1])])

    @classmethod
    def stack(cls, parts: list[LabelSets]) -> LabelSets:
        """The label sets of all parts, one part after the other."""
        counts = np.concatenate([np.zeros(1, dtype=np.int64), *(np.diff(part.indptr) for part in parts)])
        return cls(np.cumsum(counts), np.concatenate([np.zeros(0, dtype=np.int32), *(part.ids for part in parts)]))


class NumberedLabels(NamedTuple):
    """The labels of many examples that have been numbered once: they can stand wherever label lists can."""

    names: list[Any]
    sets: LabelSets

    def __len__(self) -> int:
        return self.sets.n_rows


class LabelIndex:
    """The labels seen so far: ``names[i]`` is label number i, and ``number[name]`` its inverse."""

    def __init__(self, names: Iterable[Any] = ()) -> None:
        self.names: list[Any] = list(names)
        self.number: dict[Any, int] = {name: i for i, name in enumerate(self.names)}
        if len(self.number) != len(self.names):
            raise InputError("a label is named twice")
        self.letters = sum(map(len, map(str, self.names)))  # of all names together

    def __len__(self) -> int:
        return len(self.names)

    def learn(self, Y: Any, n_rows: int) -> LabelSets:
        """Number the labels of n_rows examples; unseen labels get the next numbers."""
        if isinstance(Y, NumberedLabels):
            numbers = self._numbers(Y.names)
            return Y.sets._replace(ids=numbers[Y.sets.ids])
        return _as_sets(label_lists(Y, n_rows), self._numbers)

    def _numbers(self, labels: list[Any]) -> NDArray[np.int32]:
        """The number of each of these labels; unseen ones get the next numbers."""
        number = self.number
        unseen = [label for label in dict.fromkeys(labels) if label not in number]
        number.update(zip(unseen, range(len(number), len(number) + len(unseen)), strict=True))
        self.names += unseen
        self.letters += sum(map(len, map(str, unseen)))
        return np.fromiter(map(number.__getitem__, labels), dtype=np.int32, count=len(labels))

    def look_up(self, Y: Any, n_rows: int) -> LabelSets:
        """Number the labels of n_rows examples without learning any: unseen ones get numbers from len(self) on."""
        unseen: dict[Any, int] = {}
        number = self.number

        def find(label: Any) -> int:
            known = number.get(label)
            return unseen.setdefault(label, len(number) + len(unseen)) if known is None else known

        def numbers(labels: list[Any]) -> NDArray[np.int32]:
            return np.fromiter(map(find, labels), dtype=np.int32, count=len(labels))

        if isinstance(Y, NumberedLabels):
            return Y.sets._replace(ids=numbers(Y.names)[Y.sets.ids])
        return _as_sets(label_lists(Y, n_rows), numbers)


def _as_sets(lists: list[list[Any]], numbers: Callable[[list[Any]], NDArray[np.int32]]) -> LabelSets:
    """Label lists as sets of numbers; ``numbers`` gives those of a list of labels."""
    indptr = np.zeros(len(lists) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, lists), dtype=np.int64, count=len(lists)), out=indptr[1:])
    ids = numbers(list(chain.from_iterable(lists)))
    pairs = np.repeat(np.arange(len(lists)), np.diff(indptr)) << 32 | ids
    if np.unique(pairs).size < pairs.size:  # a label stands twice with one example
        return LabelSets.of(own.tolist() for own in np.split(ids, indptr[1:-1]))
    return LabelSets(indptr, ids)


def label_lists(Y: Any, n_rows: int) -> list[list[Any]]:
    """The labels of each example as a list, from a list of label lists, one label each, or an indicator matrix.

    A label is text or a number: what can be stored and compared.
    """
    if isinstance(Y, list) and len(Y) == n_rows and _are_plain(Y):
        return Y
    if scipy.sparse.issparse(Y):
        matrix = scipy.sparse.csr_array(Y, copy=True)
        matrix.eliminate_zeros()
        lists = [part.tolist() for part in np.split(matrix.indices, matrix.indptr[1:-1])] if matrix.shape[0] else []
    else:
        if hasattr(Y, "to_numpy"):
            Y = Y.to_numpy()  # a column of a pandas or polars frame
        if isinstance(Y, np.ndarray) and Y.ndim == 2 and Y.shape[1] == 1 and Y.dtype != object:
            Y = Y[:, 0]
        if isinstance(Y, np.ndarray) and Y.ndim == 2:
            if Y.dtype.kind not in "biuf":
                raise InputError("a two-dimensional Y must be an indicator matrix of 0 and 1")
            lists = [np.flatnonzero(row).tolist() for row in Y]
        elif isinstance(Y, np.ndarray) and Y.dtype != object:
            lists = [[label] for label in Y.tolist()]
        elif isinstance(Y, (str, bytes)) or not hasattr(Y, "__len__"):
            raise InputError("the labels must come as a list of label lists, or as one label for each example")
        else:
            lists = [_one(labels) for labels in Y]
    if len(lists) != n_rows:
        raise InputError(f"there are {n_rows} examples but labels for {len(lists)}; each example needs its own")
    for row, labels in enumerate(lists):
        for label in labels:
            if not isinstance(label, (str, int, float)) or label != label:
                raise InputError(f"the label {label!r} of example {row} is neither text nor a number")
    return lists


def _are_plain(Y: list[Any]) -> bool:
    """Whether these are lists of text and whole numbers: what most come as, and there is nothing to look at."""
    return set(map(type, Y)) <= {list} and set(map(type, chain.from_iterable(Y))) <= {str, int}


def _one(labels: Any) -> list[Any]:
    if isinstance(labels, (list, tuple)):
        return [label.item() if isinstance(label, np.generic) else label for label in labels]
    if isinstance(labels, np.ndarray):
        return labels.tolist() if labels.ndim else [labels.item()]
    if isinstance(labels, (set, frozenset)):
        return sorted(labels, key=lambda label: (str(type(label)), label))  # a set's own order changes from run to run
    return [labels.item() if isinstance(labels, np.generic) else labels]

