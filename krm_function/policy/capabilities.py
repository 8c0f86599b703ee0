"""Capabilities and NoNewPrivileges of a container (genpolicy.md 4.6).

Rule of this file: a list that is exactly a default list becomes its token, so that the rules compare with the settings.
"""

from collections.abc import Mapping
from typing import Any


def capabilities(context: Mapping[str, Any], common: Mapping[str, Any]) -> dict[str, list[str]]:
    """The five capability sets. context: the container's securityContext; common: the settings' common."""
    names = list(common["privileged_caps"] if context.get("privileged") else common["default_caps"])
    changes = context.get("capabilities") or {}
    for name in changes.get("drop") or ():
        if name == "ALL":
            names = []
        elif f"CAP_{name}" in names:
            names.remove(f"CAP_{name}")
    for name in changes.get("add") or ():
        if f"CAP_{name}" not in names:
            names.append(f"CAP_{name}")
    if names == common["default_caps"]:
        names = ["$(default_caps)"]
    elif names == common["privileged_caps"]:
        names = ["$(privileged_caps)"]
    return {"Ambient": [], "Bounding": names, "Effective": names, "Inheritable": [], "Permitted": names}


def no_new_privileges(context: Mapping[str, Any]) -> bool:
    """Whether the process may never gain privileges: allowPrivilegeEscalation false."""
    return context.get("allowPrivilegeEscalation") is False
