"""Evaluate: rankings and truth in, measures with confidence intervals out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray

from shortlist.door import as_whole
from shortlist.errors import InputError
from shortlist.labels import LabelSets
from shortlist.measures.places import Places, place_documents, place_labels
from shortlist.measures.registry import Family, Measure, measure
from shortlist.ranking import Ranking

CONFIDENCE = 95  # per cent
BATCH = 50  # bootstrap samples at a time: bounds the memory to BATCH numbers for each instance


@dataclass(frozen=True)
class Evaluation:
    """What ``evaluate`` found.

    ``values``        name -> the measure
    ``intervals``     name -> the two ends of its 95 % bootstrap interval; empty if none was asked for
    ``per_instance``  name -> its value for each instance, NaN where the instance was left out; only for measures
                      that are means over instances
    ``left_out``      reason -> how many of the ``n_instances`` were left out of the averages
    """

    measures: tuple[Measure, ...]
    values: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    per_instance: dict[str, NDArray[np.float64]]
    n_instances: int
    left_out: dict[str, int]

    def __getitem__(self, name: str) -> float:
        return self.values[measure(name).name]

    def to_dict(self) -> dict[str, Any]:
        """Everything but the values of single instances, ready for JSON; a value that does not exist is None."""

        def number(value: float) -> float | None:
            return float(value) if np.isfinite(value) else None

        rows = {}
        for one in self.measures:
            rows[one.name] = {"value": number(self.values[one.name]), "better": one.better}
            if one.name in self.intervals:
                low, high = self.intervals[one.name]
                rows[one.name] |= {"low": number(low), "high": number(high)}
        return {"instances": self.n_instances, "left_out": dict(self.left_out), "measures": rows}

    def table(self) -> str:
        """A plain table: measure, value, 95 % interval, which direction is better."""
        rows = [("measure", "value", f"{CONFIDENCE} % interval" if self.intervals else "", "better")]
        for one in self.measures:
            low, high = self.intervals.get(one.name, (np.nan, np.nan))
            interval = f"{low:.4f} – {high:.4f}" if np.isfinite(low) else ""
            value = self.values[one.name]
            rows.append((one.name, f"{value:.4f}" if np.isfinite(value) else "–", interval, one.better))
        wide = [max(len(row[column]) for row in rows) for column in range(4)]
        lines = [f"{a:<{wide[0]}}  {b:>{wide[1]}}  {c:^{wide[2]}}  {d}" for a, b, c, d in rows]
        lines.append(f"{self.n_instances} instances")
        lines += [f"{count} left out: {reason}" for reason, count in self.left_out.items()]
        return "\n".join(lines)


def evaluate(
    ranking: Ranking,
    truth: LabelSets | Iterable[Any],
    measures: Iterable[str | Measure],
    *,
    n_labels: int | None = None,
    resamples: int = 1000,
    random_state: int = 0,
) -> Evaluation:
    """Evaluate rankings of labels.

    ``ranking`` is a ranking of many rows; ``truth`` the label numbers of each row, or the labels themselves as a list
    of label lists. Labels that the ranker never learned have numbers from ``n_labels`` on and are never retrieved.
    ``n_labels`` is the number of labels that could have been ranked, by default all that the ranking has names for.
    ``resamples`` bootstrap samples of the instances give the intervals; 0 gives none.
    """
    chosen = _choose(measures, "categories")
    places = place_labels(ranking, truth, n_labels)
    for one in chosen:
        if one.parameters.get("k", 0) > places.width:
            raise InputError(
                f"{one.name} looks at {one.parameters['k']} labels and the ranking holds {places.width} for each row; "
                f"rank with k={one.parameters['k']} or more"
            )
    return _summarise(chosen, places, "no relevant label", resamples, random_state)


def evaluate_documents(
    scores: ArrayLike,
    relevance: ArrayLike,
    query: ArrayLike,
    measures: Iterable[str | Measure],
    *,
    resamples: int = 1000,
    random_state: int = 0,
) -> Evaluation:
    """Evaluate scores of documents, query by query; a document is relevant if its ``relevance`` is above 0.

    The documents of a query are ranked by score, ties in the order given. Instances are the queries, in order of
    first appearance.
    """
    places = place_documents(scores, relevance, query)
    chosen = _choose(measures, "documents")
    return _summarise(chosen, places, "no relevant document", resamples, random_state)


def _choose(measures: Iterable[str | Measure], family: Family) -> list[Measure]:
    names = [measures] if isinstance(measures, str) else measures
    chosen = [measure(name) for name in names]
    for one in chosen:
        if family not in one.families:
            raise InputError(f"{one.name} is a measure of {' and '.join(one.families)}, not of {family}")
    return list({one.name: one for one in chosen}.values())


def _summarise(
    chosen: Sequence[Measure], places: Places, reason: str, resamples: int, random_state: int
) -> Evaluation:
    columns: list[scipy.sparse.csr_array] = []
    totals, per_instance = [], {}
    empty = places.size == 0
    for one in chosen:
        with np.errstate(divide="ignore", invalid="ignore"):  # of instances that are left out
            found = one.compute(places, **one.parameters)
        if not one.every_instance:
            found[empty] = np.nan if one.total is None else 0
        if one.total is None:
            per_instance[one.name] = found
            counted = ~np.isnan(found)
            found = np.column_stack([np.where(counted, found, 0), counted])
        columns.append(scipy.sparse.csr_array(found))
        totals.append(one.total or _mean)
    values, intervals = bootstrap(columns, totals, resamples, random_state)
    names = [one.name for one in chosen]
    return Evaluation(
        tuple(chosen),
        dict(zip(names, values, strict=True)),
        dict(zip(names, intervals, strict=True)) if resamples else {},
        per_instance,
        places.n,
        {reason: int(empty.sum())} if empty.any() else {},
    )


def _mean(sums: NDArray[np.float64]) -> float:
    return sums[0] / sums[1]


def bootstrap(
    columns: Sequence[scipy.sparse.csr_array], totals: Sequence[Any], resamples: int, random_state: int
) -> tuple[list[float], list[tuple[float, float]]]:
    """Values of measures that are functions (``totals``) of sums over instances, and their percentile intervals.

    Every measure sees the same samples. A sample draws n instances with replacement: how often each was drawn are
    the weights of the sums.
    """
    resamples = as_whole(resamples, "resamples")
    if not columns:
        return [], []
    everything = scipy.sparse.hstack(columns, format="csc")
    n = everything.shape[0]
    ends = np.cumsum([part.shape[1] for part in columns])

    def apply(sums: NDArray[np.float64]) -> list[float]:
        with np.errstate(divide="ignore", invalid="ignore"):
            return [float(total(part)) for total, part in zip(totals, np.split(sums, ends[:-1]), strict=True)]

    values = apply(everything.T @ np.ones(n))
    rng = np.random.default_rng(random_state)
    samples = []
    for first in range(0, resamples if n else 0, BATCH):
        some = min(BATCH, resamples - first)
        drawn = rng.integers(n, size=(some, n))
        weights = np.column_stack([np.bincount(one, minlength=n).astype(np.float64) for one in drawn])
        samples += [apply(sums) for sums in (everything.T @ weights).T]
    if not samples:
        return values, [(np.nan, np.nan)] * len(values)
    tail = (100 - CONFIDENCE) / 2
    low, high = np.nanpercentile(np.array(samples), [tail, 100 - tail], axis=0)
    return values, list(zip(low.tolist(), high.tolist(), strict=True))
