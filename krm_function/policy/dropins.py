"""Drop-ins of policy settings: JSON Patches (RFC 6902), one after the other (docs/facts/kata.md#settings-files).

Rule of this file: every operation of every patch applies, or the settings are of no use. The document that is given is
never changed. What a problem says names the operation, never a value.
"""

import copy
from collections.abc import Mapping
from typing import Any


def patched(document: Mapping[str, Any], patch: Any) -> Any:
    """The settings after one drop-in. Raises ValueError with a problem text."""
    from jsonpatch import InvalidJsonPatch, JsonPatch, JsonPatchException, JsonPatchTestFailed
    from jsonpointer import JsonPointerException

    if not isinstance(patch, list):
        raise ValueError("is no JSON Patch: a list of operations")  # noqa: TRY004 - about the text
    made: Any = copy.deepcopy(document)
    for number, operation in enumerate(patch):
        try:
            made = JsonPatch([copy.deepcopy(operation)]).apply(made, in_place=True)
        except JsonPatchTestFailed:
            raise ValueError(f"{_operation_name(number, operation)} finds another value") from None
        except InvalidJsonPatch as wrong:
            raise ValueError(
                f"{_operation_name(number, operation)} is none of RFC 6902: {_library_message(wrong)}"
            ) from None
        except (JsonPatchException, JsonPointerException) as wrong:
            raise ValueError(
                f"{_operation_name(number, operation)} does not apply: {_library_message(wrong)}"
            ) from None
    return made


def _operation_name(number: int, operation: Any) -> str:
    """An operation as it is told: its number from 1, what it does, where."""
    if not isinstance(operation, dict):
        return f"operation {number + 1}"
    words = [str(operation[key])[:200] for key in ("op", "from", "path") if isinstance(operation.get(key), str)]
    return " ".join([f"operation {number + 1}", *([f"({' '.join(words)})"] if words else [])])


def _library_message(wrong: Exception) -> str:
    """The library's words in our style; they name members, never values."""
    text = str(wrong)[:200]
    return text[:1].lower() + text[1:]
