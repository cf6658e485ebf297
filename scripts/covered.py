"""Which lines of Python the tests run, room by room: ``make coverage``, or ``python
scripts/covered.py [FOLDER …]``.

All tests run as they always do; of compiled loops only the lines around them count there. Tests of
the rooms that have loops then run once more with loops as plain Python (NUMBA_DISABLE_JIT=1), so
that their lines count too, but for those that take hopelessly long in that way; any other test is
stopped after 20 seconds of processor time (tests/few_examples.py). Processes that tests start are
measured, too. Tests that need data sets are left out, and so are those marked long, unless --long
says otherwise. Folders are those under tests/; each adds to what was measured before, until
--fresh. Plain ones run one after the other, in processes of their own: what a run that is
interrupted has measured is kept.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Tests of rooms that have compiled loops.
LOOPS = (
    "confidence",
    "data",
    "inputs",
    "learners",
    "measures",
    "models",
    "text",
)
# Too slow as plain Python, or about compiling itself.
SLOW = (
    "data/test_stamps",
    "learners/test_checks",
    "learners/test_published",
    "papers/test_document_tables",
    "learners/documents/test_searches",
    "inputs/test_fuzz",
    "inputs/test_long_records",
    "models/test_drift",
    "models/test_new_learner",
    "models/test_same_bytes",
    "models/test_scikit_learn",
    "models/test_search",
    "papers/test_rating_tables",
    "learners/ratings/test_ordinal_regression",
    "papers/test_multiclass_perceptron",
)
NOTHING_CHOSEN = 5  # pytest's, where all tests of some files are left out
LEFT_OUT = "not data and not real"


def chosen(folders: list[str]) -> dict[str, list[str]]:
    """The test files of some folders: all of them compiled, and those of loops as plain Python."""
    files = [
        path.relative_to(ROOT / "tests") for path in sorted((ROOT / "tests").rglob("test_*.py"))
    ]
    found: dict[str, list[str]] = {"compiled": [], "plain": []}
    for path in files:
        folder = path.parts[0].removesuffix(".py")
        if folders and folder not in folders:
            continue
        found["compiled"].append(f"tests/{path.as_posix()}")
        if folder in LOOPS and not path.as_posix().startswith(SLOW):
            found["plain"].append(f"tests/{path.as_posix()}")
    return found


def by_folder(files: list[str]) -> list[list[str]]:
    """The test files of each folder, in order; those in none are one more."""
    folders: dict[str, list[str]] = defaultdict(list)
    for file in files:
        _, folder, *inside = Path(file).parts
        folders[folder if inside else ""].append(file)
    return list(folders.values())


def run(files: list[str], compiled: bool, long: bool = False) -> bool:
    """Run some test files under measurement, long tests too if asked to; says whether all tests
    passed.
    """
    environment = os.environ | ({} if compiled else {"NUMBA_DISABLE_JIT": "1"})
    # Plain Python warns where numbers overflow; compiled loops do not.
    quiet = [] if compiled else ["-W", "ignore::RuntimeWarning"]
    # As make test does; what is plain runs alone, so that what it measured is kept if the next one
    # is interrupted.
    shared = ["-n", "3"] if compiled else []
    which = LEFT_OUT if long else f"{LEFT_OUT} and not long"
    few = ["-p", "tests.few_examples", "--hypothesis-profile", "few"]
    pytest = ["-m", "pytest", "-p", "no:cacheprovider", *few, *shared, "-m", which, *quiet, *files]
    done = subprocess.run(
        [sys.executable, "-m", "coverage", "run", *pytest], cwd=ROOT, env=environment
    )
    return done.returncode in (0, NOTHING_CHOSEN)


def rooms(report: dict[str, dict[str, dict[str, dict[str, int]]]]) -> dict[str, tuple[int, int]]:
    """Of each room the lines that can run, and those that did."""
    lines: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for path, file in report["files"].items():
        parts = Path(path).parts
        room = parts[1].removesuffix(".py")
        lines[room][0] += file["summary"]["num_statements"]
        lines[room][1] += file["summary"]["covered_lines"]
    return {room: (all_lines, ran) for room, (all_lines, ran) in sorted(lines.items())}


def table(found: dict[str, tuple[int, int]]) -> str:
    """The rooms as a Markdown table, all of them together last."""
    whole = (sum(n for n, _ in found.values()), sum(ran for _, ran in found.values()))
    rows = [("room", "lines", "run", "share"), ("---", "--:", "--:", "--:")]
    for room, (n, ran) in [*found.items(), ("all", whole)]:
        if n:
            rows.append((room, f"{n:,}", f"{ran:,}", f"{100 * ran / n:.1f} %"))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "folders", nargs="*", metavar="FOLDER", help="folders under tests/; all if none is named"
    )
    parser.add_argument("--fresh", action="store_true", help="forget what was measured before")
    parser.add_argument(
        "--long",
        action="store_true",
        help="tests marked long, too; name folders, or it takes hours",
    )
    parser.add_argument(
        "--report", action="store_true", help="run nothing, and show what was measured before"
    )
    parser.add_argument(
        "--least", type=float, default=0.0, help="the least share in per cent that is no failure"
    )
    asked = parser.parse_args()
    coverage = [sys.executable, "-m", "coverage"]
    if asked.fresh:
        subprocess.run([*coverage, "erase"], cwd=ROOT, check=True)
    passed = True
    if not asked.report:
        files = chosen(asked.folders)
        passed &= run(files["compiled"], compiled=True, long=asked.long)
        for some in by_folder(files["plain"]):
            passed &= run(some, compiled=False)
    subprocess.run([*coverage, "combine", "--append", "--quiet"], cwd=ROOT, capture_output=True)
    subprocess.run([*coverage, "json", "--quiet", "-o", ".coverage.json"], cwd=ROOT, check=True)
    found = rooms(json.loads((ROOT / ".coverage.json").read_text(encoding="utf-8")))
    print(table(found))
    whole, ran = map(sum, zip(*found.values(), strict=True))
    return 0 if passed and 100 * ran >= asked.least * whole else 1


if __name__ == "__main__":
    sys.exit(main())
