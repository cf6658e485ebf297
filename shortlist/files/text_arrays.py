"""Lists of words or labels <-> arrays of bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.errors import InputError, ModelFileError


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
