"""Texts that KubeRay computes of a RayCluster: the command that starts Ray, and how the names of its pods begin.

Rule of this file: what the operator computes in another way than here is refused, never guessed. The address of the
head is left as `$(FQ_RAY_IP)`, a variable that the operator writes into the same container, so that the policy has its
value from one place. Source: docs/facts/controllers.md#kuberay.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from krm_function.findings import Path
from krm_function.model.lookup import dig, mapping, maps
from krm_function.model.quantity import nano, units
from krm_function.model.template_texts import NotDerivedError

PORT = "6379"
FLAGS = ("log-color", "include-dashboard")  # options whose value may be the word true or false
COUNTED = ("google.com/tpu", "aws.amazon.com/neuroncore")  # what becomes JSON in the option `resources`
LONGEST_PREFIX = 50  # characters of a pod's name before its role
MADE = {"rayClusterSpec", "rayClusterConfig"}  # of a RayJob and a RayService, whose RayCluster has a suffix
SUFFIX = "\0generated\0"
_GPU = r".*gpu|.*nvidia\.com/mig-[0-9]+g\.[0-9]+gb"


def ray_start(value: Any, template: Path) -> str:
    """Return the command that the operator makes of rayStartParams and of the limits of the first container.

    template: where the pod template of the group stands. Raises NotDerivedError.
    """
    is_head = "headGroupSpec" in template
    params = _params(value, template[:-1])
    if is_head:
        params.setdefault("dashboard-host", "0.0.0.0")  # noqa: S104 (what the operator writes)
    else:
        head = _params(value, (*template[: template.index("workerGroupSpecs")], "headGroupSpec"))
        params.setdefault("address", f"$(FQ_RAY_IP):{head.get('port', PORT)}")
    params.setdefault("metrics-export-port", "8080")
    params.setdefault("dashboard-agent-listen-port", "52365")
    params["block"] = "true"
    _count(params, mapping((maps(dig(value, (*template, "spec", "containers"))) or [{}])[0].get("resources")))
    return f"ray start {'--head ' if is_head else ''}{''.join(map(_option, sorted(params.items())))}"


def _params(value: Any, group: Path) -> dict[str, str]:
    """Return rayStartParams of a group. Raises NotDerivedError if one of them is no text."""
    given = mapping(dig(value, (*group, "rayStartParams")))
    for name, text in given.items():
        if not isinstance(text, str) or "\0" in text:
            raise NotDerivedError(f"{name} of rayStartParams is no text", f'write {name} as a text: "1", and not 1')
    return dict(given)


def _count(params: dict[str, str], resources: Mapping[str, Any]) -> None:
    """Add what the first container has: CPUs, memory, GPUs."""
    limits, requests = (mapping(resources.get(name)) for name in ("limits", "requests"))
    for option, amounts in (
        ("num-cpus", (limits.get("cpu"), requests.get("cpu"))),
        ("memory", (limits.get("memory"),)),
    ):
        found = next((amount for amount in amounts if _is_some(amount)), None)
        if option not in params and found is not None:
            params[option] = str(units(found))
    counted = [name for name in COUNTED if name in limits]
    if counted:
        raise NotDerivedError(f"the operator counts {counted[0]} in its command", f"leave {counted[0]} out")
    gpus = [name for name in sorted(limits) if re.fullmatch(_GPU, name) and _is_some(limits[name])]
    if gpus:
        params.setdefault("num-gpus", str(units(limits[gpus[0]])))


def _is_some(amount: Any) -> bool:
    """Tell whether a quantity is there and not zero. Raises NotDerivedError if it is none."""
    try:
        return amount is not None and nano(amount) != 0
    except ValueError as problem:
        raise NotDerivedError(f"an amount of resources {problem}", "write it as a quantity of Kubernetes") from problem


def _option(option: tuple[str, str]) -> str:
    """Write an option with the spaces of the operator: a word for true, nothing for false."""
    name, text = option
    if text.lower() in ("true", "false") and name not in FLAGS:
        return f" --{name} " if text.lower() == "true" else ""
    return f" --{name}={text} "


def ray_pods(value: Any, template: Path) -> str:
    """Return how the names of the pods of a group begin: the cluster and the group, cut, and the role."""
    name = str(dig(value, ("metadata", "name")) or "")
    size, suffix = len(name), ""
    if MADE.intersection(map(str, template)):
        suffix, size = f"-{SUFFIX}", size + 6
    if size > LONGEST_PREFIX and suffix:
        raise NotDerivedError(
            "the name of its RayCluster is cut in the names of pods", "give it a name of 44 characters"
        )
    if "headGroupSpec" in template:
        return f"{name[:LONGEST_PREFIX]}{suffix}-head".lower()
    group = str(dig(value, (*template[:-1], "groupName")) or "")
    rest = f"-{group}"[: max(0, LONGEST_PREFIX - size)]
    return f"{name[:LONGEST_PREFIX]}{suffix}{rest}-worker".lower()


RAY: Mapping[str, Callable[[Any, Path], str]] = {"rayStart": ray_start, "rayPods": ray_pods}
