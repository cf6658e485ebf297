"""A number of a results table: ours over trials, beside the published one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy
from numpy.typing import NDArray


@dataclass(frozen=True)
class Cell:
    """A number of ours, how it spreads over trials, what was published, and the trials' values."""

    ours: float | None = None
    spread: float | None = None
    published: float | None = None
    values: tuple[float, ...] = field(default=(), compare=False)

    @classmethod
    def of(cls, values: Sequence[float | None], published: float | None = None) -> Cell:
        """Mean and spread over the trials that have a value, beside what was published."""
        known = [value for value in values if value is not None]
        if not known:
            return cls(published=published)
        return cls(float(np.mean(known)), spread(known), published, tuple(map(float, known)))

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % confidence interval of the mean, by the t distribution; None of one trial."""
        if self.ours is None or self.spread is None or len(self.values) < 2:
            return None
        n = len(self.values)
        half = scipy.stats.t.ppf(0.975, n - 1) * self.spread / np.sqrt(n)
        return float(self.ours - half), float(self.ours + half)


def spread(values: Sequence[float] | NDArray[np.float64]) -> float | None:
    """The standard deviation that trials let expect of more such trials (ddof = 1); None where
    there is but one.
    """
    return float(np.std(values, ddof=1)) if np.size(values) > 1 else None


def number_in(row: Mapping[str, Cell | str], column: str) -> float:
    """Our number in a row of a table that has one there."""
    cell = row[column]
    assert isinstance(cell, Cell)
    assert cell.ours is not None
    return cell.ours


def cell_in(row: Mapping[str, Cell | str], column: str) -> Cell:
    """The cell in a row of a table that has a number there."""
    cell = row[column]
    assert isinstance(cell, Cell)
    return cell
