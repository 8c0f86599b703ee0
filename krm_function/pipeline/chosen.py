"""Apply `spec.workloads` of the configuration to what was selected.

Rule of this file: it runs only where the configuration has entries. What controllers made of workloads is judged as
what it was made of, and gets no class by itself; an entry that names it is an error, since anybody can write an owner.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from krm_function.api.records import Generate
from krm_function.findings import Finding, Ref, finding
from krm_function.input_checks.copies import controllers, known_controllers
from krm_function.input_checks.unknown_pods import UnknownPods, unknown_pods
from krm_function.input_checks.unsealed import unsealed_finding
from krm_function.model.controller import Controller, controller_of
from krm_function.model.kinds import CATALOGUED, KINDS
from krm_function.model.objects import reference
from krm_function.model.resource import Resource
from krm_function.model.runtime_class_names import FIELD
from krm_function.model.workload import Workload
from krm_function.pipeline.result import Planned
from krm_function.record import NamedTuple
from krm_function.stages.choose import (
    choose,
    contradiction,
    entry_of,
    idle_entries,
    is_confidential,
    not_named,
    plain_reason,
    unnamed_pods,
)
from krm_function.stages.read import read_values
from krm_function.stages.select import Skipped


class ChosenWorkloads(NamedTuple):
    """All workloads in the order of the input, what is left alone, and the findings."""

    workloads: list[Workload]
    skipped: list[Planned]
    findings: list[Finding]


def choose_all(
    resources: Sequence[Resource],
    workloads: Sequence[Workload],
    skipped: Sequence[Skipped],
    generate: Generate,
    *,
    failed: bool,
    live: bool,
) -> ChosenWorkloads:
    """Choose among the pod templates of the input. failed: some of it has errors, so an entry may name what has one."""
    known = known_controllers(read_values(resources)) if live else {}
    made = [one for one in skipped if one.workload and controllers(one.workload.object, known)]
    alone = [one for one in skipped if one not in made]
    chosen = choose([one.workload for one in alone if one.workload], workloads, generate)
    reasons = {one.ref: reason for one, reason in chosen.plain}
    left = {(one.place, one.template) for one in chosen.confidential}
    findings = list(chosen.findings)
    planned: list[Planned] = []
    for one in skipped:
        if one.workload and (one.workload.place, one.workload.template) in left:
            continue
        reason = reasons.get(one.ref, one.reason) if one.workload else plain_reason(one.ref, generate) or one.reason
        planned.append(Planned(one.ref, skipped=reason, owned=one.owned))
    findings += [found for one in alone if not one.workload for found in _other_version(one.ref, generate)]
    findings += [found for one in made if one.workload for found in _named_copy(one.workload, generate)]
    refs = [*(one.ref for one in workloads), *(one.ref for one in skipped)]
    if any(
        isinstance(entry, str) or entry.kind not in KINDS or entry.kind in CATALOGUED for entry in generate.workloads
    ):
        for unknown in unknown_pods(resources):
            if isinstance(unknown, UnknownPods):
                refs.append(unknown.ref)
                findings += _unknown(unknown, generate)
            else:
                findings += [unknown] if generate.requires_all else []
    if generate.requires_all:
        findings += [unnamed_pods(one) for one in chosen.unnamed]
        findings += [unnamed_pods(one.workload) for one in made if one.workload and not _is_plain(one, known, generate)]
    if not failed:
        findings += idle_entries(refs, generate)
    every = sorted((*workloads, *chosen.confidential), key=lambda one: (*one.place, one.template))
    return ChosenWorkloads(every, planned, findings)


def _named_copy(workload: Workload, generate: Generate) -> Iterator[Finding]:
    """Yield CC0220 if an entry names what a controller made, or what says so to be left alone."""
    owner = controller_of(workload.object)
    if owner is not None and is_confidential(workload.ref, generate):
        path = (*workload.root, "metadata", "ownerReferences")
        yield workload.placed(finding("CC0220", workload.ref, path, kind=owner.kind, name=owner.name))


def _other_version(ref: Ref, generate: Generate) -> Iterator[Finding]:
    """Yield what is wrong with an object of one of the kinds that no render seals, for its group or version."""
    entry = entry_of(ref, generate)
    if wrong := contradiction(ref, generate):
        yield wrong
    elif entry is None:
        if generate.requires_all:
            yield not_named(ref)
    elif not entry.plain:
        yield finding("CC0254", ref, kind=f"{ref.api_version} {ref.kind}".strip(), version=KINDS[ref.kind][0])


def _unknown(unknown: UnknownPods, generate: Generate) -> Iterator[Finding]:
    """Yield what is wrong with an object of another kind: it has pods that nobody seals, and no entry says so.

    Or an entry says that they are confidential, of a kind of which that is not so in every group and version.
    """
    entry = entry_of(unknown.ref, generate)
    if entry is not None and not entry.plain:
        place = (*unknown.root, *(unknown.pod or ()), FIELD)
        wrong = unsealed_finding(unknown.ref, place, entry.placeholder, unknown.resource.kinds, unknown.root)
        yield unknown.resource.placed(wrong)
    elif generate.requires_all and unknown.pod is not None and entry is None:
        yield unknown.resource.placed(not_named(unknown.ref)._replace(path=(*unknown.root, "kind")))


def _is_plain(made: Skipped, known: Mapping[Controller, Any], generate: Generate) -> bool:
    """Tell whether what a controller made was made of a workload that an entry names as plain."""
    owners = (controllers(made.workload.object, known) if made.workload else None) or ()
    return any(plain_reason(reference(owner), generate) for owner in owners[-1:])
