"""What tests in a real browser share: which one it is, and how long they wait for what must come."""

import shutil

import pytest

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
]  # fmt: skip
PATIENCE = 60_000  # milliseconds: the machine may be busy
marks = [
    pytest.mark.skipif(BROWSER is None, reason="there is no Chromium; on Debian: apt-get install chromium"),
    pytest.mark.xdist_group("browser"),
]


PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
LOOKS = [
    pytest.param({**options, "color_scheme": scheme}, id=f"{name}-{scheme}")
    for name, options in (("desktop", {}), ("phone", PHONE)) for scheme in ("light", "dark")
]  # fmt: skip


def check_for_all(page):
    """What axe-core finds (names, roles, contrast and the like): nothing; and nothing reaches over the edge."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    found = axe.Axe().run(page).response["violations"]
    told = [(one["id"], node["html"][:200]) for one in found for node in one["nodes"]]
    assert told == []
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def expect(locator):
    from playwright.sync_api import expect as expecting

    expecting.set_options(timeout=PATIENCE)
    return expecting(locator)
