"""Select what a render concerns in an input: the workloads, the RuntimeClass objects, and the objects it skips."""

from collections.abc import Iterator, Sequence

from krm_function.api.records import Config
from krm_function.findings import Finding, finding, has_errors
from krm_function.input_checks.stray_annotations import stray_annotations
from krm_function.input_checks.unsealed import unsealed
from krm_function.model.controller import controller_of
from krm_function.model.objects import reference
from krm_function.model.resource import Copy, Resource
from krm_function.model.workload import Workload
from krm_function.pipeline.result import Planned
from krm_function.record import NamedTuple
from krm_function.stages.runtime_classes import RuntimeClassObject, runtime_class_objects
from krm_function.stages.select import select


class Selected(NamedTuple):
    """The selection in all resources. stray: findings about objects that are not selected."""

    workloads: tuple[Workload, ...]
    classes: tuple[RuntimeClassObject, ...]
    skipped: tuple[Planned, ...]
    findings: tuple[Finding, ...]
    stray: tuple[Finding, ...] = ()


def select_all(
    resources: Sequence[Resource], read_findings: tuple[Finding, ...], config: Config | None, *, live: bool
) -> Selected:
    """Select in every resource that was read. Without configuration no RuntimeClass is known to be of the release.

    read_findings: of reading them. live: the copies that controllers made are skipped; else every object that a
    controller owns is CC0220.
    """
    read = [one for one in resources if one.document is not None and one.state != "added"]
    selections = [select(one.value, one) for one in read]
    workloads = [workload for one in selections for workload in one.workloads]
    findings = [found for one in selections for found in one.findings]
    left_alone = [one for each in selections for one in each.skipped]
    skipped = [Planned(one.ref, skipped=one.reason, owned=one.owned) for one in left_alone]
    if config and config.generate.workloads:
        from krm_function.pipeline.chosen import choose_all

        failed = has_errors((*read_findings, *findings))
        copies_aside = [one for one in workloads if not (live and _copy(one))]
        copies = [one for one in workloads if live and _copy(one)]
        chosen = choose_all(resources, copies_aside, left_alone, config.generate, failed=failed, live=live)
        workloads, skipped = [*chosen.workloads, *copies], chosen.skipped
        findings += chosen.findings
    if live:
        skipped += [Planned(one.ref, skipped=_made(copy), owned=True) for one in workloads if (copy := _copy(one))]
        workloads = [one for one in workloads if not _copy(one)]
    else:
        findings += [workload.placed(found) for workload in workloads for found in _owned(workload)]
    unsealable: tuple[Finding, ...] = ()
    if not has_errors(read_findings):  # else it would repeat them
        handlers = [facts.handler for facts in config.release.platforms.values()] if config else []
        chosen_places = {(*one.place, one.template) for one in workloads}
        unsealable = unsealed(resources, handlers, chosen_places)
    return Selected(
        tuple(workloads),
        tuple(runtime_class_objects(read, config.release)) if config else (),
        tuple(skipped),
        (*findings, *unsealable),
        stray_annotations(resources, workloads) if workloads else (),
    )


def _copy(workload: Workload) -> Copy | None:
    """Return what a controller made the workload of, None if it is nobody's copy."""
    return workload.resource.copies.get(workload.root) if workload.resource else None


def _owned(workload: Workload) -> Iterator[Finding]:
    """Return CC0220 for a workload that a controller owns: its pods would be sealed, and run as something else."""
    owner = controller_of(workload.object)
    if owner is not None:
        path = (*workload.root, "metadata", "ownerReferences")
        yield finding("CC0220", workload.ref, path, kind=owner.kind, name=owner.name)


def _made(copy: Copy) -> str:
    ref = reference(copy.origin)
    said = {"": "with the same policy", "earlier": "of an earlier template"}.get(copy.retired, "and runs no pod")
    return f"made by {ref.kind} {ref.name}, {said}"
