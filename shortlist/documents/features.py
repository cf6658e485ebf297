"""Retrieval scores made into features: scaled within each query, or cut into the bins of paper 003, section 5.2.

For each retrieval function f and threshold t ∈ K_f, φ(x, d) has the indicator [f(d|x) > t]. A linear model over these
is a sum of step functions, one for each retrieval function: a score that passes the thresholds t_1 ≤ … ≤ t_m counts
w_{f,1} + … + w_{f,m}.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
import scipy  # scipy.stats is imported at its first use
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from shortlist.arrays.kernels import Floats, Longs
from shortlist.arrays.rows import MatrixLike, Rows
from shortlist.arrays.validation import (
    as_choice,
    as_numbers,
    as_rows,
    as_whole,
    check_columns,
    column_names,
    note_names,
)
from shortlist.documents.queries import as_queries
from shortlist.errors import InputError, counted
from shortlist.files.store import State

METHODS = ("range", "percentile")
SPACINGS = ("quantiles", "even")


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


class ScoreBins(TransformerMixin, BaseEstimator):
    """Each column of scores becomes ``n_thresholds`` indicators [score > threshold].

    Parameters
    ----------
    n_thresholds : int, default 50
        Thresholds for each column.
    spacing : {"quantiles", "even"}, default "quantiles"
        "quantiles": as many of the scores seen in ``fit`` between any threshold and the next; "even": the same distance
        between them, from the least to the greatest score seen.

    Attributes
    ----------
    thresholds_ : array of shape (n_features, n_thresholds)
        The thresholds of each column, ascending.
    n_features_in_ : int
        The number of columns.

    Examples
    --------
    >>> from shortlist import ScoreBins
    >>> bins = ScoreBins(n_thresholds=3, spacing="even").fit([[0.0], [4.0]])
    >>> bins.thresholds_
    array([[1., 2., 3.]])
    >>> bins.transform([[0.5], [2.5], [9.0]]).toarray()
    array([[0., 0., 0.],
           [1., 1., 0.],
           [1., 1., 1.]])
    """

    def __init__(self, n_thresholds: int = 50, spacing: str = "quantiles") -> None:
        self.n_thresholds = n_thresholds
        self.spacing = spacing

    def fit(self, X: MatrixLike, y: ArrayLike | None = None) -> Self:
        """Choose the thresholds."""
        count = as_whole(self.n_thresholds, "n_thresholds", least=1)
        spacing = as_choice(self.spacing, "spacing", SPACINGS)
        scores = as_rows(X).to_matrix().toarray()
        if not scores.shape[0]:
            raise InputError("thresholds cannot be chosen without rows")
        steps = np.arange(1, count + 1) / (count + 1)
        if spacing == "quantiles":
            self.thresholds_ = np.ascontiguousarray(np.quantile(scores, steps, axis=0).T)
        else:
            least, greatest = scores.min(axis=0), scores.max(axis=0)
            self.thresholds_ = least[:, None] + (greatest - least)[:, None] * steps
        self.n_features_in_ = scores.shape[1]
        return self

    def transform(self, X: MatrixLike) -> scipy.sparse.csr_array:
        """The indicators: a sparse matrix of 0 and 1, the thresholds of the first column first."""
        passed = self._passed(X)
        n, count = passed.size, self.thresholds_.shape[1]
        ends = np.cumsum(passed.reshape(-1))
        within = np.arange(ends[-1] if n else 0) - np.repeat(ends - passed.reshape(-1), passed.reshape(-1))
        first = np.tile(np.arange(passed.shape[1]) * count, passed.shape[0])
        columns = np.repeat(first, passed.reshape(-1)) + within
        indptr = np.concatenate([[0], np.cumsum(passed.sum(axis=1))])
        return Rows(indptr, columns.astype(np.int32), np.ones(columns.size), self.thresholds_.size).to_matrix()

    def steps(self, weights: ArrayLike) -> Floats:
        """Return the weight of a score that passes 0, 1, 2, … of its thresholds: columns × (n_thresholds + 1)."""
        check_is_fitted(self, "thresholds_")
        numbers = as_numbers(weights, "weights")
        if numbers.size != self.thresholds_.size:
            raise InputError(
                f"weights has {counted(numbers.size, 'entries')} where {self.thresholds_.size} are needed, one a bin"
            )
        return np.concatenate(
            [np.zeros((self.n_features_in_, 1)), np.cumsum(numbers.reshape(self.thresholds_.shape), axis=1)], axis=1
        )

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> NDArray[np.object_]:
        """``name>threshold`` of each indicator."""
        check_is_fitted(self, "thresholds_")
        names = input_features if input_features is not None else [f"x{i}" for i in range(self.n_features_in_)]
        pairs = zip(names, self.thresholds_, strict=True)
        return np.array([f"{name}>{threshold:.6g}" for name, row in pairs for threshold in row], dtype=object)

    def to_state(self) -> State:
        check_is_fitted(self, "thresholds_")
        return State("ScoreBins", {"parameters": self.get_params()}, {"thresholds": self.thresholds_})

    @classmethod
    def from_state(cls, state: State) -> Self:
        thresholds = state.array("thresholds", np.float64, ndim=2)
        state.require(np.isfinite(thresholds).all(), "its thresholds must be finite")
        state.require((np.diff(thresholds, axis=1) >= 0).all(), "its thresholds must ascend")
        bins = cls(**state.settings["parameters"])
        bins.thresholds_, bins.n_features_in_ = thresholds, thresholds.shape[0]
        return bins

    def _passed(self, X: MatrixLike) -> Longs:
        """How many of its thresholds each score passes."""
        check_is_fitted(self, "thresholds_")
        scores = as_rows(X).to_matrix().toarray()
        if scores.shape[1] != self.n_features_in_:
            raise InputError(
                f"X has {scores.shape[1]} features, but ScoreBins is expecting {self.n_features_in_} features as input"
            )
        passed = np.empty(scores.shape, dtype=np.int64)
        for column, thresholds in enumerate(self.thresholds_):
            passed[:, column] = np.searchsorted(thresholds, scores[:, column], side="left")
        return passed
