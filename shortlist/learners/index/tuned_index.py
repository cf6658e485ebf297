"""The default learner: it counts as Feature-Focus does, and corrects votes after errors
(tuning.py).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from shortlist.compiled.kernels import Floats, Ints, Longs
from shortlist.concurrency import learning, reading
from shortlist.data.label_input import Label, LabelsLike
from shortlist.data.labels import SINGLE, LabelSets, numbered, sorting
from shortlist.data.rows import MatrixLike, Rows, RowStore, check_nonnegative, grown
from shortlist.data.validation import as_real, as_rows, as_whole, column_names
from shortlist.errors import InputError
from shortlist.estimators import clone
from shortlist.files.store import State
from shortlist.learners.category_learner import CategoryLearner, Watch, at_once
from shortlist.learners.index import replay_buffer, scoring
from shortlist.learners.index.edges import Index, are_counts, are_rows, cut_lists
from shortlist.learners.index.index_learner import IndexLearner
from shortlist.learners.index.replay_buffer import NO_RING, Ring
from shortlist.learners.index.scoring import Ahead, Dense, room_for_rankings
from shortlist.learners.index.training import (
    EXAMPLES,
    LABELS,
    MISSED,
    SEEN,
    Learned,
    Rules,
    learn,
    least_share,
)
from shortlist.learners.top_labels import make_scratch

# How many rows all passes of ``fit`` see together, and the most passes: where examples have one
# label, and several.
OF_ONE, OF_SEVERAL = (25_000, 10), (100_000, 3)
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
        last examples again with each new one (replay_buffer.py), and takes smaller steps for
        labels that are known (training.py).
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

    nonnegative = False  # words must be, vectors need not: checked_signs
    takes_partial = True
    leakage = True  # dropped edges still count in the total of a feature
    _named: Sequence[Label] = ()  # labels that are ranked by their names before any example of them
    # the vectors of the names of labels
    _vectors_of: Callable[[Sequence[Label]], scoring.Vectors] | None = None

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
        self.n_vector_ = 0 if self.vector is None else as_whole(self.vector, "vector")
        self._weights = np.zeros((self.n_vector_, 0), dtype=np.float32)
        self._biases = np.zeros(0)
        self._progress = no_progress(0)
        self._counts = np.zeros(LABELS + 1)
        self._ring, self._ring_settings = NO_RING, (self.values, self.step)
        self._planned, self._pass = FEWEST_PASSES, 0
        # the latter while labels are learned
        self._share, self._have_examples = scoring.SHARE, scoring.EVERY

    # Words and vectors.

    def checked_signs(self, rows: Rows, called: Callable[[int], str] = "row {}".format) -> Rows:
        n_vector = self.n_vector_ if self._has_learned() else self.vector
        if n_vector is not None:
            check_nonnegative(rows, called, as_whole(n_vector, "vector"))
        return rows

    def fit(self, X: MatrixLike, Y: LabelsLike) -> Self:
        """Forget everything and learn all rows, ``passes`` times, shuffled by ``random_state``
        unless it is None.
        """
        # signs are checked as for a new model
        return self.fit_rows(as_rows(X), Y, column_names(X))

    def check_learnable(
        self, rows: Rows | RowStore, called: Callable[[int], str] = "row {}".format
    ) -> None:
        super().check_learnable(rows, called)
        self._check_vector()
        if not self._has_learned() and (n := self._vector_of(rows)) != getattr(
            self, "n_vector_", None
        ):
            self.n_vector_, self._weights = n, np.zeros((n, 0), dtype=np.float32)
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

    def _vector_of(self, rows: Rows | RowStore) -> int:
        """How many columns are those of a vector, where these are the first rows."""
        if self.vector is not None or not isinstance(rows, Rows):
            return self.vector or 0
        return rows.n_features if rows.data.size and rows.data.min() < 0 else 0

    def _take_up(self, rows: Rows | RowStore, Y: LabelsLike, shuffled: bool = False) -> LabelSets:
        labels = numbered(Y, rows.n_rows)
        # first, since it may raise
        wider = scoring.widened(self._weights, len(self.label_index_) + len(labels.names))
        if shuffled and self.n_vector_ and not self._has_learned():
            self._share = self._share_found(rows, labels.sets)
        if shuffled and self._named:  # all labels are sorted, the unused ones, too
            names = {labels.names[number] for number in labels.sets.ids.tolist()}
            self._named = self._named if all(isinstance(name, str) for name in names) else []
            self.expect_labels([[name] for name in sorted(names.union(self._named), key=sorting)])
        found = super()._take_up(rows, labels, shuffled)
        self._weights = wider
        if self.n_vector_:
            counts = self.counts_by_label[: len(self.label_index_)]
            before = counts - np.bincount(found.ids, minlength=counts.size)
            if shuffled:
                new = np.flatnonzero((before == 0) & (counts > 0)).tolist()
                self._weigh_by_names(
                    [self.label_index_.names[number] for number in new], scoring.NAMED_IN_FIT
                )
            self._have_examples = (counts if shuffled else before) > 0
        return found

    def learn_passes(
        self, rows: Rows | RowStore, Y: LabelsLike, watch: Watch = at_once
    ) -> Iterator[int]:
        yield from super().learn_passes(rows, Y, watch)
        self._name_unused()

    def _share_found(self, rows: Rows | RowStore, labels: LabelSets) -> float:
        """The share of vectors beside words, by a sample of the examples if they have one label
        each.
        """
        which = np.flatnonzero(np.diff(labels.indptr) == 1)
        if not which.size or not labels.single or self.values != "l2":
            return scoring.SHARE
        most = min(scoring.SAMPLE, 1 + scoring.CELLS // int(labels.ids.max() + 1))
        which = which[:: -(-which.size // most)]
        words, own = scoring.split(
            rows.take(which) if isinstance(rows, Rows) else rows.chosen(which), self.n_vector_
        )
        if not words.indices.size:
            return scoring.SHARE
        return scoring.share_of_vector(super().prepare(words), own, labels.chosen(which).ids)

    def prepare(self, rows: Rows) -> Rows:
        return super().prepare(rows) if self.n_vector_ == 0 else rows  # else in _split

    def _split(self, rows: Rows) -> tuple[Rows, scoring.Vectors]:
        words, own = scoring.split(rows, self.n_vector_)
        if self.n_vector_:
            words = super().prepare(words)
            if self.values == "l2":
                scoring.balance(words.indptr, words.data, own, self._share)
        return words, own

    # Learning.

    @property
    def ranks_ahead(self) -> bool:  # type: ignore[override]
        return getattr(self, "n_vector_", 0) == 0

    def name_labels(
        self, labels: Sequence[Label], vectors_of: Callable[[Sequence[Label]], scoring.Vectors]
    ) -> None:
        """Rank these labels by the vectors of their names, which ``vectors_of`` gives, before any
        example of them.

        The vector of its name, NAMED long or NAMED_BESIDE times as long as learned weights, is the
        initial weight vector of a label. An empty learner waits for ``fit``, which names all labels
        that it meets (NAMED_IN_FIT).
        """
        self._named, self._vectors_of = list(labels), vectors_of
        if self.__sklearn_is_fitted__():
            self._name_unused()

    def _name_unused(self) -> None:
        learned, length = np.flatnonzero(self.counts_by_label), scoring.NAMED
        used = {self.label_index_.names[number] for number in learned.tolist()}
        if used and self._named:
            several = int(self._counts[LABELS] > SINGLE * self._counts[EXAMPLES])
            length = (
                scoring.NAMED_BESIDE[several]
                * np.linalg.norm(self._weights[:, learned], axis=0).mean()
            )
        self._weigh_by_names([label for label in self._named if label not in used], length)

    def _weigh_by_names(self, labels: list[Label], length: float) -> None:
        if self._vectors_of is None or not labels:
            return
        # first, since it may fail
        named = np.float32(length) * scoring.unit(self._vectors_of(labels))
        if named.shape[1] != self.n_vector_:
            raise InputError(
                f"the names of labels have vectors of {named.shape[1]} numbers, not "
                f"{self.n_vector_}"
            )
        self._weights = scoring.widened(self._weights, len(self.label_index_) + len(labels))
        self.expect_labels([[label] for label in labels])
        self.counts_by_label = grown(self.counts_by_label, len(self.label_index_))
        self._weights[:, [self.label_index_.find(label) for label in labels]] = named.T

    def passes_through(self, n_rows: int, n_labels: int = 0) -> int:
        """How often ``fit`` goes through that many rows, which have so many labels together."""
        in_all, most = OF_ONE if n_labels <= SINGLE * n_rows else OF_SEVERAL
        usual = min(most, max(FEWEST_PASSES, -(-in_all // max(1, n_rows))))
        self._planned = as_whole(usual if self.passes is None else self.passes, "passes", least=1)
        return self._planned

    def _begin_pass(self, n_rows: int, first_pass: bool) -> None:
        self._pass = 0 if first_pass else self._pass + 1
        further, n = max(1, self._planned - 1), float(n_rows)
        self._to_come = np.array([n * (further + 1 - self._pass), n * further])
        self._biases = grown(self._biases, len(self.label_index_))
        self._progress = grown(self._progress, len(self.label_index_))
        self._weights = scoring.widened(self._weights, len(self.label_index_))

    def _pieces(
        self, rows: Rows | RowStore, labels: LabelSets, order: Longs
    ) -> Iterator[tuple[Rows, LabelSets, Longs]]:
        for some, own, which in super()._pieces(rows, labels, order):
            if self.n_vector_ and which.size < some.n_rows:  # only these are split
                some, own, which = some.take(which), own.chosen(which), np.arange(which.size)
            yield some, own, which

    def _learn_some(
        self, rows: Rows, labels: LabelSets, order: Longs, done: int, first_pass: bool, cap: int
    ) -> tuple[int, int, int]:
        words, own = self._split(rows)
        n_labels = len(self.label_index_)
        met = self._have_examples if self._have_examples.size == n_labels else scoring.EVERY
        learned = Learned(self.index_, self._weights, self._biases[:n_labels], met, self._progress)
        rules = Rules(
            self.max_edges,
            super().least_share(),
            self.rare,
            cap,
            float(self.step),
            self.in_stream and self.passes is None,
        )
        return learn(
            words,
            own,
            labels,
            order,
            done,
            first_pass,
            learned,
            self._counts,
            self._to_come,
            rules,
            self._ahead,
            self._ring_to_fill(),
            make_scratch(n_labels),
        )

    def _ring_to_fill(self) -> Ring:
        """The buffer for the examples that are learned now; an empty one if they are not
        rehearsed.
        """
        if not self.in_stream or self.passes is not None or float(self.step) == 0.0:
            return NO_RING
        if self._counts[EXAMPLES] >= replay_buffer.MOST_EXAMPLES:
            self._ring = NO_RING
        elif not self._ring.span.size or (
            self._ring_settings != (self.values, self.step) and not self._fits(self._ring)
        ):
            self._ring = replay_buffer.make_ring(replay_buffer.SLOTS, self.n_vector_)
        self._ring_settings = self.values, self.step
        return self._ring

    def rank_ahead(self, n_rows: int, which: Longs, k: int, whole: bool = False) -> Ahead:
        """Rank the rows ``which`` of the next n_rows, each just before it is learned, as ``rank``
        would.

        Returns the arrays that will hold the rankings. With ``whole``, unseen features count in the
        length of a row.
        """
        k = min(k, max(len(self.label_index_), 1))
        self._ahead = room_for_rankings(
            n_rows, which, k, unit_length=self.values == "l2" and not whole
        )
        return self._ahead

    # Ranking.

    def label_biases(self) -> Floats:
        return grown(self._biases, len(self.label_index_))[: len(self.label_index_)]

    def _features(self, rows: Rows) -> tuple[Rows, Dense]:
        words, own = self._split(rows)
        return words, Dense(own, scoring.widened(self._weights, len(self.label_index_)))

    @reading
    def has_seen(self, columns: Ints) -> NDArray[np.bool_]:
        return super().has_seen(columns) | (columns < self.n_vector_)

    # Bounds.

    def least_share(self) -> float:
        return float(least_share(super().least_share(), self._counts))

    def _drop_light(self, index: Index) -> None:
        cut_lists(index, self.max_edges, WHOLE, leakage=True)
        cut_lists(index, 0, self.least_share(), leakage=True)

    @learning
    def forget_columns(self, kept: NDArray[np.bool_]) -> None:
        super().forget_columns(kept)
        self._ring = replay_buffer.with_columns(self._ring, kept)

    # Merging: counts add. Corrections of a feature are averaged over the learners that have seen
    # it, or those of rare features would shrink; biases and weights of vectors are averaged over
    # all learners.

    def merge_sums(self, other: Any, numbers: Ints) -> None:
        if self.n_examples_ == 0 and self.vector is None:
            self.n_vector_, self._weights = (
                other.n_vector_,
                np.zeros((other.n_vector_, 0), dtype=np.float32),
            )
        elif other.n_vector_ != self.n_vector_:
            raise InputError(
                f"vectors of {other.n_vector_} columns cannot be merged into those of "
                f"{self.n_vector_} columns"
            )
        n = max(self.index_.features.size, other.index_.features.size)
        seen, seen_there = (
            grown(index.features["seen"].astype(float), n)[:n]
            for index in (self.index_, other.index_)
        )
        theirs = copy.copy(other)
        theirs.index_ = tuned_by(other.index_, seen_there / np.maximum(1, seen + seen_there))
        self.index_ = tuned_by(self.index_, seen / np.maximum(1, seen + seen_there))
        self._counts = self._counts + other._counts
        super().merge_sums(theirs, numbers)
        n_labels = len(self.label_index_)
        share = (
            other.n_examples_ / (self.n_examples_ + other.n_examples_) if self.n_examples_ else 1.0
        )
        self._share = (1.0 - share) * self._share + share * other._share
        self._biases = (1.0 - share) * grown(self._biases, n_labels)
        np.add.at(self._biases, numbers, share * other.label_biases())
        self._progress = joined_progress(
            grown(self._progress, n_labels)[:n_labels],
            grown(other._progress, numbers.size)[: numbers.size],
            numbers,
        )
        self._weights = scoring.widened(self._weights, n_labels) * np.float32(1.0 - share)
        weights = scoring.widened(other._weights, numbers.size)
        # several may have become one
        for label, number in enumerate(numbers.tolist() if self.n_vector_ else []):
            self._weights[:, number] += np.float32(share) * weights[:, label]
        is_long = self._counts[EXAMPLES] >= replay_buffer.MOST_EXAMPLES
        ring = NO_RING if is_long else replay_buffer.joined(self._ring, other._ring, numbers)
        self._ring = ring if self._fits(ring) else NO_RING

    def shard(self, n: int) -> Any:
        shard = super().shard(n)
        shard._biases, shard._counts, shard._weights = (
            self._biases.copy(),
            self._counts.copy(),
            self._weights.copy(),
        )
        shard._progress = self._progress.copy()
        return shard

    def mix_shards(self, shards: list[Any]) -> None:
        n_labels = len(self.label_index_)
        self.n_vector_ = shards[0].n_vector_
        self._biases = np.mean([grown(shard._biases, n_labels) for shard in shards], axis=0)
        self._progress = mixed_progress(
            grown(self._progress, n_labels)[:n_labels],
            [grown(shard._progress, n_labels)[:n_labels] for shard in shards],
        )
        weights = [scoring.widened(shard._weights, n_labels)[:, :n_labels] for shard in shards]
        self._weights = (np.sum(weights, axis=0) / np.float32(len(shards))).astype(np.float32)
        self._counts = self._counts + sum(
            (shard._counts - self._counts for shard in shards), np.zeros(LABELS + 1)
        )
        self._pass = shards[0]._pass
        began = self.index_.for_features(max(shard.index_.features.size for shard in shards))
        met = np.array([has_met(shard.index_, began) for shard in shards], dtype=np.float64)
        met[0, met.sum(axis=0) == 0] = 1.0  # unseen by all: every shard still has the initial list
        for shard, factor in zip(shards, met / met.sum(axis=0), strict=True):
            shard.index_ = tuned_by(shard.index_, factor)
        self.index_ = tuned_by(self.index_, np.zeros(began.features.size))
        super().mix_shards(shards)

    # Model files.

    def _fits(self, ring: Ring) -> bool:
        """Whether the rows of a ring satisfy the present settings."""
        rows, own, _ = ring.examples()
        squares = np.square(own, dtype=np.float64).sum(axis=1)
        squares += np.bincount(
            np.repeat(np.arange(rows.n_rows), rows.lengths()), rows.data**2, rows.n_rows
        )
        return are_rows(
            self.values, float(self.step), squares, rows.lengths() + (self.n_vector_ > 0)
        )

    def to_arrays(self) -> dict[str, Any]:
        found = super().to_arrays() | {
            "edge_tuned": self.index_.column("tuned", np.float32),
            "bias": self.label_biases(),
            "counts": self._counts,
            "progress": grown(self._progress, len(self.label_index_))[: len(self.label_index_)],
            "pass": np.array([self._pass]),
        }
        if self.n_vector_:
            found["vector_weights"] = scoring.widened(self._weights, len(self.label_index_))[
                :, : len(self.label_index_)
            ]
            found["vector_share"] = np.array([self._share])
        return found | (replay_buffer.to_arrays(self._ring) if self._fits(self._ring) else {})

    def _compacted(self, arrays: dict[str, Any]) -> dict[str, Any]:
        return super()._compacted(
            {name: array for name, array in arrays.items() if name not in replay_buffer.ARRAYS}
        )

    def from_arrays(self, state: State) -> None:
        super().from_arrays(state)
        n_labels = len(self.label_index_)
        tuned = state.array("edge_tuned", np.float32)
        state.require(tuned.size == self.index_.edges.size, "each edge has a correction")
        state.require(bool(np.isfinite(tuned).all()), "corrections are finite")
        self.index_.edges["tuned"] = tuned
        lengths = self.index_.features["length"]
        state.require(
            not lengths.size or int(lengths.max()) <= self.max_edges,
            "lists have at most max_edges edges",
        )
        self._biases = np.array(state.array("bias", np.float64))
        state.require(self._biases.size == n_labels, "each label has a bias")
        self._progress = progress_in(state, self.counts_by_label)
        if "vector_weights" in state.arrays:
            self._weights = np.array(state.array("vector_weights", np.float32, ndim=2))
            state.require(self._weights.shape[1] == n_labels, "each label has weights of vectors")
            share = state.array("vector_share", np.float64)
            state.require(
                share.size == 1 and bool(((share > 0.0) & (share < 1.0)).all()),
                "vectors have their share",
            )
            self._share = float(share[0])
        self.n_vector_ = len(self._weights)
        state.require(
            (self.vector or 0) in (0, self.n_vector_),
            "its vectors are as long as its parameters say",
        )
        finite = bool(np.isfinite(self._biases).all() and np.isfinite(self._weights).all())
        state.require(finite, "biases and weights are finite")
        self._counts = np.array(state.array("counts", np.float64))
        state.require(are_counts(self._counts, LABELS + 1), "it has its counts")
        passed = state.array("pass", np.int64)
        state.require(passed.size == 1 and bool((passed >= 0).all()), "it says which pass it is in")
        self._planned = self.passes_through(self.n_examples_, int(self._counts[LABELS]))
        self._pass = int(passed[0])
        n_features = self.index_.features.size
        self._ring = replay_buffer.from_arrays(
            state, n_features, n_labels, self.n_vector_, self.values, float(self.step)
        )


def beside_vector(learner: CategoryLearner, n: int) -> TunedIndex:
    """An unfitted copy of a learner that also takes vectors of n columns."""
    if not isinstance(learner, TunedIndex):
        raise InputError(
            "vectors need the learner TunedIndex, which is the default, not "
            f"{type(learner).__name__}"
        )
    copied: TunedIndex = clone(learner)
    return copied.set_params(vector=n)


# The corrections of indexes that were learned separately.


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


# The progress of labels in a stream: how many examples each has, and the share of its last ones
# that was missed.


def no_progress(n_labels: int) -> Floats:
    return np.zeros((n_labels, 2))


def joined_progress(progress: Floats, other: Floats, numbers: Ints) -> Floats:
    """The progress of labels that another learner knows, too: its label i is numbers[i] here."""
    seen = progress[:, SEEN].copy()
    missed = seen * progress[:, MISSED]
    np.add.at(seen, numbers, other[:, SEEN])
    np.add.at(missed, numbers, other[:, SEEN] * other[:, MISSED])
    return np.stack([seen, np.minimum(1.0, missed / np.maximum(1.0, seen))], axis=1)


def mixed_progress(before: Floats, shards: list[Floats]) -> Floats:
    """Examples add up; misses are averaged."""
    mixed: Floats = np.mean(shards, axis=0)
    mixed[:, SEEN] = before[:, SEEN] + sum(shard[:, SEEN] - before[:, SEEN] for shard in shards)
    return mixed


def progress_in(state: State, counts: Longs) -> Floats:
    """The progress that a model file has; one from before it was kept knows only the counts."""
    if "progress" not in state.arrays:
        progress = no_progress(counts.size)
        progress[:, SEEN] = counts
        return progress
    progress = np.array(state.array("progress", np.float64, ndim=2))
    state.require(progress.shape == (counts.size, 2), "each label has its progress")
    state.require(are_counts(progress[:, SEEN], counts.size), "labels have so many examples")
    shares = (progress[:, MISSED] >= 0.0) & (progress[:, MISSED] <= 1.0)
    state.require(bool(shares.all()), "a share of their last examples was missed")
    return progress
