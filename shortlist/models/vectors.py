"""Vectors beside the words of texts: given with them, or made by an encoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from shortlist.categories.index.tuned_index import TunedIndex, beside_vector
from shortlist.categories.learner import CategoryLearner
from shortlist.concepts.vocabulary import LabelVocabulary
from shortlist.errors import InputError, counted
from shortlist.models.encoding import Callback, Encoder, encoded, is_called, loaded, name_of
from shortlist.texts.fields import Document, Vectors, WithVectors, as_documents


class VectorPart(NamedTuple):
    """How many numbers the vectors of a learner have, 0 where it has none; and who makes them."""

    size: int
    encoder: Encoder | None
    learned_with: str | None = None  # the name of the encoder that made those it was learned with
    digest: str | None = None  # of its weights, where they have one

    def apart(self, texts: Sequence[Document]) -> tuple[Any, Vectors | None]:
        """The texts alone, and their vectors, if the learner has them; they are made if nobody gave any."""
        given: Any = as_documents(texts)
        has_vectors = type(given) is WithVectors  # isinstance of an abstract class takes a microsecond to say no
        if self.size == 0:
            if has_vectors or self.encoder is not None:
                raise InputError("the model was learned without vectors and can take none; train another with them")
            return given, None
        plain, vectors = (given.texts, given.vectors) if has_vectors else (given, None)
        if vectors is None:
            if not len(plain):
                return plain, np.zeros((0, self.size), dtype=np.float32)
            vectors = encoded(self._checked_encoder(), plain)
        if vectors.shape[1] != self.size:
            raise InputError(
                f"the model was learned with vectors of {counted(self.size, 'numbers')}, and these have "
                f"{vectors.shape[1]}"
            )
        return plain, vectors

    def _checked_encoder(self) -> Callback:
        if self.encoder is None:
            by = f", made by the encoder {self.learned_with}" if self.learned_with else ""
            raise InputError(
                f"the model was learned with vectors of {counted(self.size, 'numbers')}{by}: give vectors beside the "
                "texts (--vectors or --vector-column), or the encoder (model.encoder = …, or --encoder of a server)"
            )
        if self.learned_with is not None and not is_called(self.encoder, self.learned_with):
            raise InputError(
                f"the model was learned with vectors of the encoder {self.learned_with}, not of "
                f"{name_of(self.encoder)}, and those of one mean nothing to the other"
            )
        return loaded(self.encoder, self.digest)

    def silent(self, names: Sequence[str]) -> Sequence[Any]:
        """Names that teach labels. Nobody gives vectors for them: the encoder makes them, or they are zero."""
        if self.size == 0 or self.encoder is not None:
            return names
        return WithVectors(names, np.zeros((len(names), self.size), dtype=np.float32))


def suited(
    learner: CategoryLearner, encoder: Encoder | None, texts: Sequence[Document]
) -> tuple[CategoryLearner, Sequence[Any]]:
    """For the first texts of all: the learner, which takes vectors if these have any; and the texts with them."""
    given = as_documents(texts)
    if encoder is not None and not isinstance(given, WithVectors):
        given = WithVectors(given, encoded(loaded(encoder), given if len(given) else [""])[: len(given)])
    if not isinstance(given, WithVectors):
        return (learner.set_params(vector=None) if isinstance(learner, TunedIndex) else learner), given
    return beside_vector(learner, given.vectors.shape[1]), given


def named_vectors(vocabulary: LabelVocabulary, encoder: Encoder) -> tuple[list[str], Vectors]:
    """The labels of a vocabulary, but deprecated ones, and of each the mean of the vectors of its names."""
    concepts = [one for one in vocabulary if not one.deprecated]
    names = [(one.name, *one.synonyms) for one in concepts]
    found = encoded(loaded(encoder), [name for own in names for name in own] or [""])
    ends = np.cumsum([len(own) for own in names])
    means = [part.mean(axis=0) for part in np.split(found, ends)[: len(concepts)]]
    return [one.label for one in concepts], np.array(means, dtype=np.float32).reshape(-1, found.shape[1])


def vector_of(learner: CategoryLearner | None) -> int:
    """How many of the first columns of a learner are those of a vector."""
    return getattr(learner, "n_vector_", None) or getattr(learner, "vector", None) or 0  # those of a TunedIndex
