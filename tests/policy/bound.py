"""Policies that bind images, made by hand out of any policy: the storages that a profile with `binds_images` adds."""

import copy
from typing import Any

Json = dict[str, Any]


def image_storage(source: str) -> Json:
    return {
        "driver": "image_guest_pull",
        "driver_options": [],
        "source": source,
        "fstype": "overlay",
        "options": [],
        "mount_point": "^$(root_path)$",
        "fs_group": None,
        "shared": False,
    }


def without_images(data: Json) -> Json:
    out = copy.deepcopy(data)
    for container in out["containers"]:
        container["storages"] = [one for one in container["storages"] if one["driver"] != "image_guest_pull"]
    return out


def with_images(data: Json, *, profile: str = "") -> Json:
    """The same data with one image storage last in every container; of the sandbox `pause`."""
    out = without_images(data)
    for index, container in enumerate(out["containers"]):
        source = container["OCI"]["Annotations"]["io.kubernetes.cri.image-name"] if index else "pause"
        container["storages"].append(image_storage(source))
    return {**out, "profile": profile} if profile else out
