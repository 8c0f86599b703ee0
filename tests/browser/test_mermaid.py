"""The flowchart of a plan in the real Mermaid: it parses, it draws, and it shows hostile names as they are."""

from typing import TYPE_CHECKING

import pytest

from krm_function.report.plan import Plan
from krm_function.report.plan_text import plan_mermaid
from tests.report.test_plan_forms import nasty_plan, node, plan_of, planned
from tools.browser import browser as installed

if TYPE_CHECKING:
    from playwright.sync_api import Browser

DRAW = """async text => {
  mermaid.initialize({startOnLoad: false, securityLevel: "strict"});
  await mermaid.parse(text);
  const drawn = await mermaid.render("drawing", text);
  document.body.innerHTML = drawn.svg;
  return document.body.textContent;
}"""

PLANS: dict[str, Plan] = {
    "placed": plan_of([planned(), planned("db")], [node("a"), node("t", "tdx")]),
    "conflict": plan_of([planned(), planned("lost", "none")], [node("a"), node("b")]),
    "all lost": plan_of([planned("end"), planned("graph")], [node("x", "tdx")]),
    "no nodes": plan_of([planned(), planned("db", "tdx")], None),
    "hostile": nasty_plan(),
    "empty": plan_of([], None),
}


def test_mermaid_draws_every_plan(browser: "Browser") -> None:
    page = browser.new_page()
    page.goto("about:blank")
    page.add_script_tag(path=installed().mermaid)
    for name, plan in PLANS.items():
        text = page.evaluate(DRAW, plan_mermaid(plan))
        if name == "hostile":
            assert "<script>alert(1)</script>" in text
            assert page.locator("body script").count() == 0
        else:
            assert [line.ref.name for line in plan.lines if f"{line.ref.kind} {line.ref}" not in text] == []
    page.close()


def test_mermaid_says_no_to_what_is_no_flowchart(browser: "Browser") -> None:
    """So that the test above can fail."""
    page = browser.new_page()
    page.goto("about:blank")
    page.add_script_tag(path=installed().mermaid)
    with pytest.raises(Exception, match="Parse error"):
        page.evaluate(DRAW, 'flowchart LR\n  w0["a"quote"]\n')
    page.close()
