"""A few batches for each model; ``python -m tests.hostile.threads --long`` teaches hundreds."""

import subprocess
import sys

import pytest


@pytest.mark.long
def test_models_are_taught_while_others_ask():
    """In a process of its own, which a kernel led astray would end."""
    command = [sys.executable, "-m", "tests.hostile.threads", "--count", "3"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert ": 0 wrong" in done.stdout, done.stdout + done.stderr
