"""The default learner: it counts as Feature-Focus does, and corrects votes after errors
(training.py).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from shortlist.compiled.kernels import Floats, Ints, Longs
from shortlist.data.batch import RowBatch
from shortlist.data.label_input import Label, LabelsLike
from shortlist.data.labels import SINGLE, LabelSets, NumberedLabels, sorting
from shortlist.data.rows import MatrixLike, Rows, RowStore, Vectors, check_nonnegative, grown
from shortlist.data.validation import as_real, as_whole, column_names
from shortlist.errors import InputError
from shortlist.estimators import clone
from shortlist.files.store import State
from shortlist.learners.index import replay_buffer, scoring
from shortlist.learners.index.edges import Index, are_counts, are_rows, cut_lists
from shortlist.learners.index.index_learner import IndexLearner
from shortlist.learners.index.replay_buffer import NO_RING, Ring
from shortlist.learners.index.scoring import Dense, room_for_rankings
from shortlist.learners.index.training import EXAMPLES, LABELS, Learned, Rules, learn, least_share
from shortlist.learners.port import Observer, RankedAhead
from shortlist.learners.top_labels import make_scratch

# How many rows all passes of ``fit`` see together, and the most passes: where examples have one
# label, and several.
ROWS_AND_PASSES_OF_ONE = (25_000, 10)
ROWS_AND_PASSES_OF_SEVERAL = (100_000, 3)
FEWEST_PASSES = 2
MOST_STEP = 10.0  # of rows of unit length 2 are too many
WHOLE = 2.0  # a share that no edge has


class TunedIndex(IndexLearner):
    """Feature-Focus with corrected votes: as accurate as a linear classifier for each label, in few
    quick passes.

    Parameters
    ----------
    min_weight : float, default=0.006
        Where examples have several labels, edges to labels that fewer than this share of a
        feature's examples had are dropped.
    max_edges : int, default=100
        How many edges a feature has; the lightest one makes room for a new one.
    passes : int or None, default=None
        How often ``fit`` goes through the examples. The first pass counts and corrects, later ones
        only correct. None: 25,000 / examples passes, at least 2 and at most 10; with several labels
        each 3, or 2 from 50,000 examples on. With None, ``partial_fit`` also learns some of the
        last examples again with each new one (rehearsal.py).
    step : float, default=0.5
        The learning rate; 0 only counts.
    rare, values, max_total_edges, random_state
        As FeatureFocus has them.
    n_jobs : int, default=None
        Threads for ranking, and for weighing texts ahead of the thread that learns; −1 for all
        processors. Results do not depend on it.
    vector : int or None, default=None
        How many of the first columns are a dense vector of either sign; all others are words, which
        have values of at least 0. None: all columns if the first rows have negative values,
        otherwise none.

    Attributes
    ----------
    classes_, label_counts_, n_examples_, n_features_in_, feature_names_in_
        As in FrequencyBaseline: labels and their counts, examples, and columns.
    n_edges_ : int
        How many edges the index holds.
    n_vector_ : int
        How many of the first columns are those of a vector.

    References
    ----------
    The index is that of Madani, Connor and Greiner, "Learning when concepts abound", JMLR 10, 2009
    (paper 004); docs/tuned-index.md has the formulas.

    Examples
    --------
    >>> from shortlist import TunedIndex
    >>> learner = TunedIndex().fit([[1.0, 0.0], [0.0, 1.0]], [["a"], ["b"]])
    >>> learner.predict([[2.0, 0.0], [0.0, 3.0]]).tolist()
    ['a', 'b']
    >>> TunedIndex().fit([[0.5, -0.5], [-0.5, 0.5]], ["up", "down"]).predict([[1.0, -2.0]]).tolist()
    ['up']
    """

    nonnegative = False  # words must be, vectors need not: ``checked_signs``
    takes_partial = True
    leakage = True  # dropped edges still count in the total of a feature
    n_vector_ = 0
    labels_to_seed_: Sequence[Label] = ()  # ranked by their names before any example of them
    vectors_of_names_: Callable[[Sequence[Label]], Vectors] | None = None

    def __init__(
        self,
        min_weight: float = 0.006,
        max_edges: int = 100,
        passes: int | None = None,
        step: float = 0.5,
        rare: int = 10,
        values: str = "l2",
        max_total_edges: int | None = None,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        vector: int | None = None,
    ) -> None:
        self.min_weight = min_weight
        self.max_edges = max_edges
        self.passes = passes
        self.step = step
        self.rare = rare
        self.values = values
        self.max_total_edges = max_total_edges
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.vector = vector

    def begin(self) -> None:
        super().begin()
        as_real(self.step, "step", least=0, most=MOST_STEP)
        self._take_vectors(0 if self.vector is None else as_whole(self.vector, "vector"))
        self.vector_share_ = scoring.SHARE
        self.biases_ = np.zeros(0)
        self.running_counts_ = np.zeros(LABELS + 1)
        self.has_examples_ = scoring.EVERY  # of each label, while labels are learned
        self.ring_ = NO_RING
        self.ring_settings_ = (self.values, self.step)
        self.planned_passes_ = FEWEST_PASSES
        self.pass_number_ = 0

    def _take_vectors(self, n_columns: int) -> None:
        self.n_vector_ = n_columns
        self.vector_weights_ = np.zeros((n_columns, 0), dtype=np.float32)

    # Words and vectors.

    def with_vectors(self, n_columns: int | None) -> Self:
        """An unfitted copy that takes vectors of that many columns."""
        learner: Self = clone(self)
        return learner.set_params(vector=n_columns)

    def checked_signs(
        self, rows: Rows | RowStore, called: Callable[[int], str] = "row {}".format
    ) -> Any:
        n_vector = self.n_vector_ if self._has_learned() else self.vector
        if n_vector is not None:
            check_nonnegative(rows, called, as_whole(n_vector, "vector"))  # type: ignore[arg-type]
        return rows

    def fit(self, X: MatrixLike, Y: LabelsLike) -> Self:
        """Forget everything and learn all rows, ``passes`` times, shuffled by ``random_state``
        unless it is None.
        """
        return self.fit_batch(RowBatch.of(X, Y), column_names(X))  # signs as for a new model

    def check_learnable(
        self, rows: Rows | RowStore, called: Callable[[int], str] = "row {}".format
    ) -> None:
        super().check_learnable(rows, called)
        self._check_vector()
        if not self._has_learned():
            n_vector = self._vector_columns_of(rows)
            if n_vector != self.n_vector_:
                self._take_vectors(n_vector)
        if isinstance(rows, Rows):
            check_nonnegative(rows, called, self.n_vector_)

    def check_rows(self, X: MatrixLike) -> Rows:
        self.check_fitted()
        self._check_vector()
        return super().check_rows(X)

    def _check_vector(self) -> None:
        if self.vector is not None and self._has_learned() and self.vector != self.n_vector_:
            raise InputError(
                f"vector was {self.n_vector_} when the model learned and is {self.vector} now; set "
                "it back, or fit anew"
            )

    def _has_learned(self) -> bool:
        return self.__sklearn_is_fitted__() and self.n_examples_ > 0

    def _vector_columns_of(self, rows: Rows | RowStore) -> int:
        """How many columns are those of a vector, where these are the first rows."""
        if self.vector is not None or not isinstance(rows, Rows):
            return self.vector or 0
        has_negative_values = rows.data.size > 0 and rows.data.min() < 0
        return rows.n_features if has_negative_values else 0

    def prepare(self, rows: Rows) -> Rows:
        if self.n_vector_:
            return rows  # prepared once words and vectors are apart
        return super().prepare(rows)

    def _prepared_apart(self, rows: Rows) -> tuple[Rows, Vectors]:
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
        weights = np.float32(length) * scoring.unit(self.vectors_of_names(labels))
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

    # Learning.

    @property
    def ranks_while_learning(self) -> bool:  # type: ignore[override]
        return self.n_vector_ == 0

    def _take_up(
        self, rows: Rows | RowStore, labels: NumberedLabels, shuffled: bool = False
    ) -> LabelSets:
        # first, since it may raise
        n_labels = len(self.label_index_) + len(labels.names)
        weights = scoring.widened(self.vector_weights_, n_labels)
        if shuffled and self.n_vector_ and not self._has_learned():
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

    def passes_through(self, n_rows: int, n_labels: int = 0) -> int:
        """How often ``fit`` goes through that many rows, which have so many labels together."""
        passes = self.passes
        if passes is None:
            n_in_all, most = ROWS_AND_PASSES_OF_ONE
            if n_labels > SINGLE * n_rows:
                n_in_all, most = ROWS_AND_PASSES_OF_SEVERAL
            passes = min(most, max(FEWEST_PASSES, -(-n_in_all // max(1, n_rows))))
        self.planned_passes_ = as_whole(passes, "passes", least=1)
        return self.planned_passes_

    def begin_pass(self, n_rows: int, first_pass: bool) -> None:
        self.pass_number_ = 0 if first_pass else self.pass_number_ + 1
        further = max(1, self.planned_passes_ - 1)
        left = further + 1 - self.pass_number_
        self.rows_to_come_ = np.array([left, further]) * float(n_rows)
        self.biases_ = grown(self.biases_, len(self.label_index_))
        self.vector_weights_ = scoring.widened(self.vector_weights_, len(self.label_index_))

    def pieces(
        self, rows: Rows | RowStore, labels: LabelSets, order: Longs
    ) -> Iterator[tuple[Rows, LabelSets, Longs]]:
        for piece, piece_labels, which in super().pieces(rows, labels, order):
            if self.n_vector_ and which.size < piece.n_rows:  # only these are split
                yield piece.take(which), piece_labels.chosen(which), np.arange(which.size)
            else:
                yield piece, piece_labels, which

    def learn_until_full(
        self, rows: Rows, labels: LabelSets, order: Longs, done: int, first_pass: bool, cap: int
    ) -> tuple[int, int, int]:
        words, vectors = self._prepared_apart(rows)
        n_labels = len(self.label_index_)
        has_examples = scoring.EVERY
        if self.has_examples_.size == n_labels:
            has_examples = self.has_examples_
        biases = self.biases_[:n_labels]
        learned = Learned(self.index_, self.vector_weights_, biases, has_examples)
        rules = Rules(self.max_edges, super().least_share(), self.rare, cap, float(self.step))
        return learn(
            words,
            vectors,
            labels,
            order,
            done,
            first_pass,
            learned,
            self.running_counts_,
            self.rows_to_come_,
            rules,
            self.wanted_rankings_,
            self._ring_to_fill(),
            make_scratch(n_labels),
        )

    def _ring_to_fill(self) -> Ring:
        """The buffer for the examples that are learned now; an empty one if they are not learned
        again.
        """
        if not self.in_stream_ or self.passes is not None or float(self.step) == 0.0:
            return NO_RING
        settings = (self.values, self.step)
        if self.running_counts_[EXAMPLES] >= replay_buffer.MOST_EXAMPLES:
            self.ring_ = NO_RING
        elif not self.ring_.span.size or (
            self.ring_settings_ != settings and not self._fits(self.ring_)
        ):
            self.ring_ = replay_buffer.make_ring(replay_buffer.SLOTS, self.n_vector_)
        self.ring_settings_ = settings
        return self.ring_

    def _fits(self, ring: Ring) -> bool:
        """Whether the rows of a ring satisfy the present settings."""
        rows, vectors, _ = ring.examples()
        row = np.repeat(np.arange(rows.n_rows), rows.lengths())
        squares = np.square(vectors, dtype=np.float64).sum(axis=1)
        squares += np.bincount(row, rows.data**2, rows.n_rows)
        n_entries = rows.lengths() + (self.n_vector_ > 0)
        return are_rows(self.values, float(self.step), squares, n_entries)

    def rank_ahead(
        self, rows: Rows | RowStore, which: Longs, k: int, counts_unknown: bool = False
    ) -> RankedAhead:
        """Rank the rows ``which``; without vectors in the next ``update``, each just before it is
        learned.
        """
        if not self.ranks_while_learning:
            return super().rank_ahead(rows, which, k, counts_unknown)
        k = min(k, max(len(self.label_index_), 1))
        unit_length = self.values == "l2" and not counts_unknown
        wanted = room_for_rankings(rows.n_rows, which, k, unit_length=unit_length)
        self.wanted_rankings_ = wanted
        return RankedAhead(wanted.ids, wanted.scores, wanted.known)

    # Ranking.

    def label_biases(self) -> Floats:
        n_labels = len(self.label_index_)
        return grown(self.biases_, n_labels)[:n_labels]

    def words_and_vectors(self, rows: Rows) -> tuple[Rows, Dense]:
        words, vectors = self._prepared_apart(rows)
        weights = scoring.widened(self.vector_weights_, len(self.label_index_))
        return words, Dense(vectors, weights)

    def has_seen(self, columns: Ints) -> NDArray[np.bool_]:
        return super().has_seen(columns) | (columns < self.n_vector_)

    # Bounds.

    def least_share(self) -> float:
        return float(least_share(super().least_share(), self.running_counts_))

    def replay_bytes(self, n_vector: int) -> int:
        return replay_buffer.most_bytes(n_vector)

    def drop_light(self, index: Index) -> None:
        cut_lists(index, self.max_edges, WHOLE, leakage=True)
        cut_lists(index, 0, self.least_share(), leakage=True)

    def forget_columns(self, kept: NDArray[np.bool_]) -> None:
        super().forget_columns(kept)
        self.ring_ = replay_buffer.with_columns(self.ring_, kept)

    # Merging: counts add. Corrections of a feature are averaged over the learners that have seen
    # it, or those of rare features would shrink; biases and weights of vectors are averaged over
    # all learners.

    def merge_sums(self, other: Any, numbers: Ints) -> None:
        if self.n_examples_ == 0 and self.vector is None:
            self._take_vectors(other.n_vector_)
        elif other.n_vector_ != self.n_vector_:
            raise InputError(
                f"vectors of {other.n_vector_} columns cannot be merged into those of "
                f"{self.n_vector_} columns"
            )
        n_features = max(self.index_.features.size, other.index_.features.size)
        seen = times_seen(self.index_, n_features)
        seen_by_other = times_seen(other.index_, n_features)
        total = np.maximum(1, seen + seen_by_other)
        averaged_other = copy.copy(other)
        averaged_other.index_ = tuned_by(other.index_, seen_by_other / total)
        self.index_ = tuned_by(self.index_, seen / total)
        self.running_counts_ = self.running_counts_ + other.running_counts_
        super().merge_sums(averaged_other, numbers)
        share = 1.0
        if self.n_examples_:
            share = other.n_examples_ / (self.n_examples_ + other.n_examples_)
        self._average_vectors(other, numbers, share)
        is_long = self.running_counts_[EXAMPLES] >= replay_buffer.MOST_EXAMPLES
        ring = NO_RING if is_long else replay_buffer.joined(self.ring_, other.ring_, numbers)
        self.ring_ = ring if self._fits(ring) else NO_RING

    def _average_vectors(self, other: Any, numbers: Ints, share: float) -> None:
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

    def after_label_merge(self, before: Self, numbers: Ints) -> None:
        super().after_label_merge(before, numbers)
        self.pass_number_ = before.pass_number_
        self.planned_passes_ = before.planned_passes_
        self.running_counts_ = before.running_counts_.copy()
        self.biases_ = np.zeros(numbers.size)
        np.add.at(self.biases_, numbers, before.label_biases())

    def with_label_split(self, label: Label, new: Label) -> Self:
        number = self.label_index_.find(label)
        n_labels = len(self.label_index_)
        changed = super().with_label_split(label, new)
        biases = self.label_biases()
        changed.biases_ = np.append(biases, biases[number])
        # either label may be right for its examples now
        changed.ring_ = replay_buffer.without_label(self.ring_, number)
        if self.n_vector_:
            weights = scoring.widened(self.vector_weights_, n_labels)[:, :n_labels]
            changed.vector_weights_ = np.hstack([weights, weights[:, [number]]])
        return changed

    def without_recent_examples(self, labels: Sequence[Label]) -> Self:
        changed = copy.copy(self)
        for label in labels:
            number = self.label_index_.find(label)
            changed.ring_ = replay_buffer.without_label(changed.ring_, number)
        return changed

    def shard(self, n: int) -> Self:
        shard = super().shard(n)
        shard.biases_ = self.biases_.copy()
        shard.running_counts_ = self.running_counts_.copy()
        shard.vector_weights_ = self.vector_weights_.copy()
        return shard

    def mix_shards(self, shards: list[Any]) -> None:
        n_labels = len(self.label_index_)
        self.n_vector_ = shards[0].n_vector_
        self.biases_ = np.mean([grown(shard.biases_, n_labels) for shard in shards], axis=0)
        weights = [
            scoring.widened(shard.vector_weights_, n_labels)[:, :n_labels] for shard in shards
        ]
        mean = np.sum(weights, axis=0) / np.float32(len(shards))
        self.vector_weights_ = mean.astype(np.float32)
        counts = self.running_counts_
        for shard in shards:
            self.running_counts_ = self.running_counts_ + (shard.running_counts_ - counts)
        self.pass_number_ = shards[0].pass_number_
        self._average_corrections(shards)
        super().mix_shards(shards)

    def _average_corrections(self, shards: list[Any]) -> None:
        """Weigh the corrections of each feature in the shards that have met it."""
        n_features = max(shard.index_.features.size for shard in shards)
        before = self.index_.for_features(n_features)
        met = np.array([has_met(shard.index_, before) for shard in shards], dtype=np.float64)
        met[0, met.sum(axis=0) == 0] = 1.0  # unseen by all: every shard still has the initial list
        for shard, factor in zip(shards, met / met.sum(axis=0), strict=True):
            shard.index_ = tuned_by(shard.index_, factor)
        self.index_ = tuned_by(self.index_, np.zeros(before.features.size))

    # Model files.

    def to_arrays(self) -> dict[str, Any]:
        arrays = super().to_arrays()
        arrays["edge_tuned"] = self.index_.column("tuned", np.float32)
        arrays["bias"] = self.label_biases()
        arrays["counts"] = self.running_counts_
        arrays["pass"] = np.array([self.pass_number_])
        if self.n_vector_:
            n_labels = len(self.label_index_)
            weights = scoring.widened(self.vector_weights_, n_labels)
            arrays["vector_weights"] = weights[:, :n_labels]
            arrays["vector_share"] = np.array([self.vector_share_])
        if self._fits(self.ring_):
            arrays |= replay_buffer.to_arrays(self.ring_)
        return arrays

    def compacted(self, arrays: dict[str, Any]) -> dict[str, Any]:
        without_ring = {
            name: array for name, array in arrays.items() if name not in replay_buffer.ARRAYS
        }
        return super().compacted(without_ring)

    def from_arrays(self, state: State) -> None:
        super().from_arrays(state)
        n_labels = len(self.label_index_)
        tuned = state.array("edge_tuned", np.float32)
        state.require(tuned.size == self.index_.edges.size, "each edge has a correction")
        state.require(bool(np.isfinite(tuned).all()), "corrections are finite")
        self.index_.edges["tuned"] = tuned
        lengths = self.index_.features["length"]
        longest = int(lengths.max(initial=0))
        state.require(longest <= self.max_edges, "lists have at most max_edges edges")
        self.biases_ = np.array(state.array("bias", np.float64))
        state.require(self.biases_.size == n_labels, "each label has a bias")
        if "vector_weights" in state.arrays:
            self._vectors_from_arrays(state)
        self.n_vector_ = len(self.vector_weights_)
        as_set = (self.vector or 0) in (0, self.n_vector_)
        state.require(as_set, "its vectors are as long as its parameters say")
        finite = np.isfinite(self.biases_).all() and np.isfinite(self.vector_weights_).all()
        state.require(bool(finite), "biases and weights are finite")
        self.running_counts_ = np.array(state.array("counts", np.float64))
        state.require(are_counts(self.running_counts_, LABELS + 1), "it has its counts")
        pass_number = state.array("pass", np.int64)
        one_pass = pass_number.size == 1 and bool((pass_number >= 0).all())
        state.require(one_pass, "it says which pass it is in")
        self.passes_through(self.n_examples_, int(self.running_counts_[LABELS]))
        self.pass_number_ = int(pass_number[0])
        self.ring_ = replay_buffer.from_arrays(
            state,
            self.index_.features.size,
            n_labels,
            self.n_vector_,
            self.values,
            float(self.step),
        )

    def _vectors_from_arrays(self, state: State) -> None:
        self.vector_weights_ = np.array(state.array("vector_weights", np.float32, ndim=2))
        n_columns = self.vector_weights_.shape[1]
        state.require(n_columns == len(self.label_index_), "each label has weights of vectors")
        share = state.array("vector_share", np.float64)
        is_share = share.size == 1 and bool(((share > 0.0) & (share < 1.0)).all())
        state.require(is_share, "vectors have their share")
        self.vector_share_ = float(share[0])


# The corrections of indexes that were learned separately.


def times_seen(index: Index, n_features: int) -> Floats:
    """In how many examples each of n features was seen."""
    return grown(index.features["seen"].astype(float), n_features)[:n_features]


def tuned_by(index: Index, factors: Floats) -> Index:
    """A copy of the index, the corrections of each feature multiplied by its factor."""
    feature, edges = index.all_edges()
    edges["tuned"] = edges["tuned"] * factors[feature]
    return index.with_edges(edges)


def has_met(index: Index, before: Index) -> NDArray[np.bool_]:
    """Which features of ``before`` have changed in ``index``, a later state of it. Later passes
    never move an edge.
    """
    n = before.features.size
    now, then = index.for_features(n).features[:n], before.features
    met: NDArray[np.bool_] = (now["seen"] != then["seen"]) | (now["length"] != then["length"])
    (feature, edges), (feature_then, edges_then) = index.all_edges(), before.all_edges()
    same, same_then = ~met[feature], ~met[feature_then]
    met[feature[same][edges["tuned"][same] != edges_then["tuned"][same_then]]] = True
    return met
