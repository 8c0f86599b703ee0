"""Which map and list stood where when the data of an object was given out.

Rule of this file: an outline refers to the maps and lists themselves, whatever is changed in them later; so a list that
was sorted, cut or filled can be asked which of its elements stood in it before.
"""

from marshal import dumps
from typing import Any

from krm_function.krm.result import FieldPath
from krm_function.record import NamedTuple


class Outline(NamedTuple):
    """One map or list, `data`, and the outlines of what stood in it: by key, or one for each element.

    None stands for what is neither map nor list.
    """

    data: Any
    parts: Any


def outline(value: Any) -> Outline | None:
    """Make the outline of plain data as it is now."""
    if isinstance(value, dict):
        return Outline(value, {key: outline(item) for key, item in value.items() if isinstance(item, dict | list)})
    if isinstance(value, list):
        return Outline(value, [outline(item) for item in value])
    return None


def below(whole: Outline | None, part: str | int) -> Outline | None:
    """Return the outline of what stood at a key or index."""
    found: Outline | None = None
    if whole is not None and isinstance(whole.parts, dict):
        found = whole.parts.get(part)
    elif whole is not None and isinstance(part, int) and part < len(whole.parts):
        found = whole.parts[part]
    return found


def with_order(whole: Outline | None, path: FieldPath, order: list[int]) -> Outline | None:
    """Return the outline with the elements of the list at `path` in another order."""
    if whole is None:
        return None
    if not path:
        return Outline(whole.data, [whole.parts[index] for index in order])
    parts = whole.parts.copy()
    parts[path[0]] = with_order(below(whole, path[0]), path[1:], order)
    return Outline(whole.data, parts)


def state(value: Any) -> bytes:
    """Return plain data as bytes: those of equal data with equal key order are equal, and True is not 1.

    b"" for data that has no such form, which is no plain data.
    """
    try:
        return dumps(value, 2)  # version 2 has no references, so sharing makes no difference
    except ValueError:
        return b""
