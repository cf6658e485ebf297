"""The documentation site is built without a warning, its links lead somewhere, and it needs no
network.
"""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[1]
NEEDED = ("sphinx", "myst_parser", "pydata_sphinx_theme")
MISSING = [name for name in NEEDED if importlib.util.find_spec(name) is None]
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(bool(MISSING), reason=f"pip install '.[docs]' for {', '.join(MISSING)}"),
]
MADE = (
    "api",
    "api.md",
    "http.md",
    "changelog.md",
    "contributing.md",
    "security.md",
    "code-of-conduct.md",
    "part-*.md",
)
TOPICS = ("Learn", "Decide", "Label with people", "Connect", "Run in production")
NOT_BUILT = shutil.ignore_patterns("_build", *MADE)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built from a copy, with warnings as errors."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=NOT_BUILT)
    for path in ROOT.glob("*.md"):
        shutil.copy(path, folder)
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "--keep-going",
        "-b",
        "html",
        "docs",
        "html",
    ]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path}
    )
    assert done.returncode == 0, done.stderr
    return folder / "html"


class Links(HTMLParser):
    """Where a page leads, what it loads, and the places in it that others can lead to."""

    def __init__(self, page):
        super().__init__()
        self.leads, self.loads, self.places = [], [], set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.places.add(found.get("id"))
        if tag == "a" and found.get("href"):
            self.leads.append(found["href"])
        if tag in ("script", "img") and found.get("src"):
            self.loads.append(found["src"])
        if tag == "link" and found.get("href") and found.get("rel") != "canonical":
            self.loads.append(found["href"])


def test_every_link_inside_the_site_leads_somewhere(site):
    # the theme's own
    pages = {page: Links(page) for page in site.rglob("*.html") if "_static" not in page.parts}
    assert len(pages) > 40
    broken = []
    for page, links in pages.items():
        for link in [*links.leads, *links.loads]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            places = pages[target].places if target in pages else {unquote(parts.fragment)}
            if not target.exists() or (parts.fragment and unquote(parts.fragment) not in places):
                broken.append(f"{page.name}: {link}")
    assert broken == []


def test_nothing_is_loaded_from_elsewhere(site):
    for page in (page for page in site.rglob("*.html") if "_static" not in page.parts):
        assert [one for one in Links(page).loads if urlsplit(one).netloc] == [], page.name


def test_the_reference_has_every_public_name(site):
    from shortlist.public_names import WHERE

    listed = (site / "api.html").read_text(encoding="utf-8")
    for name in WHERE:
        assert f'href="api/{name}.html"' in listed
        text = (site / "api" / f"{name}.html").read_text(encoding="utf-8")
        assert re.search(rf'id="shortlist\.[\w.]*{name}"', text)


def test_a_search_for_excel_finds_the_page_on_spreadsheets_first(site):
    """Sphinx lists pages with the word in a title or heading before all others; no other page
    may have it there.
    """
    text = (site / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))
    found = index["titleterms"]["excel"]
    assert [index["docnames"][n] for n in ([found] if isinstance(found, int) else found)] == [
        "from-a-spreadsheet"
    ]


def test_how_tos_are_grouped_by_topic(site):
    text = (site / "part-how-do-i.html").read_text(encoding="utf-8")
    places = [text.index(f"<h2>{topic}<") for topic in TOPICS]
    assert places == sorted(places)


def test_the_start_page_shows_the_product(site):
    text = (site / "index.html").read_text(encoding="utf-8")
    assert "Categorizer" in text
    assert "page.png" in text
    assert (site / "search.html").exists()


TUTORIALS = {
    path.stem: path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "docs" / "tutorials").glob("*.md"))
}


@pytest.mark.parametrize("name", [name for name, text in TUTORIALS.items() if "```python" in text])
def test_a_tutorial_is_run_and_draws_what_it_shows(site, name):
    drawn = f"{name}-1.png"
    assert drawn in (site / "tutorials" / f"{name}.html").read_text(encoding="utf-8")
    assert (site / "_images" / drawn).exists()


def test_the_http_interface_is_described(site):
    pytest.importorskip("fastapi")
    text = (site / "http.html").read_text(encoding="utf-8")
    assert all(
        path in text for path in ("POST /v1/rank", "POST /v1/learn", "GET /v1/model", "ScoredLabel")
    )
