"""Compute the devices of a container: block volumes and passed-through GPUs.

Rule of this file: a GPU is an entry with a path pattern and without a device node, since the host chooses which it is.
"""

from collections.abc import Mapping
from typing import Any

from krm_function.findings import Finding, Path, finding
from krm_function.model.gpu_names import gpu_name
from krm_function.policy.pod_metadata import PodMetadata
from krm_function.policy.problems import problem
from krm_function.policy.settings import Settings

Json = dict[str, Any]

MOST = 1024  # GPUs of a container: each becomes an entry of the policy; no machine has so many
_BLOCK = ("persistentVolumeClaim", "ephemeral", "iscsi")


def devices(
    container: Mapping[str, Any], pod: PodMetadata, settings: Settings, at: Path
) -> tuple[list[str], int, list[Finding]]:
    """Return the device paths of a container's block volumes, the number of its GPUs, and findings."""
    findings: list[Finding] = []
    prefix = settings.devices["vfio"]["device_path"]
    volumes = {volume["name"]: volume for volume in pod.spec.get("volumes") or ()}
    paths = []
    for index, entry in enumerate(container.get("volumeDevices") or ()):
        here = (*at, "volumeDevices", index)
        path, name = entry["devicePath"], entry["name"]
        wrong = None
        if path.startswith(prefix):
            wrong = ("devicePath", "CC0604.device-gpu")
        elif not path.startswith("/"):
            wrong = ("devicePath", "CC0604.device-path")
        elif name not in volumes and name not in pod.claim_templates:
            wrong = ("name", "CC0604.volume")
        elif name not in pod.claim_templates and not any(volumes[name].get(source) is not None for source in _BLOCK):
            wrong = ("name", "CC0604.no-device")
        if wrong:
            findings.append(problem(pod, (*here, wrong[0]), wrong[1], prefix=prefix))
        paths.append(path)
    return paths, _gpus(container, pod, settings, at, findings), findings


def _gpus(container: Mapping[str, Any], pod: PodMetadata, settings: Settings, at: Path, findings: list[Finding]) -> int:
    """Return the number of GPUs, which are counted in limits only, as whole numbers."""
    limits = (container.get("resources") or {}).get("limits") or {}
    count = 0
    keys = settings.devices["vfio"]["nvidia"]["pgpu_resource_keys"]
    for key in limits:
        if "/" in key and not gpu_name(key, tuple(keys)):  # of GPUs, stages.gpu_checks and resolve say it
            here = (*pod.spec_path, *at, "resources", "limits", key)
            findings.append(finding("CC0631", pod.ref, here, resource=key))
    for key in keys:
        value = limits.get(key)
        if value is None:
            continue
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST:
            count += value
        elif (
            isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10 and int(value) <= MOST
        ):
            count += int(value)
        else:
            here = (*at, "resources", "limits", key)
            findings.append(problem(pod, here, "CC0604.gpus"))
    return count


def device(path: str, kind: str = "") -> Json:
    """Build one element of the devices of a container."""
    return {"id": "", "type_": kind, "vm_path": "", "container_path": path, "options": []}


def add_gpus(container: Json, count: int, settings: Settings) -> None:
    """Add GPUs to a container's policy, and the annotations by which the runtime announces them."""
    vfio = settings.devices["vfio"]
    container["devices"] += [device(vfio["device_path"], vfio["nvidia"]["gpu_gk_device_type"]) for _ in range(count)]
    if count:
        announce_gpus(container, settings)


def announce_gpus(container: Json, settings: Settings) -> None:
    """Allow the annotations by which the runtime announces GPUs; how many is up to the rules."""
    vfio = settings.devices["vfio"]
    announced = {vfio["anno_key_regex"]: vfio["nvidia"]["gpu_anno_value_regex"]}
    container["runtime_anno_patterns"] = announced | container["runtime_anno_patterns"]
