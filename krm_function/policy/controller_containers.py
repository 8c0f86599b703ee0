"""The containers of a pod as the controller of a custom resource makes them.

Rule of this file: in the controller's order. A variable stands before those of the template and replaces one of its
name, or behind them, where the last of a name counts, or is left out where the template has one. What an added init
container has of the first container is that container's of the template, before anything is added to it.
"""

from collections.abc import Callable, Mapping
from typing import Any

from krm_function.model.added_containers import added_init_containers, not_replaced
from krm_function.model.lookup import dig, maps
from krm_function.model.workload import Workload
from krm_function.policy.environment import WRITTEN

Json = dict[str, Any]
Added = Mapping[str, list[Json]]  # what `applied` returns
Texts = Callable[[str], str]  # from a text of an entry to one with markers
BESIDE = frozenset(("when", "unless", "place", "containers", "like"))  # of an entry, and no fields of a pod


def goes_to(entry: Mapping[str, Any], *, is_init: bool, is_first: bool) -> bool:
    """Tell whether a variable or a mount of an entry goes to a container. is_first: of those that are no init ones."""
    match entry.get("containers", "all"):
        case "containers":
            return not is_init
        case "first":
            return is_first
        case "initContainers":
            return is_init
        case _:
            return True


def added_spec(spec: Json, workload: Workload, adds: Added, text: Texts) -> Json:
    """Return a pod spec with what the controller adds to its containers and volumes."""
    variables = [(one, text(one["value"]) if "value" in one else "") for one in adds.get("env", ())]
    mounts = adds.get("volumeMounts", [])
    made = {**spec}
    added = added_init_containers(workload)
    starting = not_replaced(maps(spec.get("initContainers")), added)
    starting += [{**_pod_fields(one), **_process(one, text)} for one in added]
    if starting:
        made["initContainers"] = [_container(one, variables, mounts, is_init=True) for one in starting]
    running = maps(spec.get("containers"))
    if running:
        first = _with_probes(_with_process(running[0], adds, text), adds, text)
        others = [_container(one, variables, mounts) for one in running[1:]]
        made["containers"] = [_container(first, variables, mounts, is_first=True), *others]
    volumes = [one for one in adds.get("volumes", ()) if _is_wanted(one, made)]
    if volumes:
        made["volumes"] = _with(spec.get("volumes"), [_pod_fields(one) for one in volumes], "name")
    return made


def _with_process(container: Json, adds: Added, text: Texts) -> Json:
    """Return the first container with the command of the controller; one with a command of its own stays."""
    if container.get("command") or container.get("args"):
        return container
    for one in adds.get("process", ()):
        container = {**container, **_process(one, text)}
    return container


def _process(entry: Json, text: Texts) -> Json:
    """Return command and args of an entry with markers."""
    return {str(key): [text(word) for word in entry[key]] for key in ("command", "args") if key in entry}


def _with_probes(container: Json, adds: Added, text: Texts) -> Json:
    for one in adds.get("probes", ()):
        if not container.get(one["name"]):
            command = [text(word) for word in one["command"]]
            container = {**container, one["name"]: {"exec": {"command": command}}}
    return container


def _container(
    container: Json,
    variables: list[tuple[Json, str]],
    mounts: list[Json],
    *,
    is_init: bool = False,
    is_first: bool = False,
) -> Json:
    """Return a container with the variables and mounts that the controller adds to it."""
    env = container.get("env") or []
    present = {one.get("name") for one in env}
    before: list[Json] = []
    behind: list[Json] = []
    for one, value in variables:
        place = one.get("place", "first")
        if not goes_to(one, is_init=is_init, is_first=is_first) or (place == "missing" and one["name"] in present):
            continue
        (before if place == "first" else behind).append(_variable(one, value))
    names = {one["name"] for one in before}
    added = [one for one in mounts if goes_to(one, is_init=is_init, is_first=is_first)]
    paths = {one.get("mountPath") for one in maps(container.get("volumeMounts"))}
    added = [one for one in added if one.get("place") != "missing" or one.get("mountPath") not in paths]
    out = {**container}
    if before or behind:
        out["env"] = [*before, *(one for one in env if one.get("name") not in names), *behind]
    if added:
        out["volumeMounts"] = _with(container.get("volumeMounts"), [_pod_fields(one) for one in added], "mountPath")
    return out


def _variable(entry: Json, value: str) -> Json:
    if "fieldPath" in entry:
        return {"name": entry["name"], "valueFrom": {"fieldRef": {"fieldPath": entry["fieldPath"]}}}
    if "\0" not in value:
        return {"name": entry["name"], "value": value}
    return {"name": entry["name"], "valueFrom": {WRITTEN: value}}


def _is_wanted(volume: Json, spec: Json) -> bool:
    """Tell whether a volume is added: one for `missing` where it is mounted and there is none of its name."""
    if volume.get("place") != "missing":
        return True
    name = volume.get("name")
    mounted = any(dig(one, ("name",)) == name for each in spec["containers"] for one in maps(each.get("volumeMounts")))
    return mounted and all(one.get("name") != name for one in maps(spec.get("volumes")))


def _pod_fields(entry: Json) -> Json:
    return {key: value for key, value in entry.items() if key not in BESIDE}


def _with(present: Any, added: list[Json], key: str) -> list[Json]:
    """Return entries with those that are added; one of the same key is replaced."""
    keys = {one.get(key) for one in added}
    return [*(one for one in maps(present) if one.get(key) not in keys), *added]
