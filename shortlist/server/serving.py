"""Processes, sockets and signals."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist.errors import InputError
from shortlist.server import snapshots
from shortlist.server.journal import Journal
from shortlist.server.logs import AsEvents, log
from shortlist.server.settings import Settings

if TYPE_CHECKING:
    import uvicorn

    from shortlist.server.replica import Replica

GRACE = 10  # seconds for requests to end after a signal to stop


def serve(settings: Settings, model: Path | None, announce: Callable[[str], None]) -> None:
    """Serve until a signal says stop. ``model`` may be None where the state directory has its base already."""
    settings.check()
    logging.basicConfig(handlers=[AsEvents()], level=logging.WARNING)
    with contextlib.ExitStack() as stack:
        if not settings.read_only:
            stack.enter_context(snapshots.lock(settings.folder))
        if model is not None:
            snapshots.take_base(settings.folder, model)
        if settings.workers > 1:
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = stack.enter_context(tempfile.TemporaryDirectory())
        from shortlist.server.replica import Replica

        began = time.perf_counter()
        check_journal(settings.folder)
        replica = Replica(settings.folder)
        replica.warm_up()
        if not settings.read_only:
            replica.check_can_learn()
        for problem in replica.problems:
            log("passed over a snapshot", "warning", problem=problem)
        sockets = [stack.enter_context(listen(settings))]
        host, port = sockets[0].getsockname()[:2]
        url = f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
        log(
            "serving", url=url, folder=str(settings.folder), examples=replica.version.examples,
            snapshot=replica.snapshot, seconds=round(time.perf_counter() - began, 3), workers=settings.workers,
        )  # fmt: skip
        announce(url)
        replica.close()
        if settings.workers == 1:
            run(replica, settings, sockets)
        else:
            supervise(replica, settings, sockets)
        log("stopped")


def listen(settings: Settings) -> socket.socket:
    """A socket that listens, so that a port in use is known before anything else happens."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0]
        with contextlib.ExitStack() as failing:
            listening = failing.enter_context(socket.socket(family, kind))
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen(1024)
            failing.pop_all()
    except OSError as problem:
        raise InputError(f"cannot listen on {settings.host}, port {settings.port}: {problem.strerror}") from None
    listening.set_inheritable(True)
    return listening


def check_journal(folder: Path) -> None:
    journal = Journal(folder)
    journal.check()
    journal.close()


def run(replica: Replica, settings: Settings, sockets: list[socket.socket], worker: int = 0) -> None:
    """Serve in this process."""
    replica.reopen()
    server = make_server(replica, settings, worker)
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, lambda *_: None)  # uvicorn stops gracefully, and then raises the signal again
    server.run(sockets=sockets)


def make_server(replica: Replica, settings: Settings, worker: int = 0) -> uvicorn.Server:
    import uvicorn

    from shortlist.server.app import make_app

    config = uvicorn.Config(
        make_app(replica, settings, worker), log_config=None, access_log=False, server_header=False,
        timeout_graceful_shutdown=GRACE, timeout_keep_alive=30, ws="none",
    )  # fmt: skip
    return uvicorn.Server(config)


def run_forked(replica: Replica | None, settings: Settings, sockets: list[socket.socket], worker: int) -> None:
    """Serve in a process forked from the supervisor, for as long as that one lives."""
    from shortlist.server.replica import Replica

    supervisor = os.getppid()

    def watch() -> None:
        while os.getppid() == supervisor:
            time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()
    if replica is None:
        replica = Replica(settings.folder)
        replica.close()
    run(replica, settings, sockets, worker)


def supervise(replica: Replica, settings: Settings, sockets: list[socket.socket]) -> None:
    """Serve in several processes, forked from this one so that they share the model's memory; replace what dies."""
    if "fork" not in multiprocessing.get_all_start_methods():
        raise InputError("this system cannot fork processes; use --workers 1")
    from prometheus_client.multiprocess import mark_process_dead

    context: Any = multiprocessing.get_context("fork")
    stopping = False

    def stop(*_: Any) -> None:
        nonlocal stopping
        stopping = True

    def start(n: int, loaded: Replica | None) -> Any:
        process = context.Process(target=run_forked, args=(loaded, settings, sockets, n), name=f"worker-{n}")
        process.start()
        return process

    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, stop)
    workers = [start(n, replica) for n in range(settings.workers)]
    while not stopping:
        time.sleep(0.2)
        for n, worker in enumerate(workers):
            if not worker.is_alive() and not stopping:
                log("a worker died", "error", worker=n, code=worker.exitcode)
                mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]
                workers[n] = start(n, None)  # what was loaded here is old by now
    for worker in workers:
        worker.terminate()
    for worker in workers:
        worker.join(GRACE + 5)
        if worker.is_alive():
            worker.kill()
