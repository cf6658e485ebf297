"""What an experiment is: independent jobs, numbers that can be kept, and tables and figures made of
them.

A paper's files have the protocol as data at their top and a list ``EXPERIMENTS`` at their end.
``jobs`` lists the parameters of every independent piece of work and ``run`` does one of them. Both
parameters and results are JSON, so that a run that was stopped can go on, and any number of workers
gives the same numbers. ``show`` turns all of them into tables and figures, ours beside published.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

CLOSE = 0.01  # of a published number: what its last digit does not tell
Job = dict[str, Any]
Result = dict[str, Any]
Jobs = Callable[[bool], list[Job]]


@dataclass(frozen=True)
class Cell:
    """A number of ours, how it spreads over trials, and what was published."""

    ours: float | None = None
    spread: float | None = None
    published: float | None = None

    @classmethod
    def of(cls, values: Sequence[float | None], published: float | None = None) -> Cell:
        """Mean and spread over the trials that have a value, beside what was published."""
        known = [value for value in values if value is not None]
        return (
            cls(float(np.mean(known)), spread(known), published)
            if known
            else cls(published=published)
        )


def spread(values: Sequence[float]) -> float | None:
    """The standard deviation that trials let expect of more such trials (ddof = 1); None where
    there is but one.
    """
    return float(np.std(values, ddof=1)) if len(values) > 1 else None


@dataclass(frozen=True)
class Claim:
    """What the paper's table or figure says, and whether it was found here; if not, why, as far
    as is known.
    """

    place: str  # "table 6", "figure 12", "section 6.4.4"
    says: str
    holds: bool
    why: str = ""  # said only where it does not hold

    @classmethod
    def close(
        cls, place: str, what: str, cells: Mapping[str, Cell | str | None], why: str = ""
    ) -> Claim:
        """That numbers by name come as close to the published ones as two spreads of ours, or 1 %
        of them.

        A number of one trial has no spread and is not judged.
        """
        judged, far = 0, []
        for name, cell in cells.items():
            if (
                not isinstance(cell, Cell)
                or cell.ours is None
                or cell.spread is None
                or cell.published is None
            ):
                continue
            judged += 1
            if abs(cell.ours - cell.published) > max(2 * cell.spread, CLOSE * abs(cell.published)):
                far.append(f"{name} {cell.ours:.3g} against {cell.published:.3g}")
        said = f"{judged} of them" if judged else "not judged by one trial"
        if far:
            said = f"of {judged}, further off: {', '.join(far)}"
        return cls(
            place, f"{what} within two spreads or 1 % of the published ones ({said})", not far, why
        )


@dataclass(frozen=True)
class Table:
    """Rows by name, columns by name. A cell is a Cell, a text, or absent."""

    title: str
    columns: list[str]
    rows: dict[str, dict[str, Cell | str]]
    note: str = ""
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True)
class Curve:
    """A line of a figure, with a band around it where there is one."""

    x: list[float]
    y: list[float]
    low: list[float] | None = None
    high: list[float] | None = None

    @classmethod
    def of(cls, trials: list[list[float]], x: list[float] | None = None) -> Curve:
        """The mean of trials, with a band of one standard deviation if there are several; at 1,
        2, … unless told.
        """
        mean = np.mean(trials, axis=0)
        x = [float(n + 1) for n in range(mean.size)] if x is None else x
        if len(trials) < 2:
            return cls(x, mean.tolist())
        half = np.std(trials, axis=0, ddof=1)
        return cls(x, mean.tolist(), (mean - half).tolist(), (mean + half).tolist())


@dataclass(frozen=True)
class Figure:
    """A figure drawn as in the paper."""

    title: str
    x: str
    y: str
    curves: dict[str, Curve]
    log_x: bool = False
    log_y: bool = False
    bars: bool = False
    note: str = ""
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True)
class Experiment:
    """One command's worth of a paper."""

    name: str
    paper: str
    title: str
    needs: tuple[str, ...]  # data sets, by their names in datasets.py
    jobs: Jobs  # quick -> the parameters of every job
    run: Callable[[Path, Job], Result]  # the folder of the data sets, and one job
    show: Callable[[list[tuple[Job, Result]]], list[Table | Figure]]
    stands_in: str = ""  # which corpus cannot be had, and what is used in its place
    original: Experiment | None = None  # the same on the paper's own data, for whoever has them

    def with_original(
        self, sets: dict[str, str], title: str, *, stands_in: str = "", jobs: Jobs | None = None
    ) -> Experiment:
        """The experiment, and beside it the same on other data sets: those needed here -> the
        paper's own.
        """
        needs = tuple(sets.get(name, name) for name in self.needs)
        original = replace(
            self, needs=needs, title=title, stands_in=stands_in, jobs=jobs or self.jobs
        )
        told = (
            f"Where the data folder has {', '.join(sets.values())}, the same command takes that "
            "instead."
        )
        return replace(self, stands_in=f"{self.stands_in} {told}", original=original)

    def for_data(self, has: Callable[[str], bool]) -> Experiment:
        """On the paper's own data where the data folder has them all, on what stands in
        otherwise.
        """
        return self.original if self.original and all(map(has, self.original.needs)) else self
