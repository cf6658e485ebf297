"""A new user's walk, in a real browser: each command of the tutorial as it is written there, and
the page in between.

``make screenshots`` takes the pictures of the documentation on the way.
"""

import importlib.util
import io
import json
import os
import re
import shlex
from pathlib import Path

import pytest

import shortlist as sl
from shortlist.server import snapshots
from tests.server.browsing import expect, marks, press, ready, wait_for
from tests.server.servers import Client, in_thread

pytestmark = marks
ROOT = Path(__file__).parents[2]
TUTORIAL = (ROOT / "docs" / "tutorials" / "tickets.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", TUTORIAL, re.MULTILINE | re.DOTALL)
PICTURES = os.environ.get("SHORTLIST_PICTURES")  # a folder
WINDOW = {"width": 1100, "height": 800}
HIDE = (
    "how => ['ranking-note', 'toast'].forEach((id) => { "
    "document.getElementById(id).style.visibility = how; })"
)

spec = importlib.util.spec_from_file_location("tickets", ROOT / "scripts" / "tickets.py")
tickets = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tickets)


@pytest.fixture
def follow(run):
    """follow("rank", "--json") -> Result of the next command of the tutorial, which must be
    that one.
    """
    left = [shlex.split(line) for block in BLOCKS for line in block.splitlines()]
    assert left.pop(0) == ["python", "scripts/tickets.py"]
    tickets.write(Path())

    def call(verb, *more):
        words = left.pop(0)
        assert words[:2] == ["shortlist", verb]
        if verb == "serve":
            return words[2:]
        done = run(*words[1:], *more)
        assert done.code == 0, done.err
        return done

    call.left = left
    return call


def picture(page, name):
    """A picture for the documentation, without what is another one each time; of few colours,
    for a small file.
    """
    if PICTURES:
        from PIL import Image

        page.mouse.move(0, 0)
        page.evaluate(HIDE, "hidden")
        page.wait_for_timeout(500)  # until nothing moves
        taken = Image.open(io.BytesIO(page.screenshot()))
        taken.quantize(128).save(Path(PICTURES, f"{name}.png"), optimize=True)
        page.evaluate(HIDE, "")


def enter(page, token, who):
    """Sign in."""
    page.get_by_role("textbox", name="Token").fill(token)
    page.keyboard.press("Enter")
    expect(page.locator("#me")).to_have_text(who)


def judge_some(page):
    """Accept a suggestion, choose another label, say that none fits; the other suggestions are
    accepted as well.
    """
    page.locator("#order").select_option("date")
    page.get_by_role("button", name="Start").click()
    first = ready(page)
    expect(page.get_by_role("textbox", name="Subject")).to_have_value("Present")
    expect(page.locator("#learn-words")).to_have_text("Accept Returns")
    picture(page, "queue")
    press(page, "Enter")
    second = ready(page)
    page.keyboard.press("a")
    page.keyboard.type("Delivery")
    page.keyboard.press("Enter")
    expect(page.locator("#chosen li")).to_have_text(["Delivery"])
    press(page, "Control+Enter")
    for _ in range(2):
        ready(page)
        press(page, "Enter")
    third = ready(page)
    assert third == "that nobody has sorted yet"
    press(page, "n")
    wait_for(page, "5 judged")
    expect(page.locator("#recent .names").first).to_contain_text("by bob")
    page.get_by_role("button", name="Stop").click()
    return {first: ["Returns"], second: ["Delivery"], third: []}


def decide(page):
    """Let the model decide what it is sure of; gives how many texts that was."""
    page.get_by_role("button", name="Decide the sure ones").click()
    expect(page.locator("#sure-words")).to_contain_text("It would decide")
    expect(page.locator("#precision")).to_have_value("0.95")
    picture(page, "decide")
    page.get_by_role("button", name="Decide them").click()
    expect(page.locator("#toast")).to_contain_text("Decided ")
    expect(page.locator("#recent .names").first).to_contain_text("decided by the model")
    return int(re.search(r"Decided (\d+) texts", page.locator("#toast").inner_text())[1])


def promote(page):
    page.get_by_role("tab", name="Rehearsal").click()
    expect(page.locator("#rehearsal-chart circle").first).to_be_visible()
    picture(page, "rehearsal")
    page.get_by_role("button", name="Promote the candidate").click()
    expect(page.locator("#toast")).to_contain_text("The candidate is promoted.")


def look_at(page, subject, body):
    """Rank a ticket that is typed, and see which words speak for its label."""
    page.get_by_role("tab", name="Label").click()
    page.get_by_role("textbox", name="Subject").fill(subject)
    page.get_by_role("textbox", name="Body").fill(body)
    page.locator("#ranking .pick").first.click()
    expect(page.locator("#why-text mark").first).to_be_visible()
    page.set_viewport_size(WINDOW | {"height": 920})
    picture(page, "page")


def test_from_a_spreadsheet_to_a_promoted_model(run, follow, visit):
    assert follow("train").err.count("has an empty text, or a spreadsheet's error") == 2
    assert sl.load("tickets.shortlist").classes_.tolist() == list(tickets.TEAMS)
    assert follow("evaluate", "--json").json["measures"]["R1"]["value"] > 0.75
    decided = follow("rank").out.splitlines()
    assert decided[0].startswith("Returns\t")
    assert decided[4:6] == ["", ""], "neither an empty row nor a broken one has a team"

    tokens = {name: follow("people", "--json").json["token"] for name in ("anna", "bob")}
    model, _, state = follow("serve")
    snapshots.take_base(Path(state), Path(model))  # as it does
    with in_thread(Path(state)) as server:
        assert server.get("/v1/model").status_code == 401
        assert follow("queue", "--json").json["added"] > 140
        page = visit(f"{server.base_url}/", refused=401, viewport=WINDOW)
        enter(page, tokens["bob"], "bob (judge)")
        expect(page.get_by_role("button", name="Decide the sure ones")).to_be_hidden()
        judged = judge_some(page)
        page.close()

        with Client(
            base_url=server.base_url,
            headers={"authorization": f"Bearer {tokens['bob']}"},
            timeout=60,
        ) as bob:
            teams = {(subject, body): team for subject, body, team in tickets.tickets("new")}
            more = [(one["id"], one["text"]) for one in bob.ask("queue/items?limit=80")["items"]]
            bob.ask(
                "learn",
                examples=[
                    {"text": text, "labels": [teams[text["Subject"], text["Body"]]], "key": key}
                    for key, text in more
                ],
            )
            assert (
                bob.post("/v1/labels", json={"change": "retire", "labels": ["Billing"]}).status_code
                == 403
            )

        page = visit(f"{server.base_url}/", refused=401, viewport=WINDOW)
        enter(page, tokens["anna"], "anna (manage)")
        alone = decide(page)
        assert alone > 20
        follow("rehearse")
        promote(page)
        look_at(
            page, "Password", "Good morning, my password is not accepted any more. What can I do?"
        )
        page.close()

        follow("export")
        follow("backup")
        assert follow.left == []
        taught = run("learn", model, "judged.jsonl", "--output", "taught.shortlist")
        assert taught.code == 0, taught.err
        server.headers["authorization"] = f"Bearer {tokens['anna']}"
        assert server.ask("model")["text"]["ngrams"] == 3
        queue = server.ask("queue")
        assert queue["judged"] == 5 + len(more) + alone

    with open("judged.jsonl", encoding="utf-8") as file:
        exported = [json.loads(line) for line in file]
    assert len(exported) == queue["judged"]
    assert [one["person"] for one in exported].count("anna (decided by the model)") == alone
    by_bob = {one["Body"]: one["labels"] for one in exported if one["person"] == "bob"}
    assert judged.items() <= by_bob.items()
    with in_thread(Path("copy")) as copy:
        copy.headers["authorization"] = f"Bearer {tokens['bob']}"
        assert copy.ask("queue") == queue
        assert copy.ask("model")["passed_over"] == 0
        assert copy.best({"Subject": "App crashes", "Body": "it crashes again"}, 1) == ["Technical"]
