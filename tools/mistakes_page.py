"""The table of the commonest mistakes: what was written, which finding it gets, and what to do.

Rule of this file: the rows are the cases of tests/mistakes, whose tests follow each hint to the letter; finding and
hint are those of a real run.
"""

import json
from typing import Any

import yaml

from tests.failures.world import World
from tests.hosts.running import called
from tests.mistakes.cases import EDITED, MISTAKES, NOT_RUN, Mistake
from tests.mistakes.more_cases import MORE
from tools.findings_page import markdown

LONGEST = 100  # characters of a line of the input
HEADS = ("| | mistake | what was written | finding | what to do |", "|---|---|---|---|---|")


def mistakes_page() -> str:
    """Return the table, one row a mistake."""
    found = [(one, in_a_render(one)) for one in MISTAKES] + [(NOT_RUN, not_run()), (EDITED, edited())]
    rows = [_row(number, one, said) for number, (one, said) in enumerate(found, 1)]
    return "\n".join((*HEADS, *rows))


def more_mistakes_page() -> str:
    """Return the table of further mistakes, numbered on."""
    first = len([*MISTAKES, NOT_RUN, EDITED]) + 1
    return "\n".join((*HEADS, *(_row(number, one, in_a_render(one)) for number, one in enumerate(MORE, first))))


def in_a_render(one: Mistake) -> dict[str, Any]:
    """Return the error of a render of the broken deployment."""
    world = World()
    one.change(world)
    return _first(called("fn", "--format", "json", stdin=world.resource_list()).err, one)


def not_run() -> dict[str, Any]:
    """Return the error of a check of a deployment that was never rendered."""
    return _first(called("check", "--format", "json", stdin=World().stream()).err, NOT_RUN)


def edited() -> dict[str, Any]:
    """Return the error of a check of a deployment that was edited after its render."""
    rendered = yaml.safe_load(called("fn", stdin=World().resource_list()).out)
    world = World()
    for item in rendered["items"]:
        if item["kind"] == "Deployment":
            world["web"] = item
    EDITED.change(world)
    rendered["items"] = [world["web"] if item["kind"] == "Deployment" else item for item in rendered["items"]]
    return _first(called("check", "--format", "json", stdin=yaml.safe_dump(rendered).encode()).err, EDITED)


def _first(text: str, one: Mistake) -> dict[str, Any]:
    found: list[dict[str, Any]] = json.loads(text)["findings"]
    return next(said for said in found if said["code"] == one.code)


def _row(number: int, one: Mistake, said: dict[str, Any]) -> str:
    wrote = (
        f"`{one.wrote if len(one.wrote) <= LONGEST else one.wrote[: LONGEST - 1] + '…'}`" if one.wrote else "nothing"
    )
    code = f"[{one.code}](../reference/findings.md#{one.code.lower()})"
    message, hint = (markdown(said[part]).replace("|", "\\|") for part in ("message", "hint"))
    return f"| {number} | {one.title} | {wrote} | {code} {message} | {hint} |"
