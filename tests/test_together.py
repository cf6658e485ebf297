"""With several processes, what tests share is made once: each group of tests stays in one of them."""

import os
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from tests.conftest import LONGEST, TOGETHER, group

HERE = Path(__file__).parent
NOTED = """
import os, pathlib, pytest

@pytest.mark.parametrize("n", range(4))
def test_which_process(n):
    with open(pathlib.Path(__file__).parents[1] / "processes", "a") as noted:
        noted.write(f"{pathlib.Path(__file__).parent.name}/{pathlib.Path(__file__).stem} {os.getpid()}\\n")
"""


@pytest.mark.long
def test_a_group_is_run_by_one_process(tmp_path):
    pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    shutil.copy(HERE / "conftest.py", tmp_path)
    groups = {"distributed/test_a": 0, "distributed/test_b": 0, "room/test_a": 1, "room/test_b": 2, "other/test_a": 3}
    for name in groups:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.py").write_text(NOTED)
    command = [sys.executable, "-m", "pytest", "-n", "2", "-p", "no:cacheprovider", "--import-mode=importlib", "."]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(command, cwd=tmp_path, env=clean, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    processes = defaultdict(set)
    for line in (tmp_path / "processes").read_text().splitlines():
        name, process = line.split()
        processes[groups[name]].add(process)
    assert [len(ran) for ran in processes.values()] == [1] * 4
    assert len(set.union(*processes.values())) == 2


def test_every_file_that_is_named_is_there():
    files = {group(path): path for path in HERE.rglob("test_*.py")}
    assert set(LONGEST) <= set(files)
    assert set(TOGETHER.values()) <= set(files)
    named = {f"{path.parent.name}/{path.stem.removeprefix('test_')}" for path in HERE.rglob("test_*.py")}
    assert set(TOGETHER) - {"distributed"} <= named


def test_tests_in_a_browser_are_one_group():
    pages = [path for path in HERE.rglob("test_*.py") if "server.browsing import" in path.read_text(encoding="utf-8")]
    assert {group(path) for path in pages if path != Path(__file__)} == {"server/page"}
