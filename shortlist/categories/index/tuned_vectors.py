"""The learner of dense, signed vectors; how it learns stands in vectors.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from shortlist.arrays.given_labels import LabelsLike
from shortlist.arrays.growing import grown
from shortlist.arrays.kernels import Floats, Ints, Longs
from shortlist.arrays.rows import Rows, RowStore
from shortlist.arrays.validation import as_choice, as_real, as_whole
from shortlist.categories.answering import BIAS
from shortlist.categories.index import means, vectors
from shortlist.categories.index.course import START, joined
from shortlist.categories.index.limits import are_counts, check_finite, check_lengths
from shortlist.categories.index.lists import empty_index
from shortlist.categories.index.passes import usual_passes
from shortlist.categories.index.sharing import NOBODY_ASKS
from shortlist.categories.index.together import ALL, rank
from shortlist.categories.index.vector_tuning import learn_vectors
from shortlist.categories.portions import Watch, at_once
from shortlist.categories.shards import MergingLearner
from shortlist.concurrency.interrupts import runs
from shortlist.files.store import State
from shortlist.labels import LabelSets, numbered

RUN = 256  # examples between two chances to stop


class TunedVectors(MergingLearner):
    """TunedIndex's rules on dense vectors of either sign, as embeddings are: a weight for each column and label.

    Parameters
    ----------
    passes : int or None, default=None
        How often ``fit`` goes through the rows. None: twice, and through fewer than 4,000 rows more often, up to ten
        times.
    step : float, default=0.3
        How much of what a label misses is made up for at a time.
    values : "l2" or "raw", default="l2"
        Whether each row is divided by its length first, or taken as it is.
    random_state : int or None, default=0
        The seed by which ``fit`` shuffles the rows; None leaves them in order.
    n_jobs : int or None, default=None
        Threads for ranking; results do not depend on it.

    Attributes
    ----------
    classes_ : ndarray
        All labels, in order of first appearance.
    label_counts_ : ndarray
        In how many examples each label was seen.
    n_examples_, n_features_in_ : int
        How many rows were learned, and how many columns the widest had.
    feature_names_in_ : ndarray of str
        The names of the columns, where they have names.

    References
    ----------
    Crammer, Dekel, Keshet, Shalev-Shwartz and Singer, "Online passive-aggressive algorithms", JMLR 7, 2006, for the
    step where rows have one label each; the rule of Widrow and Hoff (paper 002) where they have several.

    Examples
    --------
    >>> from shortlist import TunedVectors
    >>> learner = TunedVectors().fit([[0.5, -0.5], [-0.5, 0.5]], ["up", "down"])
    >>> learner.predict([[1.0, -2.0], [-1.0, 0.5]]).tolist()
    ['up', 'down']
    """

    takes_pieces = True
    takes_partial = True

    def __init__(
        self,
        passes: int | None = None,
        step: float = 0.3,
        values: str = "l2",
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.passes = passes
        self.step = step
        self.values = values
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _begin(self) -> None:
        as_real(self.step, "step", least=0)
        as_choice(self.values, "values", ("l2", "raw"))
        self._planned = usual_passes(self.passes, None)
        self._weights = np.zeros((0, 0), dtype=np.float32)
        self._biases = np.zeros(0)
        self._stats = START.copy()
        self._pass = 0

    def passes_through(self, n_rows: int, n_labels: int = 0) -> int:
        """How often ``fit`` goes through that many rows, however many labels they have."""
        self._planned = usual_passes(self.passes, n_rows)
        return self._planned

    def _prepare(self, rows: Rows) -> Rows:
        return rows.of_unit_length() if self.values == "l2" else rows

    def check_learnable(self, rows: Rows | RowStore, called: Callable[[int], str] = "row {}".format) -> None:
        check_lengths(rows, self.values, float(self.step), called)

    def _take_up(self, rows: Rows | RowStore, Y: LabelsLike, shuffled: bool = False) -> LabelSets:
        labels = numbered(Y, rows.n_rows)
        widest = max(rows.n_features, self._weights.shape[0])
        vectors.check_size(widest, len(self._labels) + len(labels.names), self)
        return super()._take_up(rows, labels, shuffled)

    def _learn_passes(self, rows: Rows | RowStore, Y: LabelsLike, watch: Watch = at_once) -> Iterator[int]:
        is_new, labels = getattr(self, "n_examples_", 0) == 0, numbered(Y, rows.n_rows)
        yield from super()._learn_passes(rows, labels, watch)
        if is_new and self.values == "l2" and means.are_few(rows.n_rows, self._planned):
            means.add_means(rows, rows.n_features, self.label_numbers(labels), self._weights, self._biases)

    def _learn(self, rows: Rows | RowStore, labels: LabelSets, order: Longs, first_pass: bool) -> None:
        self._pass = 0 if first_pass else self._pass + 1
        further = max(1, self._planned - 1)
        n, n_labels = float(order.size), len(self._labels)
        to_come = np.array([n * (further + 1 - self._pass), n * further])
        self._weights = vectors.widened(self._weights, rows.n_features, n_labels)
        self._biases = grown(self._biases, n_labels)[:n_labels]
        for run in runs(order.size, RUN):
            some, own, which = rows, labels, order[run]
            if not isinstance(some, Rows):
                some, own = self._prepare(some.chosen(which)), labels.chosen(which)
                which = np.arange(which.size)
            learn_vectors(
                vectors.Beside(some, self._weights), own, which, first_pass, self._biases, self._stats, to_come,
                float(self.step), NOBODY_ASKS,
            )  # fmt: skip
        check_finite(self.values, self._biases)

    def _bias(self) -> Floats:
        return grown(self._biases, len(self._labels))[: len(self._labels)]

    def _known(self) -> vectors.Weights:
        """The weights, with room for all labels: some may be named before any example of them is learned."""
        return vectors.widened(self._weights, 0, len(self._labels))

    # Answers.

    def _rank(self, rows: Rows, ids: Ints, scores: Floats) -> None:
        beside, bias = vectors.Beside(rows, self._known()), self._bias()[np.newaxis]
        rank(vectors.no_rows(rows.n_rows), beside, empty_index(), bias, bias, 1, 0, ALL, ids, scores)

    def _scores(self, rows: Rows) -> Floats:
        found = np.zeros((rows.n_rows, len(self._labels)))
        vectors.add_all_votes(vectors.Beside(rows, self._known()), found)
        return found + self._bias()

    def _votes(self, row: Rows, label: int) -> tuple[Ints, Floats]:
        known, weights = row.indices < self._weights.shape[0], self._known()
        votes = row.data[known] * weights[row.indices[known], label].astype(np.float64)
        columns = np.append(row.indices[known], np.int32(BIAS))
        return columns, np.append(votes, self._bias()[label])

    # Putting together: weights are averaged, by how many examples each has learned.

    def _merge(self, other: Any, numbers: Ints) -> None:
        share = other.n_examples_ / max(1, self.n_examples_ + other.n_examples_)
        theirs, n_labels = other._known(), len(self._labels)
        vectors.check_size(max(theirs.shape[0], self._weights.shape[0]), n_labels, self)
        mine = vectors.widened(self._weights, theirs.shape[0], n_labels)
        self._weights, self._biases = vectors.merged(mine, theirs, numbers, share), (1.0 - share) * self._bias()
        np.add.at(self._biases, numbers, share * other._bias())  # several may have become one
        self._stats = joined([self._stats, other._stats], [1.0 - share, share])

    # Model files.

    def _to_arrays(self) -> dict[str, Any]:
        weights = self._known()[:, : len(self._labels)]
        return {"weights": weights, "bias": self._bias(), "stats": self._stats, "pass": np.array([self._pass])}

    def _from_arrays(self, state: State) -> None:
        self._weights = np.array(state.array("weights", np.float32, ndim=2))
        self._biases = np.array(state.array("bias", np.float64))
        self._stats = np.array(state.array("stats", np.float64))
        n_features, n_labels = self._weights.shape
        state.require(n_features == self.n_features_in_, "each column has weights")
        state.require(n_labels == self._biases.size == len(self._labels), "each label has weights and a bias")
        finite = bool(np.isfinite(self._weights).all() and np.isfinite(self._biases).all())
        state.require(finite, "weights and biases are finite")
        state.require(are_counts(self._stats, START.size), "it has its counts")
        passed = state.array("pass", np.int64)
        self._planned = self.passes_through(self.n_examples_)
        state.require(passed.size == 1 and 0 <= int(passed[0]) <= self._planned, "it says which pass it is in")
        self._pass = as_whole(passed[0], "pass")
