"""coordinator.yml: the image of the coordinator, and the release by its tag.

Rule of this file: only a pinned image is a fact. Source: docs/facts/contrast.md#coordinator-file.
"""

from typing import Any

from krm_function.model.image import CONTRAST, Image, parse_image
from krm_function.model.lookup import dig, maps
from krm_function.model.workload import POD_ROLE
from krm_function.release.facts import Fact, Facts
from krm_function.release.image_tags import version_facts

COORDINATOR = "coordinator"
IMAGE = f"{CONTRAST}/{COORDINATOR}:latest"  # how coordinator.yml names it before a release is made of it


def is_coordinator(value: dict[str, Any]) -> bool:
    """Tell whether an object is the coordinator's StatefulSet, by label or, before mid-2026, by annotation."""
    metadata = ("spec", "template", "metadata")
    roles = [dig(value, (*metadata, place, POD_ROLE)) for place in ("labels", "annotations")]
    return value.get("kind") == "StatefulSet" and COORDINATOR in roles


def coordinator_facts(value: dict[str, Any], file: str, line: int) -> Facts:
    """Return the facts of the StatefulSet."""
    containers = maps(dig(value, ("spec", "template", "spec", "containers")))
    images = [entry.get("image") for entry in containers if entry.get("name") == COORDINATOR]
    facts = list(version_facts(images, file, line))
    for image in images:
        parsed = parse_image(image) if isinstance(image, str) else ""
        if isinstance(parsed, Image) and parsed.pinned:
            facts.append(Fact(("images", IMAGE), image, file, line))
    return Facts(tuple(facts))
