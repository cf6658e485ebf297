"""What was found is marked: met, met on a stand-in, or differing with its reason; and
coverage.md lists everything.
"""

import ast
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from papers.catalogue import CATALOGUE
from papers.cells import Cell
from papers.claims import Claim
from papers.contrasts import Contrast, holm
from papers.coverage import PAPERS
from papers.experiment import Table
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


CHANCE = Claim("table 6", "the last is behind", None)


def test_marks():
    assert mark([HOLDS], "") == "met"
    assert mark([HOLDS], "WT10g is sold") == "met on a stand-in"
    assert mark([HOLDS, FAILS], "") == "differs"
    assert mark([HOLDS, CHANCE], "") == "undecided"
    assert mark([FAILS, CHANCE], "") == "differs"
    assert mark([FAILS], "", is_quick=True) == "no verdict"


def test_a_quick_run_gives_no_verdict():
    section = report(FAILS).sections[0]
    part = Section("svmmap-fields", "p", "t", "", 1, 1.0, section.shown, is_quick=True)
    page = to_coverage(Report("today", "python -m papers --quick", {}, {}, {}, [part]))
    assert "| `svmmap-fields` | **no verdict** |" in page
    assert "differs" not in page


def literal_verdicts(source):
    """The claims whose verdict is written down instead of compared: a constant, or a name that
    stands for nothing but constants.
    """
    tree = ast.parse(source)
    values = defaultdict(list)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    values[target.id].append(node.value)
    literal = {
        name
        for name, assigned in values.items()
        if all(isinstance(value, ast.Constant) for value in assigned)
    }
    lines = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Claim":
            given = [*node.args[2:3], *(k.value for k in node.keywords if k.arg == "holds")]
            lines += [
                node.lineno
                for verdict in given
                if isinstance(verdict, ast.Constant) or getattr(verdict, "id", "") in literal
            ]
    return lines


def test_a_literal_claim_is_found():
    source = 'fine = a > b\nbad = True\n[Claim("p", "s", v) for v in (1,)]\n'
    assert literal_verdicts(source + 'Claim("p", "s", fine)\nClaim("p", "s", a < b)') == []
    assert literal_verdicts(source + 'Claim("p", "s", True)') == [4]
    assert literal_verdicts(source + 'Claim("p", "s", holds=False)') == [4]
    assert literal_verdicts(source + 'Claim("p", "s", bad)') == [4]


@pytest.mark.parametrize(
    "file", sorted((ROOT / "papers").rglob("*.py")), ids=lambda file: file.stem
)
def test_no_claim_is_literal(file):
    assert literal_verdicts(file.read_text(encoding="utf-8")) == []


def test_a_claim_is_within_the_noise_ahead_or_behind():
    def verdict(first, second):
        return Claim.ahead("p", "ahead", Cell.of(first), Cell.of(second)).holds

    assert verdict([0.766, 0.780, 0.751], [0.768, 0.770, 0.766]) is None
    assert verdict([0.9, 0.91, 0.92], [0.8, 0.81, 0.82]) is True
    assert verdict([0.8, 0.81, 0.82], [0.9, 0.91, 0.92]) is False
    assert verdict([0.803], [0.8]) is None  # one trial: less than what is worth a word
    assert verdict([0.81], [0.8]) is True
    assert verdict([0.9, 0.91, 0.92, 0.1], [0.8, 0.81, 0.82]) is True  # the trials of both

    def no_better(first, second):
        return Claim.no_better("p", "no better", Cell.of(first), Cell.of(second)).holds

    assert no_better([0.81, 0.80, 0.82], [0.8, 0.81, 0.82])
    assert not no_better([0.9, 0.91, 0.92], [0.8, 0.81, 0.82])


def test_holm_corrects_for_the_number_of_comparisons():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == [1, 1]
    assert holm([]) == []


def test_contrasts_have_intervals_and_effect_sizes():
    first, second = np.array([0.5, 0.6, 0.9, 0.8]), np.array([0.4, 0.3, 0.7, 0.8])
    one = Contrast.of(first, second)
    d = first - second
    assert one.difference == pytest.approx(d.mean())
    assert one.effect == pytest.approx(d.mean() / d.std(ddof=1))
    low, high = scipy.stats.t.interval(0.95, 3, d.mean(), d.std(ddof=1) / 2)
    assert (one.low, one.high) == pytest.approx((low, high))
    assert one.p_value == pytest.approx(scipy.stats.ttest_rel(first, second).pvalue)
    assert (one.higher, one.lower, one.cases) == (3, 0, 4)
    by_query = Contrast.of(first, second, by_query=True)
    assert by_query.p_value == pytest.approx(scipy.stats.wilcoxon(d[d != 0]).pvalue)


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
        "Table 9, met. Found: y.",
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
    assert alone.holds is None
    assert alone.says.endswith("(not judged by one trial)")
    far = close(a=Cell(0.85, 0.01, 0.88), b=Cell(0.88, 0.01, 0.88))
    assert not far.holds
    assert far.says.endswith("(of 2, further off: a 0.85 against 0.88)")
