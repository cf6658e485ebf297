"""Vectors from a file of their own, beside the texts of another: what ``numpy.save`` has written, a row for each."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.errors import InputError, counted, there_are
from shortlist.inputs.examples import Examples
from shortlist.texts import Vectors, WithVectors, as_documents, as_vectors


def open_vectors(path: str | os.PathLike[str]) -> NDArray[Any]:
    """The matrix in a .npy file, of which rows are read as they are asked for. Nothing but numbers is opened."""
    try:
        found: NDArray[Any] = np.lib.format.open_memmap(path, mode="r")
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except (ValueError, OSError, EOFError, SyntaxError, MemoryError) as problem:
        said = " ".join(str(problem).split())[:200]
        raise InputError(f"cannot read {path}: expected numbers that numpy.save has written ({said})") from None
    if found.ndim != 2 or found.dtype.kind not in "fiu":
        raise InputError(f"{path}: expected a matrix of numbers, found {found.dtype} of the shape {found.shape}")
    return found


def beside(
    path: str | os.PathLike[str], batches: Iterator[Examples], first: int = 0, end: int | None = None
) -> Iterator[Examples]:
    """The same batches, each text with its row of the file, which must have as many; or of its rows first..end-1."""
    vectors, began = open_vectors(path), first
    end = len(vectors) if end is None else min(end, len(vectors))
    for batch in batches:
        if batch.texts is None:
            raise InputError(f"the vectors of {path} stand beside texts, and the data hold rows of features")
        last = first + len(batch)
        if last > end:
            raise InputError(
                f"{path} has {counted(end - began, 'rows')}, and there are more texts; it needs a row for each"
            )
        own = as_vectors(vectors[first:last], last - first, f"{path}, rows from {first} on: vectors")
        yield replace(batch, texts=WithVectors(as_documents(batch.texts), own))
        first = last
    if first < end:
        raise unequal(path, end - began, first - began)


def unequal(path: str | os.PathLike[str], n_rows: int, n_texts: int) -> InputError:
    return InputError(
        f"{path} has {counted(n_rows, 'rows')}, and {there_are(n_texts, 'texts')}; it needs a row for each"
    )


def apart(texts: Sequence[Any]) -> tuple[Sequence[Any], Vectors | None]:
    """The texts alone, and the vectors beside them, if they have any."""
    return (texts.texts, texts.vectors) if isinstance(texts, WithVectors) else (texts, None)


def stacked(parts: Sequence[Sequence[Any]]) -> Sequence[Any]:
    """The texts of one part after the other; with their vectors, if the parts have them, of as many numbers."""
    texts = [text for part in parts for text in part]
    vectors = [part.vectors for part in parts if isinstance(part, WithVectors)]
    return WithVectors(as_documents(texts), np.concatenate(vectors)) if vectors else texts
