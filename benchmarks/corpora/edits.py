"""Edit pods as the hints say, as far as that takes no knowledge of the program inside.

Rule of this file: one table, code -> what a person would do at the place of the finding. What is not in it, or what has
no such place, stays refused.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from benchmarks.corpora.plant import Key, Planted, key_of, planted
from krm_function.findings import Finding, Path
from krm_function.kubernetes.objects import dig, mapping, maps
from krm_function.kubernetes.workload import Workload
from krm_function.text.changes import Change

Edit = Callable[[dict[str, Any], Path], None]


def edited(now: Planted, errors: Mapping[Key, tuple[Finding, ...]]) -> Planted | None:
    """Edit the workloads with errors further; None if no edit is known for any of them. now: the stream so far."""
    known = {key: found for key, found in errors.items() if key in now.workloads}
    if not any(one.code in EDITS for found in known.values() for one in found):
        return None

    def changes(workload: Workload) -> list[Change]:
        found = known.get(key_of(workload), ())
        spec = _copied(workload.pod_spec)
        size = len(workload.spec_path)
        for one in found:
            if one.code in EDITS and one.path[:size] == workload.spec_path:
                EDITS[one.code](spec, one.path[size:])
        if spec == workload.pod_spec:
            return []
        return [Change(workload.spec_path, "set", spec), *_without_templates(workload, spec)]

    return planted(now.text, lambda key: key in now.workloads, changes)


def _without_templates(workload: Workload, spec: dict[str, Any]) -> Iterator[Change]:
    """Yield what removes the claim templates that a volume of the pod now stands for."""
    names = {volume.get("name") for volume in maps(spec.get("volumes"))}
    path = (*workload.root, "spec", "volumeClaimTemplates")
    templates = workload.at(path)
    for index in reversed(range(len(templates) if isinstance(templates, list) else 0)):
        if mapping(mapping(templates[index]).get("metadata")).get("name") in names:
            yield Change((*path, index), "remove")


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(one) for key, one in value.items()}
    return [_copied(one) for one in value] if isinstance(value, list) else value


def _own_volume(spec: dict[str, Any], path: Path) -> None:
    """Give the pod an emptyDir in place of the volume, and mount it whole."""
    name = _volume_of(spec, path)
    volumes = spec.setdefault("volumes", [])
    for volume in maps(volumes):
        if volume.get("name") == name:
            for key in [key for key in volume if key != "name"]:
                del volume[key]
            volume["emptyDir"] = {}
    if name and not any(volume.get("name") == name for volume in maps(volumes)):
        volumes.append({"name": name, "emptyDir": {}})  # of a claim template


def _volume_of(spec: dict[str, Any], path: Path) -> str:
    match path:
        case ("volumes", int(), *_):
            return str(mapping(dig(spec, path[:2])).get("name", ""))
        case (str(), int(), "volumeMounts" | "volumeDevices", int(), *_):
            return str(mapping(dig(spec, path[:4])).get("name", ""))
        case _:
            return ""


def _without(spec: dict[str, Any], path: Path) -> None:
    """Remove the field."""
    parent = dig(spec, path[:-1])
    if path and isinstance(parent, dict):
        parent.pop(path[-1], None)


def _literal(spec: dict[str, Any], path: Path) -> None:
    """Write a value into the pod in place of a reference."""
    match path:
        case (str(), int(), "env", int(), *_):
            entry = dig(spec, path[:4])
            if isinstance(entry, dict) and "valueFrom" in entry:
                del entry["valueFrom"]
                entry["value"] = "written"
        case (str(), int(), "envFrom", int(), *_):
            container = mapping(dig(spec, path[:2]))
            del container["envFrom"]
        case _:
            pass


def _whole(spec: dict[str, Any], path: Path) -> None:
    """Mount the whole volume, or leave the field out."""
    if path and path[-1] in ("subPath", "subPathExpr"):
        _without(spec, path)


EDITS: dict[str, Edit] = {
    "CC0601": _without,
    "CC0602": _literal,
    "CC0604": _whole,
    "CC0605": _without,
    "CC0670": _literal,
    "CC0672": _literal,
    "CC0805": _own_volume,
    "CC0807": _own_volume,
    "CC0808": _own_volume,
    "CC0810": _own_volume,
}
