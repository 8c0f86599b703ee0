"""Explain one workload, edit by edit: the rule, the reason and the documentation of each.

Rule of this file: it only reads the records of a render. Consecutive edits with the same rule and reason are one step.
The JSON form is versioned; version 1 only ever gains fields.
"""

import json
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from krm_function.contrast.measurement import vcpus_text
from krm_function.findings import REF_NAMES, Finding, Path, Ref, documentation_of, dotted, has_errors, row
from krm_function.kubernetes.address import address_of
from krm_function.kubernetes.kinds import KINDS as WORKLOADS
from krm_function.kubernetes.objects import mapping
from krm_function.kubernetes.resource import Edit
from krm_function.kubernetes.workload import Workload
from krm_function.render.rendered import Rendered
from krm_function.report.findings import finding_data, on_one_line, render_text
from krm_function.report.masking import masked
from krm_function.report.plan import memory_data, memory_sentence
from krm_function.report.policy_text import variables_text
from krm_function.text.changes import ABSENT

SIGNS = {"set": "~", "insert": "+", "remove": "-"}  # of an existing field
LONGEST = 160  # characters of a value in a line: an image with its digest fits


def explained(rendered: Rendered, ref: Ref) -> tuple[Workload, list[Finding]]:
    """Return a workload's entry in the plan of a render, and the findings about it."""
    line = next(line for line in rendered.plan if line.ref == ref)
    return line, [finding for finding in rendered.findings if finding.ref == ref]


def explain_text(rendered: Rendered, ref: Ref) -> str:
    """Write the explanation as text."""
    line, findings = explained(rendered, ref)
    parts = [
        on_one_line(address_of(ref)) + "\n",
        *(f"  {name:<15} {on_one_line(text)}\n" for name, text in _list_facts(line)),
    ]
    for number, step in enumerate(_group_edits(line.edits), 1):
        parts.append(f"\n{number}. {step[0].code} {on_one_line(step[0].reason)}\n")
        signs = ["+" if edit.before is ABSENT else SIGNS[edit.op] for edit in step]
        parts += [f"   {sign} {on_one_line(_write_change(edit))}\n" for sign, edit in zip(signs, step, strict=True)]
        parts.append(f"   see {documentation_of(step[0].code)}\n")
    if findings:
        parts.append(f"\n{render_text(findings, infos=True)}")
    if rendered.failed:
        whose = "this workload" if has_errors(findings) else "another object"
        parts.append(f"\nnothing is written: an error of {whose} stops the render\n")
    elif not line.skipped and not line.edits:
        parts.append("\nnothing changes\n")
    return "".join(parts)


def _list_facts(line: Workload) -> list[tuple[str, str]]:
    if line.skipped:
        template = WORKLOADS[line.ref.kind][1] if line.ref.kind in WORKLOADS else ("its pod template",)
        field = dotted((*template, "spec", "runtimeClassName"))
        remedy = f"set {field} to contrast-cc-<platform>, or name it in spec.workloads"
        return [("left alone", line.skipped), ("to change that", remedy)]
    nodes = ", ".join(f"{key}={value}" for key, value in sorted(line.node_selector.items()))
    opened = [("open variables", variables_text(line))] if line.open else []
    return [
        ("placeholder", line.placeholder),
        ("runtime class", line.runtime_class),
        ("platform", f"{line.platform or 'unknown'}, {vcpus_text(line.vcpus) if line.vcpus else 'unknown vCPUs'}"),
        *([("memory", memory_sentence(line.memory))] if line.memory is not None else []),
        ("nodes with", nodes or "any label"),
        ("policy", line.digest or "none"),
        *opened,
        *(("note", note) for note in line.notes),
    ]


def _group_edits(edits: Sequence[Edit]) -> list[list[Edit]]:
    return [list(step) for _, step in groupby(edits, key=lambda edit: (edit.code, edit.reason))]


def _write_change(edit: Edit) -> str:
    """Write `field: before -> after` on one line."""
    old, new = (_abbreviate(edit.path, value) for value in (edit.before, edit.after))
    arrow = {"set": f"{old} -> {new}" if old else new, "insert": new, "remove": old}[edit.op]
    return f"{dotted(edit.path)}: {arrow}"


def _abbreviate(path: Path, value: Any) -> str:
    """Abbreviate a value: a scalar as it is, a map by its name or keys, a list by the names of its entries."""
    if value is ABSENT:
        return ""
    value = masked(path, value)
    if isinstance(value, dict):
        name = value.get("name")
        return name if isinstance(name, str) else f"map with {', '.join(map(str, value))}"[:LONGEST]
    if isinstance(value, list):
        return f"list of {', '.join(str(mapping(entry).get('name', entry)) for entry in value)}"[:LONGEST]
    text = "null" if value is None else str(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text)} characters)"


def explain_json(rendered: Rendered, ref: Ref) -> str:
    """Write `{"version": 1, "resource": {...}, "failed": bool, "skipped": ..., "steps": [...], "findings": [...]}`."""
    line, findings = explained(rendered, ref)
    data: dict[str, Any] = {
        "version": 1,
        "resource": {name: value for name, value in zip(REF_NAMES, ref, strict=True) if value},
        "failed": rendered.failed,
        "skipped": line.skipped,
        "placeholder": line.placeholder,
        "platform": line.platform,
        "runtimeClassName": "" if line.skipped else line.runtime_class,
        "vcpus": line.vcpus,
        "memory": memory_data(line),
        "nodeSelector": dict(line.node_selector),
        "digest": line.digest,
        "openVariables": [variable._asdict() for variable in line.open],
        "notes": list(line.notes),
        "steps": [_step_data(number, edit) for number, step in enumerate(_group_edits(line.edits), 1) for edit in step],
        "findings": [finding_data(finding) for finding in findings],
    }
    return json.dumps(data, indent=2) + "\n"


def _step_data(number: int, edit: Edit) -> dict[str, Any]:
    data = {
        "step": number,
        "code": edit.code,
        "rule": row(edit.code).sentence,
        "reason": edit.reason,
        "op": edit.op,
        "field": dotted(edit.path),
        "documentation": documentation_of(edit.code),
    }
    values = {"before": edit.before, "after": edit.after}
    return data | {name: masked(edit.path, value) for name, value in values.items() if value is not ABSENT}
