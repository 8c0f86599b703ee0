"""Find what else is wrong with a pod that gets no policy: what the generator would say if the first errors were gone.

Rule of this file: it makes no policy, only findings. Fields that no policy covers are left out, and an image of which
too little is known counts as one that names its user and its program and has no VOLUME, so nothing is said about it.
"""

from collections.abc import Mapping, Sequence

from krm_function.api.records import ImageFacts
from krm_function.findings import Finding, has_errors
from krm_function.model.edits import Edit
from krm_function.model.repeated_findings import news
from krm_function.model.workload import Workload
from krm_function.policy.containers import containers
from krm_function.policy.pod_metadata import PodMetadata
from krm_function.policy.references import References
from krm_function.policy.settings import Settings
from krm_function.yamltext.comparison import ABSENT

NOT_COVERED = ("CC0601", "CC0605")  # a field that a policy refuses, or that nobody knows
OF_AN_IMAGE = ("CC0504", "CC0508")  # not in the lock, or without the accounts that count
ANY_USER = {"User": "65532:65532"}
ANY_IMAGE = ImageFacts("", {**ANY_USER, "Entrypoint": ["/program"], "WorkingDir": "/"}, "", "")


def covered_part(workload: Workload, findings: Sequence[Finding]) -> Workload | None:
    """Return a workload without the fields that findings of `coverage_findings` are about.

    None if one of them is about a value, which the generator could not read.
    """
    edits: list[Edit] = []
    for found in findings:
        parent, name = workload.at(found.path[:-1]), found.path[-1:]
        if found.code not in NOT_COVERED or not isinstance(parent, dict) or not name or name[0] not in parent:
            return None
        edits.append(Edit("remove", found.path, parent[name[0]], ABSENT, found.code, found.message))
    return workload.after(tuple(edits))


def further_problems(
    workload: Workload,
    pod: PodMetadata,
    images: Mapping[str, ImageFacts],
    references: References,
    settings: Settings,
    known: Sequence[Finding],
) -> tuple[Finding, ...]:
    """Return the errors of the containers that repeat none of the known ones.

    workload: as it stands. pod: its covered part. images: by the reference exactly as the pod names it.
    """
    doubtful = {str(workload.at(found.path)) for found in known if found.code in OF_AN_IMAGE}
    names = {str(each.container.get("image")) for each in workload.all_containers}
    facts = {name: _without_doubt(images.get(name, ANY_IMAGE)) if name in doubtful else images[name] for name in names}
    _, findings = containers(pod, facts, ANY_IMAGE, references, settings)
    return news((found for found in findings if has_errors([found])), known, workload)


def _without_doubt(image: ImageFacts) -> ImageFacts:
    return image._replace(config={**image.config, **ANY_USER}, passwd="", group="")
