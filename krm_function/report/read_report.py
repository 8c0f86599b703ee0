"""Read what an earlier call wrote with `--report`: the findings of one code, as text or as JSON.

Rule of this file: it reads what findings_text.py and machine.py write, and nothing of it is believed: it is shown.
"""

from typing import Any

from krm_function.model.lookup import mapping, maps
from krm_function.record import NamedTuple
from krm_function.report.order import on_one_line

SEVERITIES = ("error", "warning", "info")


class Reported(NamedTuple):
    """A finding of a report. place: object and field, "" for none. sentence: what is wrong. hint: "" for none."""

    place: str
    sentence: str
    hint: str


def read_report(text: str, code: str) -> tuple[Reported, ...]:
    """Return the findings of a code in a report, each once. Raises ValueError for what is no report of these forms."""
    told = _from_json(text, code) if text.lstrip().startswith("{") else _from_text(text, code)
    return tuple(dict.fromkeys(told))


def _from_json(text: str, code: str) -> list[Reported]:
    import json

    try:
        report: Any = json.loads(text)
    except RecursionError:
        raise ValueError("too deep") from None
    findings = mapping(report).get("findings")
    if not isinstance(findings, list):
        raise ValueError("no findings")  # noqa: TRY004 (of a text, not of an argument)
    return [
        Reported(_place(one), on_one_line(str(one.get("message", ""))), on_one_line(str(one.get("hint", ""))))
        for one in maps(findings)
        if one.get("code") == code
    ]


def _place(one: dict[str, Any]) -> str:
    resource = mapping(one.get("resource"))
    name = "/".join(str(part) for part in (resource.get("namespace"), resource.get("name")) if part)
    return on_one_line(f"{name} {one.get('field') or ''}".strip())


def _from_text(text: str, code: str) -> list[Reported]:
    told: list[Reported] = []
    known = last = False
    for line in text.splitlines():
        severity, _, rest = line.partition(" ")
        raised, _, said = rest.partition(" ")
        if severity in SEVERITIES and raised.rstrip(":")[:2] == "CC":
            known, last = True, raised.rstrip(":") == code
            if last:
                place, _, sentence = ("", "", said) if raised.endswith(":") else said.partition(": ")
                told.append(Reported(on_one_line(place), on_one_line(sentence), ""))
        elif last and line.startswith("  hint: "):
            told[-1] = told[-1]._replace(hint=on_one_line(line.removeprefix("  hint: ")))
    if not known:
        raise ValueError("no findings")
    return told
