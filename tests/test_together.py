"""With several processes, what tests share is made once: each group of tests stays in one of
them.
"""

from pathlib import Path

from tests.conftest import LONGEST, TOGETHER, group

HERE = Path(__file__).parent


def test_every_file_that_is_named_is_there():
    files = {group(path): path for path in HERE.rglob("test_*.py")}
    assert set(LONGEST) <= set(files)
    assert set(TOGETHER.values()) <= set(files)
    named = {
        f"{path.parent.name}/{path.stem.removeprefix('test_')}" for path in HERE.rglob("test_*.py")
    }
    assert set(TOGETHER) - {"distributed"} <= named


def test_tests_in_a_browser_are_one_group():
    pages = [
        path
        for path in HERE.rglob("test_*.py")
        if "server.browsing import" in path.read_text(encoding="utf-8")
    ]
    assert {group(path) for path in pages if path != Path(__file__)} == {"server/page"}
