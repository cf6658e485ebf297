"""What docs/add-a-learner.md says, done to the letter: a learner in one new file is known
everywhere.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.copies import copy_compiled
from tests.server.servers import Process

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "add-a-learner.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of the package, and of what its tests need, with the page's file in it."""
    folder = tmp_path_factory.mktemp("copy")
    copy_compiled(folder)
    (folder / "tests" / "learners").mkdir(parents=True)
    shutil.copy(ROOT / "tests" / "learners" / "test_checks.py", folder / "tests" / "learners")
    shutil.copy(ROOT / "tests" / "contract.py", folder / "tests")
    shutil.copy(ROOT / "pyproject.toml", folder)
    where = re.search(r"Put this into `([\w/.]+)`", PAGE)[1]
    code = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1]
    (folder / where).write_text(code, encoding="utf-8")
    lines = [{"text": f"wheat corn {n}", "labels": ["grain"]} for n in range(30)]
    lines += [{"text": f"bank rates {n}", "labels": ["money"]} for n in range(30)]
    (folder / "tickets.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def run(package, *command):
    environment = {**os.environ, "PYTHONPATH": str(package)}
    done = subprocess.run(
        [sys.executable, *command],
        cwd=package,
        env=environment,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def shortlist(package, line):
    """Run a line of the page."""
    assert line in PAGE
    _, *words = line.split()
    return run(package, "-m", "shortlist.cli", *words)


def test_the_command_line_and_the_server_know_it(package):
    assert "2 labels" in shortlist(
        package, "shortlist train tickets.jsonl --learner counting-votes"
    )
    assert "shortlist serve tickets.shortlist" in PAGE
    served = Process("tickets.shortlist", folder=package, PYTHONPATH=str(package))
    try:
        asked = served.client
        assert asked.ask("model")["learner"] == "CountingVotes"
        assert asked.best("corn", 1) == ["grain"]
        why = asked.ask("explain", text="corn", label="grain")
        assert why["score"] == pytest.approx(sum(vote["vote"] for vote in why["votes"])) != 0
        assert asked.learn("rye", ["cereals"])["number"] == 1
        assert asked.best("rye", 1) == ["cereals"]
        assert asked.ask("model")["examples"] == 61
        assert asked.ask("undo", number=1)["new"]
        assert asked.best("rye") == []
    finally:
        assert served.stop() == 0


def test_comparisons_know_it(package):
    found = shortlist(
        package, "shortlist compare tickets.jsonl --learners counting-votes,frequency"
    )
    assert "counting-votes > frequency" in found


def test_the_contract_tries_it(package):
    said = run(package, "-m", "pytest", "-p", "no:cacheprovider", "tests", "-k", "CountingVotes")
    assert "11 passed" in said
