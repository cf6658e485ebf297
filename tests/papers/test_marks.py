"""What was found is marked: met, met on a stand-in, or differing with its reason; and
coverage.md lists everything.
"""

import re
from pathlib import Path

import pytest

from papers.catalogue import CATALOGUE
from papers.coverage import PAPERS
from papers.experiment import Cell, Claim, Table
from papers.report.coverage import to_coverage
from papers.report.marks import mark, sentences
from papers.report.numbers import Report, Section

ROOT = Path(__file__).parents[2]
HOLDS = Claim("table 6", "SVM-map is ahead", True, "never said")
FAILS = Claim("table 6", "roc is behind", False, "the data are small")


def report(*claims, stands_in=""):
    shown = Table("x", ["a"], {"b": {"a": Cell(1.0)}}, claims=claims)
    section = Section("svmmap-fields", "p", "t", stands_in, 1, 1.0, [shown])
    return Report("today", "python -m papers all", {}, {}, {}, [section])


def test_three_marks():
    assert mark([HOLDS], "") == "met"
    assert mark([HOLDS], "WT10g is sold") == "met on a stand-in"
    assert mark([HOLDS, FAILS], "") == "differs"


def test_a_sentence_tells_what_was_found_and_why_not():
    table = Table(
        "x",
        [],
        {},
        claims=(HOLDS, FAILS, Claim("table 9", "y", True), Claim("table 5", "z", False)),
    )
    assert sentences(table, "") == [
        "Table 6, differs. Not found: roc is behind. Why: the data are small. Found: SVM-map is "
        "ahead.",
        "Table 9, met: y.",
        "Table 5, differs. Not found: z. Why: unexplained.",
    ]


def test_the_page_lists_every_part_of_every_paper():
    page = to_coverage(report(HOLDS, stands_in="yes"))
    for items in PAPERS.values():
        for item in items:
            assert f"| {item.section} | {item.place}: {item.what} |" in page
    assert "| `svmmap-fields` | **met on a stand-in** |" in page
    assert re.search(r"\| `svmmap-cranfield`[^|]* \| \*\*not in this run\*\* \|", page)
    assert re.search(r"all` on today: 1 met on a stand-in, \d+ tested, \d+ not in this run\.", page)
    page = to_coverage(report(HOLDS, FAILS))
    assert "| `svmmap-fields` | **differs** |" in page


@pytest.mark.parametrize(
    "item", [item for items in PAPERS.values() for item in items], ids=lambda item: item.place
)
def test_what_is_said_to_be_there_is_there(item):
    assert set(item.experiments) <= set(CATALOGUE)
    assert item.experiments or item.tests
    for path in filter(None, (item.code, item.tests)):
        assert (ROOT / path).is_file()


FIGURES_AND_TABLES = {"001": (6, 4), "002": (3, 0), "003": (2, 11), "004": (22, 0)}


@pytest.mark.parametrize("paper", FIGURES_AND_TABLES)
def test_no_table_and_no_figure_of_a_paper_is_left_out(paper):
    (items,) = (items for name, items in PAPERS.items() if name.startswith(paper))
    for kind, last in zip(("figure", "table"), FIGURES_AND_TABLES[paper], strict=True):
        numbers: set[int] = set()
        for item in items:
            for found in re.findall(rf"{kind}s? (\d.*)", item.place):
                own = [int(number) for number in re.findall(r"\d+", found)]
                numbers |= set(range(own[0], own[-1] + 1)) if " to " in found else set(own)
        assert numbers == set(range(1, last + 1))


def test_close_is_two_spreads_or_one_per_cent():
    def close(**cells):
        return Claim.close("table 1", "numbers", cells)

    assert close(a=Cell(0.865, 0.01, 0.88), b=Cell(0.5), c="text", d=None).holds
    assert close(a=Cell(100.9, 0.1, 100.0)).holds
    alone = close(a=Cell(0.5, None, 0.88))
    assert alone.holds
    assert alone.says.endswith("(not judged by one trial)")
    far = close(a=Cell(0.85, 0.01, 0.88), b=Cell(0.88, 0.01, 0.88))
    assert not far.holds
    assert far.says.endswith("(of 2, further off: a 0.85 against 0.88)")
