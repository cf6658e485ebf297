"""Reasons answered in a real browser: words marked that decide, and who taught a vote."""

import contextlib

from shortlist.server.journal import Journal
from tests.server.browsing import PHONE, check_for_all, expect, marks
from tests.server.servers import in_thread
from tests.server.test_page import rank

pytestmark = marks
TEXT = "Corn and wheat, wheat, at the bank"


def explained(page, text=TEXT, label="grain"):
    rank(page, text, label)
    page.locator("#ranking .pick").first.click()
    expect(page.locator("#why-heading")).to_contain_text(f"Why {label}")


def word(page, name):
    return page.locator("#why-text").get_by_role("button", name=name, exact=True).first


def chips(page):
    return expect(page.locator("#because li"))


def learned_because(folder):
    with contextlib.closing(Journal(folder, read_only=True)) as journal:
        return [(entry.labels, list(entry.because)) for entry in journal.each()]


def drag(page, begin, end):
    """Drag from the middle of a word to the middle of another."""
    for place, act in ((begin, page.mouse.down), (end, page.mouse.up)):
        box = place.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=5)
        act()


def test_words_and_phrases_are_marked_and_learned(visit, server, folder):
    page = visit()
    explained(page)
    word(page, "wheat").click()
    chips(page).to_have_text(["wheat"])
    expect(page.locator("#why-text .because")).to_have_text(["wheat", "wheat"])
    drag(page, word(page, "at"), word(page, "bank"))
    chips(page).to_have_text(["wheat", "at the bank"])
    word(page, "the").click()
    chips(page).to_have_text(["wheat"])
    word(page, "Corn").dblclick()
    chips(page).to_have_text(["wheat", "Corn"])
    page.get_by_role("button", name="Take the mark of Corn back").click()
    chips(page).to_have_text(["wheat"])
    drag(page, word(page, "Corn"), word(page, "wheat"))
    chips(page).to_have_text(["wheat", "Corn and wheat"])
    check_for_all(page)
    page.get_by_role("button", name="grain is right").click()
    page.get_by_role("button", name="Learn").click()
    expect(page.locator("#toast")).to_contain_text("Learned as example 1")
    expect(page.locator("#because-words")).to_be_hidden()
    assert learned_because(folder) == [(["grain"], ["wheat", "Corn and wheat"])]


def test_marks_end_with_their_text_and_another_label_keeps_them(visit):
    page = visit()
    explained(page)
    word(page, "wheat").click()
    page.locator("#ranking .pick").nth(1).click()
    expect(page.locator("#why-heading")).to_contain_text("Why money")
    expect(page.locator("#why-text .because")).to_have_text(["wheat", "wheat"])
    rank(page, "corn harvest", "grain")
    chips(page).to_have_count(0)
    expect(page.locator("#why")).to_be_hidden()


def test_marked_by_keyboard_in_the_queue(visit, server, folder):
    server.ask("queue", texts=[TEXT, "rates"])
    page = visit()
    page.get_by_role("button", name="Start").click()
    expect(page.locator("body.working")).to_be_visible()
    text = page.locator("#text").input_value()
    if text != TEXT:
        page.keyboard.press("s")
    expect(page.locator("#text")).to_have_value(TEXT)
    expect(page.locator("#ranking .name").first).to_have_text("grain")
    page.locator("#ranking .pick").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#why-heading")).to_contain_text("Why grain")
    word(page, "Corn").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(word(page, "wheat")).to_be_focused()
    page.keyboard.press("Enter")
    expect(word(page, "wheat")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("End")
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("Shift+ArrowLeft")
    expect(page.locator("#why-text .choosing")).to_have_text(["at", "the", "bank"])
    page.keyboard.press(" ")
    chips(page).to_have_text(["wheat", "at the bank"])
    page.keyboard.press("Enter")
    chips(page).to_have_text(["wheat"])
    page.keyboard.press("Control+Enter")
    expect(page.locator("#toast")).to_contain_text("Learned as example 1")
    assert learned_because(folder) == [(["grain"], ["wheat"])]


def test_marked_by_touch(visit):
    page = visit(**PHONE)
    explained(page)
    word(page, "wheat").tap()
    chips(page).to_have_text(["wheat"])
    word(page, "bank").tap()
    chips(page).to_have_text(["wheat", "bank"])
    word(page, "wheat").tap()
    chips(page).to_have_text(["bank"])
    check_for_all(page)
    page.get_by_role("button", name="Take the mark of bank back").tap()
    chips(page).to_have_count(0)


def test_whole_words_are_marked_beside_a_script_without_spaces(visit, server, folder):
    page = visit()
    explained(page, "wheat東京 corn")
    word(page, "wheat").click()
    chips(page).to_have_text(["wheat東"])
    page.get_by_role("button", name="grain is right").click()
    page.get_by_role("button", name="Learn").click()
    expect(page.locator("#toast")).to_contain_text("Learned as example 1")
    assert learned_because(folder) == [(["grain"], ["wheat東"])]


def test_nothing_is_marked_where_nothing_is_learned(browser, folder):
    with in_thread(folder, read_only=True) as server:
        page = browser.new_page()
        page.goto(str(server.base_url))
        expect(page.locator("#read-only")).to_be_visible()
        explained(page)
        page.locator("#why-text .word").first.click()
        expect(page.locator("#why-hint")).to_be_hidden()
        assert page.locator("#why-text .because, #why-text [role=button]").count() == 0
        page.close()


def taught_wrongly(server):
    """Teach texts, one of them with a wrong label; gives the number of that one."""
    server.learn("wheat is a crop", ["grain"])
    return server.learn("barley is a loan", ["grain"])["number"]


def lines(page):
    return page.locator("#taught-list > li")


def test_who_taught_a_vote_and_its_repair(visit, server):
    culprit = taught_wrongly(server)
    page = visit()
    explained(page, "a wheat loan")
    page.get_by_role("button", name="wheat +").click()
    expect(page.locator("#taught-heading")).to_have_text("Who taught “wheat” for grain")
    expect(lines(page).filter(has_text="before the journal")).to_have_count(1)
    expect(lines(page).filter(has_text="wheat is a crop")).to_contain_text("grain · example 1")
    page.get_by_role("button", name="loan +").click()
    expect(page.locator("#taught-heading")).to_have_text("Who taught “loan” for grain")
    expect(lines(page)).to_have_count(1)
    check_for_all(page)
    page.get_by_role("button", name=f"Repair example {culprit}").click()
    page.get_by_role("combobox", name=f"The right label of example {culprit}").select_option(
        "money"
    )
    check_for_all(page)
    page.get_by_role("button", name="Learn anew").click()
    expect(lines(page).locator(".tools")).to_contain_text("Learned anew with money.")
    expect(page.locator("#why-votes")).not_to_contain_text("loan")
    newest = server.ask("examples")["examples"][0]
    assert (newest["text"], newest["labels"]) == ("barley is a loan", ["money"])
    lines(page).get_by_role("button", name="Undo").click()
    expect(lines(page).locator(".tools")).to_contain_text("Learned anew with grain.")
    expect(page.locator("#why-votes")).to_contain_text("loan")
    page.locator("#ranking .pick").nth(1).click()
    expect(page.locator("#why-heading")).not_to_contain_text("Why grain")
    expect(page.locator("#taught")).to_be_hidden()


def test_who_taught_a_vote_by_keyboard(visit, server):
    culprit = taught_wrongly(server)
    page = visit()
    explained(page, "a wheat loan")
    page.get_by_role("button", name="loan +").focus()
    page.keyboard.press("Enter")
    expect(lines(page)).to_have_count(1)
    page.get_by_role("button", name=f"Repair example {culprit}").focus()
    page.keyboard.press("Enter")
    right = page.get_by_role("combobox", name=f"The right label of example {culprit}")
    expect(right).to_be_focused()
    page.keyboard.type("mon")
    expect(right).to_have_value("money")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(lines(page).locator(".tools")).to_contain_text("Learned anew with money.")
    assert server.ask("examples")["examples"][0]["labels"] == ["money"]


def test_who_taught_a_vote_by_touch(visit, server):
    culprit = taught_wrongly(server)
    page = visit(**PHONE)
    explained(page, "a wheat loan")
    page.get_by_role("button", name="loan +").tap()
    page.get_by_role("button", name=f"Repair example {culprit}").tap()
    page.get_by_label(f"The right label of example {culprit}").select_option("money")
    check_for_all(page)
    page.get_by_role("button", name="Learn anew").tap()
    expect(lines(page).locator(".tools")).to_contain_text("Learned anew with money.")


def test_those_who_taught_little_are_one_line(visit, server):
    for number in range(14):
        server.learn(f"wheat number{number}", ["grain"])
    page = visit()
    explained(page, "wheat")
    page.get_by_role("button", name="wheat +").click()
    expect(lines(page)).to_have_count(11)
    answer = server.ask("taught?word=wheat&label=grain&limit=10")
    others = answer["others"]["examples"]
    assert others > 1
    expect(lines(page).last).to_contain_text(f"{others} other lines · counted")


def test_who_taught_a_vote_is_shown_without_a_repair_where_nothing_is_learned(
    browser, folder, server
):
    taught_wrongly(server)
    with in_thread(folder, read_only=True) as reader:
        page = browser.new_page()
        page.goto(str(reader.base_url))
        expect(page.locator("#read-only")).to_be_visible()
        explained(page, "a wheat loan")
        page.get_by_role("button", name="loan +").click()
        expect(lines(page)).to_have_text(["barley is a loangrain · example 2 +0.100"])
        page.close()
