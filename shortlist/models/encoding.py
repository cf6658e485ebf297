"""Vectors beside texts: given by the user, or made by an encoder.

An encoder is the name of one whose weights are installed (encoders/), or any callable from a list
of texts to a matrix with a row for each. A model file holds its name and the digest of its weights,
never the encoder itself.
"""

from __future__ import annotations

import importlib
import re
import traceback
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from shortlist.data.label_input import Label
from shortlist.data.texts import (
    Document,
    Fielded,
    Vectors,
    WithVectors,
    as_documents,
    as_vectors,
    is_one,
)
from shortlist.errors import InputError, counted
from shortlist.label_vocabulary import LabelVocabulary
from shortlist.learners.category_learner import CategoryLearner
from shortlist.learners.port import TakesVectors

Callback = Callable[[list[str]], ArrayLike]
Encoder = Callback | str
BATCH = 1024  # texts that an encoder is given at a time
OURS = Path(__file__).parent.parent
MOST_SAID = 300  # letters of another program's error message
BETWEEN_WORDS = re.compile(r"[\W_]+|(?<=[a-zß-ÿ])(?=[A-ZÀ-Þ])")


def with_vectors(texts: Sequence[Document], vectors: ArrayLike | None) -> Sequence[Any]:
    """The texts, with their vectors if there are any."""
    given = as_documents(texts)
    return given if vectors is None else WithVectors(given, as_vectors(vectors, len(given)))


def one_with_vector(text: Document, vector: ArrayLike | None) -> Sequence[Any]:
    """A list of one text, with its vector if it has one."""
    alone: Any = (
        vector[np.newaxis] if type(vector) is np.ndarray else None if vector is None else [vector]
    )
    return with_vectors([text], alone)


def with_vector(
    text: Document | Sequence[Document], vector: ArrayLike | None, vectors: ArrayLike | None
) -> Sequence[Any]:
    """A list of one text or of many, with the vector of the one or the vectors of the many."""
    if is_one(text):
        if vectors is not None:
            raise InputError("vectors are for many texts; give the vector of one text as vector")
        return one_with_vector(text, vector)  # type: ignore[arg-type]
    if vector is not None:
        raise InputError(
            "vector is for one text; give those of many texts as vectors, a row for each"
        )
    return with_vectors(text, vectors)  # type: ignore[arg-type]


def loaded(encoder: Encoder, digest: str | None = None) -> Callback:
    """The callable of an encoder; one with a name is loaded once, and checked if a digest is
    given.
    """
    return _loaded(encoder, digest) if isinstance(encoder, str) else encoder


@cache
def _loaded(name: str, digest: str | None) -> Callback:
    from shortlist.encoders import load_encoder, load_same  # slow imports

    return load_encoder(name) if digest is None else load_same(name, digest)


def name_of(encoder: Encoder) -> str:
    """The name of an encoder in a model file."""
    if isinstance(encoder, str):
        return encoder
    if isinstance(getattr(encoder, "digest", None), str):  # of encoders/
        return str(getattr(encoder, "name"))  # noqa: B009 - a callable has no name that is known
    if isinstance(encoder, partial):
        return name_of(encoder.func)
    named: Any = encoder if hasattr(encoder, "__qualname__") else type(encoder)
    return f"{named.__module__}.{named.__qualname__}".removeprefix("__main__.")


def is_called(encoder: Encoder, name: str) -> bool:
    """Whether this is the name of an encoder; the program that trained the model may have named
    no module.
    """
    found = name_of(encoder)
    return found == name or found.endswith(f".{name}") or name.endswith(f".{found}")


def digest_of(encoder: Encoder | None) -> str | None:
    """The digest of an encoder's weights, if it has one."""
    return None if encoder is None else getattr(loaded(encoder), "digest", None)


def encoded(encoder: Encoder, texts: Sequence[Any]) -> Vectors:
    """The vectors of texts, made in batches; of a text with several fields the encoder sees one
    line for each.
    """
    plain = texts.joined() if isinstance(texts, Fielded) else list(texts)
    if not plain:
        raise InputError("there are no texts to encode")
    parts, make = [], loaded(encoder)
    for first in range(0, len(plain), BATCH):
        some = plain[first : first + BATCH]
        parts.append(
            as_vectors(
                make(some), len(some), f"what the encoder {name_of(encoder)} made of the texts"
            )
        )
        if parts[-1].shape[1] != parts[0].shape[1]:
            raise InputError(
                f"the encoder {name_of(encoder)} has made vectors of different lengths"
            )
    return np.concatenate(parts)


def failure(problem: BaseException) -> str:
    """An error in a user's code, and where: the last line of the first file that is not of
    shortlist.
    """

    def is_ours(file: str) -> bool:
        imports = file.startswith("<frozen importlib") or file == importlib.__file__
        return imports or Path(file).is_relative_to(OURS)

    message = " ".join(str(problem.msg if isinstance(problem, SyntaxError) else problem).split())
    what = f"{type(problem).__name__}: {message[:MOST_SAID]}" if message else type(problem).__name__
    frames = [
        frame
        for frame in traceback.extract_tb(problem.__traceback__)
        if not is_ours(frame.filename)
    ]
    places = [
        (frame.filename, frame.lineno) for frame in frames if frame.filename == frames[0].filename
    ]
    if isinstance(problem, SyntaxError) and problem.filename:
        places.append((problem.filename, problem.lineno))
    return what + (f" ({places[-1][0]}, line {places[-1][1]})" if places else "")


class VectorPart(NamedTuple):
    """The length of a learner's vectors (0 for none), and the encoder that makes them."""

    size: int
    encoder: Encoder | None
    learned_with: str | None = None  # the name of the encoder whose vectors were learned
    digest: str | None = None  # of the weights of that encoder

    def apart(self, texts: Sequence[Document]) -> tuple[Any, Vectors | None]:
        """The texts without their vectors, and the vectors, if the learner takes them: given,
        or made.
        """
        given: Any = as_documents(texts)
        # isinstance of an abstract class takes a microsecond to say no
        has_vectors = type(given) is WithVectors
        if self.size == 0:
            if has_vectors or self.encoder is not None:
                raise InputError(
                    "the model was learned without vectors and can take none; train another with "
                    "them"
                )
            return given, None
        plain, vectors = (given.texts, given.vectors) if has_vectors else (given, None)
        if vectors is None:
            if not len(plain):
                return plain, np.zeros((0, self.size), dtype=np.float32)
            vectors = encoded(self.checked_encoder(), plain)
        if vectors.shape[1] != self.size:
            learned = f"the model was learned with vectors of {counted(self.size, 'numbers')}"
            raise InputError(f"{learned}, and these have {vectors.shape[1]}")
        return plain, vectors

    def checked_encoder(self) -> Callback:
        if self.encoder is None:
            by = f", made by the encoder {self.learned_with}" if self.learned_with else ""
            raise InputError(
                f"the model was learned with vectors of {counted(self.size, 'numbers')}{by}: give "
                "vectors beside the "
                "texts (--vectors or --vector-column), or the encoder (model.encoder = …, or "
                "--encoder of a server)"
            )
        if self.learned_with is not None and not is_called(self.encoder, self.learned_with):
            raise InputError(
                f"the model was learned with vectors of the encoder {self.learned_with}, not of "
                f"{name_of(self.encoder)}, and those of one mean nothing to the other"
            )
        return loaded(self.encoder, self.digest)

    def silent(self, names: Sequence[str]) -> Sequence[Any]:
        """Names that teach labels by their words; their meaning is in the first weights of the
        labels already.
        """
        return (
            names
            if self.size == 0
            else WithVectors(names, np.zeros((len(names), self.size), dtype=np.float32))
        )


def suited(
    learner: CategoryLearner, encoder: Encoder | None, texts: Sequence[Document]
) -> tuple[CategoryLearner, Sequence[Any]]:
    """A new learner, which takes vectors if the first texts have any, and these texts with their
    vectors.
    """
    documents = as_documents(texts)
    if encoder is not None and not isinstance(documents, WithVectors):
        to_encode = documents if len(documents) else [""]
        vectors = encoded(loaded(encoder), to_encode)[: len(documents)]
        documents = WithVectors(documents, vectors)
    n_columns = None
    if isinstance(documents, WithVectors):
        n_columns = documents.vectors.shape[1]
    if isinstance(learner, TakesVectors):
        return learner.with_vectors(n_columns), documents
    if n_columns is not None:
        raise InputError(
            "vectors need the learner TunedIndex, which is the default, not "
            f"{type(learner).__name__}"
        )
    return learner, documents


def check_vocabulary(vocabulary: object) -> None:
    """Refuse what is neither a vocabulary nor None."""
    if vocabulary is not None and not isinstance(vocabulary, LabelVocabulary):
        raise InputError(f"a vocabulary is a LabelVocabulary, not a {type(vocabulary).__name__}")


def vectors_of_names(
    vocabulary: LabelVocabulary | None, encoder: Encoder, labels: Sequence[Label]
) -> Vectors:
    """For each label the mean of the vectors of its names; zeros if it has none."""
    names = [names_of(vocabulary, label) for label in labels]
    found = encoded(encoder, [*chain.from_iterable(names)] or [""])
    means, end = np.zeros((len(labels), found.shape[1]), dtype=np.float32), 0
    for mean, own in zip(means, names, strict=True):
        begin, end = end, end + len(own)
        if own:
            mean[:] = found[begin:end].mean(axis=0)
    return means


def names_of(vocabulary: LabelVocabulary | None, label: Label) -> tuple[str, ...]:
    """The names of a label in the vocabulary; otherwise its own words, "card arrival" for
    card_arrival or CardArrival.

    Words have at least two letters and no digit; any other label, such as Q42, is a code.
    """
    concept = None if vocabulary is None else vocabulary.get(label)
    if concept is not None:
        return concept.name, *concept.synonyms
    if (
        not isinstance(label, str)
        or any(map(str.isdigit, label))
        or sum(map(str.isalpha, label)) < 2
    ):
        return ()
    return (" ".join(BETWEEN_WORDS.split(label)).strip(),)
