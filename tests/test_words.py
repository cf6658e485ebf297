"""One word for one thing, and plain words throughout: the glossary, and a list of what is not
written.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# by docs/conf.py
MADE = {"api.md", "http.md", "changelog.md", "contributing.md", "security.md", "code-of-conduct.md"}
TERMS = re.findall(
    r"^\| \*\*(.+?)\*\* \|",
    (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)
NOT_WRITTEN = {
    "watches over": "say who reads it: monitoring",
    "Right at first": "say R1",
    "data point": "say example",
    "datapoint": "say example",
    "utilize": "say use",
    "leverage": "say use",
    "blazing": "give the figure",
    "state-of-the-art": "give the figure",
    "simply": "leave it out",
    "obviously": "leave it out",
    "just works": "say what it does",
}


def pages():
    return [
        page
        for page in PAGES
        if not (page.name in MADE or page.name.startswith("part-") or made_by_folder(page))
    ]


def made_by_folder(page):
    return page.parent.name == "api" or "_build" in page.parts


def test_the_glossary_is_in_order_and_each_word_is_used():
    assert len(TERMS) >= 12
    assert sorted(TERMS) == TERMS
    text = " ".join(
        page.read_text(encoding="utf-8").lower() for page in pages() if page.name != "glossary.md"
    )
    assert [term for term in TERMS if term not in text] == []


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_are_written_plainly(page):
    text = page.read_text(encoding="utf-8")
    found = {
        words: advice
        for words, advice in NOT_WRITTEN.items()
        if re.search(rf"\b{words}\b", text, re.IGNORECASE)
    }
    assert found == {}
