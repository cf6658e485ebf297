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


def expect(locator):
    from playwright.sync_api import expect as expecting

    expecting.set_options(timeout=PATIENCE)
    return expecting(locator)
