"""Models of texts that may have a vector beside their words: how texts become rows of both."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from shortlist.arrays.given_labels import LabelsLike
from shortlist.arrays.joined import beside
from shortlist.arrays.rows import Rows
from shortlist.categories.index.tuned_index import TunedIndex, beside_vector
from shortlist.categories.learner import CategoryLearner
from shortlist.errors import InputError, counted
from shortlist.files.store import State
from shortlist.models.deciding_texts import TextDecider
from shortlist.models.encoding import Encoder, encoded, is_called, name_of
from shortlist.text.vectorizer import TextVectorizer
from shortlist.texts.beside import Vectors, WithVectors
from shortlist.texts.fields import Document, as_documents

if TYPE_CHECKING:
    from typing_extensions import Self

Pair: TypeAlias = tuple[Sequence[Document], LabelsLike]


class VectorModel(TextDecider):
    """Base class: its texts may have vectors, given with them or made by ``encoder``."""

    encoder: Encoder | None
    text_: TextVectorizer
    encoder_name_: str | None = None  # of the encoder that made the vectors it was learned with, where one did

    @property
    def n_vector_(self) -> int:
        """How many numbers the vectors have that it was learned with; 0 where there were none."""
        return vector_of(self.learner_) if self.__sklearn_is_fitted__() else 0

    @abstractmethod
    def new_text(self) -> TextVectorizer: ...

    def _apart(self, texts: Sequence[Document], learner: CategoryLearner | None = None) -> tuple[Any, Vectors | None]:
        """The texts alone, and their vectors, if the learner has them; they are made if nobody gave any."""
        own = getattr(self, "learner_", None)
        given: Any = as_documents(texts)
        n = vector_of(own if learner is None else learner)
        has_vectors = type(given) is WithVectors  # isinstance of an abstract class takes a microsecond to say no
        if n == 0:
            if has_vectors or self.encoder is not None:
                raise InputError("the model was learned without vectors and can take none; train another with them")
            return given, None
        plain, vectors = (given.texts, given.vectors) if has_vectors else (given, None)
        if vectors is None:
            if not len(plain):
                return plain, np.zeros((0, n), dtype=np.float32)
            vectors = self._encoded(plain, n, self.encoder_name_ if learner in (None, own) else None)
        if vectors.shape[1] != n:
            raise InputError(
                f"the model was learned with vectors of {counted(n, 'numbers')}, and these have {vectors.shape[1]}"
            )
        return plain, vectors

    def vectors_of(self, texts: Sequence[Document]) -> Vectors | None:
        """The vectors of texts, as it would take them; refused where they do not fit. None if it has learned none."""
        return self._apart(texts)[1]

    def _encoded(self, texts: Sequence[Any], n: int, learned_with: str | None) -> Vectors:
        if self.encoder is None:
            by = f", made by the encoder {learned_with}" if learned_with else ""
            raise InputError(
                f"the model was learned with vectors of {counted(n, 'numbers')}{by}: give vectors beside the "
                f"texts (--vectors or "
                "--vector-column), or the encoder (model.encoder = …, or --encoder of a server)"
            )
        if learned_with is not None and not is_called(self.encoder, learned_with):
            raise InputError(
                f"the model was learned with vectors of the encoder {learned_with}, not of {name_of(self.encoder)}, "
                "and those of one mean nothing to the other"
            )
        return encoded(self.encoder, texts)

    def _meant_for(self, learner: CategoryLearner, texts: Sequence[Document]) -> tuple[CategoryLearner, Any]:
        """For the first texts of all: the learner, which takes vectors if these have any; and the texts with them."""
        given = as_documents(texts)
        if self.encoder is not None and not isinstance(given, WithVectors):
            given = WithVectors(given, encoded(self.encoder, given if len(given) else [""])[: len(given)])
        if not isinstance(given, WithVectors):
            return (learner.set_params(vector=None) if isinstance(learner, TunedIndex) else learner), given
        return beside_vector(learner, given.vectors.shape[1]), given

    def _parts_for(self, texts: Sequence[Document]) -> tuple[TextVectorizer, CategoryLearner, Sequence[Document]]:
        """The parts that go on learning: those there are, or new ones, which the model has once they learned."""
        if self.__sklearn_is_fitted__():
            self.check_can_learn()
            return self.text_, self.learner_, texts
        return self.new_text(), *self._meant_for(self.new_learner(), texts)

    def _parts_for_all(self, pairs: Iterable[Pair]) -> tuple[TextVectorizer, CategoryLearner, Iterable[Pair]]:
        """The same for batches of texts and labels, of which the first tell whether texts have vectors."""
        if self.__sklearn_is_fitted__():
            self.check_can_learn()
            return self.text_, self.learner_, pairs
        return self.new_text(), *self._first_meant(pairs)

    def _first_meant(self, pairs: Iterable[Pair]) -> tuple[CategoryLearner, Iterable[Pair]]:
        """A new learner for batches of texts and labels, which takes vectors if the first have any; and the batches."""
        rest, learner = iter(pairs), self.new_learner()
        for texts, Y in rest:
            learner, texts = self._meant_for(learner, texts)
            return learner, chain([(texts, Y)], rest)
        return learner, ()

    def _made_by(self, learner: CategoryLearner) -> dict[str, Any]:
        """Who has made the vectors of a learner that the model is about to have."""
        if learner is getattr(self, "learner_", None):
            return {}
        return {"encoder_name_": name_of(self.encoder) if self.encoder is not None else None}

    def _with_any(self, names: Sequence[str], learner: CategoryLearner) -> Sequence[Any]:
        """Names that teach labels. Nobody gives vectors for them: they have those of the encoder, or silent ones."""
        n = vector_of(learner)
        if n == 0 or self.encoder is not None:
            return names
        return WithVectors(names, np.zeros((len(names), n), dtype=np.float32))

    def _rows_of(self, texts: Sequence[Document]) -> Rows:
        plain, vectors = self._apart(texts)
        return beside(vectors, self.text_.rows(plain, self.learner_._jobs()))

    def copy(self) -> Self:
        copied = super().copy()
        copied.encoder = self.encoder
        return copied

    def describe(self) -> dict[str, Any]:
        facts = super().describe()
        if self.n_vector_:
            facts |= {"vector": self.n_vector_} | ({"encoder": self.encoder_name_} if self.encoder_name_ else {})
        return facts

    # Model files.

    def _vector_settings(self) -> dict[str, Any]:
        return {} if self.encoder_name_ is None else {"encoder": self.encoder_name_}

    def _take_vector_settings(self, state: State) -> None:
        name = state.settings.get("encoder")
        state.require(name is None or isinstance(name, str), "its encoder has a name")
        self.encoder_name_ = name


def vector_of(learner: CategoryLearner | None) -> int:
    """How many of the first columns of a learner are those of a vector."""
    return getattr(learner, "n_vector_", None) or getattr(learner, "vector", None) or 0  # those of a TunedIndex
