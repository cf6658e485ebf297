"""Categorizer: labels of texts, learned one at a time or many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Never, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.compiled.kernels import Floats
from shortlist.concurrency import reading, snapshot, writing
from shortlist.data.batch import TextBatch
from shortlist.data.label_input import Label, LabelsLike
from shortlist.data.labels import numbered
from shortlist.data.ranking import Explanation, Ranking
from shortlist.data.rows import Rows
from shortlist.data.texts import Document, Vectors, WithVectors, as_documents, is_one, many
from shortlist.errors import InputError
from shortlist.estimators import clone
from shortlist.files.store import State
from shortlist.inputs.examples import Examples
from shortlist.learners.category_learner import CategoryLearner
from shortlist.models import encoding
from shortlist.models.answers import Assigned, RankedLabels
from shortlist.models.auditing import Audit, Watch, audit, shown
from shortlist.models.categorizer_files import categorizer_of_state, state_of_categorizer
from shortlist.models.elsewhere import ELSEWHERE, refuse_elsewhere
from shortlist.models.explanations import CANDIDATES_A_NAME, in_words, worth_naming
from shortlist.models.grouping import TextGroup, groups_of
from shortlist.models.label_changes import ChangesLabels
from shortlist.models.model_search import search
from shortlist.models.rules import Rules
from shortlist.models.strikes import StruckVotes, struck_words
from shortlist.models.striking import DECIDED_AT, StrikesWords, taken
from shortlist.models.text_batches import texts_of
from shortlist.models.text_features import TextFeatures
from shortlist.models.text_learning import TextLearner
from shortlist.models.text_parts import n_vector_columns
from shortlist.text.vectorizer import TextVectorizer


class Categorizer(ChangesLabels, StrikesWords, TextLearner):
    """Learns from labelled texts, one at a time or many, and ranks the labels of new ones.

    Several threads may rank at a time; while one learns, the others wait. A ``fit`` that fails, or
    is stopped with Ctrl-C, leaves the model as it was; other learning that is stopped has learned
    the first ``learner_.n_examples_`` texts.

    Parameters
    ----------
    learner : CategoryLearner or str, default=None
        Any learner of categories, or the short name of one, such as "mmp"; ``TunedIndex()`` if
        None.
    text : TextVectorizer, default=None
        How texts become features; if None ``TextVectorizer(composed=True, tf="log", idf="smooth")``
        with "auto" for ngrams, min_length, prefix, characters and character_weight.
    max_memory : str or int, default=None
        A bound on the memory that the model takes, "2GB" or a number of bytes; None for none. When
        it is reached, the rarest words and the weakest edges are forgotten, and learning goes on
        (memory.py).
    encoder : str or callable, default=None
        Makes vectors of texts, which are learned beside the words: the name of an encoder whose
        weights are installed, such as "all-MiniLM-L6-v2", or the folder of one (encoders/); or a
        callable from a list of texts to a matrix with a row for each. ``fit`` also encodes labels
        that are words, such as card_arrival; with a vocabulary the model ranks before any example
        (``set_vocabulary``).
    **elsewhere
        None: n_jobs, random_state and class_weight are refused, and the error says where they are.

    Attributes
    ----------
    learner_ : CategoryLearner
        The learner, once something was learned.
    text_ : TextVectorizer
        The text part, once something was learned.
    classes_ : ndarray
        All labels: sorted by ``fit``, then in order of first appearance.
    forgotten_ : dict
        How many words and edges were forgotten to keep within ``max_memory``.
    search_ : dict or None
        The trials of ``tuned``, and its choice.

    References
    ----------
    Madani, Connor and Greiner, "Learning when concepts abound", JMLR 10, 2009 (paper 004), for the
    usual learner.

    Examples
    --------
    >>> from shortlist import Categorizer
    >>> model = Categorizer().learn("wheat exports rose", ["grain", "trade"])
    >>> model = model.learn("the bank raised its rates", "money")
    >>> model.rank("corn and wheat shipments fell", k=1).labels.tolist()
    ['grain']
    >>> [word for word, vote in model.explain("wheat shipments fell", "grain") if vote > 0]
    ['wheat', 'wheat*', '(any text)']
    """

    takes_texts = True
    part_names = ("learner", "text")

    def __init__(
        self,
        learner: CategoryLearner | str | None = None,
        text: TextVectorizer | None = None,
        max_memory: str | int | None = None,
        encoder: encoding.Encoder | None = None,
        **elsewhere: Never,
    ) -> None:
        refuse_elsewhere(elsewhere)
        self.learner = learner
        self.text = text
        self.max_memory = max_memory
        self.encoder = encoder

    def set_params(self, **params: Any) -> Self:
        refuse_elsewhere(ELSEWHERE.keys() & params.keys())
        return super().set_params(**params)

    training_columns_: dict[str, Any] | None = None  # the names of those of the training file
    search_: dict[str, Any] | None = None

    @classmethod
    def tuned(
        cls,
        texts: Sequence[Document],
        Y: LabelsLike,
        *,
        vectors: ArrayLike | None = None,
        seconds: float = 600.0,
        max_memory: str | int | None = None,
        random_state: int = 0,
    ) -> Self:
        """A Categorizer that has learned these texts with the best of a list of learners and
        features (model_search.py).

        Another choice than the default is better by more than chance on held-out texts.
        ``vectors``: one for each text.
        """
        texts = encoding.with_vectors(
            texts if isinstance(texts, WithVectors) else list(as_documents(texts)), vectors
        )
        labels: Any = numbered(Y, len(texts))  # labels need not be text
        examples = Examples(texts=texts, labels=labels)
        result = search(
            cls(max_memory=max_memory), examples, seconds=seconds, random_state=random_state
        )
        assert isinstance(result.model, cls)
        return result.model

    # Features.

    def _features(self) -> TextFeatures:
        return TextFeatures(self.text_, self.vector_part())

    def inputs_of(self, examples: Examples) -> Sequence[Document]:
        return as_documents(texts_of(examples))

    def rows_of(self, inputs: Sequence[Document]) -> Rows:
        return self._features().rows(inputs, self.learner_.n_threads())

    def struck_in(self, inputs: Sequence[Document]) -> StruckVotes | None:
        strikes = [strike for strike in self.strikes_ if strike.label is not None]
        if not strikes:
            return None
        return StruckVotes.of(self.learner_, self._features(), inputs, strikes)

    def has_known_features(self, inputs: Sequence[Document]) -> NDArray[np.bool_]:
        return self._features().has_known(inputs)

    def known_shares(self, inputs: Sequence[Document]) -> NDArray[np.float32]:
        return self._features().known_shares(inputs)

    def feature_names(self, columns: Sequence[int]) -> list[str]:
        return self._features().names(columns)

    @property
    def n_vector_(self) -> int:
        """The length of the vectors that were learned; 0 if none were."""
        return n_vector_columns(self.learner_) if self.__sklearn_is_fitted__() else 0

    def vectors_of_texts(self, texts: Sequence[Document]) -> Vectors | None:
        """The vectors of texts, checked; None if the model has learned without vectors."""
        return self.vector_part().apart(texts)[1]

    # Answering.

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
        """The k best labels of a text, or of each of many texts, among those that the rules allow.

        If the model has learned vectors, ``vector`` is that of one text, and ``vectors`` has a row
        for each of many.
        """
        self.check_fitted()
        if type(text) is str and vector is None and vectors is None:  # the usual case
            struck = self.struck_in([text])
            return cast("Ranking", self.rank_under_rules(self.rows_of([text]), k, rules, struck)[0])
        texts = encoding.with_vector(text, vector, vectors)
        ranking = self.rank_under_rules(self.rows_of(texts), k, rules, self.struck_in(texts))
        return cast("Ranking", ranking[0]) if is_one(text) else ranking

    def shortlist(  # type: ignore[override]
        self,
        texts: Document | Sequence[Document],
        coverage: float = 0.95,
        *,
        vectors: ArrayLike | None = None,
    ) -> Ranking | list[Ranking]:
        """For each text the shortest list of labels that keeps a promise; one list for one text.

        For a share of ``coverage`` of all texts, lists contain all true labels. None is longer than
        100 labels; a warning tells if that is too short for the promise. Until enough examples have
        been learned, nothing is promised and lists contain all labels.
        """
        answers = super().shortlist(encoding.with_vectors(many(texts), vectors), coverage)
        return answers[0] if is_one(texts) else answers

    def assign(
        self,
        texts: Document | Sequence[Document],
        *,
        precision: float | None = None,
        vectors: ArrayLike | None = None,
    ) -> Assigned | list[Assigned]:
        """For each text its labels, or none and a ``reason`` if no label is certain enough.

        Labels are chosen for the largest F1 over all labels together, or so that a share of
        ``precision`` of them is right. If each learned text has one label, none gets more.
        """
        answers = super().assign(encoding.with_vectors(many(texts), vectors), precision=precision)
        return answers[0] if is_one(texts) else answers

    def predict(self, texts: Sequence[Document], vectors: ArrayLike | None = None) -> NDArray[Any]:
        """The best label of each text; if all labels came as indicator matrices, such a matrix of
        assigned labels.

        Labels are assigned as by ``assign(texts)``. Until enough examples have been learned for
        that, each text gets as many of its best labels as an example has on average.
        """
        return super().predict(encoding.with_vectors(texts, vectors))

    def predict_proba(self, texts: Sequence[Document], vectors: ArrayLike | None = None) -> Floats:
        """The probability of each label, n × number of labels, dense: for scikit-learn's tools, and
        few labels.

        Columns are in the order of ``classes_``, which must be sorted: scikit-learn's measures rely
        on it. If each text has one label, the probabilities of a text sum to 1; if labels came as
        an indicator matrix of several, each column is a probability of its own.
        ``rank(texts).probabilities`` has those of the best labels.
        """
        return super().predict_proba(encoding.with_vectors(texts, vectors))

    def decision_function(
        self, texts: Sequence[Document], vectors: ArrayLike | None = None
    ) -> Floats:
        """The score of each label, n × number of labels, dense: for scikit-learn's tools, and few
        labels. A label that is not retrieved has 0.

        Columns are in the order of ``classes_``, or of the indicator matrix in which labels came.
        With two labels of which each text has one, the score of the second less that of the first.
        """
        return super().decision_function(encoding.with_vectors(texts, vectors))

    def score(
        self,
        texts: Sequence[Document],
        Y: LabelsLike,
        sample_weight: ArrayLike | None = None,
        vectors: ArrayLike | None = None,
    ) -> float:
        """R1: the share of texts whose best label is one of theirs."""
        return super().score(encoding.with_vectors(texts, vectors), Y, sample_weight)

    def answer_text(self, text: Document, k: int = 5) -> RankedLabels:
        return RankedLabels(self.rank([text], k), None)

    # Looking inside.

    @reading
    def explain(
        self, text: Document, label: Label, *, vector: ArrayLike | None = None
    ) -> Explanation:
        """The votes of the words of a text, and of its vector, for a label. They sum to the label's
        score.
        """
        self.check_fitted()
        texts = encoding.one_with_vector(text, vector)
        rows = self.rows_of(texts)
        struck = self.struck_in(texts)
        if struck is None:
            explanation = self.learner_.explain_row(rows, label)
        else:
            explanation = struck.explained(rows, label)
        explanation = in_words(explanation, self.n_vector_, self.text_, text)
        if vector is None and self.n_vector_:
            n_read = self.vector_part().characters_cut_at("\n".join(explanation.texts))
            explanation = replace(explanation, encoded=n_read)
        if not self.strikes_:
            return explanation
        return replace(explanation, struck=struck_words(self.strikes_, label, text, self.text_))

    def explain_text(self, text: Document, label: str | None = None) -> Explanation:
        if label is not None:
            named = (known for known in self.classes_.tolist() if str(known) == label)
            return self.explain(text, next(named, label))
        best = list(self.rank(text, 1))
        if not best:
            raise InputError(
                "nothing is retrieved for this text: the model knows none of its words"
            )
        return self.explain(text, best[0][0])

    def audit(
        self,
        texts: Sequence[Document],
        Y: LabelsLike,
        n: int = 100,
        random_state: int = 0,
        watch: Watch = lambda done, parts: None,
        numbers: Sequence[int] | None = None,
    ) -> Audit:
        """The examples that models with these settings contradict: their labels may be wrong
        (auditing.py).

        The models learn other parts of these examples; what this model has learned is not used. The
        ``n`` examples with the largest contradictions are explained. ``watch`` is called with the
        numbers of finished parts and of parts; ``numbers`` are those of the examples, from 0 by
        default.
        """
        batch = TextBatch.of(texts, Y)
        documents = batch.texts
        labels = batch.labels

        def train(which: list[int]) -> Any:
            return clone(self).fit([documents[i] for i in which], labels.take(which))

        return audit(documents, labels, train, n, random_state, watch, numbers)

    @reading
    def group_unnamed(
        self,
        texts: Sequence[Document],
        *,
        precision: float = DECIDED_AT,
        none_of_these: Sequence[int] = (),
        vectors: ArrayLike | None = None,
    ) -> list[TextGroup]:
        """Groups of texts that may share a label that nobody has named, those with most that is
        new first (grouping.py).

        They are found among the texts that the model does not decide at a precision.
        ``none_of_these`` are the numbers of texts that people judged to have none of the labels;
        they are grouped, too.
        """
        self.check_fitted()
        documents = encoding.with_vectors(as_documents(texts), vectors)
        if self.n_vector_ and not isinstance(documents, WithVectors):
            made: Any = self.vectors_of_texts(documents)
            documents = WithVectors(documents, made)  # encoded once
        judged = set(none_of_these)
        others = [number for number in range(len(documents)) if number not in judged]
        is_decided = set()
        if others:
            answers: Any = self.assign(taken(documents, others), precision=precision)
            is_decided = {number for number, labels in zip(others, answers, strict=True) if labels}
        numbers = [number for number in range(len(documents)) if number not in is_decided]
        undecided = taken(documents, numbers)
        plain = undecided
        of_texts = None
        if isinstance(undecided, WithVectors):
            plain = undecided.texts
            of_texts = undecided.vectors
        groups = groups_of(list(map(shown, plain)), self.text_, self.strikes_, of_texts)
        return [
            replace(group, numbers=[numbers[place] for place in group.numbers]) for group in groups
        ]

    @reading
    def strongest(self, label: Label, n: int = 10) -> list[tuple[Any, float]]:
        """The n strongest features of a label, as a person would name them (explanations.py), and
        their weights.
        """
        self.check_index()
        learner: Any = self.learner_
        votes = learner.strongest_votes(label, n * CANDIDATES_A_NAME)
        names = self.feature_names([column for column, _, _ in votes])
        strengths = [strength for _, _, strength in votes]
        return [(names[i], votes[i][1]) for i in worth_naming(names, strengths)[:n]]

    @property
    def forgotten_(self) -> dict[str, int]:
        """How many words and edges were forgotten to keep within ``max_memory``, since fit or since
        opening.
        """
        n_words = 0 if self.bound_ is None else self.bound_.words_forgotten
        return {"words": n_words, "edges": getattr(self.learner_, "edges_dropped_", 0)}

    def describe(self) -> dict[str, Any]:
        facts = super().describe()
        if self.n_vector_:
            facts["vector"] = self.n_vector_
            if self.encoder_name_:
                facts["encoder"] = self.encoder_name_
        return facts

    def copy(self) -> Self:
        copied = super().copy()
        copied.encoder = self.encoder
        return copied

    def part_parameters(self) -> dict[str, Any]:
        return super().part_parameters() | {"text": self.text_.get_params()}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.classifier_tags.multi_label = True
        return tags

    @writing
    def set_rules(self, rules: Rules | None) -> Self:
        """Set the rules for all rankings; None for none."""
        self.policy_ = self.policy_._replace(rules=rules or None)
        if self.rules_ and self.__sklearn_is_fitted__():
            self.labels_allowed([self.rules_])  # compute now, not with the first ranking
        return self

    # Model files.

    @snapshot
    def to_state(self) -> State:
        return state_of_categorizer(self)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The model of a state that ``to_state`` gave, checked."""
        return categorizer_of_state(cls, state)
