"""A real Chromium for the tests of the page; they are skipped where there is none."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from burstlab.page import Server

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = ["--no-sandbox", "--disable-background-networking", "--disable-component-update"]
#: Milliseconds; a machine that does much else is slow, and nothing here is timed.
PATIENCE = 120_000


#: Both are there, and so is what `make browser` installs.
_INSTALLED = CHROMIUM is not None and find_spec("playwright") is not None

needs_chromium = pytest.mark.skipif(
    not _INSTALLED, reason="no Chromium, or no playwright: apt install chromium; make browser"
)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run a browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield running
        running.close()


@contextmanager
def quiet_tab(browser: Browser, **options: Any) -> Iterator[Page]:
    """Open a tab in which no complaint of the browser is overheard, nor a request to elsewhere."""
    settings: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}, **options}
    context = browser.new_context(**settings)
    found = context.new_page()
    found.set_default_timeout(PATIENCE)
    heard: list[str] = []
    asked: list[str] = []
    found.on("console", lambda said: heard.append(said.text) if said.type == "error" else None)
    found.on("pageerror", lambda error: heard.append(str(error)))
    found.on("request", lambda request: asked.append(request.url))
    yield found
    context.close()
    assert heard == []
    ours = r"(http://127\.0\.0\.1:|blob:|data:|file:)"
    assert [url for url in asked if not re.match(ours, url)] == []


def start(tab: Page, server: Server, fragment: str = "") -> None:
    """Open the page, and wait until what it shows is there."""
    tab.goto("about:blank")
    tab.goto(server.address + fragment)
    ready(tab)


def ready(tab: Page) -> None:
    """Wait until what a page shows is there."""
    tab.wait_for_selector("body[data-ready=yes]")
    if tab.get_attribute("body", "data-tab") == "watch":
        until(tab, "[...burstlab.view.bursts.stretches.values()].some((one) => one.found)")


def until(tab: Page, condition: str) -> None:
    """Wait for a condition; the driver's own method evaluates text, which the page forbids."""
    for _ in range(PATIENCE // 20):
        if tab.evaluate(f"Boolean({condition})"):
            return
        tab.wait_for_timeout(20)
    raise AssertionError(f"never came true: {condition}")
