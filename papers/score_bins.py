"""Retrieval scores cut into the bins of paper 003, section 5.2.

For each retrieval function f and threshold t ∈ K_f, φ(x, d) has the indicator [f(d|x) > t]. A
linear model over these is a sum of step functions, one for each retrieval function: a score that
passes the thresholds t_1 ≤ … ≤ t_m counts w_{f,1} + … + w_{f,m}.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from shortlist.compiled.kernels import Floats, Longs
from shortlist.data.rows import MatrixLike, Rows
from shortlist.data.validation import as_choice, as_numbers, as_rows, as_whole
from shortlist.errors import InputError, counted

SPACINGS = ("quantiles", "even")


class ScoreBins(TransformerMixin, BaseEstimator):
    """Each column of scores becomes ``n_thresholds`` indicators [score > threshold].

    Parameters
    ----------
    n_thresholds : int, default 50
        Thresholds for each column.
    spacing : {"quantiles", "even"}, default "quantiles"
        "quantiles": as many of the scores seen in ``fit`` between any threshold and the next;
        "even": the same distance between them, from the least to the greatest score seen.

    Attributes
    ----------
    thresholds_ : array of shape (n_features, n_thresholds)
        The thresholds of each column, ascending.
    n_features_in_ : int
        The number of columns.

    Examples
    --------
    >>> from papers.score_bins import ScoreBins
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
        within = np.arange(ends[-1] if n else 0) - np.repeat(
            ends - passed.reshape(-1), passed.reshape(-1)
        )
        first = np.tile(np.arange(passed.shape[1]) * count, passed.shape[0])
        columns = np.repeat(first, passed.reshape(-1)) + within
        indptr = np.concatenate([[0], np.cumsum(passed.sum(axis=1))])
        return Rows(
            indptr, columns.astype(np.int32), np.ones(columns.size), self.thresholds_.size
        ).to_matrix()

    def steps(self, weights: ArrayLike) -> Floats:
        """Return the weight of a score that passes 0, 1, 2, … of its thresholds: columns ×
        (n_thresholds + 1).
        """
        check_is_fitted(self, "thresholds_")
        numbers = as_numbers(weights, "weights")
        if numbers.size != self.thresholds_.size:
            raise InputError(
                f"weights has {counted(numbers.size, 'entries')} where {self.thresholds_.size} are "
                "needed, one a bin"
            )
        return np.concatenate(
            [
                np.zeros((self.n_features_in_, 1)),
                np.cumsum(numbers.reshape(self.thresholds_.shape), axis=1),
            ],
            axis=1,
        )

    def get_feature_names_out(
        self, input_features: Sequence[str] | None = None
    ) -> NDArray[np.object_]:
        """``name>threshold`` of each indicator."""
        check_is_fitted(self, "thresholds_")
        names = (
            input_features
            if input_features is not None
            else [f"x{i}" for i in range(self.n_features_in_)]
        )
        pairs = zip(names, self.thresholds_, strict=True)
        return np.array(
            [f"{name}>{threshold:.6g}" for name, row in pairs for threshold in row], dtype=object
        )

    def _passed(self, X: MatrixLike) -> Longs:
        """How many of its thresholds each score passes."""
        check_is_fitted(self, "thresholds_")
        scores = as_rows(X).to_matrix().toarray()
        if scores.shape[1] != self.n_features_in_:
            raise InputError(
                f"X has {scores.shape[1]} features, but ScoreBins is expecting "
                f"{self.n_features_in_} features as input"
            )
        passed = np.empty(scores.shape, dtype=np.int64)
        for column, thresholds in enumerate(self.thresholds_):
            passed[:, column] = np.searchsorted(thresholds, scores[:, column], side="left")
        return passed
