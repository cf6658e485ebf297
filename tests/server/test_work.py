"""A day's work in a real browser: many texts in, judged one after the other by keyboard, by
several people; export.
"""

import json
import re

import pytest

from shortlist.server.people import Role, changing
from tests.server.browsing import LOOKS, PHONE, check_for_all, expect, marks, press, ready, wait_for
from tests.server.servers import in_thread

pytestmark = marks
WORDS = {"grain": ["wheat", "corn"], "money": ["bank", "rates"]}
TOLD = {word: label for label, words in WORDS.items() for word in words}
DROP = """([name, content, where]) => {
    const data = new DataTransfer();
    data.items.add(new File([content], name));
    document.getElementById(where).dispatchEvent(new DragEvent("drop", {bubbles: true, dataTransfer: data}));
}"""


def tickets(n):
    """Texts, each of whose first words tells its label; some have a word of the other one too."""
    texts = []
    for i in range(n):
        label, other = ("grain", "money") if i % 2 == 0 else ("money", "grain")
        more = WORDS[other if i % 8 in (3, 6) else label][i // 8 % 2]
        texts.append(f"{WORDS[label][i // 4 % 2]} {more} number {i}")
    return texts


def lines(texts):
    return "".join(json.dumps({"text": text}) + "\n" for text in texts)


def test_none_of_these(visit, server):
    server.ask("queue", texts=tickets(2))
    page = visit()
    page.locator("#order").select_option("date")
    page.get_by_role("button", name="Start").click()
    assert ready(page) == tickets(2)[0]
    press(page, "n")
    assert ready(page) == tickets(2)[1]
    page.get_by_role("button", name="None of these").click()
    wait_for(page, "0 of 2 texts left, 2 judged")
    learned = server.ask("examples")["examples"]
    assert [(one["labels"], one["wrong"], one["complete"]) for one in learned] == [
        ([], [], True)
    ] * 2


def test_skip_later_flag_cross_and_take_back(visit, server):
    server.ask("queue", texts=tickets(4))
    page = visit()
    page.locator("#order").select_option("date")
    page.get_by_role("button", name="Start").click()
    one, other, third, fourth = tickets(4)
    assert ready(page) == one
    assert page.locator("#text").evaluate("box => box.readOnly")
    press(page, "l")
    assert ready(page) == other
    press(page, "f")
    assert ready(page) == third
    press(page, "s")
    assert ready(page) == fourth
    best = page.locator("#ranking .name").first.inner_text()
    expect(page.locator("#learn-words")).to_have_text(f"Accept {best}")
    page.keyboard.press("x")
    expect(page.locator("#key-hint")).to_contain_text("now the number")
    page.keyboard.press("1")
    expect(page.locator("#ranking li.refused .name")).to_have_text(best)
    expect(page.locator("#learn-words")).to_have_text("Learn")
    page.keyboard.press("a")
    page.keyboard.type("finance")
    expect(page.locator("#suggestions li").first).to_contain_text("new label")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(page.locator("#text")).to_be_focused()
    press(page, "Enter")
    assert ready(page) == one
    wait_for(page, "1 of 4 texts left, 1 judged, 1 skipped, 1 flagged")
    (learned,) = server.ask("examples")["examples"]
    assert (learned["text"], learned["labels"]) == (fourth, ["finance"])
    page.keyboard.press("u")
    expect(page.locator("#toast")).to_contain_text("Example 1 is taken back")
    wait_for(page, "2 of 4 texts left, 0 judged")
    expect(page.locator("#text")).to_have_value(fourth)  # where it was
    ready(page)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()
    press(page, "s")
    assert ready(page) == one
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#text")).to_have_value("")
    assert server.ask("queue")["held"] == 0
    page.locator("#order").select_option("random")
    page.reload()
    expect(page.locator("#order")).to_have_value("random")


def test_enter_takes_the_first_match_and_asks_before_a_new_label(visit, server):
    server.ask("queue", texts=tickets(4))
    page = visit()
    page.get_by_role("button", name="Start").click()
    first = ready(page)
    page.keyboard.press("a")
    page.keyboard.type("gra")
    page.keyboard.press("Enter")  # before there is a list
    expect(page.locator("#chosen li")).to_have_text(["money", "grain"])
    page.keyboard.type("grain")
    expect(page.locator("#suggestions li").first).to_contain_text("grain")
    page.keyboard.type("s")
    page.keyboard.press("Enter")  # while the list is that of before
    expect(page.locator("#suggestions li").first).to_contain_text("did you mean this?")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#chosen li")).to_have_text(["money", "grain", "grains"])
    page.keyboard.type("mone")
    expect(page.locator("#suggestions li").first).to_contain_text("money")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#chosen li")).to_have_text(["money", "grain", "grains"])
    page.keyboard.type("half a lab")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#learn")).to_be_disabled()
    expect(page.locator("#learn-hint")).to_contain_text(
        "Press Enter to add half a lab, or empty the box"
    )
    page.keyboard.press("Escape")  # closes the list
    page.keyboard.press("Escape")
    press(page, "s")
    assert ready(page) != first
    expect(page.locator("#add")).to_have_value("")
    assert server.ask("examples")["examples"] == []


def test_where_each_text_has_one_label_a_digit_decides(visit, sure):
    sure.ask("queue", texts=["apple number1", "bolt number2"])
    page = visit(sure.base_url)
    page.locator("#order").select_option("date")
    page.get_by_role("button", name="Start").click()
    ready(page)
    expect(page.locator("#all-of-them")).to_be_hidden()
    chances = page.locator("#ranking .score").all_inner_texts()
    assert sum(int(chance.removesuffix(" %")) for chance in chances) <= 101
    second = page.locator("#ranking .name").nth(1).inner_text()
    page.keyboard.press("2")
    wait_for(page, "1 judged")
    ready(page)
    assert sure.ask("examples")["examples"][0]["labels"] == [second]
    page.keyboard.press("a")
    page.keyboard.type("fruits")
    page.keyboard.press("Enter")
    expect(page.locator("#suggestions li").first).to_contain_text("did you mean this?")
    page.keyboard.press("Enter")
    expect(page.locator("#chosen li")).to_have_text(["fruit"])


def test_two_people_never_meet_the_same_text(visit, server):
    server.ask("queue", texts=tickets(12))
    pages, had = [visit(), visit()], []
    for page in pages:
        page.get_by_role("button", name="Start").click()
    for n in range(5):
        had += [ready(page) for page in pages]
        assert len(set(had)) == 2 * n + 2
        for page in pages:
            press(page, "Enter")
    assert server.ask("queue")["judged"] == 10
    reloaded = ready(pages[0])
    pages[0].reload()
    pages[0].get_by_role("button", name="Start").click()
    assert ready(pages[0]) == reloaded, "a tab gets back what it had"


def test_a_text_that_another_has_judged_meanwhile(visit, server):
    server.ask("queue", texts=tickets(2))
    page = visit(refused=409)
    page.get_by_role("button", name="Start").click()
    text = ready(page)
    (item,) = [one for one in server.ask("queue/items")["items"] if one["text"] == text]
    server.learn(text, ["another label"], item["id"])
    page.keyboard.press("Enter")
    expect(page.locator("#toast")).to_contain_text("Somebody else has judged that one")
    expect(page.locator("#text")).not_to_have_value(text)
    ready(page)
    assert server.ask("model")["journal"] == 1
    press(page, "Enter")
    expect(page.locator("#toast")).to_contain_text("Nothing is left")
    expect(page.locator("body.working")).to_have_count(0)


def test_files_by_the_button_and_what_is_exported(visit, server):
    page = visit(refused=422)
    table = "id,text\n" + "".join(f"{n},{text}\n" for n, text in enumerate(tickets(30)))
    page.locator("#import").set_input_files(
        {"name": "t.csv", "mimeType": "text/csv", "buffer": table.encode()}
    )
    wait_for(page, "30 of 30 texts left")
    page.evaluate(DROP, ["more.txt", "\n".join(tickets(40)), "queue-card"])
    wait_for(page, "40 of 40 texts left")
    expect(page.locator("#toast")).to_contain_text("Added 10 texts; already there: 30.")
    page.locator("#import").set_input_files(
        {"name": "bad.jsonl", "mimeType": "", "buffer": b'{"text": 1\n'}
    )
    expect(page.locator("#problem")).to_contain_text("bad.jsonl, line 1")
    page.locator("#order").select_option("date")
    page.get_by_role("button", name="Start").click()
    text = ready(page)
    press(page, "1", "Enter")
    with page.expect_download() as loaded:
        page.get_by_role("button", name="Export judged").click()
    assert loaded.value.suggested_filename == "judged.jsonl"
    with open(loaded.value.path(), encoding="utf-8") as file:
        (line,) = [json.loads(one) for one in file]
    assert line["text"] == text
    assert len(line["labels"]) == 1
    assert tickets(30)[int(line["rows"][0]["id"])] == text


def test_ids_and_other_columns_stand_beside_the_text(visit, server):
    long = "x" * 300
    rows = [{"Nr": "4711", "channel": "mail"}, {"Nr": "4712", "note": long}]
    server.ask("queue", texts=["wheat corn", "wheat corn"], rows=rows)
    server.ask("queue", texts=["bank rates"])
    page = visit()
    page.locator("#order").select_option("date")
    page.get_by_role("button", name="Start").click()
    assert ready(page) == "wheat corn"
    expect(page.locator("#kept")).to_have_text(f"Nr 4711 · channel mail  |  Nr 4712 · note {long}")
    check_for_all(page)
    press(page, "s")
    assert ready(page) == "bank rates"
    expect(page.locator("#kept")).to_be_hidden()
    page.get_by_role("button", name="Stop").click()
    page.locator("#export-format").select_option("xlsx")
    with page.expect_download() as loaded:
        page.get_by_role("button", name="Export judged").click()
    assert loaded.value.suggested_filename == "judged.xlsx"
    with open(loaded.value.path(), "rb") as file:
        assert file.read(2) == b"PK"


@pytest.mark.filterwarnings("ignore")
def test_the_sure_ones_are_shown_decided_and_taken_back(sure, visit):
    sure.ask(
        "queue",
        texts=[f"{('apple', 'bolt')[n % 2]} number{n % 7} again{n}" for n in range(20)]
        + ["number3"],
    )
    page = visit(sure.base_url)
    page.get_by_role("button", name="Decide the sure ones").click()
    expect(page.locator("#sure-words")).to_contain_text(
        re.compile("It would decide .* of 21 texts waiting")
    )
    page.locator("#precision").select_option("0.9")
    expect(page.locator("#sure-words")).to_contain_text("would decide 20 of")
    expect(page.locator("#sure-examples li")).to_have_count(10)
    page.get_by_role("button", name="Decide them").click()
    expect(page.locator("#toast")).to_contain_text("Decided 20 texts.")
    wait_for(page, "1 of 21 texts left")
    expect(page.locator("#recent .names").first).to_contain_text("decided by the model")
    assert {one["person"] for one in sure.ask("examples")["examples"]} == {"(decided by the model)"}
    assert sure.ask("model")["rolling"]["window"] == 0, (
        "what it decided says nothing of how good it is"
    )
    page.locator("#toast").get_by_role("button", name="Undo").click()
    expect(page.locator("#toast")).to_contain_text("Took back 20 decisions.")
    wait_for(page, "21 of 21 texts left")
    assert sure.ask("queue")["judged"] == 0
    page.close()


def test_on_a_phone(visit, server):
    server.ask("queue", texts=[*tickets(3), "wheat " + "verylongword" * 20])
    page = visit(**PHONE)
    page.get_by_role("button", name="Start").tap()
    for _ in range(3):
        ready(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, (
            "nothing reaches over the edge"
        )
        before = page.locator("#text").input_value()
        page.get_by_role("button", name="Accept").tap()
        page.wait_for_function(
            "before => document.getElementById('text').value !== before", arg=before
        )
    ready(page)
    heights = page.locator("#ranking .score").evaluate_all(
        "all => all.map(one => one.getClientRects().length)"
    )
    assert set(heights) == {1}, "no score is broken into lines"
    small = page.evaluate(
        "[...document.querySelectorAll('#view-label button')].filter(b => b.offsetParent)"
        ".filter(b => b.offsetHeight < 32).map(b => b.textContent)"
    )
    assert small == [], "fingers need room"


@pytest.mark.parametrize("look", LOOKS)
def test_nothing_stands_in_the_way_of_anybody(visit, server, look):
    server.ask("queue", texts=tickets(5))
    page = visit(reduced_motion="reduce", **look)
    wait_for(page, "5 of 5 texts left")
    check_for_all(page)
    page.get_by_role("button", name="Start").click()
    ready(page)
    page.locator("#ranking .pick").first.click()
    expect(page.locator("#why-text mark").first).to_be_visible()
    page.locator("#ranking .yes").first.click()
    page.locator("#ranking .no").last.click()
    check_for_all(page)
    page.get_by_role("button", name="Keys").click()
    check_for_all(page)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Decide the sure ones").click()
    expect(page.locator("#sure-words")).to_contain_text("waiting")
    check_for_all(page)
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Model").click()
    expect(page.locator("#labels button").first).to_be_visible()
    check_for_all(page)


def test_what_is_wrong_is_learned(visit):
    page = visit()
    page.get_by_role("textbox", name="Text").fill("bank holiday in the wheat fields")
    expect(page.locator("#ranking .name").first).to_have_text("money")
    expect(page.locator("#all-of-them")).to_be_visible()
    page.get_by_role("button", name="grain is right").click()
    page.get_by_role("button", name="money is wrong").click()
    with page.expect_request("**/v1/learn") as sent:
        page.get_by_role("button", name="Learn").click()
    expect(page.locator("#toast")).to_contain_text("Learned as example 1")
    example = sent.value.post_data_json["examples"][0]
    assert example["labels"] == ["grain"]
    assert example["wrong"] == ["money"]


def test_a_read_only_server_shows_no_queue(browser, folder):
    with in_thread(folder, read_only=True) as server:
        page = browser.new_page()
        page.goto(str(server.base_url))
        expect(page.locator("#read-only")).to_be_visible()
        expect(page.locator("#queue-card")).to_be_hidden()
        page.close()


def test_a_judge_sees_what_a_judge_may_do_and_opens_what_was_flagged(visit, folder):
    with changing(folder) as people:
        judge, manager = people.add("bob", Role.JUDGE), people.add("anna", Role.MANAGE)
    with in_thread(folder) as server:
        server.headers["authorization"] = f"Bearer {manager}"
        server.ask("queue", texts=tickets(2))
        server.learn("rye and oats", ["grain"])
        page = visit(f"{server.base_url}/", refused=401)
        page.get_by_role("textbox", name="Token").fill(judge)
        page.keyboard.press("Enter")
        expect(page.locator("#me")).to_have_text("bob (judge)")
        expect(page.locator("#recent .names").first).to_have_text("grain · by anna")
        for hidden in ("#sure", "label[for=import]"):
            expect(page.locator(hidden)).to_be_hidden()
        page.get_by_role("button", name="Start").click()
        first = ready(page)
        press(page, "f")
        ready(page)
        page.get_by_role("button", name="Flagged texts").click()
        expect(page.get_by_role("dialog", name="Flagged texts")).to_contain_text(first)
        expect(page.get_by_role("dialog", name="Flagged texts")).to_contain_text("bob")
        page.get_by_role("button", name="Judge it").click()
        expect(page.locator("#text")).to_have_value(first)
        ready(page)
        press(page, "Enter")
        wait_for(page, "1 of 2 texts left, 1 judged")
