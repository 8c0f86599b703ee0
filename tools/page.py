"""Open a page in the pinned Chromium, for tests and for the pictures of the docs."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tools.browser import browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@contextmanager
def chromium() -> Iterator["Browser"]:
    """Give a started browser. Raises ToolError if it is not in the cache."""
    known = browser()
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 (53 MB that only pages need)

    with sync_playwright() as driver:
        started = driver.chromium.launch(
            executable_path=known.program, args=list(known.arguments), env={**known.environment}
        )
        yield started
        started.close()


def picture(page: "Page", path: str, *, whole: bool = False) -> None:
    """Write a picture of the window, or of the whole page, once it is painted: before, there may be no surface."""
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.screenshot(path=path, full_page=whole)
