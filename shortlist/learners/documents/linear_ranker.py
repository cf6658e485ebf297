"""The base classes of document rankers: a linear score, ranking and scoring by query, training
by structural SVM.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from shortlist.compiled.kernels import Floats, Longs
from shortlist.data.rows import MatrixLike
from shortlist.data.validation import (
    Names,
    as_numbers,
    as_real,
    as_rows,
    as_whole,
    column_names,
    look_at,
    note_names,
)
from shortlist.errors import InputError
from shortlist.estimators import Estimator
from shortlist.files.store import State, save_learner
from shortlist.learners.documents.queries import Pairs, Queries, QueryRanking, as_queries
from shortlist.learners.documents.structural_svm import RankingRisk, solve

CERTIFICATE = ("objective_", "duality_gap_", "n_iter_", "n_constraints_", "n_active_constraints_")


class QueriesSetAside(UserWarning):
    """Queries without a relevant or without a non-relevant document were left out of training."""


class LinearRanker(Estimator, BaseEstimator, ABC):
    """A ranker by a linear score w·φ of each document. Subclasses set ``coef_``."""

    # With scikit-learn's metadata routing enabled, `query` finds its way through Pipeline and
    # GridSearchCV.
    __metadata_request__fit = {"query": True}  # noqa: RUF012
    # Pipeline.score also announces a sample_weight, usually None; without this entry it would
    # refuse to.
    __metadata_request__score = {"query": True, "sample_weight": None}  # noqa: RUF012

    coef_: Floats
    n_features_in_: int
    feature_names_in_: Names
    save = save_learner
    # whether the measure is undefined for a query whose documents are all relevant
    _score_needs_both = False

    @abstractmethod
    def _loss(self, above: Longs, starts: Longs, relevant: Longs) -> Floats:
        """The loss of given rankings, one for each group; see StructuralRanker."""

    @abstractmethod
    def fit(self, X: MatrixLike, y: ArrayLike, query: ArrayLike | None = None) -> Self:
        """Learn from rows X, their relevance y and the id of the query each row answers."""

    def decision_function(self, X: MatrixLike) -> Floats:
        """The score w·φ of each row."""
        check_is_fitted(self, "coef_")
        rows = as_rows(X)
        look_at(self, X, reset=False, width=True)
        return rows.to_matrix() @ self.coef_

    def predict(self, X: MatrixLike) -> Floats:
        """Return the same scores, for scikit-learn's tools."""
        return self.decision_function(X)

    def rank(self, X: MatrixLike, query: ArrayLike | None = None) -> QueryRanking:
        """The rows of each query, best first; equal scores keep the order of the rows."""
        scores = self._scores(X, query)
        return QueryRanking(as_queries(query, scores.size), scores)

    def score(self, X: MatrixLike, y: ArrayLike, query: ArrayLike | None = None) -> float:
        """Return the measure that the ranker optimises, averaged over the queries for which it
        is defined.
        """
        scores = self._scores(X, query)
        queries = as_queries(query, scores.size)
        relevance = as_numbers(y, "relevance", length=scores.size)
        pairs, counted = self._pairs(relevance, queries, both=self._score_needs_both)
        if not counted.any():
            raise InputError("no query has a relevant document, so there is nothing to average")
        above = pairs.above(queries.order(scores), queries)
        return float(1.0 - pairs.weight @ self._loss(above, pairs.starts, pairs.relevant))

    def _scores(self, X: MatrixLike, query: ArrayLike | None) -> Floats:
        return self.decision_function(X)

    def _pairs(
        self, relevance: Floats, queries: Queries, *, both: bool
    ) -> tuple[Pairs, NDArray[np.bool_]]:
        """The groups of each query with a relevant and, if ``both``, a non-relevant document;
        and which these are.
        """
        groups = []
        is_used = np.zeros(len(queries), dtype=np.bool_)
        for q in range(len(queries)):
            rows = np.arange(queries.starts[q], queries.starts[q + 1])
            for good, share in self._grades(relevance[rows]):
                if not (both and good.all()):
                    groups.append((rows, good, share))
                    is_used[q] = True
        n_used = np.count_nonzero(is_used)
        return Pairs.of([(rows, good, share / n_used) for rows, good, share in groups]), is_used

    def _grades(self, relevance: Floats) -> list[tuple[NDArray[np.bool_], float]]:
        """For each grade of a query's documents, those of at least that grade, and its share of
        the query's loss.
        """
        good = relevance > 0
        return [(good, 1.0)] if good.any() else []

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def as_relevance(y: ArrayLike | None, n_rows: int) -> Floats:
    """How relevant each of n_rows documents is, checked."""
    if y is None:
        raise InputError(
            "a ranker requires y to be passed, but the target y is None: give each row's relevance"
        )
    return as_numbers(y, "relevance", length=n_rows)


class StructuralRanker(LinearRanker):
    """A linear ranker that minimises P(w) = ½‖w‖² + (C/n)·Σ_i ξ_i, ξ_i the hinge bound on query i's
    loss.

    A subclass is one measure: ``_search`` finds the most violated ranking of each group of
    documents, ``_loss`` the loss of given rankings. Both see, for each relevant document, the
    number of non-relevant ones before it.
    :class:`~shortlist.learners.documents.svms.MapSVM` describes the parameters and attributes of
    all.
    """

    def __init__(self, C: float = 1.0, tol: float = 1e-3, max_iter: int = 10_000) -> None:
        self.C = C
        self.tol = tol
        self.max_iter = max_iter

    @abstractmethod
    def _search(self, scores: Floats, starts: Longs, relevant: Longs) -> Longs:
        """The most violated ranking of each group of documents."""

    def fit(self, X: MatrixLike, y: ArrayLike, query: ArrayLike | None = None) -> Self:
        """Learn from rows X, their relevance y and the id of the query each row answers."""
        rows = as_rows(X)
        queries = as_queries(query, rows.n_rows)
        relevance = as_relevance(y, rows.n_rows)
        pairs, used = self._pairs(relevance, queries, both=True)
        n_queries = len(queries)
        set_aside = queries.names[~used]
        C = as_real(self.C, "C", least=0.0)
        tol = as_real(self.tol, "tol", least=0.0) * min(1.0, C)
        max_iter = as_whole(self.max_iter, "max_iter", least=1)
        if set_aside.size:
            warnings.warn(
                f"{set_aside.size} of {n_queries} queries have no relevant or no non-relevant "
                "document and were set aside; queries_set_aside_ names them",
                QueriesSetAside,
                stacklevel=2,
            )
        if set_aside.size == n_queries:
            raise InputError(
                "no query has both a relevant and a non-relevant document, so there is nothing to "
                "learn"
            )
        risk = RankingRisk(rows, pairs, self._search, self._loss)
        solution = solve(risk, rows.n_features, C=C, tol=tol, max_iter=max_iter)
        if solution.gap > tol:
            warnings.warn(
                f"after {solution.passes} passes the duality gap is {solution.gap:.3g}, above "
                f"tol={tol:g}; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.set_learned(
            coef_=solution.w,
            objective_=solution.objective,
            duality_gap_=solution.gap,
            n_iter_=solution.passes,
            n_constraints_=solution.planes,
            n_active_constraints_=solution.active,
            n_features_in_=rows.n_features,
            queries_set_aside_=set_aside,
        )
        note_names(self, column_names(X))
        return self

    def to_state(self) -> State:
        check_is_fitted(self, "coef_")
        learned = {name: getattr(self, name) for name in CERTIFICATE}
        learned["queries_set_aside_"] = self.queries_set_aside_.tolist()
        return State(
            type(self).__name__,
            {"parameters": self.get_params(), "learned": learned},
            {"coef": self.coef_},
        )

    @classmethod
    def from_state(cls, state: State) -> Self:
        coef = state.array("coef", np.float64)
        state.require(np.isfinite(coef).all(), "its weights must be finite")
        ranker = cls(**state.settings["parameters"])
        learned = state.settings["learned"]
        ranker.set_learned(
            coef_=coef,
            n_features_in_=coef.size,
            queries_set_aside_=np.array(learned["queries_set_aside_"]),
            **{name: learned[name] for name in CERTIFICATE},
        )
        return ranker
