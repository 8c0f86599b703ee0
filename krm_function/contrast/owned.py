"""The fields that a render owns: its additions to and changes in the objects of its input, by field and by name.

Rule of this file: names only. A render writes nothing else into an object except for the volumes, GPUs, annotations and
init containers that a rule of the configuration writes (adapt/), and an undo record (render/proof.py) changes nothing
else.
docs/explanation/determinism-and-uninject.md has the same table; a test compares them. The content of each name is in
contrast/injected.py and in the stages.
"""

from collections.abc import Iterator
from typing import Any

from krm_function.contrast.injected import (
    HOLDER_COMMANDS,
    IMAGE_STORE,
    INITIALIZER,
    MESH_ARGUMENTS,
    PVC_HOLDER,
    SECRETS,
    SERVICE_MESH,
)
from krm_function.findings import Path
from krm_function.kubernetes.objects import dig, objects
from krm_function.kubernetes.runtime_classes import API_VERSION, KIND
from krm_function.kubernetes.workload import EMITTED, ID_BLOCKS, INITDATA, ORIGINAL, PodContainer

ANNOTATIONS = "contrast-krm.dev/"  # all keys of this domain are a render's own
CONTAINERS = (INITIALIZER, SERVICE_MESH, PVC_HOLDER)  # reserved names of init containers
REPLACED_CONTAINERS = (INITIALIZER, SERVICE_MESH)  # a render replaces those of its input, whatever they run
CLAIM_KIND = "PersistentVolumeClaim"
VOLUMES = {SECRETS: "emptyDir", IMAGE_STORE: "ephemeral"}  # and their source; secure-pv names one more, an emptyDir
SCHEDULING = ("nodeSelector", "tolerations")
Process = tuple[tuple[str, ...] | None, tuple[str, ...] | None]  # command and args, None if the image's own count
PROCESSES: dict[str, tuple[Process, ...]] = {  # commands that renders gave the containers, the oldest shape first
    INITIALIZER: ((None, None),),
    SERVICE_MESH: tuple((None, arguments) for arguments in MESH_ARGUMENTS),
    PVC_HOLDER: tuple((command, None) for command in HOLDER_COMMANDS),
}


def is_injected(container: PodContainer) -> bool:
    """Tell whether a render adds this container, by its reserved name."""
    return container.is_init and container.name in CONTAINERS


# The fields that a render writes: the owner, the field, and names of its entries, or beginnings of them, if the render
# does not own all of it.
OWNED: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("workload", "metadata.namespace", ()),
    ("object", "metadata.annotations", (ORIGINAL,)),
    ("pod template", "metadata.annotations", (INITDATA, *ID_BLOCKS)),
    ("pod", "runtimeClassName", ()),
    ("pod", "initContainers", CONTAINERS),
    ("pod", "volumes", tuple(VOLUMES)),
    ("container", "image", ()),
    ("container", "volumeMounts", (SECRETS,)),
    (CLAIM_KIND, "spec.volumeMode", ()),
    *(("pod of a DaemonSet", field, ()) for field in SCHEDULING),
    *((KIND, f"scheduling.{field}", ()) for field in SCHEDULING),
)
ADDED_OBJECTS = {  # that a render adds as a whole: their fields besides apiVersion, kind and metadata
    (API_VERSION, KIND): ("handler", "overhead", "scheduling"),
    ("v1", "ConfigMap"): ("data",),
}


def emitted_objects(document: Any) -> Iterator[tuple[Path, Any]]:
    """Yield the objects that a render added: the document itself, or members of a List that a host made of them."""
    for root, value in objects(document):
        if dig(value, ("metadata", "annotations", EMITTED)) is not None:
            yield root, value
