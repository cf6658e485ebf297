"""The parts of a model of texts: text part, learner, vectors, policy and bound."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Self, TypeAlias

from shortlist.concurrency import (
    writing,
)
from shortlist.confidence.confidence import Confidence
from shortlist.data.label_input import Label, LabelsLike
from shortlist.data.labels import NumberedLabels, judged, numbered
from shortlist.data.texts import Document
from shortlist.estimators import clone
from shortlist.label_vocabulary import LabelVocabulary
from shortlist.learners.category_learner import CategoryLearner
from shortlist.learners.port import TakesVectors
from shortlist.learners.row_ranker import n_examples
from shortlist.models import encoding
from shortlist.models.category_model import CategoryModel
from shortlist.models.encoding import VectorPart, suited, vectors_of_names
from shortlist.models.memory import Bound
from shortlist.models.strikes import words_for_any_label
from shortlist.models.text_batches import (
    default_text,
)
from shortlist.text.vectorizer import TextVectorizer

TextsLike: TypeAlias = Sequence[Document]


class TextParts(CategoryModel[TextsLike]):
    """Base class of the Categorizer: what it is made of."""

    learner: CategoryLearner | str | None
    text: TextVectorizer | None
    max_memory: str | int | None
    encoder: encoding.Encoder | None
    text_: TextVectorizer
    encoder_name_: str | None = None  # of the encoder whose vectors were learned
    encoder_digest_: str | None = None  # of the weights of that encoder
    bound_: Bound | None = None

    def new_text(self) -> TextVectorizer:
        """A new text part, from the parameter."""
        text = default_text() if self.text is None else clone(self.text)
        text.strike(words_for_any_label(self.strikes_))
        return text

    def set_parts(
        self,
        text: TextVectorizer,
        learner: CategoryLearner,
        bound: Bound | None = None,
        confidence: Confidence | None = None,
    ) -> None:
        """Set the parts all at once, and forget what belonged to others."""
        bound = bound or self.bound_
        if bound is not None and bound.text is not text:
            bound = None
        learned: dict[str, Any] = {"text_": text, "learner_": learner, "bound_": bound}
        if getattr(self, "learner_", None) is learner:
            learned["noted_confidence_"] = confidence or self.noted_confidence_
        else:  # the encoder whose vectors the learner has learned
            name = None if self.encoder is None else encoding.name_of(self.encoder)
            learned["noted_confidence_"] = confidence
            learned["encoder_name_"] = name
            learned["encoder_digest_"] = encoding.digest_of(self.encoder)
        self.set_learned(**learned)

    def bound_of(self, text: TextVectorizer, learner: CategoryLearner) -> Bound | None:
        """The bound on the memory of these parts; the present one if nothing has changed."""
        if self.max_memory is None:
            return None
        bound = self.bound_
        is_present = bound is not None and bound.learner is learner
        if bound is not None and is_present and bound.given == self.max_memory:
            return bound
        return Bound(self.max_memory, text, learner, bound)

    def vector_part(self, learner: CategoryLearner | None = None) -> VectorPart:
        """The vectors of the texts of a learner: the present one, or a new one."""
        present = getattr(self, "learner_", None)
        learner = learner or present
        if learner is not present:
            return VectorPart(n_vector_columns(learner), self.encoder)
        return VectorPart(
            n_vector_columns(learner), self.encoder, self.encoder_name_, self.encoder_digest_
        )

    def check_policy(self, labels: NumberedLabels) -> None:
        """Refuse labels that the policy or the learner does not take."""
        self.policy_.check(labels)
        if labels.sets.partial.complete.size:
            learner = self.learner_ if self.__sklearn_is_fitted__() else self.new_learner()
            learner.check_judged(labels)

    @writing
    def check_labels(
        self,
        Y: LabelsLike,
        wrong: LabelsLike | None = None,
        complete: Sequence[bool | None] | None = None,
    ) -> None:
        """Refuse judgements that could not be learned: bad ones, or ones for which ``max_memory``
        has no room.
        """
        labels = judged(Y, n_examples(Y), wrong, complete)
        self.check_policy(labels)
        if not self.__sklearn_is_fitted__():
            return
        bound = self.bound_of(self.text_, self.learner_)
        if bound is not None:
            self.set_parts(self.text_, self.learner_, bound)
            bound.check_labels(labels)

    @writing
    def set_vocabulary(self, vocabulary: LabelVocabulary | None) -> Self:
        """Give the labels names, synonyms and broader labels; the policy of a vocabulary may refuse
        other labels.

        With an encoder, labels without examples begin with the vectors of their names: a model that
        has learned nothing ranks at once.
        """
        encoding.check_vocabulary(vocabulary)
        if vocabulary is not None and self.encoder is not None:
            self._begin_with_names(vocabulary, self.encoder)
        self.policy_ = self.policy_._replace(vocabulary=vocabulary)
        return self

    def _begin_with_names(self, vocabulary: LabelVocabulary, encoder: encoding.Encoder) -> None:
        labels = vocabulary.current()
        if self.__sklearn_is_fitted__():
            text = self.text_
            learner = self.learner_
            if not n_vector_columns(learner):
                return
            encoder = self.vector_part().checked_encoder()
        elif labels:
            text = self.new_text().fit([])
            learner, _ = suited(self.new_learner(), encoder, [])
            learner.expect_labels([[label] for label in labels])
        else:
            return
        bound = self.bound_of(text, learner)
        if bound is not None:
            bound.check_labels(numbered(labels, len(labels)))
        seed_labels(learner, labels, vocabulary, encoder)
        self.set_parts(text, learner)


def n_vector_columns(learner: Any) -> int:
    """How many of the first columns of a learner are those of a vector."""
    # asked for each text: to compare with TakesVectors takes a tenth of ranking one
    return getattr(learner, "n_vector_", 0) or getattr(learner, "vector", None) or 0


def seed_labels(
    learner: CategoryLearner,
    labels: Sequence[Label],
    vocabulary: LabelVocabulary | None,
    encoder: encoding.Encoder,
) -> None:
    """Let labels begin with the vectors of their names, if the learner takes vectors."""
    if isinstance(learner, TakesVectors):
        learner.seed_labels(labels, partial(vectors_of_names, vocabulary, encoder))
