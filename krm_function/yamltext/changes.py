"""Changes of plain data, and `apply`, which defines what they mean.

Rule of this file: `apply` is the specification that every text edit is verified against. Changes run in order; a path
is valid on the tree that all changes before it have made. Nothing is created implicitly: the parent of a path must
exist.
"""

from collections.abc import Callable
from math import isnan
from typing import Any, Literal

from krm_function.record import NamedTuple

Path = tuple[str | int, ...]
Op = Literal["set", "insert", "remove"]
_LISTS = (list, tuple)


class Change(NamedTuple):
    """One change of one value.

    set: a map key (created at the end when absent) or an existing list index; the empty path replaces the whole value.
    insert: a list index from 0 to the length; what stands there moves on. remove: an existing map key or list index.
    """

    path: Path
    op: Op
    value: Any = None


class ChangeError(LookupError):
    """A change whose path does not exist in the value that it is applied to."""


Copies = dict[int, Any]  # by identity: containers that one `apply` has made, and may change in place


def apply(value: Any, changes: "tuple[Change, ...] | list[Change]") -> Any:
    """Return `value` after `changes`. Neither is modified; parts that no change touches are shared with the result.

    A container is copied once, however many changes reach into it.
    Raises ChangeError when a path does not exist, or when its segments do not fit the kinds of the containers.
    """
    copies: Copies = {}
    for change in changes:
        value = step(value, change, 0, copies)
    return value


def step(value: Any, change: Change, at: int, copies: Copies | None = None) -> Any:
    """Return `value`, which stands `at` segments deep on the path of one change, after that change. See `apply`."""
    path, op, new = change
    if at == len(path):
        if op != "set":
            raise ChangeError(f"{op} needs a path")
        return new
    part = path[at]
    last = at + 1 == len(path)
    if isinstance(value, dict) and isinstance(part, str):
        if last and op == "insert":
            raise ChangeError(f"{_shown(path)}: insert needs a list index")
        if part not in value and (op != "set" or not last):
            raise ChangeError(f"{_shown(path[: at + 1])}: no such key")
        inner = None if last else step(value[part], change, at + 1, copies)
        pairs: dict[str, Any] = _copy(value, dict, copies)
        if not last:
            pairs[part] = inner
        elif op == "set":
            pairs[part] = new
        else:
            del pairs[part]
        return pairs
    if isinstance(value, _LISTS) and isinstance(part, int):
        limit = len(value) + (last and op == "insert")
        if not 0 <= part < limit:
            raise ChangeError(f"{_shown(path[: at + 1])}: no such index in a list of {len(value)}")
        inner = None if last else step(value[part], change, at + 1, copies)
        items: list[Any] = _copy(value, list, copies)
        if not last:
            items[part] = inner
        elif op == "insert":
            items.insert(part, new)
        elif op == "set":
            items[part] = new
        else:
            del items[part]
        return items
    wanted = "map" if isinstance(part, str) else "list"
    raise ChangeError(f"{_shown(path[:at])}: not a {wanted}")


def _copy(value: Any, kind: Callable[[Any], Any], copies: Copies | None) -> Any:
    """A container that may be changed: a copy, unless this one was made by the same `apply`."""
    if copies is None:
        return kind(value)
    if id(value) not in copies:
        value = kind(value)
        copies[id(value)] = value
    return value


def _shown(path: Path) -> str:
    return "/".join(map(str, path)) or "the root"


def same(left: Any, right: Any) -> bool:
    """Whether two values are the same to Kubernetes: True is not 1, but 1.0 is 1; key order does not count."""
    if left is right:
        return True
    if isinstance(left, str):
        return bool(left == right)
    if isinstance(left, dict):
        return isinstance(right, dict) and len(left) == len(right) and _same_items(left, right)
    if isinstance(left, _LISTS):
        return isinstance(right, _LISTS) and len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, bool) or isinstance(right, bool):
        return False
    if isinstance(left, float) and isinstance(right, float) and isnan(left):
        return isnan(right)
    return bool(left == right)


def _same_items(left: dict[str, Any], right: dict[str, Any]) -> bool:
    for key, item in left.items():
        if key not in right:
            return False
        if not same(item, right[key]):
            return False
    return True
