"""What the server answers."""

import asyncio
import contextlib
import errno
import json
import os
import socket
import threading
import time

import httpx
import pytest

import shortlist as sl
from shortlist.server import rehearsals, snapshots
from shortlist.server.entries import Judgement
from shortlist.server.journal import Journal
from shortlist.server.label_names import LabelNames
from shortlist.server.middleware import Metrics, Middleware
from shortlist.server.replica import Replica
from shortlist.server.settings import Limits, ServerSettings, is_loopback, read_token
from tests.server.servers import in_thread, state_bytes

TOKEN = "a token that is long enough"


def test_rank_is_the_models_ranking(server, model_file):
    texts = ["corn and wheat", "bank", "zzz"]
    answer = server.ask("rank", text=texts, k=2)
    ranking = sl.load(model_file).rank(texts, 2)
    expected = [
        [{"label": label, "score": score, "probability": None} for label, score in one]
        for one in ranking
    ]
    assert answer["rankings"] == expected
    assert [own["assigned"] for own in answer["decisions"]] == [[], [], []]
    assert answer["decisions"][2]["reason"] == "no known word"
    assert server.ask("rank", text="corn and wheat", k=2)["rankings"] == expected[:1]


def test_explain_names_the_words_and_where_they_stand(server):
    text = "Ünïcode 😀 WHEAT, corn & wheat"
    answer = server.ask("explain", text=text, label="grain")
    assert answer["score"] == pytest.approx(sum(vote["vote"] for vote in answer["votes"]))
    spans = {vote["feature"]: [text[a:b] for a, b in vote["spans"]] for vote in answer["votes"]}
    assert spans == {"wheat": ["WHEAT", "wheat"], "corn": ["corn"]}
    assert server.ask("explain", text="corn")["label"] == "grain"


def test_learn_is_seen_at_once_and_undo_takes_it_back(server, model_file):
    assert server.best("zebra") == []
    learned = server.learn("zebra stripes", ["animals"])
    assert learned == {"number": 1, "new": True, "place": None, "learned": True}
    assert server.best("zebra") == ["animals"]
    assert server.learn("zebra", ["animals", "zoo"])["place"] == 1
    assert server.ask("undo", number=1) == {"number": 1, "new": True}
    assert server.ask("undo", number=1) == {"number": 1, "new": False}
    expected = sl.load(model_file).learn("zebra", ["animals", "zoo"])
    assert state_bytes(server.replica.model) == state_bytes(expected)
    rolling = server.ask("model")["rolling"]
    assert (rolling["window"], rolling["R1"], rolling["R5"], rolling["places"]) == (
        1,
        1.0,
        1.0,
        [1],
    )
    assert [one["undone"] for one in server.ask("examples")["examples"]] == [False, True]


def test_a_retry_with_the_same_key_learns_nothing(server):
    first = server.learn("zebra", ["animals"], key="k1")
    before = state_bytes(server.replica.model)
    assert server.learn("zebra", ["animals"], key="k1") == {**first, "new": False, "place": 1}
    assert state_bytes(server.replica.model) == before
    answer = server.post(
        "/v1/learn", json={"examples": [{"text": "other", "labels": ["animals"], "key": "k1"}]}
    )
    assert answer.status_code == 409
    assert "used for another example, number 1" in answer.json()["error"]


def test_a_batch_is_learned_whole_or_not_at_all(server):
    server.learn("zebra", ["animals"], key="k1")
    examples = [
        {"text": "lion", "labels": ["animals"]},
        {"text": "not the zebra", "labels": ["x"], "key": "k1"},
    ]
    assert server.post("/v1/learn", json={"examples": examples}).status_code == 409
    assert server.best("lion") == []
    assert len(server.ask("learn", examples=examples[:1] * 30)["learned"]) == 30


def test_clients_that_learn_at_once_share_commits(server, model_file):
    def learn(client):
        with httpx.Client(base_url=server.base_url, timeout=60) as own:
            for n in range(20):
                body = {
                    "examples": [{"text": f"client{client} says{n}", "labels": [f"label{client}"]}]
                }
                assert own.post("/v1/learn", json=body).status_code == 200

    threads = [threading.Thread(target=learn, args=(client,)) for client in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = sl.load(model_file)
    lines = server.get("/v1/export").text.splitlines()
    assert len(lines) == 100
    for line in lines:
        example = json.loads(line)
        expected.learn(example["text"], example["labels"])
    assert state_bytes(server.replica.model) == state_bytes(expected)


def test_labels_are_found_by_any_part(server):
    server.learn("x", ["Grain storage"])
    answer = server.ask("labels?q=GRAIN")
    assert [one["label"] for one in answer["labels"]] == ["grain", "Grain storage"]
    assert server.ask("labels?q=ai&limit=1")["found"] == 2
    assert [one["label"] for one in server.ask("labels?limit=2&offset=1")["labels"]] == [
        "money",
        "trade",
    ]
    assert server.ask("labels?q=nowhere") == {"labels": [], "found": 0, "near": []}


def test_connections_go_both_ways(server):
    features = [one["name"] for one in server.ask("label?name=grain")["connections"]]
    assert {"wheat", "corn"} <= set(features)
    assert server.ask("feature?name=bank")["connections"][0]["name"] == "money"
    assert server.ask("feature?name=nowhere") == {"connections": []}
    assert server.get("/v1/label?name=nothing").status_code == 404
    assert server.get("/v1/label").status_code == 422


def test_the_model_and_the_metrics(server):
    server.ask("rank", text=["wheat", "corn"])
    server.learn("wheat", ["grain"])
    facts = server.ask("model")
    assert (facts["learner"], facts["examples"], facts["labels"], facts["journal"]) == (
        "FeatureFocus",
        7,
        3,
        1,
    )
    assert facts["bytes"] > 0
    page = server.get("/metrics").text
    assert 'shortlist_requests_total{path="/v1/rank",status="200"} 1.0' in page
    assert "shortlist_texts_ranked_total 2.0" in page
    assert "shortlist_examples_learned_total 1.0" in page
    assert 'shortlist_model{what="labels"} 3.0' in page
    assert "shortlist_requests_in_flight 1.0" in page, "the one that asks for this page"
    assert server.get("/healthz").json() == {"status": "ok"}


@pytest.mark.long
def test_snapshots_are_written_beside(folder):
    with in_thread(folder, snapshot_examples=3, snapshot_seconds=3600) as server:
        for n in range(3):
            server.learn(f"text {n}", ["x"])
        until = time.monotonic() + 300
        while server.ask("model")["snapshot"] < 3:
            assert time.monotonic() < until
            time.sleep(0.1)
        expected = state_bytes(server.replica.model)
    assert state_bytes(sl.load(snapshots.snapshots_and_base(folder)[0][1])) == expected


# Refusals, each in one sentence


def refused(answer, status, words):
    assert answer.status_code == status, answer.text
    assert words in answer.json()["error"]
    assert set(answer.json()) == {"error"}


def test_bad_questions(server):
    refused(server.post("/v1/rank", json={"text": 7}), 422, "text")
    refused(
        server.post("/v1/rank", json={"text": "a", "k": 0}),
        422,
        "k: input should be greater than or equal to 1",
    )
    refused(
        server.post("/v1/rank", json={"text": "a", "top": 3}),
        422,
        "top: extra inputs are not permitted",
    )
    signs = "expected letters, digits and signs of ASCII, without spaces"
    for key, said in {"a b": signs, "a" * 201: "string should have at most 200 characters"}.items():
        example = {"text": "a", "labels": ["b"], "key": key}
        refused(
            server.post("/v1/learn", json={"examples": [example]}), 422, f"examples.0.key: {said}"
        )
    refused(server.post("/v1/rank", json={}), 422, "text: field required")
    for one in ({"text": "wheat", "labels": ["grain"]}, {}):
        refused(server.post("/v1/learn", json=one), 422, "examples: field required")
        refused(server.post("/v1/learn", json=[one]), 422, "the body: input should be an object")
    refused(
        server.post("/v1/learn", json={"examples": [{"labels": ["a"]}]}),
        422,
        "examples.0.text: field required",
    )
    refused(server.post("/v1/rank", json=["a"]), 422, "the body: input should be an object")
    refused(server.post("/v1/learn", json={"examples": []}), 422, "examples")
    refused(
        server.post("/v1/learn", json={"examples": [{"text": "a", "labels": []}]}),
        422,
        "examples.0: needs a label",
    )
    refused(
        server.post("/v1/learn", json={"examples": [{"text": "a", "labels": ["b\nc"]}]}),
        422,
        "labels.0",
    )
    refused(server.post("/v1/undo", json={"number": 1}), 404, "no example 1")
    refused(
        server.post("/v1/explain", json={"text": "a", "label": "b"}),
        404,
        "'b' has not been learned",
    )
    refused(server.post("/v1/explain", json={"text": "zzz"}), 404, "knows none of its words")
    refused(server.get("/v1/nothing"), 404, "Not Found")
    refused(server.get("/v1/rank"), 405, "Method")
    for path in ("/v1/model", "/", "/v1/export", "/healthz"):
        answer = server.post(
            path, content=b"a=b", headers={"content-type": "application/x-www-form-urlencoded"}
        )
        refused(answer, 405, "Method")
        assert answer.headers["allow"] == "GET"
    refused(server.post("/v1/nothing", content=b"a=b"), 404, "Not Found")
    refused(server.get("/page/../app.py"), 404, "Not Found")
    refused(server.get("/page/app.py"), 404, "no such page")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"x"',
        b"\xff\xfe",
        b'{"text": "\\ud800"}',
        b'{"text": NaN}',
        b"[" * 100_000,
    ],
)
def test_bodies_that_are_no_question(server, body):
    answer = server.post("/v1/rank", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422)
    assert answer.json()["error"]


def test_limits(folder):
    limits = Limits(body=3000, text=50, batch=3)
    with in_thread(folder, limits=limits) as server:
        refused(
            server.post("/v1/rank", json={"text": "a" * 3000}), 413, "larger than the 3,000 bytes"
        )
        chunks = (b" " * 1000 for _ in range(5))
        answer = server.post(
            "/v1/rank", content=chunks, headers={"content-type": "application/json"}
        )
        refused(answer, 413, "larger than the 3,000 bytes")
        refused(
            server.post("/v1/rank", json={"text": "a" * 51}),
            422,
            "text 0 has 51 characters; at most 50",
        )
        refused(
            server.post("/v1/rank", json={"text": ["a"] * 4}), 422, "4 texts are more than the 3"
        )


def test_too_many_at_a_time(folder):
    body = b'{"text": "wheat"}'
    head = b"POST /v1/rank HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n"
    with in_thread(folder, limits=Limits(in_flight=1)) as server:
        address = server.base_url.host, server.base_url.port
        with socket.create_connection(address, 60) as busy:
            busy.sendall(head + b"Content-Length: %d\r\n\r\n" % len(body))
            assert busy.recv(2**16).startswith(b"HTTP/1.1 100"), (
                "it waits for the body, and is being answered"
            )
            answer = server.post("/v1/rank", json={"text": "wheat"})
            refused(answer, 429, "1 requests are being answered already")
            assert answer.headers["retry-after"] == "1"
            assert server.get("/healthz").status_code == 200
            busy.sendall(body)
            assert busy.recv(2**16).startswith(b"HTTP/1.1 200")
        until = time.monotonic() + 60
        while server.post("/v1/rank", json={"text": "wheat"}).status_code != 200:
            assert time.monotonic() < until, "the one before is answered, and still counts"


def test_too_slow(folder):
    with in_thread(folder, limits=Limits(seconds=1)) as server:

        def never():
            yield b'{"text": '
            time.sleep(2.5)
            yield b'"wheat"}'

        # The server may close the connection while the client still sends; the client may see that
        # first.
        with contextlib.suppress(httpx.WriteError, httpx.RemoteProtocolError, httpx.ReadError):
            answer = server.post(
                "/v1/rank", content=never(), headers={"content-type": "application/json"}
            )
            refused(answer, 503, "longer than the 1 s")
        until = time.monotonic() + 60
        while server.post("/v1/rank", json={"text": "wheat"}).status_code != 200:
            assert time.monotonic() < until, "nothing else is answered any more"


def test_learning_waits_for_a_look_that_took_too_long(folder, monkeypatch):
    """The request is answered in time; its thread still reads, and until it is done nothing may
    change.
    """
    reading, done = threading.Event(), threading.Event()

    def slowly(model, label, n):
        reading.set()
        assert done.wait(60)
        return []

    monkeypatch.setattr(sl.Categorizer, "strongest", slowly)
    with in_thread(folder, limits=Limits(seconds=1)) as server:
        refused(server.get("/v1/label?name=grain"), 503, "longer than the 1 s")
        assert reading.wait(60)
        refused(
            server.post("/v1/learn", json={"examples": [{"text": "zebra", "labels": ["animals"]}]}),
            503,
            "longer",
        )
        assert server.replica.version.examples == 0, "it is on disk, and the model waits"
        assert server.best("wheat"), "ranking goes on"
        done.set()
        server.learn("lion", ["animals"], key="lion")
        assert server.best("zebra") == ["animals"]


def test_undo_that_took_too_long_goes_on(folder, monkeypatch):
    """One rebuilding serves all who wait for it, and ends though they have given up."""
    begun, done = [], threading.Event()
    load = Replica._load

    def slowly(self, start):
        begun.append(self)
        assert done.wait(60)
        load(self, start)

    with in_thread(folder, limits=Limits(seconds=1)) as server:
        for text in ("zebra", "lion"):
            server.learn(text, ["animals"], key=text)
        monkeypatch.setattr(Replica, "_load", slowly)
        try:
            for number in (1, 2, 1):
                refused(
                    server.post("/v1/undo", json={"number": number}), 503, "longer than the 1 s"
                )
            assert len(begun) == 1
        finally:
            done.set()
        until = time.monotonic() + 60
        while server.best("zebra lion"):
            assert time.monotonic() < until
            time.sleep(0.01)


def test_a_long_answer_may_take_longer_than_a_request(tmp_path, capsys):
    """The time starts anew with each piece that is taken."""
    sent = []

    async def export(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for n in range(5):
            await asyncio.sleep(0.7)
            await send({"type": "http.response.body", "body": b"%d" % n, "more_body": n < 4})

    async def send(message):
        sent.append(message.get("body"))

    middleware = Middleware(
        export, ServerSettings(tmp_path, limits=Limits(seconds=3)), Metrics(), {"/v1/export"}
    )
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/v1/export",
        "headers": [(b"host", b"localhost")],
    }
    asyncio.run(middleware(scope, None, send))
    assert sent == [None, b"0", b"1", b"2", b"3", b"4"]
    (logged,) = (json.loads(line) for line in capsys.readouterr().err.splitlines())
    assert (logged["event"], logged["status"]) == ("request", 200)


@pytest.mark.long
def test_an_export_that_nobody_takes_is_cut_and_says_so(folder, capsys):
    journal = Journal(folder)
    journal.append([Judgement(f"{n} " + "w" * 30_000, ["x"]) for n in range(400)])
    journal.close()
    end = b"\r\n0\r\n\r\n"
    with in_thread(folder, limits=Limits(seconds=3, idle=1)) as server:
        with socket.create_connection((server.base_url.host, server.base_url.port), 60) as slow:
            slow.sendall(b"GET /v1/export HTTP/1.1\r\nHost: localhost\r\n\r\n")
            got = slow.recv(2**10)
            until = time.monotonic() + 60
            while server.connections:  # not even one that waits for the rest to be taken
                assert time.monotonic() < until
                time.sleep(0.05)
            with contextlib.suppress(ConnectionResetError):
                while not got.endswith(end) and (part := slow.recv(2**16)):
                    got += part
        head, _, body = got.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200")
        assert int(body.partition(b"\r\n")[0], 16) <= 2**16, (
            "who reads slowly has its time for each piece, not for all"
        )
        assert not got.endswith(end)
        assert (
            'shortlist_requests_total{path="/v1/export",status="cut"} 1.0'
            in server.get("/metrics").text
        )
    logged = capsys.readouterr().err
    assert '"event":"request cut short"' in logged
    assert '"event":"request",' not in logged


def test_read_only(folder):
    with in_thread(folder, read_only=True) as server:
        assert server.best("wheat")
        refused(
            server.post("/v1/learn", json={"examples": [{"text": "a", "labels": ["b"]}]}),
            403,
            "read-only",
        )
        refused(server.post("/v1/undo", json={"number": 1}), 403, "read-only")


def test_failures_inside_tell_nothing_outside(folder, monkeypatch, capsys):
    def broken(*_):
        raise RuntimeError("a secret", "of the inside")

    with in_thread(folder) as server:
        monkeypatch.setattr(server.replica.model, "rank", broken)
        answer = server.post("/v1/rank", json={"text": "wheat"})
        refused(answer, 500, "something went wrong inside the server")
        assert "secret" not in answer.text
        assert "Traceback" not in answer.text
    logged = [
        json.loads(line) for line in capsys.readouterr().err.splitlines() if line.startswith("{")
    ]
    assert [entry["problem"] for entry in logged if entry["event"] == "failed"] == ["RuntimeError"]
    assert "('a secret', 'of the inside')" not in str(logged), "it may quote a text or a label"


# Safety


def test_every_answer_has_the_headers(server):
    for path in ("/", "/docs", "/v1/model", "/nothing", "/page/main.js", "/metrics"):
        headers = server.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert "server" not in headers
        assert not any(name.startswith("access-control") for name in headers)


def test_the_token_is_asked_for(folder):
    with in_thread(folder, token=TOKEN) as server:
        assert server.best("wheat")
        stranger = httpx.Client(base_url=server.base_url)
        for bad in ("", "Bearer", "Bearer wrong", f"Bearer {TOKEN}x", f"bearer{TOKEN}", "Bearer ä"):
            for path in (
                "/v1/model",
                "/v1/labels",
                "/v1/export",
                "/v1/examples",
                "/metrics",
                "/v1/nothing",
            ):
                answer = stranger.get(path, headers={"authorization": bad.encode()})
                refused(answer, 401, "a token is needed")
            answer = stranger.post(
                "/v1/rank", json={"text": "a"}, headers={"authorization": bad.encode()}
            )
            refused(answer, 401, "a token is needed")
        assert stranger.get("/healthz").status_code == 200
        assert stranger.get("/").status_code == 200
        stranger.close()


def test_the_token_check_takes_constant_time(folder, monkeypatch):
    import hmac

    from shortlist.server import people

    seen = []
    monkeypatch.setattr(
        people.hmac,
        "compare_digest",
        lambda a, b: seen.append((a, b)) or hmac.compare_digest is None,
    )
    with in_thread(folder, token=TOKEN) as server:
        assert server.get("/v1/model").status_code == 401
    assert seen == [(f"Bearer {TOKEN}".encode(),) * 2], "the only comparison is hmac.compare_digest"


def test_no_other_site_gets_in(server):
    """Neither by a form, nor by a name of its own that leads to this machine (DNS rebinding),
    nor by CORS.
    """
    body = json.dumps({"examples": [{"text": "a", "labels": ["b"]}]})
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", None):
        headers = {} if kind is None else {"content-type": kind}
        refused(server.post("/v1/learn", content=body, headers=headers), 415, "send JSON")
    refused(server.get("/v1/model", headers={"host": "evil.example:8000"}), 421, "localhost only")
    for host in ("localhost", "127.0.0.1:80", "[::1]:7", "[::1]"):
        assert server.get("/v1/model", headers={"host": host}).status_code == 200
    asked = {"origin": "https://evil.example", "access-control-request-method": "POST"}
    answer = server.options("/v1/learn", headers=asked)
    assert answer.status_code == 405
    assert "access-control-allow-origin" not in answer.headers


def test_texts_and_tokens_are_not_logged(folder, capsys):
    with in_thread(folder, token=TOKEN) as server:
        server.learn("confidential words", ["private"])
        server.get("/v1/nothing", params={"q": "confidential"})
    logged = capsys.readouterr().err
    assert '"/v1/learn"' in logged
    for secret in ("confidential", "private", TOKEN):
        assert secret not in logged


def test_loopback_is_known():
    assert all(map(is_loopback, ("127.0.0.1", "127.8.9.1", "::1", "[::1]", "localhost")))
    assert not any(
        map(is_loopback, ("0.0.0.0", "::", "10.0.0.1", "example.org", "localhost.example.org", ""))
    )


def test_elsewhere_only_with_a_token(tmp_path):
    with pytest.raises(sl.InputError, match="lets others in"):
        ServerSettings(tmp_path, host="0.0.0.0").check()
    ServerSettings(tmp_path, host="0.0.0.0", token=TOKEN).check()
    with pytest.raises(sl.InputError, match="at least 16"):
        ServerSettings(tmp_path, token="short").check()


def test_where_the_token_comes_from(tmp_path):
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    assert read_token(file, "another") == TOKEN
    assert read_token(None, TOKEN) == TOKEN
    assert read_token(None, None) is None
    file.write_text("\n")
    with pytest.raises(sl.InputError, match="is empty"):
        read_token(file, None)
    with pytest.raises(sl.InputError, match="cannot read the token file"):
        read_token(tmp_path / "nothing", None)


def test_a_decision_comes_with_each_ranking(sure, sure_file):
    texts = ["apple number3", "number3 number4", "nothing of all that"]
    answer = sure.ask("rank", text=texts, precision=0.9)
    assert [own["assigned"] for own in answer["decisions"]] == [["fruit"], [], []]
    assert [own["reason"] for own in answer["decisions"]] == [
        None,
        "unlike anything learned",
        "no known word",
    ]
    chances = sl.load(sure_file).rank(texts, 10).probabilities
    assert [one["probability"] for one in answer["rankings"][0]] == chances[0].tolist()
    assert sure.ask("rank", text="apple number3", precision=1)["decisions"][0]["assigned"] == []


def test_lists_are_cut_by_coverage_or_probability(sure):
    def listed(text, **asked):
        return [one["label"] for one in sure.ask("rank", text=text, **asked)["rankings"][0]]

    assert listed("apple number3") == ["fruit", "metal"]
    assert listed("apple number3", coverage=0.9, k=1) == ["fruit"]
    assert sorted(listed("apple bolt", coverage=0.99)) == ["fruit", "metal"]
    assert listed("apple number3", min_probability=0.5) == ["fruit"]
    assert listed("apple number3", min_probability=1) == []
    for name, value in (
        ("coverage", 1.5),
        ("precision", -0.1),
        ("precision", True),
        ("min_probability", "high"),
    ):
        answer = sure.post("/v1/rank", json={"text": "apple", name: value})
        assert answer.status_code == 422
        assert name in answer.json()["error"]


def test_examples_by_the_beginning_of_their_keys(server):
    for key in ("mine-1", "mine-2", "miner", "other", None):
        server.learn(f"wheat {key}", ["grain"], key)
    server.ask("undo", number=1)

    def found(key, **more):
        answer = server.get("/v1/examples", params={"key": key, **more})
        assert answer.status_code == 200, answer.text
        return [(entry["key"], entry["undone"]) for entry in answer.json()["examples"]]

    assert found("mine-") == [("mine-2", False), ("mine-1", True)]
    assert found("mine", limit=1) == [("miner", False)]
    assert found("mine", before=3) == [("mine-2", False), ("mine-1", True)]
    assert found("nobody") == []
    assert [key for key, _ in found("")] == [None, "other", "miner", "mine-2", "mine-1"]
    assert server.get("/v1/examples", params={"key": "\n"}).status_code == 422


TOO_LARGE = {
    ("rank", '{"text": "a", "k": %s}'): "k: input should be less than or equal to 1000",
    ("rank", '{"text": "a", "k": -%s}'): "k: input should be greater than or equal to 1",
    ("rank", '{"text": "a", "k": %s.5}'): "k: input should be a valid integer",
    ("rank", '{"text": "a", "top": %s}'): "top: extra inputs are not permitted",
    (
        "rank",
        '{"text": "a", "precision": %s}',
    ): "precision: input should be less than or equal to 1",
    ("rank", '{"text": "a", "tame": -%s}'): "tame: input should be greater than or equal to -1",
    (
        "rank",
        '{"text": "a", "at_most": [{"label": "a", "n": %s}]}',
    ): "at_most.0.n: input should be less than or equal",
    ("rank", '{"text": "a", "vector": [%s]}'): "vector.0: input should be a finite number",
    ("rank", '{"text": ["a"], "vector": [[%s]]}'): "vector.0.0: input should be a finite number",
    (
        "rank",
        '{"text": {"price": %s}}',
    ): "text.price: input should be a valid string or a finite number or a valid",
    (
        "rank",
        '{"text": [{"price": true}]}',
    ): "text.0.price: input should be a valid string or a valid number or",
    ("rank", '{"text": %s}'): "text: input should be a valid string or a valid array",
    ("rank", '{"text": [%s]}'): "text.0: input should be a valid string",
    (
        "learn",
        '{"examples": [{"text": "a", "labels": [%s]}]}',
    ): "examples.0.labels.0: input should be a valid string",
    (
        "learn",
        '{"examples": []}',
    ): "examples: list should have at least 1 item after validation, not 0",
    ("undo", '{"number": %s}'): "number: input should be less than or equal to 9007199254740992",
    ("queue/sure", '{"most": %s}'): "most: input should be less than or equal to 1000",
    ("promote", '{"force": %s}'): "force: input should be a valid boolean",
}


def test_numbers_that_are_too_large_are_refused_in_a_sentence(server):
    large = "1" + 400 * "0"
    for (path, body), said in TOO_LARGE.items():
        sent = {
            "content": body.replace("%s", large),
            "headers": {"content-type": "application/json"},
        }
        refused(server.post(f"/v1/{path}", **sent), 422, said)
    refused(
        server.get("/v1/examples", params={"limit": large}),
        422,
        "limit: input should be less than or equal",
    )
    refused(
        server.get("/v1/examples", params={"limit": "x"}),
        422,
        "limit: input should be a valid integer",
    )


def test_a_column_of_a_file_for_the_queue_may_have_any_name(server):
    line = json.dumps({'my "text"': "wheat rose"}).encode()
    as_file = {"content-type": "application/octet-stream"}
    answer = server.post(
        "/v1/queue/file", params={"text": 'my "text"'}, content=line, headers=as_file
    )
    assert answer.json() == {"added": 1, "known": 0}


def test_others_have_a_turn_while_long_rules_are_looked_up(server, monkeypatch):
    labels = [f"label {n}" for n in range(3000)]
    server.learn("wheat", labels)
    parts = []
    check = LabelNames.check_in_rules
    monkeypatch.setattr(
        LabelNames,
        "check_in_rules",
        lambda self, names: (parts.append(len(names)), check(self, names)),
    )
    server.ask("rank", text="wheat", but=labels)
    assert (sum(parts), max(parts)) == (3000, 1000)
    refused = server.post("/v1/rank", json={"text": "wheat", "but": [*labels, "nothing"]})
    assert (refused.status_code, "'nothing'" in refused.json()["error"]) == (409, True)


@pytest.mark.parametrize(("number", "status"), [(errno.ENOSPC, 507), (errno.EIO, 500)])
def test_a_disk_that_is_full_is_said_wherever_it_happens(server, monkeypatch, number, status):
    def fail(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(rehearsals, "write_progress", fail)
    for n in range(40):
        server.learn(f"wheat {n}", [["grain", "money"][n % 2]])
    answer = server.post(
        "/v1/rehearse?learner=rocchio", headers={"content-type": "application/octet-stream"}
    )
    assert answer.status_code == status
    assert ("the disk is full" in answer.json()["error"]) == (status == 507)
