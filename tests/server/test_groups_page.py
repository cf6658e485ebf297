"""Groups in a real browser: found, named with one click, and undone."""

import pytest

from tests.server.browsing import LOOKS, check_for_all, expect, marks
from tests.server.test_groups import STOLEN, fruit  # noqa: F401

pytestmark = marks


@pytest.fixture
def found(fruit, visit):  # noqa: F811
    """Open the page and have it find groups."""

    def begin(**options):
        fruit.ask("queue", texts=[*STOLEN, "apple number3"])
        none = {"text": "apple parcel stolen", "labels": [], "complete": True}
        fruit.ask("learn", examples=[none])
        page = visit(fruit.base_url, **options)
        page.get_by_role("tab", name="Audit").click()
        page.get_by_role("button", name="Find groups").click()
        expect(page.locator("#groups > li")).to_have_count(1)
        return page

    return begin


def test_a_group_is_named_and_taken_back(found, fruit):  # noqa: F811
    page = found()
    expect(page.locator("#groups-words")).to_have_text(
        "1 group in 5 texts waiting, 1 with none of the labels"
    )
    expect(page.locator("#groups .said")).to_have_count(3)
    page.get_by_label("Label of group 1", exact=True).fill("theft")
    page.keyboard.press("Enter")
    expect(page.locator("#groups .tools")).to_contain_text("5 texts learned with theft.")
    assert fruit.best("a stolen parcel")[0] == "theft"
    assert fruit.ask("queue")["waiting"] == 1
    page.keyboard.press("Enter")  # Undo has the focus
    expect(page.get_by_role("button", name="Name group 1")).to_be_visible()
    assert fruit.ask("queue")["waiting"] == 5
    page.get_by_role("button", name="Find groups").click()
    expect(page.locator("#groups-words")).to_have_text("1 group in 5 texts waiting")


def test_no_group_is_said(visit):
    page = visit()
    page.get_by_role("tab", name="Audit").click()
    page.get_by_role("button", name="Find groups").click()
    expect(page.locator("#groups-nothing")).to_have_text(
        "No group of undecided texts shares new words."
    )


@pytest.mark.parametrize("look", LOOKS)
def test_nothing_stands_in_the_way_of_anybody(found, look):
    page = found(reduced_motion="reduce", **look)
    check_for_all(page)
