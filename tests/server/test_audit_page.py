"""An audit in a real browser: what is doubtful is found, and repaired with one click."""

import pytest

from tests.models.test_auditing import WRONG, examples
from tests.server.browsing import LOOKS, check_for_all, expect, marks
from tests.server.servers import in_thread
from tests.server.test_auditing import begun

pytestmark = marks
PLANTED = {number + 1 for number in WRONG if number < 60}  # as the journal numbers them


@pytest.fixture
def taught(tmp_path):
    """A server that has learned some wrong labels, and a text twice with different ones."""
    texts, labels = examples(60)
    lessons = [{"text": text, "labels": own} for text, own in zip(texts, labels, strict=True)]
    same = [{"text": "gold and rates", "labels": [label]} for label in ("metal", "money", "metal")]
    with in_thread(begun(tmp_path)) as server:
        server.ask("learn", examples=lessons + same)
        yield server


@pytest.fixture
def looked_through(taught, visit):
    """Open the page and have it look through what was learned."""

    def begin(**options):
        page = visit(taught.base_url, **options)
        page.get_by_role("tab", name="Audit").click()
        page.get_by_role("button", name="Look through").click()
        expect(page.locator("#doubts > li").first).to_be_visible()
        return page

    return begin


def of(server, number):
    """An example of the journal."""
    (found,) = [
        one for one in server.ask("examples?limit=100")["examples"] if one["number"] == number
    ]
    return found


def test_what_is_wrong_is_shown_and_repaired(looked_through, taught):
    page = looked_through()
    first = page.locator("#doubts > li").first
    found = taught.ask("audit")["doubts"][0]
    assert found["number"] in PLANTED
    expect(first.locator(".said")).to_have_text(found["text"])
    expect(first.locator(".verdict s")).to_have_text(found["label"])
    expect(first.locator(".verdict strong")).to_have_text(found["found"])
    assert first.locator(".votes li span:first-child").all_inner_texts() == [
        word for word, _ in found["words"]
    ]
    assert set(first.locator("mark").all_inner_texts()) <= {word for word, _ in found["words"]}
    page.get_by_role(
        "button", name=f"Example {found['number']} is {found['found']}, not {found['label']}"
    ).click()
    expect(first.locator(".tools")).to_contain_text(f"Learned anew with {found['found']}.")
    assert of(taught, found["number"])["undone"]
    assert of(taught, 64)["labels"] == [found["found"]]
    first.get_by_role("button", name="Undo").click()
    expect(first.locator(".tools")).to_contain_text(f"Learned anew with {found['label']}.")
    assert of(taught, 65)["labels"] == [found["label"]]
    first.get_by_role("button", name="Undo").click()
    expect(first.locator(".tools")).to_contain_text(f"Learned anew with {found['found']}.")
    second = page.locator("#doubts > li").nth(1)
    second.get_by_role("button", name="Leave").click()
    expect(second.locator(".tools")).to_contain_text("stays.")
    page.get_by_role("button", name="Look again").click()
    expect(page.locator("#doubts .settled")).to_have_count(0)
    numbers = {one["number"] for one in taught.ask("audit?limit=2")["doubts"]}
    assert found["number"] not in numbers


def test_by_keyboard_alone(taught, visit):
    page = visit(taught.base_url)
    page.get_by_role("tab", name="Label").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("tab", name="Model")).to_be_focused()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#view-audit")).to_be_visible()
    page.get_by_role("button", name="Look through").focus()
    page.keyboard.press("Enter")
    rows = page.locator("#doubts > li")
    expect(rows.first).to_be_visible()
    rows.first.get_by_role("button").first.focus()
    page.keyboard.press("Enter")
    expect(rows.first.locator(".tools")).to_contain_text("Learned anew")
    expect(rows.nth(1).get_by_role("button").first).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(rows.nth(1).locator(".tools")).to_contain_text("stays.")


def test_a_cell_of_the_matrix_shows_its_examples(looked_through, taught):
    page = looked_through()
    confused = taught.ask("audit")["confusions"][0]
    name = f"{confused['label']} found to be {confused['found']}: {len(confused['numbers'])}"
    cell = page.get_by_role("button", name=name)
    cell.click()
    expect(cell).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#doubts > li")).to_have_count(len(confused["numbers"]))
    assert set(page.locator("#doubts .verdict s").all_inner_texts()) == {confused["label"]}
    assert set(page.locator("#doubts .verdict strong").all_inner_texts()) == {confused["found"]}
    every = taught.ask("audit")["contradicted"]
    page.get_by_role("button", name="Show all").click()
    expect(page.locator("#doubts > li")).to_have_count(min(every, 50))
    expect(page.locator("#audit-words")).to_have_text(f"{every} of 63 examples")


def test_equal_texts_are_made_to_agree(looked_through, taught):
    page = looked_through()
    expect(page.locator("#equal .said")).to_have_text("gold and rates")
    expect(page.get_by_role("button", name="All 3 are metal")).to_have_text("metal (2)")
    page.get_by_role("button", name="All 3 are money").click()
    expect(page.locator("#equal .tools")).to_contain_text("2 learned anew with money.")
    assert taught.ask("audit")["duplicates"] == []


def test_nothing_learned_is_said(visit):
    page = visit()
    page.get_by_role("tab", name="Audit").click()
    page.get_by_role("button", name="Look through").click()
    expect(page.locator("#audit-nothing")).to_have_text("There is too little to say anything yet.")


@pytest.mark.parametrize("look", LOOKS)
def test_nothing_stands_in_the_way_of_anybody(looked_through, look):
    page = looked_through(reduced_motion="reduce", **look)
    page.locator("#doubts > li").first.get_by_role("button").first.click()
    expect(page.locator("#doubts .settled")).to_have_count(1)
    page.locator("#matrix button").first.click()
    check_for_all(page)
