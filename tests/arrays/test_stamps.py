"""Compiled loops are kept between runs, and none is used again after anything it was compiled from has changed."""

import importlib
import os
import subprocess
import sys

import pytest

from tests.copies import PACKAGE, copy_compiled, copy_sources

pytestmark = pytest.mark.long

KERNEL = """
from kept import faraway
from kept.near import FACTOR, TABLE, Pair, helper
from shortlist.arrays.kernels import kernel

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
from shortlist.arrays.kernels import kernel

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
from shortlist.arrays.kernels import kernel

constant = 0

@kernel
def beyond(x):
    return x
"""


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A function that runs a small package of kernels as another process would, and says what came from the cache."""
    monkeypatch.syspath_prepend(tmp_path)
    folder = tmp_path / "kept"
    folder.mkdir()
    for name, text in {"__init__": "", "kernels": KERNEL, "near": NEAR, "faraway": FARAWAY}.items():
        (folder / f"{name}.py").write_text(text)

    def run():
        for name in [name for name in sys.modules if name.partition(".")[0] == "kept"]:
            del sys.modules[name]
        importlib.invalidate_caches()
        kernels, near = importlib.import_module("kept.kernels"), importlib.import_module("kept.near")
        found = kernels.answer(near.Pair(1, 2), 5)
        kernels.alone(1)
        return found, *(bool(kernel.stats.cache_hits) for kernel in (kernels.answer, kernels.alone))

    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # two edits within a second would look the same
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


def test_an_edit_elsewhere_is_noticed(kept):
    for file, before, after, expected in EDITS:
        path = kept.folder / f"{file}.py"
        text = path.read_text()
        assert before in text
        path.write_text(text.replace(before, after))
        assert kept() == (expected, False, True), "only what uses the changed file is compiled again"
        path.write_text(text)
    path = kept.folder / "near.py"
    path.write_text(path.read_text().replace("FACTOR = 10", "FACTOR = 10  # as before"))
    assert kept() == (5154, False, True)
    path.write_text(path.read_text().replace("as before", "as ever"))
    assert kept() == (5154, True, True), "a comment costs nothing"


def test_a_type_that_has_moved_to_another_file_is_no_error(kept):
    near, elsewhere = kept.folder / "near.py", kept.folder / "elsewhere.py"
    text = near.read_text()
    elsewhere.write_text(text)
    near.write_text("from kept.elsewhere import *")
    assert kept() == (5154, False, True)
    elsewhere.unlink()
    near.write_text(text)
    assert kept() == (5154, False, True), "the list of kept loops names a type that is nowhere"
    assert kept() == (5154, True, True)


LEARN = """
import numpy as np
from scipy.sparse import csr_array
from shortlist import WidrowHoff
from shortlist.ratings.widrow_hoff import _learn

X, y = csr_array(np.tile([[0.0, 1.0], [0.0, 2.0], [0.0, 3.0]], (100, 1))), np.tile([1, 2, 3], 100)  # with a gap
learned = WidrowHoff().fit(X, y).predict(X)[-1]
print(learned, bool(_learn.stats.cache_hits))
"""


READ_ONLY = """
import tempfile

def refuse(*arguments, **more):
    raise OSError("Read-only file system")

tempfile.TemporaryFile = refuse  # with which Numba tries whether a folder can be written; a superuser always could
"""


def learn(folder, code=LEARN, **environment):
    kept = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    command, place = [sys.executable, "-c", code], {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, env=kept | place | environment, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def others():
    """Compiles, beside the sources themselves, the loops that are needed beside the one that is looked at."""
    assert learn(PACKAGE.parent)


def install(folder):
    """Put the package there, with compiled loops, but not the one that is looked at: only that is compiled."""
    copy_compiled(folder, but="widrow_hoff._learn")


def test_one_version_installed_over_another(tmp_path, others):
    """The loop of WidrowHoff calls ``move`` in another file: backwards in one version, put right in the next."""
    install(tmp_path)
    path = tmp_path / "shortlist" / "ratings" / "thresholds.py"
    text = path.read_text()
    assert "w[column] += size * value" in text
    path.write_text(text.replace("w[column] += size * value", "w[column] -= size * value"))
    assert learn(tmp_path) == "1 False"
    copy_sources(tmp_path)  # compiled loops of the version before stay, as installers leave them
    assert learn(tmp_path) == "3 False"
    assert learn(tmp_path) == "3 True"


def test_folders_that_cannot_be_written(tmp_path):
    """Compiled loops go to the user's own folder; where that is not to be had either, they are compiled each time."""
    copy_sources(tmp_path)
    for folder in {path.parent for path in (tmp_path / "shortlist").rglob("*.py")}:
        (folder / "__pycache__").write_text("a file in the way of the folder, also for the superuser")
    assert learn(tmp_path, HOME=str(tmp_path / "home")) == "3 False"
    assert learn(tmp_path, HOME=str(tmp_path / "home")) == "3 True"
    assert learn(tmp_path, HOME="/dev/null") == "3 False"


def test_loops_compiled_by_whoever_installed_the_package_are_used_where_nothing_can_be_written(tmp_path, others):
    install(tmp_path)
    assert learn(tmp_path) == "3 False"
    assert learn(tmp_path, READ_ONLY + LEARN, HOME="/dev/null") == "3 True"
    assert learn(tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "elsewhere")) == "3 True"


def test_somebody_at_a_prompt_is_told_once(tmp_path, others):
    install(tmp_path)
    waiting = "import sys; sys.ps1 = '>>> '; sys.stderr = sys.stdout" + LEARN
    told = "shortlist: compiling its inner loops, once for this machine…"
    assert learn(tmp_path, waiting).splitlines()[:-1] == [told]
    assert learn(tmp_path, waiting) == "3 True"


TOGETHER = """
import sys, time
from pathlib import Path
from kept import kernels, near
from shortlist.arrays import compiling as turns

turns.PATIENCE = float("inf")  # however busy the machine is
here = Path(sys.argv[1])
(here / sys.argv[2]).touch()
while len(list(here.iterdir())) < 3:
    time.sleep(0.01)
kernels.answer(near.Pair(1, 2), 5)
print(sum(kernels.answer.stats.cache_misses.values()), sum(kernels.answer.stats.cache_hits.values()))
"""


def test_processes_that_start_together_compile_once(kept, tmp_path):
    """Three wait for each other, and then all need the same loop; one compiles it, and the others read it."""
    (kept.folder / "near.py").write_text(NEAR.replace("FACTOR = 10", "FACTOR = 30"))
    (tmp_path / "ready").mkdir()
    path = os.pathsep.join([str(tmp_path), str(PACKAGE.parent)])
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", TOGETHER, tmp_path / "ready", str(n)],
            env=os.environ | {"PYTHONPATH": path}, stdout=subprocess.PIPE, text=True,
        )
        for n in range(3)
    ]  # fmt: skip
    assert sorted(process.communicate()[0].split() for process in processes) == [["0", "1"], ["0", "1"], ["1", "0"]]
