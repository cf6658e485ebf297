"""Compiled loops are kept between runs, and none is used again after anything it was compiled
from has changed.
"""

import importlib
import os
import shutil
import subprocess
import sys
import tempfile

import numba
import pytest

from shortlist.compiled import numba_internals
from tests.copies import PACKAGE

KERNEL = """
from kept import faraway
from kept.near import FACTOR, TABLE, Pair, helper
from shortlist.compiled.kernels import kernel

@kernel
def answer(pair: Pair, x):
    return 1000 * later(x) + 100 * pair.first + FACTOR * helper(x) + TABLE[1] + faraway.constant

@kernel
def later(x):
    return faraway.beyond(x)

@kernel
def alone(x):
    return x + 1
"""
NEAR = """
from typing import NamedTuple
import numpy as np
from shortlist.compiled.kernels import kernel

FACTOR = 10
TABLE = np.array([3, 4])

class Pair(NamedTuple):
    first: int
    second: int

@kernel
def helper(x, more=0):
    return x + more
"""
FARAWAY = """
from shortlist.compiled.kernels import kernel

constant = 0

@kernel
def beyond(x):
    return x
"""


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A function that runs a small package of kernels as another process would, and says what
    came from the cache.
    """
    monkeypatch.syspath_prepend(tmp_path)
    folder = tmp_path / "kept"
    folder.mkdir()
    for name, text in {"__init__": "", "kernels": KERNEL, "near": NEAR, "faraway": FARAWAY}.items():
        (folder / f"{name}.py").write_text(text)

    def run():
        for name in [name for name in sys.modules if name.partition(".")[0] == "kept"]:
            del sys.modules[name]
        importlib.invalidate_caches()
        kernels, near = (
            importlib.import_module("kept.kernels"),
            importlib.import_module("kept.near"),
        )
        found = kernels.answer(near.Pair(1, 2), 5)
        kernels.alone(1)
        return found, *(bool(kernel.stats.cache_hits) for kernel in (kernels.answer, kernels.alone))

    # two edits within a second would look the same
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    run.folder = folder
    assert run() == (5154, False, False)
    assert run() == (5154, True, True), "what did not change is not compiled again"
    return run


EDITS = [
    ("near", "return x + more", "return x - more + 1", 5164),
    ("near", "more=0", "more=2", 5174),
    ("near", "FACTOR = 10", "FACTOR = 20", 5204),
    ("near", "[3, 4]", "[3, 7]", 5157),
    ("near", "first: int\n    second: int", "second: int\n    first: int", 5254),
    ("faraway", "return x", "return x + 1", 6154),
    ("faraway", "constant = 0", "constant = 2", 5156),
]


@pytest.mark.long
def test_an_edit_elsewhere_is_noticed(kept):
    for file, before, after, expected in EDITS:
        path = kept.folder / f"{file}.py"
        text = path.read_text()
        assert before in text
        path.write_text(text.replace(before, after))
        assert kept() == (expected, False, True), (
            "only what uses the changed file is compiled again"
        )
        path.write_text(text)
    path = kept.folder / "near.py"
    path.write_text(path.read_text().replace("FACTOR = 10", "FACTOR = 10  # as before"))
    assert kept() == (5154, False, True)
    path.write_text(path.read_text().replace("as before", "as ever"))
    assert kept() == (5154, True, True), "a comment costs nothing"


def elsewhere(kept, code, *arguments):
    """Run something that imports the small package in a process of its own."""
    path = os.pathsep.join([str(kept.folder.parent), str(PACKAGE.parent)])
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
    )


def test_a_type_that_has_moved_to_another_file_is_no_error(kept):
    near, other = kept.folder / "near.py", kept.folder / "other.py"
    text = near.read_text()
    other.write_text(text)
    near.write_text("from kept.other import *")
    assert kept() == (5154, False, True)
    other.unlink()
    near.write_text(text)
    assert kept() == (5154, False, True), "the list of kept loops names a type that is nowhere"
    assert kept() == (5154, True, True)


ANSWER = """
from kept import kernels, near
print(kernels.answer(near.Pair(1, 2), 5), bool(kernels.answer.stats.cache_hits))
"""


@pytest.mark.long
def test_one_version_installed_over_another(kept):
    """Compiled loops of the version before stay, as installers leave them."""
    assert elsewhere(kept, ANSWER).communicate()[0] == "5154 True\n"
    path = kept.folder / "faraway.py"
    path.write_text(path.read_text().replace("return x", "return x + 1"))
    assert elsewhere(kept, ANSWER).communicate()[0] == "6154 False\n"


@pytest.fixture
def no_folders(monkeypatch):
    """Nobody has named a folder for compiled loops."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.long
def test_folders_that_cannot_be_written(kept, no_folders, monkeypatch, tmp_path):
    """Compiled loops go to the user's own folder; where that is not to be had either, they are
    compiled each time.
    """
    beside = kept.folder / "__pycache__"
    shutil.rmtree(beside)
    beside.write_text("a file in the way of the folder, also for the superuser")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert kept() == (5154, False, False)
    assert kept() == (5154, True, True)
    monkeypatch.setenv("HOME", "/dev/null")
    assert kept() == (5154, False, False)
    assert kept() == (5154, False, False)


def test_loops_compiled_by_whoever_installed_the_package_are_used(
    kept, no_folders, monkeypatch, tmp_path
):
    """Where nothing can be written, and where somebody names another folder."""

    def refuse(*arguments, **more):
        raise OSError("Read-only file system")

    with monkeypatch.context() as read_only:
        # with which Numba tries whether a folder can be written; a superuser always could
        read_only.setattr(tempfile, "TemporaryFile", refuse)
        read_only.setenv("HOME", "/dev/null")
        assert kept() == (5154, True, True)
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "elsewhere"))
    assert kept() == (5154, True, True)
    assert not list(tmp_path.glob("elsewhere/**/*.nbi"))


def test_somebody_at_a_prompt_is_told_once(kept, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    monkeypatch.setattr(numba_internals, "was_announced", False)
    mark = tmp_path / "announced"
    monkeypatch.setattr(numba_internals, "announced_before", lambda: mark)
    assert kept() == (5154, True, True)
    assert capsys.readouterr().err == "", "there is nothing to wait for"
    for folder in kept.folder.rglob("__pycache__"):
        shutil.rmtree(folder)
    assert kept() == (5154, False, False)
    assert (
        capsys.readouterr().err == "shortlist: compiling its inner loops, once for this machine…\n"
    )
    monkeypatch.setattr(numba_internals, "was_announced", False)
    numba_internals.announce_compiling()
    assert capsys.readouterr().err == "shortlist: compiling more of its inner loops…\n"
