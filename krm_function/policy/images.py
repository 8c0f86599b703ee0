"""The storage by which a policy says which image the VM pulls for a container.

Rule of this file: an image is bound by the digest in its reference, so a reference without one is refused; registry,
repository and tag say where a node looks for it and bind nothing. The VM has the sandbox's image built in and asks for
it by a word.
"""

from typing import Any

from krm_function.model.image import parse

Json = dict[str, Any]

GUEST_PULL = "image_guest_pull"
PAUSE_SOURCE = "pause"  # what the runtime names in place of the sandbox's image


def image_storage(source: str) -> Json:
    """The entry for an image as the pod names it, or for the sandbox. New at each call."""
    return {
        "driver": GUEST_PULL,
        "driver_options": [],
        "source": source,
        "fstype": "overlay",
        "options": [],
        "mount_point": "^$(root_path)$",
        "fs_group": None,
        "shared": False,
    }


def is_pinned(reference: str) -> bool:
    """Whether a reference has a digest, and so says which image it is."""
    image = parse(reference)
    return not isinstance(image, str) and image.pinned
