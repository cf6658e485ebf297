"""A candidate that is rehearsed and promoted while the server runs, over HTTP and on the page,
and taken back.
"""

import fcntl
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import shortlist as sl
from shortlist.errors import InputError
from shortlist.server import promotion, rehearsals, snapshots
from shortlist.server.background import write_snapshot
from shortlist.server.entries import Judgement
from shortlist.server.journal import Journal
from shortlist.server.journal_writer import JournalWriter
from shortlist.server.promotion_routes import as_file_name
from shortlist.server.snapshots import only_one
from tests.server.browsing import LOOKS, check_for_all, expect, marks
from tests.server.servers import in_thread, state_bytes
from tests.server.test_rehearsal import learned  # noqa: F401

AS_FILE = {"content-type": "application/octet-stream"}


def until(there):
    """Wait for something to become true; a busy machine may take its time."""
    end = time.monotonic() + 60
    while not there():
        assert time.monotonic() < end
        time.sleep(0.02)


def serves(server, learner):
    until(lambda: server.ask("rehearsal")["current"])
    return server.ask("model")["learner"] == learner


@pytest.fixture
def falling(learned, run):  # noqa: F811
    """A candidate that is worse."""
    write_snapshot(learned)
    assert run("rehearse", learned, "--learner", "frequency").code == 0
    return learned


def test_promoted_and_taken_back_while_it_serves(falling):
    with in_thread(falling) as server:
        present = server.ask("model")["learner"]
        told = server.ask("rehearsal")
        assert (told["can_go_back"], told["current"], told["candidate"]["fits"]) == (
            False,
            True,
            True,
        )
        assert told["candidate"]["learner"] == "FrequencyBaseline"
        assert "all examples" in told["candidate"]["report"]["falls"]
        refused = server.post("/v1/promote", json={})
        assert refused.status_code == 409
        assert "the candidate falls for" in refused.json()["error"]
        assert server.post("/v1/go-back", json={}).status_code == 409
        with only_one(falling):
            busy = server.post("/v1/promote", json={"force": True})
            assert (busy.status_code, "a snapshot of" in busy.json()["error"]) == (409, True)
        assert server.ask("promote", force=True)["all"]["candidate"] < 0.9
        assert server.ask("rehearsal")["current"], "it is served when that is answered"
        assert server.ask("model")["learner"] == "FrequencyBaseline"
        assert server.ask("rehearsal")["candidate"] is None
        number = server.learn("a new one", ["grain"])["number"]
        assert number == server.ask("model")["follows"]
        assert server.post("/v1/promote", json={"force": True}).status_code == 409
        server.post("/v1/go-back", json={})
        assert serves(server, present)
        anew = sl.load(falling / snapshots.BASE)
        assert server.ask("model")["follows"] == number, "what was learned meanwhile is not lost"
        assert anew.describe()["learner"] == present
        served = state_bytes(server.replica.model)
    with in_thread(falling) as again:
        assert state_bytes(again.replica.model) == served, "as a start-up would have it"


def test_a_read_only_server_changes_nothing(falling):
    with in_thread(falling, read_only=True) as server:
        assert server.ask("rehearsal")["candidate"]["fits"]
        assert server.post("/v1/promote", json={"force": True}).status_code == 403
        assert server.post("/v1/go-back", json={}).status_code == 403


def rehearse(server, content=b"", **asked):
    return server.post("/v1/rehearse", params=asked, content=content, headers=AS_FILE)


def test_what_cannot_be_rehearsed_is_refused(learned):  # noqa: F811
    with in_thread(learned) as server:
        assert "one of tuned-index" in rehearse(server, learner="none").json()["error"]
        assert "has no setting colour" in rehearse(server, set="colour=red").json()["error"]
        assert "takes NAME=VALUE" in rehearse(server, set="margin").json()["error"]
        assert rehearse(server, name="../../etc/passwd").status_code == 422
        with rehearsals.only_one(learned):
            refused = rehearse(server)
            assert (refused.status_code, "is under way" in refused.json()["error"]) == (409, True)
            rehearsals.write_progress(learned, 3, 120)
            assert server.ask("rehearsal")["running"] == {"done": 3, "of": 120}
        told = server.ask("rehearsal")
        assert (told["running"], told["problem"]) == (None, rehearsals.CUT_SHORT)
        assert told["learners"][0] == "tuned-index"
    with in_thread(learned, read_only=True) as server:
        assert rehearse(server).status_code == 403


@pytest.mark.parametrize(
    ("given", "kept"), [(".", "examples"), ("..", "examples"), ("a.csv", "a.csv")]
)
def test_a_file_is_called_what_it_is_called_elsewhere(given, kept):
    assert as_file_name(given) == kept
    assert len(as_file_name("ä" * 200 + ".csv").encode()) <= 200
    assert as_file_name("ä" * 200 + ".csv").endswith("ä.csv")


def test_too_little_was_learned(server):
    refused = rehearse(server)
    assert (refused.status_code, "at least 20" in refused.json()["error"]) == (409, True)


class TestTheProcessOfARehearsal:
    """Its body, called."""

    def test_the_candidate_is_kept(self, learned, tmp_path):  # noqa: F811
        data = tmp_path / "first.jsonl"
        data.write_text('{"text": "wheat corn", "labels": ["grain"]}\n' * 3)
        rehearsals.write_progress(learned, 0, 120)
        assert rehearsals.rehearse_in_process(
            learned, "frequency", {"text.tf": "count"}, data, os.getppid()
        )
        assert not (learned / rehearsals.PROGRESS_FILE).exists()
        kept = promotion.last_rehearsal(learned)
        assert (kept["fits"], kept["learner"]) == (True, "FrequencyBaseline")
        candidate = sl.load(learned / promotion.CANDIDATE)
        assert (candidate.text_.tf, candidate.classes_.tolist()) == ("count", ["grain"])

    def test_what_is_wrong_with_it_is_told(self, learned, tmp_path):  # noqa: F811
        data = tmp_path / "first.jsonl"
        data.write_text('{"text": "wheat"')
        assert not rehearsals.rehearse_in_process(learned, None, {}, data, os.getppid())
        problem = rehearsals.progress(learned)["problem"]
        assert "first.jsonl, line 1" in problem
        assert str(tmp_path) not in problem

    def test_bad_rows_are_left_out_where_that_is_asked_for(self, learned, tmp_path):  # noqa: F811
        data = tmp_path / "first.csv"
        data.write_text("text,labels\nwheat,grain\n#REF!,grain\nbank,\n")
        assert not rehearsals.rehearse_in_process(learned, "frequency", {}, data, os.getppid())
        assert "has no label" in rehearsals.progress(learned)["problem"]
        assert rehearsals.rehearse_in_process(
            learned, "frequency", {}, data, os.getppid(), skip_bad=True
        )
        assert promotion.last_rehearsal(learned)["report"]["left_out"] == 2
        assert sl.load(learned / promotion.CANDIDATE).describe()["examples"] == 1

    def test_it_ends_with_the_server(self, learned):  # noqa: F811
        with pytest.raises(SystemExit):
            rehearsals.rehearse_in_process(learned, None, {}, None, 0)
        assert promotion.last_rehearsal(learned) is None

    def test_another_base_that_came_meanwhile_does_not_fit(self, learned):  # noqa: F811
        def made(present):
            sl.load(learned / snapshots.BASE).learn("zebra", ["beasts"]).save(
                learned / snapshots.BASE
            )
            return present.copy(), 0

        rehearsals.rehearsed(learned, made)
        assert promotion.last_rehearsal(learned)["fits"] is False
        with pytest.raises(InputError, match="rehearsed against another model"):
            promotion.promote(learned)


def test_going_back_that_was_cut_short_is_finished_by_the_next(falling):
    present = (falling / snapshots.BASE).read_bytes()
    promotion.promote(falling, force=True)
    promoted = (falling / snapshots.BASE).read_bytes()
    # as it is between the two renames
    os.replace(falling / promotion.BEFORE, falling / snapshots.BASE)
    (falling / promotion.ASIDE).write_bytes(promoted)
    assert promotion.can_go_back(falling)
    promotion.go_back(falling)
    assert (falling / snapshots.BASE).read_bytes() == promoted
    assert (falling / promotion.BEFORE).read_bytes() == present


class TestOnThePage:
    pytestmark = marks

    def test_rehearsed_side_by_side_promoted_and_back(self, learned, visit):  # noqa: F811
        with in_thread(learned) as server:
            page = visit(f"{server.base_url}/#rehearsal", refused=422)
            page.get_by_role("textbox", name="Settings").fill("colour=red")
            page.get_by_role("button", name="Rehearse").click()
            expect(page.locator("#problem")).to_contain_text("has no setting colour")
            page.get_by_role("textbox", name="Settings").fill("text.tf=count text.idf=null")
            page.get_by_role("combobox", name="Learner").select_option("frequency")
            first = {
                "name": "first.csv",
                "mimeType": "text/csv",
                "buffer": b"text,labels\nwheat,grain\nbank,\n",
            }
            page.locator("#candidate-data").set_input_files(first)
            page.get_by_role("checkbox", name="Leave out bad rows").check()
            page.get_by_role("button", name="Rehearse").press("Enter")
            expect(page.locator("#toast")).to_contain_text("The rehearsal is done.")
            expect(page.locator("#rehearsal-chart circle")).to_have_count(2 * 5)
            expect(page.locator("#rehearsal-words")).to_contain_text("FrequencyBaseline")
            expect(page.locator("#rehearsal-words")).to_contain_text("1 bad row left out")
            expect(page.locator("#falls")).to_contain_text("all examples")
            expect(page.locator("#rehearsal-groups tbody tr").first).to_contain_text("examples")
            expect(page.locator("#rehearsal-labels tbody tr").first).to_be_visible()
            promote = page.get_by_role("button", name="Promote the candidate")
            expect(promote).to_be_disabled()
            page.get_by_role("checkbox", name="Promote it all the same").focus()
            page.keyboard.press("Space")
            expect(promote).to_be_enabled()
            promote.focus()
            page.keyboard.press("Enter")
            expect(page.locator("#toast")).to_contain_text("The candidate is promoted.")
            expect(page.locator("#rehearsal-nothing")).to_be_visible()
            expect(page.locator("#rehearsal-state")).to_have_text("")
            assert server.ask("model")["learner"] == "FrequencyBaseline"
            page.get_by_role("button", name="Go back").click()
            expect(page.locator("#toast")).to_contain_text("The earlier model is served again.")
            expect(page.locator("#rehearsal-state")).to_have_text("")
            assert server.ask("model")["learner"] == "FeatureFocus"
            page.close()

    def test_nothing_rehearsed_is_said(self, visit, server):
        page = visit(f"{server.base_url}/#rehearsal")
        expect(page.locator("#rehearsal-nothing")).to_contain_text("No candidate waits")
        expect(page.get_by_role("button", name="Go back")).to_be_hidden()

    @pytest.mark.parametrize("look", LOOKS)
    def test_nothing_stands_in_the_way_of_anybody(self, falling, visit, look):
        with in_thread(falling) as server:
            page = visit(f"{server.base_url}/#rehearsal", reduced_motion="reduce", **look)
            expect(page.locator("#falls")).to_be_visible()
            check_for_all(page)
            page.close()


def test_a_snapshot_waits_for_a_promotion(falling, monkeypatch):
    """Whoever says that a snapshot was written has seen it written."""
    meets, lock = threading.Event(), fcntl.flock

    def held_by_another(file, how):
        try:
            lock(file, how | fcntl.LOCK_NB)
        except BlockingIOError:
            meets.set()
            if how & fcntl.LOCK_NB:
                raise
            lock(file, how)

    for _, path in snapshots.snapshots_and_base(falling)[:-1]:
        path.unlink()
    monkeypatch.setattr(os, "nice", lambda more: 0)
    # which only the main thread of a process may
    monkeypatch.setattr(signal, "signal", lambda which, what: None)
    with ThreadPoolExecutor(1) as other:
        with only_one(falling):
            monkeypatch.setattr(fcntl, "flock", held_by_another)
            writes = other.submit(write_snapshot, falling)
            assert meets.wait(60)
        writes.result()
    assert len(snapshots.snapshots_and_base(falling)) == 2


def test_models_are_read_once_however_often_somebody_asks(falling, monkeypatch):
    read, digest = [], promotion.file_digest

    def noted(file, kind):
        read.append(file.name.rpartition("/")[2])
        return digest(file, kind)

    monkeypatch.setattr(promotion, "file_digest", noted)
    promotion._seal_of.cache_clear()
    assert [promotion.last_rehearsal(falling)["fits"] for _ in range(3)] == [True] * 3
    assert sorted(read) == sorted([snapshots.BASE, promotion.CANDIDATE])
    sl.Categorizer().learn("one", ["two"]).save(falling / promotion.CANDIDATE)
    assert not promotion.last_rehearsal(falling)["fits"], "another file is read again"


@pytest.fixture
def partial(tmp_path):
    """A state directory with a journal that a learner without partial judgements cannot learn
    all of.
    """
    folder = tmp_path / "partial"
    folder.mkdir()
    sl.Categorizer().learn("wheat", ["grain"]).learn("bank", ["money"]).save(
        tmp_path / "base.shortlist"
    )
    snapshots.take_base(folder, tmp_path / "base.shortlist")
    journal = Journal(folder)
    journal.append(
        [
            Judgement(f"{('wheat', 'bank')[n % 2]} {n}", [("grain", "money")[n % 2]])
            for n in range(30)
        ]
    )
    journal.append([Judgement("wheat bank", ["grain"], wrong=["money"], complete=False)])
    journal.close()
    return folder


PART = {"text": "bank wheat", "labels": ["money"], "wrong": ["grain"], "complete": False}


def numbers(answer):
    return answer["passed_over"], [one["number"] for one in answer["passed"]]


def test_what_a_candidate_cannot_learn_is_said_before_and_after(partial, run):
    said = run("rehearse", partial, "--learner", "rocchio")
    assert "the candidate cannot learn 1 example of the journal, the first is 31" in said.err
    with in_thread(partial) as server:
        present = server.ask("model")["learner"]
        assert numbers(server.ask("rehearsal")["candidate"]["report"]) == (1, [31])
        server.ask("learn", examples=[PART])  # since it was rehearsed
        refused = server.post("/v1/promote", json={})
        assert refused.status_code == 409
        assert (
            "cannot learn 2 examples of the journal: examples 31, 32 (31: "
            in refused.json()["error"]
        )
        assert numbers(server.ask("promote", force=True)) == (2, [31, 32])
        assert not serves(server, present)
        assert numbers(server.ask("model")) == (2, [31, 32])
        answer = server.post("/v1/learn", json={"examples": [PART]})
        assert (answer.status_code, "complete judgements" in answer.json()["error"]) == (409, True)
        assert numbers(server.post("/v1/go-back", json={}).json()) == (0, [])
        assert serves(server, present)
        server.ask("learn", examples=[PART])
        refused = server.post("/v1/go-back", json={})
        assert (refused.status_code, "31, 32, 33" in refused.json()["error"]) == (409, True)
    refused = run("go-back", partial)
    assert (refused.code, "31, 32, 33" in refused.err) == (2, True)
    assert "it cannot learn 3 examples of the journal" in run("go-back", partial, "--force").err


@pytest.mark.long
def test_what_is_checked_against_the_old_model_waits_for_the_new_one(partial, run, monkeypatch):
    """A partial judgement that the model of before takes, while another is put in its place."""
    assert run("rehearse", partial, "--learner", "rocchio").code == 0
    ask = JournalWriter.run

    async def late(self, *given):
        monkeypatch.setattr(JournalWriter, "run", ask)
        promotion.promote(partial, force=True, running=True)
        return await ask(self, *given)

    with in_thread(partial) as server:
        monkeypatch.setattr(JournalWriter, "run", late)
        answer = server.post("/v1/learn", json={"examples": [PART]})
        assert (answer.status_code, "complete judgements" in answer.json()["error"]) == (409, True)
        assert numbers(server.ask("model")) == (1, [31])
