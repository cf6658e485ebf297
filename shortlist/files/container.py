"""The arrays of a model file: a safetensors file that is read into the process's memory, and packed
arrays.

The safetensors library maps a file instead. A mapped file can still be overwritten or cut short by
anybody who may write it, long after it was checked, and the kernels trust what was checked.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import stat
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from shortlist.errors import InputError, ModelFileError

Array = NDArray[np.generic]


@dataclass
class Later:
    """A one-dimensional array that is made piece by piece when it is needed; NumPy's functions
    take it as an array.
    """

    dtype: np.dtype[np.generic]
    size: int
    pieces: Callable[[], Iterator[Array]]

    @property
    def shape(self) -> tuple[int]:
        return (self.size,)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        pieces = list(self.pieces())
        if len(pieces) == 1:
            return pieces[0]
        return np.concatenate([np.empty(0, dtype=self.dtype), *pieces])


def text_to_array(texts: Sequence[object]) -> NDArray[np.uint8]:
    """Return words or labels as bytes for a model file: JSON, so that numbers stay numbers."""
    try:
        text = json.dumps(texts, ensure_ascii=False)
    except ValueError as problem:  # a number has more digits than Python writes out
        raise InputError(f"a label or name cannot be saved: {problem}") from None
    return np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)


def array_to_text(array: NDArray[np.uint8]) -> list[Any]:
    """Return the words or labels; the inverse of ``text_to_array``."""
    values = json.loads(array.tobytes().decode("utf-8", "surrogatepass"))
    if not isinstance(values, list):
        raise ModelFileError("a list of names in the model file is damaged")
    return values


class Checksum:
    """A digest of a header and of arrays, added in the order of their names."""

    def __init__(self, model: Mapping[str, Any]) -> None:
        self._digest = hashlib.sha256(json.dumps(model, sort_keys=True).encode())

    def pieces(self, name: str, array: Array | Later) -> Iterator[memoryview]:
        """Yield the bytes of an array piece by piece, each after adding it to the digest."""
        self._digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        for piece in array.pieces() if isinstance(array, Later) else [array]:
            if piece.size:
                data = np.ascontiguousarray(piece).reshape(-1).view(np.uint8).data
                self._digest.update(data)
                yield data

    def hex(self) -> str:
        return f"sha256:{self._digest.hexdigest()}"


def of_arrays(model: Mapping[str, Any], arrays: Mapping[str, Array | Later]) -> str:
    """Return the digest of a header and of all arrays."""
    digest = Checksum(model)
    for name in sorted(arrays):
        for _ in digest.pieces(name, arrays[name]):
            pass
    return digest.hex()


# Reading a safetensors file.

DTYPES = {  # in the order in which the library writes them
    "U64": np.uint64,
    "I64": np.int64,
    "F64": np.float64,
    "F32": np.float32,
    "U32": np.uint32,
    "I32": np.int32,
    "U8": np.uint8,
    "BOOL": np.bool_,
}
DTYPE_NAMES: dict[np.dtype[Any], str] = {np.dtype(dtype): name for name, dtype in DTYPES.items()}
MOST_HEADER_BYTES = 100_000_000  # as in the library


class NoContainer(Exception):
    """The file is not a regular file, or does not have the layout of a safetensors file."""


class SafeTensors(NamedTuple):
    """An open file: the texts that were written beside the arrays, and where the arrays are."""

    file: BinaryIO
    texts: dict[str, Any]
    layout: dict[str, Any]
    start: int
    size: int

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Read all arrays, which must lie end to end and fill the file."""
        arrays: dict[str, NDArray[np.generic]] = {}
        end = self.start
        try:
            entries = sorted(self.layout.items(), key=lambda item: item[1]["data_offsets"])
            for name, entry in entries:
                dtype = np.dtype(DTYPES[entry["dtype"]])
                shape = entry["shape"]
                first, last = entry["data_offsets"]
                begin = end
                end = self.start + last
                n_bytes = dtype.itemsize * math.prod(shape)
                is_whole = all(
                    type(number) is int and number >= 0 for number in (*shape, first, last)
                )
                fits = self.start + first == begin and begin + n_bytes == end
                if not is_whole or not fits or end > self.size:
                    raise NoContainer
                array = np.empty(shape, dtype=dtype)
                data = array.reshape(-1).view(np.uint8).data
                if array.size and self.file.readinto(data) != n_bytes:  # type: ignore[attr-defined]
                    raise NoContainer
                arrays[name] = array
        except (AttributeError, KeyError, TypeError, ValueError):
            raise NoContainer from None
        if end != self.size:
            raise NoContainer
        return arrays


@contextlib.contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[SafeTensors]:
    """Open a file and read its layout."""
    no_waiting = getattr(os, "O_NONBLOCK", 0)  # for a writer, if it is a pipe
    with open(path, "rb", opener=lambda path, flags: os.open(path, flags | no_waiting)) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise NoContainer
        length = int.from_bytes(file.read(8), "little")
        if length > min(MOST_HEADER_BYTES, status.st_size - 8):
            raise NoContainer
        try:
            layout = json.loads(file.read(length))
            texts = layout.pop("__metadata__", {})
            texts.keys()
        except (AttributeError, RecursionError, TypeError, ValueError):
            raise NoContainer from None
        yield SafeTensors(file, texts, layout, 8 + length, status.st_size)


# Packed arrays: the bytes of their numbers plane by plane, compressed.
#
# The highest bytes of all numbers stand together, then the next lower ones: many planes are nearly
# all zeros. Ascending numbers are kept as differences. Threads compress and open one array each.
# Unpacked arrays are checked as those of any other file are.

COMPRESSION_LEVEL = 6
LEAST_PACKED = 1 << 12  # bytes: smaller arrays are not packed
HASHES = np.dtype(np.uint64)  # would not get smaller, as arrays that are packed already
# a file unpacks to at most so many times its size, and so many bytes more
MOST_TIMES = 64
MOST_MORE_BYTES = 1 << 26


class NotPacked(ValueError):
    """The bytes were not made by ``pack``."""


def packed(arrays: Mapping[str, Array | Later]) -> tuple[dict[str, Array | Later], dict[str, Any]]:
    """Pack the arrays that get smaller; return all arrays, and the notes that unpacking needs."""
    results = dict(arrays)
    notes = {}
    chosen = [name for name, array in arrays.items() if _may_get_smaller(array)]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        packs = pool.map(pack, [arrays[name] for name in chosen])
        for name, (data, note) in zip(chosen, packs, strict=True):
            if data.nbytes < _n_bytes(arrays[name]):
                results[name] = data
                notes[name] = note
    return results, notes


def _n_bytes(array: Array | Later) -> int:
    return array.dtype.itemsize * math.prod(array.shape)


def _may_get_smaller(array: Array | Later) -> bool:
    is_flat = len(array.shape) == 1 and array.dtype.kind in "iuf"
    return is_flat and array.dtype != HASHES and _n_bytes(array) >= LEAST_PACKED


def pack(array: Array | Later) -> tuple[NDArray[np.uint8], dict[str, Any]]:
    """Pack an array of one dimension; return its bytes, and the note that unpacking needs."""
    numbers: NDArray[Any] = np.ascontiguousarray(array)
    ascends = numbers.dtype.kind in "iu" and bool((numbers[1:] >= numbers[:-1]).all())
    note = {"dtype": numbers.dtype.str, "size": numbers.size, "differences": ascends}
    if ascends:
        numbers = np.diff(numbers, prepend=numbers.dtype.type(0))
    planes = np.ascontiguousarray(numbers.view(np.uint8).reshape(numbers.size, -1).T)
    return np.frombuffer(zlib.compress(planes.data, COMPRESSION_LEVEL), dtype=np.uint8), note


def unpack(packed: Mapping[str, Array], notes: Mapping[str, Any]) -> dict[str, Array]:
    """Unpack arrays; NotPacked if a note does not fit."""
    tasks: list[tuple[Array, np.dtype[Any], int, bool]] = []
    room = MOST_MORE_BYTES + MOST_TIMES * sum(array.nbytes for array in packed.values())
    for name, note in notes.items():
        data = packed[name]
        dtype = np.dtype(note["dtype"])
        size = note["size"]
        differences = note["differences"]
        if data.dtype != np.uint8 or data.ndim != 1 or dtype.kind not in "iuf":
            raise NotPacked
        if type(size) is not int or size < 1 or type(differences) is not bool:
            raise NotPacked
        if differences and dtype.kind == "f":
            raise NotPacked
        room -= size * dtype.itemsize
        tasks.append((data, dtype, size, differences))
    if room < 0:
        raise NotPacked
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return dict(zip(notes, pool.map(lambda task: _unpacked(*task), tasks), strict=True))


def _unpacked(data: Array, dtype: np.dtype[Any], size: int, differences: bool) -> Array:
    decompressor = zlib.decompressobj()
    n_bytes = size * dtype.itemsize
    try:
        content = decompressor.decompress(data.data, n_bytes + 1)
    except zlib.error:
        raise NotPacked from None
    if len(content) != n_bytes or not decompressor.eof or decompressor.unused_data:
        raise NotPacked
    planes = np.frombuffer(content, dtype=np.uint8).reshape(-1, size)
    numbers = planes.T.copy().reshape(-1).view(dtype)  # writable, as all arrays of a model are
    return np.cumsum(numbers, dtype=dtype) if differences else numbers
