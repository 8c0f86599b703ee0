"""Bind values that only the running pod has: the host may choose them within their form, and no further.

Kata's rules take any text for such a value where it is all of a variable or of an argument; only the patterns that text
around a value is given are narrow. So the data say that pattern here too, and no rule has to change.

    all of it is         a variable              an argument
    pod-uid              a UUID                  a pattern already
    node-name            a DNS subdomain         a DNS subdomain
    resource-field       digits                  a pattern already
    sandbox-name         the pod's name          exact by the rules
    pod-ip, host-ip      an IPv4 or IPv6 address a pattern already
    sandbox-namespace    exact by the rules      a pattern already

Rule of this file: one table of forms, that of variable_expansion.py. Rules that know no patterns keep Kata's tokens,
and what they leave open is listed by unbound_values.py.
"""

from collections.abc import Iterable
from typing import Any

from krm_function.model.pod_names import HASH, MINUTES, NUMBER, RANDOM
from krm_function.policy.variable_expansion import PATTERN, PATTERNS

_WHOLE = ("sandbox-name", "pod-uid", "node-name", "resource-field", "pod-ip", "host-ip")
# token as policy_data have it -> the pattern of its form
FORMS = {f"$({token})": f"$({PATTERN})^{PATTERNS[token]}$" for token in _WHOLE}
# forms that take more than Kata's rules take for their token: an address of IPv6, too
WIDER = frozenset(FORMS[token] for token in ("$(pod-ip)", "$(host-ip)"))
_NODE = "$(node-name)"
_ABSENT = "$(todo-annotation)"


def bound_variable(entry: str) -> str:
    """Return `NAME=VALUE` with the form of its value, if that is one token; else the same text.

    >>> bound_variable("CPUS=$(resource-field)")
    'CPUS=$(text-pattern)^[0-9]+$'
    """
    name, equals, value = entry.partition("=")
    return f"{name}{equals}{bound_value(value)}"


def bound_value(value: str) -> str:
    """Return the form of a value that is one token; else the same text."""
    return FORMS.get(value, value)


def bound_argument(text: str) -> str:
    """Return the form of an argument that is the name of the node; else the same text."""
    return FORMS[_NODE] if text == _NODE else text


def as_bound(entry: dict[str, Any]) -> dict[str, Any]:
    """Return a container of policy data in a form that all generators share, whoever made it.

    genpolicy, and contrast-krm before 0.2, have tokens; of an annotation that the pod template lacks, too. Indexes and
    hashes once had any number of digits and letters.
    """
    process = entry["OCI"]["Process"]
    env = [as_bound_variable(text) for text in process.get("Env", ())]
    bound = _bound({**entry, "OCI": {**entry["OCI"], "Process": {**process, "Env": env}}})
    process = bound["OCI"]["Process"]
    texts = {key: [unlimited_value(text) for text in process.get(key, ())] for key in ("Env", "Args")}
    return {**bound, "OCI": {**bound["OCI"], "Process": {**process, **texts}}}


def unlimited(text: str) -> str:
    """Return a pattern with any number of digits and letters in place of as many as there can be.

    >>> unlimited("^web-[0-9]{1,10}$")
    '^web-[0-9]+$'
    """
    letters = f"[{RANDOM.alphabet}]+"
    digits = f"[{NUMBER.alphabet}]+"
    for limited, wide in ((NUMBER, digits), (MINUTES, digits), (HASH, letters), (RANDOM, letters)):
        text = text.replace(limited.pattern(), wide)
    return text


def unlimited_value(text: str) -> str:
    """Return a variable or an argument with its pattern unlimited, if it is one."""
    return unlimited(text) if PATTERN in text else text


def as_bound_variable(entry: str) -> str:
    """Return one variable's entry as the generator writes it today."""
    return entry.removesuffix(_ABSENT) if entry.endswith(f"={_ABSENT}") else bound_variable(entry)


def bound_containers(containers: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return containers of policy data with all such values bound. Those that have none are the same objects."""
    return [_bound(entry) for entry in containers]


def _bound(entry: dict[str, Any]) -> dict[str, Any]:
    process = entry["OCI"]["Process"]
    env = [bound_variable(text) if text.endswith(")") else text for text in process.get("Env", ())]
    args = [bound_argument(text) for text in process.get("Args", ())]
    changed = {key: texts for key, texts in (("Env", env), ("Args", args)) if texts != process.get(key, [])}
    return {**entry, "OCI": {**entry["OCI"], "Process": {**process, **changed}}} if changed else entry
