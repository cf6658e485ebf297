"""Running the jobs of experiments: on several processes, with the same numbers for any number, and
kept as they come.

Every result is written to its own file as soon as it is there, under a name made of the job's
parameters, the version of the library and the data. A run that was stopped goes on where it was; a
quick run's jobs serve the full run.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import shutil
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.linalg
from threadpoolctl import threadpool_limits

from papers.experiment import Experiment, Job, Result
from shortlist import __version__
from shortlist.data.validation import as_whole
from shortlist.errors import InputError, ShortlistError


@dataclass
class Outcome:
    """What came of one experiment. ``results`` are in the order of its jobs, if none failed."""

    experiment: Experiment
    results: list[tuple[Job, Result]] = field(default_factory=list)
    seconds: float = 0.0  # of processor time, over all jobs, also those kept from earlier runs
    failures: list[str] = field(default_factory=list)
    jobs: int = 0  # all that the experiment has, also those that were not done


class Task(NamedTuple):
    """A job of an experiment, and the file that keeps its result."""

    experiment: Experiment
    job: Job
    file: Path


class Answer(NamedTuple):
    """What a worker sends back: the result as JSON and the processor time, or why there is none."""

    text: str
    seconds: float
    failure: str = ""
    trace: str = ""


def run(
    experiments: Iterable[Experiment],
    folder: Path,
    out: Path,
    *,
    quick: bool = False,
    workers: int = 1,
    fresh: bool = False,
    compute: bool = True,
    digests: dict[str, str] | None = None,
    progress: Callable[[str, int, int], None] = lambda name, done, of: None,
) -> list[Outcome]:
    """Run all jobs of the experiments that are not kept in ``out``; what fails does not stop the
    others.

    ``folder`` has the data sets, laid out; ``digests`` tells what is in them. If not ``compute``,
    no job is run, and the outcomes have the results that are kept, however few.
    """
    chosen = list(experiments)
    workers = as_whole(workers, "workers", least=1)
    if fresh:
        for one in chosen:
            shutil.rmtree(out / "kept" / one.name, ignore_errors=True)
    tasks = {
        one.name: [_task(one, job, out, digests or {}) for job in one.jobs(quick)] for one in chosen
    }
    kept = {
        task.file: answer
        for all_of in tasks.values()
        for task in all_of
        if (answer := _read(task.file))
    }
    missing = [
        task for all_of in tasks.values() for task in all_of if compute and task.file not in kept
    ]
    for done, (task, answer) in enumerate(_work(missing, folder, workers), 1):
        kept[task.file] = answer
        _write(task, answer)
        progress(task.experiment.name, done, len(missing))
    return [_outcome(one, tasks[one.name], kept) for one in chosen]


def _task(experiment: Experiment, job: Job, out: Path, digests: dict[str, str]) -> Task:
    data = {name: digests.get(name, "") for name in experiment.needs}
    key = json.dumps([job, __version__, data], sort_keys=True)
    digest = hashlib.sha256(key.encode()).hexdigest()[:20]
    return Task(experiment, job, out / "kept" / experiment.name / f"{digest}.json")


def _read(file: Path) -> Answer | None:
    """A kept result; one that cannot be read is computed anew."""
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
        return Answer(json.dumps(kept["result"]), float(kept["seconds"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(task: Task, answer: Answer) -> None:
    """Keep a result, whole or not at all; of a failure, the trace of the program for whoever
    looks for the reason.
    """
    try:
        task.file.parent.mkdir(parents=True, exist_ok=True)
        if answer.failure:
            task.file.with_suffix(".error.txt").write_text(
                f"{task.job}\n\n{answer.trace}", encoding="utf-8"
            )
            return
        whole = {
            "job": task.job,
            "version": __version__,
            "seconds": answer.seconds,
            "result": json.loads(answer.text),
        }
        part = task.file.with_suffix(f".{os.getpid()}.part")
        part.write_text(json.dumps(whole), encoding="utf-8")
        os.replace(part, task.file)
        task.file.with_suffix(".error.txt").unlink(missing_ok=True)
    except OSError as problem:
        raise InputError(f"cannot keep results in {task.file.parent}: {problem.strerror}") from None


def _outcome(experiment: Experiment, tasks: list[Task], kept: dict[Path, Answer]) -> Outcome:
    outcome = Outcome(experiment, jobs=len(tasks))
    for task in tasks:
        answer = kept.get(task.file)
        if answer is None:
            continue
        outcome.seconds += answer.seconds
        if answer.failure:
            outcome.failures.append(answer.failure)
        else:
            # as read back from a file, always
            outcome.results.append((task.job, json.loads(answer.text)))
    return outcome


def _work(tasks: list[Task], folder: Path, workers: int) -> Iterator[tuple[Task, Answer]]:
    """The answers as they come."""
    if workers == 1 or len(tasks) < 2:
        with one_thread():
            for task in tasks:
                yield task, do(task.experiment.run, folder, task.job)
        return
    others = set(multiprocessing.active_children())
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), one_thread) as pool:
        waiting = iter(tasks)
        running: dict[Future[Answer], Task] = {}
        try:
            while True:
                for task in islice(waiting, 2 * workers - len(running)):
                    with _deaf_to_interrupts():
                        future = pool.submit(do_in_worker, task.experiment.run, folder, task.job)
                    running[future] = task
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    yield running.pop(future), future.result()
        except KeyboardInterrupt:
            for worker in set(multiprocessing.active_children()) - others:
                worker.terminate()
            raise
        except BrokenProcessPool:
            raise InputError(
                "a worker process ended without an answer, perhaps for want of memory; what is "
                "done is kept: "
                "run the same again, with fewer workers"
            ) from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


# each library has its own threads; only those already loaded can be limited to one
BLAS = np.linalg, scipy.linalg


def one_thread() -> threadpool_limits:
    """From now on, or within a ``with``, sums are rounded alike however many processors there
    are.
    """
    return threadpool_limits(1)


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Workers started meanwhile stay so until they have a job: an interrupt while they start
    would print a trace.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)


def do_in_worker(run: Callable[[Path, Job], Result], folder: Path, job: Job) -> Answer:
    """One job; when the user stops the run, the worker stops without a word.

    Said before each job, because polars, imported together with one, changes what an interrupt
    does.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return do(run, folder, job)


def do(run: Callable[[Path, Job], Result], folder: Path, job: Job) -> Answer:
    """One job, in whatever process."""
    began = time.process_time()
    try:
        text = json.dumps(run(folder, job))
    except ShortlistError as problem:
        return Answer("", time.process_time() - began, str(problem), traceback.format_exc())
    except Exception as problem:
        reason = f"{type(problem).__name__}: {problem}"
        return Answer("", time.process_time() - began, reason, traceback.format_exc())
    return Answer(text, time.process_time() - began)
