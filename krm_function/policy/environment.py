"""The variables of a container that its pod spec names, and what each of them will be.

Source: docs/facts/kata.md#environment.

Rule of this file: a value comes from the documents of the render, or it is a token of which the rules know the kind.
What is `optional` and missing is left out, as the kubelet leaves it out. No finding ever holds a value.
"""

import re
from collections.abc import Mapping
from typing import Any

from krm_function.findings import Finding, Path, finding
from krm_function.model.workload import INITDATA
from krm_function.policy.pod_metadata import PodMetadata, is_bookkeeping
from krm_function.policy.problems import problem
from krm_function.policy.references import References, Undecodable
from krm_function.policy.tokens import (
    CONTROLLED,
    FIELDS,
    LISTS,
    check_plain,
    expanded,
    matchable_variable,
    token_marker,
)
from krm_function.record import NamedTuple

_QUOTED_KEY = r"metadata\.(annotations|labels)\['([^']+)'\]\Z"


class Environment(NamedTuple):
    """pairs: NAME=VALUE, env before envFrom; known: what `$(NAME)` stands for in arguments."""

    pairs: list[str]
    known: dict[str, str]


class _Context(NamedTuple):
    pod: PodMetadata
    references: References
    findings: list[Finding]


def environment(
    container: Mapping[str, Any], pod: PodMetadata, references: References, at: Path, findings: list[Finding]
) -> Environment:
    """Read env and envFrom, of which the last of a name counts. `at`: the container's path from the pod spec."""
    reader = _Context(pod, references, findings)
    sets: list[tuple[str, str]] = []
    for index, source in enumerate(container.get("envFrom") or ()):
        sets += _all_pairs(reader, source, (*at, "envFrom", index))
    known = dict(sets)
    own: dict[str, str] = {}
    for index, entry in enumerate(container.get("env") or ()):
        here = (*at, "env", index)
        name = entry["name"]
        if not name or "=" in name or "\0" in name:
            findings.append(problem(pod, (*here, "name"), "CC0604.variable"))
            continue
        value = _value(reader, entry, known, here)
        if value is not None:
            known[name] = value
            own[name] = matchable_variable(name, value, pod, here, findings)
    pairs = [f"{name}={value}" for name, value in own.items()]
    return Environment(pairs + [f"{name}={value}" for name, value in dict(sets).items() if name not in own], known)


def _value(reader: _Context, entry: Mapping[str, Any], known: Mapping[str, str], at: Path) -> str | None:
    """The value of one env entry, None if the kubelet leaves the variable out or there was a problem."""
    literal = entry.get("value")
    if literal:
        return expanded(literal, known, reader.pod, (*at, "value"), reader.findings)
    source = entry.get("valueFrom")
    if source is None:
        return ""
    at = (*at, "valueFrom")
    for key, kind in (("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret")):
        selector = source.get(key)
        if selector is not None:
            return _value_of_key(reader, selector, kind, (*at, key))
    selector = source.get("fieldRef")
    if selector is not None:
        return _value_of_field(reader, selector["fieldPath"], (*at, "fieldRef", "fieldPath"))
    if source.get("resourceFieldRef") is not None:
        return token_marker("resource-field")
    reader.findings.append(problem(reader.pod, at, "CC0604.source"))
    return None


def _value_of_key(reader: _Context, selector: Mapping[str, Any], kind: str, at: Path) -> str | None:
    """One key of a ConfigMap or Secret."""
    pairs = _pairs(reader, selector, kind, at)
    if pairs is None:
        return None
    name, key = selector["name"], selector["key"]
    value = pairs.get(key)
    if value is not None:
        check_plain((value,), reader.pod, at, reader.findings)
    elif not selector.get("optional"):
        where = reader.pod.spec_path + at
        reader.findings.append(finding("CC0603", reader.pod.ref, where, kind=kind, name=name, key=key))
    return value


def _all_pairs(reader: _Context, source: Mapping[str, Any], at: Path) -> list[tuple[str, str]]:
    """All pairs of a ConfigMap and a Secret, with the prefix."""
    out = []
    prefix = source.get("prefix") or ""
    for key, kind in (("configMapRef", "ConfigMap"), ("secretRef", "Secret")):
        selector = source.get(key)
        if selector is not None:
            found = _pairs(reader, selector, kind, (*at, key)) or {}
            check_plain((prefix, *found, *found.values()), reader.pod, (*at, key), reader.findings)
            out += [(prefix + name, value) for name, value in found.items()]
    return out


def _pairs(reader: _Context, selector: Mapping[str, Any], kind: str, at: Path) -> dict[str, str] | None:
    """The pairs of one object, None when it is missing."""
    name = selector["name"]
    try:
        pairs = reader.references.find(kind, reader.pod.namespace, name)
    except Undecodable as wrong:
        reader.findings.append(problem(reader.pod, at, wrong.code, of=f"{kind} {name}", key=wrong.key))
        return None
    if pairs is None and not selector.get("optional"):
        where = reader.pod.spec_path + at
        reader.findings.append(finding("CC0602", reader.pod.ref, where, kind=kind, name=name))
    return pairs


def _value_of_field(reader: _Context, field_path: str, at: Path) -> str | None:
    """What a fieldRef stands for: a literal of the document or a token."""
    pod = reader.pod
    token = FIELDS.get(field_path) or LISTS.get(field_path)
    if token:
        return token_marker(token)
    found = re.match(_QUOTED_KEY, field_path)
    value: Any = None
    if field_path == "metadata.namespace":
        value = pod.namespace
        if not value:
            return token_marker("sandbox-namespace")
    elif field_path == "spec.serviceAccountName":
        value = pod.service_account
    elif found and found[1] == "annotations" and found[2] != INITDATA and not is_bookkeeping(found[2]):
        value = pod.annotations.get(found[2])
        if value is None:
            return token_marker(CONTROLLED.get((pod.ref.kind, found[2])) or "todo-annotation")
    elif found and found[1] == "labels":
        value = pod.labels.get(found[2])
        token = CONTROLLED.get((pod.ref.kind, found[2]))
        if value is None and token:
            return token_marker(token)
        if not isinstance(value, str):
            reader.findings.append(problem(pod, at, "CC0604.label"))
            return None
    else:
        reader.findings.append(problem(pod, at, "CC0601.field-path", field_path=field_path))
        return None
    check_plain((value,), pod, at, reader.findings)
    return str(value)
