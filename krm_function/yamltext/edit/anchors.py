"""Keep an edit of an anchored node from changing its aliases.

Rule of this file: an alias means what its anchor meant before the edit. Once the anchored node is edited, moved or
dropped, every alias of it is written out.
"""

from bisect import bisect
from collections.abc import Iterator, Sequence

from krm_function.yamltext.changes import same
from krm_function.yamltext.edit.tree import EditedCollection, NewValue, Part, value_of
from krm_function.yamltext.nodes import Node


def write_out_aliases(part: Part, root: Node, text: str) -> Part:
    """Write out every alias in `part` whose anchored node was edited, moved or dropped."""
    if "*" not in text:
        return part
    while True:
        kept: set[int] = set()
        _untouched(part, kept)
        lost = {id(node) for node in _anchored(root) if id(node) not in kept}
        changed = _with_aliases_written_out(part, lost, text) if lost else part
        if changed is part:
            return part
        part = changed


def shares_lost_anchor(part: Part, root: Node, objects: Sequence[Node]) -> bool:
    """Tell whether an alias in one of the edited `objects` stands for an anchor elsewhere that the edit takes away.

    root: the tree before the edit. objects: in the order of the text.
    """
    kept: set[int] = set()
    _untouched(part, kept)
    lost = {id(node) for node in _anchored(root) if id(node) not in kept}
    return bool(lost) and any(id(alias.parts[0]) in lost for _, alias in foreign_aliases(root, objects))


def foreign_aliases(root: Node, objects: Sequence[Node]) -> Iterator[tuple[int, Node]]:
    """Yield every alias that stands in one of `objects` and whose anchor does not, with the index of the object.

    objects: nodes of the tree `root`, in the order of the text, none within another.
    """
    starts = [node.start for node in objects]
    for alias in _aliases(root):
        at = bisect(starts, alias.start) - 1
        if at < 0 or alias.start >= objects[at].end:
            continue
        if not objects[at].start <= alias.parts[0].start < objects[at].end:
            yield at, alias


def _aliases(node: Node) -> Iterator[Node]:
    """Yield every alias of a tree."""
    if node.kind == "alias":
        yield node
        return
    for part in node.parts:
        for child in part[:2] if node.kind == "map" else (part,):
            if child.parts:
                yield from _aliases(child)


def _untouched(part: Part, kept: set[int]) -> None:
    """Collect the anchored nodes that are unchanged, and those edited only by writing aliases out."""
    if isinstance(part, Node):
        kept.update(id(node) for node in _anchored(part))
    elif isinstance(part, EditedCollection):
        if part.node.anchored and same(value_of(part), part.node.data):
            kept.add(id(part.node))
        for entry in part.entries:
            if part.node.kind == "map" and entry.origin >= 0:
                _untouched(part.node.parts[entry.origin][0], kept)
            _untouched(entry.child, kept)


def _anchored(node: Node) -> list[Node]:
    found = [node] if node.anchored else []
    if node.kind != "alias":
        for part in node.parts:
            for child in part[:2] if node.kind == "map" else (part,):
                if child.anchored or child.parts:
                    found += _anchored(child)
    return found


def _written_out(alias: Node, text: str) -> NewValue:
    from krm_function.yamltext.aliases import written

    return NewValue(alias.data, written(text, alias))


def _with_aliases_written_out(part: Part, lost: set[int], text: str) -> Part:
    if isinstance(part, NewValue):
        return part
    if isinstance(part, EditedCollection):
        for entry in part.entries:
            if part.node.kind == "map" and entry.origin >= 0 and _is_lost(part.node.parts[entry.origin][0], lost):
                return NewValue(value_of(part), "" if part.node.style == "flow" else None)
        changed = False
        for entry in part.entries:
            child = _with_aliases_written_out(entry.child, lost, text)
            changed = changed or child is not entry.child
            entry.child = child
        if changed:
            copy = EditedCollection(part.node)
            copy.entries = part.entries
            return copy
        return part
    if part.kind == "alias":
        return _written_out(part, text) if _is_lost(part, lost) else part
    if not part.parts:
        return part
    edited = EditedCollection(part)
    changed_part = _with_aliases_written_out(edited, lost, text)
    return part if changed_part is edited else changed_part


def _is_lost(node: Node, lost: set[int]) -> bool:
    return node.kind == "alias" and id(node.parts[0]) in lost
