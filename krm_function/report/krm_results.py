"""Findings as KRM results: what kpt prints and writes to its results file.

Rule of this file: a finding becomes one result with its code as a tag and its remedy in the message, because a result
has no other place for it (docs/facts/krm-functions.md#results). kpt does not print `file`, so the message has it, too.
Infos are left out: kpt has one line for all, older ones four, and only what needs a reader may take its place.
"""

from collections.abc import Iterable

from krm_function.findings import Finding, dotted
from krm_function.krm.result import Field, File, ResourceRef, Result
from krm_function.report.findings_text import place_of
from krm_function.report.groups import sentence
from krm_function.report.order import on_one_line, ordered


def krm_results(findings: Iterable[Finding]) -> list[Result]:
    """Turn findings into the results of a run, errors first."""
    return [_result(found) for found in ordered(findings) if found.severity != "info"]


def _result(found: Finding) -> Result:
    ref, where = None, ""
    if found.ref is not None and found.ref.kind and found.ref.name:
        ref = ResourceRef(found.ref.api_version, found.ref.kind, found.ref.name, found.ref.namespace)
    elif found.ref is not None:
        where = place_of(found)
    elif found.line and not found.origin:
        where = f"line {found.line}"
    if found.origin:
        where = f"{found.origin} {where}".strip()
    message = f"{found.code} {where}: {sentence(found)}" if where else f"{found.code} {sentence(found)}"
    if found.hint:
        message += f" (hint: {found.hint})"
    field = Field(dotted(found.path)) if ref is not None and found.path else None
    return Result(on_one_line(message), found.severity, ref, field, _file(found, ref), {"code": found.code})


def _file(found: Finding, ref: ResourceRef | None) -> File | None:
    """Return the file of the package: where the object comes from, or what was read; none outside of the package."""
    if found.origin:
        return File(found.origin.path, found.origin.position or 0) if found.origin.inside else None
    return File(found.file) if ref is None and found.file and not found.file.startswith(("/", "..")) else None
