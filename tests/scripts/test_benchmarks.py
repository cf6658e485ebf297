"""The page of benchmarks is drawn from the results of the run, and names what it loses."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

from benchmarks import sets
from benchmarks.rivals import page

ROOT = Path(__file__).parents[2]
TEXT = page.PAGE.read_text(encoding="utf-8")
REPORT = json.loads(page.RESULTS.read_text(encoding="utf-8"))
WORDS = 2500


def test_tables_are_those_of_the_results():
    assert page.filled(TEXT, REPORT) == TEXT, "run python -m benchmarks.rivals.page"


@pytest.mark.parametrize("name", page.PLOTS)
def test_plots_are_those_of_the_results(name):
    assert page.drawn(REPORT)[name] == page.PLOTS[name].read_text(encoding="utf-8")


def test_a_cell_that_was_changed_is_noticed():
    row = next(line for line in TEXT.splitlines() if line.startswith("| Reuters-21578 |"))
    changed = TEXT.replace(row, row.replace("0", "1"))
    assert changed != TEXT
    assert page.filled(changed, REPORT) == TEXT


def test_results_say_when_where_and_with_what():
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", REPORT["date"])
    assert REPORT["machine"]
    assert all(own["python"] for own in REPORT["versions"].values())
    assert page.compact(REPORT) == page.RESULTS.read_text(encoding="utf-8")
    for one in REPORT["results"]:
        assert ("problem" in one) != ("train" in one)


def test_every_loss_is_named():
    section = TEXT.partition("## Where we lose\n")[2].partition("\n## ")[0]
    tables = page.Tables(REPORT)
    lost = []
    for name in tables.of_kind("labels"):
        ours, rival = tables.done(name, "shortlist"), tables.best(name)
        if ours and rival and round(100 * (ours["P@1"] - rival["P@1"]), 1) < 0:
            lost.append(tables.sets[name]["title"].partition(",")[0].removesuffix(" (vectors)"))
    assert [title for title in lost if title not in section] == []


def test_the_page_is_short():
    words = re.findall(r"[^\s|*:-]+", re.sub(r"<!--.*?-->", "", TEXT))
    assert len(words) <= WORDS


def test_jobs_are_chosen_by_set_and_tool():
    spec = importlib.util.spec_from_file_location(
        "benchmarks_main", ROOT / "benchmarks" / "__main__.py"
    )
    main = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(main)
    assert main.chosen("hwu64", "fastText", None)
    assert main.chosen("hwu64", "fastText", ["hwu64"])
    assert main.chosen("hwu64", "VW oaa", ["finna", "/VW*"])
    assert not main.chosen("hwu64-5", "fastText", ["hwu64", "/VW*"])


def test_books_have_texts_and_no_labels(tmp_path):
    (tmp_path / "emma.txt").write_text(
        "CHAPTER I\n\nEmma was handsome, clever, and rich.\n", encoding="utf-8"
    )
    texts, labels = sets.texts_of(tmp_path, format="books")
    assert "clever" in texts[0]
    assert labels == []
