"""Every anchor of a link between pages is a heading of the page that it leads to."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])
LINK = re.compile(r"\]\(([^)#:\s]*)#([^)\s]+)\)")


def prose(page: Path) -> str:
    """The text of a page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def anchors(text: str) -> set[str]:
    """The anchors that GitHub gives the headings of a page: lower case, words joined by dashes."""
    headings = re.findall(r"^#{1,6} +(.+?) *$", text, re.MULTILINE)
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", each).lower() for each in headings)
    return {re.sub(r"[^\w\- ]", "", each).replace(" ", "-") for each in plain}


def test_every_anchor_is_a_heading() -> None:
    for page in PAGES:
        missing = [
            f"{path}#{anchor}"
            for path, anchor in LINK.findall(prose(page))
            if (target := (page.parent / path) if path else page).is_file() and anchor not in anchors(prose(target))
        ]
        assert missing == []


def test_an_anchor_that_nobody_has_is_found() -> None:
    assert anchors("# A *guard*, at `once`\n\n## Who may [do](it.md) it?\n") == {"a-guard-at-once", "who-may-do-it"}
