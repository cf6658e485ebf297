"""The arrays of a safetensors file, read into memory of the process's own.

The library maps the file instead. But what is mapped can still be overwritten, or cut short, by anybody who may write
the file, long after it was checked; and the kernels trust what was checked.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from shortlist.errors import InputError, ModelFileError

# Arrays of a model file that are not made before they are written.


Array = NDArray[np.generic]


@dataclass
class Later:
    """A one-dimensional array that is made piece by piece when it is needed; NumPy's functions take it as an array."""

    dtype: np.dtype[np.generic]
    size: int
    pieces: Callable[[], Iterator[Array]]

    @property
    def shape(self) -> tuple[int]:
        return (self.size,)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        pieces = list(self.pieces())
        return pieces[0] if len(pieces) == 1 else np.concatenate([np.empty(0, dtype=self.dtype), *pieces])


# Lists of words or labels <-> arrays of bytes.


def text_to_array(texts: Sequence[object]) -> NDArray[np.uint8]:
    """Words or labels as bytes for a model file: JSON, so that numbers stay numbers."""
    try:
        text = json.dumps(texts, ensure_ascii=False)
    except ValueError as problem:  # a number has more digits than Python writes out
        raise InputError(f"a label or name cannot be saved: {problem}") from None
    return np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)


def array_to_text(array: NDArray[np.uint8]) -> list[Any]:
    """The inverse of ``text_to_array``."""
    values = json.loads(array.tobytes().decode("utf-8", "surrogatepass"))
    if not isinstance(values, list):
        raise ModelFileError("a list of names in the model file is damaged")
    return values


# What tells whether a model file is as it was written: a digest of its header and of its arrays.


class Checksum:
    """A digest of a header and of arrays, added in the order of their names."""

    def __init__(self, model: Mapping[str, Any]) -> None:
        self._digest = hashlib.sha256(json.dumps(model, sort_keys=True).encode())

    def pieces(self, name: str, array: Array | Later) -> Iterator[memoryview]:
        """The bytes of an array, piece by piece, each of which has been added to the digest."""
        self._digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        for piece in array.pieces() if isinstance(array, Later) else [array]:
            if piece.size:
                held = np.ascontiguousarray(piece).reshape(-1).view(np.uint8).data
                self._digest.update(held)
                yield held

    def hex(self) -> str:
        return f"sha256:{self._digest.hexdigest()}"


def of_arrays(model: Mapping[str, Any], arrays: Mapping[str, Array | Later]) -> str:
    """A digest of a header and of all arrays."""
    digest = Checksum(model)
    for name in sorted(arrays):
        for _ in digest.pieces(name, arrays[name]):
            pass
    return digest.hex()


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
        """All arrays, which must lie end to end and fill the file; read once."""
        found: dict[str, NDArray[np.generic]] = {}
        place = self.start
        try:
            for name, entry in sorted(self.layout.items(), key=lambda one: one[1]["data_offsets"]):
                dtype, shape, (first, last) = np.dtype(DTYPES[entry["dtype"]]), entry["shape"], entry["data_offsets"]
                whole = all(type(number) is int and number >= 0 for number in (*shape, first, last))
                fits = place == self.start + first and place + dtype.itemsize * math.prod(shape) == self.start + last
                if not whole or not fits or self.start + last > self.size:
                    raise NoContainer
                array = found[name] = np.empty(shape, dtype=dtype)
                held = array.reshape(-1).view(np.uint8).data
                if array.size and self.file.readinto(held) != array.nbytes:  # type: ignore[attr-defined]
                    raise NoContainer
                place = self.start + last
        except (AttributeError, KeyError, TypeError, ValueError):
            raise NoContainer from None
        if place != self.size:
            raise NoContainer
        return found


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
