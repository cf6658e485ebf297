"""Labels <-> numbers. Labels are numbered in order of first appearance; new ones may arrive at any time."""

from __future__ import annotations

from collections.abc import Iterable
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


class LabelIndex:
    """The labels seen so far: ``names[i]`` is label number i, and ``number[name]`` its inverse."""

    def __init__(self, names: Iterable[Any] = ()) -> None:
        self.names: list[Any] = list(names)
        self.number: dict[Any, int] = {name: i for i, name in enumerate(self.names)}
        if len(self.number) != len(self.names):
            raise InputError("a label is named twice")

    def __len__(self) -> int:
        return len(self.names)

    def learn(self, Y: Any, n_rows: int) -> LabelSets:
        """Number the labels of n_rows examples; unseen labels get the next numbers."""
        lists = label_lists(Y, n_rows)
        number = self.number
        unseen: dict[Any, int] = {}
        for label in chain.from_iterable(lists):
            if label not in number and label not in unseen:
                unseen[label] = len(number) + len(unseen)
        number |= unseen
        self.names += unseen
        return LabelSets.of([number[label] for label in labels] for labels in lists)

    def look_up(self, Y: Any, n_rows: int) -> LabelSets:
        """Number the labels of n_rows examples without learning any: unseen ones get numbers from len(self) on."""
        lists = label_lists(Y, n_rows)
        unseen: dict[Any, int] = {}
        number = self.number

        def find(label: Any) -> int:
            known = number.get(label)
            return unseen.setdefault(label, len(number) + len(unseen)) if known is None else known

        return LabelSets.of([find(label) for label in labels] for labels in lists)


def label_lists(Y: Any, n_rows: int) -> list[list[Any]]:
    """The labels of each example as a list, from a list of label lists, one label each, or an indicator matrix.

    A label is text or a number: what can be stored and compared.
    """
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


def _one(labels: Any) -> list[Any]:
    if isinstance(labels, (list, tuple)):
        return [label.item() if isinstance(label, np.generic) else label for label in labels]
    if isinstance(labels, np.ndarray):
        return labels.tolist() if labels.ndim else [labels.item()]
    if isinstance(labels, (set, frozenset)):
        return sorted(labels, key=lambda label: (str(type(label)), label))  # a set's own order changes from run to run
    return [labels.item() if isinstance(labels, np.generic) else labels]

