"""A VOLUME of an image that no volumeMount covers, and the emptyDir that is mounted there."""

from collections.abc import Iterator, Mapping

from krm_function.adapt.choices import RuleChoice, free_name, taken_names
from krm_function.config.image_lock import ImageFacts
from krm_function.findings import Cause, Finding, finding
from krm_function.kubernetes.objects import mapping
from krm_function.kubernetes.resource import Outcome
from krm_function.kubernetes.workload import Draft, PodContainer, Workload, mount_point

# containerd makes a directory of the node for each VOLUME, of this container alone, and copies the image's files into
# it (docs/facts/kubernetes.md#volumes-of-images); no confidential pod may have that. An emptyDir is inside the VM and
# empty. Truth table:
#
#     a VOLUME of the image of a container       is
#     the mountPath of a mount, letter by letter left: the policy asks for exactly this path
#     the same place, in another spelling        refused: two mounts at one place, and one hides the other
#     not mounted                                covered, also above or below another mount, as containerd does


CODE = "CC0833"


def refused(container: PodContainer, path: str) -> Cause | None:
    """Return why an uncovered VOLUME gets no emptyDir; None if it gets one."""
    for mount in container.mounts:
        written = str(mount.get("mountPath"))
        if mount_point(written) == mount_point(path):
            return Cause("CC0839", {"container": container.name, "place": path, "written": written})
    return None


def cover(draft: Draft, container: PodContainer, path: str, name: str) -> None:
    """Add the emptyDir as the last volume, and its mount as the last one of the container.

    path: of the VOLUME, as the image writes it. name: of the emptyDir.
    """
    reason = f"the image of {container.name} declares VOLUME {path}, which would be a directory of the node"
    volumes, mounts = (*draft.workload.spec_path, "volumes"), (*container.path, "volumeMounts")
    for place, entry in ((volumes, {"name": name, "emptyDir": {}}), (mounts, {"name": name, "mountPath": path})):
        draft.put(place, len(draft.workload.at(place) or ()), entry, CODE, reason)


# --- Image volumes: an emptyDir at each VOLUME of an image that no volumeMount covers
#
# Rule: the VOLUMEs come from the ImageLock, for the image that the pod will have. containerd would copy the image's
# files into its directory; an emptyDir is empty, so each is a warning.


def image_volumes(workload: Workload, images: Mapping[str, ImageFacts], replaced: Mapping[str, str]) -> Outcome:
    """Cover the VOLUMEs of one workload. images: of the lock. replaced: image in the pod -> the release's."""
    draft = Draft(workload)
    findings: list[Finding] = []
    in_use = taken_names(workload)
    for container, path in _find_uncovered(workload, images, replaced):
        at = (*container.path, "image")
        cause = refused(container, path)
        if cause is not None:
            findings.append(finding(cause.code, workload.ref, at, **cause.values))
            continue
        name = free_name(container.name or container.field, path, in_use)
        in_use.add(name)
        cover(draft, container, path, name)
        image = str(container.container.get("image"))
        findings.append(finding("CC0841", workload.ref, at, container=container.name, place=path, image=image))
    return Outcome(tuple(draft.edits), tuple(findings))


def image_volume_choices(
    workload: Workload, images: Mapping[str, ImageFacts], replaced: Mapping[str, str]
) -> Iterator[RuleChoice]:
    """Yield the rule for each uncovered VOLUME of a workload."""
    for container, path in _find_uncovered(workload, images, replaced):
        if refused(container, path) is None:
            consequence = "an emptyDir, without the files that the image has there"
            yield RuleChoice(
                "imageVolumes", "emptyDir", f"container {container.name} gets {consequence}, at VOLUME {path}"
            )


def _find_uncovered(
    workload: Workload, images: Mapping[str, ImageFacts], replaced: Mapping[str, str]
) -> Iterator[tuple[PodContainer, str]]:
    for container in workload.all_containers:
        image = str(container.container.get("image") or "")
        facts = images.get(replaced.get(image, image))
        declared = mapping(facts.config.get("Volumes") if facts else None)
        mounted = {mount.get("mountPath") for mount in container.mounts}
        yield from ((container, path) for path in sorted(declared) if path not in mounted)
