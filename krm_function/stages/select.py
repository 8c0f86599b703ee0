"""Select: find the objects that are Contrast workloads, and the reason why each other one is not.

Rule of this file: a pod is Contrast's by its runtimeClassName alone (docs/facts/contrast.md#selection); nothing is ever
guessed from text. Every object with a pod template is selected, skipped with a reason, or has a finding.
"""

from typing import Any

from krm_function.findings import Finding, Path, Ref, finding
from krm_function.model.controller import controller_of
from krm_function.model.kinds import EDITED, KINDS
from krm_function.model.lookup import dig
from krm_function.model.objects import objects, reference
from krm_function.model.pod_kinds import SHIPPED, Kinds
from krm_function.model.resource import Resource
from krm_function.model.runtime_class_names import is_contrast_name
from krm_function.model.workload import Workload, workloads_of
from krm_function.record import NamedTuple
from krm_function.schema.types import a_type, type_name


class Skipped(NamedTuple):
    """A pod template that is left alone. workload: None for an object of another group or version.

    owned: a controller made the object, or is said to have.
    """

    ref: Ref
    reason: str
    workload: Workload | None = None
    owned: bool = False


class Selection(NamedTuple):
    """The workloads, the skipped pod templates and the findings of one document."""

    workloads: tuple[Workload, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    findings: tuple[Finding, ...] = ()


def select(document: Any, resource: Resource | None = None, kinds: Kinds = SHIPPED) -> Selection:
    """Find the workloads of one document (plain data). resource: where it stands, which places the findings.

    kinds: those with pod templates, if there is no resource that says so.
    """
    kinds = resource.kinds if resource else kinds
    workloads: list[Workload] = []
    skipped: list[Skipped] = []
    findings: list[Finding] = []
    for root, value in objects(document):
        ref = reference(value)
        problem = _ambiguous(document, root, ref, kinds)
        if problem is not None:
            findings.append(problem)
            continue
        if kinds.of(ref) is None:
            if ref.kind in KINDS and kinds.entry(ref) is None:
                reason = f"apiVersion {ref.api_version or 'missing'} is not {KINDS[ref.kind][0]}"
                skipped.append(Skipped(ref, reason))
            continue
        for workload in workloads_of(value, root, ref, resource, kinds):
            match _classified(document, workload):
                case str() as reason:
                    skipped.append(Skipped(workload.ref, reason, workload, controller_of(value) is not None))
                case Finding() as wrong:
                    findings.append(wrong)
                case None:
                    workloads.append(workload)
    placed = findings if resource is None else map(resource.placed, findings)
    return Selection(tuple(workloads), tuple(skipped), tuple(placed))


def _classified(document: Any, workload: Workload) -> str | Finding | None:
    """Return why a pod template is left alone, or what is wrong with it; None if it is Contrast's."""
    wrong = _wrong_shape(document, workload.root, (*workload.template, "spec"))
    if wrong is not None:
        path, actual = wrong
        return finding("CC0207", workload.ref, path, key=str(path[-1]), expected="a map", actual=a_type(actual))
    name = workload.pod_spec.get("runtimeClassName")
    if name is None:
        return "no runtimeClassName"
    if not isinstance(name, str):
        path = (*workload.spec_path, "runtimeClassName")
        actual = a_type(type_name(name))
        return finding("CC0207.quotes", workload.ref, path, key=path[-1], expected="a string", actual=actual)
    return None if is_contrast_name(name) else f"runtime class {name or '(empty)'} is not Contrast's"


def _ambiguous(document: Any, root: Path, ref: Ref, kinds: Kinds) -> Finding | None:
    """Report an object that only some readers take for a pod, because of its items or of the kind of its list."""
    if ref.kind in EDITED or kinds.of(ref):
        return finding("CC0111", ref, (*root, "items"), kind=ref.kind) if "items" in dig(document, root) else None
    members = dig(document, (*root, "items"))
    if ref.kind.endswith("List") and members is not None and not isinstance(members, list):
        return finding(
            "CC0207", ref, (*root, "items"), key="items", expected="a list", actual=a_type(type_name(members))
        )
    if not root or ref.kind or ref.api_version:
        return None
    around = reference(dig(document, root[:-2])).kind
    kind = around.removesuffix("List")
    if kind not in EDITED:
        return None
    return finding("CC0113", ref._replace(kind=kind), (*root, "kind"), list=around, kind=kind)


def _wrong_shape(document: Any, root: Path, steps: Path) -> tuple[Path, str] | None:
    """Find the first step from the object to its pod spec that is neither a map nor absent; a list where one leads."""
    path = root
    for index, part in enumerate(steps):
        path = (*path, part)
        value = dig(document, path)
        into_list = index + 1 < len(steps) and isinstance(steps[index + 1], int)  # which is there, or has no entries
        if value is not None and not isinstance(value, dict) and not into_list:
            return path, type_name(value)
    return None
