"""What tests in a real browser share: which one it is, and how long they wait for what must
come.
"""

import shutil

import pytest

# The first draws no windows, and takes two thirds of the time of the others.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]
PATIENCE = 60_000  # milliseconds: the machine may be busy
marks = pytest.mark.skipif(
    BROWSER is None, reason=f"there is no browser; on Debian: apt-get install {BROWSERS[0]}"
)


PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
LOOKS = [
    pytest.param({**options, "color_scheme": scheme}, id=f"{name}-{scheme}", marks=marks)
    for name, options, scheme, marks in (
        ("desktop", {}, "light", ()),
        ("phone", PHONE, "dark", pytest.mark.long),
        ("desktop", {}, "dark", pytest.mark.long),
        ("phone", PHONE, "light", pytest.mark.long),
    )
]


def check_for_all(page):
    """What axe-core finds (names, roles, contrast and the like): nothing; and nothing reaches
    over the edge.
    """
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    )
    found = axe.Axe().run(page).response["violations"]
    told = [(one["id"], node["html"][:200]) for one in found for node in one["nodes"]]
    assert told == []
    assert page.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )


def expect(locator):
    from playwright.sync_api import expect as expecting

    expecting.set_options(timeout=PATIENCE)
    return expecting(locator)


# Judging the texts of a queue.


def wait_for(page, words):
    expect(page.locator("#queue-words")).to_contain_text(words)


def ready(page):
    """Wait until the next text can be judged; gives it."""
    expect(page.locator("body.working")).to_be_visible()
    expect(page.locator("#ranking .pick").first).to_be_visible()
    expect(page.locator("#learn")).to_be_enabled()
    return page.locator("#text").input_value()


def press(page, *keys):
    """Press some keys, the last of which brings the next text, and wait for it."""
    before = page.locator("#text").input_value()
    for key in keys:
        page.keyboard.press(key)
    page.wait_for_function("before => document.getElementById('text').value !== before", arg=before)


def judge(page, labels, left):
    """Judge the text that is there by keyboard: its first word tells the label. Wait until so
    many are left.
    """
    label = labels[ready(page).split()[0]]
    names = page.locator("#ranking .name").all_inner_texts()
    if names[0] != label:
        page.keyboard.press(str(names.index(label) + 1))
        expect(page.locator("#chosen li")).to_have_text([label])
    press(page, "Enter")
    wait_for(page, left)
