"""Move the elements of a list in the text, each with its comments, when they were put into another order.

Rule of this file: a move is proved like every edit: the new text is parsed, and its value is that of the old one in the
new order. Where it is not (an alias before its anchor, two items on a line), nothing is moved, and `difference` writes
those elements anew.
"""

from collections.abc import Set as AbstractSet
from typing import Any

from krm_function.krm.difference import below
from krm_function.krm.matching import match
from krm_function.krm.result import FieldPath
from krm_function.record import NamedTuple
from krm_function.yamltext import Change, Document, YamlError, apply, offsets, parse, same
from krm_function.yamltext.nodes import Node


class Move(NamedTuple):
    """A list at `path` of the old data, and the old indexes of its elements in the order in which they are to stand."""

    path: FieldPath
    order: list[int]


def moved(document: Document, given_out: Node | None, new: Any) -> tuple[Document, Node | None]:
    """Return the document with all lists in the order of `new`, and the node tree `given_out` in that order as well.

    given_out: as of `difference`; elements that are not in `new` stay behind the one that they stood behind.
    """
    failed: set[FieldPath] = set()
    while move := _first_move(given_out, document.value, new, (), failed):
        found = _permuted(document, move)
        if found is None:
            failed.add(move.path)
            continue
        document = found
        given_out = _with_order(given_out, move.path, move.order) if given_out is not None else None
        failed.add(move.path)  # it stands as it should, and is never tried again
    return document, given_out


def _first_move(node: Node | None, old: Any, new: Any, path: FieldPath, done: AbstractSet[FieldPath]) -> Move | None:
    """Find the outermost list whose elements stand in another order."""
    if isinstance(old, dict) and isinstance(new, dict):
        pairs: list[tuple[Any, Any]] = [(key, key) for key in old if key in new]
    elif isinstance(old, list) and isinstance(new, list):
        matches = match(node if node is not None and node.kind == "seq" else None, old, new)
        pairs = [(index, at) for at, index in enumerate(matches) if index is not None]
        staying = [index for index, _ in pairs]
        if path not in done and staying != sorted(staying):
            return Move(path, _with_removed(staying, len(old)))
    else:
        return None
    moves = (
        _first_move(below(node, before), old[before], new[after], (*path, before), done)
        for before, after in pairs
        if isinstance(old[before], dict | list)
    )
    return next(filter(None, moves), None)


def _with_removed(staying: list[int], count: int) -> list[int]:
    order = list(staying)
    for index in sorted(set(range(count)).difference(staying)):
        order.insert(order.index(index - 1) + 1 if index else 0, index)
    return order


def _permuted(document: Document, move: Move) -> Document | None:
    """Return the document with the elements of one list in another order; None when the text does not allow that."""
    node = document.node
    for part in move.path:
        node = below(node, part)
    if node is None or node.kind != "seq":
        return None
    text, elements = document.text, node.data
    spans = _flow_spans(text, node) if node.style == "flow" else _block_spans(text, node)
    if len(spans) != len(elements):
        return None
    pieces, at = [], 0
    for (start, end), index in zip(spans, move.order, strict=True):
        pieces += [text[at:start], text[slice(*spans[index])]]
        at = end
    try:
        made = parse("".join((*pieces, text[at:])), line=document.line)
    except YamlError:
        return None
    wanted = apply(document.value, (Change(move.path, "set", [elements[index] for index in move.order]),))
    return made if same(made.value, wanted) else None


def _flow_spans(text: str, node: Node) -> list[tuple[int, int]]:
    return list(zip(*offsets.entry_spans(text, node), strict=True))


def _block_spans(text: str, node: Node) -> list[tuple[int, int]]:
    """Return the lines of each item, with the comment lines at the column of its dash that stand above it."""
    starts, ends = offsets.entry_spans(text, node)
    if not all(offsets.first_on_line(text, start) for start in starts):
        return []
    tops = []
    for index, start in enumerate(starts):
        indent = " " * offsets.column(text, start)
        top = offsets.line_start(text, start)
        floor = offsets.line_end(text, ends[index - 1]) if index else 0
        while top > floor:
            above = offsets.line_start(text, top - 1)
            if not text[above:top].startswith(f"{indent}#"):
                break
            top = above
        tops.append(top)
    last = offsets.line_end(text, ends[-1])
    return list(zip(tops, [*tops[1:], last], strict=True)) if text[last - 1 : last] == "\n" else []


def _with_order(node: Node, path: FieldPath, order: list[int]) -> Node:
    """Return the node tree with the parts of the list at `path` in another order."""
    if not path:
        return node._replace(parts=tuple(node.parts[index] for index in order))
    parts = list(node.parts)
    for at, part in enumerate(parts):
        if node.kind == "map" and part[2] == path[0]:
            parts[at] = (part[0], _with_order(part[1], path[1:], order), part[2])
        elif node.kind == "seq" and at == path[0]:
            parts[at] = _with_order(part, path[1:], order)
    return node._replace(parts=tuple(parts))
