"""A change of plain data, and the one definition of what it means.

Rule of this file: `apply` is the specification that every text edit is proved against. Changes run in order; a path is
valid on the tree that all changes before it have made. Nothing is created implicitly: the parent of a path must exist.
"""

from math import isnan
from typing import Any, Literal

from krm_function.record import NamedTuple

Path = tuple[str | int, ...]
Op = Literal["set", "insert", "remove"]


class Change(NamedTuple):
    """One step.

    set: a map key (created at the end when absent) or an existing list index; the empty path replaces the whole value.
    insert: a list index from 0 to the length; what stands there moves on. remove: an existing map key or list index.
    """

    path: Path
    op: Op
    value: Any = None


class ChangeError(LookupError):
    """A change whose path does not exist in the value that it is applied to."""


def apply(value: Any, changes: "tuple[Change, ...] | list[Change]") -> Any:
    """Return `value` after `changes`. Neither is modified; parts that no change touches are shared with the result.

    Raises ChangeError when a path does not exist, or when its segments do not fit the kinds of the containers.
    """
    for change in changes:
        value = _apply(value, change, 0)
    return value


def _apply(value: Any, change: Change, at: int) -> Any:
    path, op, new = change
    if at == len(path):
        if op != "set":
            raise ChangeError(f"{op} needs a path")
        return new
    part = path[at]
    last = at + 1 == len(path)
    if isinstance(value, dict) and isinstance(part, str):
        return _apply_map(value, part, change, at, last=last)
    if isinstance(value, list | tuple) and isinstance(part, int):
        items = list(value)
        limit = len(items) + (last and op == "insert")
        if not 0 <= part < limit:
            raise ChangeError(f"{_shown(path[: at + 1])}: no such index in a list of {len(items)}")
        if not last:
            items[part] = _apply(items[part], change, at + 1)
        elif op == "insert":
            items.insert(part, new)
        elif op == "set":
            items[part] = new
        else:
            del items[part]
        return items
    wanted = "map" if isinstance(part, str) else "list"
    raise ChangeError(f"{_shown(path[:at])}: not a {wanted}")


def _apply_map(value: dict[str, Any], part: str, change: Change, at: int, *, last: bool) -> dict[str, Any]:
    path, op, new = change
    if last and op == "insert":
        raise ChangeError(f"{_shown(path)}: insert needs a list index")
    if part not in value and not (last and op == "set"):
        raise ChangeError(f"{_shown(path[: at + 1])}: no such key")
    if last and op == "remove":
        return {key: item for key, item in value.items() if key != part}
    copy = dict(value)
    copy[part] = new if last else _apply(value[part], change, at + 1)
    return copy


def _shown(path: Path) -> str:
    return "/".join(map(str, path)) or "the root"


def same(left: Any, right: Any) -> bool:
    """Whether two values are the same to Kubernetes: True is not 1, but 1.0 is 1; key order does not count."""
    if left is right:
        return True
    if isinstance(left, str) or isinstance(right, str):
        return isinstance(left, str) and isinstance(right, str) and left == right
    if isinstance(left, dict):
        return (
            isinstance(right, dict)
            and len(left) == len(right)
            and all(key in right and same(item, right[key]) for key, item in left.items())
        )
    if isinstance(left, list | tuple):
        return (
            isinstance(right, list | tuple)
            and len(left) == len(right)
            and all(same(one, other) for one, other in zip(left, right, strict=True))
        )
    if isinstance(left, bool) or isinstance(right, bool) or left is None or right is None:
        return False
    return bool(left == right) or (isnan(left) and isnan(right))
