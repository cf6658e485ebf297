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
stood evenly between them. Labels are known in advance, from ``labels`` or from the first ``fit``.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from shortlist.arrays.kernels import Floats, Longs
from shortlist.arrays.rows import MatrixLike
from shortlist.arrays.validation import as_choice, as_rows, as_whole
from shortlist.errors import InputError

if TYPE_CHECKING:
    from typing_extensions import Self

RULES, HYPOTHESES = ("mmp", "prank"), ("averaged", "last")
Order = Sequence[Hashable]
Pair = tuple[Hashable, Hashable]


class LabelRanker(BaseEstimator):
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
    labels : sequence or None, default=None
        All labels; None takes those of the orders in ``fit``, in order of first appearance.
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

    References
    ----------
    Crammer and Singer, "A new family of online algorithms for category ranking", SIGIR 2002 (paper 001), and
    "Pranking with ranking", NIPS 2001 (paper 002).

    Examples
    --------
    >>> from shortlist.categories.label_ranking import LabelRanker
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
        labels: Sequence[Hashable] | None = None,
        random_state: int | None = 0,
    ) -> None:
        self.rule = rule
        self.loss = loss
        self.passes = passes
        self.hypothesis = hypothesis
        self.labels = labels
        self.random_state = random_state

    def fit(self, X: MatrixLike, orders: Sequence[Order]) -> Self:
        """Learn from rows and, for each, labels in order, best first: all labels or some."""
        return self._fit(X, orders, pairs=False)

    def fit_pairs(self, X: MatrixLike, pairs: Sequence[Sequence[Pair]]) -> Self:
        """Learn from rows and, for each, pairs of labels, the better one first. MMP alone can."""
        if self.rule == "prank":
            raise InputError("PRank learns from places, and pairs have none; use rule='mmp'")
        return self._fit(X, pairs, pairs=True)

    def _fit(self, X: MatrixLike, orders: Sequence[Sequence[Any]], pairs: bool) -> Self:
        rule, loss = as_choice(self.rule, "rule", RULES), as_choice(self.loss, "loss", (1, 2, 3))
        averaged = as_choice(self.hypothesis, "hypothesis", HYPOTHESES) == "averaged"
        passes = as_whole(self.passes, "passes", least=1)
        rows = as_rows(X).to_matrix().toarray()
        if len(orders) != len(rows):
            raise InputError(f"there are {len(rows)} rows and {len(orders)} orders of labels")
        flat = [_flat(order, row, pairs) for row, order in enumerate(orders)]
        known = self.labels if self.labels is not None else [label for own in flat for label in own]
        number = {label: n for n, label in enumerate(dict.fromkeys(known))}
        numbered = [_numbered(own, number, row, pairs) for row, own in enumerate(flat)]
        k = len(number)
        W, total = np.zeros((k, rows.shape[1])), np.zeros((k, rows.shape[1]))
        b = np.zeros(max(0, k - 1))
        n = 0
        for i in self._stream(len(rows), passes):
            if rule == "prank":
                prank_step(W, b, rows[i], numbered[i])
            else:
                mmp_step(W, rows[i], numbered[i] if pairs else pairs_of(numbered[i]), loss)
            total += W
            n += 1
        self.classes_ = np.empty(k, dtype=object)
        self.classes_[:] = list(number)
        self.coef_ = total / max(n, 1) if averaged else W
        self.thresholds_, self.n_features_in_ = b, rows.shape[1]
        return self

    def _stream(self, n: int, passes: int) -> Iterator[int]:
        generator = None if self.random_state is None else np.random.default_rng(self.random_state)
        for _ in range(passes):
            yield from range(n) if generator is None else generator.permutation(n).tolist()

    def decision_function(self, X: MatrixLike) -> Floats:
        """The score of each label, rows × labels."""
        check_is_fitted(self, "coef_")
        rows = as_rows(X).to_matrix().toarray()
        if rows.shape[1] != self.n_features_in_:
            raise InputError(f"X has {rows.shape[1]} features, but LabelRanker is expecting {self.n_features_in_}")
        return rows @ self.coef_.T

    def predict(self, X: MatrixLike) -> NDArray[np.object_]:
        """All labels for each row, best first; of equal scores the label known first."""
        return self.classes_[np.argsort(-self.decision_function(X), axis=1, kind="stable")]


# Steps


def mmp_step(W: Floats, x: Floats, pairs: Longs, loss: int) -> None:
    """Move the prototypes W by the pairs (better, worse) that x puts in the wrong order; a tie is wrong."""
    scores = W @ x
    wrong = pairs[scores[pairs[:, 0]] <= scores[pairs[:, 1]]]
    if len(wrong):
        k = len(W)
        c = {1: len(wrong), 2: 1, 3: len(pairs)}[loss]
        steps = (np.bincount(wrong[:, 0], minlength=k) - np.bincount(wrong[:, 1], minlength=k)) / c
        W += steps[:, None] * x


def prank_step(W: Floats, b: Floats, x: Floats, order: Longs) -> None:
    """Move prototypes and the thresholds that all labels share, for one label after the other, from the best."""
    k, m = len(W), len(order)
    for i, c in enumerate(order):
        place = round(1 + i * (k - 1) / (m - 1)) if m > 1 else (k + 1) // 2
        y = np.where(np.arange(1, k) <= k - place, 1, -1)
        tau = np.where((W[c] @ x - b) * y <= 0, y, 0)
        W[c] += tau.sum() * x
        b -= tau


def pairs_of(order: Longs) -> Longs:
    """All pairs (better, worse) of an order."""
    first, second = np.triu_indices(len(order), 1)
    return np.column_stack([order[first], order[second]])


def _flat(order: Sequence[Any], row: int, pairs: bool) -> list[Hashable]:
    """The labels of an order, or of pairs one after the other."""
    if pairs and not all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in order):
        raise InputError(f"row {row} does not hold pairs of labels, the better one first")
    return [label for pair in order for label in pair] if pairs else list(order)


def _numbered(labels: list[Hashable], number: dict[Hashable, int], row: int, pairs: bool) -> Longs:
    """The same as numbers: an order, or two columns of pairs."""
    unknown = [label for label in labels if label not in number]
    if unknown:
        raise InputError(f"row {row} has the label {unknown[0]!r}, which labels does not name")
    found = np.array([number[label] for label in labels], dtype=np.int64)
    if pairs:
        found = found.reshape(-1, 2)
        if (found[:, 0] == found[:, 1]).any():
            raise InputError(f"a pair of row {row} sets a label before itself")
    elif np.unique(found).size < found.size:
        raise InputError(f"the order of row {row} names a label twice")
    return found
