"""A learner of categories <-> the state that a model file holds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shortlist.arrays.validation import MOST_AMOUNT, as_whole
from shortlist.errors import InputError
from shortlist.files.store import Later, State, text_to_array
from shortlist.labels import LabelIndex

if TYPE_CHECKING:
    from shortlist.categories.learner import CategoryLearner


def state_of(learner: CategoryLearner) -> State:
    """All that a fitted learner is."""
    settings = {
        "parameters": learner.get_params(deep=False),
        "n_examples": learner.n_examples_,
        "n_features": learner.n_features_in_,
    }
    arrays = {name: _finite(learner, array) for name, array in learner._to_arrays().items()}
    arrays |= {"labels": text_to_array(learner._labels.names), "label_counts": learner.label_counts_}
    return State(type(learner).__name__, settings, arrays)


def learner_of(kind: type[CategoryLearner], state: State) -> Any:
    """The learner that a state describes, or ModelFileError."""
    learner = kind(**state.settings["parameters"])
    learner._start()
    learner._labels = LabelIndex(state.names("labels"))
    learner._label_counts = state.array("label_counts", np.int64)
    counts = learner._label_counts
    state.require(counts.size == len(learner._labels), "each label has one count")
    state.require(bool(((counts >= 0) & (counts <= MOST_AMOUNT)).all()), "labels have counts of at least 0")
    learner.n_examples_ = as_whole(state.settings["n_examples"], "n_examples", most=MOST_AMOUNT)
    learner.n_features_in_ = as_whole(state.settings["n_features"], "n_features")
    learner._from_arrays(state)
    return learner


def _finite(learner: CategoryLearner, array: Any) -> Any:
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
