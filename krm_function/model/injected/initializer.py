"""The initializer: the init container that attests the pod to the coordinator and fetches its secrets.

Source: docs/facts/contrast.md#initializer.
"""

from collections.abc import Mapping
from typing import Any

from krm_function.model.injected import env_list, memory_resources, writable_secrets_mount
from krm_function.model.workload import PREFIX
from krm_function.record import NamedTuple

SKIP_INITIALIZER = PREFIX + "skip-initializer"
SECURE_PV = PREFIX + "secure-pv"
LONGEST_NAME = 63  # characters of a volume's name
INITIALIZER = "contrast-initializer"
INITIALIZER_IMAGE = "ghcr.io/edgelesssys/contrast/initializer:latest"
MESH_DISABLED = "CONTRAST_SERVICE_MESH_DISABLED"  # takes the firewall's default-deny rule away
CRYPT_DEVICE = "/dev/csi0"
STATE_PATHS = ("/state",)  # where it mounts the volume that shares an encrypted one; of all shapes, the oldest first
STATE = STATE_PATHS[-1]


class SecurePv(NamedTuple):
    """An encrypted volume: the pod's block device and the emptyDir through which its content is shared."""

    device: str
    mount: str


def asks_for_initializer(annotations: Mapping[str, Any]) -> bool:
    """Whether a pod with these annotations gets the initializer, unless it is the coordinator."""
    return annotations.get(SKIP_INITIALIZER) != "true"


def read_secure_pv(annotations: Mapping[str, Any]) -> SecurePv | None:
    """Read the secure-pv annotation: two names of volumes; None for anything else."""
    value = annotations.get(SECURE_PV)
    parts = value.split(":") if isinstance(value, str) else []
    return SecurePv(*parts) if len(parts) == 2 and all(0 < len(part) <= LONGEST_NAME for part in parts) else None


def initializer(
    image: str, host: str, secure_pv: SecurePv | None, memory: Any, *, mesh_disabled: bool
) -> dict[str, Any]:
    """Make the init container that attests the pod to the coordinator at `host` and fetches its secrets.

    secure_pv: makes it the sidecar that also opens the encrypted volume. memory: a quantity, for requests and limits.
    mesh_disabled: it removes the guest's default-deny rule, because no service mesh proxy will.
    """
    env = {"COORDINATOR_HOST": host}
    if secure_pv:
        env["CRYPTSETUP_DEVICE"] = CRYPT_DEVICE
    if mesh_disabled:
        env[MESH_DISABLED] = "true"
    if secure_pv is None:
        return {
            "name": INITIALIZER,
            "image": image,
            "env": env_list(env),
            "volumeMounts": [writable_secrets_mount()],
            "securityContext": {"capabilities": {"add": ["NET_ADMIN"]}},
            "resources": memory_resources(memory),
        }
    state = {"name": secure_pv.mount, "mountPath": STATE, "mountPropagation": "Bidirectional"}
    return {
        "name": INITIALIZER,
        "image": image,
        "restartPolicy": "Always",
        "env": env_list(env),
        "volumeMounts": [writable_secrets_mount(), state],
        "volumeDevices": [{"name": secure_pv.device, "devicePath": CRYPT_DEVICE}],
        "securityContext": {"privileged": True},
        "resources": memory_resources(memory),
        "startupProbe": {
            "exec": {"command": ["/bin/test", "-f", "/done"]},
            "failureThreshold": 20,
            "periodSeconds": 5,
        },
    }
