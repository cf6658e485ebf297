"""What an evaluation found: measures with their intervals, as a table, as JSON, in a notebook."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from shortlist.measures.registry import Measure, measure
from shortlist.measures.resampling import CONFIDENCE
from shortlist.ranking.html import html_table

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class MeasureRecord(TypedDict):
    """One measure, as JSON has it; None where a value does not exist."""

    value: float | None
    better: Literal["higher", "lower"]
    low: NotRequired[float | None]  # ends of the interval
    high: NotRequired[float | None]
    highest: NotRequired[float | None]  # that any ranking could have


class EvaluationRecord(TypedDict):
    """An evaluation, as JSON has it."""

    instances: int
    left_out: dict[str, int]
    measures: dict[str, MeasureRecord]


@dataclass(frozen=True, repr=False)
class Evaluation:
    """What ``evaluate``, ``evaluate_documents`` or ``evaluate_ratings`` found.

    Parameters
    ----------
    measures : tuple of Measure
        The measures, in the order asked for.
    values : dict of str to float
        Each measure's value, by its name. ``evaluation["P@1"]`` is short for ``evaluation.values["P@1"]``.
    intervals : dict of str to (float, float)
        The two ends of its 95 % bootstrap interval; empty if none was asked for.
    per_instance : dict of str to array
        Its value for each example or query, NaN where one was left out; only for measures that are means over these.
    n_instances : int
        The number of examples or queries.
    left_out : dict of str to int
        How many of them were left out of the averages, by the reason.
    highest : dict of str to float, default={}
        For P@k and recall@k the highest value that any ranking could have: below 1 where examples have fewer than k
        labels, or more.

    Attributes
    ----------
    measures, values, intervals, per_instance, n_instances, left_out, highest
        As above.

    Examples
    --------
    >>> from shortlist import evaluate_ratings
    >>> found = evaluate_ratings([1, 2, 4], [1, 3, 4], ["MAE", "exact"], resamples=0)
    >>> print(found.table())
    measure   value    better
    MAE      0.3333    lower
    exact    0.6667    higher
    3 examples
    """

    measures: tuple[Measure, ...]
    values: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    per_instance: dict[str, NDArray[np.float64]]
    n_instances: int
    left_out: dict[str, int]
    highest: dict[str, float] = field(default_factory=dict)

    def __getitem__(self, name: str) -> float:
        return self.values[measure(name).name]

    def to_dict(self) -> EvaluationRecord:
        """Everything but the values of single examples, ready for JSON; a value that does not exist is None."""

        def number(value: float) -> float | None:
            return float(value) if np.isfinite(value) else None

        rows: dict[str, MeasureRecord] = {}
        for one in self.measures:
            rows[one.name] = {"value": number(self.values[one.name]), "better": one.better}
            if one.name in self.intervals:
                low, high = self.intervals[one.name]
                rows[one.name]["low"], rows[one.name]["high"] = number(low), number(high)
            if one.name in self.highest:
                rows[one.name]["highest"] = number(self.highest[one.name])
        return {"instances": self.n_instances, "left_out": dict(self.left_out), "measures": rows}

    def table(self) -> str:
        """A plain table: measure, value, 95 % interval, which direction is better, and the highest value possible."""
        rows = [("measure", "value", f"{CONFIDENCE} % interval" if self.intervals else "", "better")]
        for one in self.measures:
            low, high = self.intervals.get(one.name, (np.nan, np.nan))
            interval = f"{low:.4f} – {high:.4f}" if np.isfinite(low) else ""
            value, limit = self.values[one.name], self.highest.get(one.name, np.nan)
            better = f"{one.better} (at most {limit:.4f})" if limit < 1 else one.better
            rows.append((one.name, f"{value:.4f}" if np.isfinite(value) else "–", interval, better))
        wide = [max(len(row[column]) for row in rows) for column in range(4)]
        lines = [f"{a:<{wide[0]}}  {b:>{wide[1]}}  {c:^{wide[2]}}  {d}" for a, b, c, d in rows]
        lines.append(f"{self.n_instances} example{'s' * (self.n_instances != 1)}")
        lines += [f"{count} left out: {reason}" for reason, count in self.left_out.items()]
        return "\n".join(lines)

    __repr__ = table

    def _repr_html_(self) -> str:
        """A table, for notebooks."""
        heading = ["measure", "value", f"{CONFIDENCE} % from", "to", "better", "at most"]
        rows = []
        for one in self.measures:
            low, high = self.intervals.get(one.name, (None, None))
            rows.append([one.name, self.values[one.name], low, high, one.better, self.highest.get(one.name)])
        return html_table(heading, rows, f"{self.n_instances} example{'s' * (self.n_instances != 1)}")
