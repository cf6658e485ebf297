"""A candidate that is promoted while the server runs, over HTTP and on the page, and taken back."""

import time

import pytest

import shortlist as sl
from shortlist.server import snapshots
from shortlist.server.snapshot_writer import only_one, write
from tests.server.browsing import LOOKS, check_for_all, expect, marks
from tests.server.servers import in_thread, state_bytes
from tests.server.test_rehearsal import learned  # noqa: F401


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
    write(learned)
    assert run("rehearse", learned, "--learner", "frequency").code == 0
    return learned


def test_promoted_and_taken_back_while_it_serves(falling):
    with in_thread(falling) as server:
        present = server.ask("model")["learner"]
        told = server.ask("rehearsal")
        assert (told["can_go_back"], told["current"], told["candidate"]["fits"]) == (False, True, True)
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
        assert serves(server, "FrequencyBaseline")
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


def test_all_processes_follow(falling, start):
    server = start("--state", falling, "--workers", 2)
    server.client.ask("promote", force=True)
    seen = set()

    def both():
        with type(server.client)(base_url=server.url, timeout=60) as client:  # a new connection: either of them
            seen.add(client.ask("model")["learner"])
            return client.ask("rehearsal")["current"] and client.ask("model")["learner"] == "FrequencyBaseline"

    until(lambda: all(both() for _ in range(8)))
    assert "FrequencyBaseline" in seen


def test_a_read_only_server_changes_nothing(falling):
    with in_thread(falling, read_only=True) as server:
        assert server.ask("rehearsal")["candidate"]["fits"]
        assert server.post("/v1/promote", json={"force": True}).status_code == 403
        assert server.post("/v1/go-back", json={}).status_code == 403


class TestOnThePage:
    pytestmark = marks

    def test_side_by_side_promoted_and_back(self, falling, visit):
        with in_thread(falling) as server:
            page = visit(f"{server.base_url}/#rehearsal")
            expect(page.locator("#rehearsal-chart circle")).to_have_count(2 * 5)
            expect(page.locator("#rehearsal-words")).to_contain_text("FrequencyBaseline")
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
            expect(page.locator("#toast")).to_contain_text("The model of before is served again.")
            expect(page.locator("#rehearsal-state")).to_have_text("")
            assert server.ask("model")["learner"] == "FeatureFocus"
            page.close()

    def test_nothing_rehearsed_is_said(self, visit, server):
        page = visit(f"{server.base_url}/#rehearsal")
        expect(page.locator("#rehearsal-nothing")).to_contain_text("shortlist rehearse")
        expect(page.get_by_role("button", name="Go back")).to_be_hidden()

    @pytest.mark.parametrize("look", LOOKS)
    def test_nothing_stands_in_the_way_of_anybody(self, falling, visit, look):
        with in_thread(falling) as server:
            page = visit(f"{server.base_url}/#rehearsal", reduced_motion="reduce", **look)
            expect(page.locator("#falls")).to_be_visible()
            check_for_all(page)
            page.close()
