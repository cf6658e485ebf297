"""IND, independent index learning (paper 004: Madani, Connor and Greiner, section 4.2).

Every feature keeps the exact share of its examples that have each label, w_fc = n_fc / n_f, and an
edge for each share of at least p_ind. Features are Boolean. Counts add, so learners of separate
parts of the data merge exactly.

p_ind is ``threshold``; by default ``fit`` chooses it on a random 20 % of the rows, as the paper
does. ``partial_fit`` without a ``fit`` before it uses the smallest candidate.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import scipy
from numpy.typing import NDArray

from shortlist.compiled.kernels import Floats, Ints, Longs
from shortlist.data.batch import RowBatch
from shortlist.data.labels import LabelSets, NumberedLabels
from shortlist.data.rows import MatrixLike, Rows
from shortlist.data.validation import MOST_AMOUNT, as_real
from shortlist.estimators import clone
from shortlist.files.store import State
from shortlist.learners.additive import AdditiveLearner, as_indicator
from shortlist.learners.category_learner import Made, added
from shortlist.learners.index import scoring
from shortlist.learners.index.edges import Index, make_edges, make_index
from shortlist.learners.port import Observer
from shortlist.learners.predictions import are_hits

CANDIDATES = [n / 100 for n in (*range(1, 10), *range(10, 65, 5))]
HELD_OUT = 0.2
ALL_EDGES = np.iinfo(np.int32).max


class IndependentIndex(AdditiveLearner):
    """IND: an index of exact proportions, each feature on its own.

    Parameters
    ----------
    threshold : float or None, default=None
        Edges with a share below it are left out (p_ind); None lets ``fit`` choose it on held-out
        rows.
    random_state : int, default=0
        Seed of the choice of the held-out rows.
    n_jobs : int, default=None
        Threads for ranking; results do not depend on it. −1 for all processors.

    Attributes
    ----------
    classes_, label_counts_, n_examples_, n_features_in_, feature_names_in_
        As in FrequencyBaseline: labels and their counts, examples, and columns.
    threshold_ : float
        The threshold that is used.
    n_edges_ : int
        How many edges the index holds.

    References
    ----------
    Madani, Connor and Greiner, "Learning when concepts abound", JMLR 10, 2009 (paper 004),
    section 4.2.

    Examples
    --------
    >>> from shortlist import IndependentIndex
    >>> learner = IndependentIndex(threshold=0.05).fit([[1.0, 0.0], [0.0, 1.0]], [["a"], ["b"]])
    >>> learner.predict([[2.0, 0.0], [0.0, 3.0]]).tolist()
    ['a', 'b']
    """

    short_names: ClassVar[dict[str, dict[str, Any]]] = {"independent": {}}

    number = np.int64  # n_fc and n_f are counts

    def __init__(
        self, threshold: float | None = None, random_state: int = 0, n_jobs: int | None = None
    ) -> None:
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs

    def begin(self) -> None:
        threshold = CANDIDATES[0] if self.threshold is None else self.threshold
        self.threshold_ = as_real(threshold, "threshold", least=0, most=1)
        super().begin()

    def learn_passes(self, batch: RowBatch, observer: Observer | None = None) -> Iterator[int]:
        yield from super().learn_passes(batch, observer)
        if self.threshold is None and batch.rows.n_rows > 1:
            self._choose_threshold_on_held_out_rows(batch)

    def _choose_threshold_on_held_out_rows(self, batch: RowBatch) -> None:
        rows = batch.rows
        labels = batch.labels
        which = self.held_out(rows.n_rows)
        label_sets = self.label_index_.learn(labels, rows.n_rows)
        indicator = as_indicator(label_sets, len(self.label_index_))[which]
        held_out_sets = LabelSets(indicator.indptr.astype(np.int64), indicator.indices)
        held_out_labels = NumberedLabels(self.label_index_.names, held_out_sets)
        held_out = RowBatch(rows.take(which), held_out_labels)  # type: ignore[union-attr]
        learned_alone = clone(self).learn_batch(held_out)
        self.choose_threshold(self.hits(held_out, learned_alone))

    def held_out(self, n_rows: int) -> Longs:
        """The numbers of the rows, of so many, on which the threshold is chosen."""
        order = np.random.default_rng(self.random_state).permutation(n_rows)
        return order[: max(1, round(HELD_OUT * n_rows))]

    def hits(self, batch: RowBatch, held_out: IndependentIndex) -> Longs:
        """For each candidate, the number of these rows ranked rightly by the counts without the
        held-out rows.

        ``held_out`` has learned all held-out rows, and this learner those and all others.
        """
        rows = self.prepare(batch.rows)  # type: ignore[arg-type]
        names = [[name] for name in held_out.label_index_.names]
        numbers = self.label_index_.learn(names, len(names)).ids
        held_out_counts = self.renumbered(held_out, numbers)
        held_out_counts.resize(self.label_sums().shape)
        counts = self.label_sums() - held_out_counts
        counts.eliminate_zeros()
        seen = added(self.totals_, -held_out.totals_)
        truth = self.label_index_.learn(batch.labels, rows.n_rows)
        biases = np.zeros(len(self.label_index_))
        hits = np.zeros(len(CANDIDATES), dtype=np.int64)
        for n, candidate in enumerate(CANDIDATES):
            ids = np.full((rows.n_rows, 1), -1, dtype=np.int32)
            scores = np.empty((rows.n_rows, 1))
            index = proportions(counts, seen, candidate)
            scoring.rank(rows, index, biases, ALL_EDGES, 0, ids, scores)
            hits[n] = are_hits(ids[:, 0], truth).sum()
        return hits

    def choose_threshold(self, hits: Longs) -> None:
        """Take the candidate with the most hits on all held-out rows; the smallest of equals."""
        self.threshold_ = CANDIDATES[int(np.argmax(hits))]
        self.derived_ = Made()

    def prepare(self, rows: Rows) -> Rows:
        return rows._replace(data=np.ones_like(rows.data))

    def _made_of_sums(self) -> Index:
        return proportions(self.label_sums(), self.totals_, self.threshold_)

    def index_(self) -> Index:
        return self.derived_.of(self._made_of_sums)

    def best_labels(self, rows: Rows, ids: Ints, scores: Floats) -> None:
        scoring.rank(
            rows, self.index_(), np.zeros(len(self.label_index_)), ALL_EDGES, 0, ids, scores
        )

    def all_scores(self, rows: Rows) -> Floats:
        return scoring.all_scores(
            rows, self.index_(), np.zeros(len(self.label_index_)), ALL_EDGES, 0
        )

    def votes(self, row: Rows, label: int) -> tuple[Ints, Floats]:
        return scoring.votes(
            row, self.index_(), np.zeros(len(self.label_index_)), label, ALL_EDGES, 0
        )

    def edges_touched(self, X: MatrixLike) -> float:
        """d, the mean number of edges that vote for each active feature of some rows: the work
        of ranking them.
        """
        return self.index_().edges_touched(self.check_rows(X), ALL_EDGES)

    @property
    def n_edges_(self) -> int:
        """The number of edges that are used for ranking."""
        return self.index_().n_edges

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        return super().to_arrays() | {"threshold": np.array([self.threshold_])}

    def from_arrays(self, state: State) -> None:
        super().from_arrays(state)
        threshold = state.array("threshold", np.float64)
        state.require(threshold.size == 1, "there is one threshold")
        self.threshold_ = as_real(threshold[0], "threshold", least=0, most=1)
        most = np.repeat(self.totals_, np.diff(self.label_sums().indptr))
        state.require(bool((self.label_sums().data <= most).all()), "shares are at most 1")
        state.require(bool((self.totals_ <= MOST_AMOUNT).all()), "counts can be counted up from")


def proportions(counts: scipy.sparse.csr_array, seen: Longs, threshold: float) -> Index:
    """The index of all shares n_fc / n_f ≥ threshold, heaviest edge of each feature first, ties
    to the lower label.
    """
    counts = counts.tocoo()
    feature = counts.row
    label = counts.col
    number = counts.data
    is_kept = number / seen[feature] >= threshold
    feature = feature[is_kept]
    label = label[is_kept]
    number = number[is_kept]
    order = np.lexsort((label, -number, feature))
    length = np.bincount(feature, minlength=seen.size).astype(np.int32)
    weights = number[order].astype(np.float64)
    return make_index(
        length, make_edges(label[order].astype(np.int32), weights), seen.astype(np.float64), seen
    )
