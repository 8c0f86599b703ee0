"""The image store: an encrypted block device for pulled images, and the sidecar that holds it.

Source: docs/facts/contrast.md#image-store.
"""

from typing import Any

from krm_function.model.injected import memory_resources

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
