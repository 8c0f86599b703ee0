"""Write pieces of CEL, the language of ValidatingAdmissionPolicies.

Rule of this file: no expression fails where a field is absent, null or of another type, because a failure refuses the
request with words that nobody understands. Source: docs/facts/kubernetes.md#validating-admission-policies.
"""

import json
from collections.abc import Iterable


def text(value: str) -> str:
    """Write a string."""
    return json.dumps(value)


def texts(values: Iterable[str]) -> str:
    """Write a list of strings."""
    return f"[{', '.join(map(text, values))}]"


def field(value: str, path: Iterable[str]) -> str:
    """Write the optional field of a value, which `.orValue(...)` makes a value."""
    return value + "".join(f".?{step}" for step in path)


def a_list(value: str) -> str:
    """Write the list that an optional value is: an empty one where it is none."""
    return f"[{value}.orValue([])].map(l, type(l) == list ? l : [])[0]"


def is_text(value: str, condition: str) -> str:
    """Write whether an optional value is a string `t` for which a condition holds."""
    return f'[{value}.orValue("")].exists(t, type(t) == string && {condition})'


def sentence(words: str, *values: str) -> str:
    """Write a sentence with a value in the place of each `{}`."""
    first, *others = words.split("{}")
    parts = [text(first)]
    for value, more in zip(values, others, strict=True):
        parts += [f"string({value})", *([text(more)] if more else [])]
    return " + ".join(parts)


def listed(values: Iterable[str]) -> str:
    """Write the entries of several lists as one list."""
    return " + ".join(values) or "[]"
