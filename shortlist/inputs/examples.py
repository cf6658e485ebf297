"""Batches of examples, and vectors beside their texts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.data.texts import Vectors, WithVectors, as_documents, as_vectors
from shortlist.errors import InputError, counted, there_are

if TYPE_CHECKING:
    from shortlist.data.rows import Rows


class Places(NamedTuple):
    """Where the examples of a batch stand: in which file, and at which of its lines, or rows
    where it has none.
    """

    file: str
    numbers: Sequence[int]
    unit: str = "line"

    def of(self, n: int) -> str:
        return f"{self.file}, {self.unit} {self.numbers[n]}"

    def take(self, which: list[int]) -> Places:
        return self._replace(numbers=[self.numbers[n] for n in which])


@dataclass
class Examples:
    """A batch of examples. Each field has one entry for each example, or is None where the format
    has no such thing.

    Texts and labels are lists, or sequences that can be used like these: Fielded, WithVectors,
    NumberedLabels.
    """

    # of str; Fielded, of several fields; WithVectors, with a vector each
    texts: Sequence[Any] | None = None
    rows: Rows | None = None
    labels: Sequence[list[str]] | None = None
    wrong: Sequence[list[str]] | None = None  # labels that were crossed out
    # whether all others are wrong; None: if nothing was crossed out
    complete: list[bool | None] | None = None
    ratings: NDArray[np.float64] | None = None
    relevance: NDArray[np.float64] | None = None
    scores: NDArray[np.float64] | None = None
    query: list[str] | None = None
    ids: list[str] | None = None
    split: list[str] | None = None
    # names of the columns of ``rows``, not one for each example
    feature_names: list[str] | None = None
    first: int = 0  # how many examples of the same stream stand before these
    places: Places | None = None  # where the format knows them; whoever refuses an example says so

    def __len__(self) -> int:
        for name, values in self.columns():
            return self.rows.n_rows if name == "rows" and self.rows is not None else len(values)  # type: ignore[arg-type]
        return 0

    def take(self, which: list[int]) -> Examples:
        """The examples of those numbers, in that order."""
        taken: dict[str, Any] = {}
        for name, values in self.columns():
            if isinstance(values, list):
                taken[name] = [values[n] for n in which]
            else:
                taken[name] = values.take(which)  # type: ignore[attr-defined]
        places = self.places and self.places.take(which)
        return Examples(**taken, feature_names=self.feature_names, first=self.first, places=places)

    def row_called(self, n: int) -> str:
        """How a row is called in a sentence: by where it stands, or by its number in the
        stream, from 0.
        """
        return f"row {self.first + n}" if self.places is None else f"{self.places.of(n)}: the row"

    def complete_only(self) -> Examples:
        """The examples of which all labels were judged: those by which a ranking can be
        measured.
        """
        if self.wrong is None:
            return self
        n = len(self)
        judged = zip(self.labels or [[]] * n, self.wrong, self.complete or [None] * n, strict=True)
        whole = [bool(own) and (not wrong if said is None else said) for own, wrong, said in judged]
        return self.take([i for i in range(n) if whole[i]])

    def columns(self) -> Iterator[tuple[str, object]]:
        """The fields that this batch has, by name."""
        for one in fields(self):
            values = getattr(self, one.name)
            if values is not None and one.name not in ("feature_names", "first", "places"):
                yield one.name, values


@dataclass
class Skipped:
    """What was left out because it was bad: how many records, and a sentence for each of the
    first few.
    """

    KEPT = 10

    count: int = 0
    sentences: list[str] = field(default_factory=list)

    def add(self, sentence: str) -> None:
        self.count += 1
        if len(self.sentences) < self.KEPT:
            self.sentences.append(sentence)

    def __bool__(self) -> bool:
        return self.count > 0


def in_batches(
    names: tuple[str, ...], examples: Iterable[Sequence[str | list[str]]], size: int
) -> Iterator[Examples]:
    """Gather examples, each a text and other values in the order of ``names``, to batches of
    about ``size`` letters.
    """
    columns: dict[str, Any] = {name: [] for name in names}
    held = 0
    for example in examples:
        for column, value in zip(columns.values(), example, strict=True):
            column.append(value)
        held += len(example[0])
        if held >= size:
            yield Examples(**columns)
            columns, held = {name: [] for name in names}, 0
    yield Examples(**columns)


def open_vectors(path: str | os.PathLike[str]) -> NDArray[Any]:
    """Open the matrix in a .npy file, whose rows are read when they are needed. Only numbers
    are accepted.
    """
    try:
        found: NDArray[Any] = np.lib.format.open_memmap(path, mode="r")
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except (ValueError, OSError, EOFError, SyntaxError, MemoryError) as problem:
        said = " ".join(str(problem).split())[:200]
        raise InputError(
            f"cannot read {path}: expected numbers that numpy.save has written ({said})"
        ) from None
    if found.ndim != 2 or found.dtype.kind not in "fiu":
        raise InputError(
            f"{path}: expected a matrix of numbers, found {found.dtype} of the shape {found.shape}"
        )
    return found


def beside(
    path: str | os.PathLike[str],
    batches: Iterator[Examples],
    first: int = 0,
    end: int | None = None,
) -> Iterator[Examples]:
    """Put the rows first..end-1 of a .npy file beside the texts of batches; there must be one
    for each.
    """
    vectors, began = open_vectors(path), first
    end = len(vectors) if end is None else min(end, len(vectors))
    for batch in batches:
        if batch.texts is None:
            raise InputError(
                f"the vectors of {path} stand beside texts, and the data hold rows of features"
            )
        last = first + len(batch)
        if last > end:
            raise InputError(
                f"{path} has {counted(end - began, 'rows')}, and there are more texts; it needs a "
                "row for each"
            )
        own = as_vectors(
            vectors[first:last], last - first, f"{path}, rows from {first} on: vectors"
        )
        yield replace(batch, texts=WithVectors(as_documents(batch.texts), own))
        first = last
    if first < end:
        rows, texts = counted(end - began, "rows"), there_are(first - began, "texts")
        raise InputError(f"{path} has {rows}, and {texts}; it needs a row for each")


def apart(texts: Sequence[Any]) -> tuple[Sequence[Any], Vectors | None]:
    """Return the texts alone, and the vectors beside them, if any."""
    return (texts.texts, texts.vectors) if isinstance(texts, WithVectors) else (texts, None)


def stacked(parts: Sequence[Sequence[Any]]) -> Sequence[Any]:
    """Return the texts of several parts as one, with their vectors, if the parts have them."""
    texts = [text for part in parts for text in part]
    vectors = [part.vectors for part in parts if isinstance(part, WithVectors)]
    return WithVectors(as_documents(texts), np.concatenate(vectors)) if vectors else texts
