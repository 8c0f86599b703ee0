"""Variables whose values the policy leaves to the host, and those that must never be open."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from krm_function.config.generate import ExternalSource
from krm_function.config.references import References, namespace_of, references_of
from krm_function.findings import Cause, Finding, Ref, finding
from krm_function.kubernetes.objects import dig, fits, maps
from krm_function.kubernetes.workload import OpenVariable, Workload
from krm_function.policy.expansion import OPEN
from krm_function.policy.initdata import container_name
from krm_function.policy.rules import profile_of_data

# --- Decide which variables may have any value, because only the cluster has the ConfigMap or Secret they come from
#
# Rule: `spec.policy.externalSources` opens what it names and nothing else. An object of the input is never
# opened, not even if it is there twice or lacks the key.
#
#     the input has it   an entry of its kind and name   of its namespace   key and variable       the variable
#     yes                any                             any                any                    has its value
#     no                 none                            -                  -                      CC0602
#     no                 some                            none               -                      CC0672
#     no                 some                            some               not both in one        CC0672
#     no                 some                            some               both in one entry      is open
#
# A key is in an entry if `keys` has it or is absent, a name if `variables` has it or is absent. All keys of an object
# (envFrom) are those of `keys` in entries that name no variables, or one of these; without any, CC0672. Where an
# interpreter, a shell or a GPU stack reads the variables, only `variables` names one (policy/chosen_programs.py).


def opened_keys(
    references: References,
    namespace: str,
    kind: str,
    name: str,
    key: str = "",
    variable: str = "",
    *,
    named_only: bool = False,
) -> tuple[str, ...] | Cause | None:
    """Return the keys of an object whose variables are open; None without an entry, a Cause if it does not suffice.

    namespace: of the workload, "" if it names none. key: the one that is referred to, "" for all of the object.
    variable: its name; for all of an object their prefix. named_only: entries without `variables` open nothing.
    """
    entries = _find_entries(references, namespace, kind, name)
    if not isinstance(entries, list):
        return entries
    keys = (key,) if key else tuple(sorted({name for entry in entries for name in _keys_for_all(entry, variable)}))
    if not keys:
        return Cause("CC0672.keys")
    unnamed: dict[str, str] = {}
    for opened_key in keys:
        covering = [entry for entry in entries if opened_key in entry.keys or (key and not entry.keys)]
        name_of_variable = variable if key else variable + opened_key
        if any(name_of_variable in entry.variables for entry in covering):
            continue
        if named_only:
            unnamed[opened_key] = name_of_variable
        elif not covering:
            return Cause("CC0672.key", {"key": opened_key})
        elif all(entry.variables for entry in covering):
            return Cause("CC0672.variable", {"variable": name_of_variable})
    if unnamed:
        return Cause("CC0672.unnamed", {"keys": ", ".join(unnamed), "variables": ", ".join(unnamed.values())})
    return keys


def _keys_for_all(entry: ExternalSource, prefix: str) -> tuple[str, ...]:
    """Return the keys that an entry opens for envFrom; those of an entry that names other variables are none."""
    return entry.keys if not entry.variables or any(prefix + key in entry.variables for key in entry.keys) else ()


def _find_entries(references: References, namespace: str, kind: str, name: str) -> list[ExternalSource] | Cause | None:
    if not references.external or references.known(kind, namespace, name):
        return None
    entries = [entry for entry in references.external if names(entry, kind, name)]
    in_namespace = [entry for entry in entries if not entry.namespace or entry.namespace == namespace]
    if entries and not in_namespace:
        return Cause("CC0672.namespace", {"other": entries[0].namespace, "namespace": namespace or "none"})
    return in_namespace or None


def names(entry: ExternalSource, kind: str, name: str) -> bool:
    """Tell whether an entry is about objects of this kind and name."""
    return entry.kind == kind and (fits(entry.name_pattern, name) if entry.name_pattern else entry.name == name)


def idle_findings(workloads: Iterable[Workload], references: References, where: Ref) -> tuple[Finding, ...]:
    """Return a warning for each entry that opens nothing: the input has its objects, or no pod refers to them.

    where: the object that has the entries.
    """
    used = [
        (namespace_of(workload), reference)
        for workload in workloads
        for container in (*workload.init_containers, *workload.containers)
        for reference in references_of(container)
    ]
    findings = []
    for index, entry in enumerate(references.external):
        meant = [
            references.known(reference.kind, namespace, reference.name)
            for namespace, reference in used
            if names(entry, reference.kind, reference.name) and entry.namespace in ("", namespace)
        ]
        if not meant or all(meant):
            path = ("spec", "policy", "externalSources", index)
            code, name = "CC0673.input" if meant else "CC0673.unused", entry.name or entry.name_pattern
            findings.append(finding(code, where, path, index=index, kind=entry.kind, name=name))
    return tuple(findings)


def sources_of(container: Any, variables: Sequence[str], references: References, namespace: str) -> dict[str, str]:
    """Map each open variable of a container to its source, such as `Secret db, key password`."""
    missing = [
        reference
        for reference in references_of(container)
        if not references.known(reference.kind, namespace, reference.name)
    ]
    out = {}
    for variable in variables:
        of_variable = [reference for reference in missing if reference.variable == variable][-1:]
        sets = [reference for reference in missing if not reference.variable and variable.startswith(reference.prefix)]
        sources = [
            f"{reference.kind} {reference.name}, key {reference.key or variable.removeprefix(reference.prefix)}"
            for reference in of_variable or sets
        ]
        out[variable] = " or ".join(dict.fromkeys(sources)) or "a source that the pod no longer names"
    return out


# --- List the open variables of a policy: the host may choose any value for them
#
# Rule: the policy data say which variables are open; the pod spec only says where they come from.


def open_names(container: Any) -> list[str]:
    """Return the names of the open variables of one container of policy data, of any shape."""
    return [text.removesuffix(f"={OPEN}") for text in process_texts(container, "Env") if text.endswith(f"={OPEN}")]


def open_variables(data: Mapping[str, Any], workload: Workload, references: References) -> tuple[OpenVariable, ...]:
    """Return the open variables of a workload. data: its policy data. references: the objects of the input."""
    spec = {str(entry.get("name")): entry for entry in (*workload.init_containers, *workload.containers)}
    opened = []
    for container in maps(data.get("containers")):
        names = open_names(container)
        if names:
            name = container_name(container)
            sources = sources_of(spec.get(name), names, references, namespace_of(workload))
            opened += [OpenVariable(name, variable, sources[variable]) for variable in names]
    return tuple(opened)


def open_findings(workload: Workload, variables: Sequence[OpenVariable], code: str = "CC0674") -> tuple[Finding, ...]:
    """Return one warning for each container that has open variables. code: CC0683 for values without any form."""
    by_container: dict[str, list[OpenVariable]] = {}
    for variable in variables:
        by_container.setdefault(variable.container, []).append(variable)
    return tuple(
        finding(code, workload.ref, workload.spec_path, container=container, variables=open_text(opened))
        for container, opened in by_container.items()
    )


def open_text(variables: Sequence[OpenVariable]) -> str:
    """Write `DB_PASSWORD (Secret db, key password), DB_USER (Secret db, key user)`."""
    return ", ".join(f"{variable.name} ({variable.source})" for variable in variables)


# --- List the values of the running pod that a policy leaves to the host without any form
#
# The native generator binds each by its form (policy/expansion.py). What is left are policies of genpolicy, of rules in
# place of the project's own, and of a contrast-krm before 0.2: their data have tokens of Kata, for which its rules take
# any text.
#
# Rule: the policy data say what is open; the pod is not asked.


# token -> where its value comes from
_SOURCES = {
    "node-name": "spec.nodeName",
    "pod-uid": "metadata.uid",
    "resource-field": "a resourceFieldRef",
    "todo-annotation": "an annotation that the pod template does not have",
}
_TOKEN = re.compile(r"\$\((" + "|".join(_SOURCES) + r")\)")


def unbound_values(data: Mapping[str, Any]) -> tuple[OpenVariable, ...]:
    """Return the variables and arguments of policy data that may have any value; an argument is named by its number."""
    if profile_of_data(data).narrowed:
        return ()
    return tuple(
        OpenVariable(container_name(container), name, _SOURCES[token])
        for container in maps(data.get("containers"))
        for name, token in _find_unbound(container)
    )


def _find_unbound(container: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for entry in process_texts(container, "Env"):
        name, _, value = entry.partition("=")
        token = _TOKEN.search(value)
        if token:
            yield name, token[1]
    for index, text in enumerate(process_texts(container, "Args")):
        if "$(node-name)" in text:
            yield f"argument {index}", "node-name"


def process_texts(container: Any, key: str) -> list[str]:
    """Return the texts under Env or Args of a container of policy data, of any shape."""
    words = dig(container, ("OCI", "Process", key))
    return [text for text in (words if isinstance(words, list) else ()) if isinstance(text, str)]
