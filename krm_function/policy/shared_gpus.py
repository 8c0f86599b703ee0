"""Find the containers to which the runtime announces all GPUs of their pod, and let their policies allow it.

The runtime of a Contrast node looks at the variables of the process, wherever they come from:

    NVIDIA_VISIBLE_DEVICES of the process   GPUs that are announced to the container
    all                                     all of the pod, whether it asks for some or not
    any other value, or none                those that it asks for
    a value that is not known here          no policy: CC0632

Contrast's pages give each container that asks for a GPU the variable. Where it does not have it, it is CC0418, an info,
because the runtime announces what a container asks for anyway; where it has another value, CC0419, a warning.

Rule of this file: `all` to the letter, in pods with a GPU, and in no injected container. In the data such a container
has the pattern of the annotations, and of the variable this one value: rules/contrast-node.rego reads both.
Source: docs/facts/contrast-node.md#gpus-that-containers-share.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from krm_function.findings import Finding, Path, finding
from krm_function.model.injected.image_store import IMAGE_STORE
from krm_function.model.lookup import dig, mapping, maps
from krm_function.model.owned import CONTAINERS
from krm_function.policy.devices import announce_gpus
from krm_function.policy.pod_metadata import PodMetadata
from krm_function.policy.settings import Settings
from krm_function.record import NamedTuple

Json = dict[str, Any]

VARIABLE = "NVIDIA_VISIBLE_DEVICES"
ALL = f"{VARIABLE}=all"
INJECTED = frozenset((*CONTAINERS, IMAGE_STORE))
ANNOTATION = "cdi.k8s.io/vfio0"  # by which the runtime announces a GPU
_NAME = "io.kubernetes.cri.container-name"


class VisibleGpus(NamedTuple):
    """A container: its policy, its name, its path from the pod spec, and the variable's value in its process.

    value: None without the variable; with a marker where it is not known. asks: the number of GPUs in its limits.
    """

    policy: Json
    name: str
    at: Path
    value: str | None
    asks: int = 0


def share_gpus(containers: list[VisibleGpus], pod: PodMetadata, settings: Settings) -> list[Finding]:
    """Change the policies of the containers of a pod with GPUs that all of these are announced to; return findings."""
    findings: list[Finding] = []
    for one in containers:
        if one.name in INJECTED:
            continue
        here = pod.spec_path + one.at
        if one.value is None:
            findings += [finding("CC0418", pod.ref, here, container=one.name)] if one.asks else []
        elif "\0" in one.value:
            findings.append(finding("CC0632", pod.ref, here, container=one.name))
        elif f"{VARIABLE}={one.value}" == ALL:
            announce_gpus(one.policy, settings)
            process = one.policy["OCI"]["Process"]
            # the image's own value, where the pod has another, is none that the process has
            process["Env"] = [text for text in process["Env"] if text == ALL or not text.startswith(f"{VARIABLE}=")]
        elif one.asks:
            findings.append(finding("CC0419", pod.ref, here, container=one.name))
    return findings


def shares_gpus(container: Any) -> bool:
    """Tell whether a container of policy data, of any shape, may learn of all GPUs of its pod, as the rules decide."""
    env = dig(container, ("OCI", "Process", "Env"))
    values = {text for text in (env if isinstance(env, list) else ()) if str(text).startswith(f"{VARIABLE}=")}
    return values == {ALL} and any(
        _is_announcement(key) for key in mapping(mapping(container).get("runtime_anno_patterns"))
    )


def _is_announcement(pattern: str) -> bool:
    try:
        return re.search(pattern, ANNOTATION) is not None
    except re.error:
        return False


def shared_gpu_notes(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for the plan about each container that all GPUs of the pod are announced to."""
    prefix = dig(data, ("devices", "vfio", "device_path"))
    for container in maps(data.get("containers")):
        if shares_gpus(container):
            name = str(mapping(dig(container, ("OCI", "Annotations"))).get(_NAME, ""))
            own = sum(1 for one in maps(container.get("devices")) if one.get("container_path") == prefix)
            asks = f"asks for {own}" if own else "asks for none itself"
            yield f"container {name} gets all GPUs of the pod, by {ALL}; it {asks}"
