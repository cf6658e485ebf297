"""A learner of ratings <-> the state that a model file holds; all that the kernels trust is checked on the way in."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from shortlist.arrays.kernels import Floats, Longs
from shortlist.arrays.validation import MOST_AMOUNT, as_whole
from shortlist.concurrency.locks import Shared, reading, snapshot
from shortlist.dual import Supports
from shortlist.errors import InputError
from shortlist.files.store import State
from shortlist.files.store import save as save_file
from shortlist.files.text_arrays import text_to_array
from shortlist.ratings.calibration import Calibration
from shortlist.ratings.scale import as_steps

if TYPE_CHECKING:
    from typing_extensions import Self


class SavedLearner(Shared, BaseEstimator, ABC):
    """Base class: can be saved. A learner says how its weights are shaped."""

    classes_: NDArray[Any]
    n_features_in_: int
    kernel: Any
    _supports: Supports | None
    _weights: Floats
    _biases: Floats
    _lives: Longs
    _clock: Longs
    _calibration: Calibration | None

    @abstractmethod
    def _shape(self, n_steps: int) -> tuple[int, int]:
        """The number of weight vectors and of biases for a scale of n_steps."""

    def _check_state(self, state: State) -> None:
        """Refuse a loaded state that this learner could not have reached."""

    @reading
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, which ``shortlist.load`` opens."""
        save_file(self, path)

    @snapshot
    def to_state(self) -> State:
        """All that a fitted learner is."""
        check_is_fitted(self, "_clock")
        if callable(self.kernel):
            raise InputError("a model whose kernel is a Python function cannot be saved; use a kernel with a name")
        if not np.isfinite(self._weights).all() or not np.isfinite(self._biases).all():
            raise InputError(
                f"this {type(self).__name__} is not saved: what it has learned are no longer finite numbers; learn "
                "again from smaller values or with a smaller step"
            )
        arrays: dict[str, NDArray[Any]] = {
            "classes": text_to_array(self.classes_.tolist()),
            "weights": self._weights,
            "biases": self._biases,
            "lives": self._lives,
            "clock": self._clock,
        }
        if self._supports is not None:
            arrays |= self._supports.to_arrays()
        if self._calibration is not None:
            arrays["slopes"], arrays["offsets"] = self._calibration.slopes, self._calibration.offsets
            arrays["strange"] = self._calibration.strange
        parameters = {name: _plain(value) for name, value in self.get_params().items()}
        return State(type(self).__name__, {"parameters": parameters, "n_features": self.n_features_in_}, arrays)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The learner that a state describes, or ModelFileError."""
        learner = cls(**state.settings["parameters"])
        learner.n_features_in_ = as_whole(state.settings["n_features"], "n_features", least=1)
        learner.classes_ = as_steps(state.names("classes"), least=1)
        learner._weights, learner._biases = state.array("weights", np.float64, 3), state.array("biases", np.float64, 2)
        learner._lives, learner._clock = state.array("lives", np.int64), state.array("clock", np.int64)
        learner._supports = None if learner.kernel is None else Supports.from_arrays(state, learner.n_features_in_)
        learner._calibration = _calibration(state, learner.classes_.size) if "slopes" in state.arrays else None

        n_rules = 2 + learner._lives.size
        n_vectors, n_biases = learner._shape(learner.classes_.size)
        n_columns = learner.n_features_in_ if learner._supports is None else len(learner._supports)
        state.require(learner._weights.shape == (n_rules, n_vectors, n_columns), "its weights have another shape")
        state.require(learner._biases.shape == (n_rules, n_biases), "its biases have another shape")
        finite = np.isfinite(learner._weights).all() and np.isfinite(learner._biases).all()
        state.require(finite, "a weight is not a finite number")
        counts = np.concatenate([learner._clock - 1, learner._lives])
        counted = learner._clock.size == 2 and ((counts >= 0) & (counts < MOST_AMOUNT)).all()
        state.require(counted, "its counts are not counts")
        learner._check_state(state)
        return learner


def _calibration(state: State, n_steps: int) -> Calibration:
    slopes, offsets = state.array("slopes", np.float64, 2), state.array("offsets", np.float64)
    state.require(slopes.shape[0] == offsets.size == n_steps, "its probabilities are of another scale")
    possible = np.isfinite(slopes).all() and (offsets < np.inf).all() and np.isfinite(offsets).any()
    state.require(possible, "its probabilities are not numbers")
    if "strange" not in state.arrays:  # from before intervals
        return Calibration(slopes, offsets)
    strange = np.array(state.array("strange", np.float64))
    state.require(bool((strange >= 0).all() and (strange[1:] >= strange[:-1]).all()), "its examples are not in order")
    return Calibration(slopes, offsets, strange)


def _plain(value: Any) -> Any:
    """A parameter as JSON has it."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value.item() if isinstance(value, np.generic) else value
