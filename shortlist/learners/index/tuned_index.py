"""The default learner: it counts as Feature-Focus does, and corrects votes after errors
(training.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from shortlist.compiled.kernels import Floats, Longs
from shortlist.data.batch import RowBatch
from shortlist.data.label_input import LabelsLike
from shortlist.data.labels import SINGLE, LabelSets
from shortlist.data.rows import MatrixLike, Rows, RowStore, grown
from shortlist.data.validation import as_real, as_whole, column_names
from shortlist.files.store import State
from shortlist.learners.index import replay_buffer, scoring
from shortlist.learners.index.edges import Index, are_counts, are_rows, cut_lists
from shortlist.learners.index.progress import no_progress, progress_in
from shortlist.learners.index.replay_buffer import NO_RING, Ring
from shortlist.learners.index.scoring import room_for_rankings
from shortlist.learners.index.training import (
    EXAMPLES,
    LABELS,
    Learned,
    TuningRules,
    learn,
    least_share,
)
from shortlist.learners.index.tuned_merging import MergesCorrections
from shortlist.learners.port import RankedAhead
from shortlist.learners.top_labels import make_scratch

# How many rows all passes of ``fit`` see together, and the most passes: where examples have one
# label, and several.
ROWS_AND_PASSES_OF_ONE = (25_000, 10)
ROWS_AND_PASSES_OF_SEVERAL = (100_000, 3)
FEWEST_PASSES = 2
MOST_STEP = 10.0  # of rows of unit length 2 are too many
WHOLE = 2.0  # a share that no edge has


class TunedIndex(MergesCorrections):
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

    takes_partial = True
    leakage = True  # dropped edges still count in the total of a feature

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
        self.take_vectors(0 if self.vector is None else as_whole(self.vector, "vector"))
        self.vector_share_ = scoring.SHARE
        self.biases_ = np.zeros(0)
        self.progress_ = no_progress(0)
        self.running_counts_ = np.zeros(LABELS + 1)
        self.has_examples_ = scoring.EVERY  # of each label, while labels are learned
        self.ring_ = NO_RING
        self.ring_settings_ = (self.values, self.step)
        self.planned_passes_ = FEWEST_PASSES
        self.pass_number_ = 0

    # Learning.

    def fit(self, X: MatrixLike, Y: LabelsLike) -> Self:
        """Forget everything and learn all rows, ``passes`` times, shuffled by ``random_state``
        unless it is None.
        """
        return self.fit_batch(RowBatch.of(X, Y), column_names(X))  # signs as for a new model

    @property
    def ranks_while_learning(self) -> bool:  # type: ignore[override]
        return self.n_vector_ == 0

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
        passes_to_come = further + 1 - self.pass_number_
        self.rows_to_come_ = np.array([passes_to_come, further]) * float(n_rows)
        self.biases_ = grown(self.biases_, len(self.label_index_))
        self.progress_ = grown(self.progress_, len(self.label_index_))
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
        words, vectors = self.prepared_apart(rows)
        n_labels = len(self.label_index_)
        has_examples = scoring.EVERY
        if self.has_examples_.size == n_labels:
            has_examples = self.has_examples_
        biases = self.biases_[:n_labels]
        learned = Learned(self.index_, self.vector_weights_, biases, has_examples, self.progress_)
        rules = TuningRules(
            self.max_edges,
            super().least_share(),
            self.rare,
            cap,
            float(self.step),
            self.in_stream_ and self.passes is None,
        )
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
            self.ring_settings_ != settings and not self.fits(self.ring_)
        ):
            self.ring_ = replay_buffer.make_ring(replay_buffer.SLOTS, self.n_vector_)
        self.ring_settings_ = settings
        return self.ring_

    def fits(self, ring: Ring) -> bool:
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
        rankings = room_for_rankings(rows.n_rows, which, k, unit_length=unit_length)
        self.wanted_rankings_ = rankings
        return RankedAhead(rankings.ids, rankings.scores, rankings.known)

    def label_biases(self) -> Floats:
        n_labels = len(self.label_index_)
        return grown(self.biases_, n_labels)[:n_labels]

    def label_progress(self) -> Floats:
        """How many examples each label has, and the share of its last ones that was missed."""
        n_labels = len(self.label_index_)
        return grown(self.progress_, n_labels)[:n_labels]

    # Bounds.

    def least_share(self) -> float:
        return float(least_share(super().least_share(), self.running_counts_))

    def replay_bytes(self, n_vector: int) -> int:
        return replay_buffer.most_bytes(n_vector)

    def drop_light(self, index: Index) -> None:
        cut_lists(index, self.max_edges, WHOLE, leakage=True)
        cut_lists(index, 0, self.least_share(), leakage=True)

    def forget_columns(self, is_kept: NDArray[np.bool_]) -> None:
        super().forget_columns(is_kept)
        self.ring_ = replay_buffer.with_columns(self.ring_, is_kept)

    # Model files.

    def to_arrays(self) -> dict[str, Any]:
        arrays = super().to_arrays()
        arrays["edge_tuned"] = self.index_.column("tuned", np.float32)
        arrays["bias"] = self.label_biases()
        arrays["counts"] = self.running_counts_
        arrays["progress"] = self.label_progress()
        arrays["pass"] = np.array([self.pass_number_])
        if self.n_vector_:
            n_labels = len(self.label_index_)
            weights = scoring.widened(self.vector_weights_, n_labels)
            arrays["vector_weights"] = weights[:, :n_labels]
            arrays["vector_share"] = np.array([self.vector_share_])
        if self.fits(self.ring_):
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
        self.progress_ = progress_in(state, self.counts_by_label_)
        if "vector_weights" in state.arrays:
            self.vectors_from_arrays(state)
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
