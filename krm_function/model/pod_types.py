"""Find wrong types in a workload, which Kubernetes would refuse to decode, before anything else reads the pod.

Rule of this file: if it finds nothing, later readers may trust the types of the table in `pod_fields`. Null counts as
absent, as in Kubernetes, except where something must have a name. The policy reports unknown and refused fields.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from krm_function.findings import Finding, Path, Ref, dotted, finding
from krm_function.model.lookup import mapping
from krm_function.model.pod_fields import NAME, NAMED, POD_SPEC, TEXT_BY_KEY
from krm_function.model.workload import PREFIX, Workload
from krm_function.schema.check import Fault, expected, faults
from krm_function.schema.kinds import ANY_TEXT, Field, ListOf, Record, Spec

UNREADABLE = ("CC0206", "CC0207")  # no containers, or values of a wrong type
METADATA = Record(
    {"namespace": Field(ANY_TEXT), "annotations": Field(TEXT_BY_KEY), "labels": Field(TEXT_BY_KEY)}, closed=False
)
CLAIM = Record(
    {
        "metadata": Field(Record({"name": NAMED}, closed=False)),
        "spec": Field(Record({"volumeMode": Field(ANY_TEXT)}, closed=False)),
    },
    closed=False,
)
CLAIMS = ListOf(CLAIM)


def type_findings(workload: Workload) -> tuple[Finding, ...]:
    """Return CC0207 for every field of the wrong type in metadata, pod template and a StatefulSet's claim templates."""
    return tuple(_findings(workload))


def _findings(workload: Workload) -> Iterator[Finding]:
    own = (*workload.root, "metadata")
    for path in (own,) if workload.template_path == workload.root else (own, workload.metadata_path):
        metadata = workload.at(path)
        yield from _wrong(metadata, path, METADATA, workload.ref)
        yield from _nulls(mapping(metadata), path, workload.ref)
    yield from _wrong(workload.at(workload.spec_path), workload.spec_path, POD_SPEC, workload.ref)
    if workload.ref.kind == "StatefulSet" and not workload.made_by:
        path = (*workload.root, "spec", "volumeClaimTemplates")
        yield from _wrong(workload.at(path), path, CLAIMS, workload.ref)


def _wrong(value: Any, path: Path, spec: Spec, ref: Ref) -> Iterator[Finding]:
    for fault in faults(spec, value) if value is not None else ():
        if fault.kind == "type" or _is_name(fault):
            yield type_finding(fault, path, ref)


def _nulls(metadata: Mapping[str, Any], path: Path, ref: Ref) -> Iterator[Finding]:
    """Find nulls under the keys of Contrast's domain: they could mean "" or nothing."""
    for field in METADATA.fields:
        for key, value in mapping(metadata.get(field)).items():
            if value is None and str(key).startswith(PREFIX):
                yield _finding((*path, field, key), (field, key), ref, "a string", "null")


def _is_name(fault: Fault) -> bool:
    """Tell whether a name is missing or empty."""
    if fault.kind == "missing" and isinstance(fault.spec, Record):
        return fault.spec.fields[str(fault.path[-1])].spec is NAME
    return fault.spec is NAME


def type_finding(fault: Fault, root: Path, ref: Ref | None) -> Finding:
    """Make CC0207 for a fault in a value at `root`: of the wrong type, or a name that is missing or empty."""
    inside = fault.path if fault.path and isinstance(fault.path[0], str) else (*root[-1:], *fault.path)
    if fault.kind == "type":
        return _finding(root + fault.path, inside, ref, expected(fault.spec), fault.found)
    return _finding(root + fault.path, inside, ref, "a string", "null" if fault.kind == "missing" else "an empty one")


def _finding(path: Path, inside: Path, ref: Ref | None, wanted: str, found: str) -> Finding:
    code = "CC0207.quotes" if wanted == "a string" else "CC0207"
    return finding(code, ref, path, key=dotted(inside), expected=wanted, actual=found)
