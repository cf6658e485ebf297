"""Texts and their vectors, on their way into a model: given by the user, or made by an encoder.

An encoder is any callable from a list of texts to a matrix with a row for each: what a sentence-transformers, model2vec
or wordllama model has as a method. A model file holds its name and how many numbers a vector has, never the encoder.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shortlist.errors import InputError
from shortlist.texts.beside import Vectors, WithVectors, as_vectors
from shortlist.texts.fields import Document, Fielded, as_documents, is_one

Encoder = Callable[[list[str]], ArrayLike]
BATCH = 1024  # texts that an encoder is given at a time


def with_vectors(texts: Sequence[Document], vectors: ArrayLike | None) -> Sequence[Any]:
    """The texts, with the vectors beside them if there are any."""
    given = as_documents(texts)
    return given if vectors is None else WithVectors(given, as_vectors(vectors, len(given)))


def one_with_vector(text: Document, vector: ArrayLike | None) -> Sequence[Any]:
    """One text as many, with its vector beside it if it has one."""
    alone: Any = vector[np.newaxis] if type(vector) is np.ndarray else None if vector is None else [vector]
    return with_vectors([text], alone)


def with_vector(
    text: Document | Sequence[Document], vector: ArrayLike | None, vectors: ArrayLike | None
) -> Sequence[Any]:
    """One text or many, with the vector of the one, or those of the many, beside them; always as many."""
    if is_one(text):
        if vectors is not None:
            raise InputError("vectors are for many texts; give the vector of one text as vector")
        return one_with_vector(text, vector)  # type: ignore[arg-type]
    if vector is not None:
        raise InputError("vector is for one text; give those of many texts as vectors, a row for each")
    return with_vectors(text, vectors)  # type: ignore[arg-type]


def name_of(encoder: Encoder) -> str:
    """What an encoder is called in a model file."""
    if isinstance(encoder, partial):
        return name_of(encoder.func)
    named: Any = encoder if hasattr(encoder, "__qualname__") else type(encoder)
    return f"{named.__module__}.{named.__qualname__}".removeprefix("__main__.")


def is_called(encoder: Encoder, name: str) -> bool:
    """Whether that is the name of an encoder, which in the program that trained the model may have had no module."""
    found = name_of(encoder)
    return found == name or found.endswith(f".{name}") or name.endswith(f".{found}")


def encoded(encoder: Encoder, texts: Sequence[Any]) -> Vectors:
    """What an encoder makes of texts, some at a time; of one with several fields it sees the fields in lines."""
    plain = texts.joined() if isinstance(texts, Fielded) else list(texts)
    if not plain:
        raise InputError("there are no texts to encode")
    parts = []
    for first in range(0, len(plain), BATCH):
        some = plain[first : first + BATCH]
        parts.append(as_vectors(encoder(some), len(some), f"what the encoder {name_of(encoder)} made of the texts"))
        if parts[-1].shape[1] != parts[0].shape[1]:
            raise InputError(f"the encoder {name_of(encoder)} has made vectors of different lengths")
    return np.concatenate(parts)
