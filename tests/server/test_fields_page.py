"""Documents of several fields in a real browser."""

import pytest

from tests.server.browsing import LOOKS, check_for_all, expect, marks
from tests.server.servers import in_thread
from tests.server.test_fields import NEW, state  # noqa: F401
from tests.test_fields import LAWS

pytestmark = marks


@pytest.fixture
def laws(state):  # noqa: F811
    with in_thread(state) as server:
        yield server


def fill(page, **texts):
    for name, text in texts.items():
        page.get_by_role("textbox", name=name, exact=True).fill(text)


def test_one_box_for_each_field(laws, visit):
    page = visit(laws.base_url)
    fill(page, title="wheat exports", body="the board said")
    expect(page.locator("#ranking .name").first).to_have_text("grain")
    page.locator("#ranking .pick").first.click()
    expect(page.locator("#why-votes")).to_contain_text("title: wheat")
    assert page.locator("#why-text .field").all_inner_texts() == ["title", "body"]
    expect(page.locator("#why-text .field + span").first).to_have_text("wheat exports")
    assert set(page.locator("#why-text .field + span").first.locator("mark").all_inner_texts()) == {
        "wheat",
        "exports",
    }
    assert page.locator("#why-text .field + span").nth(1).inner_text() == "the board said"
    page.get_by_role("button", name="grain is right").click()
    page.get_by_role("button", name="Learn").click()
    expect(page.locator("#toast")).to_contain_text("Learned as example 1")
    assert laws.ask("examples")["examples"][0]["fields"] == {
        "title": "wheat exports",
        "body": "the board said",
    }
    expect(page.locator("#recent .excerpt").first).to_have_text("wheat exports · the board said")
    for name in ("title", "body"):
        expect(page.get_by_role("textbox", name=name, exact=True)).to_have_value("")
    fill(page, title="bank rates")
    expect(page.locator("#ranking .name").first).to_have_text("money")
    page.reload()
    expect(page.get_by_role("textbox", name="title", exact=True)).to_have_value("bank rates")
    expect(page.locator("#ranking .name").first).to_have_text("money")
    page.get_by_role("button", name="Clear").click()
    expect(page.get_by_role("textbox", name="title", exact=True)).to_be_focused()


def test_categories_and_numbers_are_typed(laws, visit):
    page = visit(laws.base_url)
    author, price = page.get_by_label("author", exact=True), page.get_by_label("price", exact=True)
    expect(page.locator("#other-fields datalist option")).to_have_count(2)
    assert page.locator("#other-fields datalist option").evaluate_all(
        "all => all.map((one) => one.value)"
    ) == [
        "Jones",
        "Smith",
    ]
    author.fill("Jones")
    expect(page.locator("#ranking .name").first).to_have_text("money")
    author.fill("Smith; Lee")
    price.fill("12.5")
    expect(page.locator("#ranking .name").first).to_have_text("grain")
    page.get_by_role("button", name="grain is right").click()
    expect(page.locator("#learn")).to_be_enabled()
    price.press_sequentially("e")  # a number that has only begun
    expect(page.locator("#field-problem")).to_have_text("price must be a number.")
    page.get_by_role("button", name="grain is right").click()
    expect(page.locator("#learn")).to_be_disabled()
    price.fill("3")
    expect(page.locator("#field-problem")).to_be_hidden()
    page.get_by_role("button", name="grain is right").click()
    page.get_by_role("button", name="Learn").click()
    expect(page.locator("#toast")).to_contain_text("Learned as example 1")
    assert laws.ask("examples")["examples"][0]["fields"] == {"author": ["Smith", "Lee"], "price": 3}
    expect(author).to_have_value("")


def test_a_queue_of_documents_by_keyboard(laws, visit):
    laws.ask("queue", texts=[NEW, LAWS[1], "wheat of one text"])
    page = visit(laws.base_url)
    page.locator("#order").select_option("date")
    page.get_by_role("button", name="Start").click()
    title = page.get_by_role("textbox", name="title", exact=True)
    for one in (NEW, LAWS[1]):
        expect(title).to_have_value(one["title"])
        expect(page.get_by_role("textbox", name="body", exact=True)).to_have_value(one["body"])
        expect(page.get_by_label("author", exact=True)).to_have_value("; ".join(one["author"]))
        expect(page.get_by_label("price", exact=True)).to_have_value(str(one["price"]))
        assert title.evaluate("box => box.readOnly")
        expect(page.locator("#learn-words")).to_contain_text("Accept")
        page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="body", exact=True)).to_have_value("wheat of one text")
    expect(title).to_have_value("")
    expect(page.get_by_label("author", exact=True)).to_have_value("")
    expect(page.locator("#queue-words")).to_contain_text("1 of 3 texts left, 2 judged")
    learned = [one["fields"] for one in laws.ask("examples")["examples"]]
    assert learned == [LAWS[1], NEW]


@pytest.mark.parametrize("look", LOOKS)
def test_nothing_stands_in_the_way_of_anybody(laws, visit, look):
    laws.ask("queue", texts=[NEW])
    page = visit(laws.base_url, reduced_motion="reduce", **look)
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_label("author", exact=True)).to_have_value("Smith; Lee")
    page.locator("#ranking .pick").first.click()
    expect(page.locator("#why-text mark").first).to_be_visible()
    check_for_all(page)
