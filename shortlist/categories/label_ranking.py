"""Learning to order labels, from orders of them or from pairs: what papers 001 and 002 name as a next step.

An example is a row x and an order of labels, best first: of all labels, or of some (a partial order). Labels have
prototypes w_c, and are ranked by w_c·x. Two rules learn them.

MMP, as paper 001 would have it: where MMP takes pairs of a relevant and another label, here every pair (r, s) of an
order is one, E = {(r, s) : r before s, w_r·x ≤ w_s·x}, and with n_r⁺ and n_r⁻ counting the pairs of E in which r comes
first and second,

    w_r += (n_r⁺ − n_r⁻)/c · x,   c = |E| (loss1), 1 (loss2) or all pairs of the order (loss3).

An order of relevant labels before all others, whose order among themselves is not told, is MMP itself.

PRank, as paper 002 would have it: the place of a label is a rating, and all labels share thresholds b_1 ≤ … ≤ b_{k−1}.
A label at place p has y_r = +1 for r ≤ k − p, else −1, so that first places have high scores; with
τ_r = y_r where (w_c·x − b_r)·y_r ≤ 0, else 0,

    w_c += (Σ_r τ_r)·x,   b_r −= τ_r.

The i-th of m labels in a partial order is given the place 1 + (i − 1)·(k − 1)/(m − 1), rounded: as if the others
stood evenly between them. So PRank has to know how many labels there are: it learns from ``labels`` or from ``fit``,
and none may arrive later.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from shortlist.arrays.columns import check_columns, column_names, grown_names, note_names
from shortlist.arrays.given_labels import Label, as_array, class_list, shown
from shortlist.arrays.growing import grown
from shortlist.arrays.kernels import Floats, Longs
from shortlist.arrays.rows import MatrixLike, Rows
from shortlist.arrays.validation import MOST_AMOUNT, as_choice, as_rows, as_seed, as_whole
from shortlist.categories.order_steps import count_named, learn_by_mmp, learn_by_prank, score
from shortlist.categories.orders import Order, Orders, Pair, as_numbers_of, checked_orders, checked_pairs
from shortlist.categories.saving import SavedLearner
from shortlist.concurrency.interrupts import runs, stop_here, whole
from shortlist.concurrency.locks import reading, snapshot, writing
from shortlist.errors import InputError
from shortlist.files.store import State
from shortlist.labels import LabelIndex

if TYPE_CHECKING:
    from typing_extensions import Self

RULES, HYPOTHESES, LOSSES = ("mmp", "prank"), ("averaged", "last"), (1, 2, 3)


class LabelRanker(SavedLearner):
    """Order labels by prototypes learned from orders of labels, one example at a time.

    Parameters
    ----------
    rule : {"mmp", "prank"}, default="mmp"
        How an order that is not met moves the prototypes.
    loss : {1, 2, 3}, default=1
        The loss of paper 001 that the steps of MMP are made for.
    passes : int, default=10
        How often ``fit`` goes through the rows.
    hypothesis : {"averaged", "last"}, default="averaged"
        Which prototypes rank: their mean over time, or the last ones.
    labels : sequence of labels or None, default=None
        All labels; None takes those of the orders, in order of first appearance.
    random_state : int or None, default=0
        Seed of the order in which ``fit`` goes through the rows; None keeps the order given.

    Attributes
    ----------
    classes_ : ndarray
        All labels.
    coef_ : ndarray of shape (n_labels, n_features)
        The prototypes that rank.
    thresholds_ : ndarray of shape (n_labels − 1,)
        Those of PRank, after the last example.
    label_counts_ : ndarray
        In how many examples each label was named.
    n_examples_, n_features_in_ : int
        How many examples were learned, and how many columns the widest had.
    feature_names_in_ : ndarray of str
        The names of the columns, where they have names.

    References
    ----------
    Crammer and Singer, "A new family of online algorithms for category ranking", SIGIR 2002 (paper 001), and
    "Pranking with ranking", NIPS 2001 (paper 002).

    Examples
    --------
    >>> from shortlist import LabelRanker
    >>> ranker = LabelRanker().fit([[1.0, 0.0], [0.0, 1.0]], [["a", "b", "c"], ["c", "b", "a"]])
    >>> ranker.predict([[2.0, 0.0], [0.0, 3.0]]).tolist()
    [['a', 'b', 'c'], ['c', 'b', 'a']]
    """

    def __init__(
        self,
        rule: str = "mmp",
        loss: int = 1,
        passes: int = 10,
        hypothesis: str = "averaged",
        labels: Sequence[Label] | None = None,
        random_state: int | None = 0,
    ) -> None:
        self.rule = rule
        self.loss = loss
        self.passes = passes
        self.hypothesis = hypothesis
        self.labels = labels
        self.random_state = random_state

    # Learning.

    def fit(self, X: MatrixLike, orders: Sequence[Order]) -> Self:
        """Forget everything and learn rows and, of each, labels in order, best first: all labels or some."""
        rows = as_rows(X)
        return self._fit(X, rows, checked_orders(orders, rows.n_rows), paired=False)

    def fit_pairs(self, X: MatrixLike, pairs: Sequence[Sequence[Pair]]) -> Self:
        """Forget everything and learn rows and, of each, pairs of labels, the better one first. MMP alone can."""
        rows = as_rows(X)
        return self._fit(X, rows, checked_pairs(pairs, rows.n_rows), paired=True)

    def partial_fit(self, X: MatrixLike, orders: Sequence[Order]) -> Self:
        """Learn some more rows and orders, once, in the order given. Labels and columns may arrive."""
        rows = as_rows(X)
        return self._learn_more(X, rows, checked_orders(orders, rows.n_rows), paired=False)

    def partial_fit_pairs(self, X: MatrixLike, pairs: Sequence[Sequence[Pair]]) -> Self:
        """Learn some more rows and pairs of labels, once, in the order given."""
        rows = as_rows(X)
        return self._learn_more(X, rows, checked_pairs(pairs, rows.n_rows), paired=True)

    @writing
    def _fit(self, X: MatrixLike, rows: Rows, lists: list[list[Label]], paired: bool) -> Self:
        if rows.n_rows == 0:
            raise InputError("there are no rows to learn from: found 0 samples where at least 1 is needed")
        passes, seed = as_whole(self.passes, "passes", least=1), as_seed(self.random_state)
        generator = None if seed is None else np.random.default_rng(seed)
        before = dict(self.__dict__)  # learning from the start makes new arrays
        try:
            self._start()
            note_names(self, column_names(X))
            orders = self._take_up(rows, lists, paired)
            for number in range(passes):
                order = np.arange(rows.n_rows) if generator is None else generator.permutation(rows.n_rows)
                self._learn(rows, orders, order, first_pass=number == 0)
        except BaseException:
            self.__dict__ = before
            raise
        return self

    @writing
    @whole
    def _learn_more(self, X: MatrixLike, rows: Rows, lists: list[list[Label]], paired: bool) -> Self:
        before = dict(self.__dict__)
        names = grown_names(self, X) if hasattr(self, "_clock") else column_names(X)
        try:
            if not hasattr(self, "_clock"):
                self._start()
            orders = self._take_up(rows, lists, paired)
        except BaseException:
            self.__dict__ = before
            raise
        note_names(self, names)
        self._learn(rows, orders, np.arange(rows.n_rows), first_pass=True)
        return self

    def _start(self) -> None:
        self._labels = LabelIndex([] if self.labels is None else dict.fromkeys(_named(self.labels)))
        self._weights = np.zeros((2, 0, 0))  # the prototypes, and what is to be taken off for their mean over time
        self._thresholds = np.zeros(0)
        self._clock, self._label_counts = np.zeros(1, dtype=np.int64), np.zeros(len(self._labels), dtype=np.int64)
        self._label_columns = None
        self.n_examples_ = self.n_features_in_ = 0

    def _check_fitted(self) -> None:
        check_is_fitted(self, "_clock")

    def _take_up(self, rows: Rows, lists: list[list[Label]], paired: bool) -> Orders:
        """Number the labels, and make room for those, and for the columns, that are new."""
        as_choice(self.rule, "rule", RULES)
        as_choice(self.loss, "loss", LOSSES)
        as_choice(self.hypothesis, "hypothesis", HYPOTHESES)
        if paired and self.rule == "prank":
            raise InputError("PRank learns from places, and pairs have none; use rule='mmp'")
        named = {label: row for row in range(len(lists) - 1, -1, -1) for label in lists[row]}
        new = [label for label in dict.fromkeys(label for own in lists for label in own) if not self._knows(label)]
        if new and self.labels is not None:
            raise InputError(f"row {named[new[0]]} has the label {shown(new[0])}, which labels does not name")
        if new and self.rule == "prank" and self._clock[0] > 0:
            raise InputError(
                f"row {named[new[0]]} has the label {shown(new[0])}, which is new; PRank counts places among all "
                "labels: name all of them in labels"
            )
        if new:
            self._labels = LabelIndex([*self._labels.names, *new])
        self._make_room(len(self._labels), max(self.n_features_in_, rows.n_features))
        return as_numbers_of(self._labels, lists, paired=paired)

    def _make_room(self, k: int, n: int) -> None:
        """For k labels and n columns."""
        before, self.n_features_in_ = self._weights, n
        if before.shape[1:] != (k, n):
            self._label_counts = grown(self._label_counts, k, doubled=False)
            self._weights = grown(np.zeros((0, k, n)), 2, doubled=False)
            self._weights[:, : before.shape[1], : before.shape[2]] = before
        if self._thresholds.size != max(k - 1, 0):  # never after PRank has moved them: it refuses new labels then
            self._thresholds = np.zeros(max(k - 1, 0))

    def _knows(self, label: Label) -> bool:
        return label in self._labels.number

    def _learn(self, rows: Rows, orders: Orders, order: Longs, first_pass: bool) -> None:
        for run in runs(order.size):
            if self.rule == "prank":
                learn_by_prank(rows, orders, order[run], self._weights, self._thresholds, self._clock)
            else:
                learn_by_mmp(rows, orders, order[run], self._weights, self._clock, self.loss)
            if first_pass:
                count_named(orders, order[run], self._label_counts)
                self.n_examples_ += run.stop - run.start
            stop_here()

    # Ranking.

    @property
    def classes_(self) -> NDArray[np.generic]:
        """All labels."""
        return as_array(self._labels.names)

    @property
    def label_counts_(self) -> Longs:
        """In how many examples each label was named."""
        return self._label_counts.copy()

    @property
    def thresholds_(self) -> Floats:
        """Those of PRank, after the last example."""
        return self._thresholds.copy()

    @property
    @reading
    def coef_(self) -> Floats:
        """The prototypes that rank, labels × columns."""
        check_is_fitted(self, "_clock")
        averaged = as_choice(self.hypothesis, "hypothesis", HYPOTHESES) == "averaged"
        last, moments = self._weights
        return last - moments / max(self._clock[0], 1) if averaged else last.copy()

    @reading
    def decision_function(self, X: MatrixLike) -> Floats:
        """The score of each label, rows × labels."""
        check_is_fitted(self, "_clock")
        check_columns(self, X)
        rows = as_rows(X)
        if rows.n_features != self.n_features_in_:
            raise InputError(f"X has {rows.n_features} features, but LabelRanker is expecting {self.n_features_in_}")
        found = np.empty((rows.n_rows, len(self._labels)))
        score(rows, self.coef_, found)
        return found

    @reading
    def predict(self, X: MatrixLike) -> NDArray[np.generic]:
        """All labels for each row, best first; of equal scores the label known first."""
        scores = self.decision_function(X)
        return self.classes_[np.argsort(-scores, axis=1, kind="stable")]

    # Model files.

    @snapshot
    def to_state(self) -> State:
        """All that a fitted learner is."""
        state = super().to_state()
        state.settings["parameters"] |= {"labels": None if self.labels is None else _named(self.labels)}
        return state

    def _to_arrays(self) -> dict[str, Any]:
        return {"weights": self._weights, "thresholds": self._thresholds, "clock": self._clock}

    def _from_arrays(self, state: State) -> None:
        self._weights, self._thresholds = state.array("weights", np.float64, 3), state.array("thresholds", np.float64)
        k = len(self._labels)
        state.require(self._weights.shape == (2, k, self.n_features_in_), "each label has its weights")
        state.require(self._thresholds.size == max(k - 1, 0), "there is a threshold between any two places")
        finite = np.isfinite(self._weights).all() and np.isfinite(self._thresholds).all()
        state.require(bool(finite and (np.diff(self._thresholds) >= 0).all()), "its numbers are finite and in order")
        self._clock = state.array("clock", np.int64)
        counted = self._clock.size == 1 and self.n_examples_ <= self._clock[0] <= MOST_AMOUNT
        state.require(bool(counted), "its examples are counted")


def _named(labels: Iterable[Label]) -> list[Label]:
    return [label for (label,) in class_list(list(labels))]
