"""A model whose vectors come from an endpoint, served: while it is away or wrong, texts are ranked
by their words alone, and nothing is learned.
"""

import contextlib
import threading
import time

import pytest

import shortlist as sl
from shortlist.encoders import EncoderChanged, endpoint
from shortlist.encoders.endpoint import Patience, set_patience
from shortlist.models import encoding
from shortlist.server import snapshots
from shortlist.server.app import check_encoder
from shortlist.server.replica import Replica
from shortlist.server.settings import ServerSettings
from shortlist.server.text_vectors import BY_WORDS
from tests.encoders.endpoints import Answering, answer_of, honest
from tests.server.servers import EXAMPLES, in_thread


@pytest.fixture
def answering(monkeypatch):
    monkeypatch.setenv("SHORTLIST_CACHE", "off")
    for cache in (endpoint._endpoint, encoding._loaded):
        cache.cache_clear()
    set_patience(Patience(seconds=1.0, retries=0))
    server = Answering()
    monkeypatch.setenv("SHORTLIST_ENDPOINT", server.address)
    yield server
    server.close()
    set_patience(Patience())
    for cache in (endpoint._endpoint, encoding._loaded):
        cache.cache_clear()


@pytest.fixture
def folder(tmp_path, answering):
    texts, labels = zip(*EXAMPLES, strict=True)
    model = sl.Categorizer(encoder="endpoint:tiny").fit(list(texts), list(labels))
    model.save(tmp_path / "m.shortlist")
    path = tmp_path / "state"
    path.mkdir()
    snapshots.take_base(path, tmp_path / "m.shortlist")
    return path


def test_while_the_endpoint_is_away_words_alone_rank(folder, answering):
    model = sl.load(folder.parent / "m.shortlist")
    wanted = model.rank("wheat harvest", 2)
    by_words = model.rank("wheat harvest", 2, vector=[0.0] * 4)
    with in_thread(folder) as server:
        answer = server.ask("rank", text="wheat harvest", k=2)
        assert [one["score"] for one in answer["rankings"][0]] == wanted.scores.tolist()
        for wrong in (
            lambda texts: (500, b""),
            lambda texts: b"<html>",
            lambda texts: answer_of(honest(texts)[:-1]),
        ):
            answering.answer = wrong
            answer = server.ask("rank", text="wheat  harvest", k=2)
            assert answer["decisions"] == [{"assigned": [], "reason": BY_WORDS}]
            explained = server.ask("explain", text="new words of wheat")
            assert "(vector)" not in [vote["feature"] for vote in explained["votes"]]
            refusal = server.post(
                "/v1/learn", json={"examples": [{"text": "new wheat", "labels": ["grain"]}]}
            )
            assert refusal.status_code == 503
            assert server.ask("model")["examples"] == len(EXAMPLES)
        assert [one["score"] for one in answer["rankings"][0]] == pytest.approx(
            by_words.scores.tolist()
        )
        answering.answer = lambda texts: answer_of(honest(texts))
        assert server.learn("new wheat", ["grain"])["new"]


def test_a_slow_endpoint_holds_up_nobody_else(folder, answering):
    with in_thread(folder) as server:
        answering.before_answer = lambda handler: time.sleep(3)
        asking = threading.Thread(target=lambda: server.ask("rank", text="some other words", k=1))
        asking.start()
        time.sleep(0.1)
        began = time.monotonic()
        assert server.get("/healthz").status_code == 200
        assert time.monotonic() - began < 2
        asking.join()


def test_a_server_starts_without_its_endpoint_and_not_with_another_model(folder, answering):
    with contextlib.closing(Replica(folder, True)) as replica:
        encoding._loaded.cache_clear()
        answering.answer = lambda texts: (500, b"")
        check_encoder(ServerSettings(folder, read_only=True), replica)
        replica.warm_up()
        answering.answer = lambda texts: answer_of([row[::-1] for row in honest(texts)])
        encoding._loaded.cache_clear()
        endpoint._endpoint.cache_clear()
        with pytest.raises(EncoderChanged):
            check_encoder(ServerSettings(folder, read_only=True), replica)
