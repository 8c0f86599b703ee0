"""What is known of the images that a run needs: from an ImageLock, and the pods by which `contrast-krm lock` makes one.

Rule of this file: an image is found by the reference of the pod or, for one without a digest, by the only entry that
pins the same name and tag. Of anything else nothing is known.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from krm_function.config.document import ConfigDocument
from krm_function.config.image_lock import ImageFacts, parse_image_lock
from krm_function.kubernetes.image import Image, parse_image
from tests import quick_yaml as yaml

Facts = Mapping[str, ImageFacts]
POD = "a pod of the images, for `contrast-krm lock` alone"


def read_lock(path: str) -> dict[str, ImageFacts]:
    """Read the images of an ImageLock. Raises ValueError with what is wrong with it, OSError."""
    found: dict[str, ImageFacts] = {}
    for value in yaml.safe_load_all(Path(path).read_text(encoding="utf-8")):
        images, findings = parse_image_lock(ConfigDocument(value, path))
        if images is None:
            raise ValueError(f"{path}: {findings[0].message}")
        found |= images
    return found


def facts_of(known: Facts, reference: str) -> ImageFacts | None:
    """Return what is known of an image, None if nothing is."""
    image = parse_image(reference)
    if reference in known or not isinstance(image, Image) or image.pinned:
        return known.get(reference)
    same = [facts for name, facts in known.items() if _tagged(parse_image(name)) == _tagged(image)]
    return same[0] if len(same) == 1 else None


def _tagged(image: Image | str) -> tuple[str, str] | None:
    return (image.name, image.tag or "latest") if isinstance(image, Image) else None


def pods_of(images: Iterable[str]) -> str:
    """Return a pod that names images, which `contrast-krm lock` reads."""
    containers = [{"name": f"image-{number}", "image": image} for number, image in enumerate(images)]
    spec = {"runtimeClassName": "contrast-cc", "containers": containers}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "images"}, "spec": spec}
    return f"# {POD}\n{yaml.safe_dump(pod, sort_keys=False)}"
