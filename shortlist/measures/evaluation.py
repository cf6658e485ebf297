"""Evaluate: rankings and truth in, measures with confidence intervals out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray

from shortlist.arrays.validation import as_whole
from shortlist.errors import InputError
from shortlist.labels import LabelSets
from shortlist.measures.positions import Positions, place_documents, place_labels
from shortlist.measures.propensity import Propensities
from shortlist.measures.ratings import Steps, as_steps
from shortlist.measures.registry import Family, Measure, measure
from shortlist.measures.resampling import CONFIDENCE, interval, resampled_sums
from shortlist.ranking import Ranking


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


DEPTH = 200  # labels ranked for a measure that looks at the whole ranking but can do with its beginning


def depth(measures: Iterable[Measure], n_labels: int) -> int:
    """How many labels of each ranking these measures look at: at most all that there are."""
    wanted = (n_labels if "complete rankings" in one.needs else one.parameters.get("k", DEPTH) for one in measures)
    return max(1, min(n_labels, int(max(wanted))))


def propensities_for(measures: Iterable[Measure], counts: ArrayLike, n_examples: int) -> Propensities | None:
    """The propensities of labels with those frequencies in training, if one of the measures needs them."""
    needed = any("propensities" in one.needs for one in measures)
    return Propensities(counts, n_examples) if needed else None


def evaluate(
    ranking: Ranking,
    truth: LabelSets | Iterable[Any],
    measures: Iterable[str | Measure],
    *,
    n_labels: int | None = None,
    propensities: Propensities | None = None,
    resamples: int = 1000,
    random_state: int = 0,
) -> Evaluation:
    """Evaluate rankings of labels.

    ``ranking`` is a ranking of many rows; ``truth`` the label numbers of each row, or the labels themselves as a list
    of label lists. Labels that the ranker never learned have numbers from ``n_labels`` on and are never retrieved.
    ``n_labels`` is the number of labels that could have been ranked, by default all that the ranking has names for.
    ``propensities`` are needed by the measures whose names begin with PS.
    ``resamples`` bootstrap samples of the instances give the intervals; 0 gives none.
    """
    chosen = _choose(measures, "categories")
    positions = place_labels(ranking, truth, n_labels)
    for one in chosen:
        if one.parameters.get("k", 0) > positions.width:
            raise InputError(
                f"{one.name} looks at {one.parameters['k']} labels and the ranking holds {positions.width} for each "
                f"row; rank with k={one.parameters['k']} or more"
            )
        if "propensities" in one.needs and propensities is None:
            raise InputError(f"{one.name} needs propensities; give Propensities.of(the label sets of training)")
    return _summarise(
        chosen, positions, positions.size == 0, "no relevant label", resamples, random_state, propensities
    )


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
    chosen = _choose(measures, "documents")
    positions = place_documents(scores, relevance, query)
    return _summarise(chosen, positions, positions.size == 0, "no relevant document", resamples, random_state)


def evaluate_ratings(
    predicted: ArrayLike,
    truth: ArrayLike,
    measures: Iterable[str | Measure],
    *,
    scale: ArrayLike | None = None,
    resamples: int = 1000,
    random_state: int = 0,
) -> Evaluation:
    """Evaluate predicted ratings. ``scale`` lists the steps, lowest first; by default whole numbers are the steps."""
    chosen = _choose(measures, "ratings")
    steps = as_steps(predicted, truth, scale)
    nobody = np.zeros(steps.true.size, dtype=np.bool_)
    return _summarise(chosen, steps, nobody, "", resamples, random_state)


def _choose(measures: Iterable[str | Measure], family: Family) -> list[Measure]:
    names = [measures] if isinstance(measures, str) else measures
    chosen = [measure(name) for name in names]
    for one in chosen:
        if family not in one.families:
            raise InputError(f"{one.name} is a measure of {' and '.join(one.families)}, not of {family}")
    return list({one.name: one for one in chosen}.values())


def _summarise(
    chosen: Sequence[Measure],
    data: Positions | Steps,
    empty: NDArray[np.bool_],
    reason: str,
    resamples: int,
    random_state: int,
    propensities: Propensities | None = None,
) -> Evaluation:
    """Compute the measures, each a function of sums over instances, and bootstrap them all with the same samples."""
    resamples = as_whole(resamples, "resamples")
    columns: list[Any] = [(~empty)[:, None]]  # the first column counts the instances that are not left out
    per_instance = {}
    left_out = {reason: int(empty.sum())} if empty.any() else {}
    for one in chosen:
        assert one.compute is not None  # only measures of models have none, and they were refused
        needed = {"propensities": propensities} if "propensities" in one.needs else {}
        with np.errstate(divide="ignore", invalid="ignore"):  # where an instance is left out
            found = one.compute(data, **needed, **one.parameters)
        if one.total is None:
            found[empty] = np.nan
            per_instance[one.name] = found
            missing = np.isnan(found)
            found = np.where(missing, 0, found)[:, None]
            if (missing != empty).any():  # this measure leaves out more than others do: it needs its own count
                found = np.column_stack([found, ~missing])
                left_out[f"{one.name} is undefined"] = int((missing & ~empty).sum())
        columns.append(found)
    values = _apply(chosen, [np.asarray(part.sum(axis=0)).ravel() for part in columns])
    samples = []
    if resamples and empty.size:
        ends = np.cumsum([0, *(part.shape[1] for part in columns)])
        parts = [slice(first, last) for first, last in pairwise(ends)]
        rows = scipy.sparse.hstack([scipy.sparse.csr_array(part, dtype=np.float64) for part in columns])
        drawn = resampled_sums(rows, resamples, random_state)
        samples = [_apply(chosen, [sums[part] for part in parts]) for sums in drawn]
    return Evaluation(
        tuple(chosen),
        values,
        {one.name: interval(np.array([sample[one.name] for sample in samples])) for one in chosen} if samples else {},
        per_instance,
        empty.size,
        left_out,
    )


def _apply(chosen: Sequence[Measure], sums: Sequence[NDArray[np.float64]]) -> dict[str, float]:
    count = sums[0][0]
    with np.errstate(divide="ignore", invalid="ignore"):
        return {one.name: float((one.total or _mean)(part, count)) for one, part in zip(chosen, sums[1:], strict=True)}


def _mean(sums: NDArray[np.float64], count: float) -> float:
    return sums[0] / (sums[1] if sums.size > 1 else np.float64(count))
