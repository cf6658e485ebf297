"""Workers on machines of their own, as far as the network is concerned: each in a network
namespace.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from shortlist.inputs import read
from shortlist.models.training_settings import TrainingSettings
from tests.distributed.conftest import cluster_of_processes
from tests.distributed.test_training import saved

pytestmark = pytest.mark.long

NAMES = [f"shortlist-{os.getpid()}-{n}" for n in range(3)]


def ip(*words):
    found = subprocess.run(["ip", *words], capture_output=True, text=True)
    if found.returncode:
        raise OSError(found.stderr.strip())


@pytest.fixture
def network():
    """Three namespaces on one bridge: 10.213.0.1, where the scheduler is to be, and 10.213.0.2
    and .3. No way out.
    """
    hub = NAMES[0]
    try:
        for name in NAMES:
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
        ip("-n", hub, "link", "add", "bridge", "type", "bridge")
        ip("-n", hub, "addr", "add", "10.213.0.1/24", "dev", "bridge")
        ip("-n", hub, "link", "set", "bridge", "up")
        for n, name in enumerate(NAMES[1:], 2):
            ip(
                "link",
                "add",
                f"to{n}",
                "netns",
                hub,
                "type",
                "veth",
                "peer",
                "name",
                "eth0",
                "netns",
                name,
            )
            ip("-n", hub, "link", "set", f"to{n}", "master", "bridge", "up")
            ip("-n", name, "addr", "add", f"10.213.0.{n}/24", "dev", "eth0")
            ip("-n", name, "link", "set", "eth0", "up")
        yield [["ip", "netns", "exec", name] for name in NAMES]
    except (OSError, FileNotFoundError) as problem:
        pytest.skip(f"network namespaces cannot be made here: {problem}")
    finally:
        for name in NAMES:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)


def test_training_across_namespaces_is_that_of_one_machine(network, json_file, tmp_path):
    hub, *others = network
    with cluster_of_processes(tmp_path, "10.213.0.1", hub, others) as (address, _):
        train = [
            *hub,
            sys.executable,
            "-m",
            "shortlist.cli",
            "train",
            json_file,
            "-o",
            tmp_path / "there",
        ]
        options = ["--learner", "rocchio", "--dask", address, "--part-size", "0.007", "--json"]
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
        done = subprocess.run(
            [*train, *options], env=environment, capture_output=True, text=True, timeout=300
        )
    assert done.returncode == 0, done.stderr
    model = TrainingSettings(learner="rocchio").model(of_texts=True)
    here = model.fit_batches((batch.texts, batch.labels) for batch in read(json_file))
    assert (tmp_path / "there").read_bytes() == saved(here, tmp_path / "here")
