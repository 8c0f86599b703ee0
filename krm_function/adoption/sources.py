"""Propose entries of spec.policy.externalSources for what the pods refer to and the input does not have.

Rule of this file: an entry is as narrow as the references: the object, its keys, and the names of the variables. What
an entry would not help is left out, because a policy refuses it open:

    reference to an object that is not in the input      proposed
    the configuration opens it already                   no: nothing is missing
    optional                                             no: without an entry the variable is left out, and that renders
    of a variable that steers a program (CC0670)         no
    of a variable that another field expands (CC0671)    no
    all of an object (envFrom), keys not named           no: only who has the object knows its keys
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from krm_function.adoption.decisions import Key
from krm_function.adoption.valid import is_valid
from krm_function.findings import Cause
from krm_function.model.lookup import mapping, maps
from krm_function.model.workload import Workload
from krm_function.policy.external_sources import Reference, namespace_of, opened_keys, references_of
from krm_function.policy.references import References
from krm_function.policy.steering_variables import steered_by
from krm_function.policy.variable_expansion import expand
from krm_function.record import NamedTuple


class Missing(NamedTuple):
    """A reference that has no value. namespace: that of the workload in the input, "" for none."""

    reference: Reference
    namespace: str


class Proposed(NamedTuple):
    """entries: the whole list, with what is there already. unknown: objects whose keys somebody has to name."""

    entries: tuple[dict[str, Any], ...] = ()
    unknown: tuple[Key, ...] = ()


def proposed_sources(
    workloads: Iterable[Workload],
    references: References,
    present: Sequence[dict[str, Any]],
    keys: Mapping[Key, tuple[str, ...]],
    *,
    refused_too: bool = False,
) -> Proposed:
    """Propose the list of entries.

    present: the entries as they are written. keys: those that were named. refused_too: also what a policy refuses open,
    so that a trial says why.
    """
    wanted: dict[tuple[str, str, str], tuple[set[str], set[str]]] = {}
    unknown: dict[Key, None] = {}
    for one in (each for workload in workloads for each in _missing(workload, references, refused_too)):
        reference = one.reference
        named = (reference.key,) if reference.key else keys.get((reference.kind, reference.name), ())
        if not named:
            unknown[reference.kind, reference.name] = None
        variables = [reference.variable or reference.prefix + key for key in named]
        if not named or (any(map(steered_by, variables)) and not refused_too):
            continue
        found = wanted.setdefault((reference.kind, reference.name, one.namespace), (set(), set()))
        found[0].update(named)
        found[1].update(variables)
    entries = [dict(one) for one in present]
    for (kind, name, namespace), (of_keys, of_variables) in wanted.items():
        before = list(entries)
        _add(entries, {"kind": kind, "name": name, "namespace": namespace}, sorted(of_keys), sorted(of_variables))
        if not is_valid({"policy": {"externalSources": entries}}):
            entries = before  # no cluster has an object or a key of this name
    return Proposed(tuple(entries), tuple(unknown))


def _missing(workload: Workload, references: References, refused_too: bool) -> Iterator[Missing]:
    namespace = namespace_of(workload)
    for each in workload.all_containers:
        optional = set(_optional(each.container))
        for one in references_of(each.container):
            name = one.variable or one.prefix
            if (one.kind, one.name, one.key, name) in optional or references.known(one.kind, namespace, one.name):
                continue
            opened = opened_keys(references, namespace, one.kind, one.name, one.key, name)
            if (opened is None or isinstance(opened, Cause)) and (
                refused_too or not _is_expanded(one.variable, each.container)
            ):
                yield Missing(one, workload.ref.namespace)


def _optional(container: dict[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """Yield kind, name, key and variable of the references of `env` that are optional."""
    for entry in maps(container.get("env")):
        source = mapping(entry.get("valueFrom"))
        for field, kind in (("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret")):
            selector = mapping(source.get(field))
            if selector.get("optional"):
                yield kind, str(selector.get("name", "")), str(selector.get("key", "")), str(entry.get("name", ""))
    for entry in maps(container.get("envFrom")):
        for field, kind in (("configMapRef", "ConfigMap"), ("secretRef", "Secret")):
            selector = mapping(entry.get(field))
            if selector.get("optional"):
                yield kind, str(selector.get("name", "")), "", str(entry.get("prefix") or "")


def _is_expanded(variable: str, container: dict[str, Any]) -> bool:
    """Tell whether a command, an argument or another variable expands a variable."""
    texts = [*(container.get("command") or ()), *(container.get("args") or ())]
    texts += [entry.get("value") for entry in maps(container.get("env"))]
    return any(isinstance(text, str) and expand(text, {variable: "\0"}) != expand(text, {}) for text in texts)


def _add(entries: list[dict[str, Any]], of: dict[str, str], keys: list[str], variables: list[str]) -> None:
    """Add what an object needs to the entry of its name, or as an entry of its own."""
    for index, entry in enumerate(entries):
        if entry.get("name") == of["name"] and _is_about(entry, of):
            entries[index] = {
                **entry,
                **({"keys": _joined(entry["keys"], keys)} if entry.get("keys") else {}),
                **({"variables": _joined(entry["variables"], variables)} if entry.get("variables") else {}),
            }
            return
    entries.append({key: value for key, value in of.items() if value} | {"keys": keys, "variables": variables})


def _is_about(entry: dict[str, Any], of: dict[str, str]) -> bool:
    return entry.get("kind") == of["kind"] and (entry.get("namespace") or of["namespace"]) == of["namespace"]


def _joined(old: list[str], new: list[str]) -> list[str]:
    return [*old, *(one for one in new if one not in old)]
