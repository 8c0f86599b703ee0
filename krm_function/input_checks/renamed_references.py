"""Find names in pods of custom resources that kustomize leaves behind when it renames what they are of.

kustomize gives objects their prefix before a function runs, and the hash of their content when it is done. It then puts
the final names into the pods of the kinds that it knows, and into no other, unless `configurations` names the field. A
function cannot see whether somebody did. Source: docs/facts/kustomize.md#names.

    the object of that name in the input                          finding
    had the name before a prefix, a suffix or a namespace         CC0696
    has it still, and gets a hash                                 CC0696
    else                                                          nothing

Rule of this file: it only reads, and only pods of custom resources in an input of kustomize.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from krm_function.findings import Finding, Path, finding
from krm_function.model.lookup import dig, mapping, maps
from krm_function.model.objects import objects
from krm_function.model.resource import Resource
from krm_function.model.workload import Workload
from krm_function.policy.references import PREVIOUS_NAMES
from krm_function.yamltext import YamlError

HASH = "internal.config.kubernetes.io/needsHashSuffix"
CONFIG_MAP, SECRET = "ConfigMap", "Secret"
OF_POD: tuple[tuple[str, Path], ...] = (("ServiceAccount", ("serviceAccountName",)),)
OF_VARIABLES: tuple[tuple[str, Path], ...] = (
    (CONFIG_MAP, ("valueFrom", "configMapKeyRef", "name")),
    (SECRET, ("valueFrom", "secretKeyRef", "name")),
    (CONFIG_MAP, ("configMapRef", "name")),
    (SECRET, ("secretRef", "name")),
)
OF_VOLUMES: tuple[tuple[str, Path], ...] = (
    (CONFIG_MAP, ("configMap", "name")),
    (SECRET, ("secret", "secretName")),
    (SECRET, ("secret", "name")),  # of a projected volume
    ("PersistentVolumeClaim", ("persistentVolumeClaim", "claimName")),
)


def renamed_references(resources: Iterable[Resource], workloads: Sequence[Workload]) -> tuple[Finding, ...]:
    """Return CC0696 for each object of which a pod has a name that is not its last one."""
    custom = [one for one in workloads if one.made_by is not None]
    renamed = _renamed(resources) if custom else frozenset()
    found: list[Finding] = []
    for workload in custom if renamed else ():
        seen = set()
        for kind, name, path in _named(workload):
            if (kind, name) in renamed and (kind, name) not in seen:
                seen.add((kind, name))
                values: dict[str, Any] = {"kind": kind, "name": name, "owner": workload.ref.kind}
                found.append(workload.placed(finding("CC0696", workload.ref, (*workload.spec_path, *path), **values)))
    return tuple(found)


def _renamed(resources: Iterable[Resource]) -> frozenset[tuple[str, str]]:
    """Return kind and name of what has another name in the end, in any namespace."""
    found = set()
    for resource in resources:
        if PREVIOUS_NAMES not in resource.text and HASH not in resource.text:
            continue
        try:
            value = resource.parsed().value
        except YamlError:
            continue  # an error of reading it
        for _, one in objects(value):
            metadata = mapping(one.get("metadata"))
            notes = mapping(metadata.get("annotations"))
            names = set(str(notes.get(PREVIOUS_NAMES) or "").split(",")) - {"", metadata.get("name")}
            if HASH in notes:
                names.add(str(metadata.get("name")))
            found |= {(str(one.get("kind")), name) for name in names}
    return frozenset(found)


def _named(workload: Workload) -> Iterator[tuple[str, str, Path]]:
    """Yield kind, name and place of what a pod refers to by name."""
    yield from _names(workload.pod_spec, (), OF_POD)
    for index, one in enumerate(maps(workload.pod_spec.get("imagePullSecrets"))):
        yield from _names(one, ("imagePullSecrets", index), ((SECRET, ("name",)),))
    for each in workload.all_containers:
        at = each.path[len(workload.spec_path) :]
        for field in ("env", "envFrom"):
            for index, one in enumerate(maps(each.container.get(field))):
                yield from _names(one, (*at, field, index), OF_VARIABLES)
    for index, volume in enumerate(maps(workload.pod_spec.get("volumes"))):
        yield from _names(volume, ("volumes", index), OF_VOLUMES)
        for number, source in enumerate(maps(dig(volume, ("projected", "sources")))):
            yield from _names(source, ("volumes", index, "projected", "sources", number), OF_VOLUMES)


def _names(value: Any, at: Path, fields: Iterable[tuple[str, Path]]) -> Iterator[tuple[str, str, Path]]:
    for kind, path in fields:
        name = dig(value, path)
        if isinstance(name, str) and name:
            yield kind, name, (*at, *path)
