"""Coverage room by room."""

import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def covered():
    spec = importlib.util.spec_from_file_location("covered", ROOT / "scripts" / "covered.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_folders_run_one_after_the_other(covered):
    files = ["tests/a/test_1.py", "tests/test_2.py", "tests/a/b/test_3.py", "tests/test_4.py"]
    assert covered.by_folder(files) == [
        ["tests/a/test_1.py", "tests/a/b/test_3.py"],
        ["tests/test_2.py", "tests/test_4.py"],
    ]
    assert covered.by_folder([]) == []


SLOW = """
import tests.few_examples
tests.few_examples.LONGEST = 0.2

def test_endless():
    while True:
        pass

def test_with_a_lock():
    held = "any(k < 0 for k in range(10_000_000)) or open('released', 'w').close()"
    exec(held, {"__name__": "coverage.collector"})
    while True:
        pass

def test_quick():
    pass
"""


@pytest.mark.long
def test_a_test_that_takes_long_is_stopped_and_skipped(tmp_path):
    if not hasattr(signal, "SIGPROF"):
        pytest.skip("there is no timer of processor time here")
    (tmp_path / "test_slow.py").write_text(SLOW)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-p",
        "tests.few_examples",
        tmp_path,
    ]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert "1 passed, 2 skipped" in done.stdout
    assert (tmp_path / "released").exists(), "stopped while coverage holds a lock"


def test_each_file_runs_compiled_and_those_of_loops_plain_too(covered):
    every = covered.chosen([])
    assert sorted(every["compiled"]) == sorted(
        f"tests/{path.relative_to(ROOT / 'tests').as_posix()}"
        for path in (ROOT / "tests").rglob("test_*.py")
    )
    for name in covered.SLOW:
        assert any(file.startswith(f"tests/{name}") for file in every["compiled"]), (
            f"there is no tests/{name}"
        )
        assert not any(file.startswith(f"tests/{name}") for file in every["plain"])
    assert {Path(file).parts[1].removesuffix(".py") for file in every["plain"]} == set(
        covered.LOOPS
    )
    assert covered.chosen(["scripts"]) == {
        "compiled": [
            f"tests/scripts/test_{name}.py"
            for name in ("benchmarks", "covered", "figures", "release")
        ],
        "plain": [],
    }


def test_lines_are_added_up_by_room(covered):
    def file(n, ran):
        return {"summary": {"num_statements": n, "covered_lines": ran}}

    report = {
        "files": {
            "shortlist/text/a.py": file(10, 9),
            "shortlist/text/b.py": file(10, 10),
            "shortlist/labels.py": file(1000, 500),
            "shortlist/text/__init__.py": file(0, 0),
        }
    }
    found = covered.rooms(report)
    assert found == {"labels": (1000, 500), "text": (20, 19)}
    assert covered.table(found).splitlines()[2:] == [
        "| labels | 1,000 | 500 | 50.0 % |",
        "| text | 20 | 19 | 95.0 % |",
        "| all | 1,020 | 519 | 50.9 % |",
    ]
