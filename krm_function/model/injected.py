"""What Contrast puts into a pod: three containers, three volumes and a mount, as plain data.

Rule of this file: shapes only (contrast.md 5.2, 5.3, 5.5), new data at each call, and keys in a fixed order. Who gets
what is decided in stages/inject.py, and how much memory in the release: the VM has no other.
"""

from collections.abc import Mapping
from typing import Any

from krm_function.record import NamedTuple

INITIALIZER = "contrast-initializer"
SERVICE_MESH = "contrast-service-mesh"
PVC_HOLDER = "pvc-holder"
SECRETS = "contrast-secrets"
SECRETS_PATH = "/contrast"
IMAGE_STORE = "image-store"
IMAGE_STORE_SIZE = "10Gi"

INITIALIZER_IMAGE = "ghcr.io/edgelesssys/contrast/initializer:latest"
SERVICE_MESH_IMAGE = "ghcr.io/edgelesssys/contrast/service-mesh-proxy:latest"

CRYPT_DEVICE = "/dev/csi0"
STORE_DEVICE = "/dev/image_store"
MESH_ARGS = ("-l", "debug")
HOLDER_COMMAND = ("/bin/sh", "-c", "sleep inf")


class SecurePv(NamedTuple):
    """An encrypted volume: the pod's block device and the emptyDir through which its content is shared."""

    device: str
    mount: str


class MeshConfig(NamedTuple):
    """The three mesh annotations: the texts as they stand there, "" when empty or absent; port 0 when absent."""

    admin: str = ""
    ingress: str = ""
    egress: str = ""
    port: int = 0


def secrets_mount() -> dict[str, Any]:
    """The mount through which a container sees its certificates and secrets."""
    return {"name": SECRETS, "mountPath": SECRETS_PATH, "readOnly": True}


def _writable_secrets_mount() -> dict[str, Any]:
    """The mount of the initializer, which alone writes there."""
    return {"name": SECRETS, "mountPath": SECRETS_PATH}


def memory_volume(name: str) -> dict[str, Any]:
    """An emptyDir inside the VM's memory."""
    return {"name": name, "emptyDir": {"medium": "Memory"}}


def image_store_volume(size: str) -> dict[str, Any]:
    """The block device that holds the pulled images, encrypted by the guest."""
    claim = {
        "volumeMode": "Block",
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": size}},
    }
    return {"name": IMAGE_STORE, "ephemeral": {"volumeClaimTemplate": {"spec": claim}}}


def _env(values: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in values.items()]


def _memory(size: Any) -> dict[str, Any]:
    """Requests and limits, one quantity for both."""
    return {"requests": {"memory": size}, "limits": {"memory": size}}


def initializer(
    image: str, host: str, secure_pv: SecurePv | None, memory: Any, *, mesh_disabled: bool
) -> dict[str, Any]:
    """The init container that attests the pod to the coordinator at `host` and fetches its secrets.

    secure_pv: makes it the sidecar that also opens the encrypted volume. memory: a quantity, as in the other two.
    mesh_disabled: it removes the guest's default-deny rule, because no service mesh proxy will.
    """
    env = {"COORDINATOR_HOST": host}
    if secure_pv:
        env["CRYPTSETUP_DEVICE"] = CRYPT_DEVICE
    if mesh_disabled:
        env["CONTRAST_SERVICE_MESH_DISABLED"] = "true"
    if secure_pv is None:
        return {
            "name": INITIALIZER,
            "image": image,
            "env": _env(env),
            "volumeMounts": [_writable_secrets_mount()],
            "securityContext": {"capabilities": {"add": ["NET_ADMIN"]}},
            "resources": _memory(memory),
        }
    state = {"name": secure_pv.mount, "mountPath": "/state", "mountPropagation": "Bidirectional"}
    return {
        "name": INITIALIZER,
        "image": image,
        "restartPolicy": "Always",
        "env": _env(env),
        "volumeMounts": [_writable_secrets_mount(), state],
        "volumeDevices": [{"name": secure_pv.device, "devicePath": CRYPT_DEVICE}],
        "securityContext": {"privileged": True},
        "resources": _memory(memory),
        "startupProbe": {
            "exec": {"command": ["/bin/test", "-f", "/done"]},
            "failureThreshold": 20,
            "periodSeconds": 5,
        },
    }


def service_mesh(image: str, config: MeshConfig, memory: Any) -> dict[str, Any]:
    """The sidecar that terminates and starts the pod's mutual TLS."""
    env = {
        "CONTRAST_ADMIN_PORT": config.admin,
        "CONTRAST_INGRESS_PROXY_CONFIG": config.ingress,
        "CONTRAST_EGRESS_PROXY_CONFIG": config.egress,
    }
    env = {name: value for name, value in env.items() if value}
    return {
        "name": SERVICE_MESH,
        "image": image,
        "restartPolicy": "Always",
        "args": list(MESH_ARGS),
        **({"env": _env(env)} if env else {}),
        **({"ports": [{"name": "contrast-admin", "containerPort": config.port}]} if config.port else {}),
        "volumeMounts": [secrets_mount()],
        "securityContext": {"privileged": True, "capabilities": {"add": ["NET_ADMIN"]}},
        "resources": _memory(memory),
        "startupProbe": {
            "exec": {"command": ["test", "-f", "/ready"]},
            "initialDelaySeconds": 1,
            "periodSeconds": 5,
            "failureThreshold": 5,
        },
    }


def pvc_holder(image: str, memory: Any) -> dict[str, Any]:
    """The sidecar whose only purpose is to hold the image store's device from before the first image is pulled."""
    return {
        "name": PVC_HOLDER,
        "image": image,
        "restartPolicy": "Always",
        "command": list(HOLDER_COMMAND),
        "volumeDevices": [{"name": IMAGE_STORE, "devicePath": STORE_DEVICE}],
        "securityContext": {"privileged": True},
        "resources": _memory(memory),
    }
