"""A tiny experiment for the tests of the machinery. Its jobs leave a trace, so that a test can
count them.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import scipy.linalg
from threadpoolctl import threadpool_info

from papers.cells import Cell
from papers.experiment import Curve, Experiment, Figure, Job, Result, Table
from shortlist.errors import InputError

NASTY = "<script>alert('x & y')</script> $a_b$ | `c` [d](e)"


def jobs(quick: bool) -> list[Job]:
    return [{"trial": trial} for trial in range(2 if quick else 4)]


def run(folder: Path, job: Job) -> Result:
    with (folder / "trace").open("a") as trace:
        trace.write(f"{job['trial']}\n")
    generator = np.random.default_rng([1, job["trial"]])
    A = generator.normal(size=(300, 300))
    return {"value": float((A @ A).sum()), "nothing": float("nan")}


def run_and_tell_threads(folder: Path, job: Job) -> Result:
    scipy.linalg.lu_factor(np.eye(3))
    return {
        "value": max(library["num_threads"] for library in threadpool_info()),
        "nothing": float("nan"),
    }


def run_but_fail(folder: Path, job: Job) -> Result:
    if job["trial"] == 1:
        raise InputError("trial 1 cannot be done on a Sunday")
    if job["trial"] == 2:
        raise KeyError("what")
    return run(folder, job)


def run_when_told(folder: Path, job: Job) -> Result:
    """The first job at once, the others when there is a file that says so."""
    while job["trial"] > 0 and not (folder / "go on").exists():
        time.sleep(0.02)
    return run(folder, job)


def run_and_die(folder: Path, job: Job) -> Result:
    if job["trial"] == 3:
        os._exit(1)
    return run(folder, job)


def show(done: list[tuple[Job, Result]]) -> list[Table | Figure]:
    values = [result["value"] for _, result in done]
    x = [float(job["trial"]) + 1 for job, _ in done]
    y = [1 / one for one in x]
    return [
        Table(
            f"Values of {NASTY}",
            ["R1", "edges", "remark"],
            {
                NASTY: {
                    "R1": Cell(0.8641, 0.0049, 0.865),
                    "edges": Cell(171234, published=171000),
                    "remark": "39/11 **",
                },
                "trials": {"R1": Cell(float(np.mean(values)))},
                "lost": {"R1": Cell(None, published=0.5)},
            },
            "A note & more.",
        ),
        Figure(
            "A curve",
            "round",
            NASTY,
            {NASTY: Curve(x, y, [0.9 * v for v in y], [1.1 * v for v in y]), "other": Curve(x, y)},
            log_x=True,
            log_y=True,
            note="Drawn <here>.",
        ),
        Figure("Bars", "topics", "documents", {"news": Curve(x, y)}, bars=True),
    ]


def experiment(run=run, name="made-up", needs=()):
    return Experiment(
        name,
        "000",
        f"Made up by {NASTY}",
        needs,
        jobs,
        run,
        show,
        stands_in="The <real> one is lost.",
    )
