"""Findings as SARIF 2.1.0, which code hosts and editors read.

Rule of this file: plain data after the OASIS schema. The libraries that model SARIF are unmaintained, or heavier than
all of this package; the tests validate the output with the schema. A finding about an object has its field as
logical location, and its file and line as physical location where there is a file; a file that the object only says it
comes from has no line, since lines count in the stream. Findings of one cause are one result at the first place, which
relates to the others: by the standard (3.27.12) a result has several locations only if each must be changed.
"""

from collections.abc import Iterable
from typing import Any

from krm_function import __version__
from krm_function.findings import Finding, dotted
from krm_function.findings.documentation import documentation_of, documentation_url
from krm_function.findings.explanation import explanation
from krm_function.model.address import address_of
from krm_function.report.groups import Group, grouped, sentence
from krm_function.report.order import on_one_line

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVEL = {"error": "error", "warning": "warning", "info": "note"}


def render_sarif(findings: Iterable[Finding], *, infos: bool = False) -> str:
    """Write one run with one result per cause. infos: also findings of severity info, as notes."""
    import json

    shown = grouped(found for found in findings if infos or found.severity != "info")
    codes = sorted({group.found.code for group in shown})
    driver = {"name": "contrast-krm", "version": __version__, "rules": [_rule(code) for code in codes]}
    results = [_result(group, codes.index(group.found.code)) for group in shown]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(code: str) -> dict[str, Any]:
    about = explanation(code)
    rule: dict[str, Any] = {
        "id": code,
        "shortDescription": {"text": about.sentence},
        "fullDescription": {"text": about.meaning},
        "help": {"text": "; ".join(filter(None, (about.remedy, f"see {documentation_of(code)}")))},
    }
    if url := documentation_url(code):
        rule["helpUri"] = url
    return rule | {"defaultConfiguration": {"level": LEVEL[about.severity]}}


def _result(group: Group, rule: int) -> dict[str, Any]:
    found, others = group
    more = f" (and at {len(others)} more {'place' if len(others) == 1 else 'places'})" if others else ""
    text = sentence(found) + more + (f"; hint: {found.hint}" if found.hint else "")
    result: dict[str, Any] = {
        "ruleId": found.code,
        "ruleIndex": rule,
        "level": LEVEL[found.severity],
        "message": {"text": on_one_line(text)},
    }
    location = _location(found)
    if location:
        result["locations"] = [location]
    if related := [location for location in map(_location, others) if location]:
        result["relatedLocations"] = [{"id": number, **location} for number, location in enumerate(related, 1)]
    return result | {"partialFingerprints": {"finding/v2": _fingerprint(group)}}


def _location(found: Finding) -> dict[str, Any]:
    location: dict[str, Any] = {}
    file = found.origin.path if found.origin and found.origin.inside else found.file
    if file:
        from urllib.parse import quote

        place: dict[str, Any] = {"artifactLocation": {"uri": quote(file.encode("utf-8", "surrogateescape"))}}
        if found.line and not found.origin:
            place["region"] = {"startLine": found.line} | ({"startColumn": found.column} if found.column else {})
        location["physicalLocation"] = place
    if found.ref is not None:
        field = dotted(found.path)
        name = f"{address_of(found.ref)} {field}".strip()
        location["logicalLocations"] = [
            {"name": on_one_line(field or str(found.ref)), "fullyQualifiedName": on_one_line(name)}
        ]
    return location


def _fingerprint(group: Group) -> str:
    """Make a fingerprint that stays the same when lines move.

    Of the rule and the sentence, and of a cause at one place also of object and field.
    """
    import hashlib

    found, others = group
    place = () if others else (*(found.ref or ()), dotted(found.path))
    same = "\n".join((found.code, sentence(found), *place))
    return hashlib.sha256(same.encode("utf-8", "surrogatepass")).hexdigest()[:32]
