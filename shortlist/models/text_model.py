"""A model that has learned from texts, as it is asked: it ranks, predicts and explains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, clone

from shortlist.arrays.given_labels import Label, LabelsLike
from shortlist.arrays.kernels import Floats
from shortlist.categories.answering import BIAS
from shortlist.concurrency.locks import reading
from shortlist.errors import InputError
from shortlist.inputs.examples import Examples
from shortlist.labels import numbered
from shortlist.models.auditing import Audit, Watch, audit
from shortlist.models.category_model import RankedLabels
from shortlist.models.encoding import with_vector, with_vectors
from shortlist.models.rules import Rules
from shortlist.models.saying import MORE, worth_naming
from shortlist.models.text_batches import texts_of
from shortlist.models.vector_model import VectorModel
from shortlist.ranking import Explanation, Ranking
from shortlist.texts.beside import WithVectors
from shortlist.texts.fields import Document, Fielded, as_documents, is_one

VECTOR = "(vector)"  # what an explanation calls the votes of a text's vector


class TextModel(ClassifierMixin, VectorModel):
    """Base class: answers about texts. How it learns is told in categorizer.py."""

    of_texts = True

    @reading
    def rank(
        self,
        text: Document | Sequence[Document],
        k: int = 5,
        rules: Rules | None = None,
        *,
        vector: ArrayLike | None = None,
        vectors: ArrayLike | None = None,
    ) -> Ranking:
        """The k best labels of a text, or of each of many texts; of those that the rules allow.

        Where it has learned with vectors, ``vector`` is that of one text, and ``vectors`` has a row for each of many.
        """
        self._check_fitted()
        if type(text) is str and vector is None and vectors is None:  # as most are
            return self._ranked(self._rows_of([text]), k, rules).alone()
        found = self._ranked(self._rows_of(with_vector(text, vector, vectors)), k, rules)
        return found.alone() if is_one(text) else found

    @reading
    def predict(self, texts: Sequence[Document], vectors: ArrayLike | None = None) -> NDArray[Any]:
        """The best label of each text; if all labels came as indicator matrices, such a matrix of what is assigned.

        Labels are assigned as by ``assign(texts, "f1")``. Before enough is known for that, each text gets as many of
        its best labels as an example has on average.
        """
        self._check_fitted()
        return self._predicted(self._rows_of(with_vectors(texts, vectors)))

    @reading
    def predict_proba(self, texts: Sequence[Document], vectors: ArrayLike | None = None) -> Floats:
        """How likely each label is, n × number of labels, dense: for scikit-learn's tools, and few labels.

        Columns are in the order of ``classes_``, which must be sorted: scikit-learn's measures trust in that. Where
        each text has one label, those of a text sum to 1 (class_probabilities.py); where labels came as an indicator
        matrix of several, each column is a probability of its own. ``rank(texts).probabilities`` has those of the best
        labels.
        """
        self._check_fitted()
        return self._class_probabilities(with_vectors(texts, vectors), len(texts))

    @reading
    def score(
        self,
        texts: Sequence[Document],
        Y: LabelsLike,
        sample_weight: ArrayLike | None = None,
        vectors: ArrayLike | None = None,
    ) -> float:
        """R1: the share of texts whose best label is one of theirs."""
        self._check_fitted()
        return self.learner_._score_rows(self._rows_of(with_vectors(texts, vectors)), Y, sample_weight)

    @reading
    def explain(self, text: Document, label: Label, *, vector: ArrayLike | None = None) -> Explanation:
        """The votes of the words of a text for a label, and that of its vector. They sum to the label's score."""
        self._check_fitted()
        found = self.learner_._explain_row(self._rows_of(with_vector(text, vector, None)), label)
        n_vector = self.n_vector_
        given = summed(found.votes, n_vector)
        # From here on the columns are those of the text; a label that votes has its name already.
        columns: list[Any] = [voter if isinstance(voter, str) else voter - n_vector for voter, _ in given]
        known = [column for column in columns if not isinstance(column, str) and column >= 0]
        names: dict[Any, str] = {BIAS - n_vector: "(any text)", -n_vector: VECTOR}
        names |= dict(zip(known, self.text_.names(known, text), strict=True))
        words = [names.get(column, column) for column in columns]
        votes: list[tuple[Label, float]] = [(word, vote) for word, (_, vote) in zip(words, given, strict=True)]
        spans = self.text_.spans(text)
        return Explanation(label, found.score, votes, [spans.get(column, []) for column in columns])

    def audit(
        self, texts: Sequence[Document], Y: LabelsLike, n: int = 100, random_state: int = 0, watch: Watch | None = None
    ) -> Audit:
        """Which of these examples a model with these settings contradicts: their labels may be wrong (auditing.py).

        What this model has learned has no say. ``n`` examples are named and explained, those that it contradicts most.
        ``watch`` is told how many of the parts are done, and how many there are.
        """
        documents = as_documents(texts)
        labels = numbered(Y, len(documents))

        def taught(which: list[int]) -> Any:
            return clone(self).fit([documents[i] for i in which], labels.take(which))

        return audit(documents, labels, taught, n, random_state, watch)

    def explain_example(self, examples: Examples, n: int = 0) -> Explanation:
        some = as_documents(texts_of(examples))[n : n + 1]
        return self._explain_best(some[0], some.vectors[0] if isinstance(some, WithVectors) else None)

    def explain_text(self, text: Document, label: str | None = None) -> Explanation:
        if label is None:
            return self._explain_best(text)
        return self.explain(text, next((name for name in self.classes_.tolist() if str(name) == label), label))

    def _explain_best(self, text: Document, vector: ArrayLike | None = None) -> Explanation:
        """Why the best label of a text is the best."""
        best = list(self.rank(text, 1, vector=vector))
        if not best:
            raise InputError("nothing is retrieved for this text: the model knows none of its words")
        return self.explain(text, best[0][0], vector=vector)

    def _has_known(self, texts: Sequence[Document]) -> NDArray[np.bool_]:
        given = as_documents(texts)
        if isinstance(given, WithVectors):  # which say something of a text, too
            return self._has_known(given.texts) | given.vectors.any(axis=1)
        if self.n_vector_:
            return np.ones(len(given), dtype=bool)
        if not isinstance(given, Fielded):
            return self.text_.has_known_word(given)
        more = np.array([bool(own) for own in given.features()])  # categories and numbers say something, too
        return self.text_.has_known_word(given.joined()) | more

    def _known_share(self, texts: Sequence[Document]) -> NDArray[np.float32]:
        given = as_documents(texts)
        if self.n_vector_ or isinstance(given, WithVectors):  # which say something of any text
            return np.ones(len(given), dtype=np.float32)
        return self.text_.known_share(given)

    def answer_text(self, text: Document, k: int = 5) -> RankedLabels:
        return RankedLabels(self.rank([text], k), None)

    @property
    def fields_(self) -> list[str] | None:
        return self.text_._settings.fields

    @property
    def fields_beside_(self) -> list[str]:
        return [] if self.fields_ is None else list(dict.fromkeys(field for field, _, _ in self.text_.values()))

    @property
    def n_name_bytes(self) -> int:
        return int(self.text_.vocabulary_.n_bytes)

    def feature_names(self, columns: Sequence[int]) -> list[str]:
        return self.text_.names([column - self.n_vector_ for column in columns])

    @reading
    def strongest(self, label: Label, n: int = 10) -> list[tuple[Any, float]]:
        """The n features that speak for a label the most, as a person would name them (saying.py); their weights."""
        self._check_index()
        found = self.learner_._strongest(label, n * MORE)
        names = self.feature_names([column for column, _, _ in found])
        kept = worth_naming(names, [says for _, _, says in found])[:n]
        return [(names[i], found[i][1]) for i in kept]

    def parameters(self) -> dict[str, Any]:
        return super().parameters() | {"text": self.text_.get_params()}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.classifier_tags.multi_label = True
        return tags


def summed(votes: Sequence[tuple[Any, float]], n_vector: int) -> list[tuple[Any, float]]:
    """Votes by column, heaviest first, with those of the first n_vector columns, a vector, as one, that of column 0."""
    of_vector = sorted((column, vote) for column, vote in votes if column in range(n_vector))
    others = [(column, vote) for column, vote in votes if column not in range(n_vector)]
    if not of_vector:
        return others
    return sorted([*others, (0, sum(vote for _, vote in of_vector))], key=lambda one: -abs(one[1]))
