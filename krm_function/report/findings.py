"""Findings as text, as KRM results and for programs, and findings read back from a report."""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from krm_function import __version__
from krm_function.findings import (
    REF_NAMES,
    Finding,
    Ref,
    documentation_of,
    documentation_url,
    dotted,
    position_text,
    row,
)
from krm_function.krm.result import Field, File, ResourceRef, Result, visible
from krm_function.kubernetes.address import address_of
from krm_function.kubernetes.objects import mapping, maps
from krm_function.record import NamedTuple

# --- The order of findings: errors first, then by place; the same in every format
#
# kpt shows a report on one line, older versions its first four lines, so the decisive finding must come first.
# Source: docs/facts/krm-functions.md#results.


RANK = {"error": 0, "warning": 1, "info": 2}


def ordered(findings: Iterable[Finding]) -> list[Finding]:
    """Sort findings into this order, without duplicates."""
    return sorted(set(findings), key=_sort_key)


def _sort_key(finding: Finding) -> tuple[int, str, int, str, str, str, str]:
    ref = f"{finding.ref.kind}/{finding.ref}" if finding.ref else ""
    field = dotted(finding.path)
    return RANK[finding.severity], finding.file, finding.line, finding.code, ref, field, finding.message


def on_one_line(text: str) -> str:
    """Put `text` on one line and make control, format and separator characters visible: names come from the input."""
    if text.isprintable():
        return text
    return visible(text.replace("\n", " "))


# --- Colours of a terminal for words of this program
#
# Rule: the caller decides whether a stream shows colours (cli/parser.py). Painted text contains no control characters
# of the input (`on_one_line`).


# style -> parameters of "Select Graphic Rendition" (ECMA-48): of the sixteen colours that each user can choose
STYLES = {
    "error": "1;31",  # red
    "warning": "1;33",  # yellow
    "info": "1;34",  # blue
    "hint": "36",  # cyan
    "note": "33",
    "place": "1",
    "heading": "1",
}

Paint = Callable[[str, str], str]  # text, style -> text


def plain(text: str, style: str) -> str:  # noqa: ARG001 (a Paint)
    """Leave a text without colour."""
    return text


def ansi(text: str, style: str) -> str:
    """Put a text into the colour of a style."""
    return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if text else ""


# --- Findings of one cause as one group: same code, same sentence, same remedy, at several places
#
# Rule: only for readers: in text, on the plan's page and in SARIF. JSON, GitHub's commands and the results of a
# ResourceList list each finding separately, because programs count and place them.


class Group(NamedTuple):
    """Findings that differ only in their places. first: in the order of a report."""

    first: Finding
    rest: tuple[Finding, ...] = ()


def grouped(findings: Iterable[Finding]) -> list[Group]:
    """Group findings, in the order of the first of each group."""
    groups: dict[tuple[str, str, str, str], list[Finding]] = {}
    for finding in ordered(findings):
        groups.setdefault((finding.severity, finding.code, sentence(finding), finding.hint), []).append(finding)
    return [Group(first, tuple(rest)) for first, *rest in groups.values()]


def sentence(finding: Finding) -> str:
    """Return a finding's message on one line, without its field at the beginning: the place is printed beside it."""
    field = dotted(finding.path)
    subject, must, requirement = finding.message.partition(" must ")
    if must and f".{field}".endswith(f".{subject}"):
        return on_one_line(f"must {requirement}")
    head, _, rest = finding.message.partition(": ")
    is_named = finding.ref is not None and head == f"{finding.ref.kind} {finding.ref.name}"
    place, _, text = rest.partition(": ") if is_named else (head, "", rest)
    if not text or not (field == place or field.endswith(f".{place}")):
        return on_one_line(finding.message)
    return on_one_line(f"{head}: {text}" if is_named else text)


# --- Findings as text: `severity code place: sentence`, remedies indented below
#
#     error CC0304 shop/db spec.template.spec.nodeSelector: nodeSelector hardware=tdx contradicts …
#       hint: remove the key from the pod template, …
#
#     error CC0504 shop/db spec.template.spec and 2 more: image … is not in the ImageLock
#       also: shop/web spec.template.spec (web.yaml:24:5)
#
# Lower case, no full stop, one line per sentence. A place is the object and field, else the file and line. A finding
# with several places is printed once, and the places after the fifth are counted.


NAMED = 5  # places of one cause that are named, unless all are requested


def place_of(finding: Finding) -> str:
    """Return the place of a finding: `shop/db spec.x`, `file.yaml:3:7`, or "" if it is about the whole run."""
    if finding.ref is not None:
        return on_one_line(f"{finding.ref} {dotted(finding.path)}".strip())
    return position(finding)


def position(finding: Finding) -> str:
    """Write `file:line:column` as far as known; for an object of a stream, with its claimed file."""
    return on_one_line(position_text(finding.file, finding.line, finding.column, finding.origin))


def render_text(findings: Iterable[Finding], *, infos: bool = False, whole: bool = False, paint: Paint = plain) -> str:
    """Write all findings as text, "" for none.

    infos: include findings of severity info. whole: name every place of a cause. paint: see Paint.
    """
    told = (finding for finding in findings if infos or finding.severity != "info")
    return "".join(line + "\n" for group in grouped(told) for line in _lines(group, paint, whole=whole))


def _lines(group: Group, paint: Paint, *, whole: bool) -> Iterator[str]:
    """Yield the lines of a cause: its first place with the sentence, the other places, the remedy."""
    first, rest = group
    where, place = place_of(first), position(first)
    and_more = f" and {len(rest)} more" if rest else ""
    head = paint(f"{first.severity} {first.code}", first.severity) + (f" {paint(where, 'place')}" if where else "")
    yield f"{head}{and_more}: {sentence(first)}"
    if place and place != where:
        yield f"  at: {place}"
    listed = rest if whole or len(rest) < NAMED else rest[: NAMED - 1]
    for finding in listed:
        yield f"  also: {_whole_place(finding)}"
    if len(rest) > len(listed):
        yield f"  also: {len(rest) - len(listed)} more, which -v names"
    if first.hint:
        yield f"  {paint('hint:', 'hint')} {on_one_line(first.hint)}"


def _whole_place(finding: Finding) -> str:
    where, place = place_of(finding), position(finding)
    return f"{where} ({place})" if place and place != where else where


# --- Findings as KRM results, which kpt prints and writes to its results file
#
# Rule: a finding becomes one result with its code as a tag and its remedy in the message, because a result has no other
# place for it (docs/facts/krm-functions.md#results). kpt does not print `file`, so the message has it too. Infos are
# left out: kpt has one line for all results, older versions four, and only results that need a reader may use it.


def krm_results(findings: Iterable[Finding]) -> list[Result]:
    """Turn findings into the results of a run, errors first."""
    return [_krm_result(finding) for finding in ordered(findings) if finding.severity != "info"]


def _krm_result(finding: Finding) -> Result:
    ref, where = None, ""
    if finding.ref is not None and finding.ref.kind and finding.ref.name:
        ref = ResourceRef(finding.ref.api_version, finding.ref.kind, finding.ref.name, finding.ref.namespace)
    elif finding.ref is not None:
        where = place_of(finding)
    elif finding.line and not finding.origin:
        where = f"line {finding.line}"
    if finding.origin:
        where = f"{finding.origin} {where}".strip()
    message = f"{finding.code} {where}: {sentence(finding)}" if where else f"{finding.code} {sentence(finding)}"
    if finding.hint:
        message += f" (hint: {finding.hint})"
    field = Field(dotted(finding.path)) if ref is not None and finding.path else None
    return Result(
        on_one_line(message), finding.severity, ref, field, _file_of_result(finding, ref), {"code": finding.code}
    )


def _file_of_result(finding: Finding, ref: ResourceRef | None) -> File | None:
    """Return the file of the package: the object's or the one that was read; None outside of the package."""
    if finding.origin:
        return File(finding.origin.path, finding.origin.position or 0) if finding.origin.inside else None
    return File(finding.file) if ref is None and finding.file and not finding.file.startswith(("/", "..")) else None


# --- Findings for machines: JSON (versioned) and GitHub workflow commands
#
# Rule: same findings, same order as the text; consumers may rely on field names of version 1.


GITHUB_LEVEL = {"error": "error", "warning": "warning", "info": "notice"}


def finding_data(finding: Finding) -> dict[str, Any]:
    """Return one finding as plain data, without absent parts."""
    data: dict[str, Any] = {"code": finding.code, "severity": finding.severity, "message": on_one_line(finding.message)}
    if finding.hint:
        data["hint"] = on_one_line(finding.hint)
    if finding.ref is not None:
        data["resource"] = {name: value for name, value in zip(REF_NAMES, finding.ref, strict=True) if value}
    if finding.path:
        data["field"] = dotted(finding.path)
    position = {"file": finding.file, "line": finding.line, "column": finding.column}
    data.update({name: value for name, value in position.items() if value})
    if finding.origin is not None:
        data["origin"] = {"path": finding.origin.path}
        if finding.origin.position is not None:
            data["origin"]["index"] = finding.origin.position
    data["documentation"] = documentation_of(finding.code)
    return data


def object_data(ref: Ref) -> dict[str, str]:
    """Return the identity of an object or of one of its pod templates, for JSON."""
    api_version, kind, namespace, name, part = ref
    template = {"template": part} if part else {}
    return {"apiVersion": api_version, "kind": kind, "namespace": namespace, "name": name, **template}


def problem_data(problem: Finding) -> dict[str, Any]:
    """Return a finding about a pod that is named already, for JSON."""
    return {"code": problem.code, "field": dotted(problem.path), "message": problem.message, "hint": problem.hint}


def render_json(findings: Iterable[Finding]) -> str:
    """Write `{"version": 1, "findings": [...]}` with a final newline."""
    data = {"version": 1, "findings": [finding_data(finding) for finding in ordered(findings)]}
    return json.dumps(data, indent=2) + "\n"


def render_github(findings: Iterable[Finding], *, infos: bool = False) -> str:
    """Write one workflow command per finding. infos: include severity info, as notices; GitHub shows ten."""
    lines = []
    for finding in ordered(findings):
        if finding.severity == "info" and not infos:
            continue
        where = f"{finding.ref} {dotted(finding.path)}".strip() if finding.ref else ""
        fields = {**_file_of_finding(finding), "title": f"{finding.code} {where}".strip()}
        joined = ",".join(f"{key}={_escape_property(value)}" for key, value in fields.items() if value)
        hint = f"%0Ahint: {_escape_data(finding.hint)}" if finding.hint else ""
        lines.append(f"::{GITHUB_LEVEL[finding.severity]} {joined}::{_escape_data(sentence(finding))}{hint}\n")
    return "".join(lines)


def _file_of_finding(finding: Finding) -> dict[str, str]:
    """Return the file of an annotation, with its line; a line of a stream would look like a line of some file."""
    if not finding.file:
        return {"file": finding.origin.path if finding.origin and finding.origin.inside else ""}
    return {"file": finding.file, "line": str(finding.line or ""), "col": str(finding.column or "")}


def _escape_data(text: str) -> str:
    return on_one_line(text).replace("%", "%25")


def _escape_property(text: str) -> str:
    return _escape_data(text).replace(":", "%3A").replace(",", "%2C")


# --- Findings as SARIF 2.1.0, which code hosts and editors read
#
# Rule: plain data according to the OASIS schema. The libraries that model SARIF are unmaintained, or heavier than this
# whole package; the tests validate the output with the schema. A finding about an object has its field as logical
# location, and its file and line as physical location if it has a file; a file that the object only claims has no line,
# since lines count in the stream. Findings of one cause are one result at the first place, which relates to the others:
# by the standard (3.27.12) a result has several locations only if each must be changed.


SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVEL = {"error": "error", "warning": "warning", "info": "note"}


def render_sarif(findings: Iterable[Finding], *, infos: bool = False) -> str:
    """Write one run with one result per cause. infos: include findings of severity info, as notes."""
    shown = grouped(finding for finding in findings if infos or finding.severity != "info")
    codes = sorted({group.first.code for group in shown})
    driver = {"name": "contrast-krm", "version": __version__, "rules": [_rule_data(code) for code in codes]}
    results = [_sarif_result(group, codes.index(group.first.code)) for group in shown]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule_data(code: str) -> dict[str, Any]:
    about = row(code)
    rule: dict[str, Any] = {
        "id": code,
        "shortDescription": {"text": about.sentence},
        "fullDescription": {"text": about.meaning},
        "help": {"text": "; ".join(filter(None, (about.remedy, f"see {documentation_of(code)}")))},
    }
    if url := documentation_url(code):
        rule["helpUri"] = url
    return rule | {"defaultConfiguration": {"level": LEVEL[about.severity]}}


def _sarif_result(group: Group, rule: int) -> dict[str, Any]:
    first, rest = group
    places = f" (and at {len(rest)} more {'place' if len(rest) == 1 else 'places'})" if rest else ""
    text = sentence(first) + places + (f"; hint: {first.hint}" if first.hint else "")
    result: dict[str, Any] = {
        "ruleId": first.code,
        "ruleIndex": rule,
        "level": LEVEL[first.severity],
        "message": {"text": on_one_line(text)},
    }
    location = _location_data(first)
    if location:
        result["locations"] = [location]
    if related := [location for location in map(_location_data, rest) if location]:
        result["relatedLocations"] = [{"id": number, **location} for number, location in enumerate(related, 1)]
    return result | {"partialFingerprints": {"finding/v2": _fingerprint(group)}}


def _location_data(finding: Finding) -> dict[str, Any]:
    location: dict[str, Any] = {}
    file = finding.origin.path if finding.origin and finding.origin.inside else finding.file
    if file:
        from urllib.parse import quote

        place: dict[str, Any] = {"artifactLocation": {"uri": quote(file.encode("utf-8", "surrogateescape"))}}
        if finding.line and not finding.origin:
            place["region"] = {"startLine": finding.line} | ({"startColumn": finding.column} if finding.column else {})
        location["physicalLocation"] = place
    if finding.ref is not None:
        field = dotted(finding.path)
        name = f"{address_of(finding.ref)} {field}".strip()
        location["logicalLocations"] = [
            {"name": on_one_line(field or str(finding.ref)), "fullyQualifiedName": on_one_line(name)}
        ]
    return location


def _fingerprint(group: Group) -> str:
    """Make a fingerprint that stays the same when lines move.

    From the rule and the sentence; for a cause at one place also from object and field.
    """
    import hashlib

    first, rest = group
    place = () if rest else (*(first.ref or ()), dotted(first.path))
    same = "\n".join((first.code, sentence(first), *place))
    return hashlib.sha256(same.encode("utf-8", "surrogatepass")).hexdigest()[:32]


# --- Read the findings of one code from an earlier call's `--report` file, as text or as JSON
#
# Rule: it reads the formats of this file. The content is not trusted, only shown.


class Reported(NamedTuple):
    """A finding of a report. place: object and field, "" for none. hint: "" for none."""

    place: str
    sentence: str
    hint: str


def read_report(text: str, code: str) -> tuple[Reported, ...]:
    """Return the findings of a code in a report, without duplicates. Raises ValueError for other formats."""
    told = _read_json(text, code) if text.lstrip().startswith("{") else _read_text(text, code)
    return tuple(dict.fromkeys(told))


def _read_json(text: str, code: str) -> list[Reported]:
    try:
        report: Any = json.loads(text)
    except RecursionError:
        raise ValueError("too deep") from None
    findings = mapping(report).get("findings")
    if not isinstance(findings, list):
        raise ValueError("no findings")  # noqa: TRY004 (of a text, not of an argument)
    return [
        Reported(_place(entry), on_one_line(str(entry.get("message", ""))), on_one_line(str(entry.get("hint", ""))))
        for entry in maps(findings)
        if entry.get("code") == code
    ]


def _place(entry: dict[str, Any]) -> str:
    resource = mapping(entry.get("resource"))
    name = "/".join(str(part) for part in (resource.get("namespace"), resource.get("name")) if part)
    return on_one_line(f"{name} {entry.get('field') or ''}".strip())


def _read_text(text: str, code: str) -> list[Reported]:
    told: list[Reported] = []
    has_code = last = False
    for line in text.splitlines():
        severity, _, rest = line.partition(" ")
        raised, _, words = rest.partition(" ")
        if severity in RANK and raised.rstrip(":")[:2] == "CC":
            has_code, last = True, raised.rstrip(":") == code
            if last:
                place, _, sentence = ("", "", words) if raised.endswith(":") else words.partition(": ")
                told.append(Reported(on_one_line(place), on_one_line(sentence), ""))
        elif last and line.startswith("  hint: "):
            told[-1] = told[-1]._replace(hint=on_one_line(line.removeprefix("  hint: ")))
    if not has_code:
        raise ValueError("no findings")
    return told
