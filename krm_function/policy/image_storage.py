"""The storage that binds an image in a policy, and a pod's images that the lock lacks or doubts."""

from collections.abc import Mapping
from typing import Any, Final

from krm_function.config.image_lock import ImageFacts
from krm_function.findings import Finding, Path
from krm_function.kubernetes.image import Image, other_tags, parse_image
from krm_function.policy.pod_metadata import PodMetadata, problem
from krm_function.text.changes import same

# --- Build and read the storage that binds the image that the VM may pull for a container
#
#     {"driver": "image_guest_pull", "driver_options": [], "source": "web:1.2@sha256:...", "fstype": "overlay",
#      "options": [], "mount_point": "^$(root_path)$", "fs_group": null, "shared": false}
#
# Rule: an image is bound by its digest, the part from the first @ on; the host may choose registry,
# repository and tag. The sandbox's source is the word `pause`, because that image is part of the VM. Source:
# docs/facts/contrast-node.md#generated-policy.


Json = dict[str, Any]

DRIVER: Final = "image_guest_pull"
SANDBOX: Final = "pause"


def image_storage(source: str) -> Json:
    """Build the storage of an image reference, or of the sandbox; a new one at each call, in genpolicy's order."""
    storage = {"driver": DRIVER, "driver_options": [], "source": source, "fstype": "overlay", "options": []}
    return {**storage, "mount_point": "^$(root_path)$", "fs_group": None, "shared": False}


def is_pinned(reference: str) -> bool:
    """Tell whether an image reference has a digest."""
    image = parse_image(reference)
    return isinstance(image, Image) and image.pinned


def unpinned(reference: str) -> str:
    """Return CC0502 with the variant for a reference that is not pinned."""
    _, at, digest = reference.partition("@")
    if not at:
        return "CC0502.tag"
    if "@" in digest:
        return "CC0502.two"
    return "CC0502.hex" if digest.startswith("sha256:") else "CC0502.algorithm"


SHAPE: Final[Json] = {name: value for name, value in image_storage("").items() if name != "source"}


def is_image(storage: Any) -> bool:
    """Tell whether a storage of a policy is an image storage, well-formed or not."""
    return isinstance(storage, dict) and storage.get("driver") == DRIVER


def images(storages: Any) -> list[Json]:
    """Return the image storages among the storages of a container; [] if these are not a list."""
    return [storage for storage in storages if is_image(storage)] if isinstance(storages, list) else []


def without_images(storages: list[Any]) -> list[Any]:
    """Return all other storages: the volumes that the agent mounts."""
    return [storage for storage in storages if not is_image(storage)]


def digest_suffix(reference: str) -> str:
    """Return the part of an image reference that is compared: `@sha256:...`, "" without a digest."""
    _, at, rest = reference.partition("@")
    return at + rest


def misshapen(storage: Json) -> str:
    """Return the first member, by name, with a value that no node sends, or ""; any source is allowed."""
    misfits = [name for name, value in SHAPE.items() if name not in storage or not same(storage[name], value)]
    misfits += storage.keys() - SHAPE.keys() - {"source"}
    if not isinstance(storage.get("source"), str):
        misfits.append("source")
    return min(misfits, default="")


def is_bound(storage: Json, *, sandbox: bool) -> bool:
    """Tell whether a well-formed image storage binds one image."""
    if sandbox:
        return bool(storage["source"] == SANDBOX)
    return is_pinned(storage["source"])


def is_of(storages: list[Json], reference: str) -> bool:
    """Tell whether there is exactly one image storage, well-formed, with the digest of a container's image."""
    return (
        len(storages) == 1
        and not misshapen(storages[0])
        and digest_suffix(storages[0]["source"]) == digest_suffix(reference)
    )


# --- Find images of a pod that the ImageLock lacks or doubts, before their settings go into its policy
#
#     the lock has                                          finding
#     no entry of the whole reference                       CC0504, an error
#     no entry, but the digest under another tag            CC0510 besides: which tag it is known by
#     an entry whose tag was never looked up                 CC0510, a warning
#
# Rule: entries are found by the whole reference, exactly as the pod names the image.


def images_not_locked(pod: PodMetadata, images: Mapping[str, ImageFacts]) -> list[Finding]:
    """Return CC0504 for every image that the ImageLock does not have, and CC0510 if it has the digest."""
    findings: list[Finding] = []
    for at, container in pod.containers:
        if container["image"] not in images:
            findings.append(problem(pod, (*at, "image"), "CC0504", image=container["image"]))
            image = parse_image(container["image"])
            if isinstance(image, Image) and (tags := other_tags(image, images)):
                findings.append(_tag_finding(pod, at, image, ", ".join(tags)))
    return findings


def unproven_tags(pod: PodMetadata, images: Mapping[str, ImageFacts]) -> list[Finding]:
    """Return CC0510 for every image whose tag was never looked up; `images` has all of the pod's."""
    findings: list[Finding] = []
    for at, container in pod.containers:
        found_as = images[container["image"]].found_as
        image = parse_image(container["image"]) if found_as else ""
        findings += [_tag_finding(pod, at, image, found_as)] if isinstance(image, Image) else []
    return findings


def _tag_finding(pod: PodMetadata, at: Path, image: Image, tags: str) -> Finding:
    name = str(image._replace(digest=""))
    return problem(pod, (*at, "image"), "CC0510", image=str(image), known=tags, tag=image.tag, name=name)
