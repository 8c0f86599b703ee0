"""One file of Kata's policy cases, in either of its forms, as a sequence of requests.

    a list     each case: description, allowed, and a request: its type (`type`, or `kind` in older files) and its
               fields beside it or, in older files, below `request`
    an object  `bases`: a name -> a request, or a list of requests; `cases`: description, allowed, base, patch

A patch is a JSON Patch (RFC 6902) if it is a list, and a JSON Merge Patch (RFC 7396) if it is an object. Of several
requests of a base all but the last have to be obeyed, and `allowed` is said of the last. A case without `base` in the
second form is one of the first.

Rule of this file: what is not understood is a problem with the name of its case, never left out.
"""

import copy
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from benchmarks.policy.request_shapes import entry_point, normalised
from krm_function.policy.settings import patched

Json = dict[str, Any]
NAMES = ("description", "name")
TYPES = ("type", "kind")
SECOND = frozenset((*NAMES, "allowed", "base", "patch"))


class Unreadable(ValueError):
    """Why a case cannot be read."""


class Request(NamedTuple):
    """One request: the rule that judges it, and every field."""

    rule: str
    fields: Json


class Case(NamedTuple):
    """Requests in order; allowed: the verdict on the last one."""

    name: str
    allowed: bool
    requests: tuple[Request, ...]


class Cases(NamedTuple):
    """What a file says. problems: what of it was not understood. dropped: members that no request has, by case."""

    cases: tuple[Case, ...] = ()
    problems: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


def is_cases(value: Any) -> bool:
    """Whether a document is one of cases, in either form."""
    if isinstance(value, dict):
        return "cases" in value or "bases" in value
    return isinstance(value, list) and any(isinstance(one, dict) and "allowed" in one for one in value)


def read_cases(value: Any) -> Cases:
    """Read a document of cases."""
    listed, more = value, []
    bases: Any = {}
    if isinstance(value, dict):
        listed, bases = value.get("cases"), value.get("bases") or {}
        more = [f"unknown member {key}" for key in value if key not in {"cases", "bases", *NAMES}]
    if not isinstance(listed, list) or not isinstance(bases, dict):
        return Cases(problems=("no list of cases, or no map of bases", *more))
    if not listed:
        more.append("no case in it")
    cases, dropped = [], []
    for number, one in enumerate(listed, 1):
        name = _name(one, number)
        try:
            made = [_request(each) for each in _requests(one, bases)]
            cases.append(Case(name, _allowed(one), tuple(request for request, _ in made)))
            dropped += [f"{name}: {member}" for _, lost in made for member in lost]
        except (ValueError, TypeError) as wrong:
            more.append(f"{name}: {wrong}")
        except KeyError as missing:
            more.append(f"{name}: no {missing.args[0]}")
    return Cases(tuple(cases), tuple(more), tuple(dropped))


def _name(case: Any, number: int) -> str:
    given = next((case[key] for key in NAMES if case.get(key)), "") if isinstance(case, dict) else ""
    return f"{number} {given}".strip()


def _allowed(case: Json) -> bool:
    if not isinstance(case["allowed"], bool):
        raise Unreadable("allowed is no boolean")
    return case["allowed"]


def _requests(case: Any, bases: Mapping[str, Any]) -> list[Any]:
    """Return the requests of a case, as written and patched."""
    if not isinstance(case, dict):
        raise Unreadable("is no object")
    if "base" not in case:
        if "patch" in case:
            raise Unreadable("a patch without a base")
        return [{key: value for key, value in case.items() if key not in {*NAMES, "allowed"}}]
    unknown = sorted(case.keys() - SECOND)
    if unknown:
        raise Unreadable(f"unknown member {', '.join(unknown)}")
    if not isinstance(case["base"], str) or case["base"] not in bases:
        raise Unreadable(f"unknown base {case['base']}")
    base = bases[case["base"]]
    made = _patched(copy.deepcopy(base), case["patch"]) if case.get("patch") is not None else base
    found = made if isinstance(made, list) else [made]
    if not found:
        raise Unreadable("a base without requests")
    return found


def _patched(base: Any, patch: Any) -> Any:
    """Return a base with its patch. Raises ValueError."""
    if isinstance(patch, list):
        return patched(base, patch)
    if isinstance(patch, dict) and isinstance(base, dict):
        return _merged(base, patch)
    raise Unreadable("a patch that is neither a list of operations nor an object for one request")


def _merged(target: Any, patch: Any) -> Any:
    """RFC 7396: null removes, an object is merged, all else replaces."""
    if not isinstance(patch, dict):
        return patch
    out = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            out.pop(key, None)
        else:
            out[key] = _merged(out.get(key), value)
    return out


def _request(value: Any) -> tuple[Request, list[str]]:
    """Return a request out of its fields and its type. Raises ValueError."""
    if not isinstance(value, dict):
        raise Unreadable("a request that is no object")
    kinds = list(_types(value))
    if len(kinds) != 1:
        raise Unreadable(f"{len(kinds) or 'no'} type{'s' if len(kinds) > 1 else ''} of the request")
    rule = entry_point(kinds[0])
    if not rule:
        raise Unreadable(f"unknown type of request {kinds[0]}")
    fields = {key: one for key, one in value.items() if key not in TYPES}
    nested = fields.pop("request", None)
    if nested is not None:
        if fields or not isinstance(nested, dict):
            raise Unreadable(f"beside request: {', '.join(fields) or 'nothing, and it is no object'}")
        fields = {key: one for key, one in nested.items() if key not in TYPES}
    made, dropped = normalised(rule, fields)
    return Request(rule, made), dropped


def _types(value: Json) -> Iterator[str]:
    """Yield the types that a request has, each once."""
    found = [value.get(key) for key in TYPES]
    if isinstance(value.get("request"), dict):
        found += [value["request"].get(key) for key in TYPES]
    yield from {entry_point(one) or one for one in found if isinstance(one, str)}
