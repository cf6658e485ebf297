"""Downloading from a server on loopback that breaks off, cuts short, or sends something else."""

import hashlib
import http.server
import io
import tarfile
import threading
from dataclasses import replace

import pytest

from papers import datasets, fetching
from papers.datasets import DataSet, Remote
from papers.finding import content_digest
from shortlist import InputError


def archive(files):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return packed.getvalue()


NEWS = {
    f"news/{i}.txt": bytes([i]) * 40_000 + hashlib.sha256(bytes([i])).digest() for i in range(5)
}
WHOLE = archive(NEWS)


class Publisher(http.server.BaseHTTPRequestHandler):
    """Sends self.server.files; breaks off after ``breaks`` bytes of an answer as often as
    ``times`` says.
    """

    def do_GET(self):
        server = self.server
        content = server.files.get(self.path)
        server.asked.append(self.path)
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if server.times > 0:
            server.times -= 1
            content = content[: server.breaks]
        self.wfile.write(content)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Publisher) as running:
        running.files, running.asked, running.breaks, running.times = {}, [], 0, 0
        running.url = f"http://127.0.0.1:{running.server_port}"
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def news(server, tmp_path, monkeypatch):
    """A data set "news" published by that server, whose archive has a known digest."""
    server.files["/news.tar.gz"] = WHOLE
    (tmp_path / "there" / "news").mkdir(parents=True)
    for name, content in NEWS.items():
        (tmp_path / "there" / name).write_bytes(content)
    one = DataSet(
        "news",
        "news",
        "the test",
        server.url,
        "small",
        "free",
        "news",
        "0.txt",
        "*.txt",
        content_digest(tmp_path / "there" / "news", "*.txt"),
        archives=("news.tar.gz",),
        remotes=(
            Remote(
                f"{server.url}/news.tar.gz",
                "news.tar.gz",
                f"sha256:{hashlib.sha256(WHOLE).hexdigest()}",
            ),
        ),
    )
    monkeypatch.setitem(datasets.DATASETS, "news", one)
    return one


def fetched(data):
    return {f"news/{path.name}": path.read_bytes() for path in (data / "news").iterdir()} == NEWS


def test_a_set_is_downloaded_unpacked_and_left_alone_after_that(news, server, tmp_path):
    steps = []
    folder = fetching.fetch("news", tmp_path / "data", lambda *step: steps.append(step))
    assert folder == tmp_path / "data" / "news"
    assert fetched(tmp_path / "data")
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["news"]  # nothing else is left
    assert steps[0] == ("news.tar.gz", 0, len(WHOLE))
    assert steps[-1] == ("news.tar.gz", len(WHOLE), len(WHOLE))
    fetching.fetch("news", tmp_path / "data")
    assert len(server.asked) == 1


def test_a_truncated_download_is_told_and_begins_again_next_time(news, server, tmp_path):
    server.breaks, server.times = 100, 1
    with pytest.raises(InputError, match=r"broke off after 100 bytes .*; run the same again"):
        fetching.fetch("news", tmp_path / "data")
    assert not (tmp_path / "data" / "news").exists()
    fetching.fetch("news", tmp_path / "data")
    assert fetched(tmp_path / "data")


def test_a_wrong_file_is_not_kept(news, server, tmp_path):
    server.files["/news.tar.gz"] = archive({"news/0.txt": b"other"})
    with pytest.raises(InputError, match="is not the file that was published"):
        fetching.fetch("news", tmp_path / "data")
    assert not list((tmp_path / "data").rglob("*.tar.gz*"))
    server.files["/news.tar.gz"] = WHOLE
    fetching.fetch("news", tmp_path / "data")
    assert fetched(tmp_path / "data")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (archive({"news/0.txt": b"other"}), "are not those of news"),
        (archive({"else": b"other"}), "does not hold 0.txt"),
        (b"an error page", "cannot unpack"),
    ],
    ids=["other files", "other names", "no archive"],  # an archive holds the time it was made
)
def test_without_a_published_digest_the_files_are_judged(
    news, server, tmp_path, monkeypatch, content, says
):
    unknown = replace(news, remotes=(replace(news.remotes[0], digest=""),))
    monkeypatch.setitem(datasets.DATASETS, "news", unknown)
    server.files["/news.tar.gz"] = content
    with pytest.raises(InputError, match=says):
        fetching.fetch("news", tmp_path / "data")
    assert not list((tmp_path / "data").iterdir())
    server.files["/news.tar.gz"] = WHOLE
    fetching.fetch("news", tmp_path / "data")
    assert fetched(tmp_path / "data")


def test_single_files_are_fetched_too(news, server, tmp_path, monkeypatch):
    server.files |= {f"/{name}": content for name, content in NEWS.items()}
    remotes = tuple(
        Remote(
            f"{server.url}/{name}",
            name.partition("/")[2],
            f"sha256:{hashlib.sha256(content).hexdigest()}",
        )
        for name, content in NEWS.items()
    )
    monkeypatch.setitem(datasets.DATASETS, "news", replace(news, remotes=remotes, archives=()))
    server.breaks, server.times = 10, 1
    with pytest.raises(InputError, match="broke off"):
        fetching.fetch("news", tmp_path / "data")
    fetching.fetch("news", tmp_path / "data")
    assert fetched(tmp_path / "data")


def test_no_such_file_no_server_and_no_download(news, server, tmp_path, monkeypatch):
    del server.files["/news.tar.gz"]
    with pytest.raises(InputError, match="answers 404"):
        fetching.fetch("news", tmp_path / "data")
    gone = replace(news, remotes=(Remote("http://127.0.0.1:1/news.tar.gz", "news.tar.gz"),))
    monkeypatch.setitem(datasets.DATASETS, "news", gone)
    with pytest.raises(InputError, match="broke off after 0 bytes"):
        fetching.fetch("news", tmp_path / "data")
    with pytest.raises(InputError, match="finna has no direct download"):
        fetching.fetch("finna", tmp_path / "data")
