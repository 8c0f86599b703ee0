"""Repeated parts of a JSON Schema, written once under `definitions`.

Rule of this file: it changes how a schema is written and never what it accepts. A description stays in its place,
beside the reference, where editors show it and draft 7 lets a validator ignore it.
"""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

Schema = dict[str, Any]
SMALLEST = 200  # characters of JSON; a smaller part reads better in its place
ABOUT = "description"


def with_shared_parts(whole: Schema) -> Schema:
    """Name each part of a schema that occurs more than once, after a field that has it; the meaning stays."""
    counts = Counter(_key(part) for part in _parts(whole))
    names: dict[str, str] = {}
    made: dict[str, Schema] = {}

    def rewritten(part: Any, name: str) -> Any:
        if isinstance(part, list):
            return [rewritten(item, name) for item in part]
        if not isinstance(part, dict):
            return part
        key = _key(part) if "properties" in part else ""
        if key and counts[key] > 1 and len(key) >= SMALLEST:
            if key not in names:
                names[key] = _free(name, made)
                made[names[key]] = {}  # its place, before those of the parts in it
                made[names[key]] = inside({one: value for one, value in part.items() if one != ABOUT}, name)
            about = {ABOUT: part[ABOUT]} if ABOUT in part else {}
            return {**about, "$ref": f"#/definitions/{names[key]}"}
        return inside(part, name)

    def inside(part: Schema, name: str) -> Schema:
        return {
            key: {field: rewritten(value, field) for field, value in item.items()}
            if key == "properties"
            else rewritten(item, name)
            for key, item in part.items()
        }

    result = inside(whole, "")
    return {**result, "definitions": made} if made else result


def _parts(value: Any) -> Iterator[Schema]:
    """Yield every schema of a map with fields, at any depth."""
    if isinstance(value, dict):
        if "properties" in value:
            yield value
        for item in value.values():
            yield from _parts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _parts(item)


def _key(part: Schema) -> str:
    return json.dumps({one: value for one, value in part.items() if one != ABOUT}, sort_keys=True)


def _free(name: str, taken: dict[str, Schema]) -> str:
    if name not in taken:
        return name
    return next(f"{name}{number}" for number in range(2, len(taken) + 2) if f"{name}{number}" not in taken)
