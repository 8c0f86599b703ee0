"""The plan: one line per workload, conflicts first, skipped ones last with their reason.

Rule of this file: it reads the records of a render. The JSON form is versioned; version 1 only ever gains fields.
"""

from collections.abc import Sequence
from typing import Any

from krm_function.findings import dotted
from krm_function.pipeline import Planned, Rendered
from krm_function.report.order import escape

HEADERS = ("WORKLOAD", "KIND", "PLATFORM", "RUNTIME CLASS", "VCPUS", "NODES WITH", "CHANGES")


def plan_text(rendered: Rendered) -> str:
    """The plan as a table with totals."""
    broken = {found.ref for found in rendered.findings if found.severity == "error"}
    chosen = [line for line in rendered.plan if not line.skipped]
    skipped = [line for line in rendered.plan if line.skipped]
    chosen.sort(key=lambda line: line.ref not in broken)
    rows = [HEADERS, *(_row(line, failed=line.ref in broken) for line in chosen), *map(_skipped_row, skipped)]
    total = f"{_count(len(chosen), 'workload')}, {len(skipped)} skipped"
    if rendered.failed:
        errors = sum(found.severity == "error" for found in rendered.findings)
        total += f", {_count(errors, 'error')}: nothing would be written"
    return _table(rows) + f"\n{total}\n"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _row(line: Planned, *, failed: bool) -> tuple[str, ...]:
    nodes = ",".join(f"{key}={value}" for key, value in sorted(line.node_selector.items()))
    changes = "error" if failed else changes_of(line)
    return (
        str(line.ref),
        line.ref.kind,
        line.platform or "-",
        line.runtime_class or "-",
        str(line.vcpus or "-"),
        nodes or "any",
        changes,
    )


def _skipped_row(line: Planned) -> tuple[str, ...]:
    return (str(line.ref), line.ref.kind, "-", "-", "-", "-", f"skipped: {line.skipped}")


def changes_of(line: Planned) -> str:
    """`+2 containers, policy 1a2b3c4d`."""
    injected = {"CC0801", "CC0802", "CC0803"}
    containers = len({edit.code for edit in line.edits if edit.code in injected})
    parts = [f"+{_count(containers, 'container')}"] if containers else []
    images = len([edit for edit in line.edits if edit.code == "CC0506"])
    parts += [_count(images, "image")] if images else []
    parts += [f"policy {line.digest[:8]}"] if line.digest else []
    return ", ".join(parts) or "none"


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    cells = [tuple(escape(cell) for cell in row) for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(HEADERS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    return "\n".join(lines) + "\n"


def plan_json(rendered: Rendered) -> str:
    """`{"version": 1, "failed": bool, "workloads": [...], "skipped": [...]}`."""
    import json

    chosen = [_data(line) for line in rendered.plan if not line.skipped]
    skipped = [{**_ref(line), "reason": line.skipped} for line in rendered.plan if line.skipped]
    data = {"version": 1, "failed": rendered.failed, "workloads": chosen, "skipped": skipped}
    return json.dumps(data, indent=2) + "\n"


def _ref(line: Planned) -> dict[str, Any]:
    api_version, kind, namespace, name = line.ref
    return {"apiVersion": api_version, "kind": kind, "namespace": namespace, "name": name}


def _data(line: Planned) -> dict[str, Any]:
    return {
        **_ref(line),
        "placeholder": line.placeholder,
        "platform": line.platform,
        "runtimeClassName": line.runtime_class,
        "vcpus": line.vcpus,
        "nodeSelector": dict(line.node_selector),
        "digest": line.digest,
        "changes": [
            {"code": edit.code, "op": edit.op, "field": dotted(edit.path), "reason": edit.reason} for edit in line.edits
        ],
    }
