"""Evaluate: rankings and truth in, measures with confidence intervals out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.compiled.kernels import Longs
from shortlist.data.label_input import LabelsLike
from shortlist.data.labels import LabelSets
from shortlist.data.ranking import Ranking
from shortlist.data.validation import as_whole
from shortlist.errors import InputError, counted
from shortlist.measures.positions import Positions, place_documents, place_labels
from shortlist.measures.rankings import Propensities
from shortlist.measures.registry import Family, Measure, Values, measure, registered
from shortlist.measures.significance import CONFIDENCE, interval, resampled_sums

LIMITED_MEASURES = ("P@", "recall@")  # measures that may stay below 1 for the best ranking
MOST_STEPS = 10_000  # of a scale that is not given
DEFAULT_DEPTH = 200  # labels to rank for measures of whole rankings that do not need all labels


# Measures of predicted ratings. Distances are counted in steps of the scale.


def _on_scale(
    predicted: ArrayLike, truth: ArrayLike, scale: ArrayLike | None
) -> tuple[Longs, Longs, int]:
    """Both ratings as numbers 0, 1, … of the steps of the scale, and how many steps it has.

    Without a scale, the steps are the whole numbers from the lowest rating to the highest.
    """
    predicted = np.asarray(predicted)
    truth = np.asarray(truth)
    if predicted.ndim != 1 or predicted.shape != truth.shape:
        raise InputError(
            f"predicted and true ratings must be two lists of one length, not {predicted.shape}, "
            f"{truth.shape}"
        )
    steps = _whole_steps(predicted, truth) if scale is None else np.asarray(scale)
    number = {step: i for i, step in enumerate(steps.tolist())}
    if steps.ndim != 1 or len(number) != steps.size:
        raise InputError("the scale must be a list of different steps, lowest first")
    predicted_ratings = predicted.tolist()
    true_ratings = truth.tolist()
    for rating in predicted_ratings + true_ratings:
        if rating not in number:
            raise InputError(f"the rating {rating!r} is not on the scale {steps.tolist()}")
    return (
        np.array([number[rating] for rating in predicted_ratings], dtype=np.int64),
        np.array([number[rating] for rating in true_ratings], dtype=np.int64),
        steps.size,
    )


def _whole_steps(predicted: NDArray[Any], truth: NDArray[Any]) -> Longs:
    """The whole numbers from the lowest rating to the highest."""
    for name, ratings in (("predicted", predicted), ("true", truth)):
        if ratings.dtype.kind not in "biuf" or not np.all(
            np.isfinite(ratings) & (ratings == np.round(ratings))
        ):
            raise InputError(
                f"the {name} ratings are not all whole numbers; give the scale, its steps in order"
            )
    if not truth.size:
        return np.arange(0)
    lowest = min(predicted.min(), truth.min())
    highest = max(predicted.max(), truth.max())
    if highest - lowest >= MOST_STEPS:
        raise InputError(f"ratings from {lowest:g} to {highest:g} are no scale; give the scale")
    return np.arange(int(lowest), int(highest) + 1)


@registered("MAE", "lower", "|ŷ − y|", families=["ratings"], paper="002")
def ranking_loss(distance: Longs) -> Values:
    """Mean distance between predicted and true rating, in steps of the scale: the ranking loss."""
    return distance.astype(np.float64)


@registered("exact", "higher", "[ŷ = y]", families=["ratings"], paper="002")
def exact(distance: Longs) -> Values:
    """Share of ratings predicted exactly."""
    return (distance == 0).astype(np.float64)


@registered("within@k", "higher", "[|ŷ − y| ≤ k]", families=["ratings"], paper="002")
def within(distance: Longs, k: int) -> Values:
    """Share of ratings predicted with at most k steps of error."""
    return (distance <= k).astype(np.float64)


@dataclass(frozen=True, repr=False)
class Evaluation:
    """What ``evaluate``, ``evaluate_documents`` or ``evaluate_ratings`` found.

    Parameters
    ----------
    measures : tuple of Measure
        The measures, in the order given.
    values : dict of str to float
        The value of each measure, by its name. ``evaluation["P@1"]`` is short for
        ``evaluation.values["P@1"]``.
    intervals : dict of str to (float, float)
        Its 95 % bootstrap interval; empty without resamples.
    per_instance : dict of str to array
        Its value for each example or query, NaN where one was left out; only for measures that are
        means.
    n_instances : int
        The number of examples or queries.
    left_out : dict of str to int
        How many of them were left out of the averages, by the reason.
    highest : dict of str to float, default={}
        The highest value that any ranking could have, of P@k and recall@k.

    Attributes
    ----------
    measures, values, intervals, per_instance, n_instances, left_out, highest
        As above.

    Examples
    --------
    >>> from shortlist import evaluate_ratings
    >>> evaluation = evaluate_ratings([1, 2, 4], [1, 3, 4], ["MAE", "exact"], resamples=0)
    >>> print(evaluation.table())
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

    def to_dict(self) -> dict[str, Any]:
        """Everything but the values of single examples, ready for JSON; a value that does not
        exist is None.
        """

        def number(value: float) -> float | None:
            return float(value) if np.isfinite(value) else None

        rows = {}
        for entry in self.measures:
            row = {"value": number(self.values[entry.name]), "better": entry.better}
            if entry.name in self.intervals:
                low, high = self.intervals[entry.name]
                row |= {"low": number(low), "high": number(high)}
            if entry.name in self.highest:
                row["highest"] = number(self.highest[entry.name])
            rows[entry.name] = row
        return {"instances": self.n_instances, "left_out": dict(self.left_out), "measures": rows}

    def table(self) -> str:
        """A plain table: measure, value, 95 % interval, which direction is better, and the
        highest value possible.
        """
        interval_header = f"{CONFIDENCE} % interval" if self.intervals else ""
        rows = [("measure", "value", interval_header, "better")]
        for entry in self.measures:
            value = self.values[entry.name]
            value_cell = f"{value:.4f}" if np.isfinite(value) else "–"
            low, high = self.intervals.get(entry.name, (np.nan, np.nan))
            interval_cell = f"{low:.4f} – {high:.4f}" if np.isfinite(low) else ""
            better: str = entry.better
            limit = self.highest.get(entry.name, np.nan)
            if limit < 1:
                better += f" (at most {limit:.4f})"
            rows.append((entry.name, value_cell, interval_cell, better))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            f"{name:<{widths[0]}}  {value:>{widths[1]}}  {interval:^{widths[2]}}  {better}"
            for name, value, interval, better in rows
        ]
        lines.append(f"{self.n_instances} example{'s' * (self.n_instances != 1)}")
        lines += [f"{count} left out: {reason}" for reason, count in self.left_out.items()]
        return "\n".join(lines)

    __repr__ = table


def depth(measures: Iterable[Measure], n_labels: int) -> int:
    """How many labels of each ranking these measures look at: at most all that there are."""
    depths = [1]
    for entry in measures:
        if "complete rankings" in entry.needs:
            depths.append(n_labels)
        else:
            depths.append(entry.parameters.get("k", DEFAULT_DEPTH))
    return max(1, min(n_labels, max(depths)))


def propensities_for(
    measures: Iterable[Measure], counts: ArrayLike, n_examples: int
) -> Propensities | None:
    """The propensities of labels with those frequencies in training, if one of the measures
    needs them.
    """
    if any("propensities" in entry.needs for entry in measures):
        return Propensities(counts, n_examples)
    return None


def evaluate(
    ranking: Ranking,
    truth: LabelSets | LabelsLike,
    measures: Iterable[str | Measure],
    *,
    n_labels: int | None = None,
    propensities: Propensities | None = None,
    resamples: int = 1000,
    random_state: int = 0,
    n_jobs: int | None = -1,
) -> Evaluation:
    """Evaluate rankings of labels.

    Parameters
    ----------
    ranking : Ranking
        A ranking of many examples.
    truth : LabelSets or iterable of label lists
        The label numbers of each example, or the labels themselves. Labels that the ranker never
        learned have numbers from ``n_labels`` on and are never retrieved.
    measures : iterable of str or Measure
        Names as in docs/measures.md, such as "P@5" or "nDCG@10".
    n_labels : int, optional
        The number of labels that could have been ranked, by default all that the ranking has names
        for.
    propensities : Propensities, optional
        Needed by the measures whose names begin with PS.
    resamples : int, default 1000
        Bootstrap samples of the examples, which give the intervals; 0 gives none.
    random_state : int, default 0
        The seed of the bootstrap.
    n_jobs : int, default -1
        Threads; -1 for all processors. Nothing depends on how many there are.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> from shortlist import Categorizer, evaluate
    >>> texts, labels = ["wheat exports rose", "crude oil prices"], [["grain", "trade"], ["energy"]]
    >>> ranking = Categorizer().fit(texts, labels).rank(["wheat", "oil"], k=2)
    >>> evaluate(ranking, [["grain"], ["energy"]], ["MRR"], resamples=0)["MRR"]
    1.0
    """
    chosen = _choose(measures, "categories")
    positions = place_labels(ranking, truth, n_labels)
    for entry in chosen:
        k = entry.parameters.get("k", 0)
        if k > positions.width:
            raise InputError(
                f"{entry.name} looks at {counted(k, 'labels')} and the ranking holds "
                f"{positions.width} for each row; rank with k={k} or more"
            )
        if "propensities" in entry.needs and propensities is None:
            raise InputError(
                f"{entry.name} needs propensities; give Propensities.of(the label sets of training)"
            )
    return _summarise(
        chosen,
        positions,
        positions.size == 0,
        "no relevant label",
        resamples,
        random_state,
        propensities,
        n_jobs,
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
    """Evaluate scores of documents, query by query.

    The documents of a query are ranked by score, ties in the order given.

    Parameters
    ----------
    scores : array-like of shape (n_documents,)
        The score of each document.
    relevance : array-like of shape (n_documents,)
        Its grade; a document is relevant if this is above 0.
    query : array-like of shape (n_documents,)
        The id of the query that it was scored for.
    measures, resamples, random_state
        As those of :func:`~shortlist.measures.evaluate`; samples are drawn from the queries.

    Returns
    -------
    Evaluation
        Its examples are the queries, in order of first appearance.

    Examples
    --------
    >>> from shortlist import evaluate_documents
    >>> scores, relevance, query = [0.9, 0.1, 0.3, 0.8], [1, 0, 1, 0], ["a", "a", "b", "b"]
    >>> evaluate_documents(scores, relevance, query, ["MRR"], resamples=0)["MRR"]
    0.75
    """
    chosen = _choose(measures, "documents")
    positions = place_documents(scores, relevance, query)
    return _summarise(
        chosen, positions, positions.size == 0, "no relevant document", resamples, random_state
    )


def evaluate_ratings(
    predicted: ArrayLike,
    truth: ArrayLike,
    measures: Iterable[str | Measure],
    *,
    scale: ArrayLike | None = None,
    resamples: int = 1000,
    random_state: int = 0,
) -> Evaluation:
    """Evaluate predicted ratings.

    Parameters
    ----------
    predicted, truth : array-like of shape (n_examples,)
        The ratings, predicted and true.
    measures, resamples, random_state
        As those of :func:`~shortlist.measures.evaluate`.
    scale : array-like, optional
        The steps of the scale, lowest first; by default whole numbers are the steps.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> from shortlist import evaluate_ratings
    >>> scale = ["poor", "fair", "good"]
    >>> predicted, truth = ["poor", "good"], ["fair", "good"]
    >>> evaluate_ratings(predicted, truth, ["MAE"], scale=scale, resamples=0)["MAE"]
    0.5
    """
    chosen = _choose(measures, "ratings")
    predicted_steps, true_steps, _ = _on_scale(predicted, truth, scale)
    distance = np.abs(predicted_steps - true_steps)
    nothing_empty = np.zeros(distance.size, dtype=np.bool_)
    return _summarise(chosen, distance, nothing_empty, "", resamples, random_state)


def confusion(predicted: ArrayLike, truth: ArrayLike, scale: ArrayLike | None = None) -> Longs:
    """How often step i (row) was predicted as step j (column)."""
    predicted_steps, true_steps, k = _on_scale(predicted, truth, scale)
    return np.bincount(true_steps * k + predicted_steps, minlength=k * k).reshape(k, k)


def _choose(measures: Iterable[str | Measure], family: Family) -> list[Measure]:
    names = [measures] if isinstance(measures, str) else measures
    chosen = {}
    for name in names:
        entry = measure(name)
        if family not in entry.families:
            raise InputError(
                f"{entry.name} is a measure of {' and '.join(entry.families)}, not of {family}"
            )
        chosen[entry.name] = entry
    return list(chosen.values())


def _summarise(
    chosen: Sequence[Measure],
    data: Positions | Longs,
    empty: NDArray[np.bool_],
    reason: str,
    resamples: int,
    random_state: int,
    propensities: Propensities | None = None,
    n_jobs: int | None = -1,
) -> Evaluation:
    """Compute the measures, each a function of sums over examples; bootstrap them all with the
    same samples.
    """
    resamples = as_whole(resamples, "resamples")
    # the first column counts the examples that are not left out
    columns: list[Any] = [(~empty)[:, None]]
    per_instance = {}
    left_out = {}
    if empty.any():
        left_out[reason] = int(empty.sum())
    for entry in chosen:
        values = _computed(entry, data, propensities)
        if entry.total is None:
            values[empty] = np.nan
            per_instance[entry.name] = values
            missing = np.isnan(values)
            values = np.where(missing, 0, values)[:, None]
            # this measure leaves out more examples: it needs a count of its own
            if (missing != empty).any():
                values = np.column_stack([values, ~missing])
                left_out[f"{entry.name} is undefined"] = int((missing & ~empty).sum())
        columns.append(values)
    ends = np.cumsum([part.shape[1] for part in columns])[:-1]
    sums = [np.asarray(part.sum(axis=0), dtype=np.float64).ravel() for part in columns]
    whole = totals(chosen, np.split(np.concatenate(sums)[None], ends, axis=1))
    samples: dict[str, Values] = {}
    if resamples and empty.size:
        drawn = resampled_sums(columns, resamples, random_state, n_jobs)
        samples = totals(chosen, np.split(drawn, ends, axis=1))
    return Evaluation(
        measures=tuple(chosen),
        values={name: float(value[0]) for name, value in whole.items()},
        intervals={name: interval(values) for name, values in samples.items()},
        per_instance=per_instance,
        n_instances=empty.size,
        left_out=left_out,
        highest=_highest(chosen, data, empty),
    )


def _computed(
    entry: Measure, data: Positions | Longs, propensities: Propensities | None = None
) -> Any:
    """The numbers of a measure, whose sums over examples it is made of."""
    needed = {"propensities": propensities} if "propensities" in entry.needs else {}
    # dividing by 0 where an example is left out
    with np.errstate(divide="ignore", invalid="ignore"):
        return entry.compute(data, **needed, **entry.parameters)


def _highest(
    chosen: Sequence[Measure], data: Positions | Longs, empty: NDArray[np.bool_]
) -> dict[str, float]:
    """What measures of the first k positions reach if all relevant items stand first."""
    limited = [entry for entry in chosen if entry.name.startswith(LIMITED_MEASURES)]
    if not limited or not isinstance(data, Positions) or empty.all():
        return {}
    ideal = replace(data, rank=data.nth.astype(np.float64))
    return {entry.name: float(_computed(entry, ideal)[~empty].mean()) for entry in limited}


def totals(chosen: Sequence[Measure], sums: Sequence[Values]) -> dict[str, Values]:
    """Each measure of each sample, from the sums of its columns (samples × columns); the first
    sum is a count.
    """
    values = {}
    counts = sums[0][:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        for entry, part in zip(chosen, sums[1:], strict=True):
            if entry.total is not None:
                samples = zip(part, counts, strict=True)
                values[entry.name] = np.array([float(entry.total(row, n)) for row, n in samples])
            elif part.shape[1] > 1:
                values[entry.name] = part[:, 0] / part[:, 1]
            else:
                values[entry.name] = part[:, 0] / counts
    return values
