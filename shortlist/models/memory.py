"""A bound on the memory of a model of texts, and how it is kept.

Memory is counted, not measured: so the same examples give the same model on every machine, and a
saved model goes on as if it had not been saved. The counts are upper bounds. They include the spare
room of arrays, their copies while they grow or shrink, and the copies for saving.

A quarter of the memory is for the rows being learned and for waiting batches. Labels are never
forgotten. The calibration examples (confidence.py) and the last examples of a stream
(learners/index/replay_buffer.py) have their full size reserved; words and edges share the rest,
half and half. When the words fill their half, a quarter of them is forgotten: the rarest, of
equally rare ones the oldest. When the edges fill theirs, the weakest are (learners/index/edges.py).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

import numpy as np

from shortlist.confidence.calibration_examples import MOST_BYTES
from shortlist.confidence.observers import FirstPass
from shortlist.data.batch import RowBatch
from shortlist.data.labels import NumberedLabels
from shortlist.data.rows import RowStore, Vectors, give_back
from shortlist.data.texts import Document
from shortlist.data.validation import as_size
from shortlist.errors import InputError, counted
from shortlist.learners.category_learner import CategoryLearner
from shortlist.learners.port import BoundsMemory, TakesVectors
from shortlist.models.text_batches import LabelBatches, behind
from shortlist.text.counts import CountedRows
from shortlist.text.vectorizer import TextVectorizer


class MOST:
    """Upper bounds in bytes for the parts of a model, and for the rest of the process."""

    libraries = 360 * 10**6  # with compiled loops and the file being read
    label = 400
    word = 200  # 24 in the index, and 40 in the vocabulary, its table and its counts
    name_byte = 6  # each byte of a word's or a label's name
    edge = 60  # 12, in lists that have a quarter to spare
    entry = 10  # of a text's row, column and count: five or six
    # of a label for each number of a vector: 4, a quarter to spare, and a copy for growth or saving
    weight = 14


LEAST = 64 * 10**6
# a sixteenth of the memory is for rows; the rest of the quarter is for waiting batches and
# weighting
ROWS = 16


class RoomMade(UserWarning):
    """Warns that a model has reached its bound and begins to forget."""


class Bound:
    """The bound on one model, and how much was forgotten for it."""

    def __init__(
        self,
        max_memory: str | int,
        text: TextVectorizer,
        learner: CategoryLearner,
        present: Bound | None = None,
    ) -> None:
        self.given = max_memory
        self.size = as_size(max_memory, "max_memory", least=LEAST)
        self.text = text
        self.words_forgotten = 0
        self._warned = False
        # the same model after a change of labels, say
        if present is not None and present.text is text:
            self.words_forgotten = present.words_forgotten
            self._warned = present._warned
        if not isinstance(learner, BoundsMemory):
            raise InputError(
                "max_memory needs a learner that can make room, such as FeatureFocus, not "
                f"{learner}"
            )
        self.learner = learner
        self.n_vector = (learner.vector or 0) if isinstance(learner, TakesVectors) else 0
        if not learner.__sklearn_is_fitted__():
            learner.reset()
            text.fit([])
        self.keep()

    def keep(self) -> None:
        """Make room, if necessary, after learning."""
        share = self._share()
        self.learner.limit_edges(share // MOST.edge)
        if self._words() > share and self.text.hashed is None:
            while self._words() > share:
                self._forget_rarest(len(self.text.vocabulary_) // 4)
            give_back()
        if not self._warned and (self.words_forgotten or self.learner.edges_dropped_):
            self._warned = True
            warnings.warn(
                f"the model has reached max_memory ({self.size / 10**6:,.0f} MB): from now on the "
                "rarest words and the "
                "weakest edges make room for new ones",
                RoomMade,
                stacklevel=4,
            )

    def _words(self) -> int:
        vocabulary = self.text.vocabulary_
        return MOST.word * self.text.n_features_ + MOST.name_byte * int(vocabulary.n_bytes)

    def check_labels(self, labels: NumberedLabels) -> None:
        """Refuse labels that would leave too little room for words and edges."""
        known = self.learner.label_index_
        names = {labels.names[i] for i in np.unique(labels.sets.ids).tolist()}.union(
            labels.columns or ()
        )
        new = [len(str(name)) for name in names if name not in known.number]
        self._share_beside(len(known) + len(new), known.n_bytes + sum(new))

    def _share(self) -> int:
        """The bytes for words, and for edges."""
        return self._share_beside(len(self.learner.label_index_), self.learner.label_index_.n_bytes)

    def _share_beside(self, n_labels: int, n_bytes: int) -> int:
        """The same for n_labels labels with names of n_bytes bytes."""
        of_labels = (MOST.label + MOST.weight * self.n_vector) * n_labels + MOST.name_byte * n_bytes
        of_examples = MOST_BYTES
        of_examples += self.learner.replay_bytes(self.n_vector)
        room = 3 * self.size // 4 - of_examples - of_labels
        if room < self.size // 4:
            raise InputError(
                f"max_memory is too small for {counted(n_labels, 'labels')}; give at least twice "
                "as much"
            )
        if self.text.hashed is not None and MOST.word * self.text.hashed > room // 2:
            raise InputError(
                f"max_memory is too small for hashed={self.text.hashed}; give more, or fewer "
                "columns"
            )
        return room // 2

    def _forget_rarest(self, n: int) -> None:
        seen = self.learner.times_seen()[self.n_vector :]
        is_kept = np.ones(self.text.n_features_, dtype=bool)
        is_kept[np.argsort(seen, kind="stable")[: max(n, 1)]] = False
        self.text.forget_columns(is_kept)
        self.learner.forget_columns(np.append(np.ones(self.n_vector, dtype=bool), is_kept))
        self.words_forgotten += int((~is_kept).sum())

    def learn_windows(
        self,
        batches: Iterator[tuple[Sequence[Document], Vectors | None, NumberedLabels]],
        first_pass: FirstPass,
    ) -> None:
        """Fit in windows of as many texts as there is room for; in one window as if there were
        no bound.
        """
        for rows, labels in self.windows(batches):
            for _ in self.learner.learn_passes(RowBatch(rows, labels), first_pass):
                pass
            first_pass.follow_level()
            self.keep()
        if self.learner.n_examples_ == 0:
            raise InputError("there are no texts to learn from")

    def windows(
        self, batches: Iterator[tuple[Sequence[Document], Vectors | None, NumberedLabels]]
    ) -> Iterator[tuple[RowStore, NumberedLabels]]:
        """Rows of as many texts as there is room for at a time.

        The caller learns a window and makes room, which may renumber the words, before it takes the
        next.
        """
        rows = CountedRows(self.text.weighted)
        all_labels = LabelBatches()
        vectors: list[Vectors] = []
        for texts, some_vectors, labels in batches:
            recurring = all_labels.add(labels).recurring
            rows.add(self.text.take(texts, recurring=recurring).rows)
            vectors += [] if some_vectors is None else [some_vectors]
            n_bytes = sum(matrix.nbytes for matrix in vectors)
            held = MOST.entry * rows.n_entries + MOST.label // 4 * rows.n_rows + 2 * n_bytes
            if held > self.size // ROWS or self._words() > self._share():
                yield behind(vectors, rows), all_labels.all()
                rows = CountedRows(self.text.weighted)
                all_labels = LabelBatches()
                vectors = []
        if rows.n_rows:
            yield behind(vectors, rows), all_labels.all()
