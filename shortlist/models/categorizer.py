"""Text, learner and label names in one object: what most users touch."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike
from sklearn.base import clone

from shortlist.arrays.given_labels import Label, LabelsLike, class_list
from shortlist.categories.answering import n_examples
from shortlist.categories.learner import CategoryLearner
from shortlist.concurrency.interrupts import nothing_if_refused, stop_here, whole
from shortlist.concurrency.locks import snapshot, writing
from shortlist.concurrency.prefetch import prefetch
from shortlist.files.store import State, build_all
from shortlist.inputs.examples import Examples
from shortlist.labels import NumberedLabels, judged, numbered
from shortlist.models.bounded_model import BoundedModel
from shortlist.models.encoding import Encoder, one_with_vector, with_vectors
from shortlist.models.learners import made
from shortlist.models.memory import Bound
from shortlist.models.observing import FirstPass, Notes, confidence_in, learn_rows
from shortlist.models.search import is_record, search
from shortlist.models.text_batches import Batch, LabelBatches, TakenUp, VectorBatches, default_text, texts_and_labels
from shortlist.models.vector_model import Pair, vector_of
from shortlist.text.vectorizer import TextVectorizer
from shortlist.texts import blocks
from shortlist.texts.beside import WithVectors
from shortlist.texts.fields import Document, as_documents

if TYPE_CHECKING:
    from typing_extensions import Self


class Categorizer(BoundedModel):
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
    encoder : callable, default=None
        From a list of texts to a matrix with a row for each: vectors that are learned beside the words (encoding.py).

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

    parts = ("learner", "text")

    def __init__(
        self,
        learner: CategoryLearner | str | None = None,
        text: TextVectorizer | None = None,
        max_memory: str | int | None = None,
        encoder: Encoder | None = None,
    ) -> None:
        self.learner = learner
        self.text = text
        self.max_memory = max_memory
        self.encoder = encoder

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
        """A Categorizer whose learner and text suit these texts best, which has learned them (search.py).

        Others than the usual ones are better by more than chance on texts held back. ``vectors``: one for each text.
        """
        texts = with_vectors(texts if isinstance(texts, WithVectors) else list(as_documents(texts)), vectors)
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

        A text may have several fields, ``{"title": …, "body": …, "author": ["Smith"], "price": 12.5}`` (fields.py), and
        a vector beside it, which all texts have then.
        If some labels are ``wrong``, these are corrected down, and those that nobody judged are left alone; unless
        ``complete`` says that all labels that are not right are wrong, as they are where none is given as wrong.
        """
        texts = one_with_vector(text, vector)
        return self.learn_many(texts, [labels], [wrong] if len(wrong) else None, complete)

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

    @writing
    @whole
    def partial_fit(
        self,
        texts: Sequence[Document],
        Y: LabelsLike,
        classes: Iterable[Label] | None = None,
        vectors: ArrayLike | None = None,
    ) -> Self:
        """``learn_many`` under scikit-learn's name for it. ``classes`` names labels that need not occur in Y."""
        texts = with_vectors(texts, vectors)
        Y = self._checked(texts, Y)
        named = [] if classes is None else class_list(classes)
        text, learner, texts = self._parts_for(texts)
        bound = self._bound(text, learner)
        if bound is not None:
            bound.check_labels(Y)
            bound.check_labels(numbered(named, len(named)))
        if named:
            learner._expect_labels(named)
        with nothing_if_refused(self):
            if bound is None:
                self._learn_all(text, learner, texts, Y)
                return self
            self._have_parts(text, learner, bound)
            for block in blocks(texts):
                self._learn_all(text, learner, texts[block], Y[block])
                bound.keep()
                stop_here()
        return self

    def _learn_all(self, text: TextVectorizer, learner: CategoryLearner, texts: Sequence[Document], Y: Any) -> None:
        batch = TakenUp.of(text, *self._apart(texts, learner), Y)
        try:
            self._learn(text, learner, batch)
        except BaseException:
            batch.give_back(text)
            raise

    @writing
    @whole
    def _learn_next(self, text: TextVectorizer, learner: CategoryLearner, batch: TakenUp) -> None:
        self._learn(text, learner, batch)

    def _learn(self, text: TextVectorizer, learner: CategoryLearner, batch: TakenUp) -> None:
        """Learn texts that were taken up, or as many of them as there is time for."""
        before, fitted = getattr(learner, "n_examples_", 0), self.__sklearn_is_fitted__()
        own = fitted and self.learner_ is learner
        notes = (self._notes if own else None) or Notes()
        if own:
            self._notes = notes
        try:
            learn_rows(learner, batch.rows, batch.labels, notes)
        finally:
            batch.n_learned = getattr(learner, "n_examples_", 0) - before
            if not fitted and learner.__sklearn_is_fitted__():
                self._have_parts(text, learner, notes=notes)

    def new_text(self) -> TextVectorizer:
        """The text part as it is set, before it has learned anything."""
        text: TextVectorizer = default_text() if self.text is None else clone(self.text)
        return text

    def new_learner(self) -> CategoryLearner:
        learner: CategoryLearner = made(self.task, self.learner)
        return learner

    def _have_parts(
        self, text: TextVectorizer, learner: CategoryLearner, bound: Bound | None = None, notes: Notes | None = None
    ) -> None:
        bound = bound or self._bound_now
        notes = notes or (self._notes if getattr(self, "learner_", None) is learner else None)
        bound = bound if bound and bound.text is text else None
        self._have(text_=text, learner_=learner, _bound_now=bound, _notes=notes, **self._made_by(learner))

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
        texts = with_vectors(texts, vectors)
        return self.fit_batches([(texts, self._checked(texts, Y))])

    def fit_batches(self, batches: Iterable[Batch]) -> Self:
        """``fit`` from batches of texts and label lists, of which only the rows of counts are kept.

        Batches are made in a thread of their own while earlier ones are tokenised. Until all is learned the model is
        what it was before.
        """
        learner, pairs = self._first_meant(map(texts_and_labels, batches))
        text = self.new_text()
        bound, honest = self._bound(text, learner), FirstPass()
        if bound is not None:
            self._fit_within(bound, pairs, honest)
        else:
            labels, vectors = LabelBatches(), VectorBatches()

            def texts() -> Iterator[Sequence[Document]]:
                for some_texts, some_labels in prefetch(pairs):
                    plain = vectors.add(*self._apart(some_texts, learner))
                    text.settle(plain, labels.add(self._checked(plain, some_labels), len(plain)).recurring)
                    yield plain
                names, own = self._lessons(learner, labels.counts())
                if names:
                    labels.add(own, len(names))
                yield vectors.add(*self._apart(self._with_any(names, learner), learner))

            counted = vectors.beside(text.fit_counts(texts(), learner._jobs()))
            rows = counted if learner.takes_pieces else counted.all()
            learner._fit_rows(rows, labels.all(), watch=honest)
        self._have_parts(text, learner, bound, Notes(honest.confidence()))
        self._have(retired_=(), _changes=())  # of labels that were forgotten
        if bound is not None:
            counts = dict(zip(learner._labels.names, learner.label_counts_.tolist(), strict=True))
            names, own = self._lessons(learner, counts)
            if names:
                self.learn_many(self._with_any(names, learner), own)
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
        text, learner, pairs = self._parts_for_all(pairs)
        waiting: deque[TakenUp] = deque()  # taken up, but not learned
        take, taking, stopped = TakenUp.taker(text, learner), threading.Lock(), threading.Event()

        def take_up() -> Iterator[TakenUp]:
            for texts, Y in prefetch(pairs):
                labels, own = self._checked(texts, Y), self._apart(texts, learner)
                with taking:
                    if stopped.is_set():
                        return
                    waiting.append(batch := take(*own, labels))
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

    def _checked(self, texts: Sequence[Document], Y: LabelsLike) -> NumberedLabels:
        """The labels; what is bad is refused before anything is learned from any text."""
        labels = numbered(Y, len(as_documents(texts)))
        self._check_policy(labels)
        return labels

    # Model files.

    @snapshot
    def to_state(self) -> State:
        self._check_fitted()
        given = {"max_memory": self.max_memory, "search": self.search_}
        settings = self._changed_settings() | {name: value for name, value in given.items() if value is not None}
        settings |= self._vector_settings()
        learner = self.learner_.to_state()  # first: the words may be ahead of what was learned, never behind
        parts = {"text": self.text_.to_state(), "learner": learner, "confidence": self.confidence_.to_state()}
        return State("Categorizer", settings, parts=parts | self._vocabulary_part())

    @classmethod
    def from_state(cls, state: State) -> Self:
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
        categorizer._take_settings(state)
        categorizer._take_vector_settings(state)
        categorizer._notes = Notes(confidence_in(state, len(learner.classes_)))
        return categorizer
