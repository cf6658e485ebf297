"""A small model, a state directory, and servers on it."""

import pytest

import shortlist as sl
from shortlist.server import snapshots
from tests.cli.conftest import run  # noqa: F401
from tests.server.servers import EXAMPLES, Process, in_thread


@pytest.fixture(scope="session")
def model_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "news.shortlist"
    texts, labels = zip(*EXAMPLES, strict=True)
    model = sl.Categorizer(sl.FeatureFocus(margin=0.3), sl.TextVectorizer(tf="log", idf="smooth"))
    model.fit(list(texts), list(labels)).save(path)
    return path


@pytest.fixture
def folder(tmp_path, model_file):
    """A fresh state directory."""
    path = tmp_path / "state"
    path.mkdir()
    snapshots.take_base(path, model_file)
    return path


@pytest.fixture
def server(folder):
    with in_thread(folder) as client:
        yield client


@pytest.fixture
def start():
    """start("--state", folder) -> Process; what still runs at the end is killed."""
    started = []

    def begin(*arguments, **more):
        started.append(Process(*arguments, **more))
        return started[-1]

    yield begin
    for one in started:
        if one.process.poll() is None:
            one.kill()
