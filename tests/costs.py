"""What each test costs: ``pytest --costs FILE`` writes it down, ``python -m tests.costs FILE``
shows the slowest.

Processor seconds, with those of processes that a test has started and seen end. What several tests
share counts with the first that needs it, or with the last. The table has one line for each test,
whatever its parameters; why it is worth its time is taken from the table in docs/testing.md.
"""

import argparse
import re
import time
from collections import Counter
from pathlib import Path

import pytest

try:
    import resource
except ImportError:  # Windows
    resource = None

PAGE = Path(__file__).parents[1] / "docs" / "testing.md"
LINE = re.compile(r"^\| [\d,.]+ \| `(\S+?)` \| (.*) \|$", re.MULTILINE)


def pytest_addoption(parser):
    parser.addoption(
        "--costs",
        metavar="FILE",
        help="add a line for each test: its processor seconds and its name",
    )


def spent():
    """Processor seconds of this process and of those that it has started and seen end."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN) if resource else None
    return time.process_time() + (ended.ru_utime + ended.ru_stime if ended else 0.0)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    file, before = item.config.getoption("costs", None), spent()
    try:
        return (yield)
    finally:
        if file:
            with open(file, "a", encoding="utf-8") as lines:
                lines.write(f"{spent() - before:.3f}\t{item.nodeid}\n")


def slowest(lines, n):
    """The names of the slowest tests, without their parameters, and their seconds."""
    seconds = Counter()
    for line in lines:
        cost, _, name = line.rstrip("\n").partition("\t")
        seconds[name.partition("[")[0].removeprefix("tests/")] += float(cost)
    return seconds.most_common(n)


def table(found, page):
    """The slowest tests as they stand on the page, with what it says about each."""
    why = dict(LINE.findall(page))
    rows = [f"| {seconds:.1f} | `{name}` | {why.get(name, '')} |" for name, seconds in found]
    return "\n".join(["| seconds | test | why |", "|--:|---|---|", *rows])


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path, help="what pytest --costs FILE has written")
    parser.add_argument("--count", type=int, default=50)
    given = parser.parse_args()
    with given.file.open(encoding="utf-8") as lines:
        print(table(slowest(lines, given.count), PAGE.read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
