"""The documentation runs, and says what the program says."""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
RUN = re.compile(r"```python\n(.*?)```\n+```text\n(.*?)```", re.DOTALL)
EXAMPLES = [
    (page, code, output)
    for page in PAGES
    for code, output in RUN.findall(page.read_text(encoding="utf-8"))
]


NAMES = [f"{page.name}-{n}" for n, (page, _, _) in enumerate(EXAMPLES)]


@pytest.mark.parametrize(("page", "code", "output"), EXAMPLES, ids=NAMES)
def test_examples_print_what_stands_below_them(page, code, output, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, page.name, "exec"), {})
    assert printed.getvalue().split() == output.split()


def test_the_command_reference_is_current():
    from scripts.commands import page

    written = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert written == page(), "run python scripts/commands.py > docs/commands.md"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_nothing_is_installed_from_where_nobody_has_published_it():
    files = [*PAGES, *(ROOT / "docs").glob("*.py"), *(ROOT / "shortlist").rglob("*.py")]
    assert [
        str(one)
        for one in files
        if re.search(r"pip install '?shortlist", one.read_text(encoding="utf-8"))
    ] == []
