"""The image fields of an object, wherever its pods stand in it.

    key of a list of maps                            image
    containers, initContainers, ephemeralContainers  image
    volumes                                          image.reference

Rule of this file: fields are found by the shape of a pod and not by the kind of its object, so those of a custom
resource are found too. A text that holds a manifest, as in a ConfigMap, is no pod.
"""

from collections.abc import Iterator
from typing import Any

from krm_function.findings import Path
from krm_function.model.lookup import dig

CONTAINERS = ("containers", "initContainers")  # where kustomize writes, docs/facts/kustomize.md#images
LISTS = (*CONTAINERS, "ephemeralContainers", "volumes")


def image_places(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield path and text of every image in a value, in its order."""
    if isinstance(value, dict):
        for key, part in value.items():
            here = (*path, key)
            if key in LISTS and isinstance(part, list):
                inner = ("image", "reference") if key == "volumes" else ("image",)
                named = ((index, dig(entry, inner)) for index, entry in enumerate(part))
                yield from (((*here, index, *inner), text) for index, text in named if isinstance(text, str))
            yield from image_places(part, here)
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from image_places(part, (*path, index))
