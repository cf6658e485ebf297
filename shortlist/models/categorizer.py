"""Text, learner and label names in one object: what most users touch."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.arrays.given_labels import Label, LabelsLike, class_list, shown
from shortlist.arrays.kernels import Floats
from shortlist.arrays.rows import Rows, beside
from shortlist.categories.index.tuned_index import TunedIndex
from shortlist.categories.learner import CategoryLearner, n_examples
from shortlist.concepts import LabelVocabulary
from shortlist.concurrency import learning, nothing_if_refused, prefetch, reading, snapshot, stop_here, writing
from shortlist.errors import InputError
from shortlist.estimators import clone
from shortlist.files.store import State, build, build_all
from shortlist.inputs.examples import Examples
from shortlist.labels import NumberedLabels, judged, numbered
from shortlist.models import encoding
from shortlist.models.answers import Assigned, RankedLabels
from shortlist.models.auditing import Audit, Watch, audit
from shortlist.models.category_model import CategoryModel
from shortlist.models.confidence import Aim, Confidence
from shortlist.models.encoding import VectorPart, named_vectors, suited, vector_of
from shortlist.models.memory import Bound
from shortlist.models.observing import FirstPass, Stream
from shortlist.models.readable import MORE, in_words, worth_naming
from shortlist.models.relabelling import KEPT, Change, Done, Labelled
from shortlist.models.rules import Rules
from shortlist.models.search import is_record, search
from shortlist.models.text_batches import (
    Batch,
    LabelBatches,
    TakenUp,
    are_columns,
    behind,
    default_text,
    texts_and_labels,
    texts_of,
)
from shortlist.ranking import Explanation, Ranking
from shortlist.text.vectorizer import TextVectorizer
from shortlist.texts import Document, Fielded, Vectors, WithVectors, as_documents, blocks, is_one, many

Pair: TypeAlias = tuple[Sequence[Document], LabelsLike]


class Categorizer(CategoryModel[Sequence[Document]]):
    """Learns from labelled texts, one at a time or many, and ranks the labels of new ones.

    Several threads may rank at a time; while one learns, the others wait. A ``fit`` that fails, or is stopped with
    Ctrl-C, leaves the model as it was; other learning that is stopped has learned the first so many texts, as
    ``learner_.n_examples_`` tells.

    Parameters
    ----------
    learner : CategoryLearner or str, default=None
        Any learner of categories, or the short name of one, such as "mmp"; ``TunedIndex()`` if None.
    text : TextVectorizer, default=None
        How texts become features; if None ``TextVectorizer(composed=True, tf="log", idf="smooth")`` with "auto" for
        ngrams, min_length, prefix, characters and character_weight.
    max_memory : str or int, default=None
        A bound on the memory that the model takes, "2GB" or a number of bytes; None for none. When it is reached, the
        rarest words and the weakest edges make room, and learning goes on (memory.py).
    encoder : str or callable, default=None
        What makes vectors of texts, which are learned beside the words: the name of an encoder whose weights are
        installed, such as "all-MiniLM-L6-v2", or the folder of one (encoders/); or a callable from a list of texts to a
        matrix with a row for each. With a vocabulary it ranks before any example (``set_vocabulary``).

    Attributes
    ----------
    learner_ : CategoryLearner
        The learner, once something was learned.
    text_ : TextVectorizer
        The text part, once something was learned.
    classes_ : ndarray
        All labels: sorted by ``fit``, then in order of first appearance.
    forgotten_ : dict
        How many words and edges have made room to keep within ``max_memory``.
    search_ : dict or None
        What ``tuned`` has tried, and what it chose.

    References
    ----------
    Madani, Connor and Greiner, "Learning when concepts abound", JMLR 10, 2009 (paper 004), for the usual learner.

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

    _of_texts = True
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
    encoder_name_: str | None = None  # of the encoder that made the vectors it was learned with, where one did
    _encoder_digest: str | None = None  # of its weights, where they have one
    retired_: tuple[Label, ...] = ()
    rules_: Rules | None = None
    _trained_from: dict[str, Any] | None = None  # how the columns were called, where that was said
    search_: dict[str, Any] | None = None
    _bound_now: Bound | None = None
    _changes: tuple[Done, ...] = ()

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
        """A Categorizer whose learner and text suit these texts best, which has learned them (search.py).

        Others than the usual ones are better by more than chance on texts held back. ``vectors``: one for each text.
        """
        texts = encoding.with_vectors(texts if isinstance(texts, WithVectors) else list(as_documents(texts)), vectors)
        labels: Any = numbered(Y, len(texts))  # in which labels need not be text
        examples = Examples(texts=texts, labels=labels)
        found = search(cls(max_memory=max_memory), examples, seconds=seconds, random_state=random_state)
        assert isinstance(found.model, cls)
        return found.model

    # Learning.

    def learn(
        self, text: Document, labels: Label | Collection[Label],
        wrong: Collection[Label] = (), complete: bool | None = None, *, vector: ArrayLike | None = None,
    ) -> Self:  # fmt: skip
        """Learn one text with its label or list of labels. New words and labels may come at any time.

        A text may have several fields, ``{"title": …, "body": …, "author": ["Smith"], "price": 12.5}`` (texts.py), and
        a vector beside it, which all texts have then.
        If some labels are ``wrong``, these are corrected down, and those that nobody judged are left alone; unless
        ``complete`` says that all labels that are not right are wrong, as they are where none is given as wrong.
        """
        Y: LabelsLike = [labels]
        if len(wrong) or complete is not None:
            Y = judged(Y, 1, [wrong] if len(wrong) else None, complete)
        return self.partial_fit(encoding.one_with_vector(text, vector), Y)

    def learn_many(
        self, texts: Sequence[Document], Y: LabelsLike,
        wrong: LabelsLike | None = None, complete: bool | Sequence[bool | None] | None = None, *,
        vectors: ArrayLike | None = None,
    ) -> Self:  # fmt: skip
        """Learn texts in the order given, going on from what is known; ``vectors`` has a row for each.

        ``wrong`` and ``complete`` are what ``learn`` has, for each text; ``complete`` may be one for all.
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
        """``learn_many`` under scikit-learn's name for it. ``classes`` names labels that need not occur in Y."""
        texts = encoding.with_vectors(texts, vectors)
        Y = self._checked(texts, Y)
        named = [] if classes is None else class_list(classes)
        text, learner, ((texts, _),) = self._parts_for([(texts, Y)])
        bound = self._bound(text, learner)
        if bound is not None:
            bound.check_labels(Y)
            bound.check_labels(numbered(named, len(named)))
        if named:
            learner._expect_labels(named)
        with nothing_if_refused(self):
            if bound is not None:
                self._have_parts(text, learner, bound)
            for some, own in [(texts, Y)] if bound is None else ((texts[block], Y[block]) for block in blocks(texts)):
                batch = TakenUp.of(text, *self._vectors(learner).apart(some), own)
                try:
                    self._learn(text, learner, batch)
                except BaseException:
                    batch.give_back(text)
                    raise
                if bound is not None:
                    bound.keep()
                    stop_here()
        return self

    @learning
    def _learn_next(self, text: TextVectorizer, learner: CategoryLearner, batch: TakenUp) -> None:
        self._learn(text, learner, batch)

    def _learn(self, text: TextVectorizer, learner: CategoryLearner, batch: TakenUp) -> None:
        """Learn texts that were taken up, or as many of them as there is time for."""
        before, fitted = getattr(learner, "n_examples_", 0), self.__sklearn_is_fitted__()
        own = fitted and self.learner_ is learner
        confidence = (self._known_confidence if own else None) or Confidence()
        if own:
            self._known_confidence = confidence
        try:
            learner._learn_rows(batch.rows, batch.labels, Stream(confidence))
        finally:
            batch.n_learned = getattr(learner, "n_examples_", 0) - before
            if not fitted and learner.__sklearn_is_fitted__():
                self._have_parts(text, learner, confidence=confidence)

    def _new_text(self) -> TextVectorizer:
        """The text part as it is set, before it has learned anything."""
        text: TextVectorizer = default_text() if self.text is None else clone(self.text)
        return text

    def _have_parts(
        self, text: TextVectorizer, learner: CategoryLearner, bound: Bound | None = None,
        confidence: Confidence | None = None,
    ) -> None:  # fmt: skip
        bound = bound or self._bound_now
        same = getattr(self, "learner_", None) is learner
        confidence = confidence or (self._known_confidence if same else None)
        bound = bound if bound and bound.text is text else None
        maker = {}
        if not same:  # who has made the vectors that it learned
            name = None if self.encoder is None else encoding.name_of(self.encoder)
            maker = {"encoder_name_": name, "_encoder_digest": encoding.digest_of(self.encoder)}
        self._have(text_=text, learner_=learner, _bound_now=bound, _known_confidence=confidence, **maker)

    @writing
    def check_labels(
        self, Y: LabelsLike, wrong: LabelsLike | None = None, complete: Sequence[bool | None] | None = None
    ) -> None:
        """Refuse judgements that are bad, or for which ``max_memory`` leaves no room, as learning them would."""
        labels = judged(Y, n_examples(Y), wrong, complete)
        self._check_policy(labels)
        if self.__sklearn_is_fitted__() and (bound := self._bound(self.text_, self.learner_)) is not None:
            self._have_parts(self.text_, self.learner_, bound)
            bound.check_labels(labels)

    def fit(self, texts: Sequence[Document], Y: LabelsLike, vectors: ArrayLike | None = None) -> Self:
        """Forget everything and learn these texts: shuffled, and as many passes as the learner is set to."""
        texts = encoding.with_vectors(texts, vectors)
        return self.fit_batches([(texts, self._checked(texts, Y))])

    def fit_batches(self, batches: Iterable[Batch]) -> Self:
        """``fit`` from batches of texts and label lists, of which only the rows of counts are kept.

        Batches are made in a thread of their own while earlier ones are tokenised. Until all is learned the model is
        what it was before.
        """
        learner, pairs = self._first_suited(map(texts_and_labels, batches))
        if self.vocabulary_ is not None and self.encoder is not None and isinstance(learner, TunedIndex):
            learner.name_labels(*named_vectors(self.vocabulary_, self.encoder))
        text = self._new_text()
        bound, honest = self._bound(text, learner), FirstPass()
        if bound is not None:
            bound.learn_windows(self._checked_apart(pairs, learner), honest)
        else:
            labels, part = LabelBatches(), self._vectors(learner)
            vectors: list[Vectors] = []

            def apart(some: Sequence[Document]) -> Sequence[Document]:
                plain, own = part.apart(some)
                vectors.extend([] if own is None else [own])
                return plain

            def texts() -> Iterator[Sequence[Document]]:
                for some_texts, some_labels in prefetch(pairs):
                    plain = apart(some_texts)
                    text.settle(plain, labels.add(self._checked(plain, some_labels), len(plain)).recurring)
                    yield plain
                names, own = self._lessons(learner, labels.counts())
                if names:
                    labels.add(own, len(names))
                yield apart(part.silent(names))

            counted = behind(vectors, text.fit_counts(texts(), learner._jobs()))
            rows = counted if learner.takes_pieces else counted.all()
            learner._fit_rows(rows, labels.all(), watch=honest)
        self._have_parts(text, learner, bound, honest.confidence())
        self._have(retired_=(), _changes=())  # of labels that were forgotten
        if bound is not None:
            counts = dict(zip(learner._labels.names, learner.label_counts_.tolist(), strict=True))
            names, own = self._lessons(learner, counts)
            if names:
                self.learn_many(self._vectors(learner).silent(names), own)
        return self

    def learn_batches(self, batches: Iterable[Batch]) -> Self:
        """``learn_many`` of one batch after the other; while one is learned, the next are tokenised and made.

        If a batch cannot be made, all batches before it have been learned.
        """
        pairs: Iterable[Pair] = map(texts_and_labels, batches)
        if self.max_memory is not None:  # words may be renumbered after each batch: none can be tokenised ahead
            for texts, Y in prefetch(pairs):
                self.learn_many(texts, Y)
            return self
        text, learner, pairs = self._parts_for(pairs)
        waiting: deque[TakenUp] = deque()  # taken up, but not learned
        taking, stopped = threading.Lock(), threading.Event()

        def take_up() -> Iterator[TakenUp]:
            seen = 0
            for texts, Y in prefetch(pairs):
                labels, own = self._checked(texts, Y), self._vectors(learner).apart(texts)
                with taking:
                    if stopped.is_set():
                        return
                    waiting.append(batch := TakenUp.of(text, *own, labels))
                    if seen:  # the first ones are looked at when they are learned
                        learner.check_learnable(batch.rows, lambda n: f"row {seen + n}")  # noqa: B023 - now
                    seen += batch.rows.n_rows
                yield batch

        try:
            for batch in prefetch(take_up()):
                self._learn_next(text, learner, batch)
                waiting.popleft()
        finally:
            stopped.set()
            with taking:  # from now on nothing more is taken up
                while waiting:
                    waiting.pop().give_back(text)
        self._have_parts(text, learner)
        return self

    def _bound(self, text: TextVectorizer, learner: CategoryLearner) -> Bound | None:
        """The bound on the memory of these parts, as long as it is the same."""
        if self.max_memory is None:
            return None
        now = self._bound_now
        same = now is not None and now.given == self.max_memory and now.learner is learner
        return now if same else Bound(self.max_memory, text, learner, now)

    def _vectors(self, learner: CategoryLearner | None = None) -> VectorPart:
        """The vectors of the texts of a learner: its own, or one that it is about to have."""
        own = getattr(self, "learner_", None)
        learner = own if learner is None else learner
        learned_with = (self.encoder_name_, self._encoder_digest) if learner is own else (None, None)
        return VectorPart(vector_of(learner), self.encoder, *learned_with)

    def _parts_for(self, pairs: Iterable[Pair]) -> tuple[TextVectorizer, CategoryLearner, Iterable[Pair]]:
        """The parts that go on learning: those there are, or new ones, which the model has once they learned.

        Of the batches the first tell whether texts have vectors.
        """
        if self.__sklearn_is_fitted__():
            self._check_can_learn()
            return self.text_, self.learner_, pairs
        return self._new_text(), *self._first_suited(pairs)

    def _first_suited(self, pairs: Iterable[Pair]) -> tuple[CategoryLearner, Iterable[Pair]]:
        """A new learner for batches of texts and labels, which takes vectors if the first have any; and the batches."""
        rest, learner = iter(pairs), self._new_learner()
        for texts, Y in rest:
            learner, texts = suited(learner, self.encoder, texts)
            return learner, chain([(texts, Y)], rest)
        return learner, ()

    def _checked_apart(
        self, pairs: Iterable[Pair], learner: CategoryLearner
    ) -> Iterator[tuple[Sequence[Document], Vectors | None, NumberedLabels]]:
        """Small blocks of texts, their vectors and their labels, made in a thread of their own."""
        for texts, Y in prefetch(pairs):
            labels = self._checked(texts, Y)
            for block in blocks(texts):
                yield *self._vectors(learner).apart(texts[block]), labels[block]

    def _checked(self, texts: Sequence[Document], Y: LabelsLike) -> NumberedLabels:
        """The labels; what is bad is refused before anything is learned from any text."""
        labels = numbered(Y, len(as_documents(texts)))
        self._check_policy(labels)
        return labels

    def _check_policy(self, labels: NumberedLabels) -> None:
        gone = next((label for label in labels.names if label in self.retired_), None) if self.retired_ else None
        if gone is not None:
            raise InputError(f"the label {shown(gone)} was retired or merged; it is not learned any more")
        if self.vocabulary_ is not None:
            self.vocabulary_.check(labels.names)
        if labels.sets.partial.complete.size:
            (self.learner_ if self.__sklearn_is_fitted__() else self._new_learner()).check_judged(labels)

    def _lessons(self, learner: CategoryLearner, counts: dict[Label, int]) -> tuple[list[str], NumberedLabels]:
        """The names by which the vocabulary teaches labels of few examples, and these labels.

        A name says that its label is right, and nothing of any other, where the learner can leave others alone: labels
        of many examples, whose words it has too, must not lose by it.
        """
        known = {str(label): label for label in counts}
        named = {str(label): n for label, n in counts.items()}
        pairs = [] if self.vocabulary_ is None else list(self.vocabulary_.lessons(named))
        own = [[known.get(label, label)] for _, label in pairs]
        return [text for text, _ in pairs], judged(own, len(own), complete=not learner.takes_partial)

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
        """The k best labels of a text, or of each of many texts; of those that the rules allow.

        Where it has learned with vectors, ``vector`` is that of one text, and ``vectors`` has a row for each of many.
        """
        self._check_fitted()
        if type(text) is str and vector is None and vectors is None:  # as most are
            return self._ranked(self._rows_of([text]), k, rules).alone()
        found = self._ranked(self._rows_of(encoding.with_vector(text, vector, vectors)), k, rules)
        return found.alone() if is_one(text) else found

    def shortlist(
        self,
        texts: Document | Sequence[Document],
        coverage: float = 0.95,
        *,
        vectors: ArrayLike | None = None,
    ) -> Ranking | list[Ranking]:
        """For each text a ranking that is as long as it must be, for one text one.

        For a share of ``coverage`` of all texts, lists hold all true labels. None is longer than 100 labels; where that
        is too short for the promise, a warning says so. Until enough examples have been learned one by one or fitted,
        nothing can be promised: lists hold all.
        """
        found = self._cut(encoding.with_vectors(many(texts), vectors), coverage)
        return found[0] if is_one(texts) else found

    def assign(
        self,
        texts: Document | Sequence[Document],
        aim: str | Aim = "f1",
        *,
        precision: float | None = None,
        costs: tuple[float, float] | None = None,
        vectors: ArrayLike | None = None,
    ) -> Assigned | list[Assigned]:
        """For each text its labels, none where nothing is sure enough; the list's ``reason`` says why.

        Labels are chosen for the largest F1 over all labels together; or so that a share of ``precision`` of them is
        right; or by the costs of a wrong and of a missing label. Where each text that was learned has one label, none
        gets more.
        """
        wanted = self._aim(aim, precision, costs)
        found = self._assigned(encoding.with_vectors(many(texts), vectors), wanted)
        return found[0] if is_one(texts) else found

    @reading
    def predict(self, texts: Sequence[Document], vectors: ArrayLike | None = None) -> NDArray[Any]:
        """The best label of each text; if all labels came as indicator matrices, such a matrix of what is assigned.

        Labels are assigned as by ``assign(texts, "f1")``. Before enough is known for that, each text gets as many of
        its best labels as an example has on average.
        """
        self._check_fitted()
        return self._predicted(self._rows_of(encoding.with_vectors(texts, vectors)))

    @reading
    def predict_proba(self, texts: Sequence[Document], vectors: ArrayLike | None = None) -> Floats:
        """How likely each label is, n × number of labels, dense: for scikit-learn's tools, and few labels.

        Columns are in the order of ``classes_``, which must be sorted: scikit-learn's measures trust in that. Where
        each text has one label, those of a text sum to 1 (answers.py); where labels came as an indicator
        matrix of several, each column is a probability of its own. ``rank(texts).probabilities`` has those of the best
        labels.
        """
        self._check_fitted()
        return self._class_probabilities(encoding.with_vectors(texts, vectors), len(texts))

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
        return self.learner_._score_rows(self._rows_of(encoding.with_vectors(texts, vectors)), Y, sample_weight)

    @reading
    def explain(self, text: Document, label: Label, *, vector: ArrayLike | None = None) -> Explanation:
        """The votes of the words of a text for a label, and that of its vector. They sum to the label's score."""
        self._check_fitted()
        found = self.learner_._explain_row(self._rows_of(encoding.with_vector(text, vector, None)), label)
        return in_words(found, self.n_vector_, self.text_, text)

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

    def _explain_example(self, examples: Examples, n: int = 0) -> Explanation:
        some = as_documents(texts_of(examples))[n : n + 1]
        return self._explain_best(some[0], some.vectors[0] if isinstance(some, WithVectors) else None)

    def _explain_text(self, text: Document, label: str | None = None) -> Explanation:
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

    def _given_in(self, examples: Examples) -> Sequence[Document]:
        return as_documents(texts_of(examples))

    def _rows_of(self, texts: Sequence[Document]) -> Rows:
        plain, vectors = self._vectors().apart(texts)
        return beside(vectors, self.text_.rows(plain, self.learner_._jobs()))

    @property
    def n_vector_(self) -> int:
        """How many numbers the vectors have that it was learned with; 0 where there were none."""
        return vector_of(self.learner_) if self.__sklearn_is_fitted__() else 0

    def _vectors_of(self, texts: Sequence[Document]) -> Vectors | None:
        """The vectors of texts, as it would take them; refused where they do not fit. None if it has learned none."""
        return self._vectors().apart(texts)[1]

    def _answer_text(self, text: Document, k: int = 5) -> RankedLabels:
        return RankedLabels(self.rank([text], k), None)

    def _feature_names(self, columns: Sequence[int]) -> list[str]:
        return self.text_.names([column - self.n_vector_ for column in columns])

    @reading
    def strongest(self, label: Label, n: int = 10) -> list[tuple[Any, float]]:
        """The n features that speak for a label the most, as a person would name them (readable.py); their weights."""
        self._check_index()
        found = self.learner_._strongest(label, n * MORE)
        names = self._feature_names([column for column, _, _ in found])
        kept = worth_naming(names, [says for _, _, says in found])[:n]
        return [(names[i], found[i][1]) for i in kept]

    @property
    def forgotten_(self) -> dict[str, int]:
        """How many words and edges have made room to keep within ``max_memory``, since fit or since it was opened."""
        bound = self._bound_now
        return {"words": bound.words_forgotten if bound else 0, "edges": getattr(self.learner_, "edges_dropped_", 0)}

    def describe(self) -> dict[str, Any]:
        facts = super().describe()
        if self.n_vector_:
            facts |= {"vector": self.n_vector_} | ({"encoder": self.encoder_name_} if self.encoder_name_ else {})
        return facts

    def copy(self) -> Self:
        copied = super().copy()
        copied.encoder = self.encoder
        return copied

    def _parameters(self) -> dict[str, Any]:
        return super()._parameters() | {"text": self.text_.get_params()}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.classifier_tags.multi_label = True
        return tags

    # Labels and rules.

    @writing
    def set_vocabulary(self, vocabulary: LabelVocabulary | None) -> Self:
        """Give the labels names, synonyms and broader labels; by its policy a vocabulary may refuse other labels.

        With an encoder, labels that have no example yet begin with the meaning of their names: a model that has learned
        nothing ranks at once.
        """
        if vocabulary is not None and not isinstance(vocabulary, LabelVocabulary):
            raise InputError(f"a vocabulary is a LabelVocabulary, not a {type(vocabulary).__name__}")
        if vocabulary is not None and self.encoder is not None:
            self._begin_with_names(vocabulary, self.encoder)
        self.vocabulary_ = vocabulary
        return self

    def _begin_with_names(self, vocabulary: LabelVocabulary, encoder: encoding.Encoder) -> None:
        if self.__sklearn_is_fitted__():
            if isinstance(self.learner_, TunedIndex) and self.n_vector_:
                self.learner_.name_labels(*named_vectors(vocabulary, encoding.loaded(encoder, self._encoder_digest)))
            return
        text, (learner, _) = self._new_text().fit([]), suited(self._new_learner(), encoder, [])
        if isinstance(learner, TunedIndex):
            learner.name_labels(*named_vectors(vocabulary, encoder))
            self._have_parts(text, learner)

    def rename_label(self, label: Label, name: Label) -> Self:
        """Give a label another name; it keeps what it has learned."""
        return self.change_labels(Change("rename", (label,), name))

    def merge_labels(self, labels: Sequence[Label], into: Label) -> Self:
        """Merge labels into one of them, or into another, which then has the sum of what they have learned."""
        return self.change_labels(Change("merge", tuple(labels), into))

    def split_label(self, label: Label, new: Label) -> Self:
        """A new label that begins with what another has learned; examples will tell them apart."""
        return self.change_labels(Change("split", (label,), new))

    def retire_labels(self, labels: Sequence[Label]) -> Self:
        """Labels that are neither ranked nor learned any more."""
        return self.change_labels(Change("retire", tuple(labels)))

    def restore_labels(self, labels: Sequence[Label]) -> Self:
        """Labels that were retired come back, with all that they have learned."""
        return self.change_labels(Change("restore", tuple(labels)))

    @reading
    def _check_change(self, change: Change) -> None:
        """Refuse a change that cannot be made."""
        self._check_fitted()
        self._labelled().check(change)

    @learning
    def change_labels(self, change: Change) -> Self:
        """Make a change of labels (relabelling.py)."""
        self._check_change(change)
        before = self._labelled()
        self._have_labelled(before.after(change), (*self._changes, Done(change, before))[-KEPT:])
        return self

    @learning
    def undo_change(self) -> Change:
        """Take the last change back; gives which it was."""
        if not self._changes:
            raise InputError("no change of labels is known that could be taken back")
        *rest, last = self._changes
        self._have_labelled(last.taken_back(self.learner_), tuple(rest))
        return last.change

    def _labelled(self) -> Labelled:
        return Labelled(self.learner_, self.vocabulary_, self.retired_)

    def _have_labelled(self, now: Labelled, changes: tuple[Done, ...]) -> None:
        self._have(learner_=now.learner, vocabulary_=now.vocabulary, retired_=now.retired, _changes=changes)

    @writing
    def set_rules(self, rules: Rules | None) -> Self:
        """Rules that all rankings keep to from now on; None for none."""
        self.rules_ = rules or None
        self._work_out_rules()
        return self

    def _work_out_rules(self) -> None:
        """What the model's own rules leave, before somebody waits for a ranking."""
        if self.rules_ and hasattr(getattr(self, "learner_", None), "_labels"):
            self._allowed([self.rules_])

    def _every_rule(self, rules: Rules | None) -> list[Rules]:
        if self.rules_ is None and rules is None:
            return []
        return [one for one in (self.rules_, rules) if one]

    # Model files.

    @snapshot
    def to_state(self) -> State:
        self._check_fitted()
        given = {
            "max_memory": self.max_memory, "search": self.search_, "encoder": self.encoder_name_,
            "encoder_digest": self._encoder_digest,
            "retired": list(self.retired_) or None, "columns": self._trained_from or None,
            "rules": self.rules_.to_dict() if self.rules_ else None,
        }  # fmt: skip
        settings = {name: value for name, value in given.items() if value is not None}
        learner = self.learner_.to_state()  # first: the words may be ahead of what was learned, never behind
        parts = {"text": self.text_.to_state(), "learner": learner, "confidence": self.confidence_.to_state()}
        named = {} if self.vocabulary_ is None else {"vocabulary": self.vocabulary_.to_state()}
        return State("Categorizer", settings, parts=parts | named)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The model of a state that ``to_state`` gave, all of which is checked."""
        text, learner = build_all([state.parts["text"], state.parts["learner"]])
        state.require(isinstance(text, TextVectorizer), "its text part is a TextVectorizer")
        state.require(isinstance(learner, CategoryLearner), "its learner is a learner of categories")
        n_words = max(0, learner.n_features_in_ - vector_of(learner))
        state.require(n_words <= text.n_features_, "each column of the learner is one of its text part")
        # Of hashed columns it has all, or a small file could ask for as many as there may be.
        state.require(text.hashed in (None, n_words), "its learner has all hashed columns")
        categorizer = cls(learner=clone(learner), text=clone(text), max_memory=state.settings.get("max_memory"))
        categorizer.text_, categorizer.learner_, categorizer.search_ = text, learner, state.settings.get("search")
        state.require(
            categorizer.search_ is None or is_record(categorizer.search_), "what a search has tried is a record"
        )
        categorizer._known_confidence = Confidence.of_model(state, len(learner.classes_))
        categorizer._take_settings(state)
        return categorizer

    def _take_settings(self, state: State) -> None:
        settings = state.settings
        retired, columns, encoder = settings.get("retired", []), settings.get("columns"), settings.get("encoder")
        state.require(isinstance(retired, list) and all(map(self._knows, retired)), "its retired labels are its own")
        state.require(columns is None or are_columns(columns), "the columns that it was trained from have names")
        digest = settings.get("encoder_digest")
        named = all(one is None or isinstance(one, str) for one in (encoder, digest))
        state.require(named, "its encoder has a name and a digest")
        self.retired_, self._trained_from = tuple(retired), columns
        self.encoder_name_, self._encoder_digest = encoder, digest
        if digest is not None:
            self.encoder = encoder  # whose weights can be found by its name
        if "rules" in settings:
            self.rules_ = Rules(**settings["rules"])
        if "vocabulary" in state.parts:
            self.vocabulary_ = build(state.parts["vocabulary"])
            state.require(isinstance(self.vocabulary_, LabelVocabulary), "its vocabulary is a LabelVocabulary")
        self._work_out_rules()
