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
