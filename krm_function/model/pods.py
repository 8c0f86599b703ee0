"""Containers and volumes of a pod, found by name and with their place.

Rule of this file: it reads and never judges. What a StatefulSet's claim templates add to a pod counts as its volumes.
"""

from collections.abc import Mapping
from typing import Any

from krm_function.model.workload import Workload, mapping, maps


def named(entries: Any, name: str) -> list[int]:
    """Where in a list the entries of this name stand."""
    return [index for index, entry in enumerate(maps(entries)) if entry.get("name") == name]


def claims(workload: Workload) -> tuple[str, ...]:
    """Names of a StatefulSet's volumeClaimTemplates; such a claim takes the place of a volume of the same name."""
    return tuple(str(mapping(claim.get("metadata")).get("name")) for claim in claim_templates(workload))


def claim_templates(workload: Workload) -> list[dict[str, Any]]:
    """A StatefulSet's volumeClaimTemplates, positions kept."""
    if workload.ref.kind != "StatefulSet":
        return []
    return maps(mapping(workload.object.get("spec")).get("volumeClaimTemplates"))


def sources(volume: Mapping[str, Any]) -> tuple[str, ...]:
    """What a volume is made from, such as emptyDir; Kubernetes allows one, and none means emptyDir."""
    return tuple(key for key, value in volume.items() if key != "name" and value is not None)
