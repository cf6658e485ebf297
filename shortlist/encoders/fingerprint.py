"""How an encoder without files of known digests is recognised: by its vectors of three fixed texts.

An endpoint or a library may compute the same model with other rounding, on another device or in
another batch. So two fingerprints agree if their numbers are nearly the same; they hold the first
numbers of each vector.
"""

from __future__ import annotations

import base64
import binascii

import numpy as np
from numpy.typing import NDArray

FINGERPRINT_TEXTS = (
    "The bank raised its interest rates.",
    "Die Weizenpreise fallen nach der Ernte.",
    "def total(prices): return sum(prices)",
)
FINGERPRINT_KIND = "vectors"  # what a fingerprint begins with
NUMBERS_KEPT = 16  # of each vector
LEAST_COSINE = 0.99  # of the numbers of two fingerprints that agree


def fingerprint_of(vectors: NDArray[np.float32]) -> str:
    """The fingerprint of an encoder, from its vectors of these texts, of unit length."""
    kept = vectors[:, :NUMBERS_KEPT].astype("<f2")
    return f"{FINGERPRINT_KIND}:{vectors.shape[1]}:{base64.b64encode(kept.tobytes()).decode()}"


def is_fingerprint(identity: str) -> bool:
    return identity.startswith(f"{FINGERPRINT_KIND}:")


def agree(first: str, second: str) -> bool:
    """Whether two identities, digests or fingerprints, are those of one encoder."""
    if first == second:
        return True
    if not is_fingerprint(first) or not is_fingerprint(second):
        return False
    _, dimension, numbers = _parts(first)
    _, other_dimension, other_numbers = _parts(second)
    if dimension != other_dimension or numbers.size != other_numbers.size:
        return False
    lengths = np.linalg.norm(numbers) * np.linalg.norm(other_numbers)
    return bool(numbers @ other_numbers >= LEAST_COSINE * lengths > 0)


def _parts(identity: str) -> tuple[str, str, NDArray[np.float64]]:
    kind, _, rest = identity.partition(":")
    dimension, _, encoded = rest.partition(":")
    try:
        numbers = np.frombuffer(base64.b64decode(encoded, validate=True), dtype="<f2")
    except (binascii.Error, ValueError):
        numbers = np.zeros(0)
    return kind, dimension, numbers.astype(np.float64)
