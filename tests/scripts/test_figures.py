"""Figures of the documentation beside what their commands print."""

import importlib.util
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    path
    for path in sorted((ROOT / "docs").rglob("*.md"))
    if "<!-- figures:" in path.read_text(encoding="utf-8")
]


@pytest.fixture(scope="module")
def figures():
    spec = importlib.util.spec_from_file_location("figures", ROOT / "scripts" / "figures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAGE = """
<!-- figures: python benchmarks/audit.py DATA hwu64 -->

| set | | P@1 | P@5 | learn, s |
|---|---|--:|--:|--:|
| hwu64 | as it is | **87.5** | 19.4 | 3.2 |
|  | `--tame 0.1` | 87.9 | 19.5 | 3.3 |

| set | texts |
|---|--:|
| hwu64 | 10,000 |
"""


def test_the_commands_of_a_page_are_found(figures):
    assert figures.commands(PAGE) == ["python benchmarks/audit.py DATA hwu64"]


def test_what_was_printed_agrees_with_the_page_but_for_times_and_what_it_leaves_out(figures):
    printed = (
        "| set | | P@1 | R5 | learn, s |\n|---|---|--:|--:|--:|\n| hwu64 | as it is | 87.5 | 99.0 "
        "| 1.1 |\n"
    )
    more = (
        "| hwu64 | --tame 0.1 | 87.9 | 99.0 | 1.1 |\n| hwu64 | --tame 0.2 | 80.0 | 99.0 | 1.1 |\n"
    )
    assert figures.differences(PAGE, printed + more) == []


def test_a_cell_that_differs_is_named(figures):
    printed = "| set | | P@1 | P@5 |\n|---|---|--:|--:|\n| hwu64 | as it is | 87.5 | 19.4 |\n"
    printed += "| hwu64 | --tame 0.1 | 88.0 | 19.5 |\n"
    assert figures.differences(PAGE, printed) == [
        "hwu64, --tame 0.1: P@1 is 87.9 on the page, 88.0 when run"
    ]
    assert figures.differences(PAGE, "| set | texts |\n|---|--:|\n| hwu64 | 9,000 |\n") == [
        "hwu64: texts is 10,000 on the page, 9,000 when run"
    ]


def test_a_row_that_leaves_out_its_last_cells_is_compared_as_far_as_it_goes(figures):
    printed = "| set | texts | rival, % |\n|---|--:|--:|\n| hwu64 | 10,001 |\n"
    assert figures.differences(PAGE, printed) == [
        "hwu64: texts is 10,000 on the page, 10,001 when run"
    ]


def test_tables_that_cannot_be_compared_are_told(figures):
    assert figures.differences(PAGE, "nothing") == ["no figure that was printed is on the page"]
    other = "| set | texts |\n|---|--:|\n| snips | 7 |\n"
    assert figures.differences(PAGE, other) == [
        "no table begins with 'set' and has any of the rows that were printed"
    ]


def test_some_pages_say_where_their_figures_are_from(figures):
    assert len(PAGES) >= 3
    for page in PAGES:
        for command in figures.commands(page.read_text(encoding="utf-8")):
            words = command.split()
            file = words[2].replace(".", "/") + ".py" if words[1] == "-m" else words[1]
            assert (ROOT / file).exists(), command


@pytest.mark.long
@pytest.mark.data
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_figures_are_what_their_commands_print(page, figures, data_folder):
    if not os.environ.get("SHORTLIST_DATA"):
        pytest.skip("the data sets are needed; set SHORTLIST_DATA to the folder that holds them")
    text = page.read_text(encoding="utf-8")
    for command in figures.commands(text):
        if not figures.missing(command):
            assert figures.differences(text, figures.run(command)) == [], command


def test_what_a_command_needs_is_known(figures, monkeypatch):
    command = "python benchmarks/vectors.py DATA VECTORS --alone hwu64"
    for name in figures.NEEDED.values():
        monkeypatch.delenv(name, raising=False)
    assert figures.missing(command) == "SHORTLIST_DATA"
    monkeypatch.setenv("SHORTLIST_DATA", "data")
    assert figures.missing(command) == "SHORTLIST_VECTORS"
    monkeypatch.setenv("SHORTLIST_VECTORS", "vectors")
    assert figures.missing(command) == ""
    assert figures.missing("python benchmarks/people.py") == ""
