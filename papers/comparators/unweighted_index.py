"""An unweighted index, after what paper 004 tells of its forerunner of 2007 (section 6.4.1, figure
18).

An index says which labels a row may have: those that one of its features has an edge to. It is
updated only when it fails, by missing a true label or by retrieving more than t_tol false ones.
Paper 004 says no more than that weights of classes and features decide which edges are in the
index, and refers to Madani et al. (2007), whose algorithm keeps them on the side of the classes.
That one is not this one: here the weights are paper 004's own shares of features, and the update
its FSU: on a failure each active feature raises its share of the true labels, all its other shares
shrink, and a share below ``min_weight`` is no edge.

Without classifiers, the retrieved labels are ranked by the shares after all: Σ_f w_fc·x[f]. With
them, each label has a committee of Perceptrons, trained online in tandem with the index: on each
row those of the retrieved and the true labels. Retrieved labels are ranked by the mean score of
their Perceptrons, which may be negative.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from papers.comparators.one_versus_rest import of_unit_length
from shortlist.compiled.kernels import Floats, Ints, Longs, kernel
from shortlist.concurrency import reading, runs
from shortlist.data.labels import LabelSets
from shortlist.data.rows import MatrixLike, Rows
from shortlist.data.validation import as_real, as_whole
from shortlist.files.store import State
from shortlist.learners.category_learner import CategoryLearner
from shortlist.learners.index import scoring
from shortlist.learners.index.edges import END, UNLIMITED, Index, empty_index
from shortlist.learners.index.feature_focus import holds, update
from shortlist.learners.index.scoring import add_votes
from shortlist.learners.prototypes.prototype_learner import write
from shortlist.learners.prototypes.weights import Prototypes, no_prototypes, score, votes_for
from shortlist.learners.top_labels import (
    DONE,
    WANTS_SLOTS,
    Scratch,
    keep_best,
    make_scratch,
    room_for_touched,
)

# why a kernel returns, beside those of best.py: there is no room for weights of classifiers
WANTS_WEIGHTS = 2

ALL_EDGES = np.iinfo(np.int32).max
N_STARTS = 1 << 16
MOST_CLASSIFIERS = 1000  # of a label; all of them are numbered in 32 bits


class UnweightedIndex(CategoryLearner):
    """An index that proposes labels, alone or with classifiers that rank what it proposes.

    Parameters
    ----------
    tolerance : int, default=5
        How many false labels may be retrieved without a correction (t_tol).
    min_weight : float, default=0.1
        A feature has an edge to the labels that hold at least this share of its weight.
    classifiers : int, default=0
        Perceptrons in each label's committee; 0 for none, 10 are the paper's.
    passes : int, default=1
        How often ``fit`` goes through the examples.
    random_state : int or None, default=0
        Seed of the order in which ``fit`` goes through the examples, None for the order given, and
        of the random starts of the Perceptrons.
    n_jobs : int, default=None
        Threads for ranking; results do not depend on it. −1 for all processors.

    Examples
    --------
    >>> from papers.comparators.unweighted_index import UnweightedIndex
    >>> learner = UnweightedIndex().fit([[1.0, 0.0], [0.0, 1.0]], [["a"], ["b"]])
    >>> learner.predict([[2.0, 0.0], [0.0, 3.0]]).tolist()
    ['a', 'b']
    """

    nonnegative = True

    def __init__(
        self,
        tolerance: int = 5,
        min_weight: float = 0.1,
        classifiers: int = 0,
        passes: int = 1,
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.tolerance = tolerance
        self.min_weight = min_weight
        self.classifiers = classifiers
        self.passes = passes
        self.random_state = random_state
        self.n_jobs = n_jobs

    def begin(self) -> None:
        as_whole(self.tolerance, "tolerance")
        as_real(self.min_weight, "min_weight", least=0, most=1)
        as_whole(self.classifiers, "classifiers", most=MOST_CLASSIFIERS)
        self.index_ = empty_index()
        self._perceptrons = no_prototypes()  # Perceptron m of label c is number c·classifiers + m
        self._starts = np.random.default_rng(self.random_state or 0).uniform(-1, 1, N_STARTS)

    def prepare(self, rows: Rows) -> Rows:
        return of_unit_length(rows)

    def update(self, rows: Rows, labels: LabelSets, order: Longs, first_pass: bool) -> None:
        self.index_ = self.index_.for_features(rows.n_features)
        self._perceptrons = self._perceptrons.for_features(rows.n_features)
        n_labels = len(self.label_index_)
        scores, found = np.zeros(n_labels), room_for_touched(n_labels)
        scratch = make_scratch(n_labels * self.classifiers)
        for run in runs(order.size):
            done, why = run.start, WANTS_SLOTS
            while why != DONE:
                done, why, slots = learn(
                    rows,
                    labels,
                    order[: run.stop],
                    done,
                    self.index_,
                    scores,
                    found,
                    self.tolerance,
                    float(self.min_weight),
                    self._perceptrons,
                    scratch,
                    self.classifiers,
                    self._starts,
                )
                if why == WANTS_SLOTS:
                    self.index_ = self.index_.for_slots(slots + self.index_.edges.size)
                elif why == WANTS_WEIGHTS:
                    self._perceptrons = self._perceptrons.with_room(slots)

    def best_labels(self, rows: Rows, ids: Ints, scores: Floats) -> None:
        n_labels, m = len(self.label_index_), self.classifiers
        if m == 0:
            return scoring.rank(rows, self.index_, np.zeros(n_labels), ALL_EDGES, 0, ids, scores)
        own, found = np.zeros(n_labels), room_for_touched(n_labels)
        rank_retrieved(
            rows,
            self.index_,
            own,
            found,
            self._perceptrons,
            make_scratch(n_labels * m),
            m,
            ids,
            scores,
        )

    def all_scores(self, rows: Rows) -> Floats:
        n_labels = len(self.label_index_)
        if self.classifiers == 0:
            return scoring.all_scores(rows, self.index_, np.zeros(n_labels), ALL_EDGES, 0)
        # what is not retrieved stands below all that is
        found = np.full((rows.n_rows, n_labels), -np.inf)
        ids, scores = np.full(found.shape, -1, dtype=np.int32), np.empty(found.shape)
        self.best_labels(rows, ids, scores)
        row, place = np.nonzero(ids >= 0)
        found[row, ids[row, place]] = scores[row, place]
        return found

    def votes(self, row: Rows, label: int) -> tuple[Ints, Floats]:
        if self.classifiers == 0:
            return scoring.votes(
                row, self.index_, np.zeros(len(self.label_index_)), label, ALL_EDGES, 0
            )
        votes = np.zeros(row.indices.size)
        for m in range(self.classifiers):
            votes += (
                votes_for(row, self._perceptrons, label * self.classifiers + m) / self.classifiers
            )
        return row.indices, votes

    @property
    def n_edges_(self) -> int:
        """The number of edges in the index."""
        return self.index_.n_edges

    @property
    @reading
    def n_weights_(self) -> int:
        """The number of edges, and of the classifiers' weights."""
        return self.n_edges_ + self._perceptrons.n_weights

    @reading
    def edges_touched(self, X: MatrixLike) -> float:
        """d, the mean number of edges of each active feature of some rows."""
        return self.index_.edges_touched(self.check_rows(X), ALL_EDGES)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        n = self.n_features_in_
        return self.index_.to_arrays(n) | self._perceptrons.to_arrays(n, "perceptron ")

    def from_arrays(self, state: State) -> None:
        n, n_labels = self.n_features_in_, len(self.label_index_)
        self.index_ = Index.from_arrays(state, n, n_labels)
        self._perceptrons = Prototypes.from_arrays(
            state, n, n_labels * self.classifiers, "perceptron "
        )


# The index


@kernel
def learn(
    rows: Rows,
    labels: LabelSets,
    order: Longs,
    position: int,
    index: Index,
    scores: Floats,
    found: Ints,
    tolerance: int,
    min_weight: float,
    perceptrons: Prototypes,
    scratch: Scratch,
    members: int,
    starts: Floats,
) -> tuple[int, int, int]:
    """Learn the examples order[position:]. Stops early, before an example, where there is too
    little room for it.

    Returns how many of ``order`` are done, why it stopped, and how many free slots are wanted.
    scores: float64[labels], all zero; found: int32[labels + 1].
    """
    for t in range(position, order.size):
        i = order[t]
        first, last = labels.indptr[i], labels.indptr[i + 1]
        slots = 0
        for j in range(rows.indptr[i], rows.indptr[i + 1]):
            slots += 8 * (index.features[rows.indices[j]]["length"] + last - first)
        if index.used[END] + slots > index.edges.size:
            return t, WANTS_SLOTS, slots
        n = add_votes(rows, i, index, ALL_EDGES, 0, scores, found)
        hits = 0
        for b in range(first, last):
            if scores[labels.ids[b]] > 0.0:
                hits += 1
        failed = hits < last - first or n - hits > tolerance
        # the true labels' Perceptrons learn even if they were not retrieved
        for b in range(first, last):
            if scores[labels.ids[b]] == 0.0:
                found[n] = labels.ids[b]
                n += 1
        for a in range(n):
            scores[found[a]] = 0.0
        if members > 0:
            slots = teach(rows, i, labels, found[:n], perceptrons, scratch, members, starts)
            if slots > 0:
                return t, WANTS_WEIGHTS, slots
        if failed:
            for b in range(first, last):
                for j in range(rows.indptr[i], rows.indptr[i + 1]):
                    update(
                        rows.indices[j],
                        labels.ids[b],
                        rows.data[j],
                        index,
                        min_weight,
                        True,
                        UNLIMITED,
                        np.inf,
                    )
    return order.size, DONE, 0


# The classifiers


@kernel
def teach(
    rows: Rows,
    i: int,
    labels: LabelSets,
    taught: Ints,
    perceptrons: Prototypes,
    scratch: Scratch,
    members: int,
    starts: Floats,
) -> int:
    """Let the Perceptrons of these labels learn row i; returns the slots wanted, if there are
    too few to do so.
    """
    scratch.clock[0] += 1
    score(rows, i, perceptrons, scratch, 0)
    changed = 0
    for a in range(taught.size):
        sign = 1.0 if holds(labels, i, taught[a]) else -1.0
        for one in range(taught[a] * members, (taught[a] + 1) * members):
            s = scratch.scores[one] if scratch.mark[one] == scratch.clock[0] else 0.0
            if sign * s <= 0.0:
                scratch.change[one] = sign
                scratch.touched[changed] = one
                changed += 1
    first = rows.indptr[i]
    before = np.empty(rows.indptr[i + 1] - first, dtype=np.int32)
    for j in range(before.size):
        before[j] = perceptrons.length[rows.indices[first + j]]
    slots = write(rows, i, perceptrons, scratch, changed, 0.0, 0.0)
    if slots == 0:
        for j in range(before.size):  # a weight that is new begins at random
            f = rows.indices[first + j]
            for e in range(
                perceptrons.start[f] + before[j], perceptrons.start[f] + perceptrons.length[f]
            ):
                perceptrons.weight[e] += starts[
                    (f * 40503 + perceptrons.label[e] * 30011) % starts.size
                ]
    return slots


@kernel
def rank_retrieved(
    rows: Rows,
    index: Index,
    own: Floats,
    found: Ints,
    perceptrons: Prototypes,
    scratch: Scratch,
    members: int,
    ids: Ints,
    best: Floats,
) -> None:
    """Rank the labels that the index retrieves by the mean score of their Perceptrons.

    own: float64[labels], all zero; found: int32[labels + 1].
    """
    for i in range(rows.indptr.size - 1):
        n = add_votes(rows, i, index, ALL_EDGES, 0, own, found)
        scratch.clock[0] += 1
        score(rows, i, perceptrons, scratch, 0)
        for a in range(n):
            own[found[a]] = 0.0
            for one in range(found[a] * members, (found[a] + 1) * members):
                if scratch.mark[one] == scratch.clock[0]:
                    own[found[a]] += scratch.scores[one] / members
        keep_best(found[:n], own, ids[i], best[i])
        for a in range(n):
            own[found[a]] = 0.0
