"""Move the elements of a list in the text, each with its comments, when they were put into another order.

Rule of this file: a move is proved like every edit: the new text is parsed, and its value is that of the old one in the
new order. Where an alias would come before its anchor, the elements with anchors and aliases keep their order and the
others move. Where that fails as well (two items on a line), nothing is moved. `difference` writes anew what was not.
"""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Any

from krm_function.krm.matching import in_order, match
from krm_function.krm.outline import Outline, below, state, with_order
from krm_function.krm.result import FieldPath
from krm_function.record import NamedTuple
from krm_function.yamltext import Change, Document, YamlError, apply, offsets, parse, same
from krm_function.yamltext.nodes import Node


class Move(NamedTuple):
    """A list at `path` of the old data, and the old indexes of its elements in the order in which they are to stand."""

    path: FieldPath
    order: list[int]


def moved(document: Document, given_out: Outline | None, new: Any) -> tuple[Document, Outline | None]:
    """Return the document with all lists in the order of `new`, and the outline `given_out` in that order as well.

    given_out: as of `difference`; elements that are not in `new` stay behind the one that they stood behind.
    """
    done: set[FieldPath] = set()
    while moves := list(_moves(given_out, document.value, new, (), done)):  # none of them inside another
        done.update(move.path for move in moves)
        together = _permuted(document, moves)
        if together is not None:
            document, made = together, moves
        else:
            made = []
            for move in moves:
                document, some = _one_moved(document, move)
                made += some
        for move in made:
            given_out = with_order(given_out, move.path, move.order)
    return document, given_out


def _one_moved(document: Document, move: Move) -> tuple[Document, list[Move]]:
    """Return the document after one move, or after as much of it as anchors and aliases allow, and what was moved."""
    for tried in (move, _with_tied_in_place(document, move)):
        found = _permuted(document, [tried])
        if found is not None:
            return found, [tried]
    return document, []


def _with_tied_in_place(document: Document, move: Move) -> Move:
    """Return the move with the elements that have an anchor or an alias in the order of the old text.

    As many of them as possible stand where the move puts them; each other one stands behind its predecessor.
    """
    node = _at(document.node, move.path)
    tied = [index for index, part in enumerate(node.parts) if _is_tied(part)] if node is not None else []
    staying = set(in_order([index if index in tied else None for index in move.order]))
    order = [index for index in move.order if index not in tied or index in staying]
    for at, index in enumerate(tied):
        if index not in staying:
            place = (
                order.index(tied[at - 1]) + 1 if at else min(order.index(other) for other in tied if other in staying)
            )
            order.insert(place, index)
    return Move(move.path, order)


def _is_tied(node: Node) -> bool:
    if node.kind == "alias" or node.anchored:
        return True
    return any(_is_tied(child) for part in node.parts for child in (part[:2] if node.kind == "map" else (part,)))


def _moves(before: Outline | None, old: Any, new: Any, path: FieldPath, done: AbstractSet[FieldPath]) -> Iterator[Move]:
    """Find the outermost lists whose elements stand in another order; not those in `done`."""
    if isinstance(old, dict) and isinstance(new, dict):
        pairs: list[tuple[Any, Any]] = [(key, key) for key in old if key in new]
    elif isinstance(old, list) and isinstance(new, list):
        matches = match(before, old, new)
        pairs = [(index, at) for at, index in enumerate(matches) if index is not None]
        staying = [index for index, _ in pairs]
        if path not in done and staying != sorted(staying):
            yield Move(path, _with_removed(staying, len(old)))
            return
    else:
        return
    for part, after in pairs:
        if isinstance(old[part], dict | list) and state(old[part]) != state(new[after]):
            yield from _moves(below(before, part), old[part], new[after], (*path, part), done)


def _with_removed(staying: list[int], count: int) -> list[int]:
    order = list(staying)
    for index in sorted(set(range(count)).difference(staying)):
        order.insert(order.index(index - 1) + 1 if index else 0, index)
    return order


def _permuted(document: Document, moves: list[Move]) -> Document | None:
    """Return the document with the elements of some lists in another order; None when the text does not allow that."""
    text = document.text
    pieces: list[tuple[int, int, str]] = []
    changes = []
    for path, order in moves:
        node = _at(document.node, path)
        if node is None or node.kind != "seq":
            return None
        spans = _flow_spans(text, node) if node.style == "flow" else _block_spans(text, node)
        if len(spans) != len(order):
            return None
        pieces += [(start, end, text[slice(*spans[at])]) for (start, end), at in zip(spans, order, strict=True)]
        changes.append(Change(path, "set", [node.data[at] for at in order]))
    made, end = "", 0
    for start, after, piece in sorted(pieces):
        made += text[end:start] + piece
        end = after
    try:
        found = parse(made + text[end:], line=document.line)
    except YamlError:
        return None
    return found if same(found.value, apply(document.value, changes)) else None


def _at(node: Node | None, path: FieldPath) -> Node | None:
    """Return the node at `path`; None behind an alias or a merge key."""
    for part in path:
        if node is not None and node.kind == "map":
            node = next((value for _, value, key in node.parts if key == part), None)
        else:
            node = node.parts[part] if node is not None and node.kind == "seq" and isinstance(part, int) else None
    return node


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
