"""Ratings as answers: of each example the rating, how near the next ones are, and how sure it is, if that is known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from shortlist.arrays.kernels import Floats


@dataclass
class GivenRatings:
    """The rating of each example, and its distances from the rating below and from the one above.

    Of a model that was calibrated also the probability of each rating of the scale, n × k, and the lowest and highest
    rating of an interval, n × 2.
    """

    ratings: NDArray[Any]
    distances: Floats
    probabilities: Floats | None = None
    intervals: NDArray[Any] | None = None

    def __iter__(self) -> Iterator[tuple[Any, float, float]]:
        for rating, (below, above) in zip(self.ratings.tolist(), self.distances.tolist(), strict=True):
            yield rating, below, above

    def lines(self) -> Iterator[str]:
        return (f"{rating}\t{below:.6g}\t{above:.6g}" for rating, below, above in self)

    def records(self) -> Iterator[dict[str, Any]]:
        for n, (rating, below, above) in enumerate(self):
            record = {"rating": rating, "from_step_below": _finite(below), "from_step_above": _finite(above)}
            if self.probabilities is not None and self.intervals is not None:
                record |= {"probabilities": self.probabilities[n].tolist(), "interval": self.intervals[n].tolist()}
            yield record


def _finite(distance: float) -> float | None:
    return distance if abs(distance) != float("inf") else None
