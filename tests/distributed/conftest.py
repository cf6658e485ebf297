"""One small cluster for all tests of this room: two worker processes, which Dask starts again
when they are killed.
"""

import json
import os
import random
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.sharing import SHARED

pytest.importorskip("distributed", reason="the extra dask is not installed")


@contextmanager
def cluster():
    from shortlist.distributed.cluster import connect

    with connect(workers=2) as client:
        yield client


@pytest.fixture
def client():
    return SHARED.get(cluster)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("distributed")


def texts(n, seed=0):
    """Texts of 8 topics, most of them with two labels; words and labels go on appearing until
    the end.
    """
    chance = random.Random(seed)
    examples = []
    for i in range(n):
        topic = chance.randrange(8)
        last = topic * 20 + 30 + i // 20
        words = [
            f"word{chance.randrange(topic * 20, last)}" for _ in range(chance.randrange(1, 12))
        ]
        examples.append((" ".join(words), [f"topic{topic}"] + [f"side{i // 40}"] * (i % 3 > 0)))
    return examples


@pytest.fixture(scope="session")
def json_file(folder):
    path = folder / "texts.jsonl"
    path.write_text(
        "".join(json.dumps({"text": text, "labels": own}) + "\n" for text, own in texts(400))
    )
    return path


@contextmanager
def cluster_of_processes(folder, host="127.0.0.1", scheduler=(), workers=((),)):
    """A scheduler and workers as a user starts them: their address and processes. Words before
    each say where.
    """
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    quiet = {"env": environment, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    place = folder / "scheduler.json"  # written once the scheduler listens
    dask = [
        sys.executable,
        "-m",
        "distributed.cli.dask_scheduler",
        "--scheduler-file",
        place,
        "--host",
        host,
    ]
    processes = [
        subprocess.Popen(
            [*scheduler, *dask, "--port", "0", "--dashboard-address", f"{host}:0"], **quiet
        )
    ]
    try:
        for before in workers:
            dask = [
                sys.executable,
                "-m",
                "distributed.cli.dask_worker",
                "--scheduler-file",
                place,
                "--no-nanny",
            ]
            processes.append(
                subprocess.Popen([*before, *dask, "--nthreads", "1", "--no-dashboard"], **quiet)
            )
        while not (place.exists() and place.read_text().endswith("}")):
            assert processes[0].poll() is None, "the scheduler has ended"
            time.sleep(0.05)
        yield json.loads(place.read_text())["address"], processes
    finally:
        for process in processes:
            process.kill()
            process.wait()
