"""Whether figures in the documentation are still what their commands print: ``python
scripts/figures.py [PAGE …]``.

A page names the command of a table in a comment, ``<!-- figures: python benchmarks/audit.py DATA
hwu64 -->``. The command is run again, DATA being the folder that SHORTLIST_DATA names and VECTORS
the one that SHORTLIST_VECTORS names; commands whose folders are not named are left out. Each table
that it prints is compared with the table of the page that begins with the same cell. Columns are
known by their names, rows by their first cell and by the cells under an empty name; a cell that is
left empty there is the one above it. What the page leaves out, and times, are not compared. Without
pages, all that have such comments are checked.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMMAND = re.compile(r"<!-- figures: (python .+?) -->")
TABLE = re.compile(r"(?:^\|.*\|\n?)+", re.MULTILINE)
# folders of which a command has the name
NEEDED = {"DATA": "SHORTLIST_DATA", "VECTORS": "SHORTLIST_VECTORS"}
TIME = re.compile(r"(^|, )(s|ms|µs)$")
Table = dict[tuple[str, ...], dict[str, str]]


def commands(page: str) -> list[str]:
    """The commands that a page says its figures are from."""
    return COMMAND.findall(page)


def tables(text: str) -> Iterator[tuple[str, Table]]:
    """The first cell of each Markdown table, and its rows: names of columns -> cells, without
    times.
    """
    for block in TABLE.findall(text):
        names, _, *lines = (cells(line) for line in block.splitlines())
        rows: Table = {}
        above = [""] * len(names)
        for line in lines:
            line += [""] * (len(names) - len(line))  # a row may leave out its last cells
            named = [i for i, name in enumerate(names) if i == 0 or name == ""]
            above = [line[i] or above[i] if i in named else "" for i in range(len(names))]
            told = {
                name: line[i]
                for i, name in enumerate(names)
                if i not in named and not TIME.search(name)
            }
            rows[tuple(above[i] for i in named)] = told
        yield names[0], rows


def cells(line: str) -> list[str]:
    return [
        cell.strip().replace("**", "").replace("`", "")
        for cell in line.strip().strip("|").split("|")
    ]


def differences(page: str, printed: str) -> list[str]:
    """What a page says otherwise than what was printed, in sentences."""
    found, same = [], 0
    for title, rows in tables(printed):
        written = [own for name, own in tables(page) if name == title and own.keys() & rows.keys()]
        if not written:
            found.append(
                f"no table begins with {title!r} and has any of the rows that were printed"
            )
        for key in rows.keys() & (written[0].keys() if written else set()):
            for name in rows[key].keys() & written[0][key].keys():
                same += 1
                if rows[key][name] != written[0][key][name]:
                    row = ", ".join(key)
                    found.append(
                        f"{row}: {name} is {written[0][key][name]} on the page, {rows[key][name]} "
                        "when run"
                    )
    return sorted(found) if same or found else ["no figure that was printed is on the page"]


def missing(command: str) -> str:
    """The folder that a command needs and that nobody has named; nothing if it can be run."""
    needed = [NEEDED[word] for word in shlex.split(command) if word in NEEDED]
    return next((name for name in needed if not os.environ.get(name)), "")


def run(command: str) -> str:
    """What a command prints."""
    words = [
        os.environ[NEEDED[word]] if word in NEEDED else word for word in shlex.split(command)[1:]
    ]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "pages",
        nargs="*",
        type=Path,
        metavar="PAGE",
        help="pages; all that name commands if none is given",
    )
    chosen = parser.parse_args().pages or sorted((ROOT / "docs").rglob("*.md"))
    wrong = 0
    for path in chosen:
        page = path.read_text(encoding="utf-8")
        for command in commands(page):
            if name := missing(command):
                print(f"{path}: {command}: left out, as {name} is not set", flush=True)
                continue
            found = differences(page, run(command))
            wrong += len(found)
            print(
                f"{path}: {command}: {'as printed' if not found else ''}",
                *found,
                sep="\n  ",
                flush=True,
            )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
