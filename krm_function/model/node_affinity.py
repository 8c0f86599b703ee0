"""Required node affinity: which nodes its terms match, and why they do not match another one.

Rule of this file: it answers as Kubernetes' scheduler does (component-helpers, nodeaffinity; apimachinery, labels).
Terms are alternatives, the requirements of a term must all hold, and whatever the API server would refuse matches
nothing. Preferred affinity never keeps a pod away, so it is not read.
"""

import re
from collections.abc import Mapping
from typing import Any

from krm_function.model.lookup import dig, mapping, maps

TERMS = ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
INTEGER = re.compile(r"[+-]?[0-9]{1,19}", re.ASCII)
NAME_FIELD = "metadata.name"  # the one field that matchFields knows


def required_terms(pod_spec: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Return the alternatives of the required node affinity, None when there is none. An empty list matches no node."""
    required = dig(dict(pod_spec), TERMS[:3])
    return None if required is None else maps(mapping(required).get(TERMS[3]))


def unmatched(terms: list[dict[str, Any]] | None, name: str, labels: Mapping[str, str]) -> str:
    """Say why no term matches the node: the first requirement that each fails. "" when one does, or there are none."""
    if terms is None:
        return ""
    failed: list[str] = []
    for term in terms:
        problem = _failed(term, name, labels)
        if not problem:
            return ""
        failed.append(problem)
    return " or ".join(dict.fromkeys(failed)) or "at least one term"


def ruled_out(terms: list[dict[str, Any]] | None, selector: Mapping[str, str]) -> str:
    """Say what of the terms no node with these labels can have: a requirement of each. "" when one may be matched.

    Of the labels of a node nothing else is known, so only requirements on these keys count.
    """
    failed: list[str] = []
    for term in terms or ():
        expressions = maps(term.get("matchExpressions"))
        impossible = [one for one in expressions if one.get("key") in selector and not holds(one, selector)]
        if not impossible:
            return ""
        failed.append(requirement_text(impossible[0]))
    return " or ".join(dict.fromkeys(failed))


def _failed(term: Mapping[str, Any], name: str, labels: Mapping[str, str]) -> str:
    """Return the first requirement that a node fails, as text. A term without requirements matches no node."""
    expressions, fields = maps(term.get("matchExpressions")), maps(term.get("matchFields"))
    if not expressions and not fields:
        return "an empty term, which matches no node"
    for requirement in expressions:
        if not holds(requirement, labels):
            return requirement_text(requirement)
    for requirement in fields:
        if not _field_holds(requirement, name):
            return requirement_text(requirement)
    return ""


def holds(requirement: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Tell whether a node's labels satisfy one of matchExpressions.

    Truth table:
    operator        node has the label                              node lacks it
    In              its value is one of values                      no
    NotIn           its value is none of values                     yes
    Exists          yes (values must be absent)                     no
    DoesNotExist    no                                              yes (values must be absent)
    Gt, Lt          both are integers of 64 bits, and the label's   no
                      is greater, or less, than the one value
    any other       no                                              no
    """
    key, values = requirement.get("key"), _values(requirement)
    if not isinstance(key, str) or not key or values is None:
        return False
    value = labels.get(key)
    match requirement.get("operator"):
        case "In":
            return bool(values) and value in values
        case "NotIn":
            return bool(values) and value not in values
        case "Exists":
            return not values and value is not None
        case "DoesNotExist":
            return not values and value is None
        case "Gt" | "Lt" as operator:
            mine, bound = _integer(value), _integer(values[0]) if len(values) == 1 else None
            if mine is None or bound is None:
                return False
            return mine > bound if operator == "Gt" else mine < bound
        case _:
            return False


def _field_holds(requirement: Mapping[str, Any], name: str) -> bool:
    """Tell whether a node's name satisfies one of matchFields: In or NotIn, with one value."""
    values = _values(requirement)
    if requirement.get("key") != NAME_FIELD or values is None or len(values) != 1:
        return False
    match requirement.get("operator"):
        case "In":
            return name == values[0]
        case "NotIn":
            return name != values[0]
        case _:
            return False


def _values(requirement: Mapping[str, Any]) -> list[str] | None:
    values = requirement.get("values")
    if values is None:
        return []
    return values if isinstance(values, list) and all(isinstance(value, str) for value in values) else None


def _integer(text: str | None) -> int | None:
    """Read a label as Go's strconv.ParseInt does, in base 10 and 64 bits; None for an error."""
    if text is None or not INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


def requirement_text(requirement: Mapping[str, Any]) -> str:
    """Write a requirement as label selectors do, such as `zone in (a, b)`, `tee exists`, `cores > 8`."""
    key = requirement.get("key")
    values = ", ".join(_values(requirement) or ())
    match requirement.get("operator"):
        case "In":
            return f"{key} in ({values})"
        case "NotIn":
            return f"{key} not in ({values})"
        case "Exists":
            return f"{key} exists"
        case "DoesNotExist":
            return f"{key} does not exist"
        case "Gt":
            return f"{key} > {values}"
        case "Lt":
            return f"{key} < {values}"
        case other:
            return f"{key} {other or 'without operator'}, which is no operator"
