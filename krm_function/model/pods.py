"""Look up containers and volumes of a pod by name, with their positions.

Rule of this file: it only reads. What a StatefulSet's claim templates add to a pod counts as its volumes.
"""

from collections.abc import Mapping
from typing import Any

from krm_function.model.workload import Workload, mapping, maps


def indexes_named(entries: Any, name: str) -> list[int]:
    """Return the indexes of the entries of this name in a list."""
    return [index for index, entry in enumerate(maps(entries)) if entry.get("name") == name]


def claim_names(workload: Workload) -> tuple[str, ...]:
    """Return the names of a StatefulSet's volumeClaimTemplates; a claim replaces a volume of the same name."""
    return tuple(str(mapping(claim.get("metadata")).get("name")) for claim in claim_templates(workload))


def claim_templates(workload: Workload) -> list[dict[str, Any]]:
    """Return a StatefulSet's volumeClaimTemplates, positions kept."""
    if workload.ref.kind != "StatefulSet":
        return []
    return maps(mapping(workload.object.get("spec")).get("volumeClaimTemplates"))


def volume_sources(volume: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the sources of a volume, such as emptyDir; Kubernetes allows one, and none means emptyDir."""
    return tuple(key for key, value in volume.items() if key != "name" and value is not None)
