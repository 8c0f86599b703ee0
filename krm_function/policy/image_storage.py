"""Build and read the storage by which a policy binds the image that the VM may pull for a container.

    {"driver": "image_guest_pull", "driver_options": [], "source": "web:1.2@sha256:...", "fstype": "overlay",
     "options": [], "mount_point": "^$(root_path)$", "fs_group": null, "shared": false}

Rule of this file: an image is bound by its digest, the part from the first @ on; the host may choose registry,
repository and tag. The sandbox's source is the word `pause`, because that image is part of the VM. Source:
docs/facts/contrast-node.md#generated-policy.
"""

from typing import Any, Final

from krm_function.model.image import Image, parse_image
from krm_function.yamltext import same

Json = dict[str, Any]

DRIVER: Final = "image_guest_pull"
SANDBOX: Final = "pause"


def image_storage(source: str) -> Json:
    """Build the storage of an image reference, or of the sandbox; a new one at each call, in genpolicy's order."""
    made = {"driver": DRIVER, "driver_options": [], "source": source, "fstype": "overlay", "options": []}
    return {**made, "mount_point": "^$(root_path)$", "fs_group": None, "shared": False}


def is_pinned(reference: str) -> bool:
    """Tell whether an image reference has a digest."""
    image = parse_image(reference)
    return isinstance(image, Image) and image.pinned


def unpinned(reference: str) -> str:
    """Return what is wrong with a reference that is not pinned: CC0502 with a variant."""
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
    """Return the first member, by name, that an image storage must not have so, or ""; any source is allowed."""
    wrong = [name for name, value in SHAPE.items() if name not in storage or not same(storage[name], value)]
    wrong += storage.keys() - SHAPE.keys() - {"source"}
    if not isinstance(storage.get("source"), str):
        wrong.append("source")
    return min(wrong, default="")


def is_bound(storage: Json, *, sandbox: bool) -> bool:
    """Tell whether a well-formed image storage binds one image."""
    if sandbox:
        return bool(storage["source"] == SANDBOX)
    return is_pinned(storage["source"])


def is_of(found: list[Json], reference: str) -> bool:
    """Tell whether image storages are exactly one, well-formed, for the image of a pod's container."""
    return len(found) == 1 and not misshapen(found[0]) and digest_suffix(found[0]["source"]) == digest_suffix(reference)
