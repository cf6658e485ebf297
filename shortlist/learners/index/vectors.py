"""A learner of an index that takes dense vectors beside words (scoring.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from shortlist.compiled.kernels import Floats, Ints
from shortlist.data.batch import RowBatch
from shortlist.data.label_input import Label
from shortlist.data.labels import SINGLE, LabelSets, NumberedLabels, sorting
from shortlist.data.rows import MatrixLike, Rows, RowStore, Vectors, check_nonnegative, grown
from shortlist.data.validation import as_whole
from shortlist.errors import InputError
from shortlist.estimators import clone
from shortlist.files.store import State
from shortlist.learners.index import scoring
from shortlist.learners.index.index_learner import IndexLearner
from shortlist.learners.index.scoring import Dense
from shortlist.learners.index.training import EXAMPLES, LABELS
from shortlist.learners.port import Observer


class VectorIndexLearner(IndexLearner):
    """Base class: the first ``n_vector_`` columns are a vector of either sign, all others words."""

    nonnegative = False  # words must be, vectors need not: ``checked_signs``
    n_vector_ = 0
    vector: int | None
    vector_share_: float
    vector_weights_: NDArray[np.float32]  # columns of the vector × labels, or more
    biases_: Floats
    running_counts_: Floats  # examples and labels
    has_examples_: NDArray[np.bool_]  # of each label, while labels are learned
    labels_to_seed_: Sequence[Label] = ()  # ranked by their names before any example of them
    vectors_of_names_: Callable[[Sequence[Label]], Vectors] | None = None

    # Which columns are a vector.

    def take_vectors(self, n_columns: int) -> None:
        self.n_vector_ = n_columns
        self.vector_weights_ = np.zeros((n_columns, 0), dtype=np.float32)

    def with_vectors(self, n_columns: int | None) -> Self:
        """An unfitted copy that takes vectors of that many columns."""
        learner: Self = clone(self)
        return learner.set_params(vector=n_columns)

    def checked_signs(
        self, rows: Rows | RowStore, called: Callable[[int], str] = "row {}".format
    ) -> Any:
        n_vector = self.n_vector_ if self.has_learned() else self.vector
        if n_vector is not None:
            check_nonnegative(rows, called, as_whole(n_vector, "vector"))  # type: ignore[arg-type]
        return rows

    def check_learnable(
        self, rows: Rows | RowStore, called: Callable[[int], str] = "row {}".format
    ) -> None:
        super().check_learnable(rows, called)
        self._check_vector()
        if not self.has_learned():
            n_vector = self._vector_columns_of(rows)
            if n_vector != self.n_vector_:
                self.take_vectors(n_vector)
        if isinstance(rows, Rows):
            check_nonnegative(rows, called, self.n_vector_)

    def check_rows(self, X: MatrixLike) -> Rows:
        self.check_fitted()
        self._check_vector()
        return super().check_rows(X)

    def _check_vector(self) -> None:
        if self.vector is not None and self.has_learned() and self.vector != self.n_vector_:
            raise InputError(
                f"vector was {self.n_vector_} when the model learned and is {self.vector} now; set "
                "it back, or fit anew"
            )

    def has_learned(self) -> bool:
        return self.__sklearn_is_fitted__() and self.n_examples_ > 0

    def _vector_columns_of(self, rows: Rows | RowStore) -> int:
        """How many columns are those of a vector, where these are the first rows."""
        if self.vector is not None or not isinstance(rows, Rows):
            return self.vector or 0
        has_negative_values = rows.data.size > 0 and rows.data.min() < 0
        return rows.n_features if has_negative_values else 0

    # Words and vectors.

    def prepare(self, rows: Rows) -> Rows:
        if self.n_vector_:
            return rows  # prepared once words and vectors are apart
        return super().prepare(rows)

    def prepared_apart(self, rows: Rows) -> tuple[Rows, Vectors]:
        """The words and the vectors of rows, prepared."""
        words, vectors = scoring.split(rows, self.n_vector_)
        if self.n_vector_:
            words = super().prepare(words)
            if self.values == "l2":
                scoring.balance(words.indptr, words.data, vectors, self.vector_share_)
        return words, vectors

    def _best_vector_share(self, rows: Rows | RowStore, labels: LabelSets) -> float:
        """The share of vectors beside words, by a sample of the examples with one label each."""
        which = np.flatnonzero(np.diff(labels.indptr) == 1)
        if not which.size or not labels.single or self.values != "l2":
            return scoring.SHARE
        n_labels = int(labels.ids.max() + 1)
        n_examples = min(scoring.SAMPLE, 1 + scoring.CELLS // n_labels)
        which = which[:: -(-which.size // n_examples)]
        sample = rows.take(which) if isinstance(rows, Rows) else rows.chosen(which)
        words, vectors = scoring.split(sample, self.n_vector_)
        if not words.indices.size:
            return scoring.SHARE
        sample_labels = labels.chosen(which).ids
        return scoring.share_of_vector(super().prepare(words), vectors, sample_labels)

    def words_and_vectors(self, rows: Rows) -> tuple[Rows, Dense]:
        words, vectors = self.prepared_apart(rows)
        weights = scoring.widened(self.vector_weights_, len(self.label_index_))
        return words, Dense(vectors, weights)

    def has_seen(self, columns: Ints) -> NDArray[np.bool_]:
        return super().has_seen(columns) | (columns < self.n_vector_)

    # Labels that begin with the vector of their name.

    def seed_labels(
        self, labels: Sequence[Label], vectors_of: Callable[[Sequence[Label]], Vectors]
    ) -> None:
        """Rank these labels by the vectors of their names before any example of them.

        The vector of its name, NAMED long or NAMED_BESIDE times as long as learned weights, is the
        initial weight vector of a label. An empty learner waits for ``fit``, which seeds all labels
        that it meets (NAMED_IN_FIT).
        """
        self.labels_to_seed_ = list(labels)
        self.vectors_of_names_ = vectors_of
        if self.__sklearn_is_fitted__():
            self._seed_unused_labels()

    def _seed_unused_labels(self) -> None:
        learned = np.flatnonzero(self.counts_by_label_)
        learned_names = {self.label_index_.names[number] for number in learned.tolist()}
        length = scoring.NAMED
        if learned_names and self.labels_to_seed_:
            have_several = self.running_counts_[LABELS] > SINGLE * self.running_counts_[EXAMPLES]
            mean_length = np.linalg.norm(self.vector_weights_[:, learned], axis=0).mean()
            length = scoring.NAMED_BESIDE[int(have_several)] * mean_length
        unused = [label for label in self.labels_to_seed_ if label not in learned_names]
        self._seed(unused, length)

    def _seed(self, labels: list[Label], length: float) -> None:
        """Give labels initial weights of that length, if their names have vectors."""
        if self.vectors_of_names_ is None or not labels:
            return
        # first, since it may fail
        weights = np.float32(length) * scoring.unit(self.vectors_of_names_(labels))
        if weights.shape[1] != self.n_vector_:
            raise InputError(
                f"the names of labels have vectors of {weights.shape[1]} numbers, not "
                f"{self.n_vector_}"
            )
        n_labels = len(self.label_index_) + len(labels)
        self.vector_weights_ = scoring.widened(self.vector_weights_, n_labels)
        self.expect_labels([[label] for label in labels])
        self.counts_by_label_ = grown(self.counts_by_label_, len(self.label_index_))
        numbers = [self.label_index_.find(label) for label in labels]
        self.vector_weights_[:, numbers] = weights.T

    def _take_up(
        self, rows: Rows | RowStore, labels: NumberedLabels, shuffled: bool = False
    ) -> LabelSets:
        # first, since it may raise
        n_labels = len(self.label_index_) + len(labels.names)
        weights = scoring.widened(self.vector_weights_, n_labels)
        if shuffled and self.n_vector_ and not self.has_learned():
            self.vector_share_ = self._best_vector_share(rows, labels.sets)
        if shuffled and self.labels_to_seed_:
            self._expect_seeded_labels(labels)
        label_sets = super()._take_up(rows, labels, shuffled)
        self.vector_weights_ = weights
        if self.n_vector_:
            self._note_first_examples(label_sets, shuffled)
        return label_sets

    def _expect_seeded_labels(self, labels: NumberedLabels) -> None:
        """Number the labels of ``fit`` and those to seed together, in sorted order."""
        names = {labels.names[number] for number in labels.sets.ids.tolist()}
        if not all(isinstance(name, str) for name in names):
            self.labels_to_seed_ = []
        every_name = sorted(names.union(self.labels_to_seed_), key=sorting)
        self.expect_labels([[name] for name in every_name])

    def _note_first_examples(self, label_sets: LabelSets, shuffled: bool) -> None:
        """Note which labels have examples, and seed those that have their first ones in ``fit``."""
        counts = self.counts_by_label_[: len(self.label_index_)]
        counts_before = counts - np.bincount(label_sets.ids, minlength=counts.size)
        if not shuffled:
            self.has_examples_ = counts_before > 0
            return
        new = np.flatnonzero((counts_before == 0) & (counts > 0))
        new_names = [self.label_index_.names[number] for number in new.tolist()]
        self._seed(new_names, scoring.NAMED_IN_FIT)
        self.has_examples_ = counts > 0

    def learn_passes(self, batch: RowBatch, observer: Observer | None = None) -> Iterator[int]:
        yield from super().learn_passes(batch, observer)
        self._seed_unused_labels()

    # Merging and model files.

    def average_vectors(self, other: Any, numbers: Ints, share: float) -> None:
        """Average biases, weights and shares of vectors; ``share``: how much the other counts."""
        n_labels = len(self.label_index_)
        self.vector_share_ = (1.0 - share) * self.vector_share_ + share * other.vector_share_
        self.biases_ = (1.0 - share) * grown(self.biases_, n_labels)
        np.add.at(self.biases_, numbers, share * other.label_biases())
        own_weights = scoring.widened(self.vector_weights_, n_labels)
        self.vector_weights_ = own_weights * np.float32(1.0 - share)
        if self.n_vector_:
            weights = scoring.widened(other.vector_weights_, numbers.size)
            for label, number in enumerate(numbers.tolist()):  # several may have become one
                self.vector_weights_[:, number] += np.float32(share) * weights[:, label]

    def vectors_from_arrays(self, state: State) -> None:
        self.vector_weights_ = np.array(state.array("vector_weights", np.float32, ndim=2))
        n_columns = self.vector_weights_.shape[1]
        state.require(n_columns == len(self.label_index_), "each label has weights of vectors")
        share = state.array("vector_share", np.float64)
        is_share = share.size == 1 and bool(((share > 0.0) & (share < 1.0)).all())
        state.require(is_share, "vectors have their share")
        self.vector_share_ = float(share[0])
