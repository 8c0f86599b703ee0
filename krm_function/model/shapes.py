"""The shape of a workload as far as this project reads it: which fields must be maps, lists and strings.

Rule of this file: it names what Kubernetes would refuse to decode, so that every later reader may trust the types. Null
counts as absent, as in Kubernetes, except where something must have a name.
"""

from typing import Any

from krm_function.findings import Finding, Path, dotted, finding
from krm_function.model.objects import a_type, type_name
from krm_function.model.workload import PREFIX, Workload

# A schema: "string", "name" (a non-empty string that must be there), a list of one schema, or a map of schemas whose
# key "*" stands for every key.
Schema = Any
Fault = tuple[Path, str, str]  # the place, the type expected there, the type found

RESOURCES: Schema = {"limits": {}, "requests": {}}
CONTAINER: Schema = {
    "name": "name",
    "image": "string",
    "restartPolicy": "string",
    "command": ["string"],
    "args": ["string"],
    "env": [{"name": "name"}],
    "envFrom": [{}],
    "ports": [{}],
    "volumeMounts": [{"name": "name", "mountPath": "string"}],
    "volumeDevices": [{"name": "name", "devicePath": "string"}],
    "securityContext": {},
    "resources": RESOURCES,
}
POD_SPEC: Schema = {
    "containers": [CONTAINER],
    "initContainers": [CONTAINER],
    "volumes": [{"name": "name"}],
    "nodeName": "string",
    "nodeSelector": {"*": "string"},
    "tolerations": [{}],
    "overhead": {},
    "resources": RESOURCES,
    "securityContext": {},
}
METADATA: Schema = {"annotations": {"*": "string"}, "labels": {"*": "string"}}
CLAIMS: Schema = [{"metadata": {"name": "name"}, "spec": {"volumeMode": "string"}}]


def shape_findings(workload: Workload) -> tuple[Finding, ...]:
    """CC0207 for every field of the wrong type in metadata, pod template and a StatefulSet's claim templates."""
    faults: list[Fault] = []
    places: list[tuple[Path, Schema]] = [((*workload.root, "metadata"), METADATA), (workload.spec_path, POD_SPEC)]
    if workload.template_path != workload.root:
        places.insert(1, (workload.metadata_path, METADATA))
    if workload.ref.kind == "StatefulSet":
        places.append(((*workload.root, "spec", "volumeClaimTemplates"), CLAIMS))
    for path, schema in places:
        _check(workload.at(path), path, schema, faults)
    return tuple(_finding(workload, fault) for fault in faults)


def _finding(workload: Workload, fault: Fault) -> Finding:
    at, expected, actual = fault
    key = dotted(at[-2:] if isinstance(at[-1], int) else at[-1:])
    return finding("CC0207", workload.ref, at, key=key, expected=a_type(expected), actual=actual)


def _check(value: Any, path: Path, schema: Schema, faults: list[Fault]) -> None:
    """Find where a value is not what its schema says.

    A null under a key of Contrast's is a fault as well: it could mean "" or nothing.
    """
    if value is None and schema != "name" and not str(path[-1]).startswith(PREFIX):
        return
    if isinstance(schema, str):
        if not isinstance(value, str) or (schema == "name" and not value):
            faults.append((path, "string", "an empty one" if value == "" else a_type(type_name(value))))
    elif isinstance(schema, dict) and isinstance(value, dict):
        _check_map(value, path, schema, faults)
    elif isinstance(schema, list) and isinstance(value, list):
        entry = schema[0]
        for index, item in enumerate(value):
            if item is None:
                faults.append(((*path, index), "string" if entry == "string" else "map", "null"))
            elif entry != "string" or not isinstance(item, str):
                _check(item, (*path, index), entry, faults)
    else:
        faults.append((path, "list" if isinstance(schema, list) else "map", a_type(type_name(value))))


def _check_map(value: dict[Any, Any], path: Path, schema: dict[str, Schema], faults: list[Fault]) -> None:
    anything = schema.get("*")
    for name in value if anything else schema:
        wanted = anything or schema[name]
        if name in value or wanted == "name":
            item = value.get(name)
            if not item or not isinstance(item, str) or not isinstance(wanted, str):  # nearly all are texts
                _check(item, (*path, name), wanted, faults)
