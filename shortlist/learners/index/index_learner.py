"""What the learners of an index share: bounds, rows piece by piece, ranking, merging, model files.

Edges hold running sums w′. When the index is full (``max_total_edges``, or the cap that follows
from ``max_memory``), the weakest edges are dropped (by r_f·w_fc, of equals those of the oldest
features). Sums add, so indexes that were learned separately can be merged.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from shortlist.compiled.kernels import Floats, Ints, Longs, kernel, scale_to_unit_length
from shortlist.concurrency import runs, spread
from shortlist.data.label_input import Label
from shortlist.data.labels import LabelIndex, LabelSets
from shortlist.data.rows import MatrixLike, Rows, RowStore
from shortlist.data.validation import MOST_AMOUNT, as_choice, as_real, as_whole
from shortlist.files.store import State
from shortlist.learners.category_learner import MergingLearner
from shortlist.learners.index import scoring
from shortlist.learners.index.edges import (
    ALMOST_ALL,
    UNLIMITED,
    Index,
    added,
    bound_weights,
    check_finite_biases,
    check_lengths,
    drop_light,
    drop_weakest,
    edges_copied,
    empty_index,
    forget_features,
    full,
    reserved,
    shortened,
    total_up,
    with_slots,
)
from shortlist.learners.index.scoring import Dense
from shortlist.learners.port import Allowed
from shortlist.learners.top_labels import DONE, WANTS_EDGES, WANTS_SLOTS

# values are clipped to the range of float32 weights
LEAST_VALUE = 1e-25
MOST_VALUE = 1e25
ROWS_AT_A_TIME = 2048  # made of a store
# of the mantissas of a compact file
WEIGHT_BITS = 10
TUNED_BITS = 10


class IndexLearner(MergingLearner):
    """Base class of the learners of an index, which define ``learn_until_full``."""

    nonnegative = True
    takes_pieces = True
    min_weight: float
    max_edges: int
    leakage: bool
    rare: int
    values: str
    max_total_edges: int | None
    edges_dropped_ = 0  # to stay within the cap, since fit or since the model was loaded
    edge_limit_ = UNLIMITED  # beside max_total_edges; ``max_memory`` sets it
    wanted_rankings_ = scoring.NO_RANKINGS  # of the rows that are learned next

    @abstractmethod
    def learn_until_full(
        self, rows: Rows, labels: LabelSets, order: Longs, done: int, first_pass: bool, cap: int
    ) -> tuple[int, int, int]:
        """Learn the examples order[done:] while the index has room.

        Returns how many of ``order`` are done, why it stopped (top_labels.py), and how many free
        slots are wanted.
        """

    def begin(self) -> None:
        as_real(self.min_weight, "min_weight", least=0, most=1)
        as_whole(self.max_edges, "max_edges", least=1)
        as_whole(self.rare, "rare")
        as_choice(self.leakage, "leakage", (True, False))
        as_choice(self.values, "values", ("l2", "boolean", "raw"))
        if self.max_total_edges is not None:
            as_whole(self.max_total_edges, "max_total_edges", least=1, most=MOST_AMOUNT)
        self.edges_dropped_ = 0
        self.index_ = empty_index()

    def prepare(self, rows: Rows) -> Rows:
        if self.values == "boolean":
            data = np.ones_like(rows.data)
        else:
            data = rows.data.copy()
            if self.values == "l2":
                scale_to_unit_length(rows.indptr, data)
            round_to_weights(data)
        return Rows(rows.indptr, rows.indices, data, rows.n_features)

    def check_learnable(
        self, rows: Rows | RowStore, called: Callable[[int], str] = "row {}".format
    ) -> None:
        step = float(getattr(self, "step", 0.0))  # 0: the learner makes no corrections
        check_lengths(rows, self.values, step, called)

    def update(
        self, rows: Rows | RowStore, labels: LabelSets, order: Longs, first_pass: bool
    ) -> None:
        cap = self.edge_cap()
        self.begin_pass(order.size, first_pass)
        self.index_ = self.index_.for_features(rows.n_features)
        if self.index_.n_edges == 0:
            # of this piece; the pool grows for others
            most_edges = int(rows.lengths() @ np.diff(labels.indptr))
            self.index_ = reserved(self.index_, most_edges, cap)
        try:
            for piece in self.pieces(rows, labels, order):
                self._learn_piece(*piece, first_pass, cap)
        finally:
            self.wanted_rankings_ = scoring.NO_RANKINGS
        check_finite_biases(self.values, self.label_biases())

    def _learn_piece(
        self, rows: Rows, labels: LabelSets, order: Longs, first_pass: bool, cap: int
    ) -> None:
        """Learn examples, and make room in the index whenever it is full."""
        done = 0
        why = WANTS_SLOTS
        while why != DONE:
            done, why, n_slots = self.learn_until_full(rows, labels, order, done, first_pass, cap)
            if why == WANTS_SLOTS:
                self.index_ = with_slots(self.index_, n_slots, cap)
            elif why == WANTS_EDGES:
                self._drop_weakest(full(cap))

    def begin_pass(self, n_rows: int, first_pass: bool) -> None:
        """Called before each pass over so many examples."""

    def pieces(
        self, rows: Rows | RowStore, labels: LabelSets, order: Longs
    ) -> Iterator[tuple[Rows, LabelSets, Longs]]:
        """Yield what a pass learns, in that order: rows as they are, those of a store some at a
        time.
        """
        if isinstance(rows, Rows):
            for run in runs(order.size):
                yield rows, labels, order[run]
            return

        def made(run: slice) -> tuple[slice, Rows]:
            return run, self.prepare(rows.chosen(order[run]))

        # Threads make rows ahead of the thread that learns.
        rankings = self.wanted_rankings_
        for run, piece in spread(made, runs(order.size, ROWS_AT_A_TIME), self.n_threads()):
            place = rankings.place[order[run]] if rankings.place.size else rankings.place
            self.wanted_rankings_ = rankings._replace(place=place)
            yield piece, labels.chosen(order[run]), np.arange(run.stop - run.start)

    # Ranking.

    def label_biases(self) -> Floats:
        """The score of each label before any vote (float64[labels])."""
        return np.zeros(len(self.label_index_))

    def words_and_vectors(self, rows: Rows) -> tuple[Rows, Dense | None]:
        """The words of rows, and their vectors with weights, if any."""
        return rows, None

    def best_labels(self, rows: Rows, ids: Ints, scores: Floats) -> None:
        self.best_allowed_labels(rows, scoring.ALL, ids, scores)

    def best_allowed_labels(self, rows: Rows, allowed: Allowed, ids: Ints, scores: Floats) -> None:
        words, dense = self.words_and_vectors(rows)
        biases = self.label_biases()
        scoring.rank(
            words, self.index_, biases, self.max_edges, self.rare, ids, scores, allowed, dense
        )

    def all_scores(self, rows: Rows) -> Floats:
        words, dense = self.words_and_vectors(rows)
        biases = self.label_biases()
        return scoring.all_scores(words, self.index_, biases, self.max_edges, self.rare, dense)

    def votes(self, row: Rows, label: int) -> tuple[Ints, Floats]:
        words, dense = self.words_and_vectors(row)
        biases = self.label_biases()
        return scoring.votes(words, self.index_, biases, label, self.max_edges, self.rare, dense)

    # Bounds.

    def least_share(self) -> float:
        """The least share of its feature's weight that an edge may have."""
        return min(float(self.min_weight), ALMOST_ALL)

    def edge_cap(self) -> int:
        """The most edges that the index may hold."""
        if self.max_total_edges is None:
            return self.edge_limit_
        return min(self.max_total_edges, self.edge_limit_)

    def limit_edges(self, most: int) -> None:
        """Set another cap on the edges beside ``max_total_edges``, as ``max_memory`` does."""
        self.edge_limit_ = max(1, most)
        self._drop_weakest(self.edge_cap())

    def _drop_weakest(self, keep: int) -> None:
        n_before = self.index_.n_edges
        drop_weakest(self.index_, keep, self.rare, self.leakage)
        self.edges_dropped_ += n_before - self.index_.n_edges

    def replay_bytes(self, n_vector: int) -> int:
        """The most memory that examples take which are learned again."""
        return 0

    def times_seen(self) -> Longs:
        """In how many examples each column was seen."""
        features = self.index_.for_features(self.n_features_in_).features
        return features["seen"][: self.n_features_in_].astype(np.int64)

    def has_seen(self, columns: Ints) -> NDArray[np.bool_]:
        """Which of these columns some example had."""
        features = self.index_.features
        is_known = columns < features.size
        is_known[is_known] = features["seen"][columns[is_known]] > 0
        return is_known

    def forget_columns(self, is_kept: NDArray[np.bool_]) -> None:
        """Forget all columns but those kept, which are renumbered in their order."""
        self.index_ = forget_features(self.index_.for_features(is_kept.size), is_kept)
        self.n_features_in_ = int(is_kept.sum())

    # Merging.

    def merge_sums(self, other: Any, numbers: Ints) -> None:
        """Running sums w′, totals and counts add; then min_weight and the cap hold again."""
        edges = other.index_.lists()
        edges["label"] = numbers[edges["label"]]
        renumbered = other.index_.with_edges(edges)
        n_labels = len(self.label_index_)
        self.index_ = self._within_limits(added(self.index_, renumbered, 1.0, n_labels))

    def after_label_merge(self, earlier: Self, numbers: Ints) -> None:
        self.edge_limit_ = earlier.edge_limit_
        self.edges_dropped_ = earlier.edges_dropped_
        bound_weights(self.index_)  # weights copied by a split are in no total

    def with_label_split(self, label: Label, new: Label) -> Self:
        """A copy with a new label, which begins with a copy of the weights of another one.

        If the two are merged again, both count.
        """
        number = self.label_index_.find(label)
        n_labels = len(self.label_index_) + 1
        changed = copy.copy(self)
        changed.label_index_ = LabelIndex([*self.label_index_.names, new])
        changed.label_columns_ = None
        counts = self.all_label_counts()
        changed.counts_by_label_ = np.append(counts, counts[number])
        changed.index_ = added(
            self.index_, edges_copied(self.index_, number, n_labels - 1), 1.0, n_labels
        )
        if not self.leakage:
            # so that edges dropped later are subtracted from a total that holds them
            total_up(changed.index_)
        return changed

    def shard(self, n: int) -> Self:
        """A copy that learns one of n parts of a pass, and shares nothing that learning changes."""
        shard = copy.copy(self)
        shard.index_ = self.index_.copy()
        # so that together they keep within the cap
        shard.edge_limit_ = max(1, self.edge_cap() // n)
        return shard

    def mix_shards(self, shards: list[Any]) -> None:
        """W + Σ_s (W_s − W): add what all shards have added to the running sums during the pass."""
        n_labels = len(self.label_index_)
        mixed = shards[0].index_
        for shard in shards[1:]:
            mixed = added(mixed, shard.index_, 1.0, n_labels)
        if self.index_.features.size:
            mixed = added(mixed, self.index_, 1.0 - len(shards), n_labels)
        self.index_ = self._within_limits(mixed)

    def _within_limits(self, index: Index) -> Index:
        """Drop the edges that are too light, and those beyond the cap."""
        if not self.leakage:
            total_up(index)  # each part has reduced its own totals by what it dropped
        self.drop_light(index)
        drop_weakest(index, self.edge_cap(), self.rare, self.leakage)
        return index

    def drop_light(self, index: Index) -> None:
        """Drop the edges that are too light for their feature."""
        drop_light(index, self.least_share(), self.leakage)

    # What was learned.

    def to_arrays(self) -> dict[str, Any]:
        return self.index_.to_arrays(self.n_features_in_)

    def compacted(self, arrays: dict[str, Any]) -> dict[str, Any]:
        bits = {"edge_weight": WEIGHT_BITS, "edge_tuned": TUNED_BITS}
        compact = {
            name: shortened(arrays[name], bits[name]) for name in bits.keys() & arrays.keys()
        }
        return arrays | compact

    def from_arrays(self, state: State) -> None:
        self.index_ = Index.from_arrays(state, self.n_features_in_, len(self.label_index_))

    @property
    def n_edges_(self) -> int:
        """|W|, the number of edges in the index."""
        return self.index_.n_edges

    def edges_touched(self, X: MatrixLike) -> float:
        """d, the mean number of edges that vote for each active feature of some rows: the work of
        ranking them.
        """
        return self.index_.edges_touched(self.check_rows(X), self.max_edges)

    def strongest(self, label: Label, n: int = 10) -> list[tuple[int, float]]:
        """The n features that speak for a label the most, by weight and by how often they were
        seen; their weights.
        """
        return [(column, weight) for column, weight, _ in self.strongest_votes(label, n)]

    def strongest_votes(self, label: Label, n: int) -> list[tuple[int, float, float]]:
        """The same, with the evidence of each."""
        return self.index_.strongest(self.label_index_.find(label), n)

    def leaks(self, n: int = 10) -> list[tuple[int, float]]:
        """The n features that leak the most of their weight: seen with everything, they predict
        nothing.
        """
        return self.index_.leaks(n)


@kernel
def round_to_weights(data: Floats) -> None:
    """Round values to float32, as weights are, so that the shares of a feature sum to 1 exactly."""
    for j in range(data.size):
        data[j] = np.float32(min(max(data[j], LEAST_VALUE), MOST_VALUE))
