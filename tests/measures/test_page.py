"""The documentation page is what the registry says."""

from pathlib import Path

from scripts.measures import is_of_the_package, page
from shortlist.measures import MEASURES

ROOT = Path(__file__).parents[2]


def test_the_page_is_current():
    kept = (ROOT / "docs" / "measures.md").read_text()
    assert kept == page(), "run: python scripts/measures.py > docs/measures.md"


def test_every_measure_is_on_the_page_once():
    rows = [line.split(" | ")[0] for line in page().splitlines() if line.startswith("| `")]
    for name, entry in MEASURES.items():
        assert rows.count(f"| `{name}`") == is_of_the_package(entry)
