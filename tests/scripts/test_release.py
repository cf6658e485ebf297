"""The steps of a release, on a copy of the files that they change."""

import importlib.util
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
found = importlib.util.spec_from_file_location("release", ROOT / "scripts" / "release.py")
release = importlib.util.module_from_spec(found)
found.loader.exec_module(release)


@pytest.fixture
def copy(tmp_path):
    """The files that say the version, in a repository of their own."""
    if shutil.which("git") is None:
        pytest.skip("there is no git")
    for name in [*release.WRITTEN, "CHANGELOG.md"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    git(tmp_path, "init", "-q")
    commit(tmp_path)
    return tmp_path


def git(folder, *arguments):
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True)


def commit(folder):
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "all")


def test_the_version_is_the_same_everywhere():
    from shortlist import __version__

    assert set(release.written_versions(ROOT).values()) == {__version__}


def test_what_is_prepared_and_committed_passes_the_check(copy):
    release.prepare(copy, "3.2.1", "2030-01-02")
    assert set(release.written_versions(copy).values()) == {"3.2.1"}
    assert (
        "## Unreleased\n\n## 3.2.1 – 2030-01-02\n\n### Added" in (copy / "CHANGELOG.md").read_text()
    )
    with pytest.raises(release.Problem, match="not committed"):
        release.check(copy)
    commit(copy)
    assert release.check(copy) == "3.2.1"


def test_what_is_missing_is_named(copy):
    with pytest.raises(release.Problem, match="version of development"):
        release.check(copy)
    with pytest.raises(release.Problem, match="is no version"):
        release.prepare(copy, "one", "2030-01-02")
    release.prepare(copy, "3.2.1", "2030-01-02")
    with pytest.raises(release.Problem, match=r"section 3\.2\.1 already"):
        release.prepare(copy, "3.2.1", "2030-01-02")
    with pytest.raises(release.Problem, match="nothing under Unreleased"):
        release.prepare(copy, "3.2.2", "2030-01-02")
    changelog = copy / "CHANGELOG.md"
    changelog.write_text(
        changelog.read_text().replace("## Unreleased\n", "## Unreleased\n\n- Forgotten.\n")
    )
    with pytest.raises(release.Problem, match=r"belong to 3\.2\.1"):
        release.check(copy)
    citation = copy / "CITATION.cff"
    citation.write_text(citation.read_text().replace("3.2.1", "3.2.0"))
    with pytest.raises(release.Problem, match="versions differ"):
        release.check(copy)
