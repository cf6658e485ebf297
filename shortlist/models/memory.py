"""A bound on the memory of a model of texts, and how it is kept.

Memory is counted from what the model holds, not measured: the same examples then give the same model on every machine,
and a model opened from a file goes on exactly as the one that was saved would have. The counts are upper bounds. They
include the room that arrays have to spare, the copies while they grow or make room, and those that saving makes.

A quarter of the memory is for the rows being learned and for batches on their way. Labels are never forgotten, and
what is known of how sure rankings are (confidence/window.py) and the last examples of a stream
(categories/index/rehearsal.py) have as much as they may come to; words and edges share what these leave, half and half.
When the words fill their half, a quarter of them make room: the rarest, of equally rare ones those known longest. When
the edges fill theirs, the weakest do (categories/index/lists.py).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from shortlist.arrays.given_labels import LabelsLike
from shortlist.arrays.rows import RowStore, Vectors, give_back
from shortlist.arrays.validation import as_size
from shortlist.categories.index import rehearsal
from shortlist.categories.index.learner import IndexLearner
from shortlist.categories.index.tuned_index import TunedIndex
from shortlist.categories.learner import CategoryLearner
from shortlist.errors import InputError, counted
from shortlist.labels import NumberedLabels
from shortlist.models.confidence import MOST_BYTES
from shortlist.models.observing import FirstPass
from shortlist.models.text_batches import LabelBatches, behind
from shortlist.text.counts import CountedRows
from shortlist.text.vectorizer import TextVectorizer
from shortlist.texts import Document

# How many bytes the parts of a model take at most, by which ``max_memory`` is kept (memory.py).


@dataclass(frozen=True)
class Sizes:
    """Bytes for each part of a model, and for what a process takes beside it."""

    libraries: int  # with the loops that were compiled, and what is being read
    label: int
    word: int
    name_byte: int  # each byte of a word's or a label's name
    edge: int
    entry: int  # an entry of a text's row: column and count
    weight: int  # of a label for each number of a vector


# A word is 24 bytes in the index, and 40 in the vocabulary, its table and its counts. An edge is 12, in lists that have
# a quarter to spare. An entry is a column and a count, which take five or six bytes. A weight of a vector is 4, with a
# quarter to spare, and a copy while there come to be more, or when it is saved.
MOST = Sizes(libraries=360 * 10**6, label=400, word=200, name_byte=6, edge=60, entry=10, weight=14)


LEAST = 64 * 10**6
ROWS = 16  # a sixteenth of the memory; the rest of the quarter is for batches on their way and rows being weighed


class RoomMade(UserWarning):
    """A model has reached its bound: from now on it forgets."""


class Bound:
    """The bound on one model, and what it has cost so far."""

    def __init__(
        self, max_memory: str | int, text: TextVectorizer, learner: CategoryLearner, before: Bound | None = None
    ) -> None:
        self.given = max_memory
        self.size = as_size(max_memory, "max_memory", least=LEAST)
        self.text, self.words_forgotten, self._said = text, 0, False
        if before is not None and before.text is text:  # it goes on, with labels of other names, say
            self.words_forgotten, self._said = before.words_forgotten, before._said
        if not isinstance(learner, IndexLearner):
            raise InputError(f"max_memory needs a learner that can make room, such as FeatureFocus, not {learner}")
        self.learner = learner
        self.n_vector = (learner.vector or 0) if isinstance(learner, TunedIndex) else 0
        if not learner.__sklearn_is_fitted__():
            learner._start()
            text.fit([])
        self.keep()

    def keep(self) -> None:
        """Make room, if need be, after something was learned."""
        share = self._share()
        self.learner.limit_edges(share // MOST.edge)
        if self._words() > share and self.text.hashed is None:
            while self._words() > share:
                self._forget_rarest(len(self.text.vocabulary_) // 4)
            give_back()
        if not self._said and (self.words_forgotten or self.learner.edges_dropped_):
            self._said = True
            warnings.warn(
                f"the model has reached max_memory ({self.size / 10**6:,.0f} MB): from now on the rarest words and the "
                "weakest edges make room for new ones", RoomMade, stacklevel=4,
            )  # fmt: skip

    def _words(self) -> int:
        vocabulary = self.text.vocabulary_
        return MOST.word * self.text.n_features_ + MOST.name_byte * int(vocabulary.n_bytes)

    def check_labels(self, labels: NumberedLabels) -> None:
        """Refuse labels that would leave too little room for anything else, before they are learned."""
        known = self.learner._labels
        names = {labels.names[i] for i in np.unique(labels.sets.ids).tolist()}.union(labels.columns or ())
        new = [len(str(name)) for name in names if name not in known.number]
        self._share_beside(len(known) + len(new), known.n_bytes + sum(new))

    def _share(self) -> int:
        """What words and edges may have, each."""
        return self._share_beside(len(self.learner._labels), self.learner._labels.n_bytes)

    def _share_beside(self, n_labels: int, n_bytes: int) -> int:
        """The same beside that many labels, whose names take that many bytes."""
        of_labels = (MOST.label + MOST.weight * self.n_vector) * n_labels + MOST.name_byte * n_bytes
        of_examples = MOST_BYTES
        if isinstance(self.learner, TunedIndex):
            of_examples += rehearsal.most_bytes(self.n_vector)
        left = 3 * self.size // 4 - of_examples - of_labels
        if left < self.size // 4:
            raise InputError(f"max_memory is too small for {counted(n_labels, 'labels')}; give at least twice as much")
        if self.text.hashed is not None and MOST.word * self.text.hashed > left // 2:
            raise InputError(f"max_memory is too small for hashed={self.text.hashed}; give more, or fewer columns")
        return left // 2

    def _forget_rarest(self, n: int) -> None:
        seen = self.learner.times_seen()[self.n_vector :]
        kept = np.ones(self.text.n_features_, dtype=bool)
        kept[np.argsort(seen, kind="stable")[: max(n, 1)]] = False
        self.text.forget_columns(kept)
        self.learner.forget_columns(np.append(np.ones(self.n_vector, dtype=bool), kept))
        self.words_forgotten += int((~kept).sum())

    def learn_windows(
        self, batches: Iterator[tuple[Sequence[Document], Vectors | None, NumberedLabels]], honest: FirstPass
    ) -> None:
        """Fit in windows of as many texts as there is room for; where one holds all, as if there were no bound."""
        for rows, labels in self.windows(batches):
            for _ in self.learner._learn_passes(rows, labels, honest):
                pass
            honest.follow_level()
            self.keep()
        if self.learner.n_examples_ == 0:
            raise InputError("there are no texts to learn from")

    def windows(
        self, batches: Iterator[tuple[Sequence[Document], Vectors | None, LabelsLike]]
    ) -> Iterator[tuple[RowStore, NumberedLabels]]:
        """Rows of as many texts as there is room for at a time; all of them, if there is.

        Whoever takes a window learns it and makes room before asking for the next: that may renumber the words.
        """
        rows, all_labels = CountedRows(self.text.weighted), LabelBatches()
        vectors: list[Vectors] = []
        for texts, own, labels in batches:
            recurring = all_labels.add(labels, len(texts)).recurring
            rows.add(self.text.take(texts, recurring=recurring).rows)
            vectors += [] if own is None else [own]
            n_bytes = sum(one.nbytes for one in vectors)
            held = MOST.entry * rows.n_entries + MOST.label // 4 * rows.n_rows + 2 * n_bytes
            if held > self.size // ROWS or self._words() > self._share():
                yield behind(vectors, rows), all_labels.all()
                rows, all_labels, vectors = CountedRows(self.text.weighted), LabelBatches(), []
        if rows.n_rows:
            yield behind(vectors, rows), all_labels.all()
