"""Every kernel also runs as plain Python, for readable tracebacks: the same tests pass with
compilation turned off.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SMALL = [
    "tests/learners/test_feature_focus.py::test_a_full_index_keeps_its_strongest_edges",
    "tests/learners/test_tuned_index.py::test_vectors_are_saved_merged_and_relabelled",
    "tests/learners/test_replay_buffer.py::test_what_was_saved_goes_on_as_it_would_have",
    "tests/inputs/test_judgements.py",
    "tests/models/test_categorizer.py",
]


@pytest.mark.long
def test_small_inputs_uncompiled():
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", *SMALL]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
