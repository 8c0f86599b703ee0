"""Parts that the containers injected by Contrast share, as plain data: mounts, volumes, variables, memory.

Rule of this package: shapes only, new data at each call, and keys in a fixed order. Which pod gets what is decided in
stages/inject.py; the release says how much memory each container gets, and the VM has no other.
"""

from collections.abc import Mapping
from typing import Any

SECRETS = "contrast-secrets"
SECRETS_PATH = "/contrast"


def secrets_mount() -> dict[str, Any]:
    """Make the mount through which a container reads its certificates and secrets."""
    return {"name": SECRETS, "mountPath": SECRETS_PATH, "readOnly": True}


def writable_secrets_mount() -> dict[str, Any]:
    """Make the mount of the initializer, the only container that writes there."""
    return {"name": SECRETS, "mountPath": SECRETS_PATH}


def memory_volume(name: str) -> dict[str, Any]:
    """Make an emptyDir inside the VM's memory."""
    return {"name": name, "emptyDir": {"medium": "Memory"}}


def env_list(values: Mapping[str, str]) -> list[dict[str, str]]:
    """Make Kubernetes' list of a container's variables from name -> value."""
    return [{"name": name, "value": value} for name, value in values.items()]


def memory_resources(size: Any) -> dict[str, Any]:
    """Make requests and limits, one quantity for both."""
    return {"requests": {"memory": size}, "limits": {"memory": size}}
