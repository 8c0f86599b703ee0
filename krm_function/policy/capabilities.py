"""Compute the capabilities and NoNewPrivileges of a container (docs/facts/kata.md#capabilities).

Rule of this file: what is dropped stays dropped, also if it is added as well, as in containerd; ALL is every capability
there is. A list that is exactly a default list becomes its token, so that the rules compare with the settings.
"""

from collections.abc import Iterator, Mapping
from typing import Any

ALL = "ALL"


def capabilities(context: Mapping[str, Any], common: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the five capability sets. context: the container's securityContext; common: the settings' common."""
    every = common["privileged_caps"]
    changes = context.get("capabilities") or {}
    added, dropped = ([name.upper() for name in changes.get(key) or ()] for key in ("add", "drop"))
    names = list(every if context.get("privileged") or ALL in added else common["default_caps"])
    if ALL in dropped:
        names = []
    for name in added:
        if name != ALL and f"CAP_{name}" not in names:
            names.append(f"CAP_{name}")
    if dropped:
        names = [name for name in names if name.removeprefix("CAP_") not in dropped]
    if names == common["default_caps"]:
        names = ["$(default_caps)"]
    elif names == every:
        names = ["$(privileged_caps)"]
    return {"Ambient": [], "Bounding": names, "Effective": names, "Inheritable": [], "Permitted": names}


def unknown_capabilities(context: Mapping[str, Any], common: Mapping[str, Any]) -> Iterator[tuple[str, int, str]]:
    """Yield the names that are not capabilities, as (add or drop, index, name)."""
    changes = context.get("capabilities") or {}
    for key in ("add", "drop"):
        for index, name in enumerate(changes.get(key) or ()):
            if name.upper() != ALL and f"CAP_{name.upper()}" not in common["privileged_caps"]:
                yield key, index, name


def no_new_privileges(context: Mapping[str, Any]) -> bool:
    """Tell whether NoNewPrivileges is set, which is so for allowPrivilegeEscalation: false."""
    return context.get("allowPrivilegeEscalation") is False
