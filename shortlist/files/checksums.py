"""What tells whether a model file is as it was written: a digest of its header and of its arrays."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from shortlist.files.later import Array, Later


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
