"""Retrieval scores scaled within each query, as features."""

from __future__ import annotations

from typing import Self

import numpy as np
import scipy  # scipy.stats is imported at its first use
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin

from shortlist.arrays.kernels import Floats
from shortlist.arrays.rows import MatrixLike
from shortlist.arrays.validation import (
    as_choice,
    as_rows,
    check_columns,
    column_names,
    note_names,
)
from shortlist.documents.queries import as_queries

METHODS = ("range", "percentile")


class QueryScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Scale each feature of each query's documents to [0, 1]. New queries need no fit.

    Parameters
    ----------
    method : {"range", "percentile"}, default "range"
        "range" is (f − least)/(greatest − least) within the query, 0 where all are equal, as in the paper's SVM-acc4;
        "percentile" is the share of the query's other documents that score lower, as in its SVM-acc3.

    Attributes
    ----------
    n_features_in_ : int
        The number of features, once fitted.

    Examples
    --------
    >>> from shortlist import QueryScaler
    >>> QueryScaler().transform([[3.0], [5.0], [4.0], [100.0], [300.0]], query=["a", "a", "a", "b", "b"])
    array([[0. ],
           [1. ],
           [0.5],
           [0. ],
           [1. ]])
    """

    # With scikit-learn's metadata routing enabled, `query` finds its way through Pipeline and GridSearchCV.
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

    def fit_transform(self, X: MatrixLike, y: ArrayLike | None = None, query: ArrayLike | None = None) -> Floats:
        """Return the scaled features."""
        return self.fit(X).transform(X, query=query)

    def transform(self, X: MatrixLike, query: ArrayLike | None = None) -> Floats:
        """Return the scaled features, a dense array."""
        method = as_choice(self.method, "method", METHODS)
        if hasattr(self, "n_features_in_"):
            check_columns(self, X)
        rows = as_rows(X)
        queries = as_queries(query, rows.n_rows)
        scaled = rows.to_matrix().toarray()
        for first, last in zip(queries.starts[:-1], queries.starts[1:], strict=True):
            block = scaled[first:last]
            if method == "range":
                least, greatest = block.min(axis=0), block.max(axis=0)
                scaled[first:last] = (block - least) / np.where(greatest > least, greatest - least, 1.0)
            else:
                lower = scipy.stats.rankdata(block, method="min", axis=0) - 1
                scaled[first:last] = lower / max(1, last - first - 1)
        return scaled

    def __sklearn_is_fitted__(self) -> bool:
        return True
