"""Find pods whose network stays closed, or whose service mesh never gets a certificate.

Sources: docs/facts/contrast.md#initializer, docs/facts/contrast.md#service-mesh.

Rule of this file: the firewall of a Contrast VM denies what comes in until the service mesh proxy sets its own rules,
or an initializer with CONTRAST_SERVICE_MESH_DISABLED takes that rule away. The pod is judged as it will run, so a
container written by hand counts like an injected one; it is known by its image, or by the name that Contrast gives it.

    init containers of the pod                   answer
    a proxy, and an initializer                  nothing
    a proxy alone                                CC0286: the proxy waits for a certificate that nobody fetches
    an initializer with the variable             nothing
    an initializer without it                    CC0287
    neither                                      CC0287

The coordinator has neither and needs neither.
"""

from collections.abc import Iterator
from typing import Any

from krm_function.api.records import Generate
from krm_function.findings import Finding, finding
from krm_function.model.image import parse_image
from krm_function.model.injected.image_store import PVC_HOLDER
from krm_function.model.injected.initializer import (
    INITIALIZER,
    INITIALIZER_IMAGE,
    MESH_DISABLED,
    SKIP_INITIALIZER,
    asks_for_initializer,
)
from krm_function.model.injected.mesh_sidecar import SERVICE_MESH, SERVICE_MESH_IMAGE
from krm_function.model.lookup import maps
from krm_function.model.mesh_annotations import asks_for_mesh
from krm_function.model.workload import PodContainer, Workload


def closed_networks(workload: Workload, options: Generate) -> Iterator[Finding]:
    """Yield CC0286 or CC0287 for a workload whose containers are injected, by the truth table above."""
    if workload.is_coordinator:
        return
    proxy = _found(workload, SERVICE_MESH, SERVICE_MESH_IMAGE)
    initializer = _found(workload, INITIALIZER, INITIALIZER_IMAGE)
    skipped = not asks_for_initializer(workload.annotations)
    if initializer is None:
        annotation = (*workload.metadata_path, "annotations", SKIP_INITIALIZER)
        path = annotation if skipped else workload.spec_path
        if proxy is not None:
            yield finding("CC0286.skipped" if skipped else "CC0286.configured", workload.ref, path)
        else:
            yield finding("CC0287.skipped" if skipped else "CC0287.configured", workload.ref, path)
    elif proxy is None and not _opens(initializer.container):
        left_out = asks_for_mesh(workload.annotations) and not options.service_mesh
        code = "CC0287.mesh" if left_out else "CC0287.variable"
        yield finding(code, workload.ref, initializer.path, container=initializer.name)


def _found(workload: Workload, name: str, image: str) -> PodContainer | None:
    """Return the init container of this name, or one whose image is this one of Contrast's, in any registry."""
    ending = image.partition(":")[0].split("/", 1)[1].removeprefix("edgelesssys/")
    for each in workload.all_containers:
        if not each.is_init or each.name == PVC_HOLDER:  # which has the initializer's image, and is none
            continue
        parsed = parse_image(str(each.container.get("image") or ""))
        if each.name == name or (not isinstance(parsed, str) and parsed.name.endswith(f"/{ending}")):
            return each
    return None


def _opens(container: dict[str, Any]) -> bool:
    """Whether an initializer is told that no mesh will open the firewall; a value that only the cluster knows may."""
    found = [one for one in maps(container.get("env")) if one.get("name") == MESH_DISABLED]
    return bool(found) and ("valueFrom" in found[-1] or found[-1].get("value") == "true")
