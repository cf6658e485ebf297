"""Loops that a wheel carries: compiled for a baseline, found by every processor that has its
features.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from shortlist.compiled import numba_internals
from shortlist.compiled.numba_internals import BASELINES, baseline

LOOPS = """
from shortlist.compiled.kernels import kernel

@kernel
def doubled(x):
    return 2.0 * x
"""
CALL = """
import sys
from shortlist.compiled import numba_internals
if "without" in sys.argv:
    numba_internals.baseline = lambda: None
import loops
assert loops.doubled(1.5) == 3.0
print(sum(loops.doubled.stats.cache_hits.values()), sum(loops.doubled.stats.cache_misses.values()))
"""


def call(folder, *arguments, **environment):
    root = str(Path(__file__).parents[2])
    own = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{root}", **environment}
    own.pop("NUMBA_CACHE_DIR", None)
    done = subprocess.run(
        [sys.executable, "-c", CALL, *arguments],
        env=own,
        capture_output=True,
        text=True,
        check=True,
    )
    return tuple(map(int, done.stdout.split()))


@pytest.mark.long
@pytest.mark.skipif(
    baseline() is None, reason="this processor does not run the baseline of its kind"
)
def test_loops_for_the_baseline_are_found_and_otherwise_compiled(tmp_path):
    (tmp_path / "loops.py").write_text(LOOPS)
    name, features = baseline()
    # as scripts/wheels.py does
    assert call(tmp_path, NUMBA_CPU_NAME=name, NUMBA_CPU_FEATURES=features) == (0, 1)
    assert call(tmp_path) == (1, 0)
    assert call(tmp_path, "without") == (0, 1)  # a processor without the features
    assert call(tmp_path) == (1, 0)


def test_a_processor_needs_every_feature(monkeypatch):
    for machine, (name, needed) in BASELINES.items():
        monkeypatch.setattr(numba_internals.platform, "machine", lambda machine=machine: machine)
        for has, found in [(needed, name), (needed[1:], None)]:
            features = dict.fromkeys(has, True)
            monkeypatch.setattr(
                numba_internals.llvmlite.binding,
                "get_host_cpu_features",
                lambda features=features: features,
            )
            numba_internals.baseline.cache_clear()
            assert (numba_internals.baseline() or (None,))[0] == found
    monkeypatch.setattr(numba_internals.platform, "machine", lambda: "riscv64")
    numba_internals.baseline.cache_clear()
    assert numba_internals.baseline() is None
    monkeypatch.undo()
    numba_internals.baseline.cache_clear()
