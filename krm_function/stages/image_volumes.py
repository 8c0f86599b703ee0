"""Image volumes: an emptyDir at each VOLUME of an image that no volumeMount covers.

Rule of this file: the VOLUMEs are those of the ImageLock, of the image that the pod will have. containerd would copy
what the image has there into its directory; an emptyDir is empty, so each is a warning. What forbids one is in
model/rewriting/image_volume.py.
"""

from collections.abc import Iterator, Mapping

from krm_function.api.records import ImageFacts
from krm_function.findings import Finding, finding
from krm_function.model.draft import Draft
from krm_function.model.edits import Outcome
from krm_function.model.lookup import mapping
from krm_function.model.rewriting.image_volume import ImageVolume, cover, refused, uncovered
from krm_function.model.rewriting.volume_names import free_name, taken_names
from krm_function.model.rule_choice import RuleChoice
from krm_function.model.workload import PodContainer, Workload


def image_volumes(workload: Workload, images: Mapping[str, ImageFacts], replaced: Mapping[str, str]) -> Outcome:
    """Cover the VOLUMEs of one workload. images: of the lock. replaced: image in the pod -> the release's."""
    draft = Draft(workload)
    findings: list[Finding] = []
    taken = taken_names(workload)
    for each, path in _uncovered(workload, images, replaced):
        at = (*each.path, "image")
        cause = refused(each, path)
        if cause is not None:
            findings.append(finding(cause.code, workload.ref, at, **cause.values))
            continue
        name = free_name(each.name or each.field, path, taken)
        taken.add(name)
        cover(draft, ImageVolume(each.field, each.name, path, name))
        image = str(each.container.get("image"))
        findings.append(finding("CC0841", workload.ref, at, container=each.name, place=path, image=image))
    return Outcome(tuple(draft.edits), tuple(findings))


def image_volume_choices(
    workload: Workload, images: Mapping[str, ImageFacts], replaced: Mapping[str, str]
) -> Iterator[RuleChoice]:
    """Yield what the rule would do for each uncovered VOLUME of a workload."""
    for each, path in _uncovered(workload, images, replaced):
        if refused(each, path) is None:
            what = "an emptyDir, without the files that the image has there"
            yield RuleChoice("imageVolumes", "emptyDir", f"container {each.name} gets {what}, at VOLUME {path}")


def _uncovered(
    workload: Workload, images: Mapping[str, ImageFacts], replaced: Mapping[str, str]
) -> Iterator[tuple[PodContainer, str]]:
    for each in workload.all_containers:
        image = str(each.container.get("image") or "")
        facts = images.get(replaced.get(image, image))
        declared = mapping(facts.config.get("Volumes") if facts else None)
        for path in uncovered(each, declared):
            yield each, path
