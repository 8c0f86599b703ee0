"""Write pieces of CEL, the language of ValidatingAdmissionPolicies.

Rule of this file: no expression fails where a field is absent, null or of another type, because a failure refuses the
request with words that nobody understands. Source: docs/facts/kubernetes.md#validating-admission-policies.
"""

import json
from collections.abc import Iterable

RESERVED = frozenset(
    (
        *("as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop"),
        *("namespace", "null", "package", "return", "true", "var", "void", "while"),
    )
)


def text(value: str) -> str:
    """Write a string."""
    return json.dumps(value)


def texts(values: Iterable[str]) -> str:
    """Write a list of strings."""
    return f"[{', '.join(map(text, values))}]"


def field(value: str, path: Iterable[str]) -> str:
    """Write the optional field of a value, which `.orValue(...)` makes a value."""
    return value + "".join(f".?{step}" if _is_name(step) else f"[?{text(step)}]" for step in path)


def _is_name(step: str) -> bool:
    """Tell whether a key can be written as a field: letters, digits and `_`, and no word that CEL keeps for itself."""
    return step.isidentifier() and step not in RESERVED


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
