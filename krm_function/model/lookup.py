"""Look up a value in plain data of any shape.

Rule of this file: nothing here raises; what is missing or of another type is None or empty.
"""

from typing import Any

from krm_function.findings import Path


def dig(value: Any, path: Path) -> Any:
    """Return the value at `path`, or None when any step is missing or of another type."""
    for part in path:
        if isinstance(part, str):
            if not isinstance(value, dict):
                return None
            value = value.get(part)
        elif isinstance(value, list) and 0 <= part < len(value):
            value = value[part]
        else:
            return None
    return value


def mapping(value: Any) -> dict[str, Any]:
    """Return `value` if it is a map, else an empty one: for reading documents of any shape."""
    return value if isinstance(value, dict) else {}


def maps(value: Any) -> list[dict[str, Any]]:
    """Return the maps of a list, [] for anything else. Positions are kept: an entry that is no map becomes {}."""
    return [entry if isinstance(entry, dict) else {} for entry in value] if isinstance(value, list) else []
