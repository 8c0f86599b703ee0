"""The containers that Contrast injects, as plain data: initializer, service mesh sidecar, image store."""

from collections.abc import Mapping
from typing import Any

from krm_function.kubernetes.workload import PREFIX
from krm_function.record import NamedTuple
from krm_function.text.changes import same

# --- Parts that the containers injected by Contrast share, as plain data: mounts, volumes, variables, memory
#
# Rule of this package: shapes only, new data at each call, and keys in a fixed order. render/inject.py decides which
# pod gets which; the release states how much memory each container gets, and the VM has no other. Parts that a later
# render must recognise and that have no reserved name are a table of all shapes so far, the oldest first: the last one
# is injected. A new shape is appended, and none is removed while outputs with it are in use.


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
    """Tell whether a volume is one of this name that a render adds."""
    return any(same(volume, {"name": name, "emptyDir": directory}) for directory in MEMORY_DIRECTORIES)


def is_secrets_mount(mount: Mapping[str, Any]) -> bool:
    """Tell whether a render adds this mount to a container; with or without readOnly, as the first renders wrote it."""
    return mount["name"] == SECRETS and mount.get("mountPath") in SECRETS_PATHS and mount.keys() <= SECRETS_MOUNT_FIELDS


def env_list(values: Mapping[str, str]) -> list[dict[str, str]]:
    """Make Kubernetes' list of a container's variables from name -> value."""
    return [{"name": name, "value": value} for name, value in values.items()]


def memory_resources(size: Any) -> dict[str, Any]:
    """Make requests and limits, one quantity for both."""
    return {"requests": {"memory": size}, "limits": {"memory": size}}


# --- The initializer: the init container that attests the pod to the coordinator and fetches its secrets
#
# Source: docs/facts/contrast.md#initializer.


SKIP_INITIALIZER = PREFIX + "skip-initializer"
SECURE_PV = PREFIX + "secure-pv"
LONGEST_NAME = 63  # characters of a volume's name
INITIALIZER = "contrast-initializer"
INITIALIZER_IMAGE = "ghcr.io/edgelesssys/contrast/initializer:latest"
MESH_DISABLED = "CONTRAST_SERVICE_MESH_DISABLED"  # removes the firewall's default-deny rule
CRYPT_DEVICE = "/dev/csi0"
STATE_PATHS = ("/state",)  # where it mounts the volume that shares an encrypted one; of all shapes, the oldest first
STATE = STATE_PATHS[-1]
VOLUME_OWNER = "encrypted-volume-owner"  # the init container of the rule securePV, adapt/secure_pv.py


class SecurePv(NamedTuple):
    """An encrypted volume: the pod's block device and the emptyDir that shares its content."""

    device: str
    mount: str


def asks_for_initializer(annotations: Mapping[str, Any]) -> bool:
    """Tell whether a pod with these annotations gets the initializer, unless it is the coordinator."""
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


# --- The service mesh sidecar, and the variables that hand it the pod's mesh annotations
#
# Source: docs/facts/contrast.md#service-mesh.


SERVICE_MESH = "contrast-service-mesh"
SERVICE_MESH_IMAGE = "ghcr.io/edgelesssys/contrast/service-mesh-proxy:latest"
MESH_ARGUMENTS = (("-l", "debug"),)  # of all shapes, the oldest first
MESH_ARGS = MESH_ARGUMENTS[-1]


def service_mesh(image: str, memory: Any, *, admin: str, ingress: str, egress: str, port: int) -> dict[str, Any]:
    """Make the sidecar that terminates and starts the pod's mutual TLS.

    admin, ingress, egress: the annotations as written, "" when empty or absent; port: the admin port, 0 when absent.
    """
    env = {
        "CONTRAST_ADMIN_PORT": admin,
        "CONTRAST_INGRESS_PROXY_CONFIG": ingress,
        "CONTRAST_EGRESS_PROXY_CONFIG": egress,
    }
    env = {name: value for name, value in env.items() if value}
    return {
        "name": SERVICE_MESH,
        "image": image,
        "restartPolicy": "Always",
        "args": list(MESH_ARGS),
        **({"env": env_list(env)} if env else {}),
        **({"ports": [{"name": "contrast-admin", "containerPort": port}]} if port else {}),
        "volumeMounts": [secrets_mount()],
        "securityContext": {"privileged": True, "capabilities": {"add": ["NET_ADMIN"]}},
        "resources": memory_resources(memory),
        "startupProbe": {
            "exec": {"command": ["test", "-f", "/ready"]},
            "initialDelaySeconds": 1,
            "periodSeconds": 5,
            "failureThreshold": 5,
        },
    }


# --- The image store: an encrypted block device for pulled images, and the sidecar that holds it
#
# Source: docs/facts/contrast.md#image-store.


PVC_HOLDER = "pvc-holder"
IMAGE_STORE = "image-store"
IMAGE_STORE_SIZE = "10Gi"
STORE_DEVICE = "/dev/image_store"
HOLDER_COMMANDS = (("/bin/sh", "-c", "sleep inf"),)  # of all shapes, the oldest first
HOLDER_COMMAND = HOLDER_COMMANDS[-1]


def image_store_volume(size: str) -> dict[str, Any]:
    """Make the block device that holds the pulled images, encrypted by the guest."""
    claim = {
        "volumeMode": "Block",
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": size}},
    }
    return {"name": IMAGE_STORE, "ephemeral": {"volumeClaimTemplate": {"spec": claim}}}


def pvc_holder(image: str, memory: Any) -> dict[str, Any]:
    """Make the sidecar that holds the image store's device from before the first image is pulled."""
    return {
        "name": PVC_HOLDER,
        "image": image,
        "restartPolicy": "Always",
        "command": list(HOLDER_COMMAND),
        "volumeDevices": [{"name": IMAGE_STORE, "devicePath": STORE_DEVICE}],
        "securityContext": {"privileged": True},
        "resources": memory_resources(memory),
    }
