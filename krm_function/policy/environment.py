"""Compute the environment variables that a container's pod spec sets.

Source: docs/facts/kata.md#environment.

Rule of this file: a value comes from the documents of the render, or it is a token of which bound_values.py knows the
form. What is `optional` and missing is omitted, and an annotation that is missing is empty, as the kubelet has it. A
variable is open, with a token for any value, only where external_sources.py says so. No finding ever holds a value.
"""

import re
from collections.abc import Mapping
from typing import Any

from krm_function.findings import Cause, Finding, Path, finding
from krm_function.model.workload import INITDATA
from krm_function.policy.expansion_bounds import Room
from krm_function.policy.pod_metadata import QUOTED_KEY, PodMetadata, is_bookkeeping
from krm_function.policy.problems import problem
from krm_function.policy.references import References, Undecodable
from krm_function.policy.variable_expansion import (
    CONTROLLED,
    EXTERNAL,
    FIELDS,
    LISTS,
    PATTERN,
    expanded,
    has_no_tokens,
    matchable_variable,
    token_marker,
)
from krm_function.record import NamedTuple

WRITTEN = "writtenByController"  # in place of a source: a text with markers, by controller_pods.py
ANY = token_marker(EXTERNAL)  # the value of an open variable


class Environment(NamedTuple):
    """pairs: NAME=VALUE, env before envFrom; known: the values of `$(NAME)` in arguments."""

    pairs: list[str]
    known: dict[str, str]


class _Context(NamedTuple):
    pod: PodMetadata
    references: References
    findings: list[Finding]
    room: Room


def environment(
    container: Mapping[str, Any],
    pod: PodMetadata,
    references: References,
    at: Path,
    findings: list[Finding],
    room: Room,
) -> Environment:
    """Read env and envFrom; the last entry of a name counts. `at`: the container's path from the pod spec."""
    context = _Context(pod, references, findings, room)
    sets: list[tuple[str, str]] = []
    for index, source in enumerate(container.get("envFrom") or ()):
        sets += _all_pairs(context, source, (*at, "envFrom", index))
    known = dict(sets)
    own: dict[str, str] = {}
    for index, entry in enumerate(container.get("env") or ()):
        here = (*at, "env", index)
        name = entry["name"]
        if not name or "=" in name or "\0" in name:
            findings.append(problem(pod, (*here, "name"), "CC0604.variable"))
            continue
        value = _value(context, entry, known, here)
        if value is not None:
            known[name] = value
            if value == ANY:
                own[name] = value
                _check_name(context, name, entry["valueFrom"], (*here, "name"))
            else:
                if "\0" in value:
                    _check_value(context, name, value, here)
                own[name] = matchable_variable(name, value, pod, here, findings)
    own |= {name: value for name, value in dict(sets).items() if name not in own}
    pairs = [f"{name}={token_marker(PATTERN) + ANY if value == ANY else value}" for name, value in own.items()]
    return Environment(pairs, known)


def _value(context: _Context, entry: Mapping[str, Any], known: Mapping[str, str], at: Path) -> str | None:
    """Return the value of one env entry, None if the kubelet omits the variable or there is a finding."""
    literal = entry.get("value")
    if literal:
        return expanded(literal, known, context.pod, (*at, "value"), context.findings, context.room)
    source = entry.get("valueFrom")
    if source is None:
        return ""
    at = (*at, "valueFrom")
    for key, kind in (("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret")):
        selector = source.get(key)
        if selector is not None:
            return _value_of_key(context, selector, kind, entry["name"], (*at, key))
    selector = source.get("fieldRef")
    if selector is not None:
        return _value_of_field(context, selector["fieldPath"], (*at, "fieldRef", "fieldPath"))
    if WRITTEN in source:  # no pod spec has this field, so no user can write it
        return str(source[WRITTEN])
    if source.get("resourceFieldRef") is not None:
        return token_marker("resource-field")
    context.findings.append(problem(context.pod, at, "CC0604.source"))
    return None


def _check_name(context: _Context, name: str, source: Mapping[str, Any], at: Path) -> None:
    """Append CC0670 if a variable that would be open steers a program. source: a valueFrom, or an entry of envFrom."""
    from krm_function.policy.steering_variables import steered_by

    what = steered_by(name)
    if what:
        kind = "Secret" if source.get("secretKeyRef") or source.get("secretRef") else "ConfigMap"
        where = context.pod.spec_path + at
        context.findings.append(finding("CC0670", context.pod.ref, where, variable=name, kind=kind, what=what))


def _check_value(context: _Context, name: str, value: str, at: Path) -> None:
    """Append CC0680 if a value of the running pod steers a program. value: with markers."""
    from krm_function.policy.chosen_programs import steering_problem

    found = steering_problem(name, value, context.pod, at)
    if found:
        context.findings.append(found)


def _value_of_key(context: _Context, selector: Mapping[str, Any], kind: str, variable: str, at: Path) -> str | None:
    """Return the value of one key of a ConfigMap or Secret, None if it is missing; ANY if it may be any."""
    name, key = selector["name"], selector["key"]
    opened = _opened(context, kind, name, key, variable)
    if isinstance(opened, Cause):
        _not_covered(context, opened, kind, selector, at)
        return None
    if opened:
        return ANY
    pairs = _pairs(context, selector, kind, at)
    if pairs is None:
        return None
    value = pairs.get(key)
    if value is not None:
        has_no_tokens((value,), context.pod, at, context.findings)
    elif not selector.get("optional"):
        where = context.pod.spec_path + at
        context.findings.append(finding("CC0603", context.pod.ref, where, kind=kind, name=name, key=key))
    return value


def _all_pairs(context: _Context, source: Mapping[str, Any], at: Path) -> list[tuple[str, str]]:
    """Return all pairs of the ConfigMap and the Secret of an envFrom entry, with its prefix."""
    out = []
    prefix = source.get("prefix") or ""
    for key, kind in (("configMapRef", "ConfigMap"), ("secretRef", "Secret")):
        selector = source.get(key)
        if selector is not None:
            opened = _opened(context, kind, selector["name"], "", prefix)
            if isinstance(opened, Cause):
                _not_covered(context, opened, kind, selector, (*at, key))
                continue
            if opened:
                has_no_tokens((prefix,), context.pod, (*at, "prefix"), context.findings)
                for name in opened:
                    _check_name(context, prefix + name, source, (*at, key))
                out += [(prefix + name, ANY) for name in opened]
                continue
            found = _pairs(context, selector, kind, (*at, key)) or {}
            has_no_tokens((prefix, *found, *found.values()), context.pod, (*at, key), context.findings)
            out += [(prefix + name, value) for name, value in found.items()]
    return out


def _opened(context: _Context, kind: str, name: str, key: str, variable: str) -> tuple[str, ...] | Cause | None:
    """Return what `opened_keys` says; None, and nothing more is loaded, if the configuration opens nothing."""
    if not context.references.external:
        return None
    from krm_function.policy.external_sources import opened_keys

    return opened_keys(context.references, context.pod.namespace, kind, name, key, variable)


def _not_covered(context: _Context, cause: Cause, kind: str, selector: Mapping[str, Any], at: Path) -> None:
    """Append CC0672, or nothing for an optional reference, which the kubelet omits; but all keys are never guessed."""
    if not selector.get("optional") or cause.code == "CC0672.keys":
        where, name = context.pod.spec_path + at, selector["name"]
        context.findings.append(finding(cause.code, context.pod.ref, where, kind=kind, name=name, **cause.values))


def _pairs(context: _Context, selector: Mapping[str, Any], kind: str, at: Path) -> dict[str, str] | None:
    """Return the pairs of a ConfigMap or Secret, None if it is missing."""
    name = selector["name"]
    try:
        pairs = context.references.find(kind, context.pod.namespace, name)
    except Undecodable as wrong:
        context.findings.append(problem(context.pod, at, wrong.code, of=f"{kind} {name}", key=wrong.key))
        return None
    if pairs is None and not selector.get("optional"):
        where = context.pod.spec_path + at
        code = "CC0602.open" if context.references.openable else "CC0602"
        context.findings.append(finding(code, context.pod.ref, where, kind=kind, name=name))
    return pairs


def _value_of_field(context: _Context, field_path: str, at: Path) -> str | None:
    """Resolve a fieldRef: to a literal of the document or to a token."""
    pod = context.pod
    token = FIELDS.get(field_path) or LISTS.get(field_path)
    if token:
        return token_marker(token)
    found = re.match(QUOTED_KEY, field_path)
    value: Any = None
    if found and (found[1], found[2]) in pod.controlled:
        return pod.controlled[found[1], found[2]]
    if field_path == "metadata.namespace":
        value = pod.namespace
        if not value:
            return token_marker("sandbox-namespace")
    elif field_path == "spec.serviceAccountName":
        value = pod.service_account
    elif found and found[1] == "annotations" and found[2] != INITDATA and not is_bookkeeping(found[2]):
        value = pod.annotations.get(found[2])
        token = CONTROLLED.get((pod.ref.kind, found[2]))
        if value is None and token:
            return token_marker(token)
        if value is None:
            # the kubelet's value for it, unless somebody annotates the pod when it is there
            where = pod.spec_path + at
            context.findings.append(finding("CC0682", pod.ref, where, key=found[2]))
            return ""
    elif found and found[1] == "labels":
        value = pod.labels.get(found[2])
        token = CONTROLLED.get((pod.ref.kind, found[2]))
        if value is None and token:
            return token_marker(token)
        if not isinstance(value, str):
            context.findings.append(problem(pod, at, "CC0604.label"))
            return None
    else:
        context.findings.append(problem(pod, at, "CC0601.field-path", field_path=field_path))
        return None
    has_no_tokens((value,), pod, at, context.findings)
    return str(value)
