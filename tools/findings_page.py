"""The page of findings: for every code its meaning, an example and the remedy, below a heading that is its anchor.

Rule of this file: sentences and hints come from the table, meanings from meanings.yaml, and examples from the cases of
tests/failures by running them; only a code that no case raises has an example made of values. What is not in the table
is written into the package as well, for `contrast-krm explain CODE`.
"""

import json
import os
import re
from typing import Any

import yaml

from krm_function.findings import Finding, Path, Ref, every_row, finding, row
from krm_function.findings.explanation import Explanation, Variant, explanation
from krm_function.report.findings import render_text
from tests.failures import config_cases, issue_cases, pod_cases, text_cases
from tests.failures.case import Case
from tests.failures.world import World
from tests.hosts.running import called

MEANINGS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "meanings.yaml")
WEB = Ref("apps/v1", "Deployment", "shop", "web")
LONGEST = 400  # characters of a line of an example


Known = dict[str, dict[str, Any]]  # code -> meaning, case, example


def explanations() -> Known:
    """Return what is known of every code beside its row, in order."""
    with open(MEANINGS, encoding="utf-8") as file:
        meanings = yaml.safe_load(file)
    cases = first_cases()
    return {code: _known(code, meanings[code], cases.get(code)) for code in sorted(every_row())}


def explanations_text(known: Known) -> str:
    """Return the file of the package."""
    return f"{json.dumps(known, indent=1, ensure_ascii=False)}\n"


def findings_page(known: Known) -> str:
    """Every code, in order."""
    return "\n\n".join(_entry(explanation(code, known)) for code in known)


def first_cases() -> dict[str, Case]:
    """Return the first case of every code that the function can meet and that prints as text."""
    found: dict[str, Case] = {}
    for case in (*issue_cases.cases, *pod_cases.cases, *config_cases.cases, *text_cases.cases):
        if "function" in case.hosts:
            found.setdefault(case.code, case)
    return found


def _known(code: str, about: dict[str, Any], case: Case | None) -> dict[str, Any]:
    kind = row(code)
    name, text = (
        (case.name.replace("_", " "), said(case)) if case else ("", render_text([made(code, about)], infos=True))
    )
    # only an example can say what stands in the place of the braces
    with_hint = "{" in kind.hint or any(not isinstance(said, str) for said in kind.variants.values())
    no_reader_has = ("more: ", "for the files: ", "  at: <stdin>:")
    left_out = (*no_reader_has, *(() if with_hint else ("  hint:",)))
    lines = [line[:LONGEST] for line in text.splitlines() if not line.startswith(left_out)]
    return {"meaning": about["meaning"], "case": name, "example": lines}


def _entry(about: Explanation) -> str:
    parts = [
        f"### {about.code}",
        f"{about.severity}: {markdown(about.sentence)}",
        markdown(about.meaning, code=True),
        f"Example{f' ({about.case})' if about.case else ''}:\n\n" + "\n".join(f"    {line}" for line in about.example),
    ]
    if about.variants:
        head = "The problem is one of:\n\n" if "{problem}" in about.sentence else ""
        parts.append(head + "\n".join(map(_variant, about.variants)))
    if about.remedy:
        parts.append(f"Remedy: {markdown(about.remedy)}")
    return "\n\n".join(parts)


def _variant(variant: Variant) -> str:
    """One line of a list: what {problem} may be, and the hint that goes with it if it has its own."""
    remedy = f"Remedy: {markdown(variant.remedy)}" if variant.remedy else ""
    return f"- {'. '.join(filter(None, (markdown(variant.problem), remedy)))}"


def said(case: Case) -> str:
    """Return what a case really says, as text."""
    world = World()
    case.change(world)
    return called("fn", stdin=world.resource_list()).err


def made(code: str, about: dict[str, Any]) -> Finding:
    """Return an example out of values; Kubernetes' own field paths are read back into paths."""
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
