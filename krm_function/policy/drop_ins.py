"""Drop-ins of a settings directory: JSON Patches over genpolicy-settings.json (genpolicy.md 1.6).

Rule of this file: all of a drop-in is made or nothing is; an operation that does not fit stops the render, as in
genpolicy, and is named by its number.
"""

from collections.abc import Mapping
from typing import Any

BASE = "genpolicy-settings.json"
DIRECTORY = "genpolicy-settings.d"
LONGEST = 120  # characters of what the library says: it may quote all of the settings


class DropInProblem(ValueError):
    """What is wrong with one operation; lower case, in one line."""


def patched(settings: Mapping[str, Any], patch: Any) -> dict[str, Any]:
    """The settings after one RFC 6902 patch, a list of operations. Raises DropInProblem."""
    from jsonpatch import JsonPatch, JsonPatchException
    from jsonpointer import JsonPointerException

    if not isinstance(patch, list):
        raise DropInProblem("is not a list of JSON Patch operations")
    made: Any = dict(settings)
    for number, operation in enumerate(patch, 1):
        try:
            made = JsonPatch([operation]).apply(made)
        except (JsonPatchException, JsonPointerException) as problem:
            raise DropInProblem(f"operation {number}{_named(operation)}: {_said(problem)}") from None
    if not isinstance(made, dict):
        raise DropInProblem("leaves no map of settings")
    return made


def _named(operation: Any) -> str:
    """` (replace /a/b)`, as far as there is such."""
    parts = [operation.get(key) for key in ("op", "path")] if isinstance(operation, dict) else []
    words = " ".join(part for part in parts if isinstance(part, str))
    return f" ({words[:LONGEST]})" if words else ""


def _said(problem: Exception) -> str:
    text = " ".join(str(problem).split())
    text = f"{text[:LONGEST]}…" if len(text) > LONGEST else text
    return text[:1].lower() + text[1:]
