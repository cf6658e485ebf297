"""What an experiment is: independent jobs, numbers that can be kept, and tables and figures made of
them.

A paper's files have the protocol as data at their top and a list ``EXPERIMENTS`` at their end.
``jobs`` lists the parameters of every independent piece of work and ``run`` does one of them. Both
parameters and results are JSON, so that a run that was stopped can go on, and any number of workers
gives the same numbers. ``show`` turns all of them into tables and figures, ours beside published.
``claims`` has what the paper says of its tables and figures, each decided by numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from papers.cells import Cell
from papers.claims import Claim

Job = dict[str, Any]
Result = dict[str, Any]
Done: TypeAlias = Sequence[tuple[Job, Result]]
Jobs = Callable[[bool], list[Job]]
Row = dict[str, Cell | str]


def results(done: Done, **parameters: Any) -> list[Result]:
    """The results of the jobs with these parameters."""
    return [
        result
        for job, result in done
        if all(job.get(name) == value for name, value in parameters.items())
    ]


def distinct(done: Done, parameter: str) -> list[Any]:
    """The values that a parameter has in the jobs, in the order of the jobs."""
    return list(dict.fromkeys(job[parameter] for job, _ in done))


@dataclass(frozen=True)
class Table:
    """Rows by name, columns by name. A cell is a Cell, a text, or absent."""

    title: str
    columns: list[str]
    rows: dict[str, Row]
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
    show: Callable[[Done], list[Table | Figure]]
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
