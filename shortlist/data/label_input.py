"""Labels as people give them, lists, arrays or an indicator matrix, checked, as lists of plain
labels.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from shortlist.data.validation import compressed, is_sparse
from shortlist.errors import InputError, there_are

LONG = 1000  # letters of a label that an array of texts would give to every other label too
# the least whole number that Python does not write out, and a model file could not hold
BEYOND = 10**4300
Label: TypeAlias = str | int | float
# of an indicator matrix: numbers, or names in a data frame
Columns: TypeAlias = "range | list[Label]"
LabelsLike: TypeAlias = (
    "ArrayLike | Sequence[Collection[Label]] | scipy.sparse.sparray | scipy.sparse.spmatrix"
)


def label_lists(Y: LabelsLike, n_rows: int) -> list[list[Label]]:
    """The labels of each example as a list, from a list of label lists, one label each, or an
    indicator matrix.

    A label is text or a number: what can be stored and compared.
    """
    if type(Y) is list and len(Y) == n_rows:
        kinds = set(map(type, Y))
        if kinds <= {str}:
            return [[label] for label in Y]
        if kinds <= {list} and set(map(type, chain.from_iterable(Y))) <= {str, int}:
            usual: Any = Y
            return usual  # the usual case: there is nothing to look at
    lists = _lists_of(Y)
    check_count(len(lists), n_rows)
    for row, labels in enumerate(lists):
        for label in labels:
            if not is_label(label):
                raise InputError(_not_a_label(label, row))
    return lists


def _lists_of(Y: Any) -> list[list[Any]]:
    """Labels in any of the forms that users give them, as lists that are not checked yet."""
    # a column of Arrow's, whose own texts are no Python texts
    if hasattr(Y, "to_pylist") and not is_matrix(Y):
        Y = Y.to_pylist()
    if is_sparse(Y):
        if not Y.shape[0]:
            return []
        rows = compressed(Y, "Y")
        return [part.tolist() for part in np.split(rows.indices, rows.indptr[1:-1])]
    columns = indicator_columns(Y)
    if isinstance(columns, list):  # an indicator matrix with names
        return [[columns[at] for at in np.flatnonzero(row).tolist()] for row in _indicators(Y)]
    if hasattr(Y, "to_numpy"):  # a column of a pandas or polars frame
        Y = Y.to_numpy()
    elif hasattr(Y, "__array__"):
        Y = np.asarray(Y)
    if isinstance(Y, np.ndarray):
        if Y.ndim == 2 and Y.shape[1] == 1 and Y.dtype != object:
            Y = Y[:, 0]
        if Y.ndim == 2:
            return [np.flatnonzero(row).tolist() for row in _indicators(Y)]
        if Y.dtype != object:
            return [[label] for label in Y.tolist()]
    if isinstance(Y, (str, bytes)) or not hasattr(Y, "__len__"):
        hint = ""
        if Y is None:
            hint = "; this requires y to be passed, but the target y is None"
        raise InputError(
            "the labels must come as a list of label lists, or as one label for each example" + hint
        )
    return [one_example(labels) for labels in Y]


def _not_a_label(label: Any, row: int) -> str:
    """A sentence on what is no label, of an example."""
    is_float = isinstance(label, float)
    is_missing = label is None or type(label).__name__ in ("NAType", "NaTType")
    if is_missing or (is_float and np.isnan(label)):
        name = "NaN" if is_float else shown(label)
        return (
            f"the label of example {row} is missing ({name}); give it one, or leave the example out"
        )
    if is_float:
        return (
            f"the label {shown(label)} of example {row} is not finite; a label is text or a "
            "finite number"
        )
    return f"the label {shown(label)} of example {row} is neither text nor a number"


def _indicators(Y: Any) -> NDArray[Any]:
    """The values of an indicator matrix, or of a data frame that is one."""
    values = Y
    try:
        if not isinstance(Y, np.ndarray):
            values = np.column_stack([np.asarray(Y[name]) for name in Y.columns])
            if values.dtype == object:
                values = values.astype(np.float64)
    except (TypeError, ValueError):  # what is missing in a column, say
        values = np.empty((0, 0), dtype=object)
    if values.dtype.kind not in "biuf" or np.isnan(values).any():
        raise InputError("a two-dimensional Y must be an indicator matrix of 0 and 1")
    return values


def is_matrix(Y: object) -> bool:
    """Whether Y is an indicator matrix. One column of labels is none."""
    shape: tuple[int, ...] = getattr(Y, "shape", ())
    return len(shape) == 2 and (shape[1] != 1 or is_sparse(Y))


def indicator_columns(Y: object) -> Columns | None:
    """The labels that the columns of the indicator matrix Y stand for, named or numbered; None
    if it is none.
    """
    shape: tuple[int, ...] = getattr(Y, "shape", ())
    if not is_matrix(Y):
        return None
    numbers = range(shape[1])
    names = list(map(as_label, getattr(Y, "columns", numbers)))
    if names == list(numbers):
        return numbers
    for name in names:
        if not is_label(name):
            raise InputError(
                f"the column {shown(name)} of Y names no label, as it is neither text nor a number"
            )
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(
            f"two columns of Y have the name {shown(twice)}; each column is a label of its own"
        )
    return names


def joined_columns(first: Columns | None, second: Columns | None) -> Columns | None:
    """The columns of two indicator matrices together; None where one is none, or only one of
    them has names.
    """
    if first is None or second is None or type(first) is not type(second):
        return None
    if isinstance(first, range):
        return max(first, second, key=len)
    return list(dict.fromkeys([*first, *second]))


def warn_of_a_column(Y: object) -> None:
    """Say that a column of labels is a matrix in shape, as scikit-learn does."""
    if len(getattr(Y, "shape", ())) == 2 and not is_matrix(Y):
        from sklearn.exceptions import DataConversionWarning

        warnings.warn(
            "A column-vector y was passed when a 1d array was expected",
            DataConversionWarning,
            stacklevel=4,
        )


def class_list(classes: LabelsLike) -> list[list[Label]]:
    """The labels that ``classes`` names, each as the label list of one example."""
    try:
        if is_sparse(classes):
            raise TypeError
        is_set = isinstance(classes, (set, frozenset))
        listed = one_example(classes) if is_set else list(classes)  # type: ignore[arg-type]
    except TypeError:
        raise InputError(f"classes must be a list of labels, not {shown(classes)}") from None
    return label_lists(listed, len(listed))


def as_array(names: Sequence[Label]) -> NDArray[np.generic]:
    """Labels as an array: of text or of numbers where such an array holds every one of them as
    it is.
    """
    values: list[Any] = list(names)
    kinds = set(map(type, values))
    if (kinds == {int} and max(map(abs, values)) < 2**63) or kinds in ({bool}, {float}):
        return np.array(values)
    if (
        kinds == {str}
        and max(map(len, values)) <= LONG
        and not any(name.endswith("\0") for name in values)
    ):
        # NumPy takes a last NUL for room that is not used, and gives all texts the same room
        return np.array(values)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def shown(value: object) -> str:
    """A value as a sentence shows it: on one line, and not at full length."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # a whole number of too many digits
        text = "a very large number"
    return text if len(text) <= 60 else f"{text[:59]}…"


def check_count(n_found: int, n_rows: int) -> None:
    if n_found != n_rows:
        raise InputError(
            f"{there_are(n_rows, 'examples')} but labels for {n_found}; each example needs its own"
        )


def one_example(labels: object) -> list[Label]:
    if isinstance(labels, (list, tuple)):
        return list(map(as_label, labels))
    if isinstance(labels, np.ndarray):
        return list(map(as_label, labels.tolist())) if labels.ndim else [as_label(labels.item())]
    if isinstance(labels, (set, frozenset)):
        unique = list(map(as_label, labels))
        if all(map(is_label, unique)):
            # a set's own order changes from run to run
            unique.sort(key=lambda label: (str(type(label)), label))
        return unique
    return [as_label(labels)]


def as_label(label: Any) -> Label:
    """A label of NumPy's or of a subclass (an enumeration's, say) as Python's own: what a model
    file gives back.
    """
    if isinstance(label, np.generic):
        label = label.item()
    if type(label) in (str, int, float, bool):
        return label
    for kind in (str, int, float):
        if isinstance(label, kind):
            return str.__str__(label) if kind is str else kind(label)
    return label


def is_label(label: object) -> bool:
    return isinstance(label, (str, int, float)) and (
        not isinstance(label, float) or bool(np.isfinite(label))
    )
