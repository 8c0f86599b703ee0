"""The storage by which a policy says what image the VM may pull for a container.

    {"driver": "image_guest_pull", "driver_options": [], "source": "web:1.2@sha256:...", "fstype": "overlay",
     "options": [], "mount_point": "^$(root_path)$", "fs_group": null, "shared": false}

Rule of this file: what binds an image is its digest, all from the first @ on; registry, repository and tag are for the
host to choose. The sandbox's source is the word `pause`, because the VM brings that image itself. Source:
docs/facts/contrast-node.md#generated-policy.
"""

from typing import Any, Final

from krm_function.model.image import Image, parse_image

Json = dict[str, Any]

DRIVER: Final = "image_guest_pull"
SANDBOX: Final = "pause"


def image_storage(source: str) -> Json:
    """The storage of an image as the pod names it, or of the sandbox; new at each call, in genpolicy's order."""
    made = {"driver": DRIVER, "driver_options": [], "source": source, "fstype": "overlay", "options": []}
    return {**made, "mount_point": "^$(root_path)$", "fs_group": None, "shared": False}


def is_pinned(reference: str) -> bool:
    """Whether an image reference has a digest, and so says which image it is."""
    image = parse_image(reference)
    return isinstance(image, Image) and image.pinned


SHAPE: Final[Json] = {name: value for name, value in image_storage("").items() if name != "source"}


def is_image(storage: Any) -> bool:
    """Whether a storage of a policy stands for the container's image, well made or not."""
    return isinstance(storage, dict) and storage.get("driver") == DRIVER


def images(storages: Any) -> list[Json]:
    """The image storages among the storages of a container; none in what is no list."""
    return [storage for storage in storages if is_image(storage)] if isinstance(storages, list) else []


def without_images(storages: list[Any]) -> list[Any]:
    """All other storages: the volumes that the agent mounts."""
    return [storage for storage in storages if not is_image(storage)]


def digest_suffix(reference: str) -> str:
    """What of an image reference is compared: `@sha256:...`, "" without one."""
    _, at, rest = reference.partition("@")
    return at + rest


def misshapen(storage: Json) -> str:
    """The first member by name that is not as in every image storage, "" if all are; the source may be any text."""
    wrong = [name for name, value in SHAPE.items() if name not in storage or not _same(storage[name], value)]
    wrong += storage.keys() - SHAPE.keys() - {"source"}
    if not isinstance(storage.get("source"), str):
        wrong.append("source")
    return min(wrong, default="")


def _same(one: Any, other: Any) -> bool:
    """Whether two values without members are equal, types included: false is not 0."""
    return type(one) is type(other) and bool(one == other)


def is_bound(storage: Json, *, sandbox: bool) -> bool:
    """Whether a storage of the right shape lets the VM pull one image only."""
    if sandbox:
        return bool(storage["source"] == SANDBOX)
    return is_pinned(storage["source"])


def is_of(found: list[Json], reference: str) -> bool:
    """Whether image storages are one that allows just the image of a pod's container."""
    return len(found) == 1 and not misshapen(found[0]) and digest_suffix(found[0]["source"]) == digest_suffix(reference)
