"""The vector of an example in the journal, so that it is learned again as it was.

It is written in base64, as so many float32; nothing for an example that has none. Whether somebody gave it or an
encoder made it, the journal has it: nothing that was learned depends on an encoder being there again.
"""

from __future__ import annotations

from base64 import b64decode, b64encode

import numpy as np

from shortlist.errors import InputError
from shortlist.texts.beside import Vectors

NUMBERS = np.dtype("<f4")


def written(vector: Vectors | None) -> str:
    """A vector as the journal keeps it."""
    return "" if vector is None else b64encode(vector.astype(NUMBERS).tobytes()).decode()


def read(kept: str) -> Vectors | None:
    """The vector again."""
    if not kept:
        return None
    try:
        return np.frombuffer(b64decode(kept, validate=True), dtype=NUMBERS).astype(np.float32)
    except ValueError:
        raise InputError("the stored vector is not valid base64 float32") from None
