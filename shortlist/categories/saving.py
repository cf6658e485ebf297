"""A learner of categories <-> the state that a model file holds."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

from shortlist.arrays.columns import Names
from shortlist.arrays.given_labels import Columns
from shortlist.arrays.kernels import Longs
from shortlist.arrays.validation import MOST_AMOUNT, as_whole
from shortlist.concurrency.locks import Shared, reading, snapshot
from shortlist.errors import InputError
from shortlist.files.later import Later
from shortlist.files.store import State
from shortlist.files.store import save as save_file
from shortlist.files.text_arrays import text_to_array
from shortlist.labels import LabelIndex

if TYPE_CHECKING:
    from typing_extensions import Self


class SavedLearner(Shared, BaseEstimator, ABC):
    """Base class: can be saved. A learner says what its arrays are."""

    n_examples_: int
    n_features_in_: int
    feature_names_in_: Names
    _labels: LabelIndex
    _label_counts: Longs
    _label_columns: Columns | None  # of the indicator matrices that all labels came as

    @abstractmethod
    def _start(self) -> None:
        """Check the parameters and forget everything learned."""

    @abstractmethod
    def _check_fitted(self) -> None:
        """Refuse a learner that has learned nothing."""

    @abstractmethod
    def _to_arrays(self) -> dict[str, Any]:
        """The learned arrays, for the model file; some may be made later."""

    @abstractmethod
    def _from_arrays(self, state: State) -> None:
        """Take up the arrays of a model file, having checked all that the kernels will trust."""

    @reading
    def save(self, path: str | os.PathLike[str], *, compact: bool = False) -> None:
        """Write the learner to one file; ``shortlist.load`` opens it. What is lost if ``compact``: Categorizer.save."""
        save_file(self, path, compact=compact)

    @snapshot
    def to_state(self) -> State:
        """All that a fitted learner is."""
        self._check_fitted()
        settings: dict[str, Any] = {
            "parameters": self.get_params(deep=False),
            "n_examples": self.n_examples_,
            "n_features": self.n_features_in_,
        }
        if isinstance(self._label_columns, range):
            settings["label_columns"] = len(self._label_columns)
        arrays = {name: _finite(self, array) for name, array in self._to_arrays().items()}
        arrays |= {"labels": text_to_array(self._labels.names), "label_counts": self.label_counts_}
        if isinstance(self._label_columns, list):
            arrays["label_columns"] = text_to_array(self._label_columns)
        if hasattr(self, "feature_names_in_"):
            arrays["feature_names"] = text_to_array(self.feature_names_in_.tolist())
        return State(type(self).__name__, settings, arrays, compact=partial(self._compacted, arrays))

    def _compacted(self, arrays: dict[str, Any]) -> dict[str, Any]:
        """The arrays of a compact file, instead of those that a file usually has."""
        return arrays

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The learner that a state describes, or ModelFileError."""
        learner = cls(**state.settings["parameters"])
        learner._start()
        learner._labels = LabelIndex(state.names("labels"))
        learner._label_counts = state.array("label_counts", np.int64)
        counts = learner._label_counts
        state.require(counts.size == len(learner._labels), "each label has one count")
        state.require(bool(((counts >= 0) & (counts <= MOST_AMOUNT)).all()), "labels have counts of at least 0")
        learner.n_examples_ = as_whole(state.settings["n_examples"], "n_examples", most=MOST_AMOUNT)
        learner.n_features_in_ = as_whole(state.settings["n_features"], "n_features")
        if "label_columns" in state.settings:
            n_columns = as_whole(state.settings["label_columns"], "label_columns", most=len(counts))
            learner._label_columns = range(n_columns)
        if "label_columns" in state.arrays:
            columns = state.names("label_columns")
            known = all(name in learner._labels.number for name in columns) and len(set(columns)) == len(columns)
            state.require(known, "the columns that labels came as are labels")
            learner._label_columns = columns
        if "feature_names" in state.arrays:
            names = state.names("feature_names")
            named = len(names) <= learner.n_features_in_ and all(isinstance(name, str) for name in names)
            state.require(named, "its columns have names")
            learner.feature_names_in_ = np.array(names, dtype=object)
        learner._from_arrays(state)
        return learner


def _finite(learner: SavedLearner, array: Any) -> Any:
    """An array for the model file, refused where a number in it is not finite: such a file could not be opened."""
    if array.dtype.kind != "f":
        return array
    if isinstance(array, Later):
        return replace(array, pieces=lambda: (_finite(learner, piece) for piece in array.pieces()))
    if not np.isfinite(array).all():
        raise InputError(
            f"this {type(learner).__name__} is not saved: what it has learned are no longer finite numbers; learn "
            "again from smaller values (such as values='l2' makes them) or with a smaller step"
        )
    return array
