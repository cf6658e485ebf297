"""Texts, documents of several fields, and texts with vectors, before they are tokenised."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from decimal import Decimal
from functools import cached_property
from itertools import chain
from typing import Any, TypeAlias, cast, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.compiled.kernels import Longs
from shortlist.errors import InputError, counted

CHARACTERS_AT_ONCE = (
    1 << 17
)  # characters that the kernels read at a time; they fit in a processor's cache


class Texts:
    """Texts inside one: text i is ``whole[starts[i]:ends[i]]``; they ascend and do not overlap."""

    def __init__(self, whole: str, starts: Longs, ends: Longs) -> None:
        self.whole = whole
        self.starts = np.ascontiguousarray(starts)
        self.ends = np.ascontiguousarray(ends)

    @classmethod
    def of(cls, texts: Sequence[str]) -> Texts:
        """Lay texts end to end."""
        if len(texts) == 1:
            return cls(texts[0], np.array([0]), np.array([len(texts[0])]))
        lengths = lengths_of(texts)
        ends = np.cumsum(lengths)
        return cls("".join(texts), ends - lengths, ends)

    @cached_property
    def codes(self) -> NDArray[np.uint32]:
        """The code points of the whole."""
        return to_codes(self.whole)

    def __iter__(self) -> Iterator[str]:
        for start, end in zip(self.starts.tolist(), self.ends.tolist(), strict=True):
            yield self.whole[start:end]


def as_texts(texts: Iterable[object], name: str = "texts") -> Sequence[str]:
    """Check that these are texts, and return them as a list."""
    try:
        # a sparse matrix has rows, but no texts
        if isinstance(texts, str | bytes) or hasattr(texts, "tocsr"):
            raise TypeError
        if hasattr(texts, "to_pylist"):  # a column of Arrow
            texts = texts.to_pylist()
        listed: list[Any] = texts if type(texts) is list else list(texts)
    except TypeError:
        kind = type(texts).__name__
        raise InputError(
            f"{name} must be a list of texts, not one {kind}; for one text, write [text]"
        ) from None
    if not set(map(type, listed)) <= {str}:
        for position, text in enumerate(listed):
            if not isinstance(text, str):
                hint = "; decode it first" if isinstance(text, bytes) else ""
                raise InputError(f"{name}[{position}] is a {type(text).__name__}, not a text{hint}")
    return listed


def lengths_of(texts: Sequence[object]) -> Longs:
    """Return the number of characters of each text or document."""
    if hasattr(texts, "lengths"):
        lengths: Longs = texts.lengths()
        return lengths
    return np.fromiter(map(len, cast("Sequence[str]", texts)), dtype=np.int64, count=len(texts))


def blocks(texts: Sequence[object]) -> Iterator[slice]:
    """Yield runs of texts of about CHARACTERS_AT_ONCE characters together; a longer text is a run
    by itself.
    """
    if len(texts) == 1:  # the usual request of a server
        yield slice(0, 1)
        return
    ends = np.cumsum(lengths_of(texts))
    first = 0
    start = 0
    while first < ends.size:
        last = min(int(np.searchsorted(ends, start + CHARACTERS_AT_ONCE)) + 1, ends.size)
        yield slice(first, last)
        first = last
        start = int(ends[last - 1])


def to_codes(text: str) -> NDArray[np.uint32]:
    """Return the code points of a text, lone surrogates too, as NumPy stores them."""
    return np.array([text]).view(np.uint32)[: len(text)]


def to_text(codes: NDArray[np.uint32]) -> str:
    """Return the text of code points; the inverse of ``to_codes``."""
    text: str = codes.view(f"U{codes.size}").item() if codes.size else ""
    return text.ljust(codes.size, "\0")  # NumPy drops trailing NULs


# Texts with a vector each, such as an embedding.

Vectors = NDArray[np.float32]  # examples × numbers


class WithVectors(Sequence[Any]):
    """Documents and their vectors, float32[documents, numbers]."""

    def __init__(self, texts: Sequence[Any], vectors: Vectors) -> None:
        self.texts = texts
        self.vectors = vectors

    def lengths(self) -> Longs:
        """Return the number of characters of each document."""
        return lengths_of(self.texts)

    def __len__(self) -> int:
        return len(self.texts)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.texts)

    @overload
    def __getitem__(self, which: int) -> object: ...
    @overload
    def __getitem__(self, which: slice) -> WithVectors: ...
    def __getitem__(self, which: int | slice) -> object:
        texts = self.texts[which]
        if isinstance(which, slice):
            return WithVectors(texts, self.vectors[which])
        return texts

    def take(self, which: Sequence[int]) -> WithVectors:
        """Return the documents of these numbers, in this order."""
        vectors = self.vectors[np.asarray(which, dtype=np.int64)]
        if isinstance(self.texts, Fielded):
            return WithVectors(self.texts.take(which), vectors)
        return WithVectors([self.texts[n] for n in which], vectors)


def as_vectors(vectors: ArrayLike, n: int, name: str = "vectors") -> Vectors:
    """Check vectors for n texts, a matrix of finite numbers with a row for each, and return
    them as float32.
    """
    try:
        matrix = np.asarray(vectors)
        if matrix.dtype.kind not in "fiu":
            raise TypeError
        with np.errstate(over="ignore"):
            matrix = np.ascontiguousarray(matrix, dtype=np.float32)
    except (ValueError, TypeError):
        raise InputError(f"{name} must hold numbers, a row of as many for each text") from None
    if matrix.ndim != 2 or matrix.shape[0] != n or matrix.shape[1] == 0:
        raise InputError(
            f"{name} must have a row of numbers for each text, {counted(n, 'rows')}, not the shape "
            f"{matrix.shape}"
        )
    if not np.isfinite(matrix).all():
        row = int(np.argmin(np.isfinite(matrix).all(axis=1)))
        raise InputError(f"{name}[{row}] holds a number that is not finite, or too large")
    return matrix


# Documents of several fields: a title and a body, an author, a price.
#
# A document is a mapping from names to values: a text is a field of words, a list of texts are
# categories. A category is a feature, ``author=Smith``. A number is one too, ``price=12.5``, and so
# is its band, ``price 10–20``: from 1 to 2, to 5, to 10 times a power of ten.

Value: TypeAlias = str | float | Sequence[str]
Document: TypeAlias = str | Mapping[str, Value]  # a single text is a document too
# by the first digit; 5 to 10 from 5 on
BAND_OF_DIGIT = {"1": (1, 2), "2": (2, 5), "3": (2, 5), "4": (2, 5)}


class Fielded(Sequence[Mapping[str, Value]]):
    """Documents of several fields, stored by field: texts, and other values, None if there is
    none.
    """

    def __init__(
        self,
        texts: Mapping[str, Sequence[str]],
        values: Mapping[str, Sequence[Value | None]],
        n: int,
    ) -> None:
        self.texts = texts
        self.values = values
        self._n = n

    @classmethod
    def of(cls, documents: Sequence[Mapping[str, Value]], name: str | None = "texts") -> Fielded:
        """Make it of mappings, whose fields may differ. Without a ``name`` they are not checked."""
        texts: dict[str, list[str]] = {}
        values: dict[str, list[Value | None]] = {}
        for n, document in enumerate(documents):
            for field, value in document.items():
                if name is not None and (not isinstance(field, str) or not field):
                    raise InputError(
                        f"{name}[{n}] has a field named {field!r}; fields are named with text"
                    )
                if isinstance(value, str):
                    texts.setdefault(field, [""] * len(documents))[n] = value
                elif value is not None:
                    if name is not None:
                        features_of(field, value, f"{name}[{n}]")  # refuses other types
                    values.setdefault(field, [None] * len(documents))[n] = value
        return cls(texts, values, len(documents))

    def features(self) -> list[list[str]]:
        """Return the features of categories and numbers of each document."""
        features: list[list[str]] = [[] for _ in range(self._n)]
        for field, values in self.values.items():
            for of_document, value in zip(features, values, strict=True):
                of_document += features_of(field, value, field)
        return features

    def longest(self) -> str | None:
        """Return the field with the most characters."""
        n_characters = {name: lengths_of(texts).sum() for name, texts in self.texts.items()}
        return max(n_characters, key=n_characters.__getitem__, default=None)

    def lengths(self) -> Longs:
        """Return the number of characters of each document."""
        lengths = np.zeros(self._n, dtype=np.int64)
        for texts in self.texts.values():
            lengths += lengths_of(texts)
        return lengths

    def in_turn(self) -> list[str]:
        """Return the texts of the fields of the first document, then those of the second, and
        so on.
        """
        return list(chain.from_iterable(zip(*self.texts.values(), strict=True)))

    def joined(self) -> list[str]:
        """Return each document as one text: its fields with line feeds between them."""
        if not self.texts:
            return [""] * self._n
        return list(map("\n".join, zip(*self.texts.values(), strict=True)))

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, which: int) -> Mapping[str, Value]: ...
    @overload
    def __getitem__(self, which: slice) -> Fielded: ...
    def __getitem__(self, which: int | slice) -> Mapping[str, Value] | Fielded:
        if isinstance(which, slice):
            return self.take(range(self._n)[which])
        document: dict[str, Value] = {name: texts[which] for name, texts in self.texts.items()}
        for name, values in self.values.items():
            value = values[which]
            if value is not None:
                document[name] = value
        return document

    def take(self, which: Sequence[int]) -> Fielded:
        """Return the documents of these numbers, in this order."""
        texts = {name: [column[n] for n in which] for name, column in self.texts.items()}
        values = {name: [column[n] for n in which] for name, column in self.values.items()}
        return Fielded(texts, values, len(which))


def features_of(field: str, value: object, where: str) -> list[str]:
    """Return the features of a number or of categories; none for None."""
    if value is None:
        return []
    if isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
        if not math.isfinite(value):
            raise InputError(f"{where}: the number in {field!r} must be finite")
        return [f"{field}={value:.12g}", *band(field, float(value))]
    if isinstance(value, (list, tuple)) and all(isinstance(part, str) for part in value):
        return [f"{field}={category}" for category in dict.fromkeys(value)]
    raise InputError(
        f"{where}: {field!r} must hold text, a number or a list of texts, not "
        f"{type(value).__name__}"
    )


def cell_value(cell: str) -> Value | None:
    """Return the value of a cell of a table: a number, a category, or None."""
    cell = cell.strip()
    try:
        number = float(cell)
    except ValueError:
        number = math.nan
    if math.isfinite(number):
        return number
    return [cell] if cell else None


def band(field: str, number: float) -> list[str]:
    """Return the band of a number; 0 has none."""
    if number == 0:
        return []
    # decimal digits are the same on every machine
    digits, _, power = f"{abs(number):.15e}".partition("e")
    low, high = (Decimal(end).scaleb(int(power)) for end in BAND_OF_DIGIT.get(digits[0], (5, 10)))
    if number < 0:
        low, high = -high, -low
    return [f"{field} {low:f}–{high:f}"]


def as_documents(documents: Iterable[object], name: str = "texts") -> Sequence[Any]:
    """Check that these are texts or documents of several fields; return a list, Fielded or
    WithVectors.
    """
    if type(documents) is list and set(map(type, documents)) <= {str}:
        return documents  # the usual case, which is checked several times on the way
    if isinstance(documents, (Fielded, WithVectors)):
        return documents
    if not isinstance(documents, (list, tuple)):
        documents = _one_column(documents)
        _check_order(documents, name)
        return as_texts(documents, name)
    if documents and all(isinstance(document, Mapping) for document in documents):
        return Fielded.of(documents, name)
    return as_texts(documents, name)


def _one_column(documents: Any) -> Any:
    """Return the texts of a frame of one column, or of an array of one; anything else as it is."""
    if isinstance(documents, np.ndarray):
        is_column = documents.ndim == 2 and documents.shape[1] == 1
        return documents[:, 0] if is_column else documents
    columns = getattr(documents, "columns", None)
    if isinstance(documents, Mapping) or not hasattr(documents, "__len__") or columns is None:
        return documents
    names = list(columns) if isinstance(columns, Iterable) else []
    is_named = len(names) == 1 and isinstance(names[0], (str, int))  # Arrow's are columns
    return documents[names[0]] if is_named else documents


def _check_order(documents: object, name: str) -> None:
    """Refuse a mapping, a set or a frame, whose iteration does not give the texts in order."""
    kind = type(documents).__name__
    if isinstance(documents, Mapping):
        raise InputError(f"{name} is one {kind}; give a list of them")
    if isinstance(documents, Set):
        raise InputError(f"{name} is a {kind}, which has no order; give a list")
    if isinstance(getattr(documents, "columns", None), Iterable):
        raise InputError(
            f"{name} is a {kind}, which has columns: give one of them, or a list of its rows as "
            "mappings"
        )


def laid(documents: Sequence[Any]) -> Texts:
    """Return texts, or the fields of documents in turn, end to end."""
    return Texts.of(documents.in_turn() if isinstance(documents, Fielded) else documents)


def is_one(documents: object) -> bool:
    """Whether this is one document rather than several."""
    return isinstance(documents, (str, Mapping))


def many(documents: Document | Sequence[Document]) -> Sequence[Any]:
    """Return one document or several as several."""
    return as_documents([documents] if is_one(documents) else documents)
