"""Orders of labels as people give them, checked, and as numbers for the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple, TypeVar

import numpy as np

from shortlist.arrays.given_labels import Label, shown
from shortlist.arrays.kernels import Ints, Longs
from shortlist.errors import InputError, there_are
from shortlist.labels import LabelIndex, numbered

Order = Sequence[Label]  # best first
Pair = tuple[Label, Label]  # the better one first
Thing = TypeVar("Thing")


class Orders(NamedTuple):
    """What is known of the labels of each example: those of example i stand in ids[indptr[i]:indptr[i+1]].

    An order is its labels, best first. Where ``paired``, they are pairs, two numbers each, the better one first.
    """

    indptr: Longs
    ids: Ints
    paired: bool


def checked_orders(orders: Sequence[Order], n_rows: int) -> list[list[Label]]:
    """The labels of each example, best first, none of them twice."""
    lists = _checked(orders, n_rows, "orders")
    for row, own in enumerate(lists):
        if len(set(own)) < len(own):
            raise InputError(f"the order of row {row} names a label twice; a label has one place")
    return lists


def checked_pairs(pairs: Sequence[Sequence[Pair]], n_rows: int) -> list[list[Label]]:
    """The labels of each example's pairs, laid end to end."""
    for row, own in enumerate(_sequence(pairs, "pairs")):
        if not hasattr(own, "__iter__") or not all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in own):
            raise InputError(f"row {row} does not hold pairs of labels, the better one first")
    lists = _checked([list(chain.from_iterable(own)) for own in pairs], n_rows, "pairs")
    for row, flat in enumerate(lists):
        if any(better == worse for better, worse in zip(flat[::2], flat[1::2], strict=True)):
            raise InputError(f"a pair of row {row} sets a label before itself")
    return lists


def _checked(orders: Sequence[Order], n_rows: int, what: str) -> list[list[Label]]:
    if len(_sequence(orders, what)) != n_rows:
        raise InputError(f"{there_are(n_rows, 'rows')} but {what} of labels for {len(orders)}; each row needs its own")
    for row, own in enumerate(orders):
        if isinstance(own, (str, bytes, set, frozenset)) or not hasattr(own, "__len__"):
            raise InputError(f"row {row} has {shown(own)} where a list of labels, best first, is wanted")
    return list(numbered([list(own) for own in orders], n_rows))


def _sequence(given: Sequence[Thing], what: str) -> Sequence[Thing]:
    if isinstance(given, (str, bytes)) or not hasattr(given, "__len__"):
        raise InputError(f"{what} of labels must be a list with one entry for each row, not {shown(given)}")
    return given


def as_numbers_of(index: LabelIndex, lists: list[list[Label]], *, paired: bool) -> Orders:
    """The same as numbers of labels that are all known."""
    sizes = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
    ids = np.fromiter(map(index.number.__getitem__, chain.from_iterable(lists)), dtype=np.int32, count=sizes.sum())
    return Orders(np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)]), ids, paired)
