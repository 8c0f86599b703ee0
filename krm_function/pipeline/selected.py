"""Select what a render concerns in an input: the workloads, the RuntimeClass objects, and the objects it skips."""

from collections.abc import Iterator, Mapping, Sequence

from krm_function.api.records import Config
from krm_function.findings import Finding, Path, finding, has_errors
from krm_function.model.finding_position import with_position
from krm_function.model.objects import reference
from krm_function.model.resource import Resource
from krm_function.model.workload import Workload
from krm_function.pipeline.result import Planned
from krm_function.record import NamedTuple
from krm_function.stages.copies import Copy, controller_of
from krm_function.stages.read import ReadDocuments
from krm_function.stages.runtime_classes import RuntimeClassObject, runtime_class_objects
from krm_function.stages.select import select
from krm_function.stages.stray_annotations import stray_annotations
from krm_function.stages.unsealed import unsealed


class Selected(NamedTuple):
    """The selection in all documents. workloads: each with the position of its document in the input.

    stray: findings about objects that are not selected.
    """

    workloads: tuple[tuple[int, Workload], ...]
    classes: tuple[RuntimeClassObject, ...]
    skipped: tuple[Planned, ...]
    findings: tuple[Finding, ...]
    stray: tuple[Finding, ...] = ()


def select_all(
    resources: Sequence[Resource],
    source: ReadDocuments,
    config: Config | None,
    copied: Mapping[tuple[int, Path], Copy] | None,
) -> Selected:
    """Select in every document that was read. Without configuration no RuntimeClass is known to be of the release.

    copied: the copies that controllers made, which are skipped; None: every object that a controller owns is CC0220.
    """
    selections = [(index, select(document.value)) for index, document in source.documents.items()]
    values = ((index, document.value) for index, document in source.documents.items())
    chosen = [(index, workload) for index, one in selections for workload in one.workloads]
    findings = [(index, found) for index, one in selections for found in one.findings]
    skipped = [Planned(one.ref, skipped=one.reason) for _, each in selections for one in each.skipped]
    if copied is None:
        findings += [(index, found) for index, workload in chosen for found in _owned(workload)]
    else:
        skipped += [
            Planned(workload.ref, skipped=_made(copied[index, workload.root]))
            for index, workload in chosen
            if (index, workload.root) in copied
        ]
        chosen = [(index, workload) for index, workload in chosen if (index, workload.root) not in copied]
    unsealable: tuple[Finding, ...] = ()
    if not has_errors(source.findings):  # else it would repeat them
        handlers = [facts.handler for facts in config.release.platforms.values()] if config else []
        unsealable = unsealed(resources, {**source.documents, **source.emitted}, handlers)
    stray: tuple[Finding, ...] = ()
    if chosen:
        stray = stray_annotations(resources, source.documents, source.emitted, [one for _, one in chosen])
    return Selected(
        tuple(chosen),
        tuple(runtime_class_objects(values, config.release)) if config else (),
        tuple(skipped),
        (*(with_position(found, resources[index], source.documents[index]) for index, found in findings), *unsealable),
        stray,
    )


def _owned(workload: Workload) -> Iterator[Finding]:
    """Return CC0220 for a workload that a controller owns: its pods would be sealed, and run as something else."""
    owner = controller_of(workload.object)
    if owner is not None:
        path = (*workload.root, "metadata", "ownerReferences")
        yield finding("CC0220", workload.ref, path, kind=owner.kind, name=owner.name)


def _made(copy: Copy) -> str:
    ref = reference(copy.origin)
    return f"made by {ref.kind} {ref.name}, {'and runs no pod' if copy.retired else 'with the same policy'}"
