"""Describe the images of injected containers by the users that these state, to render again without an ImageLock.

Rule of this file: like the policies, which are read back too, the users count as they are. They are in the policies, so
a change of them is found there; here they only have to explain each other: one image has one user.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from krm_function.api.records import ImageFacts
from krm_function.model.lookup import mapping
from krm_function.model.owned import CONTAINERS
from krm_function.model.pods import USER_FIELDS
from krm_function.model.workload import Workload
from krm_function.policy.injected_user import image_user, stated_user

Stated = tuple[dict[str, Any], dict[str, Any]]  # the securityContext of a pod, and what a container adds to it


def assumed_images(workloads: Iterable[Workload], *, always: bool) -> dict[str, ImageFacts]:
    """Return facts for each image of an injected container that states a user. always: as for `stated_user`."""
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
