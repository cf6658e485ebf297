"""The learner of words and a vector together: one score, one error, and both are corrected by it.

    s_c = b_c + Σ_f (r_f·w_fc + u_fc)·x[f] + Σ_g u_gc·v[g]

x are the words of an example, v is its vector (vectors.py). Where it has both they share its length, which is 1 as the
steps of tuning.py and contest.py ask for (sharing.py). What is learned from words alone, or from vectors alone, is what
TunedIndex and TunedVectors learn from them, to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.given_labels import LabelsLike
from shortlist.arrays.kernels import Floats, Ints, Longs
from shortlist.arrays.rows import MatrixLike, Rows, RowStore
from shortlist.arrays.validation import as_rows, as_whole
from shortlist.categories.allowed import Allowed
from shortlist.categories.answering import BIAS
from shortlist.categories.index import retrieval, together
from shortlist.categories.index.sharing import share_length
from shortlist.categories.index.tuned_index import TunedIndex
from shortlist.categories.index.vectors import Beside, check_size, merged, widened
from shortlist.categories.learner import CategoryLearner
from shortlist.concurrency.locks import reading
from shortlist.errors import InputError
from shortlist.files.store import State
from shortlist.labels import LabelSets, numbered

OF_WORDS = 0.6  # of the squared length of an example, if all its words are well known


class TunedBoth(TunedIndex):
    """Words and a vector in one score: TunedIndex's rules on both, where the first columns of a row are its vector.

    Parameters
    ----------
    vector : int, default=0
        How many of the first columns are those of a vector, dense and of either sign; all others are words.
    min_weight, max_edges, passes, step, leakage, rare, max_total_edges, random_state, n_jobs
        As TunedIndex has them.
    values : "l2", "boolean" or "raw", default="l2"
        What words count, as TunedIndex has it. With "l2" words and vector are of unit length together; with "raw" both
        are taken as they are; with "boolean" the vector is of unit length.

    Attributes
    ----------
    classes_ : ndarray
        All labels, in order of first appearance.
    label_counts_ : ndarray
        In how many examples each label was seen.
    n_examples_, n_features_in_ : int
        How many examples were learned, and how many columns the widest had.
    feature_names_in_ : ndarray of str
        The names of the columns, where they have names.
    n_edges_ : int
        How many edges the index holds.

    References
    ----------
    As TunedIndex and TunedVectors have them; docs/vectors.md tells what both together bring.

    Examples
    --------
    >>> from shortlist import TunedBoth
    >>> learner = TunedBoth(vector=2).fit([[0.5, -0.5, 1.0, 0.0], [-0.5, 0.5, 0.0, 1.0]], ["up", "down"])
    >>> learner.predict([[1.0, -2.0, 0.0, 0.0], [0.0, 0.0, 0.0, 3.0]]).tolist()
    ['up', 'down']
    """

    nonnegative = False  # words are, but that is asked of them alone

    def __init__(
        self,
        vector: int = 0,
        min_weight: float = 0.01,
        max_edges: int = 50,
        passes: int | None = None,
        step: float = 0.3,
        leakage: bool = True,
        rare: int = 10,
        values: str = "l2",
        max_total_edges: int | None = None,
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            min_weight, max_edges, passes, step, leakage, rare, values, max_total_edges,
            random_state=random_state, n_jobs=n_jobs,
        )  # fmt: skip
        self.vector = vector

    def _begin(self) -> None:
        super()._begin()
        as_whole(self.vector, "vector")
        self._weights = np.zeros((self.vector, 0), dtype=np.float32)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = not self.vector
        return tags

    def _as_rows(self, X: MatrixLike) -> Rows:
        rows = as_rows(X)
        words = rows.data[rows.indices >= self.vector]
        if words.size and words.min() < 0:
            raise InputError(
                f"Negative values in data: behind the {self.vector} columns of the vector there is {words.min():g}, "
                "and words have values of at least 0; set vector to the number of columns that the vector has"
            )
        return rows

    # Learning.

    def _take_up(self, rows: Rows | RowStore, Y: LabelsLike, shuffled: bool = False) -> LabelSets:
        labels = numbered(Y, rows.n_rows)
        check_size(self.vector, len(self._labels) + len(labels.names), self)
        return super()._take_up(rows, labels, shuffled)

    def _learn(self, rows: Rows | RowStore, labels: LabelSets, order: Longs, first_pass: bool) -> None:
        self._weights = self._known()
        super()._learn(rows, labels, order, first_pass)

    def _pieces(
        self, rows: Rows | RowStore, labels: LabelSets, order: Longs
    ) -> Iterator[tuple[Rows, LabelSets, Longs]]:
        for some, own, which in super()._pieces(rows, labels, order):
            if which.size < some.n_rows:  # only these are taken apart
                some, own, which = some.take(which), own.chosen(which), np.arange(which.size)
            yield some, own, which

    def _prepare(self, rows: Rows) -> Rows:
        return rows  # until words and vector are taken apart

    def _apart(self, rows: Rows) -> tuple[Rows, Beside]:
        vectors, words = together.split(rows, self.vector)
        words = super()._prepare(words)
        if self.values != "raw":
            vectors = vectors.of_unit_length()
        return words, Beside(vectors, self._known(), OF_WORDS if self.values == "l2" else 0.0)

    def _known(self) -> NDArray[np.float32]:
        """The weights, with room for all labels: some may be named before any example of them is learned."""
        return widened(self._weights, self.vector, len(self._labels))

    def block_for(self, n_rows: int) -> int:
        return 1

    # Answers.

    def _rank(self, rows: Rows, ids: Ints, scores: Floats) -> None:
        self._rank_allowed(rows, Allowed(together.ALL), ids, scores)

    def _rank_allowed(self, rows: Rows, allowed: Allowed, ids: Ints, scores: Floats) -> None:
        bias = self._bias()
        added = bias if allowed.offsets is None else bias + allowed.offsets
        together.rank(
            *self._apart(rows), self._index, bias, added, self._width(), self.rare, allowed.labels, ids, scores
        )

    def _scores(self, rows: Rows) -> Floats:
        found = np.zeros((rows.n_rows, len(self._labels)))
        together.all_scores(*self._apart(rows), self._index, self._bias(), self._width(), self.rare, found)
        return found

    def _votes(self, row: Rows, label: int) -> tuple[Ints, Floats]:
        bias = self._bias()
        words, (vector, weights, of_words) = self._apart(row)
        if vector.indices.size:
            share_length(words, Beside(vector, weights, of_words), 0, self._index, self.rare)
        columns, votes = retrieval.votes(words, self._index, np.zeros_like(bias), label, self._width(), self.rare)
        if not vector.indices.size or (bias[label] == 0.0 and not votes.size):  # it is not retrieved by its vector
            return retrieval.votes(words, self._index, bias, label, self._width(), self.rare)
        of_vector = vector.data * weights[vector.indices, label].astype(np.float64)
        columns = np.concatenate([columns, vector.indices, np.array([BIAS], dtype=np.int32)])
        return columns, np.concatenate([votes, of_vector, bias[label : label + 1]])

    @reading
    def has_seen(self, columns: Ints) -> NDArray[np.bool_]:
        return super().has_seen(columns) | (columns < self.vector)

    # Putting together.

    def _merge(self, other: Any, numbers: Ints) -> None:
        if other.vector != self.vector:
            raise InputError(f"vectors of {other.vector} columns cannot be merged into those of {self.vector}")
        share = other.n_examples_ / max(1, self.n_examples_ + other.n_examples_)
        self._weights = merged(self._known(), other._known(), numbers, share)
        super()._merge(other, numbers)

    # Model files.

    def _to_arrays(self) -> dict[str, Any]:
        return super()._to_arrays() | {"vector_weights": self._known()[:, : len(self._labels)]}

    def _from_arrays(self, state: State) -> None:
        super()._from_arrays(state)
        self._weights = np.array(state.array("vector_weights", np.float32, ndim=2))
        fits = self._weights.shape == (self.vector, len(self._labels))
        state.require(fits, "each column of its vector has a weight for each label")
        state.require(bool(np.isfinite(self._weights).all()), "the weights of its vector are finite")


def beside_vector(learner: CategoryLearner, n: int) -> TunedBoth:
    """The learner of words, unlearned, as one that takes vectors of n numbers beside them."""
    if type(learner) not in (TunedIndex, TunedBoth):
        raise InputError(
            f"a vector beside words needs the learner TunedIndex, which is the usual one, not {type(learner).__name__}"
        )
    known = TunedBoth().get_params()
    return TunedBoth(**{name: value for name, value in learner.get_params().items() if name in known} | {"vector": n})
