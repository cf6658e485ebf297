"""Categorizer: a text part, a learner of categories and its confidence in one object."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any, Self, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.compiled.kernels import Floats
from shortlist.concurrency import (
    learning,
    nothing_if_refused,
    prefetch,
    reading,
    snapshot,
    stop_here,
    writing,
)
from shortlist.confidence.confidence import Confidence
from shortlist.confidence.observers import FirstPass, Stream
from shortlist.data.label_input import Label, LabelsLike, class_list, shown
from shortlist.data.labels import NumberedLabels, judged, numbered
from shortlist.data.ranking import Explanation, Ranking
from shortlist.data.rows import Rows, beside
from shortlist.data.texts import (
    Document,
    Fielded,
    Vectors,
    WithVectors,
    as_documents,
    blocks,
    is_one,
    many,
)
from shortlist.errors import InputError
from shortlist.estimators import clone
from shortlist.files.store import State, build, build_all
from shortlist.inputs.examples import Examples
from shortlist.label_vocabulary import LabelVocabulary
from shortlist.learners.category_learner import CategoryLearner, n_examples
from shortlist.learners.index.tuned_index import TunedIndex
from shortlist.models import encoding
from shortlist.models.auditing import Audit, Watch, audit
from shortlist.models.category_model import Assigned, CategoryModel, RankedLabels
from shortlist.models.encoding import VectorPart, suited, vectors_of_names
from shortlist.models.label_changes import Change, Labelled
from shortlist.models.memory import Bound
from shortlist.models.model_search import search
from shortlist.models.rules import Rules
from shortlist.models.text_batches import (
    MORE,
    Batch,
    LabelBatches,
    behind,
    default_text,
    in_words,
    texts_and_labels,
    texts_of,
    worth_naming,
)
from shortlist.text.vectorizer import TextVectorizer

Pair: TypeAlias = tuple[Sequence[Document], LabelsLike]


class Categorizer(CategoryModel[Sequence[Document]]):
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
    _parts = ("learner", "text")

    def __init__(
        self,
        learner: CategoryLearner | str | None = None,
        text: TextVectorizer | None = None,
        max_memory: str | int | None = None,
        encoder: encoding.Encoder | None = None,
    ) -> None:
        self.learner = learner
        self.text = text
        self.max_memory = max_memory
        self.encoder = encoder

    text_: TextVectorizer
    encoder_name_: str | None = None  # of the encoder whose vectors were learned
    _encoder_digest: str | None = None  # of the weights of that encoder
    # the names of the columns of the training file, if given
    training_columns_: dict[str, Any] | None = None
    search_: dict[str, Any] | None = None
    _bound_now: Bound | None = None

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
        features (search.py).

        Another choice than the default is better by more than chance on held-out texts.
        ``vectors``: one for each text.
        """
        texts = encoding.with_vectors(
            texts if isinstance(texts, WithVectors) else list(as_documents(texts)), vectors
        )
        labels: Any = numbered(Y, len(texts))  # labels need not be text
        examples = Examples(texts=texts, labels=labels)
        found = search(
            cls(max_memory=max_memory), examples, seconds=seconds, random_state=random_state
        )
        assert isinstance(found.model, cls)
        return found.model

    # Learning.

    def learn(
        self,
        text: Document,
        labels: Label | Collection[Label],
        wrong: Collection[Label] = (),
        complete: bool | None = None,
        *,
        vector: ArrayLike | None = None,
    ) -> Self:
        """Learn one text with its label or list of labels. New words and labels may come at any
        time.

        A text may have several fields, ``{"title": …, "body": …, "author": ["Smith"], "price":
        12.5}`` (texts.py), and a vector; then all texts must have one. Labels given as ``wrong``
        are corrected down, and labels that are neither right nor wrong are left alone, unless
        ``complete`` is true. Without ``wrong``, all other labels count as wrong.
        """
        Y: LabelsLike = [labels]
        if len(wrong) or complete is not None:
            Y = judged(Y, 1, [wrong] if len(wrong) else None, complete)
        return self.partial_fit(
            [text] if vector is None else encoding.one_with_vector(text, vector), Y
        )

    def learn_many(
        self,
        texts: Sequence[Document],
        Y: LabelsLike,
        wrong: LabelsLike | None = None,
        complete: bool | Sequence[bool | None] | None = None,
        *,
        vectors: ArrayLike | None = None,
    ) -> Self:
        """Learn more texts in the order given; ``vectors`` has a row for each.

        ``wrong`` and ``complete`` are as in ``learn``, for each text; ``complete`` may be one value
        for all.
        """
        if wrong is not None or complete is not None:
            Y = judged(Y, len(texts := as_documents(texts)), wrong, complete)
        return self.partial_fit(texts, Y, vectors=vectors)

    @learning
    def partial_fit(
        self,
        texts: Sequence[Document],
        Y: LabelsLike,
        classes: Iterable[Label] | None = None,
        vectors: ArrayLike | None = None,
    ) -> Self:
        """``learn_many`` under scikit-learn's name. ``classes`` names labels that need not
        occur in Y.
        """
        texts = as_documents(texts) if vectors is None else encoding.with_vectors(texts, vectors)
        Y = self._checked(texts, Y)
        named = [] if classes is None else class_list(classes)
        if self.__sklearn_is_fitted__():
            self.check_can_learn()
            text, learner = self.text_, self.learner_
        else:  # new parts, which take vectors if these texts have any
            text, (learner, texts) = (
                self.new_text(),
                suited(self.new_learner(), self.encoder, texts),
            )
        bound = self._bound(text, learner)
        if bound is not None:
            bound.check_labels(Y)
            bound.check_labels(numbered(named, len(named)))
        if named:
            if self.encoder is None or not learner.__sklearn_is_fitted__() or learner.n_examples_:
                learner.expect_labels(named)
            if (
                self.encoder is not None
                and isinstance(learner, TunedIndex)
                and not learner.n_examples_
            ):
                names = [*chain.from_iterable(named)]
                learner.name_labels(
                    names, partial(vectors_of_names, self.vocabulary_, self.encoder)
                )
        with nothing_if_refused(self):
            if bound is not None:
                self._have_parts(text, learner, bound)
            parts = (
                [(texts, Y)]
                if bound is None
                else ((texts[block], Y[block]) for block in blocks(texts))
            )
            for part_texts, part_labels in parts:
                plain, own_vectors = self._apart(part_texts, learner)
                before = getattr(learner, "n_examples_", 0)
                taken = text.take(
                    plain, recurring=part_labels.sets.recurring, n_jobs=learner.n_threads()
                )
                try:
                    self._learn(
                        text, learner, beside(own_vectors, text.weighted(taken.rows)), part_labels
                    )
                except (
                    BaseException
                ):  # the text part forgets the words of texts that were not learned
                    text.give_back(taken, getattr(learner, "n_examples_", 0) - before)
                    raise
                if bound is not None:
                    bound.keep()
                    stop_here()
        return self

    def _learn(
        self, text: TextVectorizer, learner: CategoryLearner, rows: Rows, labels: NumberedLabels
    ) -> None:
        """Learn texts, or as many of them as are learned before an interruption."""
        fitted = self.__sklearn_is_fitted__()
        goes_on = fitted and self.learner_ is learner
        confidence = (self._known_confidence if goes_on else None) or Confidence()
        if goes_on:
            self._known_confidence = confidence
        try:
            learner.learn_rows(rows, labels, Stream(confidence))
        finally:
            if not fitted and learner.__sklearn_is_fitted__():
                self._have_parts(text, learner, confidence=confidence)

    def new_text(self) -> TextVectorizer:
        return default_text() if self.text is None else clone(self.text)

    def _have_parts(
        self,
        text: TextVectorizer,
        learner: CategoryLearner,
        bound: Bound | None = None,
        confidence: Confidence | None = None,
    ) -> None:
        bound = bound or self._bound_now
        same = getattr(self, "learner_", None) is learner
        confidence = confidence or (self._known_confidence if same else None)
        bound = bound if bound and bound.text is text else None
        maker = {}
        if not same:  # the encoder whose vectors the learner has learned
            name = None if self.encoder is None else encoding.name_of(self.encoder)
            maker = {"encoder_name_": name, "_encoder_digest": encoding.digest_of(self.encoder)}
        self.set_learned(
            text_=text, learner_=learner, _bound_now=bound, _known_confidence=confidence, **maker
        )

    @writing
    def check_labels(
        self,
        Y: LabelsLike,
        wrong: LabelsLike | None = None,
        complete: Sequence[bool | None] | None = None,
    ) -> None:
        """Refuse judgements that could not be learned: bad ones, or ones for which
        ``max_memory`` has no room.
        """
        labels = judged(Y, n_examples(Y), wrong, complete)
        self._check_policy(labels)
        if (
            self.__sklearn_is_fitted__()
            and (bound := self._bound(self.text_, self.learner_)) is not None
        ):
            self._have_parts(self.text_, self.learner_, bound)
            bound.check_labels(labels)

    def fit(
        self, texts: Sequence[Document], Y: LabelsLike, vectors: ArrayLike | None = None
    ) -> Self:
        """Forget everything and learn these texts: shuffled, in as many passes as the learner
        is set to.
        """
        texts = encoding.with_vectors(texts, vectors)
        return self.fit_batches([(texts, self._checked(texts, Y))])

    def fit_batches(self, batches: Iterable[Batch]) -> Self:
        """``fit`` from batches of texts and label lists, of which only the rows of counts are kept.

        Batches are read in another thread while earlier ones are tokenised. The model changes once
        all is learned.
        """
        learner = self.new_learner()
        pairs: Iterator[Pair] = map(texts_and_labels, batches)
        # the learner takes vectors if the first texts have any
        if (first := next(pairs, None)) is not None:
            learner, first_texts = suited(learner, self.encoder, first[0])
            pairs = chain([(first_texts, first[1])], pairs)
        named = (
            [] if self.vocabulary_ is None or self.encoder is None else self.vocabulary_.current()
        )
        if self.encoder is not None and isinstance(learner, TunedIndex):
            learner.name_labels(named, partial(vectors_of_names, self.vocabulary_, self.encoder))
        text = self.new_text()
        bound, first_pass = self._bound(text, learner), FirstPass()
        if bound is not None:
            bound.check_labels(numbered(named, len(named)))
            bound.learn_windows(self._checked_apart(pairs, learner), first_pass)
        else:
            labels, part = LabelBatches(), self._vectors(learner)
            vectors: list[Vectors] = []

            def without_vectors(some: Sequence[Document]) -> Sequence[Document]:
                plain, found = part.apart(some)
                vectors.extend([] if found is None else [found])
                return plain

            def texts() -> Iterator[Sequence[Document]]:
                for some_texts, some_labels in prefetch(pairs):
                    plain = without_vectors(some_texts)
                    text.settle(
                        plain, labels.add(self._checked(plain, some_labels), len(plain)).recurring
                    )
                    yield plain
                names, labels_of_names = self._lessons(learner, labels.counts())
                if names:
                    labels.add(labels_of_names, len(names))
                yield without_vectors(part.silent(names))

            counted = behind(vectors, text.fit_counts(texts(), learner.n_threads()))
            rows = counted if learner.takes_pieces else counted.all()
            learner.fit_rows(rows, labels.all(), watch=first_pass)
        self._have_parts(text, learner, bound, first_pass.confidence())
        self.set_learned(retired_=())  # those labels were forgotten
        if bound is not None:
            counts = dict(
                zip(learner.label_index_.names, learner.label_counts_.tolist(), strict=True)
            )
            names, labels_of_names = self._lessons(learner, counts)
            if names:
                self.learn_many(self._vectors(learner).silent(names), labels_of_names)
        return self

    def learn_batches(self, batches: Iterable[Batch]) -> Self:
        """``learn_many`` of one batch after the other; while one is learned, the next are read.

        If a batch cannot be read, all batches before it have been learned.
        """
        for texts, Y in prefetch(map(texts_and_labels, batches)):
            self.learn_many(texts, Y)
        return self

    def _bound(self, text: TextVectorizer, learner: CategoryLearner) -> Bound | None:
        """The bound on the memory of these parts; the present one if nothing has changed."""
        if self.max_memory is None:
            return None
        now = self._bound_now
        same = now is not None and now.given == self.max_memory and now.learner is learner
        return now if same else Bound(self.max_memory, text, learner, now)

    def _vectors(self, learner: CategoryLearner | None = None) -> VectorPart:
        """The vectors of the texts of a learner: the present one, or a new one."""
        present = getattr(self, "learner_", None)
        learner = present if learner is None else learner
        learned_with = (
            (self.encoder_name_, self._encoder_digest) if learner is present else (None, None)
        )
        return VectorPart(vector_of(learner), self.encoder, *learned_with)

    def _apart(
        self, texts: Sequence[Document], learner: CategoryLearner
    ) -> tuple[Any, Vectors | None]:
        """The texts without their vectors, and the vectors that the learner takes."""
        if type(texts) is list and self.encoder is None and not vector_of(learner):
            return texts, None
        return self._vectors(learner).apart(texts)

    def _checked_apart(
        self, pairs: Iterable[Pair], learner: CategoryLearner
    ) -> Iterator[tuple[Sequence[Document], Vectors | None, NumberedLabels]]:
        """Small blocks of texts, their vectors and their labels, read in another thread."""
        for texts, Y in prefetch(pairs):
            labels = self._checked(texts, Y)
            for block in blocks(texts):
                yield *self._apart(texts[block], learner), labels[block]

    def _checked(self, texts: Sequence[Document], Y: LabelsLike) -> NumberedLabels:
        """The labels, checked before anything is learned from any text."""
        labels = numbered(Y, len(as_documents(texts)))
        self._check_policy(labels)
        return labels

    def _check_policy(self, labels: NumberedLabels) -> None:
        gone = (
            next((label for label in labels.names if label in self.retired_), None)
            if self.retired_
            else None
        )
        if gone is not None:
            raise InputError(
                f"the label {shown(gone)} was retired or merged; it is not learned any more"
            )
        if self.vocabulary_ is not None:
            self.vocabulary_.check(labels.names)
        if labels.sets.partial.complete.size:
            (self.learner_ if self.__sklearn_is_fitted__() else self.new_learner()).check_judged(
                labels
            )

    def _lessons(
        self, learner: CategoryLearner, counts: dict[Label, int]
    ) -> tuple[list[str], NumberedLabels]:
        """The names by which the vocabulary teaches labels of few examples, and these labels.

        Where the learner takes partial judgements, a name corrects no other label down: labels of
        many examples that share its words must not lose by it.
        """
        known = {str(label): label for label in counts}
        named = {str(label): n for label, n in counts.items()}
        pairs = [] if self.vocabulary_ is None else list(self.vocabulary_.lessons(named))
        labels = [[known.get(label, label)] for _, label in pairs]
        return [text for text, _ in pairs], judged(
            labels, len(labels), complete=not learner.takes_partial
        )

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
        is_plain = type(text) is str and vector is None and vectors is None
        texts: Sequence[Any] = [text] if is_plain else encoding.with_vector(text, vector, vectors)
        found = self.rank_checked(self._rows_of(texts), k, rules)
        return cast("Ranking", found[0]) if is_plain or is_one(text) else found

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
        found = super().shortlist(encoding.with_vectors(many(texts), vectors), coverage)
        return found[0] if is_one(texts) else found

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
        found = super().assign(encoding.with_vectors(many(texts), vectors), precision=precision)
        return found[0] if is_one(texts) else found

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

    def score(
        self,
        texts: Sequence[Document],
        Y: LabelsLike,
        sample_weight: ArrayLike | None = None,
        vectors: ArrayLike | None = None,
    ) -> float:
        """R1: the share of texts whose best label is one of theirs."""
        return super().score(encoding.with_vectors(texts, vectors), Y, sample_weight)

    @reading
    def explain(
        self, text: Document, label: Label, *, vector: ArrayLike | None = None
    ) -> Explanation:
        """The votes of the words of a text, and of its vector, for a label. They sum to the
        label's score.
        """
        self.check_fitted()
        found = self.learner_.explain_row(
            self._rows_of(encoding.with_vector(text, vector, None)), label
        )
        return in_words(found, self.n_vector_, self.text_, text)

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
        documents = as_documents(texts)
        labels = numbered(Y, len(documents))

        def train(which: list[int]) -> Any:
            return clone(self).fit([documents[i] for i in which], labels.take(which))

        return audit(documents, labels, train, n, random_state, watch, numbers)

    def explain_text(self, text: Document, label: str | None = None) -> Explanation:
        if label is not None:
            return self.explain(
                text, next((name for name in self.classes_.tolist() if str(name) == label), label)
            )
        best = list(self.rank(text, 1))
        if not best:
            raise InputError(
                "nothing is retrieved for this text: the model knows none of its words"
            )
        return self.explain(text, best[0][0])

    def _has_known(self, texts: Sequence[Document]) -> NDArray[np.bool_]:
        given = as_documents(texts)
        if isinstance(given, WithVectors):
            return self._has_known(given.texts) | given.vectors.any(axis=1)
        if self.n_vector_:
            return np.ones(len(given), dtype=bool)
        if not isinstance(given, Fielded):
            return self.text_.has_known_word(given)
        # of categories and numbers
        has_values = np.array([bool(values) for values in given.features()])
        return self.text_.has_known_word(given.joined()) | has_values

    def _known_share(self, texts: Sequence[Document]) -> NDArray[np.float32]:
        given = as_documents(texts)
        if self.n_vector_ or isinstance(given, WithVectors):  # any text has a vector
            return np.ones(len(given), dtype=np.float32)
        return self.text_.known_share(given)

    def _given_in(self, examples: Examples) -> Sequence[Document]:
        return as_documents(texts_of(examples))

    def _rows_of(self, texts: Sequence[Document]) -> Rows:
        plain, vectors = self._apart(texts, self.learner_)
        return beside(vectors, self.text_.rows(plain, self.learner_.n_threads()))

    @property
    def n_vector_(self) -> int:
        """The length of the vectors that were learned; 0 if none were."""
        return vector_of(self.learner_) if self.__sklearn_is_fitted__() else 0

    def vectors_of_texts(self, texts: Sequence[Document]) -> Vectors | None:
        """The vectors of texts, checked; None if the model has learned without vectors."""
        return self._vectors().apart(texts)[1]

    def answer_text(self, text: Document, k: int = 5) -> RankedLabels:
        return RankedLabels(self.rank([text], k), None)

    def _feature_names(self, columns: Sequence[int]) -> list[str]:
        return self.text_.names([column - self.n_vector_ for column in columns])

    @reading
    def strongest(self, label: Label, n: int = 10) -> list[tuple[Any, float]]:
        """The n strongest features of a label, as a person would name them (text_batches.py),
        and their weights.
        """
        self.check_index()
        found = self.learner_.strongest_votes(label, n * MORE)
        names = self._feature_names([column for column, _, _ in found])
        kept = worth_naming(names, [strength for _, _, strength in found])[:n]
        return [(names[i], found[i][1]) for i in kept]

    @property
    def forgotten_(self) -> dict[str, int]:
        """How many words and edges were forgotten to keep within ``max_memory``, since fit or
        since opening.
        """
        bound = self._bound_now
        return {
            "words": bound.words_forgotten if bound else 0,
            "edges": getattr(self.learner_, "edges_dropped_", 0),
        }

    def describe(self) -> dict[str, Any]:
        facts = super().describe()
        if self.n_vector_:
            facts |= {"vector": self.n_vector_} | (
                {"encoder": self.encoder_name_} if self.encoder_name_ else {}
            )
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

    # Labels and rules.

    @writing
    def set_vocabulary(self, vocabulary: LabelVocabulary | None) -> Self:
        """Give the labels names, synonyms and broader labels; the policy of a vocabulary may refuse
        other labels.

        With an encoder, labels without examples begin with the vectors of their names: a model that
        has learned nothing ranks at once.
        """
        if vocabulary is not None and not isinstance(vocabulary, LabelVocabulary):
            raise InputError(
                f"a vocabulary is a LabelVocabulary, not a {type(vocabulary).__name__}"
            )
        if vocabulary is not None and self.encoder is not None:
            self._begin_with_names(vocabulary, self.encoder)
        self.vocabulary_ = vocabulary
        return self

    def _begin_with_names(self, vocabulary: LabelVocabulary, encoder: encoding.Encoder) -> None:
        labels = vocabulary.current()
        if self.n_vector_:
            text, learner, encoder = self.text_, self.learner_, self._vectors().checked_encoder()
        elif labels and not self.__sklearn_is_fitted__():
            text, (learner, _) = self.new_text().fit([]), suited(self.new_learner(), encoder, [])
            learner.expect_labels([[label] for label in labels])
        else:
            return
        if (bound := self._bound(text, learner)) is not None:
            bound.check_labels(numbered(labels, len(labels)))
        if isinstance(learner, TunedIndex):
            learner.name_labels(labels, partial(vectors_of_names, vocabulary, encoder))
        self._have_parts(text, learner)

    def rename_label(self, label: Label, name: Label) -> Self:
        """Give a label another name; it keeps its weights."""
        return self.change_labels(Change("rename", (label,), name))

    def merge_labels(self, labels: Sequence[Label], into: Label) -> Self:
        """Merge labels into one of them, or into another label, by summing their weights."""
        return self.change_labels(Change("merge", tuple(labels), into))

    def split_label(self, label: Label, new: Label) -> Self:
        """Add a new label that begins with the weights of another one."""
        return self.change_labels(Change("split", (label,), new))

    def retire_labels(self, labels: Sequence[Label]) -> Self:
        """Stop ranking and learning labels."""
        return self.change_labels(Change("retire", tuple(labels)))

    def restore_labels(self, labels: Sequence[Label]) -> Self:
        """Rank and learn retired labels again, with the weights that they had."""
        return self.change_labels(Change("restore", tuple(labels)))

    @reading
    def check_change(self, change: Change) -> None:
        """Refuse a change that cannot be made."""
        self.check_fitted()
        self._labelled().check(change)

    @learning
    def change_labels(self, change: Change) -> Self:
        """Make a change of labels (relabelling.py)."""
        self.check_change(change)
        now = self._labelled().after(change)
        self.set_learned(learner_=now.learner, vocabulary_=now.vocabulary, retired_=now.retired)
        return self

    def _labelled(self) -> Labelled:
        return Labelled(self.learner_, self.vocabulary_, self.retired_)

    @writing
    def set_rules(self, rules: Rules | None) -> Self:
        """Set the rules for all rankings; None for none."""
        self.rules_ = rules or None
        if self.rules_ and hasattr(getattr(self, "learner_", None), "label_index_"):
            self.allowed_labels([self.rules_])  # compute now, not with the first ranking
        return self

    # Model files.

    @snapshot
    def to_state(self) -> State:
        self.check_fitted()
        given = {
            "max_memory": self.max_memory,
            "search": self.search_,
            "encoder": self.encoder_name_,
            "encoder_digest": self._encoder_digest,
            "retired": list(self.retired_) or None,
            "columns": self.training_columns_ or None,
            "rules": self.rules_.to_dict() if self.rules_ else None,
        }
        settings = {name: value for name, value in given.items() if value is not None}
        # first: the text part may know more words than the learner, never fewer
        learner = self.learner_.to_state()
        parts = {
            "text": self.text_.to_state(),
            "learner": learner,
            "confidence": self.confidence_.to_state(),
        }
        named = {} if self.vocabulary_ is None else {"vocabulary": self.vocabulary_.to_state()}
        return State("Categorizer", settings, parts=parts | named)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The model of a state that ``to_state`` gave, checked."""
        text, learner = build_all([state.parts["text"], state.parts["learner"]])
        state.require(isinstance(text, TextVectorizer), "its text part is a TextVectorizer")
        state.require(
            isinstance(learner, CategoryLearner), "its learner is a learner of categories"
        )
        n_words = max(0, learner.n_features_in_ - vector_of(learner))
        state.require(
            n_words <= text.n_features_, "each column of the learner is one of its text part"
        )
        # Otherwise a small file could make the model allocate any number of hashed columns.
        state.require(text.hashed in (None, n_words), "its learner has all hashed columns")
        categorizer = cls(
            learner=clone(learner), text=clone(text), max_memory=state.settings.get("max_memory")
        )
        categorizer.text_, categorizer.learner_, categorizer.search_ = (
            text,
            learner,
            state.settings.get("search"),
        )
        categorizer._known_confidence = Confidence.from_state(state.parts["confidence"])
        categorizer._take_settings(state)
        return categorizer

    def _take_settings(self, state: State) -> None:
        settings = state.settings
        retired, columns = settings.get("retired", []), settings.get("columns")
        encoder, digest = settings.get("encoder"), settings.get("encoder_digest")
        state.require(
            isinstance(retired, list) and all(map(self.knows_label, retired)),
            "its retired labels are its own",
        )
        state.require(
            columns is None or are_columns(columns), "the columns of its training file have names"
        )
        state.require(
            {type(encoder), type(digest)} <= {str, type(None)},
            "its encoder has a name and a digest",
        )
        self.retired_, self.training_columns_ = tuple(retired), columns
        self.encoder_name_, self._encoder_digest = encoder, digest
        if digest is not None:
            self.encoder = encoder  # its weights are found by its name
        if "vocabulary" in state.parts:
            self.vocabulary_ = build(state.parts["vocabulary"])
            state.require(
                isinstance(self.vocabulary_, LabelVocabulary), "its vocabulary is a LabelVocabulary"
            )
        if "rules" in settings:
            self.set_rules(Rules(**settings["rules"]))


def vector_of(learner: CategoryLearner | None) -> int:
    """How many of the first columns of a learner are those of a vector; only a TunedIndex has
    any.
    """
    return getattr(learner, "n_vector_", None) or getattr(learner, "vector", None) or 0


def are_columns(columns: object) -> bool:
    """Whether these are names of columns, one or several for each purpose."""
    if not isinstance(columns, dict):
        return False
    every = [
        one for names in columns.values() for one in (names if isinstance(names, list) else [names])
    ]
    return all(isinstance(name, str) for name in (*columns, *every))
