"""Decide which variables may have any value, because only the cluster has the ConfigMap or Secret they come from.

Rule of this file: `spec.policy.externalSources` opens what it names and nothing else. An object of the input is never
opened, not even if it is there twice or lacks the key.

    the input has it   an entry of its kind and name   of its namespace   key and variable       the variable
    yes                any                             any                any                    has its value
    no                 none                            -                  -                      CC0602
    no                 some                            none               -                      CC0672
    no                 some                            some               not both in one        CC0672
    no                 some                            some               both in one entry      is open

A key is in an entry if `keys` has it or is absent, a name if `variables` has it or is absent. All keys of an object
(envFrom) are those of `keys`; without any, CC0672.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from krm_function.api.records import ExternalSource
from krm_function.findings import Cause, Finding, Ref, finding
from krm_function.model.glob_pattern import fits
from krm_function.model.lookup import mapping, maps
from krm_function.model.workload import Workload
from krm_function.policy.references import References
from krm_function.record import NamedTuple

_IN_ENV = (("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret"))
_IN_ENV_FROM = (("configMapRef", "ConfigMap"), ("secretRef", "Secret"))


class Reference(NamedTuple):
    """A reference of a container to a ConfigMap or Secret. variable, prefix: "" for envFrom and env, respectively."""

    kind: str
    name: str
    key: str = ""
    variable: str = ""
    prefix: str = ""


def opened_keys(
    references: References, namespace: str, kind: str, name: str, key: str = "", variable: str = ""
) -> tuple[str, ...] | Cause | None:
    """Return the keys of an object whose variables are open; None if there is no entry, a Cause if it does not suffice.

    namespace: of the workload, "" if it names none. key: the one that is referred to, "" for all of the object.
    variable: its name; for all of an object their prefix.
    """
    found = _entries(references, namespace, kind, name)
    if not isinstance(found, list):
        return found
    keys = (key,) if key else tuple(sorted({key for entry in found for key in entry.keys}))
    if not keys:
        return Cause("CC0672.keys")
    for one in keys:
        covering = [entry for entry in found if one in entry.keys or (key and not entry.keys)]
        named = variable if key else variable + one
        if not covering:
            return Cause("CC0672.key", {"key": one})
        if not any(not entry.variables or named in entry.variables for entry in covering):
            return Cause("CC0672.variable", {"variable": named})
    return keys


def _entries(references: References, namespace: str, kind: str, name: str) -> list[ExternalSource] | Cause | None:
    """Return the entries for an object that the input does not have; None if there are none."""
    if not references.external or references.known(kind, namespace, name):
        return None
    found = [entry for entry in references.external if names(entry, kind, name)]
    here = [entry for entry in found if not entry.namespace or entry.namespace == namespace]
    if found and not here:
        return Cause("CC0672.namespace", {"other": found[0].namespace, "namespace": namespace or "none"})
    return here or None


def names(entry: ExternalSource, kind: str, name: str) -> bool:
    """Tell whether an entry is about objects of this kind and name."""
    return entry.kind == kind and (fits(entry.name_pattern, name) if entry.name_pattern else entry.name == name)


def namespace_of(workload: Workload) -> str:
    """Return the namespace of a workload as it is now, "" if it names none; its ref is that of the input."""
    return str(mapping(workload.object.get("metadata")).get("namespace") or "")


def references_of(container: Any) -> Iterator[Reference]:
    """Yield what env and envFrom of a container refer to, as far as they have the shape of a reference."""
    for entry in maps(mapping(container).get("env")):
        for key, kind in _IN_ENV:
            selector = mapping(mapping(entry.get("valueFrom")).get(key))
            if selector:
                name, key_of = str(selector.get("name", "")), str(selector.get("key", ""))
                yield Reference(kind, name, key_of, str(entry.get("name", "")))
    for entry in maps(mapping(container).get("envFrom")):
        for key, kind in _IN_ENV_FROM:
            selector = mapping(entry.get(key))
            if selector:
                yield Reference(kind, str(selector.get("name", "")), prefix=str(entry.get("prefix") or ""))


def idle_findings(workloads: Iterable[Workload], references: References, where: Ref) -> tuple[Finding, ...]:
    """Return a warning for each entry that opens nothing: what it names is in the input, or no pod refers to it.

    where: the object that has the entries.
    """
    used = [
        (namespace_of(one), reference)
        for one in workloads
        for container in (*one.init_containers, *one.containers)
        for reference in references_of(container)
    ]
    findings = []
    for index, entry in enumerate(references.external):
        meant = [
            references.known(one.kind, namespace, one.name)
            for namespace, one in used
            if names(entry, one.kind, one.name) and entry.namespace in ("", namespace)
        ]
        if not meant or all(meant):
            path = ("spec", "policy", "externalSources", index)
            code, name = "CC0673.input" if meant else "CC0673.unused", entry.name or entry.name_pattern
            findings.append(finding(code, where, path, index=index, kind=entry.kind, name=name))
    return tuple(findings)


def sources_of(container: Any, variables: Sequence[str], references: References, namespace: str) -> dict[str, str]:
    """Say where each open variable of a container comes from, such as `Secret db, key password`."""
    missing = [one for one in references_of(container) if not references.known(one.kind, namespace, one.name)]
    out = {}
    for variable in variables:
        own = [one for one in missing if one.variable == variable][-1:]
        sets = [one for one in missing if not one.variable and variable.startswith(one.prefix)]
        found = [f"{one.kind} {one.name}, key {one.key or variable.removeprefix(one.prefix)}" for one in own or sets]
        out[variable] = " or ".join(dict.fromkeys(found)) or "a source that the pod no longer names"
    return out
