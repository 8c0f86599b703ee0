"""Describe the images of rendered output by what stands in it, to render again without an ImageLock.

Rule of this file: like the policies, which are read back too, the users count as they are. They are in the policies, so
a change of them is found there; here they only have to explain each other: one image has one user. With the rule
`imageVolumes` a VOLUME of an image is what each container of the image mounts; one that a mount of the input covers is
covered again, so only those of the rule are made again.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from krm_function.api.records import ImageFacts
from krm_function.model.injected import SECRETS
from krm_function.model.lookup import mapping
from krm_function.model.owned import CONTAINERS
from krm_function.model.pods import USER_FIELDS
from krm_function.model.workload import Workload
from krm_function.policy.injected_user import image_user, stated_user

Stated = tuple[dict[str, Any], dict[str, Any]]  # the securityContext of a pod, and what a container adds to it


def assumed_images(workloads: Iterable[Workload], *, always: bool, volumes: bool = False) -> dict[str, ImageFacts]:
    """Return facts for each image of an injected container that states a user. always: as for `stated_user`.

    volumes: also for all other images, with their VOLUMEs.
    """
    workloads = tuple(workloads)
    declared = _declared(workloads) if volumes else {}
    return {image: ImageFacts("", {"Volumes": paths}) for image, paths in declared.items()} | _of_injected(
        workloads, always=always
    )


def _declared(workloads: Iterable[Workload]) -> dict[str, dict[str, Any]]:
    """Return by image the paths that all containers of the image mount, without that of the secrets."""
    mounted: dict[str, set[str]] = {}
    for workload in workloads:
        for each in workload.all_containers:
            if not (each.is_init and each.name in CONTAINERS):
                paths = {str(mount.get("mountPath")) for mount in each.mounts if mount.get("name") != SECRETS}
                image = str(each.container.get("image"))
                mounted[image] = mounted.get(image, paths) & paths
    return {image: {path: {} for path in sorted(paths)} for image, paths in mounted.items()}


def _of_injected(workloads: Iterable[Workload], *, always: bool) -> dict[str, ImageFacts]:
    found: dict[str, list[Stated]] = {}
    for workload in workloads:
        pod = mapping(workload.pod_spec.get("securityContext"))
        for container in workload.init_containers:
            if container["name"] in CONTAINERS:
                own = mapping(container.get("securityContext"))
                stated = {key: own[key] for key in USER_FIELDS if key in own}
                found.setdefault(container["image"], []).append((pod, stated))
    images: dict[str, ImageFacts] = {}
    for name, uses in found.items():
        users = [stated for _, stated in uses if isinstance(stated.get("runAsUser"), int)]
        if users:
            uid, gid = users[0]["runAsUser"], users[0].get("runAsGroup", 0)
            candidates = list(_candidates(uid, gid))
            images[name] = next((one for one in candidates if _explains(one, uses, always=always)), candidates[0])
    return images


def _candidates(uid: int, gid: int) -> Iterator[ImageFacts]:
    """Yield images with this user: as a number or as a name, with a group or without."""
    for user, passwd in (
        (str(uid), f"user:x:{uid}:{gid}:::\n"),
        (f"{uid}:{gid}", ""),
        ("user", f"user:x:{uid}:{gid}:::\n"),
        (f"user:{gid}", f"user:x:{uid}:0:::\n"),
    ):
        yield ImageFacts("", {"User": user}, passwd, "")


def _explains(image: ImageFacts, uses: Iterable[Stated], *, always: bool) -> bool:
    own = image_user(image)
    return own is not None and all(stated_user(own, image, pod, always=always) == stated for pod, stated in uses)
