"""The shape of a workload as far as this project reads it: which fields must be maps, lists and strings.

Rule of this file: it names what Kubernetes would refuse to decode, so that every later reader may trust the types. Null
counts as absent, as in Kubernetes, except where something must have a name.
"""

from typing import Any, NamedTuple

from krm_function.findings import Path, dotted
from krm_function.model.objects import type_name
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


class Fault(NamedTuple):
    """One field of the wrong type. path: from the document. expected, actual: JSON names of types."""

    path: Path
    expected: str
    actual: str

    @property
    def key(self) -> str:
        """The field's name, with the list it is in when it is an entry of one."""
        return dotted(self.path[-2:] if isinstance(self.path[-1], int) else self.path[-1:])


def faults(workload: Workload) -> tuple[Fault, ...]:
    """Every field of the wrong type in the pod template and, for a StatefulSet, in its claim templates."""
    found: list[Fault] = []

    def check(path: Path, schema: Schema) -> None:
        _check(dig(workload.document, path), path, schema, found)

    check((*workload.root, "metadata"), METADATA)
    if workload.metadata_path != (*workload.root, "metadata"):
        check(workload.metadata_path, METADATA)
    check(workload.spec_path, POD_SPEC)
    if workload.ref.kind == "StatefulSet":
        check((*workload.root, "spec", "volumeClaimTemplates"), CLAIMS)
    return tuple(found)


def _check(value: Any, path: Path, schema: Schema, found: list[Fault]) -> None:
    """Compare one value with its schema. A null under a key of Contrast's is a fault: it could mean "" or nothing."""
    if value is None and schema != "name" and not (isinstance(path[-1], str) and path[-1].startswith(PREFIX)):
        return
    match schema:
        case str():
            if not isinstance(value, str) or (schema == "name" and not value):
                found.append(Fault(path, "string", "blank one" if value == "" else type_name(value)))
        case list():
            if not isinstance(value, list):
                found.append(Fault(path, "list", type_name(value)))
                return
            for index, entry in enumerate(value):
                if entry is None:
                    found.append(Fault((*path, index), "string" if schema == ["string"] else "map", "null"))
                else:
                    _check(entry, (*path, index), schema[0], found)
        case dict():
            if not isinstance(value, dict):
                found.append(Fault(path, "map", type_name(value)))
                return
            names = value if "*" in schema else schema
            for name in names:
                _check(value.get(name), (*path, name), schema.get(name, schema.get("*")), found)
        case _:
            raise TypeError(schema)
