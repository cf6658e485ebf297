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


class ExamplePlaces(NamedTuple):
    """Where the examples of a batch stand: in which file, and at which of its lines, or rows
    where it has none.
    """

    file: str
    numbers: Sequence[int]
    unit: str = "line"

    def of(self, n: int) -> str:
        return f"{self.file}, {self.unit} {self.numbers[n]}"

    def take(self, which: list[int]) -> ExamplePlaces:
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
    # the cells of columns that are passed on as they are
    kept: list[dict[str, str]] | None = None
    # names of the columns of ``rows``, not one for each example
    feature_names: list[str] | None = None
    first: int = 0  # how many examples of the same stream stand before these
    places: ExamplePlaces | None = (
        None  # where the format knows them; whoever refuses an example says so
    )

    def __len__(self) -> int:
        for name, values in self.columns():
            if name == "rows":
                return values.n_rows
            return len(values)
        return 0

    def take(self, which: list[int]) -> Examples:
        """The examples of those numbers, in that order."""
        taken: dict[str, Any] = {}
        for name, values in self.columns():
            if isinstance(values, list):
                taken[name] = [values[n] for n in which]
            else:
                taken[name] = values.take(which)
        places = self.places and self.places.take(which)
        return Examples(**taken, feature_names=self.feature_names, first=self.first, places=places)

    def row_called(self, n: int) -> str:
        """How a row is called in a sentence: by where it stands, or by its number in the
        stream, from 0.
        """
        if self.places is None:
            return f"row {self.first + n}"
        return f"{self.places.of(n)}: the row"

    def complete_only(self) -> Examples:
        """The examples of which all labels were judged: those by which a ranking can be
        measured.
        """
        if self.wrong is None:
            return self
        n = len(self)
        judged = zip(self.labels or [[]] * n, self.wrong, self.complete or [None] * n, strict=True)
        chosen = []
        for i, (labels, wrong, complete) in enumerate(judged):
            if complete is None:
                complete = not wrong
            if labels and complete:
                chosen.append(i)
        return self.take(chosen)

    def columns(self) -> Iterator[tuple[str, Any]]:
        """The fields that this batch has, by name."""
        for column in fields(self):
            values = getattr(self, column.name)
            if values is not None and column.name not in ("feature_names", "first", "places"):
                yield column.name, values


@dataclass
class Skipped:
    """What was left out because it was bad: how many records, and a sentence for each of the
    first few.
    """

    MOST_SENTENCES = 10

    count: int = 0
    sentences: list[str] = field(default_factory=list)

    def add(self, sentence: str) -> None:
        self.count += 1
        if len(self.sentences) < self.MOST_SENTENCES:
            self.sentences.append(sentence)

    def __bool__(self) -> bool:
        return self.count > 0


def in_batches(
    names: tuple[str, ...], examples: Iterable[Sequence[str | list[str]]], size: int
) -> Iterator[Examples]:
    """Gather examples, each a text and other values in the order of ``names``, to batches of
    about ``size`` letters.
    """
    batch: list[Sequence[str | list[str]]] = []
    n_letters = 0
    for example in examples:
        batch.append(example)
        n_letters += len(example[0])
        if n_letters >= size:
            yield _as_columns(names, batch)
            batch = []
            n_letters = 0
    yield _as_columns(names, batch)


def _as_columns(names: tuple[str, ...], examples: list[Sequence[str | list[str]]]) -> Examples:
    columns: dict[str, Any] = {
        name: [example[n] for example in examples] for n, name in enumerate(names)
    }
    return Examples(**columns)


def open_vectors(path: str | os.PathLike[str]) -> NDArray[Any]:
    """Open the matrix in a .npy file, whose rows are read when they are needed. Only numbers
    are accepted.
    """
    try:
        matrix: NDArray[Any] = np.lib.format.open_memmap(path, mode="r")
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except (ValueError, OSError, EOFError, SyntaxError, MemoryError) as problem:
        reason = " ".join(str(problem).split())[:200]
        raise InputError(
            f"cannot read {path}: expected numbers that numpy.save has written ({reason})"
        ) from None
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiu":
        raise InputError(
            f"{path}: expected a matrix of numbers, found {matrix.dtype} of the shape "
            f"{matrix.shape}"
        )
    return matrix


def beside(
    path: str | os.PathLike[str],
    batches: Iterator[Examples],
    first: int = 0,
    end: int | None = None,
) -> Iterator[Examples]:
    """Put the rows first..end-1 of a .npy file beside the texts of batches; there must be one
    for each.
    """
    vectors = open_vectors(path)[first:end]
    at = 0
    for batch in batches:
        if batch.texts is None:
            raise InputError(
                f"the vectors of {path} stand beside texts, and the data hold rows of features"
            )
        n = len(batch)
        if at + n > len(vectors):
            raise InputError(
                f"{path} has {counted(len(vectors), 'rows')}, and there are more texts; it needs a "
                "row for each"
            )
        where = f"{path}, rows from {first + at} on: vectors"
        rows = as_vectors(vectors[at : at + n], n, where)
        yield replace(batch, texts=WithVectors(as_documents(batch.texts), rows))
        at += n
    if at < len(vectors):
        rows_and_texts = f"{counted(len(vectors), 'rows')}, and {there_are(at, 'texts')}"
        raise InputError(f"{path} has {rows_and_texts}; it needs a row for each")


def apart(texts: Sequence[Any]) -> tuple[Sequence[Any], Vectors | None]:
    """Return the texts alone, and the vectors beside them, if any."""
    if isinstance(texts, WithVectors):
        return texts.texts, texts.vectors
    return texts, None


def stacked(parts: Sequence[Sequence[Any]]) -> Sequence[Any]:
    """Return the texts of several parts as one, with their vectors, if the parts have them."""
    texts = [text for part in parts for text in part]
    vectors = [part.vectors for part in parts if isinstance(part, WithVectors)]
    if not vectors:
        return texts
    return WithVectors(as_documents(texts), np.concatenate(vectors))
