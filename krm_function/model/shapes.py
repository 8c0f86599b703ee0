"""The shape of a workload as far as this project reads it: which fields must be maps, lists and strings.

Rule of this file: it names what Kubernetes would refuse to decode, so that every later reader may trust the types. Null
counts as absent, as in Kubernetes, except where something must have a name.
"""

from collections.abc import Iterator
from typing import Any

from krm_function.findings import Finding, Path, dotted, finding
from krm_function.model.objects import a_type, type_name
from krm_function.model.workload import PREFIX, Workload, dig

# A schema: "string", "name" (a non-empty string that must be there), a list of one schema, or a map of schemas whose
# key "*" stands for every key.
Schema = Any

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
    found: list[Finding] = []

    def check(path: Path, schema: Schema) -> None:
        for at, expected, actual in _faults(dig(workload.document, path), path, schema):
            key = dotted(at[-2:] if isinstance(at[-1], int) else at[-1:])
            found.append(finding("CC0207", workload.ref, at, key=key, expected=a_type(expected), actual=actual))

    check((*workload.root, "metadata"), METADATA)
    if workload.metadata_path != (*workload.root, "metadata"):
        check(workload.metadata_path, METADATA)
    check(workload.spec_path, POD_SPEC)
    if workload.ref.kind == "StatefulSet":
        check((*workload.root, "spec", "volumeClaimTemplates"), CLAIMS)
    return tuple(found)


def _faults(value: Any, path: Path, schema: Schema) -> Iterator[tuple[Path, str, str]]:
    """Where a value is not what its schema says: the place, the type expected there, the type found.

    A null under a key of Contrast's is a fault as well: it could mean "" or nothing.
    """
    if value is None and schema != "name" and not str(path[-1]).startswith(PREFIX):
        return
    if isinstance(schema, str):
        if not isinstance(value, str) or (schema == "name" and not value):
            yield path, "string", "an empty one" if value == "" else a_type(type_name(value))
    elif isinstance(schema, list) and isinstance(value, list):
        entry = schema[0]
        for index, item in enumerate(value):
            if item is None:
                yield (*path, index), "string" if entry == "string" else "map", "null"
            elif entry != "string" or not isinstance(item, str):  # nearly all of them are
                yield from _faults(item, (*path, index), entry)
    elif isinstance(schema, dict) and isinstance(value, dict):
        for name, wanted in _members(value, schema):
            item = value.get(name)
            if wanted != "string" or not isinstance(item, str):
                yield from _faults(item, (*path, name), wanted)
    else:
        yield path, "list" if isinstance(schema, list) else "map", a_type(type_name(value))


def _members(value: dict[Any, Any], schema: dict[str, Schema]) -> list[tuple[Any, Schema]]:
    """The keys of a map that its schema speaks of, and what it says of them: those that are there or must be."""
    if "*" in schema:
        return [(name, schema["*"]) for name in value]
    return [(name, wanted) for name, wanted in schema.items() if name in value or wanted == "name"]
