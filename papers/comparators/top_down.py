"""Top-down classification over a tree of labels, a comparator of paper 004 (section 5.1, figure 7).

Each node of the tree has a classifier, trained against its siblings on the examples that belong to
one of them (at the top: on all). An example belongs to a node if it has the node's label or a label
below it; nodes need not be labels. A classifier's score s becomes a probability by Platt's sigmoid
1/(1 + e^{A·s + B}), fitted to the scores of held-out rows that are pooled from several trials of a
random 80-20 split, or fixed at A = −2, B = 0.

To rank, probabilities are multiplied down each path; a path ends where the product falls below
p_min. Of the nodes reached only the deepest are candidates: a node with a child that was reached is
not. Labels are ranked by the product.

The paper picks p_min by the accuracy on its test data; here it is a parameter, to be chosen on
other data. In the text the fixed sigmoid is given a slope of −2 but the value 1/(1 + e^{−1}) at
score 1; the slope is taken to be right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
import scipy  # whose optimize is loaded when it is asked for
from numpy.typing import NDArray
from scipy.special import expit

from papers.comparators.one_versus_rest import OneVersusRest
from papers.comparators.tree import Tree
from shortlist.compiled.kernels import Floats, Ints, Longs
from shortlist.concurrency import reading, snapshot
from shortlist.data.label_input import Label
from shortlist.data.labels import LabelSets
from shortlist.data.rows import MatrixLike, Rows
from shortlist.data.validation import as_choice, as_real, as_whole
from shortlist.errors import InputError
from shortlist.files.container import text_to_array
from shortlist.files.store import State, build
from shortlist.learners.additive import as_indicator
from shortlist.learners.category_learner import CategoryLearner
from shortlist.learners.port import BIAS

TreeLike: TypeAlias = Mapping[Label, Label] | Iterable[tuple[Label, Label]]
FIXED = (-2.0, 0.0)
HELD_OUT = 0.2


class TopDown(CategoryLearner):
    """Rank labels by going down a tree of labels, one classifier for each node. Learns all examples
    at once.

    Parameters
    ----------
    tree : pairs (child, parent), mapping from child to parent, or None, default=None
        Nodes without a parent, and labels that the tree does not name, stand at the top; without a
        tree all labels do.
    classifier : {"svm", "perceptron", "committee"}, default="svm"
        What a node is told from its siblings by.
    sigmoid : {"fitted", "fixed"}, default="fitted"
        "fixed" at 1/(1 + e^{−2s}) saves the trials.
    trials : int, default=3
        How many random 80-20 splits give the scores that a sigmoid is fitted to.
    p_min : float, default=0.05
        A path ends where its probability falls below this.
    members : int, default=10
        Perceptrons in a committee.
    patience : int, default=5
        Perceptrons stop when so many passes have not improved their training error.
    C : float, default=1.0
        Of the SVM, how much an error costs.
    values : {"l2", "raw"}, default="l2"
        "l2" scales each row to unit length, "raw" leaves the values.
    random_state : int, default=0
        Seed of the splits and of the classifiers.
    n_jobs : int, default=None
        Threads for ranking; results do not depend on it. −1 for all processors.

    Examples
    --------
    >>> from papers.comparators.top_down import TopDown
    >>> learner = TopDown({"oats": "grain", "rye": "grain"}, sigmoid="fixed")
    >>> learner = learner.fit([[1.0, 0.0], [0.0, 1.0]], ["oats", "rye"])
    >>> learner.predict([[2.0, 0.0], [0.0, 3.0]]).tolist()
    ['oats', 'rye']
    """

    updatable = False

    def __init__(
        self,
        tree: TreeLike | None = None,
        classifier: str = "svm",
        sigmoid: str = "fitted",
        trials: int = 3,
        p_min: float = 0.05,
        members: int = 10,
        patience: int = 5,
        C: float = 1.0,
        values: str = "l2",
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.tree = tree
        self.classifier = classifier
        self.sigmoid = sigmoid
        self.trials = trials
        self.p_min = p_min
        self.members = members
        self.patience = patience
        self.C = C
        self.values = values
        self.random_state = random_state
        self.n_jobs = n_jobs

    def begin(self) -> None:
        as_choice(self.sigmoid, "sigmoid", ("fitted", "fixed"))
        as_whole(self.trials, "trials", least=1)
        as_real(self.p_min, "p_min", least=0, most=1)
        self._siblings().begin()  # checks their parameters
        self._pairs = as_pairs(self.tree)
        self._nodes = Tree.of(self._pairs, [])
        self._among: dict[int, OneVersusRest] = {}  # parent -> the classifiers of its children
        self._sigmoids = np.zeros((0, 2))  # A and B of each node

    def _siblings(self) -> OneVersusRest:
        return OneVersusRest(
            self.classifier, self.members, self.patience, self.C, self.values, self.random_state
        )

    # Section 5.1, training.

    def update(self, rows: Rows, labels: LabelSets, order: Longs, first_pass: bool) -> None:
        self._nodes = Tree.of(self._pairs, self.label_index_.names)
        X = rows.to_matrix()
        belongs = as_indicator(labels, len(self.label_index_)) @ self._nodes.above(
            self.label_index_.names
        )
        self._sigmoids = np.tile(FIXED, (len(self._nodes), 1))
        for parent, children in self._nodes.families():
            among = belongs[:, children]
            some = np.arange(rows.n_rows) if parent < 0 else np.flatnonzero(among.sum(axis=1))
            if some.size == 0:
                continue
            among = among[some]
            kin = [children[part].tolist() for part in np.split(among.indices, among.indptr[1:-1])]
            self._among[parent] = self._siblings().fit(X[some], kin)
            if self.sigmoid == "fitted" and some.size >= 1 / HELD_OUT:
                self._fit_sigmoids(
                    X[some], kin, np.random.default_rng([self.random_state, parent + 1])
                )

    def _fit_sigmoids(self, X: Any, kin: list[list[int]], generator: np.random.Generator) -> None:
        """Fit the sigmoids of some siblings to scores of held-out rows, pooled from all trials."""
        pooled: dict[int, list[tuple[Floats, NDArray[np.bool_]]]] = {}
        n_held_out = round(HELD_OUT * len(kin))
        for _ in range(self.trials):
            shuffled = generator.permutation(len(kin))
            held_out, rest = shuffled[:n_held_out], shuffled[n_held_out:]
            trial = self._siblings().fit(X[rest], [kin[i] for i in rest])
            scores = trial.decision_function(X[held_out])
            for column, child in enumerate(trial.classes_.tolist()):
                truth = np.array([child in kin[i] for i in held_out])
                pooled.setdefault(child, []).append((scores[:, column], truth))
        for child, parts in pooled.items():
            self._sigmoids[child] = fit_sigmoid(
                np.concatenate([scores for scores, _ in parts]),
                np.concatenate([truth for _, truth in parts]),
            )

    # Figure 7, classification.

    def all_scores(self, rows: Rows) -> Floats:
        reached = np.zeros((rows.n_rows, len(self._nodes)))
        self._descend(rows.to_matrix(), -1, np.arange(rows.n_rows), np.ones(rows.n_rows), reached)
        for parent, children in self._nodes.families():
            if parent >= 0:
                # a deeper candidate stands for it
                reached[(reached[:, children] > 0).any(axis=1), parent] = 0.0
        return reached[:, self._nodes.numbers(self.label_index_.names)]

    def _descend(self, X: Any, parent: int, some: Longs, p: Floats, reached: Floats) -> None:
        """TopDownProbabilities: from a node that ``some`` rows reached with probabilities p to
        its children.
        """
        classifiers = self._among.get(parent)
        if classifiers is None or some.size == 0:
            return
        scores = classifiers.decision_function(X[some])
        for column, child in enumerate(classifiers.classes_.tolist()):
            a, b = self._sigmoids[child]
            below = p * expit(-(a * scores[:, column] + b))
            go_on = (below >= self.p_min) & (below > 0)
            reached[some[go_on], child] = below[go_on]
            self._descend(X, child, some[go_on], below[go_on], reached)

    def best_labels(self, rows: Rows, ids: Ints, scores: Floats) -> None:
        self.rank_by_scores(rows, ids, scores, width=len(self._nodes), above=0.0)

    def votes(self, row: Rows, label: int) -> tuple[Ints, Floats]:
        """A product of probabilities is not a sum over columns: one vote stands for the whole."""
        return np.array([BIAS], dtype=np.int32), self.all_scores(row)[0, [label]]

    @reading
    def edges_touched(self, X: MatrixLike) -> float:
        """d of paper 004: the mean number of classifiers that are applied to a row."""
        rows = self.check_rows(X)
        reached = np.zeros((rows.n_rows, len(self._nodes)))
        self._descend(rows.to_matrix(), -1, np.arange(rows.n_rows), np.ones(rows.n_rows), reached)
        applied = sum(
            (rows.n_rows if parent < 0 else np.count_nonzero(reached[:, parent]))
            * len(classifiers.classes_)
            for parent, classifiers in self._among.items()
        )
        return float(applied) / max(rows.n_rows, 1)

    @property
    @reading
    def n_weights_(self) -> int:
        """How many weights all classifiers hold."""
        return sum(classifiers.n_weights_ for classifiers in self._among.values())

    # Model files.

    @snapshot
    def to_state(self) -> State:
        state = super().to_state()
        state.settings["parameters"]["tree"] = (
            None if self.tree is None else [list(pair) for pair in self._pairs]
        )
        state.parts = {
            f"below {parent}": classifiers.to_state() for parent, classifiers in self._among.items()
        }
        return state

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        return {
            "nodes": text_to_array(self._nodes.names),
            "parents": self._nodes.parents,
            "sigmoids": self._sigmoids,
        }

    def from_arrays(self, state: State) -> None:
        names, parents = state.names("nodes"), state.array("parents", np.int32)
        state.require(len(names) == parents.size, "each node has a parent or none")
        state.require(
            bool((parents >= -1).all() and (parents < np.arange(parents.size)).all()),
            "its tree is a tree",
        )
        self._nodes = Tree(names, parents)
        state.require(set(self.label_index_.names) <= set(names), "each label is a node")
        self._sigmoids = state.array("sigmoids", np.float64, ndim=2)
        state.require(self._sigmoids.shape == (len(names), 2), "each node has a sigmoid")
        state.require(bool(np.isfinite(self._sigmoids).all()), "sigmoids are finite")
        for parent, children in self._nodes.families():
            if f"below {parent}" in state.parts:
                classifiers = build(state.parts[f"below {parent}"])
                state.require(
                    isinstance(classifiers, OneVersusRest), "its classifiers are OneVersusRest"
                )
                state.require(
                    set(classifiers.classes_.tolist()) <= set(children.tolist()),
                    "they tell children apart",
                )
                self._among[parent] = classifiers


def as_pairs(tree: TreeLike | None) -> list[tuple[Any, Any]]:
    """The tree as pairs (child, parent)."""
    pairs: Iterable[Any] = () if tree is None else tree.items() if hasattr(tree, "items") else tree
    try:
        return [(child, parent) for child, parent in pairs]
    except (TypeError, ValueError):
        raise InputError(
            "the tree must hold pairs (child, parent), or map each child to its parent"
        ) from None


def fit_sigmoid(scores: Floats, truth: NDArray[np.bool_]) -> Floats:
    """Platt's A and B: the likeliest sigmoid, for targets drawn in a little from 0 and 1 (Platt
    1999, section 2.2).
    """
    n_true, n_false = int(truth.sum()), int((~truth).sum())
    target = np.where(truth, (n_true + 1) / (n_true + 2), 1 / (n_false + 2))

    def loss(ab: Floats) -> tuple[float, Floats]:
        z = ab[0] * scores + ab[1]
        slope = expit(z) - (1 - target)
        return float((np.logaddexp(0, z) - (1 - target) * z).sum()), np.array(
            [slope @ scores, slope.sum()]
        )

    start = np.array([0.0, np.log((n_false + 1) / (n_true + 1))])
    return scipy.optimize.minimize(loss, start, jac=True, method="BFGS").x
