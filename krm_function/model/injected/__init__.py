"""What Contrast puts into a pod, as plain data: the parts that its containers share.

Rule of this package: shapes only, new data at each call, and keys in a fixed order. Which
pod gets what is decided in stages/inject.py, and how much memory in the release: the VM has no other.
"""

from collections.abc import Mapping
from typing import Any

SECRETS = "contrast-secrets"
SECRETS_PATH = "/contrast"


def secrets_mount() -> dict[str, Any]:
    """The mount through which a container sees its certificates and secrets."""
    return {"name": SECRETS, "mountPath": SECRETS_PATH, "readOnly": True}


def writable_secrets_mount() -> dict[str, Any]:
    """The mount of the initializer, which alone writes there."""
    return {"name": SECRETS, "mountPath": SECRETS_PATH}


def memory_volume(name: str) -> dict[str, Any]:
    """An emptyDir inside the VM's memory."""
    return {"name": name, "emptyDir": {"medium": "Memory"}}


def env_list(values: Mapping[str, str]) -> list[dict[str, str]]:
    """The variables of a container: name -> value, as Kubernetes lists them."""
    return [{"name": name, "value": value} for name, value in values.items()]


def memory_resources(size: Any) -> dict[str, Any]:
    """Requests and limits, one quantity for both."""
    return {"requests": {"memory": size}, "limits": {"memory": size}}
