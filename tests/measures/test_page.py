"""The documentation page is what the registry says."""

import importlib.util
from pathlib import Path

from shortlist.measures import MEASURES

ROOT = Path(__file__).parents[2]


def page():
    spec = importlib.util.spec_from_file_location("measures_page", ROOT / "scripts" / "measures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.page()


def test_the_page_is_current():
    kept = (ROOT / "docs" / "measures.md").read_text()
    assert kept == page(), "run: python scripts/measures.py > docs/measures.md"


def test_every_measure_is_on_the_page_once():
    rows = [line.split(" | ")[0] for line in page().splitlines() if line.startswith("| `")]
    for name in MEASURES:
        assert rows.count(f"| `{name}`".replace("|W|", "\\|W\\|")) == 1
