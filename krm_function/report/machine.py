"""Findings for machines: JSON (versioned) and GitHub workflow commands.

Rule of this file: same findings, same order as the text; a consumer may rely on field names of version 1.
"""

from collections.abc import Iterable
from typing import Any

from krm_function.findings import REF_NAMES, Finding, dotted
from krm_function.findings.documentation import documentation_of
from krm_function.report.groups import sentence
from krm_function.report.order import on_one_line, ordered

GITHUB_LEVEL = {"error": "error", "warning": "warning", "info": "notice"}


def finding_data(found: Finding) -> dict[str, Any]:
    """Return one finding as plain data; absent parts are left out."""
    data: dict[str, Any] = {"code": found.code, "severity": found.severity, "message": on_one_line(found.message)}
    if found.hint:
        data["hint"] = on_one_line(found.hint)
    if found.ref is not None:
        data["resource"] = {name: value for name, value in zip(REF_NAMES, found.ref, strict=True) if value}
    if found.path:
        data["field"] = dotted(found.path)
    position = {"file": found.file, "line": found.line, "column": found.column}
    data.update({name: value for name, value in position.items() if value})
    if found.origin is not None:
        data["origin"] = {"path": found.origin.path}
        if found.origin.position is not None:
            data["origin"]["index"] = found.origin.position
    data["documentation"] = documentation_of(found.code)
    return data


def render_json(findings: Iterable[Finding]) -> str:
    """Write `{"version": 1, "findings": [...]}` with a final newline."""
    import json

    return json.dumps({"version": 1, "findings": [finding_data(found) for found in ordered(findings)]}, indent=2) + "\n"


def render_github(findings: Iterable[Finding], *, infos: bool = False) -> str:
    """Write one workflow command per finding. infos: also those of severity info, as notices; GitHub shows ten."""
    lines = []
    for found in ordered(findings):
        if found.severity == "info" and not infos:
            continue
        where = f"{found.ref} {dotted(found.path)}".strip() if found.ref else ""
        fields = {**_file(found), "title": f"{found.code} {where}".strip()}
        joined = ",".join(f"{key}={_property(value)}" for key, value in fields.items() if value)
        hint = f"%0Ahint: {_data(found.hint)}" if found.hint else ""
        lines.append(f"::{GITHUB_LEVEL[found.severity]} {joined}::{_data(sentence(found))}{hint}\n")
    return "".join(lines)


def _file(found: Finding) -> dict[str, str]:
    """Return the file of an annotation, with its line; a line of a stream would be taken for one of some file."""
    if not found.file:
        return {"file": found.origin.path if found.origin and found.origin.inside else ""}
    return {"file": found.file, "line": str(found.line or ""), "col": str(found.column or "")}


def _data(text: str) -> str:
    return on_one_line(text).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
