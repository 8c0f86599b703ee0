"""The table of findings that the program reads, and the page of it: for every code meaning, example and remedy.

Rule of this file: all comes from the sources in krm_function/findings, but for examples. Those are what the cases of
tests/failures print; only a code that no case raises has an example made of values.
"""

import json
import re
from pathlib import Path
from typing import Any

from krm_function import findings
from krm_function.findings import Finding, Ref, Row, Variant, finding, row
from krm_function.report.findings import render_text
from krm_function.text.parse import read_value
from tests.failures import config_cases, issue_cases, pod_cases, text_cases
from tests.failures.case import Case
from tests.failures.world import World
from tests.hosts.running import called

FILES = sorted(Path(findings.__file__).parent.glob("cc*.yaml"))
WEB = Ref("apps/v1", "Deployment", "shop", "web")
LONGEST = 400  # characters of a line of an example


def sources() -> dict[str, dict[str, Any]]:
    """Return what the files of all areas have of each code. A key that a file has twice is an error."""
    return {code: source for path in FILES for code, source in read_value(path.read_text()).items()}


def compiled() -> dict[str, str]:
    """Return the table with its examples, which are made of the sources as they are, not of the file of the package."""
    every = dict(sorted(sources().items()))
    table = findings.table()
    _replace(table, {code: [*fields(source), "", []] for code, source in every.items()})
    cases = first_cases()
    examples = {code: _example(code, source.get("example", {}), cases.get(code)) for code, source in every.items()}
    _replace(table, {code: [*fields(source), *examples[code]] for code, source in every.items()})
    return table


def _replace(table: dict[str, str], rows: dict[str, list[Any]]) -> None:
    """Let this process use other rows than those of the file."""
    table.clear()
    table.update({code: f"{json.dumps(values, ensure_ascii=False)}\n" for code, values in rows.items()})
    row.cache_clear()


def table_text(table: dict[str, str]) -> str:
    """Return the file of the package."""
    return "".join(f"{code} {values}" for code, values in table.items())


def fields(source: dict[str, Any]) -> list[Any]:
    """Return the fields of a Row between its code and its example."""
    variants = {name: _variant(variant) for name, variant in source.get("variants", {}).items()}
    return [source["severity"], source["sentence"], source.get("hint", ""), variants, source["meaning"]]


def _variant(source: str | dict[str, str]) -> Variant:
    return Variant(source) if isinstance(source, str) else Variant(source.get("problem", ""), source.get("hint", ""))


def first_cases() -> dict[str, Case]:
    """Return the first case of every code that the function can meet and that prints as text."""
    first: dict[str, Case] = {}
    for case in (*issue_cases.cases, *pod_cases.cases, *config_cases.cases, *text_cases.cases):
        if "function" in case.hosts:
            first.setdefault(case.code, case)
    return first


def _example(code: str, example: dict[str, Any], case: Case | None) -> tuple[str, list[str]]:
    """Return what is wrong in the example of a code, and its lines."""
    text = printed(case) if case else render_text([made(code, example)], infos=True)
    # only an example can tell what {placeholders} become
    kind = row(code)
    with_hint = "{" in kind.hint or any(variant.hint for variant in kind.variants.values())
    no_reader_has = ("more: ", "for the files: ", "  at: <stdin>:")
    left_out = (*no_reader_has, *(() if with_hint else ("  hint:",)))
    lines = [line[:LONGEST] for line in text.splitlines() if not line.startswith(left_out)]
    return case.name.replace("_", " ") if case else "", lines


def printed(case: Case) -> str:
    """Return what the function prints for a case."""
    world = World()
    case.change(world)
    return called("fn", stdin=world.resource_list()).err


def made(code: str, example: dict[str, Any]) -> Finding:
    """Return a finding out of example values; Kubernetes' own field paths are read back into paths."""
    place = example.get("place", "")
    name = f"{code}.{example['variant']}" if "variant" in example else code
    return finding(name, WEB if place else None, _path(place), **example.get("values", {}))


def _path(place: str) -> findings.Path:
    parts = re.findall(r'\["([^"]*)"\]|\[(\d+)\]|([^.\[]+)', place)
    return tuple(int(number) if number else key or name for key, number, name in parts)


def findings_page() -> str:
    """Every code, in order."""
    return "\n\n".join(map(_entry, findings.every_row().values()))


def _entry(about: Row) -> str:
    parts = [
        f"### {about.code}",
        f"{about.severity}: {markdown(about.sentence)}",
        markdown(about.meaning, code=True),
        f"Example{f' ({about.case})' if about.case else ''}:\n\n" + "\n".join(f"    {line}" for line in about.example),
    ]
    if about.variants:
        head = "The problem is one of:\n\n" if "{problem}" in about.sentence else ""
        parts.append(head + "\n".join(map(_line, about.variants.values())))
    if about.remedy:
        parts.append(f"Remedy: {markdown(about.remedy)}")
    return "\n\n".join(parts)


def _line(variant: Variant) -> str:
    """One line of a list: what {problem} may be, and the hint that goes with it if it has its own."""
    remedy = f"Remedy: {markdown(variant.hint)}" if variant.hint else ""
    return f"- {'. '.join(filter(None, (markdown(variant.problem), remedy)))}"


def markdown(text: str, *, code: bool = False) -> str:
    """Placeholders and brackets as they look in the table, safe in Markdown. code: the text has `code` of its own."""
    text = text.replace("<", "&lt;")
    return text if code else text.replace("*", "\\*").replace("_", "\\_")
