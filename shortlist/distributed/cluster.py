"""A Dask cluster and its finished results.

Every task is a pure function of a part of the data and of earlier results, so that any worker can
run it, at any time and more than once. Results are taken in the order of the parts. A folder can
keep them under a digest of all their inputs, so that a run continues after a failure.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import dask
from distributed import Client, Future, KilledWorker, LocalCluster, wait
from distributed.client import ClosedClientError
from distributed.comm import CommClosedError

from shortlist import __version__
from shortlist.data.validation import as_whole
from shortlist.errors import InputError, ShortlistError
from shortlist.files import store
from shortlist.files.store import State

SECONDS_WITHOUT_WORKERS = 60.0  # after which a cluster counts as lost
SECONDS_TO_ANSWER = 10.0  # in which a scheduler must answer at first
SECONDS_BETWEEN_LOOKS = 1.0  # at the workers
# which a worker process may take to start, or to start again, on a machine that is busy
STARTING_TIME = "300s"
LOST_ERRORS = (CancelledError, ClosedClientError, CommClosedError, TimeoutError, OSError)


class ClusterLost(ShortlistError):
    """The cluster does not answer, or has no workers left."""


class Cluster:
    """Runs tasks on a Dask cluster.

    Parameters
    ----------
    client : a ``distributed.Client``. keep : a folder for finished results; a later run with the
    same data and settings continues from there. patience : seconds to wait for a worker while there
    is none.
    """

    def __init__(
        self,
        client: Client,
        keep: str | Path | None = None,
        patience: float = SECONDS_WITHOUT_WORKERS,
    ) -> None:
        self.client = client
        self.patience = patience
        self.keep = None if keep is None else Path(keep)
        if self.keep is not None:
            try:
                self.keep.mkdir(parents=True, exist_ok=True)
            except OSError as problem:
                raise InputError(f"cannot make the folder {keep}: {problem.strerror}") from None

    def submit(self, function: Callable[..., object], *arguments: object) -> Future:
        """Submit a task whose result other tasks need. If its worker is lost, the scheduler
        runs it again.
        """
        with (
            self._or_lost(),
            dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}),
        ):
            return self.client.submit(function, *arguments, pure=False)

    def each(
        self,
        function: Callable[..., State],
        arguments: Callable[[int], tuple[object, ...]],
        keys: Sequence[str],
    ) -> Iterator[State]:
        """Yield ``function(*arguments(n))`` for each task n, in order; keep each finished
        result under its key.
        """
        files = [None if self.keep is None else self.keep / f"{key}.part" for key in keys]
        futures = {
            n: self.submit(function, *arguments(n))
            for n, file in enumerate(files)
            if file is None or not file.exists()
        }
        waiting = {future: n for n, future in futures.items()}
        for n, file in enumerate(files):
            while n in futures and futures[n] in waiting:
                wait_for_one = partial(
                    wait,
                    list(waiting),
                    timeout=SECONDS_BETWEEN_LOOKS,
                    return_when="FIRST_COMPLETED",
                )
                for done in self._patiently(wait_for_one).done:
                    number = waiting.pop(done)
                    target = files[number]
                    if target is not None and done.status == "finished":
                        store.write(self._result(done, ""), target)
                        del futures[number]
            if n in futures or file is None:
                task = f"{function.__name__}, part {n + 1} of {len(files)}"
                yield self._result(futures.pop(n), task)
            else:
                yield store.read(file)

    def _patiently(self, ask: Callable[[], Any]) -> Any:
        """Ask until there is an answer, or until there has been no worker for too long."""
        alone_since = time.monotonic()
        with self._or_lost():
            while True:
                try:
                    return ask()
                except TimeoutError:
                    if self.client.nthreads():
                        alone_since = time.monotonic()
                    elif time.monotonic() - alone_since > self.patience:
                        raise
                    elif self.client.cluster is not None:
                        # Dask itself does not restart a worker that dies while it starts
                        self.client.cluster.scale(len(self.client.cluster.worker_spec))

    def _result(self, future: Future, task: str) -> Any:
        if future.status == "error":
            problem = future.exception()
            if isinstance(problem, KilledWorker):
                raise ClusterLost(
                    f"several workers died over the same task ({task}); their logs say why. Often "
                    f"memory is too small, which smaller parts help against. {self._going_on()}"
                ) from None
            if isinstance(problem, ImportError):
                raise ClusterLost(
                    f"a worker cannot import {problem.name}; install the same version of "
                    "shortlist[dask] on every worker"
                ) from None
            raise problem
        # its worker may be lost by now, and all others with it
        return self._patiently(lambda: future.result(SECONDS_BETWEEN_LOOKS))

    @contextmanager
    def _or_lost(self) -> Iterator[None]:
        """Raise ClusterLost, with how to continue, instead of Dask's errors."""
        try:
            yield
        except LOST_ERRORS:
            raise ClusterLost(
                f"the cluster is lost: no answer, or no workers. {self._going_on()}"
            ) from None

    def _going_on(self) -> str:
        if self.keep is None:
            return (
                "Nothing was kept; with a folder for finished parts (--keep) the next run can "
                "continue from there"
            )
        n = len(list(self.keep.glob("*.part")))
        return (
            f"{n} finished results are kept in {self.keep}: run the same again to continue from "
            "there"
        )


@contextmanager
def connect(address: str | None = None, workers: int | None = None) -> Iterator[Client]:
    """Connect to the cluster at an address, or start one of that many worker processes on this
    machine.
    """
    if (address is None) == (workers is None):
        raise InputError("name either the address of a Dask scheduler or a number of workers")
    if address is not None:
        try:
            client = Client(address, timeout=SECONDS_TO_ANSWER)
        except (OSError, ValueError, TypeError) as problem:
            raise ClusterLost(f"no Dask scheduler answers at {address}: {problem}") from None
        try:
            yield client
        finally:
            with suppress(*LOST_ERRORS):
                client.close(timeout=1)
        return
    n_workers = as_whole(workers, "workers", least=1)
    with (
        dask.config.set({"distributed.comm.timeouts.connect": STARTING_TIME}),
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        ) as local,
        Client(local) as client,
    ):
        yield client


def digest(*inputs: object) -> str:
    """Return a name for a result: the same if, and only if, all inputs are the same."""
    plain = json.dumps([__version__, *map(_plain, inputs)], sort_keys=True)
    return hashlib.sha256(plain.encode()).hexdigest()[:32]


def _plain(value: Any) -> Any:
    """Return what represents a value in a digest."""
    if isinstance(value, State):
        return store.checksum(value)
    if hasattr(value, "get_params"):
        parameters = value.get_params(deep=False)
        return [type(value).__name__, {name: _plain(parameters[name]) for name in parameters}]
    if hasattr(value, "tobytes"):
        return hashlib.sha256(value.tobytes()).hexdigest()
    return value
