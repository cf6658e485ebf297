"""Open model files as an attacker would write them, and use those that open.

    python tests/hostile/models.py --count 2000          # or --long: 100,000
    python tests/hostile/models.py --only 1234           # one of them again, with all that it says

Each must be refused with a ModelFileError, or be a model that ranks, explains, learns and saves, or
says in an InputError why not. The names of features are read when they are first needed, and may be
refused then. Kernels are compiled with bounds checking, in a cache of their own. Mutants are tried
in processes that may die: what ends one, or takes longer than a minute, is counted and the next
goes on behind it.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import os
import random
import resource
import select
import signal
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

# a script finds only what lies beside it
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
LONG = 100_000
# seconds for one mutant, which takes some milliseconds: ends what hangs, however busy the machine
# is
PATIENCE = 240
MEMORY = 8 << 30  # bytes that a process may ask for
REFUSED, USABLE, CRASHED, RAW, ENDLESS = "refused", "usable", "crashes", "raw exceptions", "endless"


def main():
    chosen = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    chosen.add_argument("--count", type=int, default=2000, help="how many mutants")
    chosen.add_argument("--long", action="store_true", help=f"{LONG:,} mutants")
    chosen.add_argument("--seed", type=int, default=0)
    chosen.add_argument("--jobs", type=int, default=1, help="how many processes at a time")
    chosen.add_argument("--only", type=int, help="the number of one mutant")
    chosen.add_argument(
        "--unchecked", action="store_true", help="kernels as they are, without bounds checking"
    )
    chosen = chosen.parse_args()
    if not chosen.unchecked:
        os.environ["NUMBA_BOUNDSCHECK"] = "1"
        os.environ["NUMBA_CACHE_DIR"] = str(Path(__file__).parent / "__pycache__" / "bounds")
    count = LONG if chosen.long else chosen.count
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory(
        dir="/dev/shm" if os.path.isdir("/dev/shm") else None
    ) as folder:
        trial = Trial(chosen.seed, Path(folder))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        if chosen.only is not None:
            print(*trial.attempt(chosen.only, tell=True))
            return 0
        shares = [range(first, count, chosen.jobs) for first in range(chosen.jobs)]
        counts = collections.Counter()
        with contextlib.suppress(KeyboardInterrupt):  # what has been tried by then is told
            for number, outcome, detail in outcomes(trial, shares):
                counts[outcome] += 1
                if outcome not in (REFUSED, USABLE):
                    print(f"{number} {trial.name(number)}: {outcome}: {detail}", flush=True)
    told = ", ".join(
        f"{counts[outcome]:,} {outcome}" for outcome in (REFUSED, USABLE, CRASHED, RAW, ENDLESS)
    )
    print(f"{sum(counts.values()):,} model mutants: {told}")
    return int(counts[REFUSED] + counts[USABLE] < count)


class Trial:
    """The good models, ready to be changed; every kernel has been compiled by using them."""

    def __init__(self, seed, folder):
        from tests.hostile import small_models
        from tests.hostile.model_mutants import plain

        self.seed, self.folder = seed, folder
        self.states = {}
        for name, model in small_models.make().items():
            self.states[name] = plain(model.to_state())
            held = getattr(
                model, "hold", lambda make: make()
            )  # a learner's lists are packed while nobody changes them
            compact = plain(held(lambda model=model: model.to_state().compacted()))
            if compact.all_arrays().keys() != self.states[name].all_arrays().keys():
                self.states[f"{name}, compact"] = compact
            for _ in small_models.use(model, folder / "good.shortlist"):
                pass

    def name(self, number):
        return sorted(self.states)[number % len(self.states)]

    def attempt(self, number, tell=False):
        """What becomes of one mutant: the outcome, and where it went wrong."""
        import shortlist as sl
        from tests.hostile import small_models
        from tests.hostile.model_mutants import mutant

        chance = random.Random(f"{self.seed} {number}")
        path, saved = (self.folder / f"{os.getpid()}{part}.shortlist" for part in ("", " saved"))
        path.write_bytes(mutant(self.states[self.name(number)], list(self.states.values()), chance))
        expected, step = (sl.ModelFileError,), "nothing"
        try:
            model = sl.load(path)
            expected, step = (sl.InputError, sl.ModelFileError), "opening"
            for step, _ in small_models.use(model, saved):  # noqa: B007
                pass
        except Exception as problem:
            if tell:
                traceback.print_exc()
            refused = isinstance(problem, sl.ModelFileError)
            outcome = RAW if not isinstance(problem, expected) else REFUSED if refused else USABLE
            return outcome, f"after {step}: {where(problem)}"
        return USABLE, ""


def where(problem):
    """The error, and the place in the package that it comes from."""
    frames = traceback.extract_tb(problem.__traceback__)
    own = [frame for frame in frames if "shortlist" in Path(frame.filename).parts[:-1]] or frames
    return (
        f"{type(problem).__name__} at {Path(own[-1].filename).name}:{own[-1].lineno}: "
        f"{str(problem)[:100]!r}"
    )


def outcomes(trial, shares):
    """(number, outcome, detail) of all mutants, each share in a process of its own."""
    workers = [Worker(trial, share) for share in shares]
    while workers:
        readable = select.select([worker.pipe for worker in workers], [], [], 1)[0]
        for worker in list(workers):
            if worker.pipe in readable:
                line = worker.pipe.readline()
                if line.endswith("\n"):
                    outcome, _, detail = line.rstrip("\n").partition("\t")
                    yield worker.done(), outcome, detail
                    continue
                status = worker.end()
                if worker.share:
                    yield worker.done(), CRASHED, f"ended with status {status}"
                workers.remove(worker)
            elif time.monotonic() - worker.since > PATIENCE:
                worker.end()
                yield worker.done(), ENDLESS, f"no end after {PATIENCE} s"
                workers.remove(worker)
            else:
                continue
            if worker.share:
                workers.append(Worker(trial, worker.share))


class Worker:
    """A process that tries a share of the mutants, and writes one line for each."""

    def __init__(self, trial, share):
        self.share, self.since = share, time.monotonic()
        reading, writing = os.pipe()
        sys.stdout.flush()
        self.process = os.fork()
        if self.process == 0:
            os.close(reading)
            try:
                with open(writing, "w", buffering=1) as pipe:
                    for number in share:
                        outcome, detail = trial.attempt(number)
                        pipe.write(f"{outcome}\t{' '.join(ascii(detail).split())}\n")
            except BaseException:
                traceback.print_exc(limit=-3)
            finally:
                os._exit(0)
        os.close(writing)
        self.pipe = open(reading)  # noqa: SIM115

    def done(self):
        """The number that was tried last."""
        number, self.share, self.since = self.share[0], self.share[1:], time.monotonic()
        return number

    def end(self):
        os.kill(self.process, signal.SIGKILL)
        self.pipe.close()
        return os.waitpid(self.process, 0)[1]


if __name__ == "__main__":
    sys.exit(main())
