"""The documentation page is what the registry says."""

from pathlib import Path

from shortlist.measures import MEASURES
from shortlist.measures.page import page


def test_the_page_is_current():
    kept = (Path(__file__).parents[2] / "docs" / "measures.md").read_text()
    assert kept == page(), "run: python -m shortlist.measures > docs/measures.md"


def test_every_measure_is_on_the_page_once():
    rows = [line.split(" | ")[0] for line in page().splitlines() if line.startswith("| `")]
    for name in MEASURES:
        assert rows.count(f"| `{name}`".replace("|W|", "\\|W\\|")) == 1
