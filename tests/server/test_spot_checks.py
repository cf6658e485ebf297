"""Spot checks on a server: who gets them, what they say, when deciding pauses, and what is not
learned.
"""

import contextlib
import sqlite3
import time

import pytest

from shortlist.confidence.spot_checks import draw_of
from shortlist.server.journal import Journal
from shortlist.server.journal_history import History
from shortlist.server.replica import Replica
from shortlist.server.review_queue import QUEUE_FILE, Queue
from shortlist.server.snapshots import take_base
from tests.server.browsing import check_for_all, expect, marks, press, wait_for
from tests.server.servers import in_thread, state_bytes

WORDS = ("apple", "bolt")


def text_of(n):
    return f"{WORDS[n % 2]} number{n % 7} number{n // 7 % 7} number{n // 49 % 7} number{n // 343}"


TEXTS = [text_of(n) for n in range(400)]


@pytest.fixture
def desk(tmp_path, sure_file):
    """A server that is sure of texts by their first words, with half of its texts checked."""
    folder = tmp_path / "desk"
    folder.mkdir()
    take_base(folder, sure_file)
    with in_thread(folder, spot_checks=0.125) as server:
        server.folder = folder
        yield server


def right_label(server, text):
    return server.ask("rank", text=text, k=1)["rankings"][0][0]["label"]


def take(server, person="anna", order="date"):
    return server.ask("queue/next", person=person, order=order)["item"]


def judge(server, item, label):
    answer = server.ask(
        "learn", examples=[{"text": item["text"], "labels": [label], "key": item["id"]}]
    )
    return answer["learned"][0]


def test_a_share_of_the_texts_is_checked_whatever_the_model_thinks(desk):
    desk.ask("queue", texts=TEXTS)
    ids = set(desk.ask("queue/sure", precision=0.9)["ids"])
    # four times an eighth, while there are few checks
    all_ids = {item["id"] for item in desk.ask("queue/items?limit=1000")["items"]}
    drawn = {id for id in all_ids if draw_of(id) < 0.5}
    assert 150 < len(drawn) < 250
    assert ids
    assert not ids & drawn
    checks = []
    for _ in range(8):
        item = take(desk, order="random")
        checks.append(item["check"])
        assert item["check"] == (item["id"] in drawn)
        judge(desk, item, right_label(desk, item["text"]))
    assert checks == [False, True] * 4, "every other text, while there are few checks"


def test_only_what_the_queue_handed_out_is_a_check(desk):
    desk.ask("queue", texts=TEXTS[:40])
    for _ in range(6):
        judge(desk, take(desk), "fruit")
    kinds = {example["key"]: example["judge"] for example in desk.ask("examples")["examples"]}
    for item in desk.ask("queue/items?state=judged")["items"]:
        assert kinds[item["id"]] == ("check" if item["check"] else "person")
    assert desk.ask("promise")["checked"] == sum(kind == "check" for kind in kinds.values())
    desk.ask("learn", examples=[{"text": "apple here", "labels": ["fruit"], "checked": True}])
    assert desk.ask("examples?limit=1")["examples"][0]["person"].endswith("(spot check)")


def test_what_is_decided_is_not_learned_unless_somebody_asks(desk):
    desk.ask("queue", texts=TEXTS[:60])
    n_learned = desk.ask("model")["examples"]
    ids = desk.ask("queue/sure", precision=0.9)["ids"]
    decision = desk.ask("queue/decide", ids=ids[:5], precision=0.9)
    assert decision["decided"] == 5
    assert desk.ask("model")["examples"] == n_learned
    assert desk.ask("queue")["judged"] == 5
    desk.ask("queue/decide", ids=ids[5:10], precision=0.9, learn=True)
    assert desk.ask("model")["examples"] == n_learned + 5
    examples = desk.ask("examples?limit=10")["examples"]
    assert [example["judge"] for example in examples] == ["model"] * 5 + ["decided"] * 5


def test_an_export_may_leave_out_what_the_model_decided(desk, run):
    desk.ask("queue", texts=TEXTS[:60])
    ids = desk.ask("queue/sure", precision=0.9)["ids"]
    desk.ask("queue/decide", ids=ids[:5], precision=0.9)
    desk.learn("apple number1", ["fruit"])
    assert len(desk.get("/v1/export").text.splitlines()) == 6
    (line,) = desk.get("/v1/export?by_people=true").text.splitlines()
    assert '"text": "apple number1"' in line
    assert run("export", desk.folder, "--by-people").out.splitlines() == [line]


def test_undoing_decisions_needs_no_new_model(desk, monkeypatch):
    desk.ask("queue", texts=TEXTS[:60])
    ids = desk.ask("queue/sure", precision=0.9)["ids"]
    first = desk.ask("queue/decide", ids=ids[:5], precision=0.9)
    second = desk.ask("queue/decide", ids=ids[5:12], precision=0.9)
    desk.ask("labels", change="rename", labels=[desk.ask("labels")["labels"][0]["label"]], into="x")
    monkeypatch.setattr(Replica, "_rebuild", None)
    decisions = desk.ask("queue/decisions")["decisions"]
    assert [(one["decision"], one["decided"], one["undone"]) for one in decisions] == [
        (second["decision"], 7, 0),
        (first["decision"], 5, 0),
    ]
    assert desk.ask("queue/undo", decision=first["decision"]) == {"undone": 5}
    label = desk.ask("examples?limit=3")["examples"][-1]["labels"][0]
    n_of_label = desk.ask("queue/undo", since=decisions[0]["time"], label=label)["undone"]
    assert 0 < n_of_label < 7
    assert desk.ask("queue/undo", since=decisions[0]["time"]) == {"undone": 7 - n_of_label}
    assert [one["undone"] for one in desk.ask("queue/decisions")["decisions"]] == [7, 5]
    assert desk.ask("queue")["judged"] == 0
    refused = desk.post("/v1/queue/undo", json={"decision": 1, "since": 0})
    assert refused.status_code == 409
    assert "either the number of a decision" in refused.json()["error"]


def test_deciding_pauses_says_why_and_goes_on(desk):
    fruit, metal = (right_label(desk, f"{word} number1") for word in WORDS)
    other = {"apple": metal, "bolt": fruit}
    texts = iter(TEXTS)
    desk.ask("queue", texts=[text_of(1000 + n) for n in range(50)])
    promise = desk.ask("promise")
    assert promise["paused"] is None
    assert promise["in_words"] == "no spot checks yet"
    n_checks = 0
    while desk.ask("promise")["paused"] is None:
        text = next(texts)
        label = other[text.split()[0]]
        desk.ask("learn", examples=[{"text": text, "labels": [label], "checked": True}])
        n_checks += 1
    assert n_checks < 100
    promise = desk.ask("promise")
    assert "deciding at 0.95 is paused" in promise["paused"]
    assert promise["changes"]["inputs"]["known_words"]["now"] > 0
    looked = desk.ask("queue/sure", precision=0.95)
    assert looked["sure"] == 0
    assert looked["promise"]["paused"] == promise["paused"]
    refused = desk.post("/v1/queue/decide", json={"ids": ["queue-1"], "precision": 0.95})
    assert refused.status_code == 409
    assert refused.json()["error"] == promise["paused"]
    metrics = desk.get("/metrics").text
    assert 'shortlist_promise{target="0.95",what="paused"} 1.0' in metrics
    decision = desk.ask("rank", text="apple number3", precision=0.95)["decisions"][0]
    assert decision == {"assigned": [], "reason": "paused by spot checks"}
    for text in map(text_of, range(400, 1000)):
        label = other[text.split()[0]]
        desk.ask("learn", examples=[{"text": text, "labels": [label], "checked": True}])
        if desk.ask("promise")["paused"] is None:
            break
    assert desk.ask("promise")["paused"] is None
    assert desk.ask("queue/sure", precision=0.95)["sure"] > 0


def test_deciding_waits_for_checks_that_nobody_judges(desk, monkeypatch):
    monkeypatch.setattr("shortlist.server.promises.MOST_UNCHECKED", 20)
    desk.ask("queue", texts=TEXTS)
    ids = desk.ask("queue/sure", precision=0.9)["ids"]
    desk.ask("queue/decide", ids=ids[:25], precision=0.9)
    refused = desk.post("/v1/queue/decide", json={"ids": ids[25:30], "precision": 0.9})
    assert refused.status_code == 409
    assert "25 texts were decided since somebody last judged a spot check" in refused.text
    item = take(desk)
    while not item["check"]:
        judge(desk, item, right_label(desk, item["text"]))
        item = take(desk)
    judge(desk, item, right_label(desk, item["text"]))
    assert desk.ask("queue/decide", ids=ids[25:30], precision=0.9)["decided"] > 0


def test_the_model_is_a_function_of_the_journal_with_checks(desk):
    for n, text in enumerate(TEXTS[:80]):
        label = right_label(desk, text)
        desk.ask("learn", examples=[{"text": text, "labels": [label], "checked": n % 2 == 0}])
        if n % 5 == 0:
            desk.ask("rank", text=text, precision=0.9)
    with contextlib.closing(Replica(desk.folder, read_only=True)) as replayed:
        assert replayed.model.examined().n_checked == 40
        assert state_bytes(replayed.model) == state_bytes(desk.replica.model)


def test_checks_count_for_the_rolling_measures(desk):
    for n, text in enumerate(TEXTS[:20]):
        label = right_label(desk, text) if n % 4 == 0 else "unheard of"
        desk.ask("learn", examples=[{"text": text, "labels": [label], "checked": n % 4 == 0}])
    rolling = desk.ask("model")["rolling"]
    assert (rolling["window"], rolling["R1"]) == (5, 1.0)


def test_a_queue_of_version_1_is_read(tmp_path, folder):
    with contextlib.closing(Queue(folder)) as queue:
        queue.add(TEXTS[:50])
    with contextlib.closing(sqlite3.connect(folder / QUEUE_FILE)) as db:
        db.execute("DROP INDEX by_draw")
        db.execute("DROP INDEX by_look")
        for column in ("draw", "checked", "looked_at", "rows"):
            db.execute(f"ALTER TABLE items DROP COLUMN {column}")
        db.execute("PRAGMA user_version=1")
    with contextlib.closing(Queue(folder)) as queue:
        items = queue.free("date", "anna", 100, share=0.5)
        assert [item.id for item in items] == [
            item.id for item in queue.free("date", "anna", 100) if draw_of(item.id) >= 0.5
        ]
        assert queue.reserve_check(0.5, "anna", 60).checked


@marks
def test_on_the_page_a_check_is_blind_and_a_pause_is_explained(desk, visit):
    desk.ask("queue", texts=TEXTS[:40])
    page = visit(desk.base_url)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.locator("#order").select_option("random")
    page.get_by_role("button", name="Start").click()
    fruit, metal = (right_label(desk, f"{word} number1") for word in WORDS)
    other = {"apple": metal, "bolt": fruit}
    n_checks = 0
    text = ""
    for number in range(1, 9):
        expect(page.locator("#text")).not_to_have_value(text)
        expect(page.locator("#ranking .name")).to_have_count(2)
        text = page.locator("#text").input_value()
        if page.locator("#check-words").is_visible():
            n_checks += 1
            expect(page.locator("#ranking .name")).to_have_text(sorted([fruit, metal]))
            assert page.locator("#ranking .score").count() == 0
            assert page.locator("#decision").is_hidden()
            assert not any("/v1/rank" in url for url in asked)
            page.locator("#ranking .pick", has_text=right_label(desk, text)).click()
            press(page, "Control+Enter")
        else:
            press(page, "Enter")
        wait_for(page, f"{number} judged")
        asked.clear()
    assert n_checks == 4
    page.get_by_role("button", name="Stop").click()
    for text in TEXTS[100:200]:
        label = other[text.split()[0]]
        desk.ask("learn", examples=[{"text": text, "labels": [label], "checked": True}])
    assert desk.ask("promise")["paused"]
    expect(page.locator("#paused-words")).to_contain_text("deciding at 0.95 is paused")
    expect(page.locator("#changes")).to_contain_text("Known words")
    page.locator("#sure").click()
    expect(page.locator("#sure-words")).to_contain_text("is paused")
    expect(page.locator("#sure-apply")).to_be_disabled()
    check_for_all(page)
    page.locator("#sure-dialog .close").click()
    for text in map(text_of, range(400, 1200)):
        label = other[text.split()[0]]
        desk.ask("learn", examples=[{"text": text, "labels": [label], "checked": True}])
        if desk.ask("promise")["paused"] is None:
            break
    expect(page.locator("#paused")).to_be_hidden()


def test_a_standing_decision_looks_at_each_text_once(desk):
    assert desk.ask("queue/standing") == {"on": False}
    on = desk.ask("queue/standing", on=True, precision=0.9)
    assert on == {"on": True, "precision": 0.9, "labels": None, "person": ""}
    desk.ask("queue", texts=TEXTS[:100])
    until_quiet(desk)
    judged = desk.ask("queue")["judged"]
    assert judged > 20
    assert all(item["check"] is False for item in desk.ask("queue/items?state=judged")["items"])
    n_decisions = len(desk.ask("queue/decisions")["decisions"])
    assert desk.ask("queue/undo", since=0)["undone"] == judged
    until_quiet(desk)
    assert desk.ask("queue")["judged"] == 0, "each text once"
    label = right_label(desk, TEXTS[0])
    desk.ask("queue/standing", on=True, precision=0.9, labels=[label])
    desk.ask("queue", texts=TEXTS[100:200])
    until_quiet(desk)
    labels = [one["labels"] for one in desk.ask("examples?limit=100")["examples"]]
    assert len(desk.ask("queue/decisions")["decisions"]) > n_decisions
    assert labels[: desk.ask("queue")["judged"]] == [[label]] * desk.ask("queue")["judged"]
    assert desk.ask("queue/standing", on=False) == {"on": False}
    refused = desk.post("/v1/queue/standing", json={"on": True, "labels": ["unheard of"]})
    assert refused.status_code == 404


def until_quiet(server):
    """Wait until a standing decision has looked at all texts."""
    folder = server.folder / QUEUE_FILE
    for _ in range(600):
        time.sleep(0.1)
        with contextlib.closing(sqlite3.connect(folder)) as db:
            query = "SELECT count(*) FROM items WHERE looked_at = 0 AND draw >= 0.5"
            if db.execute(query).fetchone() == (0,) and not server.ask("queue")["held"]:
                return
    raise AssertionError("it does not decide")


def test_a_damaged_standing_decision_is_one_sentence(desk):
    (desk.folder / "standing.json").write_text("{")
    refused = desk.get("/v1/queue/standing")
    assert refused.status_code == 422
    assert "standing.json cannot be read" in refused.json()["error"]


def test_audits_and_rehearsals_leave_out_what_the_model_decided(desk):
    desk.ask("queue", texts=TEXTS[:60])
    ids = desk.ask("queue/sure", precision=0.9)["ids"]
    desk.ask("queue/decide", ids=ids, precision=0.9)
    from shortlist.server.journal_audit import present_judgements

    assert present_judgements(desk.folder)[0] == []
    with contextlib.closing(Journal(desk.folder, read_only=True)) as journal:
        assert History(journal).count_judged("decided") == len(ids)
        assert journal.learned_of(list(range(1, len(ids) + 1))) == []
