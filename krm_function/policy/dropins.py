"""Apply drop-ins of policy settings: JSON Patches (RFC 6902), one after the other (docs/facts/kata.md#settings-files).

Rule of this file: every operation of every patch must apply. The given document is never changed. An error names the
operation, never a value.
"""

import copy
from collections.abc import Mapping
from typing import Any


def patched(document: Mapping[str, Any], patch: Any) -> Any:
    """Return the settings with one drop-in applied. Raises ValueError with a problem text."""
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
    """Format an operation for a message: its number from 1, its op and its paths."""
    if not isinstance(operation, dict):
        return f"operation {number + 1}"
    words = [str(operation[key])[:200] for key in ("op", "from", "path") if isinstance(operation.get(key), str)]
    return " ".join([f"operation {number + 1}", *([f"({' '.join(words)})"] if words else [])])


def _library_message(wrong: Exception) -> str:
    """Return the library's message with a lower-case first letter; it names members, never values."""
    text = str(wrong)[:200]
    return text[:1].lower() + text[1:]
