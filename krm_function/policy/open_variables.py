"""List the open variables of a policy: those of which the host may choose any value.

Rule of this file: the policy data say which variables are open; the pod spec only says where they come from.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from krm_function.findings import Finding, finding
from krm_function.model.lookup import dig, mapping, maps
from krm_function.model.workload import Workload
from krm_function.policy.external_sources import namespace_of, sources_of
from krm_function.policy.references import References
from krm_function.policy.variable_expansion import OPEN
from krm_function.record import NamedTuple

_NAME = "io.kubernetes.cri.container-name"


class OpenVariable(NamedTuple):
    """An open variable. container: the name of its container. source: such as `Secret db, key password`."""

    container: str
    name: str
    source: str


def open_names(container: Any) -> list[str]:
    """Return the names of the open variables of one container of policy data, of any shape."""
    entries = dig(container, ("OCI", "Process", "Env"))
    return [
        entry.removesuffix(f"={OPEN}")
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, str) and entry.endswith(f"={OPEN}")
    ]


def open_variables(data: Mapping[str, Any], workload: Workload, references: References) -> tuple[OpenVariable, ...]:
    """Return the open variables of a workload. data: its policy data. references: the objects of the input."""
    spec = {str(entry.get("name")): entry for entry in (*workload.init_containers, *workload.containers)}
    found = []
    for container in maps(data.get("containers")):
        names = open_names(container)
        if names:
            name = str(mapping(dig(container, ("OCI", "Annotations"))).get(_NAME, ""))
            sources = sources_of(spec.get(name), names, references, namespace_of(workload))
            found += [OpenVariable(name, variable, sources[variable]) for variable in names]
    return tuple(found)


def open_findings(workload: Workload, variables: Sequence[OpenVariable]) -> tuple[Finding, ...]:
    """Return one warning for each container that has open variables."""
    by_container: dict[str, list[OpenVariable]] = {}
    for one in variables:
        by_container.setdefault(one.container, []).append(one)
    return tuple(
        finding("CC0674", workload.ref, workload.spec_path, container=container, variables=open_text(found))
        for container, found in by_container.items()
    )


def open_text(variables: Sequence[OpenVariable]) -> str:
    """Write `DB_PASSWORD (Secret db, key password), DB_USER (Secret db, key user)`."""
    return ", ".join(f"{one.name} ({one.source})" for one in variables)
