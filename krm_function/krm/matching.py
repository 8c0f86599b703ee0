"""Tell which element of a changed list is which element of the list that was read.

Rule of this file: the very same map is the same element, wherever it stands and whatever was changed in it. Else a map
goes by its `name`, as in Kubernetes' merge keys, anything else by its value, and what is left by its place between
neighbours: a text in the place of another is that element, changed.
"""

from bisect import bisect_left
from collections import defaultdict
from typing import Any

from krm_function.krm.outline import Outline, state

Matches = list[int | None]  # for each new element the index of the old one; None: it is new


def match(before: Outline | None, old: list[Any], new: list[Any]) -> Matches:
    """Match two lists. `before`: the list as it was given out, in the order of `old`; None where that is not known."""
    given_out = {id(part.data): at for at, part in enumerate(before.parts) if part is not None} if before else {}
    found: Matches = [None] * len(new)
    free = set(range(len(old)))
    for at, item in enumerate(new):
        origin = given_out.get(id(item)) if _is_collection(item) else None
        if origin in free:
            found[at] = origin
            free.discard(origin)
    by_key: dict[Any, list[int]] = defaultdict(list)
    for index in sorted(free, reverse=True):
        by_key[_key(old[index])].append(index)
    for at, item in enumerate(new):
        if found[at] is None and (indexes := by_key.get(_key(item))):
            found[at] = index = indexes.pop()
            free.discard(index)
    for at, item in enumerate(new):
        if found[at] is None:
            previous = found[at - 1] if at else -1
            if previous is not None and previous + 1 in free and not _named_differently(old[previous + 1], item):
                found[at] = previous + 1
                free.discard(previous + 1)
    return found


def in_order(matches: Matches) -> Matches:
    """Keep the longest run of matches whose elements stand in the order in which they stood; the others become None."""
    tails: list[int] = []  # the least old index with which a run of that length can end
    ends: list[int] = []  # where that is
    before: dict[int, int] = {}
    for at, old in enumerate(matches):
        if old is None:
            continue
        length = bisect_left(tails, old)
        tails[length:] = [old, *tails[length + 1 :]]
        ends[length:] = [at, *ends[length + 1 :]]
        if length:
            before[at] = ends[length - 1]
    kept: set[int] = set()
    at = ends[-1] if ends else -1
    while at >= 0:
        kept.add(at)
        at = before.get(at, -1)
    return [old if at in kept else None for at, old in enumerate(matches)]


def _is_collection(value: Any) -> bool:
    return isinstance(value, dict | list)


def _key(value: Any) -> Any:
    if isinstance(value, dict) and isinstance(value.get("name"), str):
        return ("name", value["name"])
    return state(value)


def _named_differently(left: Any, right: Any) -> bool:
    return isinstance(left, dict) and isinstance(right, dict) and left.get("name") != right.get("name")
