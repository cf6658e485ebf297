"""Reasons answered in a real browser: words marked that decide."""

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
