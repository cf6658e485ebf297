"""How a model of texts learns: texts become rows, rows are learned, and the confidence watches."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Never, Self

from numpy.typing import ArrayLike

from shortlist.concurrency import (
    learning,
    nothing_if_refused,
    prefetch,
    stop_here,
)
from shortlist.confidence.confidence import Confidence
from shortlist.confidence.observers import FirstPass, StreamObserver
from shortlist.data.batch import RowBatch, TextBatch
from shortlist.data.label_input import Label, LabelsLike, class_list
from shortlist.data.labels import NumberedLabels, judged, numbered
from shortlist.data.texts import Document, Vectors
from shortlist.errors import InputError, counted
from shortlist.learners.category_learner import CategoryLearner
from shortlist.models import encoding
from shortlist.models.elsewhere import refuse_elsewhere
from shortlist.models.encoding import suited
from shortlist.models.memory import Bound
from shortlist.models.text_batches import (
    LabelBatches,
    TextsAndLabels,
    behind,
    texts_and_labels,
)
from shortlist.models.text_features import TextFeatures
from shortlist.models.text_parts import TextParts, TextsLike, seed_labels
from shortlist.text.phrases import Phrases
from shortlist.text.vectorizer import TextVectorizer


class TextLearner(TextParts):
    """Base class of the Categorizer: how its parts learn."""

    # Learning from a stream.

    def learn(
        self,
        text: Document,
        labels: Label | Collection[Label],
        wrong: Collection[Label] = (),
        complete: bool | None = None,
        *,
        checked: bool = False,
        vector: ArrayLike | None = None,
        because: Sequence[str] = (),
    ) -> Self:
        """Learn one text with its label or list of labels. New words and labels may come at any
        time.

        A text may have several fields, ``{"title": …, "body": …, "author": ["Smith"], "price":
        12.5}`` (data/texts.py), and a vector; then all texts must have one. Labels given as
        ``wrong`` are corrected down, and labels that are neither right nor wrong are left alone,
        unless ``complete`` is true. Without ``wrong``, all other labels count as wrong.

        ``checked`` says that the text is a spot check: drawn by chance from all that arrive
        (``drawn_for_check``), and judged by somebody who did not see the model's answer. Promises
        rest on these alone once there are any (``examined``).
        ``because`` marks words or phrases of the text that decide: all others count half in
        learning it.
        """
        Y: LabelsLike = [labels]
        if len(wrong) or complete is not None:
            Y = judged(Y, 1, [wrong] if len(wrong) else None, complete)
        if len(because):
            self.check_because([text], [because])
        batch = TextBatch.of(encoding.one_with_vector(text, vector), Y)
        return self._learn(batch._replace(because=because), checked=checked)

    def learn_many(
        self,
        texts: TextsLike,
        Y: LabelsLike,
        wrong: LabelsLike | None = None,
        complete: bool | Sequence[bool | None] | None = None,
        *,
        checked: bool = False,
        vectors: ArrayLike | None = None,
        because: Sequence[Sequence[str]] | None = None,
    ) -> Self:
        """Learn more texts in the order given; ``vectors`` has a row for each.

        ``wrong``, ``complete`` and ``because`` are as in ``learn``, for each text; ``complete`` may
        be one value for all. Texts with marked words are learned one by one. ``checked`` says that
        all of them are spot checks.
        """
        texts = encoding.with_vectors(texts, vectors)
        if wrong is not None or complete is not None:
            Y = judged(Y, len(texts), wrong, complete)
        batch = TextBatch.of(texts, Y)
        if because is None:
            return self._learn(batch, checked=checked)
        self.check_because(batch.texts, because)
        return self._learn_marked(batch, because, checked)

    @learning
    def _learn_marked(
        self, batch: TextBatch, because: Sequence[Sequence[str]], checked: bool
    ) -> Self:
        self.check_policy(batch.labels)
        for n, marks in enumerate(because):
            one = slice(n, n + 1)
            marked = TextBatch(batch.texts[one], batch.labels[one], marks)
            self._learn(marked, checked=checked)
        return self

    def check_because(self, texts: Sequence[Document], because: Sequence[Sequence[str]]) -> None:
        """Refuse marked words that do not occur in their text."""
        if len(because) != len(texts):
            raise InputError(
                f"because must have a list of words for each text: {len(because)} lists for "
                f"{counted(len(texts), 'texts')}"
            )
        vectorizer = self.text_ if self.__sklearn_is_fitted__() else self.new_text()
        for text, marks in zip(texts, because, strict=True):
            Phrases.of(marks, vectorizer, "because").check_in(text, "because")

    def partial_fit(
        self,
        texts: TextsLike,
        Y: LabelsLike,
        classes: Iterable[Label] | None = None,
        vectors: ArrayLike | None = None,
        **elsewhere: Never,
    ) -> Self:
        """``learn_many`` under scikit-learn's name. ``classes`` names labels that need not occur in
        Y.
        """
        refuse_elsewhere(elsewhere)
        batch = TextBatch.of(encoding.with_vectors(texts, vectors), Y)
        return self._learn(batch, [] if classes is None else class_list(classes))

    def learn_batches(self, batches: Iterable[TextsAndLabels], *, checked: bool = False) -> Self:
        """``learn_many`` of one batch after the other; while one is learned, the next are read.

        If a batch cannot be read, all batches before it have been learned.
        """
        for texts, Y in prefetch(map(texts_and_labels, batches)):
            self.learn_many(texts, Y, checked=checked)
        return self

    @learning
    def _learn(
        self, batch: TextBatch, expected: Sequence[list[Label]] = (), checked: bool = False
    ) -> Self:
        """Learn a batch; ``expected`` labels need not occur in it."""
        self.check_policy(batch.labels)
        if checked:
            check_complete(batch.labels)
        if self.__sklearn_is_fitted__():
            self.check_can_learn()
            text = self.text_
            learner = self.learner_
        else:  # new parts, which take vectors if these texts have any
            text = self.new_text()
            learner, texts = suited(self.new_learner(), self.encoder, batch.texts)
            batch = batch._replace(texts=texts)
        bound = self.bound_of(text, learner)
        if bound is not None:
            bound.check_labels(batch.labels)
        if expected:
            self._expect_labels(learner, list(expected), bound)
        with nothing_if_refused(self):
            if bound is None:
                self._learn_part(text, learner, batch, checked)
                return self
            self.set_parts(text, learner, bound)
            for part in batch.blocks():
                self._learn_part(text, learner, part, checked)
                bound.keep()
                stop_here()
        return self

    def _learn_part(
        self, text: TextVectorizer, learner: CategoryLearner, batch: TextBatch, checked: bool
    ) -> None:
        """Learn texts, or as many of them as are learned before an interruption."""
        features = TextFeatures(text, self.vector_part(learner))

        def n_learned() -> int:
            return getattr(learner, "n_examples_", 0)

        with features.take(batch, n_learned, learner.n_threads()) as rows:
            if self.__sklearn_is_fitted__():
                confidence = self.noted_confidence_ or Confidence()
                self.noted_confidence_ = confidence
                learner.learn_batch(rows, StreamObserver(confidence, checked=checked))
            else:
                self._learn_first(text, learner, rows, checked)

    def _learn_first(
        self, text: TextVectorizer, learner: CategoryLearner, batch: RowBatch, checked: bool
    ) -> None:
        """Learn the first examples; the model has the parts once the learner has begun."""
        confidence = Confidence()
        try:
            learner.learn_batch(batch, StreamObserver(confidence, checked=checked))
        finally:
            if learner.__sklearn_is_fitted__():
                self.set_parts(text, learner, confidence=confidence)

    def _expect_labels(
        self, learner: CategoryLearner, labels: list[list[Label]], bound: Bound | None
    ) -> None:
        """Number labels before any example of them, or begin with the vectors of their names."""
        if bound is not None:
            bound.check_labels(numbered(labels, len(labels)))
        has_learned = learner.__sklearn_is_fitted__() and learner.n_examples_ > 0
        if self.encoder is None or not learner.__sklearn_is_fitted__() or has_learned:
            learner.expect_labels(labels)
        if self.encoder is not None and not has_learned:
            names = [*chain.from_iterable(labels)]
            seed_labels(learner, names, self.vocabulary_, self.encoder)

    # Learning anew.

    def fit(
        self,
        texts: TextsLike,
        Y: LabelsLike,
        vectors: ArrayLike | None = None,
        **elsewhere: Never,
    ) -> Self:
        """Forget everything and learn these texts: shuffled, in as many passes as the learner is
        set to.
        """
        refuse_elsewhere(elsewhere)
        batch = TextBatch.of(encoding.with_vectors(texts, vectors), Y)
        self.check_policy(batch.labels)
        return self.fit_batches([(batch.texts, batch.labels)])

    def fit_batches(self, batches: Iterable[TextsAndLabels]) -> Self:
        """``fit`` from batches of texts and label lists, of which only the rows of counts are kept.

        Batches are read in another thread while earlier ones are tokenised. The model changes once
        all is learned.
        """
        learner = self.new_learner()
        pairs: Iterator[tuple[TextsLike, LabelsLike]] = map(texts_and_labels, batches)
        first_pair = next(pairs, None)
        if first_pair is not None:  # the learner takes vectors if the first texts have any
            learner, first_texts = suited(learner, self.encoder, first_pair[0])
            pairs = chain([(first_texts, first_pair[1])], pairs)
        vocabulary_labels: list[str] = []
        if self.vocabulary_ is not None and self.encoder is not None:
            vocabulary_labels = self.vocabulary_.current()
        if self.encoder is not None:
            seed_labels(learner, vocabulary_labels, self.vocabulary_, self.encoder)
        text = self.new_text()
        bound = self.bound_of(text, learner)
        first_pass = FirstPass()
        checked = (self._checked(texts, Y) for texts, Y in prefetch(pairs))
        if bound is None:
            self._fit_at_once(text, learner, checked, first_pass)
        else:
            bound.check_labels(numbered(vocabulary_labels, len(vocabulary_labels)))
            bound.learn_windows(self._blocks_apart(checked, learner), first_pass)
        self.set_parts(text, learner, bound, first_pass.confidence())
        self.set_learned(policy_=self.policy_._replace(retired=()))  # those labels were forgotten
        if bound is not None:
            names = learner.label_index_.names
            counts = dict(zip(names, learner.label_counts_.tolist(), strict=True))
            lessons = self._lessons(learner, counts)
            if len(lessons.labels):
                texts = self.vector_part(learner).silent(lessons.texts)
                self._learn(TextBatch(texts, lessons.labels))
        return self

    def _fit_at_once(
        self,
        text: TextVectorizer,
        learner: CategoryLearner,
        batches: Iterable[TextBatch],
        first_pass: FirstPass,
    ) -> None:
        """Fit from the counts of all texts, which are kept together."""
        features = TextFeatures(text, self.vector_part(learner))
        labels = LabelBatches()
        vectors: list[Vectors] = []

        def without_vectors(texts: Sequence[Any]) -> Sequence[Any]:
            plain, own_vectors = features.vectors.apart(texts)
            if own_vectors is not None:
                vectors.append(own_vectors)
            return plain

        def texts_of_all_batches() -> Iterator[Sequence[Any]]:
            for batch in batches:
                plain = without_vectors(batch.texts)
                text.settle(plain, labels.add(batch.labels).recurring)
                yield plain
            lessons = self._lessons(learner, labels.counts())
            if len(lessons.labels):
                labels.add(lessons.labels)
            yield without_vectors(features.vectors.silent(lessons.texts))

        counted = text.fit_counts(texts_of_all_batches(), learner.n_threads())
        rows: Any = behind(vectors, counted)
        if not learner.takes_pieces:
            rows = rows.all()
        learner.fit_batch(RowBatch(rows, labels.all()), observer=first_pass)

    def _blocks_apart(
        self, batches: Iterable[TextBatch], learner: CategoryLearner
    ) -> Iterator[tuple[Sequence[Any], Vectors | None, NumberedLabels]]:
        """Small blocks of texts, their vectors and their labels."""
        vectors = self.vector_part(learner)
        for batch in batches:
            for block in batch.blocks():
                yield *vectors.apart(block.texts), block.labels

    def _lessons(self, learner: CategoryLearner, counts: dict[Label, int]) -> TextBatch:
        """The names by which the vocabulary teaches labels of few examples.

        Where the learner takes partial judgements, a name corrects no other label down: labels of
        many examples that share its words must not lose by it.
        """
        pairs: list[tuple[str, str]] = []
        if self.vocabulary_ is not None:
            by_name = {str(label): n for label, n in counts.items()}
            pairs = list(self.vocabulary_.lessons(by_name))
        label_of_name = {str(label): label for label in counts}
        labels = [[label_of_name.get(label, label)] for _, label in pairs]
        complete = not learner.takes_partial
        names = [text for text, _ in pairs]
        return TextBatch(names, judged(labels, len(labels), complete=complete))

    # Checks.

    def _checked(self, texts: TextsLike, Y: LabelsLike) -> TextBatch:
        batch = TextBatch.of(texts, Y)
        self.check_policy(batch.labels)
        return batch


def check_complete(labels: NumberedLabels) -> None:
    """Refuse spot checks of which only some labels were judged."""
    if labels.sets.partial.complete.size and not labels.sets.partial.complete.all():
        raise InputError(
            "a spot check needs all labels of its text; leave out wrong, or say complete=True"
        )
