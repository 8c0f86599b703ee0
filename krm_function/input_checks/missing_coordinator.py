"""Say which pod of the input is the coordinator after all, where a manifest has none: its image tells.

Rule of this file: an image gives nobody the role; the label does (stages/coordinator.py). It only says, in the place
of CC0701, what is wrong with the pod that somebody took for the coordinator.

    a pod that runs the coordinator's image        CC0741 says
    has no class of Contrast's                     that it runs outside of a VM
    is of another kind than StatefulSet            that it is of an older release
    has no label                                   that it lacks the label
    (none)                                         CC0701 stays: there is no coordinator
"""

from collections.abc import Iterable, Iterator, Sequence

from krm_function.findings import Finding, finding
from krm_function.model.image import parse_image
from krm_function.model.objects import objects, reference
from krm_function.model.resource import Resource
from krm_function.model.runtime_class_names import is_contrast_name
from krm_function.model.workload import POD_ROLE, Workload, workloads_of
from krm_function.yamltext import YamlError

CODE = "CC0701"  # of the stage manifest
ENDING = "/contrast/coordinator"


def with_coordinator_named(findings: Sequence[Finding], resources: Iterable[Resource]) -> tuple[Finding, ...]:
    """Return the findings, with what they say of a missing coordinator made exact."""
    said = next(map(_said, _candidates(resources)), None)
    return tuple(said if said is not None and found.code == CODE else found for found in findings)


def _candidates(resources: Iterable[Resource]) -> Iterator[Workload]:
    """Yield the pods that run the coordinator's image."""
    for resource in resources:
        if not resource.may_have_pods or ENDING not in resource.text:
            continue
        try:
            given = resource.given()
        except YamlError:
            continue  # which is an error of its own
        for root, value in objects(given.value):
            yield from filter(_runs_coordinator, workloads_of(value, root, reference(value), given))


def _runs_coordinator(workload: Workload) -> bool:
    images = [parse_image(str(each.container.get("image") or "")) for each in workload.all_containers]
    return any(not isinstance(image, str) and image.name.endswith(ENDING) for image in images)


def _said(workload: Workload) -> Finding:
    path = workload.metadata_path
    if not is_contrast_name(workload.runtime_class):
        code, path = "CC0741.plain", workload.spec_path
    elif workload.ref.kind != "StatefulSet":
        code = "CC0741.kind"
    else:
        code = "CC0741.unlabelled"
    return workload.placed(finding(code, workload.ref, path, label=POD_ROLE, kind=workload.ref.kind))
