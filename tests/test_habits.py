"""The files that a public project has are there, can be read, and agree with the code."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SECTIONS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
LONGEST = 1000  # lines of a file of the package


def test_the_citation_names_the_four_papers():
    yaml = pytest.importorskip("yaml")
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert [paper["year"] for paper in citation["references"]] == [2009, 2002, 2001, 2007]
    import shortlist

    named = [
        name
        for paper in citation["references"]
        for name in re.findall(r"[A-Z]\w+", paper["notes"].partition(". ")[2])
    ]
    assert named
    assert set(named) <= set(shortlist.__all__)


@pytest.mark.parametrize(
    "path",
    [*sorted((ROOT / ".github").rglob("*.y*ml")), ROOT / ".pre-commit-config.yaml"],
    ids=lambda path: path.name,
)
def test_what_a_forge_reads_is_yaml(path):
    yaml = pytest.importorskip("yaml")
    assert isinstance(yaml.safe_load(path.read_text(encoding="utf-8")), dict)


def test_the_changelog_is_kept_in_sections():
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    assert {line.removeprefix("### ") for line in lines if line.startswith("### ")} <= SECTIONS
    versions = [line for line in lines if line.startswith("## ")]
    assert versions[0] == "## Unreleased"
    for line in versions[1:]:
        assert re.fullmatch(r"## \d+\.\d+\.\d+\S* – \d{4}-\d\d-\d\d", line)
    under = ""
    for line in lines:
        under = line if line.startswith("#") else under
        assert not line.startswith("- ") or under.startswith("### "), f"in no section: {line}"


def test_no_file_is_too_long():
    files = sorted((ROOT / "shortlist").rglob("*.py"))
    assert [
        path.name for path in files if len(path.read_text(encoding="utf-8").splitlines()) > LONGEST
    ] == []


def test_help_of_a_benchmark_runs_nothing():
    """Each takes its arguments by argparse, by itself or by what the benchmarks share."""
    begins = 'if __name__ == "__main__":\n'
    reads = re.compile(r"\barguments\(__doc__|ArgumentParser\(\s*description=__doc__")
    programs = {
        path.name: path.read_text(encoding="utf-8") for path in (ROOT / "benchmarks").rglob("*.py")
    }
    assert [name for name, own in programs.items() if begins in own and not reads.search(own)] == []
