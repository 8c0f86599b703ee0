"""The page of findings: for every code its meaning, an example and the remedy, below a heading that is its anchor.

Rule of this file: sentences and hints come from the table, meanings from meanings.yaml, and examples from the cases of
tests/failures by running them; only a code that no case raises has an example made of values.
"""

import os
import re
from typing import Any

import yaml

from krm_function.findings import Finding, Path, Ref, every_row, finding, row
from krm_function.report.text import render_text
from tests.failures import config_cases, issue_cases, pod_cases, text_cases
from tests.failures.case import Case
from tests.failures.world import World
from tests.hosts.running import called

MEANINGS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "meanings.yaml")
WEB = Ref("apps/v1", "Deployment", "shop", "web")
LONGEST = 400  # characters of a line of an example


def findings_page() -> str:
    """Every code, in order."""
    with open(MEANINGS, encoding="utf-8") as file:
        meanings = yaml.safe_load(file)
    cases = first_cases()
    return "\n\n".join(_entry(code, meanings[code], cases.get(code)) for code in sorted(every_row()))


def first_cases() -> dict[str, Case]:
    """The first case of every code that the function can meet and that prints as text."""
    found: dict[str, Case] = {}
    for case in (*issue_cases.cases, *pod_cases.cases, *config_cases.cases, *text_cases.cases):
        if "function" in case.hosts:
            found.setdefault(case.code, case)
    return found


def _entry(code: str, about: dict[str, Any], case: Case | None) -> str:
    kind = row(code)
    if case is not None:
        example, text = case.name.replace("_", " "), said(case)
    else:
        example, text = "", render_text([made(code, about)], infos=True)
    # only an example can say what stands in the place of the braces
    with_hint = "{" in kind.hint or any(not isinstance(said, str) for said in kind.variants.values())
    lines = [f"    {line[:LONGEST]}" for line in text.splitlines() if with_hint or not line.startswith("  hint:")]
    parts = [
        f"### {code}",
        f"{kind.severity}: {markdown(' '.join(kind.sentence.split()))}",
        markdown(about["meaning"], code=True),
        f"Example{f' ({example})' if example else ''}:\n\n" + "\n".join(lines),
    ]
    if kind.variants:
        head = "The problem is one of:\n\n" if "{problem}" in kind.sentence else ""
        parts.append(head + "\n".join(_variant(said) for said in kind.variants.values()))
    if kind.hint and not (kind.hint == "{remedy}" and kind.variants):
        parts.append(f"Remedy: {markdown(kind.hint)}")
    return "\n\n".join(parts)


def _variant(said: str | tuple[str, str]) -> str:
    """One line of a list: what {problem} may be, and the hint that goes with it if it has its own."""
    problem, hint = (said, "") if isinstance(said, str) else said
    remedy = f"Remedy: {markdown(hint)}" if hint else ""
    return f"- {'. '.join(filter(None, (markdown(problem), remedy)))}"


def said(case: Case) -> str:
    """What a case really says, as text."""
    world = World()
    case.change(world)
    return called("fn", stdin=world.resource_list()).err


def made(code: str, about: dict[str, Any]) -> Finding:
    """An example out of values; Kubernetes' own field paths are read back into paths."""
    place = about.get("place", "")
    name = f"{code}.{about['variant']}" if "variant" in about else code
    return finding(name, WEB if place else None, _path(place), **about["values"])


def _path(place: str) -> Path:
    parts = re.findall(r'\["([^"]*)"\]|\[(\d+)\]|([^.\[]+)', place)
    return tuple(int(number) if number else key or name for key, number, name in parts)


def markdown(text: str, *, code: bool = False) -> str:
    """Placeholders and brackets as they look in the table, safe in Markdown. code: the text has `code` of its own."""
    text = text.replace("<", "&lt;")
    return text if code else text.replace("*", "\\*").replace("_", "\\_")
