"""The names of a table's columns, as scikit-learn keeps and checks them: what was learned is for those columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.sparse import is_sparse
from shortlist.errors import InputError

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

Names = NDArray[np.object_]


def column_names(X: object) -> Names | None:
    """The names of the columns of a data frame; None for what has none."""
    if _is_nameless(X):
        return None
    from sklearn.base import BaseEstimator

    table = BaseEstimator()  # takes the names of columns, as any estimator does
    _look_at(table, X, reset=True)
    return getattr(table, "feature_names_in_", None)


def note_names(estimator: BaseEstimator, names: Names | None) -> None:
    """Keep the names of the columns that an estimator learned from, where they have names."""
    if names is not None:
        estimator.feature_names_in_ = names
    else:
        estimator.__dict__.pop("feature_names_in_", None)


def check_columns(estimator: BaseEstimator, X: object) -> None:
    """Refuse columns whose names, or whose order, changed since the estimator learned."""
    if hasattr(estimator, "feature_names_in_") or not _is_nameless(X):
        _look_at(estimator, X, reset=False)


def check_names(known: Sequence[str] | None, given: Sequence[str] | None) -> None:
    """Refuse columns of a file whose names, or whose order, are not those that were learned, where both are known."""
    if known is not None and given is not None and list(known) != list(given):
        raise InputError(
            f"the columns are {', '.join(given)}, and the model learned from {', '.join(known)}; "
            "they must be the same, in the same order"
        )


def grown_names(estimator: BaseEstimator, X: object) -> Names | None:
    """The names of the columns once X is learned too: columns may arrive behind those there are, but none change."""
    known: Names | None = getattr(estimator, "feature_names_in_", None)
    if known is None and _is_nameless(X):
        return None
    names = column_names(X)
    if known is None or names is None or names.size <= known.size or list(names[: known.size]) != list(known):
        check_columns(estimator, X)
        return known
    return names


def _is_nameless(X: object) -> bool:
    return isinstance(X, (np.ndarray, list, tuple)) or is_sparse(X)


def _look_at(estimator: BaseEstimator, X: object, *, reset: bool) -> None:
    from sklearn.utils.validation import validate_data

    try:
        validate_data(estimator, X, reset=reset, skip_check_array=True, ensure_2d=False)
    except (ValueError, TypeError) as problem:
        raise InputError(str(problem)) from None
