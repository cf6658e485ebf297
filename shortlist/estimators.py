"""Estimators as scikit-learn's tools take them, which need none of it to learn and to rank.

It takes half a second to load. A process of our own, in which nobody asks for its tools, does
without.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterable
from functools import partial
from types import MethodType
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np

from shortlist import own_process
from shortlist.concurrency import reading, writing
from shortlist.errors import InputError

if TYPE_CHECKING:
    from sklearn.exceptions import NotFittedError
    from sklearn.utils import Tags

if TYPE_CHECKING or not own_process.is_ours:
    from sklearn.base import BaseEstimator as Kind
else:
    Kind = object

One = TypeVar("One")


def has_mapped_arrays(value: object, looked_at: set[int]) -> bool:
    """Whether an object or one of its parts is an array that lies in a file."""
    if isinstance(value, np.memmap):
        return True
    if isinstance(value, (str, int, float, np.ndarray, type)) or id(value) in looked_at:
        return False
    looked_at.add(id(value))
    if isinstance(value, (list, tuple)):
        parts: Iterable[object] = value
    elif isinstance(value, dict):
        parts = value.values()
    else:
        parts = getattr(value, "__dict__", {}).values()
    return any(has_mapped_arrays(part, looked_at) for part in parts)


class Estimator(Kind):
    """Base class of what has parameters and can learn. Threads may share it; to copy one is to
    read it.
    """

    predicts_labels: ClassVar[bool] = False
    # whether arrays lie in a file that they cannot change, as joblib gives large ones to a process
    is_mapped_ = False

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; with ``deep``, those of the parts too."""
        parameters = {name: getattr(self, name) for name in self._get_param_names()}
        for name in list(parameters) if deep else ():
            part = self._part(name)
            if part is not None:
                parameters |= {f"{name}__{key}": value for key, value in part.get_params().items()}
        return parameters

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; ``part__name`` is the parameter ``name`` of a part."""
        names = self._get_param_names()
        nested: dict[str, dict[str, Any]] = {}
        for name in params:
            if name.partition("__")[0] not in names:
                raise InputError(
                    f"Invalid parameter {name!r} for {self!r}; its parameters are "
                    f"{', '.join(names)}"
                )
        for name, value in params.items():
            part_name, inside, key = name.partition("__")
            if inside:
                nested.setdefault(part_name, {})[key] = value
            else:
                setattr(self, name, value)
        for part_name, values in nested.items():
            setattr(self, part_name, self._part(part_name).set_params(**values))
        return self

    def _part(self, name: str) -> Any:
        """The part that a parameter is, or stands for; None for any other parameter."""
        value = getattr(self, name)
        return value if is_estimator(value) else None

    @classmethod
    def _get_param_names(cls) -> list[str]:
        if cls.__init__ is object.__init__:
            return []
        parameters = inspect.signature(cls.__init__).parameters.values()
        return sorted(
            parameter.name
            for parameter in parameters
            if parameter.name != "self" and parameter.kind is not parameter.VAR_KEYWORD
        )

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        set_apart = (
            (name, value, defaults[name].default)
            for name, value in self.get_params(deep=False).items()
        )
        set_parameters = (
            f"{name}={value!r}" for name, value, usual in set_apart if repr(value) != repr(usual)
        )
        return f"{type(self).__name__}({', '.join(set_parameters)})"

    # What scikit-learn asks for.

    def __sklearn_tags__(self) -> Tags:
        from sklearn.utils import ClassifierTags, Tags, TargetTags

        if self.predicts_labels:
            return Tags("classifier", TargetTags(required=True), classifier_tags=ClassifierTags())
        return Tags(estimator_type=None, target_tags=TargetTags(required=False))

    # Threads.

    @writing
    def set_learned(self, **learned: Any) -> None:
        """Set learned attributes, all at once."""
        self.__dict__.update(learned)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if has_mapped_arrays(state, set()):
            self.is_mapped_ = True

    def own_arrays(self) -> None:
        """Copy arrays that lie in a file, so that they can be changed."""
        del self.is_mapped_
        learned = {
            name: value
            for name, value in vars(self).items()
            if name.endswith("_") and name != "lock_"
        }
        self.__dict__.update(copy.deepcopy(learned))

    @reading
    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        copied = memo[id(self)] = type(self).__new__(type(self))
        copied.__dict__ = copy.deepcopy(self.__dict__, memo)
        return copied


def is_estimator(value: object) -> bool:
    return hasattr(value, "get_params") and not isinstance(value, type)


def clone(estimator: One) -> One:
    """Another estimator with the same parameters, which has learned nothing; scikit-learn's
    ``clone`` of one.
    """
    parameters = estimator.get_params(deep=False)  # type: ignore[attr-defined]
    return type(estimator)(
        **{
            name: clone(value) if is_estimator(value) else copy.deepcopy(value)
            for name, value in parameters.items()
        }
    )


class AvailableIf:
    """A method that only those objects have of which something holds; scikit-learn's tools look
    whether it is there.
    """

    def __init__(self, holds: Callable[[Any], bool], method: Callable[..., Any]) -> None:
        self._holds = holds
        self._method = method
        self.__doc__ = method.__doc__
        self.__name__ = method.__name__

    def __get__(self, owner: Any, kind: type) -> Any:
        if owner is None:
            return self._method
        if not self._holds(owner):
            raise AttributeError(f"this {kind.__name__} has no {self.__name__}")
        return MethodType(self._method, owner)


def available_if(holds: Callable[[Any], bool]) -> Callable[[Callable[..., Any]], Any]:
    """Let only those objects have the method of which this holds."""
    return partial(AvailableIf, holds)


def not_fitted(sentence: str) -> NotFittedError:
    """scikit-learn's own error, which its tools expect of an estimator that has learned nothing."""
    from sklearn.exceptions import NotFittedError

    return NotFittedError(sentence)
