"""What the tools report: raw exceptions, crashes and endless trials are found, and the others
go on.
"""

import os
import time

import pytest

from shortlist import InputError
from tests.hostile import batches


def trial(rng):
    """Of every ten trials one is raw, one says too much, one ends the process, and three are
    refused.
    """
    drawn = trial.number = getattr(trial, "number", -1) + 1
    if drawn % 10 == 1:
        raise KeyError("raw")
    if drawn % 10 == 2:
        raise InputError("two\nlines")
    if drawn % 10 in (3, 4, 5):
        raise InputError("one line")


def test_what_happens_is_counted(tmp_path):
    ledger = tmp_path / "ledger"
    ledger.write_bytes(bytes(8 * len(batches.FIELDS)))
    batches.work(trial, 0, 0, 20, ledger)
    counts = batches.np.frombuffer(ledger.read_bytes(), dtype="i8").tolist()
    assert dict(zip(batches.FIELDS, counts, strict=True)) == {
        "number": 20,
        "refused": 6,
        "raw": 4,
        "endless": 0,
        "read": 10,
    }


def test_an_endless_trial_is_stopped(monkeypatch):
    monkeypatch.setattr(batches, "SECONDS", 0.05)
    assert batches.attempt(lambda rng: time.sleep(600), 0, 0)[0] == "endless"


def dies(rng):
    if rng.random() < 0.2:
        os.abort()


@pytest.mark.long
def test_a_crash_is_found_and_survived():
    total, findings = batches.run("tests.hostile.test_batches", 12)
    assert total["crash"] == len(findings) > 0
    assert sum(total.values()) == 12
    assert all("crash, exit code -6" in one for one in findings)


if __name__ == "__main__":
    batches.main("tests.hostile.test_batches", dies, "trials", long=100)
