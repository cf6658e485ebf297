"""How a model fares, in a real browser."""

import re

import pytest

from tests.server.browsing import LOOKS, check_for_all, expect, marks

pytestmark = marks


@pytest.fixture
def worked(sure):
    """A server that has learned 450 examples of which every third is a surprise, and has had a label crossed out."""
    examples = [
        {"text": f"{('apple', 'bolt')[n % 2]} number{n % 7} more{n}", "labels": ["fruit" if n % 3 else "metal"]}
        for n in range(450)
    ]
    sure.ask("learn", examples=examples)
    sure.ask("learn", examples=[{"text": "apple number1", "labels": ["fruit"], "wrong": ["metal"], "complete": True}])
    return sure


def test_quality_drift_and_corrections_are_drawn(worked, visit):
    page = visit(worked.base_url)
    page.get_by_role("tab", name="Watch").click()
    told = worked.ask("watch")
    assert len(told["quality"]) == 2
    chart = page.locator("#quality-chart svg")
    expect(chart.locator("circle")).to_have_count(2)
    expect(chart.locator("path.band")).to_have_count(1)
    heights = [float(one.get_attribute("cy")) for one in chart.locator("circle").all()]
    shares = [one["P@1"] for one in told["quality"]]
    assert (heights[0] < heights[1]) == (shares[0] > shares[1]), "better is higher"
    now = f"{100 * shares[-1]:.1f} %"
    expect(page.locator("#quality-words")).to_have_text(f"{now} of the last 200")
    expect(chart).to_have_attribute("aria-label", re.compile(f"to {now} in 2 windows"))
    expect(page.locator("#drift dd").nth(2)).to_have_text(f"{100 * told['drift']['calibration_error']:.1f} %")
    expect(page.locator("#drift dd").first).to_have_text(f"{100 * told['drift']['unknown']['now']:.1f} %")
    first = told["corrected"][0]
    row = page.locator("#corrected li").first
    expect(row).to_contain_text(first["label"])
    expect(row).to_contain_text(f"{first['missed']} of {first['judged']} missed")
    expect(page.locator("#corrected li", has_text="metal")).to_contain_text("1 crossed out")
    wide = chart.evaluate("one => one.viewBox.baseVal.width")
    page.set_viewport_size({"width": 500, "height": 700})
    page.wait_for_function(f"() => document.querySelector('#quality-chart svg').viewBox.baseVal.width < {wide}")


def test_nothing_learned_is_said(visit):
    page = visit()
    page.get_by_role("tab", name="Watch").click()
    expect(page.locator("#drift")).to_contain_text("not known yet")
    expect(page.locator("#quality-nothing")).to_be_visible()
    expect(page.locator("#quality")).to_be_hidden()
    expect(page.locator("#corrected-nothing")).to_be_visible()


@pytest.mark.parametrize("look", LOOKS)
def test_nothing_stands_in_the_way_of_anybody(worked, visit, look):
    page = visit(f"{worked.base_url}/#watch", reduced_motion="reduce", **look)
    expect(page.locator("#quality-chart circle")).to_have_count(2)
    check_for_all(page)
