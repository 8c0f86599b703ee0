"""One Chromium for all tests of pages, and the pages they look at. A browser that is missing is one error line."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from krm_function.report.plan_html import plan_html
from tests.report.test_plan_forms import nasty_plan, node, plan_of, planned
from tools.browser import browser as installed
from tools.cache import ToolError
from tools.make_pictures import quickstart_plan
from tools.page import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser

LONG = "a-name-without-any-place-to-break-it" * 7


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    try:
        installed()
    except ToolError as problem:
        pytest.fail(str(problem), pytrace=False)
    with chromium() as started:
        yield started


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Pages by name: the quickstart as it is and with two mistakes, without nodes, hostile, long, crowded, empty."""
    place = tmp_path_factory.mktemp("pages")
    made = {
        "quickstart": Path(quickstart_plan(str(place), mistakes=False)),
        "conflict": Path(quickstart_plan(str(place), mistakes=True)),
    }
    many = [node(f"node-{index:03d}", f"tee-{index % 7}") for index in range(300)]
    texts = {
        "no-nodes": plan_html(plan_of([planned(), planned("db", "tdx")], None)),
        "hostile": plan_html(nasty_plan()),
        "long": plan_html(plan_of([planned(LONG)], [node(LONG), node("x" + LONG, LONG)], source=LONG)),
        "crowded": plan_html(plan_of([planned(f"w{index}", f"tee-{index % 9}") for index in range(60)], many)),
        "empty": plan_html(plan_of([], None)),
    }
    for name, text in texts.items():
        made[name] = place / f"{name}.html"
        made[name].write_text(text, encoding="utf-8")
    return made
