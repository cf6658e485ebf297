"""The page of a model that rates texts, in a real browser."""

import numpy as np
import pytest

import shortlist as sl
from shortlist.server import snapshots
from tests.server.browsing import LOOKS, check_for_all, expect, marks
from tests.server.servers import in_thread
from tests.server.test_ratings import STARS, TEXTS

pytestmark = marks
HOSTILE = "<img src=x onerror=window.hacked=1> joy"


@pytest.fixture
def rating(tmp_path):
    """rating(model) -> a server of it; it ends with the test."""
    served = []

    def begin(model, **settings):
        folder = tmp_path / f"state-{len(served)}"
        folder.mkdir()
        model.save(tmp_path / "model.shortlist")
        snapshots.take_base(folder, tmp_path / "model.shortlist")
        served.append(in_thread(folder, **settings))
        return served[-1].__enter__()

    yield begin
    for one in served:
        one.__exit__(None, None, None)


def of_texts():
    return sl.TextRater().fit(TEXTS[:60], STARS[:60])


def sure_of_texts():
    return of_texts().calibrate(TEXTS[60:], STARS[60:])


def test_a_text_is_rated_and_explained(rating, visit):
    server, text = rating(of_texts()), "a joy of a film"
    page = visit(server.base_url)
    page.get_by_role("textbox", name="Text").fill(text)
    found = server.ask("rank", text=text)["answers"][0]
    expect(page.locator("#decision")).to_contain_text(f"{found['rating']};")
    expect(page.locator("#ranking .alone .name")).to_have_text(str(found["rating"]))
    assert page.locator("#ranking .name").all_inner_texts() == ["1", "2", "3"]
    expect(page.locator("#sureness")).to_contain_text("was not calibrated")
    expect(page.locator("#why-heading")).to_contain_text(f"Why {found['rating']}")
    votes = server.ask("explain", text=text)["votes"]
    assert page.locator("#why-votes li span:first-child").all_inner_texts() == [one["feature"] for one in votes]
    marked = {text[first:last] for one in votes for first, last in one["spans"]}
    assert set(page.locator("#why-text mark").all_inner_texts()) == marked != set()
    assert page.locator("#why-text").inner_text() == text
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("#decision")).to_be_hidden()
    expect(page.locator("#why")).to_be_hidden()


def test_a_text_is_rated_with_probabilities_and_an_interval(rating, visit):
    model = sure_of_texts()
    page = visit(rating(model).base_url)
    page.get_by_role("textbox", name="Text").fill(TEXTS[61])
    found = next(model._answer_text(TEXTS[61]).records())
    low, high = found["interval"]
    expect(page.locator("#ranking .alone .name")).to_have_text(str(found["rating"]))
    expect(page.locator("#ranking .score")).to_have_text([f"{100 * chance:.0f} %" for chance in found["probabilities"]])
    within = [str(star) for star in (1, 2, 3) if low <= star <= high]
    assert page.locator("#ranking .within .name").all_inner_texts() == within
    expect(page.locator("#decision")).to_contain_text("nine times in ten")
    expect(page.locator("#sureness")).to_be_hidden()
    page.get_by_role("textbox", name="Text").fill(" ")
    expect(page.locator("#decision")).to_be_hidden()
    expect(page.get_by_role("button", name="Learn")).to_be_disabled()


def test_what_cannot_be_rated_has_no_rating(rating, visit):
    page = visit(rating(of_texts()).base_url, refused=413)
    page.get_by_role("textbox", name="Text").fill("a joy of a film")
    expect(page.locator("#decision")).to_be_visible()
    page.get_by_role("textbox", name="Text").fill("joy " * 600_000)
    expect(page.locator("#problem")).to_be_visible()
    expect(page.locator("#decision")).to_be_hidden()
    expect(page.locator("#why")).to_be_hidden()


def test_a_rating_that_somebody_else_adds_comes_in_at_its_place(rating, visit):
    server = rating(of_texts())
    page = visit(server.base_url)
    page.get_by_role("textbox", name="Text").fill("a joy of a film")
    page.locator("#ranking .pick").last.click()
    server.ask("learn", examples=[{"text": "another film", "rating": 2.5}])
    expect(page.locator("#ranking .name")).to_have_text(["1", "2", "2.5", "3"])
    expect(page.locator("#ranking .pick[aria-pressed=true] .name")).to_have_text("3")


def test_correct_undo_and_reload(rating, visit):
    server = rating(of_texts())
    page = visit(server.base_url)
    page.get_by_role("textbox", name="Text").fill(TEXTS[70])
    expect(page.locator("#decision")).to_be_visible()
    expect(page.get_by_role("button", name="Learn")).to_be_disabled()
    page.locator("#ranking .pick").first.click()
    expect(page.locator("#chosen-words")).to_have_text("1")
    page.get_by_role("button", name="Learn").click()
    expect(page.locator("#toast")).to_contain_text("Learned as example 1.")
    assert server.ask("examples")["examples"][0]["labels"] == [1]
    expect(page.locator("#recent .names")).to_have_text("1")
    first = page.locator("#text")
    expect(first).to_have_value("")
    expect(first).to_be_focused()
    first.fill("2")
    page.reload()
    expect(first).to_have_value("2")
    page.get_by_role("button", name="Undo example 1").click()
    expect(page.locator("#toast")).to_contain_text("Example 1 is taken back")
    expect(page.locator("#recent .undone").first).to_be_visible()
    assert server.ask("model")["undone"] == 1


def test_a_new_rating_by_keyboard_alone(rating, visit):
    server = rating(sure_of_texts())
    page = visit(server.base_url)
    page.get_by_role("textbox", name="Text").fill(TEXTS[3])
    expect(page.locator("#sureness")).to_be_hidden()
    page.get_by_role("textbox", name="A rating that is not there yet").focus()
    page.keyboard.type("good")
    expect(page.locator("#chosen-words")).to_have_text("A rating of this scale is a number.")
    expect(page.get_by_role("button", name="Learn")).to_be_disabled()
    page.get_by_role("textbox", name="A rating that is not there yet").fill("2.5")
    expect(page.locator("#chosen-words")).to_have_text("2.5, which is new")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#toast")).to_contain_text("Learned as example 1.")
    assert server.ask("model")["scale"] == [1, 2, 2.5, 3]
    page.get_by_role("textbox", name="Text").fill(TEXTS[3])
    expect(page.locator("#ranking .name")).to_have_text(["1", "2", "2.5", "3"])
    expect(page.locator("#sureness")).to_contain_text("has learned since")


def test_a_scale_that_was_given_is_closed(rating, visit):
    model = sl.TextRater(sl.PRank(scale=["poor", "fair", "good"]))
    page = visit(rating(model.fit(TEXTS[:60], np.array(["poor", "fair", "good"])[np.array(STARS[:60]) - 1])).base_url)
    expect(page.locator("#ranking .name")).to_have_text(["poor", "fair", "good"])
    expect(page.locator("#add")).to_be_hidden()


def test_a_hostile_text_stays_text(rating, visit):
    server = rating(of_texts())
    server.ask("learn", examples=[{"text": HOSTILE, "rating": 3}])
    page = visit(server.base_url)
    page.get_by_role("textbox", name="Text").fill(HOSTILE)
    expect(page.locator("#why-text mark").first).to_be_visible()
    assert page.locator("#why-text").inner_text() == HOSTILE
    assert page.evaluate("window.hacked") is None
    assert page.locator("body img:not(h1 img), body script").count() == 0


def test_read_only(rating, visit):
    page = visit(rating(of_texts(), read_only=True).base_url)
    expect(page.locator("#read-only")).to_be_visible()
    expect(page.locator("#correct")).to_be_hidden()


@pytest.mark.parametrize("look", LOOKS)
def test_it_is_usable_by_all(rating, visit, look):
    server = rating(sure_of_texts())
    page = visit(server.base_url, **look)
    page.get_by_role("textbox", name="Text").fill(TEXTS[5])
    expect(page.locator("#why-votes li").first).to_be_visible()
    page.locator("#ranking .pick").last.click()
    check_for_all(page)
    small = page.evaluate(
        "[...document.querySelectorAll('button')].filter(b => b.offsetParent && b.offsetHeight < 32)"
        ".map(b => b.textContent)"
    )
    assert small == [], "fingers need room"
    page = visit(rating(of_texts()).base_url, **look)
    page.get_by_role("textbox", name="Text").fill("joy " + "verylongword" * 30)
    expect(page.locator("#why-text mark").first).to_be_visible()
    check_for_all(page)
