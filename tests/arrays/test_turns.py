"""Who compiles while others wait; that three processes compile once is tried in test_stamps.py."""

import multiprocessing
import os

import pytest

from shortlist.arrays import compiling as stamps
from shortlist.arrays import compiling as turns
from shortlist.arrays.kernels import kernel

fcntl = pytest.importorskip("fcntl", reason="this system has no locks of parts of files")


def busy(name):
    """Whether another process finds this name taken."""
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.apply(_ask, (name,))


def _ask(name):
    turns.PATIENCE = 0.0
    seen = []
    turns._is_busy = lambda at, ask=turns._is_busy: seen.append(ask(at)) or seen[-1]
    with turns.turn(name):
        return seen[0]


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # of forking
def test_a_name_is_taken_while_somebody_is_inside():
    with turns.turn("learn float64"):
        assert busy("learn float64")
        assert not busy("learn float32")
    assert not busy("learn float64")
    with pytest.raises(ZeroDivisionError), turns.turn("learn float64"):
        raise ZeroDivisionError
    assert not busy("learn float64")


def test_who_waits_too_long_goes_ahead(monkeypatch):
    monkeypatch.setattr(turns, "PATIENCE", 0.05)
    monkeypatch.setattr(turns, "_is_busy", lambda at: True)
    monkeypatch.setattr(turns, "_lock", lambda at, free=False: pytest.fail("it is somebody else's"))
    assert turns.in_turn(lambda signature: signature, "place")("float64") == "float64"


def test_where_no_file_can_be_made_nobody_waits(monkeypatch, tmp_path):
    turns._file.cache_clear()
    monkeypatch.setattr(turns.tempfile, "gettempdir", lambda: str(tmp_path / "absent"))
    assert turns.in_turn(lambda signature: signature, "place")("float64") == "float64"
    (tmp_path / f"shortlist-loops-{os.getuid()}").symlink_to(tmp_path / "elsewhere")
    monkeypatch.setattr(turns.tempfile, "gettempdir", lambda: str(tmp_path))
    assert turns.in_turn(lambda signature: signature, "place")("float64") == "float64"
    assert not (tmp_path / "elsewhere").exists(), "a link that somebody else has put there is not followed"


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # of forking
def test_nobody_waits_for_who_holds_a_file_of_somebody_else(monkeypatch, tmp_path):
    monkeypatch.setattr(turns.tempfile, "gettempdir", lambda: str(tmp_path))
    turns._file.cache_clear()
    own = os.getuid()
    with turns.turn("learn float64"):
        os.rename(tmp_path / f"shortlist-loops-{own}", tmp_path / f"shortlist-loops-{own + 1}")
        monkeypatch.setattr(turns.os, "getuid", lambda: own + 1)
        assert not busy("learn float64")
    turns._file.cache_clear()


def test_where_no_loop_can_be_kept_nobody_waits(monkeypatch):
    """Each process has to compile it in any case: one after the other would only take longer."""
    asked = []
    monkeypatch.setattr(turns, "_is_busy", lambda at: bool(asked.append(at)))
    assert kernel(_next)(3) == 4
    assert asked
    asked.clear()
    monkeypatch.setattr(stamps.Places, "_locator_classes", (stamps.BesideTheSource,))
    assert kernel(_next)(3) == 4
    assert not asked


def _next(n):
    return n + 1
