"""The arrays of a safetensors file, read into memory of the process's own.

The library maps the file instead. But what is mapped can still be overwritten, or cut short, by anybody who may write
the file, long after it was checked; and the kernels trust what was checked.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import stat
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

DTYPES = {  # in the order in which the library writes them
    "U64": np.uint64, "I64": np.int64, "F64": np.float64, "F32": np.float32, "U32": np.uint32, "I32": np.int32,
    "U8": np.uint8, "BOOL": np.bool_,
}  # fmt: skip
NAMES: dict[np.dtype[Any], str] = {np.dtype(dtype): name for name, dtype in DTYPES.items()}
MOST_HEADER = 100_000_000  # bytes, as the library has it


class NoContainer(Exception):
    """The file is no ordinary one, or does not have the layout of a safetensors file."""


class Container(NamedTuple):
    """An open file: the texts that were written beside the arrays, and where the arrays are."""

    file: BinaryIO
    texts: dict[str, Any]
    layout: dict[str, Any]
    start: int
    size: int

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """All arrays, having checked that they lie end to end and fill the file."""
        try:
            places = {name: _place(entry) for name, entry in self.layout.items()}
        except (AttributeError, KeyError, TypeError, ValueError):
            raise NoContainer from None
        end = 0
        for place in sorted(places.values(), key=lambda place: (place.first, place.last)):
            if place.first != end:
                raise NoContainer
            end = place.last
        if self.start + end != self.size:
            raise NoContainer
        return {name: self._read(place) for name, place in places.items()}

    def _read(self, place: _Place) -> NDArray[np.generic]:
        array = np.empty(place.shape, dtype=place.dtype)
        if array.size:
            self.file.seek(self.start + place.first)
            if self.file.readinto(array.reshape(-1).view(np.uint8).data) != array.nbytes:  # type: ignore[attr-defined]
                raise NoContainer
        return array


class _Place(NamedTuple):
    dtype: Any
    shape: tuple[int, ...]
    first: int
    last: int


def _place(entry: Any) -> _Place:
    """Where an array is, by its entry in the layout: as many bytes as its type and shape take."""
    shape, (first, last) = tuple(entry["shape"]), entry["data_offsets"]
    place = _Place(np.dtype(DTYPES[entry["dtype"]]), shape, first, last)
    whole = all(type(number) is int and number >= 0 for number in (*shape, first, last))
    if not whole or last - first != place.dtype.itemsize * math.prod(shape):
        raise ValueError
    return place


@contextlib.contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[Container]:
    """Open a file and read its layout."""
    with open(path, "rb", opener=_without_waiting) as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise NoContainer
        length = int.from_bytes(file.read(8), "little")
        if length > min(MOST_HEADER, found.st_size - 8):
            raise NoContainer
        try:
            layout = json.loads(file.read(length))
            texts = layout.pop("__metadata__", {})
            texts.keys()
        except (AttributeError, RecursionError, TypeError, ValueError):
            raise NoContainer from None
        yield Container(file, texts, layout, 8 + length, found.st_size)


def _without_waiting(path: str, flags: int) -> int:
    """Open a file; should it be a pipe, do not wait for somebody to write to it."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
