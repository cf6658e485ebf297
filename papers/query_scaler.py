"""Retrieval scores scaled within each query: the features of a DocumentRanker, as a transformer
of scikit-learn.
"""

from __future__ import annotations

from typing import Self

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin

from shortlist.compiled.kernels import Floats
from shortlist.data.rows import MatrixLike
from shortlist.data.validation import as_choice, as_rows, check_columns, column_names, note_names
from shortlist.learners.documents.queries import METHODS, scaled_within_queries


class QueryScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Scale each feature of each query's documents to [0, 1]. New queries need no fit.

    Parameters
    ----------
    method : {"range", "percentile"}, default "range"
        As in ``scaled_within_queries``.

    Attributes
    ----------
    n_features_in_ : int
        The number of features, once fitted.

    Examples
    --------
    >>> from papers.query_scaler import QueryScaler
    >>> QueryScaler().transform([[3.0], [5.0], [4.0], [100.0], [300.0]], query=["a", "a", "a", "b", "b"])
    array([[0. ],
           [1. ],
           [0.5],
           [0. ],
           [1. ]])
    """

    # With scikit-learn's metadata routing enabled, `query` finds its way through Pipeline and
    # GridSearchCV.
    __metadata_request__transform = {"query": True}  # noqa: RUF012
    __metadata_request__fit_transform = {"query": True}  # noqa: RUF012

    def __init__(self, method: str = "range") -> None:
        self.method = method

    def fit(self, X: MatrixLike, y: ArrayLike | None = None) -> Self:
        """Check the parameter and the features; nothing is learned."""
        as_choice(self.method, "method", METHODS)
        self.n_features_in_ = as_rows(X).n_features
        note_names(self, column_names(X))
        return self

    def fit_transform(
        self, X: MatrixLike, y: ArrayLike | None = None, query: ArrayLike | None = None
    ) -> Floats:
        """Return the scaled features."""
        return self.fit(X).transform(X, query=query)

    def transform(self, X: MatrixLike, query: ArrayLike | None = None) -> Floats:
        """Return the scaled features, a dense array."""
        method = as_choice(self.method, "method", METHODS)
        if hasattr(self, "n_features_in_"):
            check_columns(self, X)
        return scaled_within_queries(as_rows(X), query, method)

    def __sklearn_is_fitted__(self) -> bool:
        return True
