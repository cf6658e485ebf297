"""The whole of it in a real browser: import, judge by keyboard, two people, audit and repair,
export, train again.
"""

import json

import pytest

import shortlist as sl
from shortlist.server.people import Role, changing
from tests.server.browsing import expect, judge, marks, wait_for
from tests.server.servers import in_thread
from tests.server.test_work import DROP, TOLD, lines, tickets

pytestmark = [marks, pytest.mark.long]
SLIPS = {word: {"grain": "money", "money": "grain"}[label] for word, label in TOLD.items()}
WRONG = {8, 21}  # judgements that are slips of the hand


def enter(page, token):
    page.locator("#token").fill(token)
    page.get_by_role("button", name="Go on").click()


def test_a_day_of_work(folder, browser, run, tmp_path):
    with changing(folder) as people:
        tokens = {"anna": people.add("anna", Role.MANAGE), "bob": people.add("bob", Role.JUDGE)}
    with in_thread(folder) as server:
        server.headers["authorization"] = f"Bearer {tokens['anna']}"
        contexts = [browser.new_context() for _ in tokens]
        anna, bob = pages = [context.new_page() for context in contexts]
        for page, token in zip(pages, tokens.values(), strict=True):
            page.set_default_timeout(60_000)
            page.goto(str(server.base_url))
            enter(page, token)
            wait_for(page, "No texts wait")
        anna.evaluate(DROP, ["tickets.jsonl", lines(tickets(1000)), "text"])
        wait_for(anna, "1,000 of 1,000 texts left")
        expect(anna.locator("#toast")).to_contain_text("Added 1,000 texts.")
        wait_for(bob, "1,000 of 1,000 texts left")
        for page in pages:
            page.locator("#order").select_option("date")
            page.get_by_role("button", name="Start").focus()
            page.keyboard.press("Enter")
        for n in range(50):
            judge(
                pages[n % 2], SLIPS if n in WRONG else TOLD, left=f"{999 - n} of 1,000 texts left"
            )
        for page in pages:
            page.get_by_role("button", name="Stop").click()
        examples = server.ask("examples?limit=100")["examples"]
        assert len({one["text"] for one in examples}) == 50
        assert [one["person"] for one in examples].count("anna") == 25
        slips = {
            one["number"]: one
            for one in examples
            if one["labels"] != [TOLD[one["text"].split()[0]]]
        }
        assert len(slips) == len(WRONG)

        bob.get_by_role("tab", name="Audit").click()
        bob.get_by_role("button", name="Look through").click()
        for number, one in slips.items():
            right = TOLD[one["text"].split()[0]]
            bob.get_by_role(
                "button", name=f"Example {number} is {right}, not {one['labels'][0]}"
            ).press("Enter")
            row = bob.locator("#doubts > li", has_text=one["text"])
            expect(row.locator(".tools")).to_contain_text(f"Learned anew with {right}.")
        entries = server.ask("examples?limit=100")["examples"]
        assert {one["number"] for one in entries if one["undone"]} == set(slips)
        assert [one["person"] for one in entries[:2]] == ["bob", "bob"], (
            "who repaired is in the journal"
        )
        assert server.ask("queue")["judged"] == 50

        with anna.expect_download() as loaded:
            anna.get_by_role("button", name="Export judged").click()
        loaded.value.save_as(tmp_path / "judged.jsonl")
        for context in contexts:
            context.close()
    with open(tmp_path / "judged.jsonl", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    assert len(records) == 50
    assert all(one["labels"] == [TOLD[one["text"].split()[0]]] for one in records), (
        "the slips are gone"
    )
    assert {one["person"] for one in records} == {"anna", "bob"}
    trained = run("train", tmp_path / "judged.jsonl", "--output", tmp_path / "again.shortlist")
    assert trained.code == 0, trained.err
    model = sl.load(tmp_path / "again.shortlist")
    assert [next(iter(model.rank(text, 1)))[0] for text in ("wheat corn", "bank rates")] == [
        "grain",
        "money",
    ]
