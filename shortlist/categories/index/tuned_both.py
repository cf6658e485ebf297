"""The learner of words and a vector: each learns by its own errors, and the two scores are weighed.

    s_c = (1 − α)·(b_c + Σ_f (r_f·w_fc + u_fc)·x[f]) + α·(b′_c + Σ_g u′_gc·v[g])

x are the words of an example, v is its vector (vectors.py). The words learn what TunedIndex learns of them, the vector
what TunedVectors learns of it, to the last bit; α is given by how often each of them misses (sharing.py). Where an
example has only words, or only a vector, the score is that of the one alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.given_labels import LabelsLike
from shortlist.arrays.growing import grown
from shortlist.arrays.kernels import Floats, Ints, Longs
from shortlist.arrays.rows import MatrixLike, Rows, RowStore
from shortlist.arrays.validation import as_whole
from shortlist.categories.allowed import Allowed
from shortlist.categories.answering import BIAS
from shortlist.categories.index import means, retrieval, sharing, together
from shortlist.categories.index.course import START, joined
from shortlist.categories.index.held_back import FEWEST, best_share
from shortlist.categories.index.limits import are_counts, check_finite
from shortlist.categories.index.tuned_index import TunedIndex
from shortlist.categories.index.vector_tuning import learn_vectors
from shortlist.categories.index.vectors import Beside, check_size, merged, widened
from shortlist.categories.learner import CategoryLearner
from shortlist.categories.pauses import DONE
from shortlist.categories.portions import Watch, at_once
from shortlist.concurrency.locks import reading
from shortlist.errors import InputError
from shortlist.files.store import State
from shortlist.labels import LabelSets, numbered


class TunedBoth(TunedIndex):
    """Words and a vector in one score: TunedIndex's rules on both, where the first columns of a row are its vector.

    Parameters
    ----------
    vector : int, default=0
        How many of the first columns are those of a vector, dense and of either sign; all others are words.
    min_weight, max_edges, passes, step, leakage, rare, max_total_edges, random_state, n_jobs
        As TunedIndex has them.
    values : "l2", "boolean" or "raw", default="l2"
        What words count, as TunedIndex has it. The vector is of unit length, but with "raw" it is taken as it is.

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
    share_of_vector_ : float
        α, what the vector counts of the score of an example that has words too.

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
    ranks_ahead = False  # what is scored on the way are words alone, or vectors

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
        self._vector_biases = np.zeros(0)
        self._vector_stats = START.copy()
        self._misses = sharing.START.copy()
        self._is_former = False  # whether it had one error for words and vector, and therefore one bias

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = not self.vector
        return tags

    def _of_right_signs(self, rows: Rows, called: Callable[[int], str] = "row {}".format) -> Rows:
        words = rows.data[rows.indices >= as_whole(self.vector, "vector")]
        if words.size and words.min() < 0:
            raise InputError(
                f"Negative values in data: behind the {self.vector} columns of the vector there is {words.min():g}, "
                "and words have values of at least 0; set vector to the number of columns that the vector has"
            )
        return rows

    def _check(self, X: MatrixLike) -> Rows:
        self._check_fitted()
        self._check_vector()
        return super()._check(X)

    def _check_vector(self) -> None:
        learned, now = self._weights.shape[0], self.vector
        if now != learned:
            raise InputError(f"vector was {learned} when it learned, and is {now} now; set it back, or fit anew")

    # Learning.

    def _take_up(self, rows: Rows | RowStore, Y: LabelsLike, shuffled: bool = False) -> LabelSets:
        self._check_vector()
        labels = numbered(Y, rows.n_rows)
        check_size(self.vector, len(self._labels) + len(labels.names), self)
        return super()._take_up(rows, labels, shuffled)

    _learns_a_part = False  # whether it only learns some of what another one does, to be asked about the others

    def _learn_passes(self, rows: Rows | RowStore, Y: LabelsLike, watch: Watch = at_once) -> Iterator[int]:
        is_new, labels = getattr(self, "n_examples_", 0) == 0, numbered(Y, rows.n_rows)
        yield from super()._learn_passes(rows, labels, watch)
        if self.vector and is_new and means.are_few(rows.n_rows, self._planned):
            if self.values == "l2":
                bias = self._vector_biases[: len(self._labels)]
                means.add_means(rows, self.vector, self.label_numbers(labels), self._weights, bias)
            if rows.n_rows >= FEWEST and not self._learns_a_part:
                self._misses[sharing.BETA] = sharing.beta_for(self._misses, best_share(self, rows, labels))

    def _check_updatable(self) -> None:
        super()._check_updatable()
        if getattr(self, "_is_former", False):
            raise InputError(
                "the model has learned words and vectors in the way of an earlier version: it ranks as it did and "
                "cannot go on learning; train it anew"
            )

    def _learn(self, rows: Rows | RowStore, labels: LabelSets, order: Longs, first_pass: bool) -> None:
        self._weights = self._known()
        self._vector_biases = grown(self._vector_biases, len(self._labels))
        super()._learn(rows, labels, order, first_pass)
        check_finite(self.values, self._vector_biases)

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
        return words, Beside(vectors if self.values == "raw" else vectors.of_unit_length(), self._known())

    def _learn_some(
        self, rows: Rows, labels: LabelSets, order: Longs, done: int, first_pass: bool, cap: int
    ) -> tuple[int, int, int]:
        words, beside = self._apart(rows)
        if done == 0:
            self._to_come_for_vectors = self._to_come.copy()
            self._missed = np.full(order.size if first_pass else 0, -1, dtype=np.int8)
        found = super()._learn_some(words, labels, order, done, first_pass, cap)
        if found[1] == DONE:
            missed, n_labels = self._missed.copy(), len(self._labels)
            learn_vectors(
                beside, labels, order, first_pass, self._vector_biases[:n_labels], self._vector_stats,
                self._to_come_for_vectors, float(self.step), missed,
            )  # fmt: skip
            if first_pass:
                sharing.note_misses(words, beside.rows, order, self._missed, missed, self._misses)
            del self._missed, self._to_come_for_vectors
        return found

    def _known(self) -> NDArray[np.float32]:
        """The weights, with room for all labels: some may be named before any example of them is learned."""
        return widened(self._weights, self.vector, len(self._labels))

    def block_for(self, n_rows: int) -> int:
        return 1

    # Answers.

    @property
    def share_of_vector_(self) -> float:
        self._check_fitted()
        return sharing.share_of_vector(self._misses)

    def _weighed(self, rows: Rows) -> tuple[Rows, Beside]:
        """Words and vectors, each as much as it counts."""
        words, beside = self._apart(rows)
        if not self._is_former:
            sharing.weigh(words, beside.rows, self.share_of_vector_)
        elif self.values == "l2":
            sharing.weigh_as_before(words, beside.rows, self._index, self.rare)
        return words, beside

    def _all_biases(self) -> Floats:
        """The biases for examples of words, of a vector, and of both (together.py)."""
        words, alpha = self._bias(), self.share_of_vector_
        if self._is_former:
            return np.tile(words, (3, 1))
        vector = grown(self._vector_biases, words.size)[: words.size]
        return together.all_biases(words, vector, alpha)

    def _rank(self, rows: Rows, ids: Ints, scores: Floats) -> None:
        self._rank_allowed(rows, Allowed(together.ALL), ids, scores)

    def _rank_allowed(self, rows: Rows, allowed: Allowed, ids: Ints, scores: Floats) -> None:
        if allowed.factors is not None:
            self._rank_all_and_keep(rows, allowed, ids, scores)
            return
        bias = self._all_biases()
        added = bias if allowed.offsets is None else bias + allowed.offsets
        together.rank(
            *self._weighed(rows), self._index, bias, added, self._width(), self.rare, allowed.labels, ids, scores
        )

    def _scores(self, rows: Rows) -> Floats:
        found = np.zeros((rows.n_rows, len(self._labels)))
        together.all_scores(*self._weighed(rows), self._index, self._all_biases(), self._width(), self.rare, found)
        return found

    def _votes(self, row: Rows, label: int) -> tuple[Ints, Floats]:
        words, beside = self._weighed(row)
        vector, weights = beside
        bias = self._all_biases()[together.which_bias(words, beside, 0)]
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
        self._check_updatable()
        other._check_updatable()
        if other.vector != self.vector:
            raise InputError(f"vectors of {other.vector} columns cannot be merged into those of {self.vector}")
        share = other.n_examples_ / max(1, self.n_examples_ + other.n_examples_)
        self._weights = merged(self._known(), other._known(), numbers, share)
        self._vector_biases = (1.0 - share) * grown(self._vector_biases, len(self._labels))
        np.add.at(self._vector_biases, numbers, share * grown(other._vector_biases, numbers.size)[: numbers.size])
        self._vector_stats = joined([self._vector_stats, other._vector_stats], [1.0 - share, share])
        n = self._misses[sharing.N] + other._misses[sharing.N] - sharing.START[sharing.N]
        self._misses = (1.0 - share) * self._misses + share * other._misses
        self._misses[sharing.N] = n
        super()._merge(other, numbers)

    def _shard(self, n: int) -> Any:
        shard = super()._shard(n)
        shard._weights, shard._vector_biases = self._weights.copy(), self._vector_biases.copy()
        shard._vector_stats, shard._misses = self._vector_stats.copy(), self._misses.copy()
        return shard

    def _mix(self, shards: list[Any]) -> None:
        n_labels, equal = len(self._labels), [1.0 / len(shards)] * len(shards)
        total = shards[0]._known()[:, :n_labels].copy()
        for shard in shards[1:]:
            total += shard._known()[:, :n_labels]
        self._weights = total / np.float32(len(shards))
        self._vector_biases = np.mean([grown(shard._vector_biases, n_labels)[:n_labels] for shard in shards], axis=0)
        learned = [shard._vector_stats - self._vector_stats for shard in shards]
        self._vector_stats = self._vector_stats + joined(learned, equal)
        self._misses = sharing.mixed(self._misses, [shard._misses for shard in shards])
        super()._mix(shards)

    # Model files.

    def _to_arrays(self) -> dict[str, Any]:
        self._check_vector()
        n_labels = len(self._labels)
        found = super()._to_arrays() | {"vector_weights": self._known()[:, :n_labels]}
        if not self._is_former:
            bias = grown(self._vector_biases, n_labels)[:n_labels]
            found |= {"vector_bias": bias, "vector_course": self._vector_stats, "misses": self._misses}
        return found

    def _from_arrays(self, state: State) -> None:
        super()._from_arrays(state)
        n_labels = len(self._labels)
        self._weights = np.array(state.array("vector_weights", np.float32, ndim=2))
        state.require(self._weights.shape == (self.vector, n_labels), "each column of its vector has weights")
        self._is_former = not {"vector_bias", "vector_course", "misses"} & set(state.arrays)
        if not self._is_former:
            self._vector_biases = np.array(state.array("vector_bias", np.float64))
            self._vector_stats = np.array(state.array("vector_course", np.float64))
            self._misses = np.array(state.array("misses", np.float64))
            if self._misses.size == sharing.BETA:  # from before there was a β
                self._misses = np.append(self._misses, sharing.START[sharing.BETA])
        state.require(self._is_former or self._vector_biases.size == n_labels, "each label has a bias of its vector")
        state.require(are_counts(self._vector_stats, START.size), "its vector has its counts")
        state.require(sharing.are_misses(self._misses), "it has the shares that words and vectors miss")
        finite = bool(np.isfinite(self._weights).all() and np.isfinite(self._vector_biases).all())
        state.require(finite, "weights and biases of its vector are finite")


def beside_vector(learner: CategoryLearner, n: int) -> TunedBoth:
    """The learner of words, unlearned, as one that takes vectors of n numbers beside them."""
    if type(learner) not in (TunedIndex, TunedBoth):
        raise InputError(
            f"a vector beside words needs the learner TunedIndex, which is the usual one, not {type(learner).__name__}"
        )
    known = TunedBoth().get_params()
    return TunedBoth(**{name: value for name, value in learner.get_params().items() if name in known} | {"vector": n})
