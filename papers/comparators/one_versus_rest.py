"""One classifier for each label against all others, the comparators of paper 004 (section 5, figure
9).

Labels are ranked by the raw scores of their linear classifiers. These are

"perceptron"  a Perceptron: on a mistake, label·(w·x) ≤ 0, w += label·x;
"committee"   several Perceptrons that differ in their random start: where a mistake brings a feature into the weights
              for the first time, its weight starts at a random number from [−1, 1]. Their scores
              are averaged, which is the score of their averaged weights;
"svm"         scikit-learn's linear SVM, with the squared hinge loss.

Perceptrons pass over the training rows, shuffled, until the training error at the end of a pass has
not improved for ``patience`` passes. The paper leaves open whether rows have a constant feature,
which gives a classifier its bias; they have one here. Rows are scaled to unit length, as the
paper's are.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from shortlist.compiled.kernels import Floats, Ints, Longs, dot, kernel, scale_to_unit_length
from shortlist.data.labels import LabelSets
from shortlist.data.rows import Rows
from shortlist.data.validation import MOST_SEED, as_choice, as_real, as_whole
from shortlist.files.store import State
from shortlist.learners.port import BIAS
from shortlist.learners.prototypes.weights import (
    PrototypeLearner,
    Prototypes,
    no_prototypes,
    pack,
)

CLASSIFIERS = ("perceptron", "committee", "svm")
MAX_ITER = 10_000  # of liblinear, which stops long before


def of_unit_length(rows: Rows) -> Rows:
    """The rows, each divided by its Euclidean length."""
    data = rows.data.copy()
    scale_to_unit_length(rows.indptr, data)
    return rows._replace(data=data)


class OneVersusRest(PrototypeLearner):
    """A linear classifier for each label; ranks labels by the classifiers' scores. Learns all
    examples at once.

    Parameters
    ----------
    classifier : {"svm", "perceptron", "committee"}, default="svm"
        What each label is told from all others by.
    members : int, default=10
        Perceptrons in a committee.
    patience : int, default=5
        Perceptrons stop when so many passes have not improved their training error.
    C : float, default=1.0
        Of the SVM, how much an error costs.
    values : {"l2", "raw"}, default="l2"
        "l2" scales each row to unit length, "raw" leaves the values.
    random_state : int, default=0
        Seed of the order of rows and of the random starts.
    n_jobs : int, default=None
        Threads for ranking; results do not depend on it. −1 for all processors.

    Examples
    --------
    >>> from papers.comparators.one_versus_rest import OneVersusRest
    >>> learner = OneVersusRest().fit([[1.0, 0.0], [0.0, 1.0]], [["a"], ["b"]])
    >>> learner.predict([[2.0, 0.0], [0.0, 3.0]]).tolist()
    ['a', 'b']
    """

    short_names: ClassVar[dict[str, dict[str, Any]]] = {
        f"ovr-{kind}": {"classifier": kind} for kind in ("perceptron", "committee", "svm")
    }

    updatable = False

    def __init__(
        self,
        classifier: str = "svm",
        members: int = 10,
        patience: int = 5,
        C: float = 1.0,
        values: str = "l2",
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.classifier = classifier
        self.members = members
        self.patience = patience
        self.C = C
        self.values = values
        self.random_state = random_state
        self.n_jobs = n_jobs

    def begin(self) -> None:
        as_choice(self.classifier, "classifier", CLASSIFIERS)
        as_choice(self.values, "values", ("l2", "raw"))
        as_whole(self.members, "members", least=1)
        as_whole(self.patience, "patience", least=1)
        as_real(self.C, "C", least=1e-9)
        as_whole(self.random_state, "random_state", most=MOST_SEED)
        self.prototypes_ = no_prototypes()

    def _hypothesis(self) -> Prototypes:
        return self.prototypes_

    def prepare(self, rows: Rows) -> Rows:
        """Rows of unit length, without columns that were never learned, and with a constant one
        behind the others.
        """
        return with_constant(
            of_unit_length(rows) if self.values == "l2" else rows, self.n_features_in_
        )

    def update(self, rows: Rows, labels: LabelSets, order: Longs, first_pass: bool) -> None:
        n_labels = len(self.label_index_)
        holders = scipy.sparse.csr_array(
            (np.ones(labels.ids.size), labels.ids, labels.indptr), (rows.n_rows, n_labels)
        ).tocsc()
        weights = []
        for c in range(n_labels):
            sign = np.full(rows.n_rows, -1.0)
            sign[holders.indices[holders.indptr[c] : holders.indptr[c + 1]]] = 1.0
            weights.append(scipy.sparse.csr_array(self._classifier(rows, sign, c)[None, :]))
        if not weights:
            return  # there is no label to tell from the rest
        by_class = scipy.sparse.vstack(weights).tocsc()  # feature after feature
        feature = np.repeat(np.arange(rows.n_features), np.diff(by_class.indptr))
        zeros = np.zeros(by_class.nnz), np.zeros(rows.n_features), np.zeros(rows.n_features)
        self.prototypes_ = pack(feature, by_class.indices, by_class.data, *zeros)

    def _classifier(self, rows: Rows, sign: Floats, c: int) -> Floats:
        """The weights of one classifier."""
        if self.classifier == "svm":
            return self._svm(rows, sign)
        generator = np.random.default_rng([self.random_state, c])
        if self.classifier == "perceptron":
            return self._perceptron(rows, sign, np.zeros(rows.n_features), generator)
        total = np.zeros(rows.n_features)
        for _ in range(self.members):
            total += self._perceptron(
                rows, sign, generator.uniform(-1, 1, rows.n_features), generator
            )
        return total / self.members

    def _svm(self, rows: Rows, sign: Floats) -> Floats:
        if (sign == sign[0]).all():  # nothing to tell apart
            weights = np.zeros(rows.n_features)
            weights[-1] = sign[0]
            return weights
        from sklearn.svm import LinearSVC  # with which scikit-learn loads half of itself

        svm = LinearSVC(
            C=self.C, fit_intercept=False, random_state=self.random_state, max_iter=MAX_ITER
        )
        return svm.fit(rows.to_matrix(), sign).coef_[0]

    def _perceptron(
        self, rows: Rows, sign: Floats, start: Floats, generator: np.random.Generator
    ) -> Floats:
        weights, unused = np.zeros(rows.n_features), start.copy()
        fewest, in_vain = rows.n_rows + 1, 0
        while in_vain < self.patience:
            # drawn for idle passes too: the next member draws after it
            order = generator.permutation(rows.n_rows)
            # no error, no change
            errors = one_pass(rows, sign, order, weights, unused, fewest) if fewest else 0
            fewest, in_vain = (errors, 0) if errors < fewest else (fewest, in_vain + 1)
        return weights

    def votes(self, row: Rows, label: int) -> tuple[Ints, Floats]:
        columns, votes = super().votes(row, label)
        return np.where(columns == self.n_features_in_, BIAS, columns).astype(np.int32), votes

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        return self.prototypes_.to_arrays(self.n_features_in_ + 1)

    def from_arrays(self, state: State) -> None:
        self.prototypes_ = Prototypes.from_arrays(
            state, self.n_features_in_ + 1, len(self.label_index_)
        )


def with_constant(rows: Rows, n_features: int) -> Rows:
    """The rows' first n_features columns, and one more that is always 1."""
    kept = rows.indices < n_features
    before = np.concatenate([[0], np.cumsum(kept)])
    indptr = before[rows.indptr]
    lines = np.arange(rows.n_rows + 1)
    size = int(indptr[-1] - indptr[0]) + rows.n_rows
    indices, data = np.full(size, n_features, dtype=np.int32), np.ones(size)
    inside = slice(rows.indptr[0], rows.indptr[-1])
    place = np.delete(np.arange(size), indptr[1:] - indptr[0] + lines[:-1])
    indices[place], data[place] = (
        rows.indices[inside][kept[inside]],
        rows.data[inside][kept[inside]],
    )
    return Rows(indptr - indptr[0] + lines, indices, data, n_features + 1)


# Section 5, the Perceptron


@kernel
def add(indices: Ints, data: Floats, scale: float, dense: Floats) -> None:
    """Add ``scale`` times a sparse row (indices int32[m], data float64[m]) to a dense vector,
    in place.
    """
    for j in range(indices.size):
        dense[indices[j]] += scale * data[j]


@kernel
def one_pass(
    rows: Rows, sign: Floats, order: Longs, weights: Floats, unused: Floats, fewest: int
) -> int:
    """Learn all rows once, in that order; returns the errors of the weights at the end, or
    ``fewest`` if not below.

    sign: float64[n], +1 or −1; weights: float64[features]; unused: float64[features], the random
    start of the features that are not yet in the weights, 0 for the others.
    """
    for t in range(order.size):
        i = order[t]
        first, last = rows.indptr[i], rows.indptr[i + 1]
        if sign[i] * dot(rows.indices[first:last], rows.data[first:last], weights) <= 0.0:
            for j in range(first, last):
                weights[rows.indices[j]] += unused[rows.indices[j]]
                unused[rows.indices[j]] = 0.0
            add(rows.indices[first:last], rows.data[first:last], sign[i], weights)
    errors = 0
    for i in range(order.size):
        first, last = rows.indptr[i], rows.indptr[i + 1]
        if sign[i] * dot(rows.indices[first:last], rows.data[first:last], weights) <= 0.0:
            errors += 1
            if errors == fewest:
                break  # no better than before, however many more there are
    return errors
