"""Documents of several fields -> features: the words of all fields together, and again as words of their field.

A word of the title votes twice: as a word, wherever it stands, and as a word of the title (``title: wheat``). What each
is worth is learned. The words of the longest field, of which most documents consist, are words only: as words of their
field they would say the same again. Categories and numbers are features under the names that they have (texts.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Longs, hashing, kernel
from shortlist.text.features import FACTOR, Features, Words, mixed
from shortlist.texts import Fielded, to_codes, to_text

WORD, VALUE = -1, -2  # in place of a field: a word wherever it stands, and what is no word


class FieldFeatures(NamedTuple):
    """The features of some documents, in order. Document i has indptr[i]:indptr[i+1]."""

    hashes: NDArray[np.uint64]
    indptr: Longs
    origin: Longs  # which feature of the fields' texts it is, or which of the values
    field: Longs  # its field, WORD or VALUE
    of_texts: Features  # those of each field of each document
    values: list[str]
    names: list[str]  # of the fields

    def spelled(
        self, new: Longs, spell: Callable[[Longs], tuple[NDArray[np.uint32], Longs]]
    ) -> tuple[NDArray[np.uint32], Longs]:
        """The letters of the names of these features end to end, and where each ends; ``spell`` does so for words."""
        is_word = self.field[new] != VALUE
        letters, ends = spell(self.origin[new[is_word]])
        whole, stops = to_text(letters), ends.tolist()
        words = iter(whole[start:end] for start, end in zip([0, *stops], stops, strict=False))
        spelled = []
        for origin, field in zip(self.origin[new].tolist(), self.field[new].tolist(), strict=True):
            name = self.values[origin] if field == VALUE else next(words)
            spelled.append(f"{self.names[field]}: {name}" if field >= 0 else name)
        return to_codes("".join(spelled)), np.cumsum([len(name) for name in spelled])


def fielded_features(
    documents: Fielded, main: str | None, make: Callable[[Sequence[str]], tuple[Words, Any]]
) -> tuple[Words, FieldFeatures]:
    """All features of some documents; ``make`` makes those of texts, and ``main`` names the longest field."""
    names, n = documents.names, len(documents)
    words, found = make(documents.in_turn())
    width = max(1, len(names))
    text = np.repeat(np.arange(found.indptr.size - 1), np.diff(found.indptr))
    document, field = text // width, text % width
    own = np.flatnonzero(np.array([name != main for name in names], dtype=bool)[field] if names else field)
    values = [(i, value) for i, some in enumerate(documents.features()) for value in some]
    seeds = np.array([_hash(f"field {name}") for name in names], dtype=np.uint64)
    with hashing():
        of_fields = _in_fields(found.hashes[own], field[own], seeds)
    hashes = np.concatenate([
        found.hashes, of_fields, value_hashes([value for _, value in values])
    ])  # fmt: skip
    origin = np.concatenate([np.arange(text.size), own, np.arange(len(values))])
    kinds = np.concatenate([np.full(text.size, WORD), field[own], np.full(len(values), VALUE)])
    documents_of = np.concatenate([document, document[own], np.array([i for i, _ in values], dtype=np.int64)])
    order = np.argsort(documents_of, kind="stable")
    indptr = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(documents_of, minlength=n), out=indptr[1:])
    return words, FieldFeatures(
        hashes[order], indptr, origin[order], kinds[order], found, [value for _, value in values], names
    )


def value_hashes(names: Sequence[str]) -> NDArray[np.uint64]:
    """The hashes of features that are no words: of categories, of numbers and of their bands."""
    return np.array([_hash(f"value {name}") for name in names], dtype=np.uint64)


def _hash(name: str) -> int:
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


@kernel
def _in_fields(hashes: NDArray[np.uint64], fields: Longs, seeds: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The hashes of features as those of their fields, whose seeds these are."""
    own = np.empty(hashes.size, np.uint64)
    for j in range(hashes.size):
        own[j] = mixed((hashes[j] ^ seeds[fields[j]]) * FACTOR)
    return own
