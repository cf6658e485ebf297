"""AccuracySVM: the classification SVM that paper 003 compares with, and its three repairs.

SVM-acc is one linear SVM over the documents of all queries, relevant against non-relevant, without
regard to the query.

    variant 1   SVM-acc: the features as they are
    variant 2   SVM-acc2: a missed relevant document costs (#non-relevant/#relevant) times as much as the reverse
    variant 3   SVM-acc3: retrieval scores become percentiles within the query, then bins with even thresholds
    variant 4   SVM-acc4: retrieval scores are scaled to [0, 1] within the query, then bins with even thresholds

Deviation: scikit-learn's LinearSVC with the squared hinge stands in for SVM-light's hinge; its
Newton method needs no random order and so gives the same answer each time.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from papers.score_bins import ScoreBins
from shortlist.compiled.kernels import Floats, Longs
from shortlist.concurrency import reading, snapshot
from shortlist.data.rows import MatrixLike
from shortlist.data.validation import (
    as_choice,
    as_real,
    as_rows,
    as_whole,
    column_names,
    look_at,
    note_names,
)
from shortlist.errors import InputError
from shortlist.files.store import State
from shortlist.learners.documents.linear_ranker import LinearRanker, as_relevance
from shortlist.learners.documents.queries import as_queries, scaled_within_queries
from shortlist.learners.documents.svms import map_loss

VARIANTS = (1, 2, 3, 4)
METHOD = {3: "percentile", 4: "range"}
# the solver squares and multiplies values, and goes round for ever among infinite ones
MOST_VALUE = 1e100


class AccuracySVM(LinearRanker):
    """Linear classifier of documents into relevant and not, ranking them by its score.

    Minimises ½‖w‖² + C·Σ_d c_d·max(0, 1 − y_d·(w·φ_d + b))², c_d = 1 but for variant 2. A relevance
    above 0 counts as relevant. ``score`` is mean average precision, by which the paper judges it.

    Parameters
    ----------
    C : float, default 1.0
        How much the errors count against ‖w‖².
    variant : {1, 2, 3, 4}, default 1
        As the paper numbers them. Variants 3 and 4 take raw retrieval scores, and need ``query`` to
        score documents too.
    n_thresholds : int, default 50
        Even thresholds for each retrieval score, in variants 3 and 4.

    Examples
    --------
    >>> from papers.comparators.accuracy_svm import AccuracySVM
    >>> X, relevance = [[1.0, 0.0], [0.0, 1.0], [0.9, 0.3], [0.2, 0.8]], [1, 0, 1, 0]
    >>> ranker = AccuracySVM().fit(X, relevance, query=["q1", "q1", "q2", "q2"])
    >>> ranker.score(X, relevance, query=["q1", "q1", "q2", "q2"])
    1.0
    >>> [rows.tolist() for query, rows, scores in ranker.rank([[0.0, 1.0], [1.0, 0.0]], query=["q3", "q3"])]
    [[1, 0]]
    """

    short_names: ClassVar[dict[str, dict[str, Any]]] = {"accuracy": {}}

    __metadata_request__predict = {"query": True}  # noqa: RUF012
    __metadata_request__decision_function = {"query": True}  # noqa: RUF012

    def __init__(self, C: float = 1.0, variant: int = 1, n_thresholds: int = 50) -> None:
        self.C = C
        self.variant = variant
        self.n_thresholds = n_thresholds

    def fit(self, X: MatrixLike, y: ArrayLike, query: ArrayLike | None = None) -> Self:
        """Learn from rows X, their relevance y and the id of the query each row answers."""
        C = as_real(self.C, "C", least=1e-9)
        as_choice(self.variant, "variant", VARIANTS)
        rows = as_rows(X)
        as_queries(query, rows.n_rows)
        relevant = as_relevance(y, rows.n_rows) > 0
        if relevant.all() or not relevant.any():
            raise InputError("there must be both relevant and non-relevant documents to learn from")
        cost = (
            np.count_nonzero(~relevant) / np.count_nonzero(relevant) if self.variant == 2 else 1.0
        )
        from sklearn.svm import LinearSVC  # with which scikit-learn loads half of itself

        svm = LinearSVC(C=C, dual=False, class_weight={0: 1.0, 1: cost}, max_iter=10_000)
        features = self.features(X, query)
        if np.abs(features.data).max(initial=0.0) > MOST_VALUE:
            raise InputError(
                f"AccuracySVM takes values of up to {MOST_VALUE:g}; scale the features first"
            )
        svm.fit(features, relevant.astype(np.int64))
        coef, intercept = svm.coef_[0].astype(np.float64), float(svm.intercept_[0])
        self.set_learned(
            coef_=coef,
            intercept_=intercept,
            n_features_in_=rows.n_features,
            n_iter_=int(svm.n_iter_),
        )
        note_names(self, column_names(X))
        return self

    @reading
    def decision_function(self, X: MatrixLike, query: ArrayLike | None = None) -> Floats:
        """The score w·φ + b of each row, above 0 where the row is taken for relevant."""
        check_is_fitted(self, "coef_")
        features = self.features(X, query)
        look_at(self, X, reset=False, width=True)
        return features @ self.coef_ + self.intercept_

    def predict(self, X: MatrixLike, query: ArrayLike | None = None) -> Floats:
        """The same scores, under the name that scikit-learn's tools look for."""
        return self.decision_function(X, query)

    def _scores(self, X: MatrixLike, query: ArrayLike | None) -> Floats:
        return self.decision_function(X, query)

    def features(self, X: MatrixLike, query: ArrayLike | None = None) -> scipy.sparse.csr_array:
        """What the weights belong to: the rows as they are or, in variants 3 and 4, their bins."""
        if self.variant not in METHOD:
            return as_rows(X).to_matrix()
        scores = scaled_within_queries(as_rows(X), query, METHOD[self.variant])
        ends = np.repeat([[0.0], [1.0]], scores.shape[1], axis=1)
        return (
            ScoreBins(as_whole(self.n_thresholds, "n_thresholds", least=1), "even")
            .fit(ends)
            .transform(scores)
        )

    def _loss(self, above: Longs, starts: Longs, relevant: Longs) -> Floats:
        return map_loss(above, starts, relevant)

    @snapshot
    def to_state(self) -> State:
        check_is_fitted(self, "coef_")
        learned = {
            "intercept_": self.intercept_,
            "n_features_in_": self.n_features_in_,
            "n_iter_": self.n_iter_,
        }
        return State(
            "AccuracySVM",
            {"parameters": self.get_params(), "learned": learned},
            {"coef": self.coef_},
        )

    @classmethod
    def from_state(cls, state: State) -> Self:
        coef = state.array("coef", np.float64)
        ranker = cls(**state.settings["parameters"])
        learned = state.settings["learned"]
        ranker.intercept_ = as_real(learned["intercept_"], "intercept_")
        ranker.n_features_in_ = as_whole(learned["n_features_in_"], "n_features_in_")
        ranker.n_iter_ = as_whole(learned["n_iter_"], "n_iter_")
        state.require(ranker.variant in VARIANTS, "its variant must be 1 to 4")
        as_whole(ranker.n_thresholds, "n_thresholds", least=1)
        width = ranker.n_features_in_ * (ranker.n_thresholds if ranker.variant in METHOD else 1)
        state.require(coef.size == width, "it must have a weight for each feature")
        state.require(
            np.isfinite(coef).all() and np.isfinite(ranker.intercept_), "its weights must be finite"
        )
        ranker.coef_ = coef
        return ranker
