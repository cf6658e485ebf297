"""The same report as HTML, Markdown and JSON: every number is there, and no name can break out
of its place.
"""

import csv
import html.parser
import io
import json
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from papers.cells import Cell
from papers.experiment import Curve, Figure, Table
from papers.report.exports import exports
from papers.report.figures import to_svg
from papers.report.markdown import to_markdown
from papers.report.numbers import Report, Section, in_one, in_words, number, parts, plain
from papers.report.page import to_html
from tests.papers.made_up import NASTY, experiment

VOID = {"meta", "br"}


class Checked(html.parser.HTMLParser):
    """Collects tags and text, and sees to it that what is opened is closed."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.text = [], [], ""

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def report():
    one = experiment()
    done = [({"trial": trial}, {"value": float(trial)}) for trial in range(4)]
    section = Section(one.name, one.paper, one.title, one.stands_in, 4, 83.2, one.show(done))
    return Report(
        "2020-02-02",
        f"shortlist {NASTY}",
        {"processor": NASTY},
        {"numpy": "9"},
        {"news": "abc"},
        [section],
    )


def test_the_page_is_whole_and_shows_everything(report):
    page = Checked()
    page.feed(to_html(report))
    assert not page.open
    assert page.tags.count("svg") == 2
    assert "script" not in page.tags
    for part in (
        NASTY,
        "0.864 ± 0.005",
        "0.865  −0.001",
        "171,234",
        "+234",
        "39/11 **",
        "A note & more.",
        "1 min 23 s",
        "The <real> one is lost.",
        "Drawn <here>.",
        "2020-02-02",
        "numpy: 9",
        "news: abc",
    ):
        assert part in page.text


def test_the_page_needs_nothing_else(report):
    page = to_html(report)
    assert "prefers-color-scheme: dark" in page
    for outside in ("<link", "src=", "@import", 'href="http', "url(http"):
        assert outside not in page


def test_figures_take_the_colour_of_the_page_and_are_the_same_each_time(report):
    for figure in (one for one in report.sections[0].shown if isinstance(one, Figure)):
        svg = to_svg(figure)
        assert svg == to_svg(figure)
        ElementTree.fromstring(svg)
        assert "currentColor" in svg
        assert "#010203" not in svg
    assert NASTY in "".join(ElementTree.fromstring(to_svg(report.sections[0].shown[1])).itertext())


def test_curves_bands_and_bars_are_drawn():
    x, y = [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]
    line = to_svg(Figure("t", "x", "y", {"a": Curve(x, y)}))
    band = to_svg(Figure("t", "x", "y", {"a": Curve(x, y, [0.5, 1, 2], [2, 3, 4])}))
    bars = to_svg(Figure("t", "x", "y", {"a": Curve(x, y)}, bars=True))
    assert "opacity: 0.18" in band
    assert "opacity: 0.18" not in line
    assert bars.count('id="patch_') == line.count('id="patch_') + len(x)


def test_markdown_has_the_numbers_and_escapes_names(report):
    page = to_markdown(report)
    assert "0.864 ± 0.005 (0.865, −0.001)" in page
    assert "**Not the paper's data.** The <real> one is lost." in page
    row = next(line for line in page.splitlines() if "0.864" in line)
    assert row.startswith("| \\<script>")
    assert row.replace("\\|", "").count("|") == 5
    assert "| other | 1.000 | 0.500 | 0.333 | 0.250 |" in page  # the points of a figure
    assert "[0.900, 1.100]" in page


def test_json_is_strict_and_complete(report):
    whole = json.loads(json.dumps(plain(report), allow_nan=False))
    section = whole["sections"][0]
    assert section["tables"][0]["rows"][NASTY]["R1"] == {
        "ours": 0.8641,
        "spread": 0.0049,
        "published": 0.865,
        "values": [],
    }
    assert [figure["title"] for figure in section["figures"]] == ["A curve", "Bars"]
    table = Table("t", ["a"], {"r": {"a": Cell(float("nan"))}})
    lost = Report("", "", {}, {}, {}, [Section("n", "0", "t", "", 1, 0.0, [table])])
    assert plain(lost)["sections"][0]["tables"][0]["rows"]["r"]["a"]["ours"] is None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.86449, "0.864"),
        (12.345, "12.35"),
        (123.45, "123.5"),
        (171234.0, "171,234"),
        (3, "3"),
        (-0.5, "−0.500"),
        (float("nan"), "–"),
    ],
)
def test_numbers(value, text):
    assert number(value) == text


def test_cells():
    assert in_one(Cell(0.5)) == "0.500"
    assert in_one(Cell(None, published=0.5)) == "– (0.500)"
    assert in_one(None) == ""
    assert in_one("39/11 **") == "39/11 **"
    assert parts(Cell(15.71, 0.2, 15.0)) == ("15.71 ± 0.20", "15.00", "+0.71")
    assert in_one(Cell(2, published=1)) == "2 (1, +1)"
    assert [in_words(s) for s in (1.23, 12.3, 200)] == ["1.2 s", "12 s", "3 min 20 s"]


def test_tables_as_csv_and_latex(report):
    files = dict(exports(report))
    assert set(files) == {"made-up-1.csv", "made-up-1.tex"}
    lines = list(csv.DictReader(io.StringIO(files["made-up-1.csv"])))
    assert lines[0]["row"] == NASTY
    assert (lines[0]["ours"], lines[0]["published"]) == ("0.8641", "0.865")
    assert lines[2]["text"] == "39/11 **"
    latex = files["made-up-1.tex"]
    assert r"0.864 $\pm$ 0.005 (0.865, $-$0.001)" in latex
    assert r"$<$script$>$alert('x \& y')" in latex
    assert latex.count(r"\\") == 4


def test_a_cell_has_the_interval_of_its_trials():
    low, high = Cell.of([1.0, 2.0, 3.0]).interval
    assert (low + high) / 2 == pytest.approx(2)
    assert high - 2 == pytest.approx(4.302653 / np.sqrt(3))
    assert Cell.of([1.0]).interval is None
    assert Cell(1.0, 0.1).interval is None
