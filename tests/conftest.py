"""Where the real data sets are, and what happens where they are not."""

import gc
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

import papers  # noqa: F401 - its learners and formats are tried as the package's own are
from tests.sharing import SHARED

settings.register_profile("shortlist", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("quick", settings.get_profile("shortlist"), max_examples=25)
settings.load_profile("shortlist")

# Many tests start processes: each would read the sources anew if none may keep what Python makes of
# them.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

ARCHIVES = Path(__file__).resolve().parents[2] / "shared" / "data"


# What takes longest comes first, so that no process is left alone with it at the end.
LONGEST = (
    "server/page",
    "distributed",
    "models/memory",
    "hostile/kills",
    "hostile/interrupts",
    "hostile/models",
    "tests/site",
    "tests/packages",
    "data/stamps",
    "models/scikit_learn",
    "server/http",
    "tests/docs",
    "models/search",
    "papers/document_tables",
    "papers/originals",
    "learners/tuned_index",
    "models/new_learner",
    "server/openapi",
)
# Rooms and files that share something that takes long to make: a cluster, a browser.
TOGETHER = {"distributed": "distributed"} | dict.fromkeys(
    (
        "server/audit_page",
        "server/fields_page",
        "server/groups_page",
        "server/reasons_page",
        "server/page",
        "server/promotion",
        "server/spot_checks",
        "server/story",
        "server/walk",
        "server/work",
    ),
    "server/page",
)


# What takes long by its nature, and is marked so here: what needs a cluster, a browser or a server
# in a process of its own, and what tries the papers' experiments. The first page of the server is
# tried each time.
LONG_NEEDS = {"client", "browser", "start"}
LONG_ROOMS = {"papers"}
ALL_THE_SAME = {"server/page"}


def pytest_configure(config):
    """A property is tried with fewer examples where long tests are left out; all of them are
    tried by .ci/run.
    """
    # a shell's job in the background ignores Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)
    settings.load_profile("quick" if config.option.markexpr == "not long" else "shortlist")


def takes_long(item: pytest.Item) -> bool:
    path = item.path
    if file_of(path) in ALL_THE_SAME:
        return False
    return path.parent.name in LONG_ROOMS or not LONG_NEEDS.isdisjoint(
        getattr(item, "fixturenames", ())
    )


def file_of(path: Path) -> str:
    return f"{path.parent.name}/{path.stem.removeprefix('test_')}"


def group(path: Path) -> str:
    """What the tests of a file are a part of: with several processes, one of them runs all of it.

    So what they share is made once.
    """
    file = file_of(path)
    return TOGETHER.get(path.parent.name) or TOGETHER.get(file) or file


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if takes_long(item):
            item.add_marker(pytest.mark.long)
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(group(item.path), len(places)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item, nextitem):
    try:
        return (yield)
    finally:
        if nextitem is None or group(nextitem.path) != group(item.path):
            SHARED.close()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Groups by the names of files, in the order of above.

    Those of pytest-xdist by marks change names of tests on the way, and do nothing with pytest 9.2,
    without a word.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Groups(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return group(Path(nodeid.partition("::")[0]))

    config.option.loadscopereorder = False
    return Groups(config, log) if config.getvalue("dist") == "load" else None


@pytest.fixture(scope="module", autouse=True)
def nothing_is_left_open():
    """Let go of what the tests of a file have left, so that a file left open is a failure of
    theirs, not of others.
    """
    yield
    gc.collect()


@pytest.fixture(scope="session")
def data_folder():
    """A function that gives the folder of one public data set, or skips the test saying why it
    cannot.

    SHORTLIST_DATA names a folder in which the sets are laid out as their publishers do; otherwise
    the archives beside the project, where there are any, are unpacked once.
    """
    chosen = os.environ.get("SHORTLIST_DATA")

    def find(archive: str, folder: str) -> Path:
        root = Path(chosen) if chosen else unpacked(archive)
        if root is None or not (root / folder).exists():
            pytest.skip(
                f"the data set {folder} is absent; set SHORTLIST_DATA to the folder that holds it"
            )
        return root / folder

    return find


def unpacked(archive: str) -> Path | None:
    """Unpack one archive into a folder that all test processes of this user share; None where
    there is none.
    """
    import fcntl
    import tempfile

    if not (ARCHIVES / "unpack").exists():
        return None
    target = Path(tempfile.gettempdir()) / f"shortlist-data-{os.getuid()}"
    target.mkdir(mode=0o700, exist_ok=True)
    with open(target / f".{archive}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(
            [ARCHIVES / "unpack", target, archive], check=True, stdout=subprocess.DEVNULL
        )
    return target
