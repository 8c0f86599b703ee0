"""Walk two values side by side, and hand out what differs together with the rule that a table has for its place.

Rule of this file: the walk finds the places, a rule judges one: whether both sides mean the same there, or which of
them allows more. A difference for which the table has no rule is handed out like any other, so what a table forgets is
never taken for the same. A path in a table may have wildcards; an exact one counts first, then the first that fits:

    ("metadata", "namespace")    this place
    ("podFixed", "*")            `*`: any key of a map; `[]`: any entry of a list
    ("**", "limits", "*")        `**`: at any depth
    ("**",)                      wherever no other rule stands, neither there nor below

On the way to a rule that does not begin with `**`, null and no value at all are maps without keys.
"""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from krm_function.yamltext.changes import Path, same


class AbsentType:
    """The type of ABSENT: no value, which is not the same as null."""

    def __repr__(self) -> str:
        """Name it in a test's output."""
        return "ABSENT"


ABSENT = AbsentType()
WILDCARDS = frozenset(("**", "*", "[]"))

Rule = TypeVar("Rule")  # what judges one place, in a form that the user of the walk chooses
Alike = Callable[[Any, Any], bool]


def have_the_same_names(left: list[Any], right: list[Any]) -> bool:
    """Pair the entries of lists that have the same names in the same order."""
    names = [[entry.get("name") if isinstance(entry, dict) else None for entry in side] for side in (left, right)]
    return names[0] == names[1]


def differing_places(
    left: Any,
    right: Any,
    rules: Mapping[Path, Rule],
    *,
    pairs: Alike | None = None,
    equal: Alike = same,
    absent: Any = ABSENT,
) -> Iterator[tuple[Path, Any, Any, Rule | None]]:
    """Yield the path, both sides and the rule of each place where they are not equal: one with a rule, or the deepest.

    Maps are walked by key, the left one's keys first. pairs: whether two lists are walked entry by entry; without it,
    they are compared as a whole. absent: what stands for a value that one side does not have.
    """
    exact = {path: rule for path, rule in rules.items() if WILDCARDS.isdisjoint(path)}
    ways = {path[:size] for path in rules if path[:1] != ("**",) for size in range(len(path))}

    def walk(path: Path, left: Any, right: Any) -> Iterator[tuple[Path, Any, Any, Rule | None]]:
        if equal(left, right):
            return
        rule, first, second = exact.get(path), left, right
        if rule is None and any(_fits(way, path) for way in ways):
            first, second = ({} if side is None or side is absent else side for side in (left, right))
        elif rule is None:
            rule = next((rules[each] for each in rules if each not in exact and _fits(each, path)), None)
        if rule is None and isinstance(first, dict) and isinstance(second, dict):
            for key in {**first, **second}:
                yield from walk((*path, key), first.get(key, absent), second.get(key, absent))
        elif rule is None and isinstance(left, list) and isinstance(right, list) and pairs and pairs(left, right):
            for index, entry in enumerate(left):
                yield from walk((*path, index), entry, right[index])
        else:
            yield path, left, right, rule

    return walk((), left, right)


def differing_paths(
    left: Any,
    right: Any,
    excuses: Mapping[Path, Alike] = MappingProxyType({}),
    *,
    pairs: Alike = have_the_same_names,
    equal: Alike = same,
) -> list[Path]:
    """Return the path of each place where two values differ and no excuse says that they mean the same there."""
    return [
        path
        for path, first, second, excused in differing_places(left, right, excuses, pairs=pairs, equal=equal)
        if excused is None or not excused(first, second)
    ]


def _fits(pattern: Path, path: Path) -> bool:
    """Tell whether a path of a table stands for this one."""
    if pattern[:1] == ("**",):
        pattern = pattern[1:]
        path = path[max(len(path) - len(pattern), 0) :]
    return len(pattern) == len(path) and all(map(_fits_part, pattern, path))


def _fits_part(name: str | int, part: str | int) -> bool:
    return name == ("*" if isinstance(part, str) else "[]") or (name == part and name not in WILDCARDS)
