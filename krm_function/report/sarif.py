"""Findings as SARIF 2.1.0, which code hosts and editors read.

Rule of this file: plain data after the OASIS schema. The libraries that model SARIF are unmaintained, or heavier than
all of this package; the tests validate the output with the schema. A finding about an object has its field as
logical location, and its file and line as physical location where there is a file; a file that the object only says it
comes from has no line, since lines count in the stream.
"""

from collections.abc import Iterable
from typing import Any

from krm_function import __version__
from krm_function.findings import Finding, dotted
from krm_function.findings.documentation import documentation_of, documentation_url
from krm_function.findings.explanation import explanation
from krm_function.model.address import address_of
from krm_function.report.order import on_one_line, ordered

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVEL = {"error": "error", "warning": "warning", "info": "note"}


def render_sarif(findings: Iterable[Finding], *, infos: bool = False) -> str:
    """Write one run with one result per finding. infos: also findings of severity info, as notes."""
    import json

    shown = [found for found in ordered(findings) if infos or found.severity != "info"]
    codes = sorted({found.code for found in shown})
    driver = {"name": "contrast-krm", "version": __version__, "rules": [_rule(code) for code in codes]}
    results = [_result(found, codes.index(found.code)) for found in shown]
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


def _result(found: Finding, rule: int) -> dict[str, Any]:
    text = found.message + (f"; hint: {found.hint}" if found.hint else "")
    result: dict[str, Any] = {
        "ruleId": found.code,
        "ruleIndex": rule,
        "level": LEVEL[found.severity],
        "message": {"text": on_one_line(text)},
    }
    location = _location(found)
    if location:
        result["locations"] = [location]
    return result | {"partialFingerprints": {"finding/v1": _fingerprint(found)}}


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


def _fingerprint(found: Finding) -> str:
    """Make a fingerprint that stays the same when lines move, of rule, object and field."""
    import hashlib

    same = "\n".join((found.code, *(found.ref or ()), dotted(found.path)))
    return hashlib.sha256(same.encode("utf-8", "surrogatepass")).hexdigest()[:32]
