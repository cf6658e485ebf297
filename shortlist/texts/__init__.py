"""Texts as they lie in one long text, from the file to the tokeniser.

A file is read a block at a time, and the texts of a block stay where they are in it: only their places are noted. The
tokeniser goes over the code points of the whole block; a text becomes a ``str`` of its own where somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast, overload

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Longs
from shortlist.errors import InputError

BLOCK = 1 << 17  # letters that go through the kernels at a time: what fits in a processor's cache


class Texts(Sequence[str]):
    """Texts that lie in one: text i is ``whole[starts[i]:ends[i]]``, and none begins before the one before it ends."""

    def __init__(self, whole: str, starts: Longs, ends: Longs, codes: NDArray[np.uint32] | None = None) -> None:
        self.whole = whole
        self.starts, self.ends = np.ascontiguousarray(starts), np.ascontiguousarray(ends)
        self._codes = codes

    @classmethod
    def of(cls, texts: Sequence[str]) -> Texts:
        """The same texts, laid end to end."""
        if type(texts) is Texts:
            return texts
        if len(texts) == 1:
            return cls(texts[0], np.array([0]), np.array([len(texts[0])]))
        lengths = lengths_of(texts)
        ends = np.cumsum(lengths)
        return cls("".join(texts), ends - lengths, ends)

    @property
    def codes(self) -> NDArray[np.uint32]:
        """The code points of the whole."""
        if self._codes is None:
            self._codes = to_codes(self.whole)
        return self._codes

    def __len__(self) -> int:
        return self.starts.size

    def __iter__(self) -> Iterator[str]:
        whole = self.whole
        for start, end in zip(self.starts.tolist(), self.ends.tolist(), strict=True):
            yield whole[start:end]

    @overload
    def __getitem__(self, which: int) -> str: ...
    @overload
    def __getitem__(self, which: slice) -> Texts: ...
    def __getitem__(self, which: int | slice) -> str | Texts:
        if not isinstance(which, slice):
            return self.whole[self.starts[which] : self.ends[which]]
        if which.step not in (None, 1):
            return self.take(range(len(self))[which])
        starts, ends = self.starts[which], self.ends[which]
        if not starts.size:
            return Texts.of([])
        first, last = int(starts[0]), int(ends[-1])
        codes = None if self._codes is None else self._codes[first:last]
        return Texts(self.whole[first:last], starts - first, ends - first, codes)

    def pick(self, which: Sequence[int] | Longs) -> list[str]:
        """The texts of those numbers, in that order, each a ``str`` of its own."""
        places = zip(self.starts[which].tolist(), self.ends[which].tolist(), strict=True)
        return [self.whole[start:end] for start, end in places]

    def take(self, which: Sequence[int]) -> Texts:
        """The texts of those numbers, in that order."""
        return Texts.of(self.pick(np.asarray(which, dtype=np.int64)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and not isinstance(other, str) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))


def as_texts(texts: Iterable[object], name: str = "texts") -> Sequence[str]:
    """Check that these are texts, and give them as a list, or as they lie in one."""
    if isinstance(texts, Texts):
        return texts
    try:
        if isinstance(texts, str | bytes) or hasattr(texts, "tocsr"):  # a sparse matrix is not asked for its rows
            raise TypeError
        if hasattr(texts, "to_pylist"):  # a column of Arrow's, whose own texts are no Python texts
            texts = texts.to_pylist()
        listed: list[Any] = texts if type(texts) is list else list(texts)
    except TypeError:
        kind = type(texts).__name__
        raise InputError(f"{name} must be a list of texts, not one {kind}; for one text, write [text]") from None
    if not set(map(type, listed)) <= {str}:
        for position, text in enumerate(listed):
            if not isinstance(text, str):
                hint = "; decode it first" if isinstance(text, bytes) else ""
                raise InputError(f"{name}[{position}] is a {type(text).__name__}, not a text{hint}")
    return listed


def lengths_of(texts: Sequence[object]) -> Longs:
    """How many letters each text has, or each document of several fields."""
    if hasattr(texts, "lengths"):
        lengths: Longs = texts.lengths()
        return lengths
    if isinstance(texts, Texts):
        return texts.ends - texts.starts
    return np.fromiter(map(len, cast("Sequence[str]", texts)), dtype=np.int64, count=len(texts))


def blocks(texts: Sequence[object]) -> Iterator[slice]:
    """Runs of texts of about BLOCK letters together; a longer text is a run of its own."""
    if len(texts) == 1:  # a service asks for one text at a time
        yield slice(0, 1)
        return
    up_to = np.cumsum(lengths_of(texts))
    first, before = 0, 0
    while first < up_to.size:
        last = min(int(np.searchsorted(up_to, before + BLOCK)) + 1, up_to.size)
        yield slice(first, last)
        first, before = last, int(up_to[last - 1])


def to_codes(text: str) -> NDArray[np.uint32]:
    """The code points of a text, lone surrogates too: what NumPy keeps a text as."""
    return np.array([text]).view(np.uint32)[: len(text)]


def to_text(codes: NDArray[np.uint32]) -> str:
    """The inverse of ``to_codes``."""
    text: str = codes.view(f"U{codes.size}").item() if codes.size else ""
    return text.ljust(codes.size, "\0")  # NumPy takes the last NULs for room that is not used
