"""Where the real data sets are, and what happens where they are not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("shortlist", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("shortlist")

# Many tests start processes: each would read the sources anew if none may keep what Python makes of them.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

ARCHIVES = Path(__file__).resolve().parents[2] / "shared" / "data"


# What takes longest comes first, so that no process is left alone with it at the end.
LONGEST = (
    "server/page", "server/work", "distributed", "hostile/kills", "hostile/interrupts", "hostile/models", "tests/site",
    "tests/packages", "arrays/stamps", "models/scikit_learn", "server/http", "tests/docs", "models/search",
    "documents/experiments", "experiments/originals", "categories/tuned_index", "models/new_learner",
)  # fmt: skip
TOGETHER = ("distributed",)  # rooms whose files share something that takes long to make


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """With several processes, the tests of a file stay in one of them: what they share is made once."""
    names = {}
    for item in items:
        room, file = item.path.parent.name, item.path.stem.removeprefix("test_")
        names[item] = room if room in TOGETHER else f"{room}/{file}"
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(names[item]))
    items.sort(key=lambda item: LONGEST.index(names[item]) if names[item] in LONGEST else len(LONGEST))


@pytest.fixture(scope="session")
def data_folder():
    """A function that gives the folder of one public data set, or skips the test saying why it cannot.

    SHORTLIST_DATA names a folder in which the sets are laid out as their publishers do; otherwise the archives
    beside the project, where there are any, are unpacked once.
    """
    chosen = os.environ.get("SHORTLIST_DATA")

    def find(archive: str, folder: str) -> Path:
        root = Path(chosen) if chosen else unpacked(archive)
        if root is None or not (root / folder).exists():
            pytest.skip(f"the data set {folder} is absent; set SHORTLIST_DATA to the folder that holds it")
        return root / folder

    return find


def unpacked(archive: str) -> Path | None:
    """Unpack one archive into a folder that all test processes of this user share; None where there is none."""
    import fcntl
    import tempfile

    if not (ARCHIVES / "unpack").exists():
        return None
    target = Path(tempfile.gettempdir()) / f"shortlist-data-{os.getuid()}"
    target.mkdir(mode=0o700, exist_ok=True)
    with open(target / f".{archive}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run([ARCHIVES / "unpack", target, archive], check=True, stdout=subprocess.DEVNULL)
    return target
