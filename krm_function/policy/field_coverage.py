"""Check that a policy covers every field of a pod spec, before the generator reads the pod.

Rule of this file: it knows no field by name; the table model.pod_fields has the type of each field and one of three
uses. After the check every field of a pod is known, covered and of its type. The uses:

    policy    read by the generator: it changes policy_data
    inert     cannot change the host's requests to the guest beyond what the rules allow anyway, nor can anything in it
    refused   could change it in a way that cannot be derived: CC0601, unless it has the value Kubernetes assumes
              anyway, e.g. hostPID: false
"""

from typing import Any, cast

from krm_function.findings import Finding, Path, Ref, dotted, finding
from krm_function.model.pod_fields import POD_SPEC, Use
from krm_function.model.pod_types import type_finding
from krm_function.schema.check import Fault, faults
from krm_function.schema.kinds import Field, Only, Record


def use_of(field: Field) -> Use:
    """Return how a policy uses a field."""
    return cast("Use", field.marks[0])


def coverage_findings(spec: Any, path: Path, ref: Ref | None) -> list[Finding]:
    """Return findings for the fields of the pod spec at `path` that are ill-typed, refused, unknown or missing."""
    return [_finding(fault, path, ref) for fault in faults(POD_SPEC, spec)]


def _finding(fault: Fault, root: Path, ref: Ref | None) -> Finding:
    at, field = root + fault.path, dotted(fault.path)
    if fault.kind == "type":
        return type_finding(fault, root, ref)
    if fault.kind == "unknown":
        near = _nearest_field(fault)
        return finding("CC0605.near" if near else "CC0605", ref, at, field=field, near=near)
    if fault.kind == "missing":
        return finding("CC0604.missing", ref, at[:-1], field=field, key=fault.path[-1])
    if isinstance(fault.spec, Only):
        return finding("CC0601.field", ref, at, field=field)
    return finding("CC0604.value", ref, at, field=field, error=fault.problem)


def _nearest_field(fault: Fault) -> str:
    from krm_function.schema.nearest import nearest

    return nearest(str(fault.path[-1]), fault.spec.fields) if isinstance(fault.spec, Record) else ""
