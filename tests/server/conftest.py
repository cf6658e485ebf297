"""A small model, a state directory, and servers on it."""

from contextlib import contextmanager

import pytest

import shortlist as sl
from shortlist.server import snapshots
from tests.cli.conftest import run  # noqa: F401
from tests.server.browsing import BROWSER, FLAGS, PATIENCE
from tests.server.servers import EXAMPLES, Process, in_thread
from tests.sharing import SHARED

ENDED = ["ERR_CONNECTION_REFUSED", "ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE"]


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
    """A model that has learned enough to say how sure it is: a thing's first word says what it
    is, nearly always.
    """
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


@contextmanager
def opened():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def browser():
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    return SHARED.get(opened)


@pytest.fixture
def visit(browser, server):
    """Open the page; at the end, nothing may have gone wrong on it."""
    troubles, contexts = [], []

    def begin(url=None, refused=None, **options):
        """``refused``: the status of a refusal that is meant to come; the browser complains of
        each.
        """
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda problem: troubles.append(str(problem)))
        page.on(
            "console",
            lambda said: troubles.append(said.text) if is_trouble(said, refused) else None,
        )
        page.goto(str(url or server.base_url))
        return page

    yield begin
    for context in contexts:
        context.close()
    assert troubles == []


def is_trouble(said, refused):
    """A page still asks its server when a test has ended that; what the browser says of this is
    no trouble.
    """
    meant = [*ENDED, *([] if refused is None else [f"status of {refused}"])]
    return said.type == "error" and not any(one in said.text for one in meant)
