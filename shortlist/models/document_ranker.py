"""Scaling within each query and a ranker of documents in one object: what the terminal trains for documents."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError

from shortlist.arrays.kernels import Floats
from shortlist.arrays.rows import Rows
from shortlist.arrays.validation import as_choice, as_rows
from shortlist.documents.average_precision import MapSVM
from shortlist.documents.queries import QueryRanking, as_queries
from shortlist.documents.ranker import LinearRanker
from shortlist.documents.scaling import METHODS, QueryScaler
from shortlist.errors import InputError
from shortlist.files import store
from shortlist.files.store import State


class DocumentRanker(BaseEstimator):
    """Learns from judged documents of queries, and orders the documents of others.

    Retrieval scores of different queries are seldom comparable, so each feature is brought to [0, 1] within its query,
    in learning and in ranking alike.

    Parameters
    ----------
    learner : any ranker of documents; MapSVM() if None.
    scale : ``"range"`` or ``"percentile"``, as in QueryScaler; None leaves the features as they are.
    """

    def __init__(self, learner: LinearRanker | None = None, scale: str | None = "range") -> None:
        self.learner = learner
        self.scale = scale

    def fit(self, X: Any, relevance: Any, query: Any) -> DocumentRanker:
        """Learn from rows X, their relevance and the query that each answers."""
        as_choice(self.scale, "scale", (*METHODS, None))
        learner = MapSVM() if self.learner is None else clone(self.learner)
        rows = as_rows(X) if not isinstance(X, Rows) else X
        self.learner_ = learner.fit(self.scaled(rows, query), relevance, query=query)
        self.n_examples_, self.n_queries_ = rows.n_rows, len(as_queries(query, rows.n_rows))
        return self

    def rank(self, X: Any, query: Any) -> QueryRanking:
        """The rows of each query, best first."""
        scores = self.scores(X, query)
        return QueryRanking(as_queries(query, scores.size), scores)

    def scores(self, X: Any, query: Any) -> Floats:
        """The score of each row among those of its query."""
        if not hasattr(self, "learner_"):
            raise NotFittedError("this DocumentRanker has learned nothing yet; call fit first")
        rows = as_rows(X) if not isinstance(X, Rows) else X
        width = self.learner_.n_features_in_
        if rows.n_features > width:
            raise InputError(f"the documents have {rows.n_features} features, and the model learned from {width}")
        return self.learner_.decision_function(self.scaled(rows._replace(n_features=width), query))

    def scaled(self, rows: Rows, query: Any) -> Any:
        """The features of these rows as the learner sees them."""
        matrix = rows.to_matrix()
        return matrix if self.scale is None else QueryScaler(self.scale).transform(matrix, query=query)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file; ``shortlist.load`` opens it."""
        store.save(self, path)

    def to_state(self) -> State:
        settings = {"scale": self.scale, "n_examples": self.n_examples_, "n_queries": self.n_queries_}
        return State("DocumentRanker", settings, parts={"learner": self.learner_.to_state()})

    @classmethod
    def from_state(cls, state: State) -> DocumentRanker:
        learner = store.build(state.parts["learner"])
        state.require(isinstance(learner, LinearRanker), "its learner is a ranker of documents")
        state.require(bool(np.isfinite(learner.coef_).all()), "its weights are finite")
        ranker = cls(clone(learner), as_choice(state.settings["scale"], "scale", (*METHODS, None)))
        ranker.learner_ = learner
        ranker.n_examples_, ranker.n_queries_ = int(state.settings["n_examples"]), int(state.settings["n_queries"])
        return ranker
