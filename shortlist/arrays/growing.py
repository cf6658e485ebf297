"""Arrays that grow."""

from __future__ import annotations

import contextlib
import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.errors import InputError

MOST_IN_FOUR_BYTES = np.iinfo(np.uint32).max


def grown(array: NDArray[Any], size: int, *, doubled: bool = True) -> NDArray[Any]:
    """The array with room for at least ``size`` entries, zeros behind; at least doubled, so that growth is cheap.

    Zeros that nobody writes to take no memory: the system gives it page by page, when something is written there.
    """
    if array.shape[0] >= size:
        return array
    room = max(size, 2 * array.shape[0] if doubled else 0)
    try:
        larger = np.zeros((room, *array.shape[1:]), dtype=array.dtype)
    except (MemoryError, ValueError) as problem:
        raise InputError(f"there is no memory for {room} columns, labels or edges: {problem}") from None
    larger[: array.shape[0]] = array
    return larger


def wide_enough(array: NDArray[Any], most: int) -> NDArray[Any]:
    """Numbers from 0 on, in memory of their own or as they are, none of which will be more than ``most``.

    They have four bytes each, and eight once that is not enough.
    """
    return array.astype(np.uint32 if most <= MOST_IN_FOUR_BYTES else np.int64, copy=False)


def give_back() -> None:
    """Give memory that was freed back to the system, where the C library has kept it for itself (glibc).

    It keeps what arrays have grown out of, and what threads were done with: a third of all memory, after many texts.
    """
    with contextlib.suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
