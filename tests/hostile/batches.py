"""Trials by the thousand, in processes that may die: a crash is noticed, named and survived.

A trial takes a random generator and returns a word for what happened ("read"), or raises. Errors of
shortlist's own are refusals; any other exception is raw, and a finding. Each trial is known by a
seed and a number, and can be had again: ``--seed 3 --first 1234 --count 1``.
"""

import argparse
import mmap
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

import numpy as np
from sklearn.exceptions import NotFittedError

from shortlist import ShortlistError

ROOT = Path(__file__).parents[2]
CHUNK = 50_000  # trials of one process
# after which a trial is endless: the first compile loops; twice as many if it cannot be interrupted
SECONDS = 600
LONGEST = 1000  # letters of a sentence about what is wrong
FIELDS = ("number", "refused", "raw", "endless", "read")


class Endless(BaseException):
    """A trial took too long."""


def attempt(trial, seed, number):
    """What happened in one trial: a word, and what was found if something was."""

    def stop(*_):
        raise Endless

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        trial(random.Random(f"{seed} {number}"))
        return "read", None
    except (ShortlistError, NotFittedError) as problem:
        said = str(problem)
        if "\n" in said or len(said) > LONGEST:
            return "raw", f"a sentence of {len(said)} letters: {said[:200]!r}"
        return "refused", None
    except Endless:
        return "endless", "".join(traceback.format_stack(limit=4))
    except BaseException as problem:
        frames = traceback.extract_tb(problem.__traceback__)
        own = [frame for frame in frames if "shortlist" in Path(frame.filename).parts]
        where = f" in {Path(own[-1].filename).name}, line {own[-1].lineno}" if own else ""
        return "raw", f"{type(problem).__name__}{where}: {str(problem)[:200]}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def work(trial, seed, first, last, ledger):
    """The trials first..last-1; what happened is counted in the ledger, a file that outlives
    the process.
    """
    with open(ledger, "r+b") as file, mmap.mmap(file.fileno(), 0) as held:
        counts = np.frombuffer(held, dtype=np.int64)
        for number in range(first, last):
            counts[0] = number
            what, finding = attempt(trial, seed, number)
            counts[FIELDS.index(what)] += 1
            if finding is not None:
                print(f"{number}: {finding}".replace("\n", " | "), flush=True)
        counts[0] = last
        del counts


def run(module, count, seed=0, first=0, tell=lambda total, findings: None):
    """All trials of a module in processes of their own: Counter of what happened, and the findings.

    ``tell`` is told both after every process, so that a run that is broken off has not been in
    vain.
    """
    total, findings, last = Counter(), [], first + count
    while first < last:
        with tempfile.TemporaryDirectory() as folder:
            ledger, found = Path(folder, "ledger"), Path(folder, "findings")
            ledger.write_bytes(np.array([first, 0, 0, 0, 0], dtype=np.int64).tobytes())
            upto = min(first + CHUNK, last)
            command = [sys.executable, "-m", module, "--work", str(ledger), "--seed", str(seed)]
            command += ["--first", str(first), "--count", str(upto - first)]
            environment = {**os.environ, "PYTHONPATH": str(ROOT)}
            with open(found, "wb") as file:
                process = subprocess.Popen(
                    command, cwd=ROOT, env=environment, stdout=file, stderr=file
                )
                code = _watched(process, ledger)
            counts = dict(
                zip(
                    FIELDS, np.frombuffer(ledger.read_bytes(), dtype=np.int64).tolist(), strict=True
                )
            )
            said = found.read_text(errors="replace").splitlines()
        first = counts.pop("number")
        findings += [line for line in said if re.match(r"\d+: ", line)]
        if first < upto:  # the process died, or was ended
            what = "endless" if code is None else "crash"
            counts[what] = counts.get(what, 0) + 1
            findings.append(f"{first}: {what}, exit code {code}: {' | '.join(said[-3:])[:300]}")
            first += 1
        total.update(counts)
        tell(total, findings)
    return total, findings


def _watched(process, ledger):
    """The exit code of a process; None where it came no further for too long and was ended."""
    before, since = b"", time.monotonic()
    while True:
        try:
            return process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            now = ledger.read_bytes()
            if now != before:
                before, since = now, time.monotonic()
            elif (
                time.monotonic() - since > 2 * SECONDS + 60
            ):  # starting and compiling take time too
                process.kill()
                process.wait()
                return None


def summary(what, total):
    """One line: ``1,000,000 input mutants: 412,345 read, 587,655 refused, 0 crashes, 0 raw
    exceptions, 0 endless``.
    """
    tried = sum(total.values())
    return (
        f"{tried:,} {what}: {total['read']:,} read, {total['refused']:,} refused, {total['crash']} "
        "crashes, "
        f"{total['raw']} raw exceptions, {total['endless']} endless"
    )


def main(module, trial, what, long):
    """The command line of a tool; ``--long`` is what a release is tried with."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--long", action="store_true", help=f"{long:,} trials")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        work(trial, given.seed, given.first, given.first + given.count, given.work)
        return
    total, findings = run(
        module,
        long if given.long else given.count,
        given.seed,
        given.first,
        lambda total, findings: print(
            summary(what, total), *findings[-1:], sep="; ", file=sys.stderr, flush=True
        ),
    )
    kinds = Counter(re.sub(r"\d+: ", "", finding, count=1)[:110] for finding in findings)
    for kind, times in kinds.most_common(40):
        example = next(one for one in findings if kind in one)
        print(f"{times} × {example}")
    print(summary(what, total))
    sys.exit(bool(findings))
