"""Arrays that grow."""

from __future__ import annotations

import contextlib
import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.errors import InputError


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


def give_back() -> None:
    """Give memory that was freed back to the system, where the C library has kept it for itself (glibc).

    It keeps what arrays have grown out of, and what threads were done with: a third of all memory, after many texts.
    """
    with contextlib.suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
