"""Arrays of a model file that are not made before they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray

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
