"""Arrays in less room: the bytes of their numbers plane by plane, compressed.

The highest bytes of all numbers stand together, then the next lower ones, and so on: many planes are nearly all zeros.
Numbers that ascend are kept as differences. An array is cut into chunks, which threads compress and open at the same
time. What is unpacked is what a file of another kind would have held, and is checked by whoever takes it, as that is.
"""

from __future__ import annotations

import math
import os
import zlib
from collections.abc import Container, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.files.container import Array, Later

CHUNK = 1 << 19  # numbers that are compressed together
LEVEL = 6
LEAST = 1 << 12  # bytes of an array that is worth it
WORDS = np.dtype(np.uint64)  # hashes, and what has been packed already: they would not take less room
MOST_TIMES, MOST_MORE = 64, 1 << 26  # a file is never unpacked to more than so many times its size, and so many bytes


class NotPacked(ValueError):
    """The bytes are not what ``pack`` has made."""


def packed(arrays: Mapping[str, Array | Later]) -> tuple[dict[str, Array | Later], dict[str, Any]]:
    """The arrays, those that take less room so packed, and the notes that are needed to unpack these."""
    found, notes = dict(arrays), {}
    for name, array in arrays.items():
        n_bytes = array.dtype.itemsize * math.prod(array.shape)
        if len(array.shape) == 1 and array.dtype.kind in "iuf" and array.dtype != WORDS and n_bytes >= LEAST:
            pieces = array.pieces() if isinstance(array, Later) else iter([array])
            data, note = pack(pieces, array.dtype, math.prod(array.shape))
            if data.nbytes < n_bytes:
                found[name], notes[name] = data, note
    return found, notes


def pack(pieces: Iterable[Array], dtype: np.dtype[Any], size: int) -> tuple[NDArray[np.uint8], dict[str, Any]]:
    """The bytes of an array given in pieces, and what is needed to unpack them."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        found = list(pool.map(_compressed, _chunks(pieces)))
    note = {"dtype": dtype.str, "size": size, "ends": np.cumsum([len(data) for data, _ in found]).tolist()}
    packed = np.frombuffer(b"".join(data for data, _ in found), dtype=np.uint8)
    return packed, note | {"differences": [ascends for _, ascends in found]}


def unpack(packed: Mapping[str, Array], notes: Mapping[str, Any], later: Container[str] = ()) -> dict[str, Any]:
    """The arrays again; NotPacked where that cannot be. Those with a name among ``later`` when somebody needs them."""
    arrays: dict[str, Array | Later] = {}
    tasks: list[tuple[Array, Array, bool]] = []
    room = MOST_MORE + MOST_TIMES * sum(array.nbytes for array in packed.values())
    for name, note in notes.items():
        dtype, size, ends, differences = (note[key] for key in ("dtype", "size", "ends", "differences"))
        data, numbers = packed[name], np.dtype(dtype)
        n_chunks = -(-size // CHUNK) if type(size) is int and size > 0 else 0
        room -= n_chunks * CHUNK * numbers.itemsize
        bounds = [0, *ends]
        whole = all(type(end) is int for end in bounds) and all(type(one) is bool for one in differences)
        if numbers.kind not in "iuf" or data.dtype != np.uint8 or data.ndim != 1 or room < 0 or not whole:
            raise NotPacked
        if not n_chunks or len(ends) != n_chunks or len(differences) != n_chunks or bounds != sorted(bounds):
            raise NotPacked
        if bounds[-1] != data.size or (numbers.kind == "f" and any(differences)):
            raise NotPacked
        if name.rpartition("/")[2] in later:
            arrays[name] = Later(numbers, size, partial(_pieces, data, numbers, size, bounds, differences))
            continue
        arrays[name] = array = np.empty(size, dtype=numbers)
        tasks += _tasks(data, array, bounds, differences)
    _open_all(tasks)
    return arrays


def _tasks(data: Array, array: Array, bounds: list[int], differences: list[bool]) -> list[tuple[Array, Array, bool]]:
    """What is to be opened: the chunks of an array, and their places in it."""
    return [
        (data[bounds[n] : bounds[n + 1]], array[n * CHUNK : (n + 1) * CHUNK], differences[n])
        for n in range(len(differences))
    ]


def _pieces(
    data: Array, dtype: np.dtype[Any], size: int, bounds: list[int], differences: list[bool]
) -> Iterator[Array]:
    """An array, unpacked now, in one piece."""
    array = np.empty(size, dtype=dtype)
    _open_all(_tasks(data, array, bounds, differences))
    yield array


def _open_all(tasks: list[tuple[Array, Array, bool]]) -> None:
    if tasks:
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            for _ in pool.map(_open, tasks):
                pass


def _chunks(pieces: Iterable[Array]) -> Iterator[Array]:
    """The same numbers, CHUNK at a time, copied only where two pieces meet: chunks wait for a thread, all at once."""
    rest: Array | None = None
    for piece in pieces:
        joined = np.concatenate([rest, piece]) if rest is not None and rest.size else piece
        end = joined.size - joined.size % CHUNK
        for first in range(0, end, CHUNK):
            yield joined[first : first + CHUNK]
        rest = joined[end:]
    if rest is not None and rest.size:
        yield rest


def _compressed(numbers: Array) -> tuple[bytes, bool]:
    """A chunk, compressed; and whether it is kept as differences."""
    ascends = numbers.dtype.kind in "iu" and bool((numbers[1:] >= numbers[:-1]).all())  # type: ignore[operator]
    if ascends:
        numbers = np.diff(numbers, prepend=numbers.dtype.type(0))
    planes = np.ascontiguousarray(numbers).view(np.uint8).reshape(numbers.size, -1).T
    return zlib.compress(np.ascontiguousarray(planes).data, LEVEL), ascends


def _open(task: tuple[Array, Array, bool]) -> None:
    """Unpack a chunk to its place."""
    data, numbers, differences = task
    opener = zlib.decompressobj()
    try:
        found = opener.decompress(data.data, numbers.nbytes + 1)
    except zlib.error:
        raise NotPacked from None
    if len(found) != numbers.nbytes or not opener.eof or opener.unused_data:
        raise NotPacked
    planes = np.frombuffer(found, dtype=np.uint8).reshape(-1, numbers.size)
    numbers.view(np.uint8).reshape(numbers.size, -1)[:] = planes.T
    if differences:
        np.cumsum(numbers, out=numbers, dtype=numbers.dtype)
