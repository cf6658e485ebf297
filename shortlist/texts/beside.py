"""Texts, each with a vector beside it: the embedding that somebody has made of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.arrays.kernels import Longs
from shortlist.arrays.validation import are_finite
from shortlist.errors import InputError, counted
from shortlist.texts import lengths_of

Vectors = NDArray[np.float32]  # examples × numbers


class WithVectors(Sequence[Any]):
    """Documents and their vectors (float32[documents, numbers]); a part of them has both."""

    def __init__(self, texts: Sequence[Any], vectors: Vectors) -> None:
        self.texts, self.vectors = texts, vectors

    def lengths(self) -> Longs:
        """How many letters each document has."""
        return lengths_of(self.texts)

    def __len__(self) -> int:
        return len(self.texts)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.texts)

    @overload
    def __getitem__(self, which: int) -> object: ...
    @overload
    def __getitem__(self, which: slice) -> WithVectors: ...
    def __getitem__(self, which: int | slice) -> object:
        if isinstance(which, slice):
            return WithVectors(self.texts[which], self.vectors[which])
        return self.texts[which]

    def take(self, which: Sequence[int]) -> WithVectors:
        """The documents of those numbers, in that order."""
        texts = self.texts.take(which) if hasattr(self.texts, "take") else [self.texts[n] for n in which]
        return WithVectors(texts, self.vectors[np.asarray(which, dtype=np.int64)])


def as_vectors(vectors: ArrayLike, n: int, name: str = "vectors") -> Vectors:
    """Check vectors for n texts: a matrix of finite numbers, a row for each."""
    try:
        given = np.asarray(vectors)
        if given.dtype.kind not in "fiu":
            raise TypeError
        with np.errstate(over="ignore"):
            found = np.ascontiguousarray(given, dtype=np.float32)
    except (ValueError, TypeError):
        raise InputError(f"{name} must hold numbers, a row of as many for each text") from None
    if found.ndim != 2 or found.shape[0] != n or found.shape[1] == 0:
        raise InputError(
            f"{name} must have a row of numbers for each text, {counted(n, 'rows')}, not the shape {found.shape}"
        )
    if not are_finite(found):
        row = int(np.argmin(np.isfinite(found).all(axis=1)))
        raise InputError(f"{name}[{row}] holds a number that is not finite, or too large")
    return found
