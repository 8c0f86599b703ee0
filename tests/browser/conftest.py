"""One Chromium for all tests of pages, and the pages they look at. A browser that is missing is one error line."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from krm_function.report.plan import Plan
from krm_function.report.plan_html import plan_html
from tests.report.test_plan_forms import nasty_plan, node, plan_of, planned
from tests.report.test_plan_text import five_pools, one, one_pool
from tools.make_pictures import quickstart_plan
from tools.page import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# the services of a shop as people name them: one word each
NAMES = (
    *("frontend", "cartservice", "productcatalogservice", "currencyservice", "paymentservice", "shippingservice"),
    *("emailservice", "checkoutservice", "recommendationservice", "adservice", "loadgenerator", "rediscart"),
)
GPUS = {"gpu": "metal-qemu-snp-gpu", "big": "metal-qemu-tdx-gpu"}  # label of the nodes -> platform
LONG = "a-name-without-any-place-to-break-it" * 7


def five_with_note() -> Plan:
    """Twelve workloads of four platforms on five pools; one has a note."""
    tees = ("snp", "tdx", "gpu", "big", "old")
    lines = [one(name, tees[index % 5]) for index, name in enumerate(NAMES)]
    lines = [
        line._replace(platform=GPUS.get(line.node_selector["tee"], line.platform.replace("old", "snp")))
        for line in lines
    ]
    return plan_of([lines[0]._replace(notes=("the policy accepts any value of DB_URL",)), *lines[1:]], five_pools())


@pytest.fixture(scope="session")
def browser(chromium_tool: None) -> Iterator["Browser"]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Pages by name: the quickstart as it is and with two mistakes, without nodes, hostile, long, crowded, empty;
    twelve workloads on one pool, and on five.
    """
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
        "one pool": plan_html(plan_of([one(name) for name in NAMES], one_pool())),
        "five pools": plan_html(five_with_note()),
    }
    for name, text in texts.items():
        made[name] = place / f"{name}.html"
        made[name].write_text(text, encoding="utf-8")
    return made
