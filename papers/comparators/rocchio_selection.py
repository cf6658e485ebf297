"""The selection of terms by Rocchio's weights (paper 001, section 4.4)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin

from shortlist.data.label_input import LabelsLike
from shortlist.data.rows import MatrixLike
from shortlist.data.validation import as_real, as_whole, column_names, note_names
from shortlist.learners.prototypes.rocchio import Rocchio


class RocchioSelection(SelectorMixin, BaseEstimator):
    """Select terms by Rocchio's weights: for each label its heaviest terms; the union over labels
    is kept.

    Works as any selector of scikit-learn: ``fit(X, Y)``, ``transform(X)``, ``get_support()``.

    Parameters
    ----------
    least : int, default=100
        As many terms of each label are kept, where it has as many.
    share : float, default=0.025
        Of a label with many terms, this share is kept; "terms of a label" are those with a weight
        above 0.
    beta, gamma : float, default=16.0, 4.0
        Of Rocchio's weights.

    Examples
    --------
    >>> from papers.comparators.rocchio_selection import RocchioSelection
    >>> RocchioSelection(least=1).fit_transform([[2.0, 0.0, 1.0], [0.0, 2.0, 1.0]], ["a", "b"]).tolist()
    [[2.0, 0.0], [0.0, 2.0]]
    """

    def __init__(
        self, least: int = 100, share: float = 0.025, beta: float = 16.0, gamma: float = 4.0
    ) -> None:
        self.least = least
        self.share = share
        self.beta = beta
        self.gamma = gamma

    def fit(self, X: MatrixLike, Y: LabelsLike) -> Self:
        """Find the terms to keep."""
        least = as_whole(self.least, "least", least=1)
        share = as_real(self.share, "share", least=0, most=1)
        rocchio = Rocchio(self.beta, self.gamma).fit(X, Y)
        term, label, weight, _ = rocchio._hypothesis().entries()
        heaviest = np.lexsort((term, -weight, label))
        n_terms = np.bincount(label)
        first = np.cumsum(n_terms) - n_terms
        place = np.arange(heaviest.size) - first[label[heaviest]]
        most = np.maximum(least, np.ceil(share * n_terms))
        kept = term[heaviest[place < most[label[heaviest]]]]
        self.n_features_in_ = rocchio.n_features_in_
        note_names(self, column_names(X))
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        self.support_[kept] = True
        return self

    def _get_support_mask(self) -> NDArray[np.bool_]:
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.target_tags.required = True
        return tags
