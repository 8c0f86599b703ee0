"""List the values of the running pod that a policy leaves to the host without any form.

The native generator binds each by its form (bound_values.py). What is left are policies of genpolicy, of rules in
place of the project's own, and of a contrast-krm before 0.2: their data have tokens of Kata, for which its rules take
any text.

Rule of this file: the policy data say what is open; the pod is not asked.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from krm_function.findings import Finding, finding
from krm_function.model.lookup import dig, mapping, maps
from krm_function.model.workload import Workload
from krm_function.policy.chosen_programs import command_problems, steering_problem
from krm_function.policy.open_variables import OpenVariable, open_text
from krm_function.policy.pod_metadata import pod_metadata
from krm_function.policy.rules_mismatch import NAME, profile_of_data
from krm_function.policy.variable_expansion import WHOLE, token_marker

# token -> where its value comes from
_SOURCES = {
    "node-name": "spec.nodeName",
    "pod-uid": "metadata.uid",
    "resource-field": "a resourceFieldRef",
    "todo-annotation": "an annotation that the pod template does not have",
}
_TOKEN = re.compile(r"\$\((" + "|".join(_SOURCES) + r")\)")
_ANY_TOKEN = re.compile(r"\$\((" + "|".join(WHOLE) + r")\)")


def unbound_values(data: Mapping[str, Any]) -> tuple[OpenVariable, ...]:
    """Return the variables and arguments of policy data that may have any value; an argument is named by its number."""
    if profile_of_data(data).narrowed:
        return ()
    return tuple(
        OpenVariable(str(mapping(dig(container, ("OCI", "Annotations"))).get(NAME, "")), name, _SOURCES[token])
        for container in maps(data.get("containers"))
        for name, token in _of_process(container)
    )


def _of_process(container: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for entry in _texts(container, "Env"):
        name, _, value = entry.partition("=")
        found = _TOKEN.search(value)
        if found:
            yield name, found[1]
    for index, text in enumerate(_texts(container, "Args")):
        if "$(node-name)" in text:
            yield f"argument {index}", "node-name"


def unbound_findings(workload: Workload, values: Sequence[OpenVariable]) -> tuple[Finding, ...]:
    """Return one warning, CC0683, for each container that has such values."""
    return tuple(
        finding(
            "CC0683",
            workload.ref,
            workload.spec_path,
            container=container,
            variables=open_text([one for one in values if one.container == container]),
        )
        for container in dict.fromkeys(one.container for one in values)
    )


def choices_of_the_host(workload: Workload, data: Mapping[str, Any]) -> tuple[Finding, ...]:
    """Return the errors of chosen_programs.py for data that another generator has made."""
    pod, _ = pod_metadata(workload)
    findings: list[Finding] = []
    for container in maps(data.get("containers")):
        for entry in _texts(container, "Env"):
            name, _, value = entry.partition("=")
            found = steering_problem(name, _marked(value), pod, ())
            findings += [found] if found else []
        findings += command_problems([(_marked(text), ()) for text in _texts(container, "Args")], pod)
    return tuple(dict.fromkeys(findings))


def _marked(text: str) -> str:
    return _ANY_TOKEN.sub(lambda found: token_marker(found[1]), text)


def _texts(container: Mapping[str, Any], key: str) -> list[str]:
    found = dig(container, ("OCI", "Process", key))
    return [text for text in (found if isinstance(found, list) else ()) if isinstance(text, str)]
