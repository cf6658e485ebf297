"""A few interrupts of each kind; ``python -m tests.hostile.interrupts --long`` sends ten
thousand.
"""

import subprocess
import sys

import pytest


@pytest.mark.long
def test_learning_that_is_stopped_leaves_whole_models():
    """In a process of its own: it sends itself Ctrl-C."""
    command = [sys.executable, "-m", "tests.hostile.interrupts", "--count", "30"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600, check=False)
    assert ": 0 models that are not whole" in done.stdout, done.stdout + done.stderr
