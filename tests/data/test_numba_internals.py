"""Numba's private parts save time and change no result: without them the same bytes come out."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LEARNS = """
from shortlist import Categorizer, FeatureFocus, MMP, PRank
from shortlist.files.store import checksum

texts = [f"wheat corn w{n % 7} exports" if n % 2 else f"bank rates w{n % 5}" for n in range(60)]
labels = ["grain" if n % 2 else "money" for n in range(60)]
for learner in (None, FeatureFocus(), MMP()):
    model = Categorizer(learner).fit(texts, labels).learn("rye fell", "grain")
    print(checksum(model.to_state()), model.rank(texts[:9]).scores.tobytes().hex())
rows = [[float(n % 3), float(n % 5)] for n in range(60)]
print(checksum(PRank().fit(rows, [n % 3 for n in range(60)]).to_state()))
"""


def printed(**variables):
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | variables
    done = subprocess.run(
        [sys.executable, "-c", LEARNS],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    return done.stdout


@pytest.mark.long
def test_the_public_decorator_alone_gives_the_same_bytes():
    assert printed(SHORTLIST_PLAIN_NUMBA="1") == printed()
