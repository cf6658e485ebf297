"""Vectors beside texts: from the user, or made by an encoder.

An encoder is the name of one that encoders/ can open, or any callable from a list of texts to a
matrix with a row for each. A model file holds its name and its digest, never the encoder itself,
the address of an endpoint or a key.
"""

from __future__ import annotations

import importlib
import re
import traceback
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

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

if TYPE_CHECKING:
    from shortlist.encoders import Encoder as LoadedEncoder

Callback = Callable[[list[str]], ArrayLike]
Encoder = Callback | str
TEXTS_ENCODED_AT_ONCE = 1024  # that an encoder takes
PACKAGE = Path(__file__).parent.parent
MOST_LETTERS_OF_ERROR = 300  # of another program's message
BETWEEN_WORDS = re.compile(r"[\W_]+|(?<=[a-zß-ÿ])(?=[A-ZÀ-Þ])")


def with_vectors(texts: Sequence[Document], vectors: ArrayLike | None) -> Sequence[Any]:
    """The texts, with their vectors if there are any."""
    documents = as_documents(texts)
    if vectors is None:
        return documents
    return WithVectors(documents, as_vectors(vectors, len(documents)))


def one_with_vector(text: Document, vector: ArrayLike | None) -> Sequence[Any]:
    """A list of one text, with its vector if it has one."""
    if vector is None:
        return with_vectors([text], None)
    alone: Any = vector[np.newaxis] if type(vector) is np.ndarray else [vector]
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
    """The callable of an encoder; one with a name is loaded once. It is checked if a digest is
    given.
    """
    if isinstance(encoder, str):
        return _loaded(encoder, digest)
    if digest is not None and has_digest(encoder):
        from shortlist.encoders import check_same  # slow import

        check_same(encoder, digest)
    return encoder


@cache
def _loaded(name: str, digest: str | None) -> Callback:
    from shortlist.encoders import load_encoder, load_same  # slow imports

    return load_encoder(name) if digest is None else load_same(name, digest)


def has_digest(encoder: object) -> TypeGuard[LoadedEncoder]:
    """Whether a callable is an encoder of encoders/."""
    return isinstance(getattr(encoder, "digest", None), str)


def asks_endpoint(encoder: Encoder | None) -> bool:
    """Whether an endpoint makes the vectors, for which a caller may have to wait."""
    return encoder is not None and name_of(encoder).startswith("endpoint:")


def name_of(encoder: Encoder) -> str:
    """The name of an encoder in a model file."""
    if isinstance(encoder, str):
        from shortlist.encoders.endpoint import is_endpoint, name_of_endpoint

        return name_of_endpoint(encoder) if is_endpoint(encoder) else encoder
    if has_digest(encoder):
        return encoder.name
    if isinstance(encoder, partial):
        return name_of(encoder.func)
    has_name = hasattr(encoder, "__qualname__")
    function: Any = encoder if has_name else type(encoder)
    return f"{function.__module__}.{function.__qualname__}".removeprefix("__main__.")


def facts_of_encoder(encoder: Encoder | None) -> dict[str, str]:
    """Where an encoder that a model names would run, or why it cannot; endpoints are not asked."""
    if encoder is None:
        return {}
    if asks_endpoint(encoder):
        return {"encoder": name_of(encoder), "encoder_device": "at an endpoint"}
    try:
        device = getattr(loaded(encoder), "device", "processor")
    except InputError as problem:
        return {"encoder": name_of(encoder), "encoder_device": f"missing: {problem}"}
    return {"encoder": name_of(encoder), "encoder_device": f"on the {device}"}


def is_called(encoder: Encoder, name: str) -> bool:
    """Whether this is the name of an encoder; the program that trained the model may have named
    no module.
    """
    present = name_of(encoder)
    return present == name or present.endswith(f".{name}") or name.endswith(f".{present}")


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
    encode = loaded(encoder)
    what = f"what the encoder {name_of(encoder)} made of the texts"
    parts: list[Vectors] = []
    for first in range(0, len(plain), TEXTS_ENCODED_AT_ONCE):
        some = plain[first : first + TEXTS_ENCODED_AT_ONCE]
        parts.append(as_vectors(encode(some), len(some), what))
        if parts[-1].shape[1] != parts[0].shape[1]:
            raise InputError(
                f"the encoder {name_of(encoder)} has made vectors of different lengths"
            )
    return np.concatenate(parts)


def failure(problem: BaseException) -> str:
    """An error in a user's code, and where: the last line of the first file that is not of
    shortlist.
    """

    def is_outside(file: str) -> bool:
        is_import = file.startswith("<frozen importlib") or file == importlib.__file__
        return not is_import and not Path(file).is_relative_to(PACKAGE)

    message = str(problem)
    if isinstance(problem, SyntaxError):
        message = problem.msg
    message = " ".join(message.split())
    what = type(problem).__name__
    if message:
        what += f": {message[:MOST_LETTERS_OF_ERROR]}"
    if isinstance(problem, SyntaxError) and problem.filename:
        return f"{what} ({problem.filename}, line {problem.lineno})"
    frames = [
        frame for frame in traceback.extract_tb(problem.__traceback__) if is_outside(frame.filename)
    ]
    lines = [frame.lineno for frame in frames if frame.filename == frames[0].filename]
    return f"{what} ({frames[0].filename}, line {lines[-1]})" if lines else what


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
        documents: Any = as_documents(texts)
        # isinstance of an abstract class takes a microsecond to say no
        has_vectors = type(documents) is WithVectors
        if self.size == 0:
            if has_vectors or self.encoder is not None:
                raise InputError(
                    "the model was learned without vectors and can take none; train another with "
                    "them"
                )
            return documents, None
        if has_vectors:
            plain = documents.texts
            vectors = documents.vectors
        else:
            plain = documents
            vectors = self._encoded(plain)
        if vectors.shape[1] != self.size:
            learned = f"the model was learned with vectors of {counted(self.size, 'numbers')}"
            raise InputError(f"{learned}, and these have {vectors.shape[1]}")
        return plain, vectors

    def _encoded(self, texts: Sequence[Any]) -> Vectors:
        if not len(texts):
            return np.zeros((0, self.size), dtype=np.float32)
        return encoded(self.checked_encoder(), texts)

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

    def characters_cut_at(self, text: str) -> int | None:
        """From which character on the encoder cuts a text off; None if it reads all of it, or if
        that is not known.
        """
        if self.size == 0 or self.encoder is None:
            return None
        encoder: Any = self.checked_encoder()
        if not hasattr(encoder, "characters_read"):
            return None
        n_read: int = encoder.characters_read(text)
        return n_read if n_read < len(text) else None

    def silent(self, names: Sequence[str]) -> Sequence[Any]:
        """Names that teach labels by their words; their meaning is in the first weights of the
        labels already.
        """
        if self.size == 0:
            return names
        return WithVectors(names, np.zeros((len(names), self.size), dtype=np.float32))


def suited(
    learner: CategoryLearner, encoder: Encoder | None, texts: Sequence[Document]
) -> tuple[CategoryLearner, Sequence[Any]]:
    """A new learner, which takes vectors if the first texts have any, and these texts with their
    vectors.
    """
    documents = as_documents(texts)
    if encoder is not None and not isinstance(documents, WithVectors):
        # an empty text shows how long vectors are
        to_encode = documents if len(documents) else [""]
        vectors = encoded(encoder, to_encode)
        documents = WithVectors(documents, vectors[: len(documents)])
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
    vectors = encoded(encoder, [*chain.from_iterable(names)] or [""])
    means = np.zeros((len(labels), vectors.shape[1]), dtype=np.float32)
    begin = 0
    for mean, names_of_label in zip(means, names, strict=True):
        end = begin + len(names_of_label)
        if names_of_label:
            mean[:] = vectors[begin:end].mean(axis=0)
        begin = end
    return means


def names_of(vocabulary: LabelVocabulary | None, label: Label) -> tuple[str, ...]:
    """The names of a label in the vocabulary; otherwise its own words, "card arrival" for
    card_arrival or CardArrival.

    Words have at least two letters and no digit; any other label, such as Q42, is a code.
    """
    concept = None if vocabulary is None else vocabulary.get(label)
    if concept is not None:
        return concept.name, *concept.synonyms
    if not isinstance(label, str):
        return ()
    has_digit = any(map(str.isdigit, label))
    if has_digit or sum(map(str.isalpha, label)) < 2:
        return ()
    return (" ".join(BETWEEN_WORDS.split(label)).strip(),)
