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


@pytest.fixture(scope="session")
def sure_file(tmp_path_factory):
    """A model that has learned enough to say how sure it is: a thing's first word says what it is, nearly always."""
    path = tmp_path_factory.mktemp("model") / "sure.shortlist"
    texts = [f"{('apple', 'bolt')[n % 2]} number{n % 7}" for n in range(1400)]
    labels = [["fruit", "metal"][(n + (n % 23 == 0)) % 2] for n in range(1400)]
    sl.Categorizer(text=sl.TextVectorizer()).fit(texts, labels).save(path)
    return path


@pytest.fixture
def sure(tmp_path, sure_file):
    """A server on it."""
    path = tmp_path / "sure"
    path.mkdir()
    snapshots.take_base(path, sure_file)
    with in_thread(path) as client:
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
