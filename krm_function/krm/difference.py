"""From data that was changed in place to the changes of the text.

Rule of this file: only what differs becomes a change, at the deepest place; key order and `1` against `1.0` do not
differ (`yamltext.same`). `apply(old, difference(node, old, new))` is `new`.
"""

from typing import Any

from krm_function.krm.matching import in_order, match
from krm_function.krm.result import FieldPath
from krm_function.yamltext import Change, same
from krm_function.yamltext.nodes import Node


def difference(node: Node | None, old: Any, new: Any, path: FieldPath = ()) -> list[Change]:
    """Return the changes that make `new` of `old`, in order.

    node: what `old` was read from, with the maps and lists that were given out as its data, whatever they hold by now;
    its parts stand in the order of `old`. None where that is not known.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        changes = [Change((*path, key), "remove") for key in old if key not in new]
        for key, value in new.items():
            if key in old:
                changes += difference(below(node, key), old[key], value, (*path, key))
            else:
                changes.append(Change((*path, key), "set", value))
        return changes
    if isinstance(old, list) and isinstance(new, list | tuple):
        return _of_lists(node, old, list(new), path)
    return [] if same(old, new) else [Change(path, "set", new)]


def _of_lists(node: Node | None, old: list[Any], new: list[Any], path: FieldPath) -> list[Change]:
    node = node if node is not None and node.kind == "seq" else None
    matches = in_order(match(node, old, new))
    kept = {index for index in matches if index is not None}
    changes = [Change((*path, index), "remove") for index in range(len(old) - 1, -1, -1) if index not in kept]
    for at, index in enumerate(matches):
        if index is None:
            changes.append(Change((*path, at), "insert", new[at]))
        else:
            changes += difference(below(node, index), old[index], new[at], (*path, at))
    return changes


def below(node: Node | None, part: str | int) -> Node | None:
    """Return the node of a value or element; None behind an alias or a merge key, where the data is a copy."""
    if node is None:
        return None
    if node.kind == "map":
        return next((value for _, value, key in node.parts if key == part), None)
    if node.kind == "seq" and isinstance(part, int) and part < len(node.parts):
        found: Node = node.parts[part]
        return found
    return None
