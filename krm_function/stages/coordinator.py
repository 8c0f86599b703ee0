"""Coordinator: decide which workload has the role, and where the initializers find it.

Rule of this file: a label is written by whoever writes the object, so it gives the role to one StatefulSet at most and
never against the configuration or the base manifest. Source: docs/facts/contrast.md#selection.

    the label is on                 spec.manifest.coordinator names    answer
    one StatefulSet                 nothing                            the coordinator; CC0720 if the base has another
    one workload of any kind        it                                 the coordinator
    several, or not a StatefulSet   nothing                            CC0720 at each
    another workload                a workload                         CC0720 at each other one
    nothing                         a workload of this render          CC0720: it needs the label
    nothing                         the coordinator of the base        that one
    nothing                         anything else                      CC0720
"""

from collections.abc import Sequence
from typing import Any

from krm_function.api.records import Config
from krm_function.findings import Finding, Path, Ref, finding
from krm_function.manifest.identity import BaseEntry, key_of_derived, object_key
from krm_function.manifest.ordered_fields import COORDINATOR
from krm_function.model.listed_names import listed
from krm_function.model.workload import POD_ROLE, Workload
from krm_function.record import NamedTuple


class ChosenCoordinator(NamedTuple):
    """The coordinator among the workloads, None if it is not there, and the namespace in which the pods find it."""

    ref: Ref | None = None
    namespace: str = "default"
    findings: tuple[Finding, ...] = ()


def choose_coordinator(
    workloads: Sequence[Workload], base: Sequence[BaseEntry], config: Config, *, complete: bool = True
) -> ChosenCoordinator:
    """Choose the coordinator by the truth table above.

    base: the entries of the base manifest, with their owners. complete: whether `workloads` are all; if not, nothing
    is called absent.
    """
    named = config.generate.manifest.coordinator
    labelled = {one.ref: one for one in workloads if one.labels.get(POD_ROLE) == COORDINATOR}
    elsewhere = config.generate.namespace
    if named is not None:
        chosen = next((ref for ref in labelled if object_key(ref) == named.key), None)
        others = [one for ref, one in labelled.items() if ref != chosen]
        findings = [_at_label("CC0720.other", one, configured=named.key) for one in others]
        if chosen is None and complete:
            findings += _without_label(workloads, base, config)
        return ChosenCoordinator(chosen, named.namespace, (*findings, *_lost(labelled, workloads, base)))
    findings = _ambiguous(list(labelled.values()))
    chosen = next(iter(labelled), None)
    if chosen and not findings:
        findings = [
            _at_label("CC0720.base", labelled[chosen], other=entry, configured=_line(chosen))
            for entry in base
            if entry.role == COORDINATOR and entry.owner != chosen
        ]
    found = chosen.namespace if chosen else elsewhere
    return ChosenCoordinator(chosen, found or "default", (*findings, *_lost(labelled, workloads, base)))


def _ambiguous(labelled: Sequence[Workload]) -> list[Finding]:
    """Find what keeps the label from deciding: it is there more than once, or on another kind than a StatefulSet."""
    if len(labelled) == 1 and labelled[0].ref.kind != "StatefulSet":
        return [_at_label("CC0720.kind", labelled[0], configured=_line(labelled[0].ref))]
    if len(labelled) < 2:
        return []
    names = listed([object_key(one.ref) for one in labelled])
    return [_at_label("CC0720.several", one, names=names) for one in labelled]


def _without_label(workloads: Sequence[Workload], base: Sequence[BaseEntry], config: Config) -> list[Finding]:
    """Find what keeps the configured coordinator from being one, when no workload of that key has the label."""
    named = config.generate.manifest.coordinator
    if named is None:
        return []
    for one in workloads:
        if object_key(one.ref) == named.key:
            return [finding("CC0720.unlabelled", one.ref, _label(one), configured=named.key)]
    for entry in base:
        if entry.role == COORDINATOR and (key_of_derived(entry.secret) or named.key) == named.key:
            return []
    path = ("spec", "manifest", "coordinator")
    return [finding("CC0720.absent", config.generate.ref, path, configured=named.key)]


def _lost(labelled: dict[Ref, Workload], workloads: Sequence[Workload], base: Sequence[BaseEntry]) -> list[Finding]:
    """Find workloads that have the role in the base and would lose it without another that takes it."""
    if labelled:
        return []
    owners = {entry.owner for entry in base if entry.role == COORDINATOR and entry.owner}
    return [finding("CC0720.lost", one.ref, _label(one)) for one in workloads if one.ref in owners]


def _at_label(code: str, workload: Workload, **values: Any) -> Finding:
    return finding(code, workload.ref, _label(workload), name=object_key(workload.ref), **values)


def _label(workload: Workload) -> Path:
    return (*workload.metadata_path, "labels", POD_ROLE)


def _line(ref: Ref) -> str:
    """Return the line of the configuration that names a coordinator."""
    return f"coordinator: {{namespace: {ref.namespace or 'default'}, kind: {ref.kind}, name: {ref.name}}}"
