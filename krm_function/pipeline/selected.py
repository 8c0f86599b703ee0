"""Select what a render concerns in an input: the workloads, the RuntimeClass objects, and the objects it skips."""

from collections.abc import Sequence

from krm_function.api.records import Config
from krm_function.findings import Finding
from krm_function.model.finding_position import with_position
from krm_function.model.resource import Resource
from krm_function.model.workload import Workload
from krm_function.pipeline.result import Planned
from krm_function.record import NamedTuple
from krm_function.stages.read import ReadDocuments
from krm_function.stages.runtime_classes import RuntimeClassObject, runtime_class_objects
from krm_function.stages.select import select
from krm_function.stages.stray_annotations import stray_annotations


class Selected(NamedTuple):
    """The selection in all documents. workloads: each with the position of its document in the input.

    stray: findings about objects that are not selected.
    """

    workloads: tuple[tuple[int, Workload], ...]
    classes: tuple[RuntimeClassObject, ...]
    skipped: tuple[Planned, ...]
    findings: tuple[Finding, ...]
    stray: tuple[Finding, ...] = ()


def select_all(resources: Sequence[Resource], source: ReadDocuments, config: Config | None) -> Selected:
    """Select in every document that was read. Without configuration no RuntimeClass is known to be of the release."""
    selections = [(index, select(document.value)) for index, document in source.documents.items()]
    values = ((index, document.value) for index, document in source.documents.items())
    workloads = tuple((index, workload) for index, chosen in selections for workload in chosen.workloads)
    stray: tuple[Finding, ...] = ()
    if workloads:
        stray = stray_annotations(resources, source.documents, source.emitted, [one for _, one in workloads])
    return Selected(
        workloads,
        tuple(runtime_class_objects(values, config.release)) if config else (),
        tuple(Planned(one.ref, skipped=one.reason) for _, chosen in selections for one in chosen.skipped),
        tuple(
            with_position(found, resources[index], source.documents[index])
            for index, chosen in selections
            for found in chosen.findings
        ),
        stray,
    )
