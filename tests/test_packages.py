"""Wheel and source archive: the same bytes each time, and complete enough for an empty
environment.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[1]
BUILD = """
import sys
from hatchling.build import build_sdist, build_wheel
build_wheel(sys.argv[1]), build_sdist(sys.argv[1])
"""
NOT_PACKED = shutil.ignore_patterns(
    ".git", ".venv", "__pycache__", ".*_cache", ".hypothesis", "dist", "_build"
)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Two folders, each with a wheel and a source archive, built from copies made at different
    times.
    """
    pytest.importorskip(
        "hatchling", reason="packages are built with hatchling: pip install hatchling"
    )
    folder = tmp_path_factory.mktemp("packages")
    for name in ("first", "second"):
        shutil.copytree(
            ROOT, folder / f"{name}-source", ignore=NOT_PACKED, copy_function=shutil.copyfile
        )
        (folder / name).mkdir()
        fixed = {"SOURCE_DATE_EPOCH": "1700000000"}
        command = [sys.executable, "-c", BUILD, str(folder / name)]
        subprocess.run(
            command,
            cwd=folder / f"{name}-source",
            env=os.environ | fixed,
            check=True,
            capture_output=True,
        )
    return folder


def test_two_builds_are_equal_to_the_byte(built):
    first, second = (
        {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in (built / name).iterdir()
        }
        for name in ("first", "second")
    )
    assert len(first) == 2
    assert first == second


def test_the_wheel_holds_the_package_and_nothing_else(built):
    (wheel,) = (built / "first").glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    wanted = [path.relative_to(ROOT).as_posix() for path in (ROOT / "shortlist").rglob("*.py")]
    assert set(wanted) <= set(names)
    assert "shortlist/py.typed" in names
    assert any(name.startswith("shortlist/server/page/") for name in names), "the server's page"
    assert [name for name in names if not re.match(r"shortlist(-[^/]+\.dist-info)?/", name)] == []


def test_the_source_archive_can_be_built_and_tested(built):
    (archive,) = (built / "first").glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    for name in (
        "pyproject.toml",
        "Makefile",
        "LICENSE",
        "CITATION.cff",
        "tests/conftest.py",
        "docs/start.md",
    ):
        assert name in names


@pytest.fixture(scope="module")
def empty(built, tmp_path_factory):
    """A new environment with the wheel in it. The libraries are those of this environment:
    nothing is downloaded.
    """
    folder = tmp_path_factory.mktemp("empty") / "environment"
    venv.create(folder, with_pip=False)
    bin_folder = "Scripts" if os.name == "nt" else "bin"
    python = folder / bin_folder / ("python.exe" if os.name == "nt" else "python")
    ask = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    site = Path(subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip())
    (wheel,) = (built / "first").glob("*.whl")
    zipfile.ZipFile(wheel).extractall(site)  # as an installer does for a wheel of pure Python
    libraries = dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib"))
    # A line of a .pth file is a folder to search; .pth files inside of it, as of an editable
    # install, are not read.
    (site / "libraries.pth").write_text("\n".join(libraries) + "\n")
    return python


def run(python, folder, *command, code=None):
    """Run something in the new environment, uncompiled: what is tried is the package, not the
    compiler.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "SHORTLIST"))
    }
    arguments = ["-c", code] if code else ["-m", "shortlist.cli", *command]
    done = subprocess.run(
        [python, *arguments],
        cwd=folder,
        env=kept | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_wheel_in_an_empty_environment_runs_the_tutorial(empty, tmp_path):
    where = run(empty, tmp_path, code="import shortlist; print(shortlist.__file__)")
    assert Path(where.strip()).is_relative_to(empty.parents[1]), (
        "the package of the wheel, not the one that is edited"
    )
    tutorial = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```\n+```text\n(.*?)```", tutorial, re.DOTALL)
    assert examples
    for code, printed in examples:
        assert run(empty, tmp_path, code=code).split() == printed.split()


def test_a_wheel_in_an_empty_environment_has_the_commands(empty, tmp_path):
    data = tmp_path / "news.jsonl"
    data.write_text(
        '{"text": "wheat exports", "labels": ["grain"]}\n{"text": "bank rates", "labels": ["money"]}\n'
    )
    assert "shortlist" in run(empty, tmp_path, "--version")
    run(empty, tmp_path, "train", "news.jsonl")
    assert "grain" in run(empty, tmp_path, "rank", "news.shortlist", "--text", "wheat", "-k", "1")


def test_the_written_versions_are_allowed_and_name_no_host():
    packaging = pytest.importorskip("packaging.requirements")
    tomllib = pytest.importorskip("tomllib")
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9][\w.+!]*", line) for line in lines)
    written = dict(line.split("==") for line in lines)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [
        *project["dependencies"],
        *extras["test"],
        *(one for name in ("server", "docs", "dask") for one in extras[name]),
    ]
    for one in map(packaging.Requirement, wanted):
        if one.name != "shortlist":
            assert one.name in written, (
                f"{one.name}: run python scripts/constraints.py > constraints.txt"
            )
            assert one.specifier.contains(written[one.name], prereleases=True), one
