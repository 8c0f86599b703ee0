"""The service mesh sidecar, and the variables that hand it the pod's mesh annotations.

Source: docs/facts/contrast.md#service-mesh.
"""

from typing import Any

from krm_function.model.injected import env_list, memory_resources, secrets_mount
from krm_function.record import NamedTuple

SERVICE_MESH = "contrast-service-mesh"
SERVICE_MESH_IMAGE = "ghcr.io/edgelesssys/contrast/service-mesh-proxy:latest"
MESH_ARGUMENTS = (("-l", "debug"),)  # of all shapes, the oldest first
MESH_ARGS = MESH_ARGUMENTS[-1]


class MeshConfig(NamedTuple):
    """The three mesh annotations as written, "" when empty or absent; port: the admin port, 0 when absent."""

    admin: str = ""
    ingress: str = ""
    egress: str = ""
    port: int = 0


def service_mesh(image: str, config: MeshConfig, memory: Any) -> dict[str, Any]:
    """Make the sidecar that terminates and starts the pod's mutual TLS."""
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
        **({"env": env_list(env)} if env else {}),
        **({"ports": [{"name": "contrast-admin", "containerPort": config.port}]} if config.port else {}),
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
