"""Measures of predicted ratings on an ordered scale (paper 002). Distances are counted in steps of the scale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.errors import InputError
from shortlist.measures.registry import registered

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Steps:
    """Ratings as steps 0, 1, … of a scale."""

    predicted: NDArray[np.int64]
    true: NDArray[np.int64]
    scale: NDArray[np.generic]

    @property
    def distance(self) -> NDArray[np.int64]:
        return np.abs(self.predicted - self.true)


def as_steps(predicted: ArrayLike, truth: ArrayLike, scale: ArrayLike | None = None) -> Steps:
    """Find both ratings on the scale: its steps in order, or by default the whole numbers from lowest to highest."""
    one, other = np.asarray(predicted), np.asarray(truth)
    if one.ndim != 1 or one.shape != other.shape:
        raise InputError(f"predicted and true ratings must be two lists of one length, not {one.shape}, {other.shape}")
    if scale is None:
        for name, ratings in (("predicted", one), ("true", other)):
            if ratings.dtype.kind not in "biuf" or not np.all(np.isfinite(ratings) & (ratings == np.round(ratings))):
                raise InputError(f"the {name} ratings are not all whole numbers; give the scale, its steps in order")
        both = np.concatenate([one, other])
        steps = np.arange(int(both.min()), int(both.max()) + 1) if both.size else np.arange(0)
        if steps.size > 10_000:
            raise InputError(f"ratings from {both.min():g} to {both.max():g} are no scale; give the scale")
    else:
        steps = np.asarray(scale)
    number = {step: i for i, step in enumerate(steps.tolist())}
    if steps.ndim != 1 or len(number) != steps.size:
        raise InputError("the scale must be a list of different steps, lowest first")
    missing = [rating for rating in {*one.tolist(), *other.tolist()} if rating not in number]
    if missing:
        raise InputError(f"the rating {missing[0]!r} is not on the scale {steps.tolist()}")

    def find(ratings: NDArray[np.generic]) -> NDArray[np.int64]:
        return np.array([number[rating] for rating in ratings.tolist()], dtype=np.int64)

    return Steps(find(one), find(other), steps)


@registered("MAE", "lower", "|ŷ − y|", families=["ratings"], paper="002")
def ranking_loss(steps: Steps) -> Values:
    """Mean distance between predicted and true rating, in steps of the scale: the ranking loss."""
    return steps.distance.astype(np.float64)


@registered("exact", "higher", "[ŷ = y]", families=["ratings"], paper="002")
def exact(steps: Steps) -> Values:
    """Share of ratings predicted exactly."""
    return (steps.distance == 0).astype(np.float64)


@registered("within@k", "higher", "[|ŷ − y| ≤ k]", families=["ratings"], paper="002")
def within(steps: Steps, k: int) -> Values:
    """Share of ratings predicted with at most k steps of error."""
    return (steps.distance <= k).astype(np.float64)


def confusion(predicted: ArrayLike, truth: ArrayLike, scale: ArrayLike | None = None) -> NDArray[np.int64]:
    """How often step i (row) was predicted as step j (column)."""
    steps = as_steps(predicted, truth, scale)
    k = steps.scale.size
    return np.bincount(steps.true * k + steps.predicted, minlength=k * k).reshape(k, k)
