"""Parse one document, or one item of a list, to plain data with positions.

Rule of this file: a document is at most one value. A chunk that `split_items` cut (a block list of one item) stands for
that item: paths start inside it.
"""

from typing import Any

from krm_function.libyaml import DocumentStartEvent, StreamEndEvent, YAMLError
from krm_function.record import NamedTuple
from krm_function.yamltext.builder import Builder
from krm_function.yamltext.changes import Path
from krm_function.yamltext.errors import LIMITS, Limits, YamlError, of_template
from krm_function.yamltext.events import located, open_events
from krm_function.yamltext.nodes import Node


class Document(NamedTuple):
    """A parsed text. `node` is None for a text without content; `line` is the line number of the text's start."""

    text: str
    node: Node | None
    value: Any
    line: int = 1
    item: Node | None = None  # the block list of one item around `node`, for a chunk of split_items


def parse(text: str, *, line: int = 1, limits: Limits = LIMITS) -> Document:
    """Parse one document or one `- item` chunk. Raises YamlError; errors are located from `line` on."""
    try:
        node = _read(text, line, limits)
    except YAMLError as error:
        raise of_template(located(error, text, line), text, line) from None
    except YamlError as problem:
        raise of_template(problem, text, line) from None
    if node is None:
        return Document(text, None, None, line)
    if node.kind == "seq" and node.style == "block" and len(node.parts) == 1:
        return Document(text, node.parts[0], node.parts[0].data, line, node)
    return Document(text, node, node.data, line)


def _read(text: str, line: int, limits: Limits) -> Node | None:
    pull = open_events(text, limits, line)
    builder = Builder(pull, limits, line)
    node: Node | None = None
    while (kind := type(event := pull())) is not StreamEndEvent:
        if kind is not DocumentStartEvent:
            continue
        if node is not None:
            mark = event.start_mark
            raise YamlError("more than one document", line + mark.line, mark.column + 1, "shape")
        node = builder.node(pull(), 0)
    return node


def locate(document: Document, path: Path) -> tuple[int, int]:
    """Return line and column, from 1, of the deepest part of `path` that exists.

    The place of a map entry is its key, of a list item its first token. Behind an alias or a merge key it is the alias,
    or the map with the merge key.
    """
    node = document.node
    if node is None:
        return document.line, 1
    mark = node.mark
    for part in path:
        if node.kind == "map":
            pair = next((pair for pair in node.parts if pair[2] == part), None)
            if pair is None:
                break
            key, node, _ = pair
            mark = key.mark
        elif node.kind == "seq" and isinstance(part, int) and 0 <= part < len(node.parts):
            node = node.parts[part]
            mark = node.mark
        else:
            break
    return document.line + int(mark.line), int(mark.column) + 1
