"""Walk plain data by a path: a tuple of map keys and list indexes, ("spec", "containers", 0, "image").

Rule of this file: a string is never a path. An index may count from the end (-1 is the last element), as in Python.
Null counts as absent, as in Kubernetes.
"""

from math import isfinite
from typing import Any

from krm_function.krm.errors import MisuseError
from krm_function.krm.result import FieldPath, dotted

ABSENT: Any = object()
TYPES: dict[type, str] = {
    str: "a string",
    bool: "a boolean",
    int: "an integer",
    float: "a number",
    list: "a list",
    tuple: "a list",
    dict: "a map",
    type(None): "null",
}
_DEEPEST = 200  # collections inside each other: far more than Kubernetes has, far less than the interpreter can take


def checked(path: FieldPath) -> FieldPath:
    """Return `path` as a tuple. Raises MisuseError for a string, and for parts that are no key and no index."""
    return _checked(path)


def _checked(path: Any) -> FieldPath:
    if isinstance(path, str):
        raise MisuseError(
            'a path is a tuple of keys and indexes: write ("spec", "replicas"), not "spec.replicas",'
            ' and ("kind",), with a comma, for one key'
        )
    try:
        parts = tuple(path)
    except TypeError:
        raise MisuseError(f"a path is a tuple of keys and indexes, not {type(path).__name__}") from None
    for part in parts:
        if not isinstance(part, str | int) or isinstance(part, bool):
            raise MisuseError(f"a path consists of keys (str) and indexes (int), not of {type(part).__name__}")
    return parts


def child(value: Any, part: str | int) -> Any:
    """Return the element of a map or list; ABSENT where there is none. A tuple becomes a list in its place."""
    if isinstance(value, dict) and isinstance(part, str):
        found = value.get(part, ABSENT)
    elif isinstance(value, list) and isinstance(part, int) and -len(value) <= part < len(value):
        found = value[part]
    else:
        return ABSENT
    if isinstance(found, tuple):
        value[part] = found = list(found)
    return found


def look_up(value: Any, path: FieldPath) -> Any:
    """Return what stands at `path`; ABSENT where there is nothing, or where the way is no map or list."""
    for part in path:
        value = child(value, part)
    return value


def misfit(value: Any, part: str | int) -> str:
    """Say why `part` cannot be a key or an index of `value`; "" when it can."""
    wanted, name = (dict, "map") if isinstance(part, str) else (list, "list")
    return "" if isinstance(value, wanted) else f"is {kind_of(value)}, a {name} is expected"


def kind_of(value: Any) -> str:
    """Return what a value is, in the words of YAML: `a string`."""
    return TYPES.get(type(value)) or next(
        (words for kind, words in TYPES.items() if isinstance(value, kind)), f"a {type(value).__name__}"
    )


def check_plain(value: Any, path: FieldPath = (), depth: int = 0, *, new: bool = True) -> None:
    """Raise MisuseError unless `value`, which is to stand at `path`, is plain data all the way down.

    new: it was not read from a text, so that it must also be writable: no infinity, no half of a surrogate pair.
    """
    where = f"{dotted(path)}: " if path else ""
    if isinstance(value, str | int | float | None):
        if new and isinstance(value, float) and not isfinite(value):
            raise MisuseError(f"{where}NaN and infinity cannot be written: Kubernetes has finite numbers only")
        if new and isinstance(value, str):
            _check_writable(value, where)
        return
    if depth >= _DEEPEST:
        raise MisuseError(f"{dotted(path[:6])}: nested deeper than {_DEEPEST} levels, or inside itself")
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise MisuseError(f"{where}a key is a string, not {type(key).__name__}: write str(key)")
            if new:
                _check_writable(key, where)
            if new or not isinstance(item, str):  # nearly all of them are
                check_plain(item, (*path, key), depth + 1, new=new)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            check_plain(item, (*path, index), depth + 1, new=new)
    else:
        name = type(value).__name__
        raise MisuseError(f"{where}plain data is dict, list, str, int, float, bool and None, not {name}")


def _check_writable(text: str, where: str) -> None:
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError:
        raise MisuseError(f"{where}half of a surrogate pair is no character and cannot be written") from None
