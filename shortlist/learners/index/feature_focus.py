"""Feature-Focus index learning (paper 004: Madani, Connor and Greiner, sections 4.1 to 4.3).

Every feature keeps, for the labels it is seen with, the proportions w_fc of its own weight; labels
are ranked by the votes of the active features. FF updates the features of an example only while the
true label does not lead by the margin δ_m. One pass, one example at a time; a feature has at most
1/w_min edges, whatever the number of labels.

In the paper's letters: w_min ``min_weight``, d_max ``max_edges``, δ_m ``margin``, r_f ``rare``, w′
the running sums. Beyond the paper: ``max_total_edges``, a hard cap on the whole index (learner.py).

The weights of a frequent feature hardly move any more, even if labels change their meaning. The
paper suggests, without a trial, updates with a finite memory (section 4.1): with ``memory`` = M,
the sums of a feature are scaled back to w′_f = M whenever they exceed it, so that old examples
fade. The learning rate that it suggests as well is the same thing: a factor on all updates cancels
out of w_fc = w′_fc / w′_f, and only changes M.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from shortlist.compiled.kernels import Floats, Ints, Longs, loop, part
from shortlist.data.labels import LabelSets
from shortlist.data.rows import Rows
from shortlist.data.validation import as_real, as_whole
from shortlist.learners.index.edges import (
    EDGES,
    Index,
    cut_tail,
    move_to_more_room,
    put_in_place,
    raised,
    room_for,
    see,
)
from shortlist.learners.index.index_learner import IndexLearner
from shortlist.learners.index.scoring import add_votes, fetch_lists
from shortlist.learners.top_labels import DONE, room_for_touched

LEAST_LIGHT = 1e-6  # the least min_weight if weights fade, so that none underflows


class FeatureFocus(IndexLearner):
    """Feature-Focus (FF): learn a sparse index from features to labels, in one pass.

    Parameters
    ----------
    min_weight : float, default=0.01
        Edges lighter than this share of their feature's weight are dropped (w_min).
    max_edges : int, default=25
        How many of a feature's heaviest edges vote (d_max).
    margin : float, default=0.1
        An example is learned while its label does not lead by more than this (δ_m).
    passes : int, default=1
        How often ``fit`` goes through the examples.
    leakage : bool, default=True
        Whether dropped edges still count in the total of a feature, so that a feature without
        information loses its votes.
    rare : int, default=10
        Features seen fewer than this many times vote with less weight, in proportion; 0 turns this
        off.
    values : {"l2", "boolean", "raw"}, default="l2"
        "l2" scales each row to unit length, "boolean" makes all values 1, "raw" leaves them.
    first : int, default=50
        The true label counts as retrieved only among this many best ones.
    max_total_edges : int or None, default=None
        Hard cap on the edges of the whole index; None for no cap.
    memory : float or None, default=None
        The most weight that a feature remembers (with Boolean values, examples); older ones fade.
        At least 1, with a ``min_weight`` of at least 1e-6. None forgets nothing.
    random_state : int or None, default=0
        Seed of the order in which ``fit`` goes through the examples; None keeps the order given.
    n_jobs : int, default=None
        Threads for ranking; results do not depend on it. −1 for all processors.

    Attributes
    ----------
    classes_, label_counts_, n_examples_, n_features_in_, feature_names_in_
        As in FrequencyBaseline: labels and their counts, examples, and columns.
    n_edges_ : int
        How many edges the index holds.

    References
    ----------
    Madani, Connor and Greiner, "Learning when concepts abound", JMLR 10, 2009 (paper 004).

    Examples
    --------
    >>> from shortlist import FeatureFocus
    >>> learner = FeatureFocus().fit([[1.0, 0.0], [0.0, 1.0]], [["a"], ["b"]])
    >>> learner.predict([[2.0, 0.0], [0.0, 3.0]]).tolist()
    ['a', 'b']
    """

    short_names: ClassVar[dict[str, dict[str, Any]]] = {
        "feature-focus": {"margin": 0.3},
        "feature-focus-paper": {},
    }

    def __init__(
        self,
        min_weight: float = 0.01,
        max_edges: int = 25,
        margin: float = 0.1,
        passes: int = 1,
        leakage: bool = True,
        rare: int = 10,
        values: str = "l2",
        first: int = 50,
        max_total_edges: int | None = None,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        memory: float | None = None,
    ) -> None:
        self.min_weight = min_weight
        self.max_edges = max_edges
        self.margin = margin
        self.passes = passes
        self.leakage = leakage
        self.rare = rare
        self.values = values
        self.first = first
        self.max_total_edges = max_total_edges
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory = memory

    def begin(self) -> None:
        super().begin()
        as_real(self.margin, "margin")
        as_whole(self.first, "first", least=1)
        if self.memory is not None:
            as_real(self.memory, "memory", least=1)
            as_real(self.min_weight, "min_weight (where there is a memory)", least=LEAST_LIGHT)

    def learn_until_full(
        self, rows: Rows, labels: LabelSets, order: Longs, done: int, first_pass: bool, cap: int
    ) -> tuple[int, int, int]:
        n_labels = len(self.label_index_)
        scores = np.zeros(n_labels)
        touched = room_for_touched(n_labels)
        rules = FocusRules(
            self.max_edges,
            self.least_share(),
            float(self.margin),
            self.first,
            self.rare,
            bool(self.leakage),
            cap,
            np.inf if self.memory is None else float(self.memory),
        )
        return learn(rows, labels, order, done, first_pass, self.index_, scores, touched, rules)


class FocusRules(NamedTuple):
    """The parameters of FeatureFocus that the loop needs."""

    max_edges: int
    min_weight: float
    margin: float
    first: int
    rare: int
    leakage: bool
    cap: int
    memory: float


# Figure 4(a), the FF algorithm


@loop
def learn(
    rows: Rows,
    labels: LabelSets,
    order: Longs,
    position: int,
    first_pass: bool,
    index: Index,
    scores: Floats,
    touched: Ints,
    rules: FocusRules,
) -> tuple[int, int, int]:
    """Learn the examples order[position:]. Stops early, before an example, where the index has too
    little room for it.

    Returns how many of ``order`` are done, why it stopped, and how many free slots are wanted.
    scores: float64[labels], all zero; touched: int32[labels + 1].
    """
    for t in range(position, order.size):
        i = order[t]
        first_label = labels.indptr[i]
        last_label = labels.indptr[i + 1]
        why, slots = room_for(rows, labels, i, index, rules.cap)
        if why != DONE:
            return t, why, slots

        if first_pass:
            for j in range(rows.indptr[i], rows.indptr[i + 1]):
                see(index.features[rows.indices[j]])
        fetch_lists(rows, i, index)
        n = add_votes(rows, i, index, rules.max_edges, rules.rare, scores, touched)
        wrong = 0.0  # s′_x, the best score of a label that is not true
        for a in range(n):
            c = touched[a]
            if scores[c] > wrong and not holds(labels, i, c):
                wrong = scores[c]
        for b in range(first_label, last_label):
            c = labels.ids[b]
            lead = scores[c] - wrong
            if lead > rules.margin and place(c, scores, touched, n) > rules.first:
                lead = -wrong  # not among the first: its score counts as 0
            if lead <= rules.margin:
                for j in range(rows.indptr[i], rows.indptr[i + 1]):
                    update(
                        rows.indices[j],
                        c,
                        rows.data[j],
                        index,
                        rules.min_weight,
                        rules.leakage,
                        rules.cap,
                        rules.memory,
                    )
        for a in range(n):
            scores[touched[a]] = 0.0
    return order.size, DONE, 0


@part
def holds(labels: LabelSets, i: int, c: int) -> bool:
    """Whether example i has label c."""
    held = False
    for b in range(labels.indptr[i], labels.indptr[i + 1]):
        held = held or labels.ids[b] == c
    return held


@part
def place(c: int, scores: Floats, touched: Ints, n: int) -> int:
    """The rank of label c among the n retrieved ones, from 1; ties to the lower number."""
    above = 0
    for a in range(n):
        other = touched[a]
        if scores[other] > scores[c] or (scores[other] == scores[c] and other < c):
            above += 1
    return above + 1


# Figure 4(c), FSU, the feature streaming update


@part
def update(
    f: int,
    c: int,
    v: float,
    index: Index,
    min_weight: float,
    leakage: bool,
    cap: int,
    memory: float,
) -> None:
    """w′_fc += v; w′_f += v; scale both to the memory; drop the edges whose share is now below
    min_weight.

    The share of one edge grows and those of all others shrink alike, so a list stays sorted if this
    edge moves up.
    """
    feature = index.features[f]
    edges = index.edges
    feature["total"] += v
    first = feature["start"]
    n = feature["length"]
    at = first
    while at < first + n and edges[at]["label"] != c:
        at += 1
    if at < first + n:
        v = np.float64(raised(edges[at]["weight"], v, feature["total"]))
    elif index.used[EDGES] < cap:
        if n == feature["capacity"]:
            move_to_more_room(f, n + 1, index)
            first = feature["start"]
            at = first + n
        n += 1
        index.used[EDGES] += 1
    if at < first + n:
        put_in_place(edges, first, at, c, v, 0.0)
    feature["length"] = n
    if feature["total"] > memory:
        for edge in edges[first : first + n]:
            edge["weight"] *= memory / feature["total"]
        feature["total"] = memory
    cut_tail(feature, edges, index.used, 0, min_weight, leakage)
