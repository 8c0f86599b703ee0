"""Changes of plain data and their meaning, and the one walk that compares two values."""

from collections.abc import Callable, Iterator, Mapping
from math import isnan
from types import MappingProxyType
from typing import Any, Literal, TypeVar

from krm_function.record import NamedTuple

# --- Changes of plain data, and `apply`, which defines their meaning
#
# Rule: `apply` is the specification that every text edit is verified against. Changes run in order; a path refers to
# the tree after all earlier changes. Nothing is created implicitly: the parent of a path must exist.


Path = tuple[str | int, ...]
Op = Literal["set", "insert", "remove"]
_LISTS = (list, tuple)


class Change(NamedTuple):
    """One change of one value.

    set: a map key (created at the end when absent) or an existing list index; the empty path replaces the whole value.
    insert: a list index from 0 to the length; later items move on. remove: an existing map key or list index.
    """

    path: Path
    op: Op
    value: Any = None


class ChangeError(LookupError):
    """A change whose path does not exist in the value that it is applied to."""


Copies = dict[int, Any]  # by identity: containers that one `apply` has made, and may change in place


def apply(value: Any, changes: "tuple[Change, ...] | list[Change]") -> Any:
    """Return `value` after `changes`. Neither is modified; the result shares the parts that no change touches.

    A container is copied once, however many changes reach into it.
    Raises ChangeError when a path does not exist, or when its segments do not fit the kinds of the containers.
    """
    copies: Copies = {}
    for change in changes:
        value = step(value, change, 0, copies)
    return value


def step(value: Any, change: Change, at: int, copies: Copies | None = None) -> Any:  # noqa: C901 (calls cost here)
    """Return `value`, which is `at` segments deep on the path of one change, after that change. See `apply`."""
    path, op, new = change
    end = len(path) - 1
    if at > end:
        if op != "set":
            raise ChangeError(f"{op} needs a path")
        return new
    holder = whole = _copy(value, path, at, copies)
    while at < end:
        part: Any = path[at]
        if part not in holder if isinstance(holder, dict) else not 0 <= part < len(holder):
            raise _make_missing_error(holder, path, at)
        at += 1
        inner = holder[part]
        if copies is None or id(inner) not in copies:
            inner = holder[part] = _copy(inner, path, at, copies)
        holder = inner
    part = path[end]
    if isinstance(holder, dict):
        if op == "insert":
            raise ChangeError(f"{_format_path(path)}: insert needs a list index")
        if op == "set":
            holder[part] = new
        elif part in holder:
            del holder[part]
        else:
            raise _make_missing_error(holder, path, end)
        return whole
    if not 0 <= part < len(holder) + (op == "insert"):
        raise _make_missing_error(holder, path, end)
    if op == "set":
        holder[part] = new
    elif op == "insert":
        holder.insert(part, new)
    else:
        del holder[part]
    return whole


def _copy(value: Any, path: Path, at: int, copies: Copies | None) -> Any:
    """Return a container that may be changed: a copy, or the container itself if this `apply` has made it.

    Raises ChangeError when the next segment of the path does not fit its kind.
    """
    key = isinstance(path[at], str)
    if not isinstance(value, dict if key else _LISTS):
        raise ChangeError(f"{_format_path(path[:at])}: not a {'map' if key else 'list'}")
    if copies is None:
        return dict(value) if key else list(value)
    if id(value) not in copies:
        value = dict(value) if key else list(value)
        copies[id(value)] = value
    return value


def _make_missing_error(holder: Any, path: Path, at: int) -> ChangeError:
    step_name = "key" if isinstance(holder, dict) else f"index in a list of {len(holder)}"
    return ChangeError(f"{_format_path(path[: at + 1])}: no such {step_name}")


def _format_path(path: Path) -> str:
    return "/".join(map(str, path)) or "the root"


def same(old: Any, new: Any) -> bool:
    """Tell whether two values are the same to Kubernetes: True is not 1, but 1.0 is 1; key order is ignored."""
    if old is new:
        return True
    if isinstance(old, str):
        return bool(old == new)
    if isinstance(old, dict):
        return isinstance(new, dict) and len(old) == len(new) and _have_same_items(old, new)
    if isinstance(old, _LISTS):
        return isinstance(new, _LISTS) and len(old) == len(new) and all(map(same, old, new))
    if isinstance(old, bool) or isinstance(new, bool):
        return False
    if isinstance(old, float) and isinstance(new, float) and isnan(old):
        return isnan(new)
    return bool(old == new)


def _have_same_items(old: dict[str, Any], new: dict[str, Any]) -> bool:
    for key, item in old.items():
        if key not in new:
            return False
        new_item = new[key]
        if type(item) is str and type(new_item) is str:  # most values are
            if item != new_item:
                return False
        elif item is not new_item and not same(item, new_item):
            return False
    return True


# --- Walk two values side by side, and yield each difference with the rule that a table has for its place
#
# Rule: the walk finds the places; a rule judges one place: whether both sides mean the same, or which side allows more.
# A difference without a rule is yielded like any other, so a place that a table omits never counts as equal. A path in
# a table may have wildcards; an exact path counts first, then the first that fits:
#
#     ("metadata", "namespace")    this place
#     ("podFixed", "*")            `*`: any key of a map; `[]`: any entry of a list
#     ("**", "limits", "*")        `**`: at any depth
#     ("**",)                      any place with no other rule there or below
#
# On the way to a rule that does not begin with `**`, null and no value at all are maps without keys.


class AbsentType:
    """The type of ABSENT: no value, which is not the same as null."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = AbsentType()
WILDCARDS = frozenset(("**", "*", "[]"))

Rule = TypeVar("Rule")  # judges one place; the caller of the walk chooses its type
Alike = Callable[[Any, Any], bool]


def have_the_same_names(old: list[Any], new: list[Any]) -> bool:
    """Tell whether the entries of two lists have the same names in the same order."""
    names = [[entry.get("name") if isinstance(entry, dict) else None for entry in side] for side in (old, new)]
    return names[0] == names[1]


def differing_places(
    old: Any,
    new: Any,
    rules: Mapping[Path, Rule],
    *,
    pairs: Alike | None = None,
    equal: Alike = same,
    absent: Any = ABSENT,
) -> Iterator[tuple[Path, Any, Any, Rule | None]]:
    """Yield path, both sides and rule of each place where the sides differ: a place with a rule, or the deepest one.

    Maps are walked by key, the old one's keys first. pairs: whether two lists are walked entry by entry; without it,
    they are compared as a whole. absent: the value for a side that has none.
    """
    exact = {path: rule for path, rule in rules.items() if WILDCARDS.isdisjoint(path)}
    ways = {path[:size] for path in rules if path[:1] != ("**",) for size in range(len(path))}

    def walk(path: Path, old: Any, new: Any) -> Iterator[tuple[Path, Any, Any, Rule | None]]:
        if equal(old, new):
            return
        rule, first, second = exact.get(path), old, new
        if rule is None and any(_fits(way, path) for way in ways):
            first, second = ({} if side is None or side is absent else side for side in (old, new))
        elif rule is None:
            rule = next((rules[pattern] for pattern in rules if pattern not in exact and _fits(pattern, path)), None)
        if rule is None and isinstance(first, dict) and isinstance(second, dict):
            for key in {**first, **second}:
                yield from walk((*path, key), first.get(key, absent), second.get(key, absent))
        elif rule is None and isinstance(old, list) and isinstance(new, list) and pairs and pairs(old, new):
            for index, entry in enumerate(old):
                yield from walk((*path, index), entry, new[index])
        else:
            yield path, old, new, rule

    return walk((), old, new)


def differing_paths(
    old: Any,
    new: Any,
    excuses: Mapping[Path, Alike] = MappingProxyType({}),
    *,
    pairs: Alike = have_the_same_names,
    equal: Alike = same,
) -> list[Path]:
    """Return the path of each place where two values differ, unless an excuse finds both sides equivalent there."""
    return [
        path
        for path, first, second, excused in differing_places(old, new, excuses, pairs=pairs, equal=equal)
        if excused is None or not excused(first, second)
    ]


def _fits(pattern: Path, path: Path) -> bool:
    if pattern[:1] == ("**",):
        pattern = pattern[1:]
        path = path[max(len(path) - len(pattern), 0) :]
    return len(pattern) == len(path) and all(map(_fits_part, pattern, path))


def _fits_part(name: str | int, part: str | int) -> bool:
    return name == ("*" if isinstance(part, str) else "[]") or (name == part and name not in WILDCARDS)
