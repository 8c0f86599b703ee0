"""The nodes of one document: the position and the plain data of each.

Rule of this file: data only; `builder` makes the nodes.
"""

from typing import Any, Literal

from krm_function.record import NamedTuple


class Node(NamedTuple):
    """One node. `start` includes its anchor and tag; `end` of a block collection is somewhere before the next token.

    `style` of a scalar is its indicator ("" for plain), of a collection "flow" or "block". `parts`: the (key, value,
    text) of each pair, text None for a merge key; the items of a sequence; the target of an alias.
    """

    kind: Literal["map", "seq", "scalar", "alias"]
    start: int
    end: int
    mark: Any  # libyaml's Mark of `start`: index, line, column, from 0
    style: str
    data: Any
    parts: tuple[Any, ...] = ()
    properties: bool = False  # it has an anchor or a tag
    anchored: bool = False


def aliases_in(node: Node, limit: int) -> int:
    """Count how many aliases expanding `node` expands, up to just beyond `limit`."""
    if node.kind == "alias":
        return 1 + aliases_in(node.parts[0], limit)
    count = 0
    for part in node.parts:
        for child in part[:2] if node.kind == "map" else (part,):
            if child.parts:
                count += aliases_in(child, limit - count)
                if count > limit:
                    return count
    return count
