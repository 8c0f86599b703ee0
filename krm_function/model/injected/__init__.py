"""Parts that the containers injected by Contrast share, as plain data: mounts, volumes, variables, memory.

Rule of this package: shapes only, new data at each call, and keys in a fixed order. Which pod gets what is decided in
stages/inject.py; the release says how much memory each container gets, and the VM has no other. What a later render
must recognise and has no reserved name is a table of all shapes there ever were, the oldest first: the last one is
injected. A new shape is appended, and none is removed while outputs with it are in use.
"""

from collections.abc import Mapping
from typing import Any

from krm_function.yamltext import same

SECRETS = "contrast-secrets"
SECRETS_PATHS = ("/contrast",)  # where containers mount the secrets
SECRETS_PATH = SECRETS_PATHS[-1]
SECRETS_MOUNT_FIELDS = frozenset(("name", "mountPath", "readOnly"))  # of all shapes
MEMORY_DIRECTORIES = ({"medium": "Memory"},)  # an emptyDir inside the VM's memory
MEMORY_DIRECTORY = MEMORY_DIRECTORIES[-1]


def secrets_mount() -> dict[str, Any]:
    """Make the mount through which a container reads its certificates and secrets."""
    return {"name": SECRETS, "mountPath": SECRETS_PATH, "readOnly": True}


def writable_secrets_mount() -> dict[str, Any]:
    """Make the mount of the initializer, the only container that writes there."""
    return {"name": SECRETS, "mountPath": SECRETS_PATH}


def memory_volume(name: str) -> dict[str, Any]:
    """Make an emptyDir inside the VM's memory."""
    return {"name": name, "emptyDir": dict(MEMORY_DIRECTORY)}


def is_memory_volume(volume: Any, name: str) -> bool:
    """Whether a volume is one of this name that a render adds."""
    return any(same(volume, {"name": name, "emptyDir": directory}) for directory in MEMORY_DIRECTORIES)


def is_secrets_mount(mount: Mapping[str, Any]) -> bool:
    """Whether a mount is one that a render adds to a container; readOnly or not, as the first renders wrote it."""
    return mount["name"] == SECRETS and mount.get("mountPath") in SECRETS_PATHS and mount.keys() <= SECRETS_MOUNT_FIELDS


def env_list(values: Mapping[str, str]) -> list[dict[str, str]]:
    """Make Kubernetes' list of a container's variables from name -> value."""
    return [{"name": name, "value": value} for name, value in values.items()]


def memory_resources(size: Any) -> dict[str, Any]:
    """Make requests and limits, one quantity for both."""
    return {"requests": {"memory": size}, "limits": {"memory": size}}
