"""Find offsets in the text between nodes: colons, dashes, lines, columns, ends of values.

Rule of this file: look forward from the end of a token, never backward. Between two tokens there is only white space,
comments and indicators, so a forward look is exact; a backward look can run into a comment or a quoted scalar.
"""

import re

from krm_function.yamltext.nodes import Node

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")  # libyaml takes every `#` where a token could begin for a comment
_SPACE = re.compile(r"[ \t\r\n]*")
_HEADER = re.compile(r"(?<![^ \t\r\n:-])[|>]([0-9+-]*)")
_PROPERTY = re.compile(r"[&!][^ \t\r\n,\[\]{}]*")


def after_blank(text: str, at: int) -> int:
    """Return the first offset from `at` on that is neither white space nor comment."""
    match = _BLANK.match(text, at)
    return match.end() if match else at


def after_space(text: str, at: int) -> int:
    """Return the first offset from `at` on that is no white space."""
    match = _SPACE.match(text, at)
    return match.end() if match else at


def content(text: str, node: Node) -> int:
    """Return where a node begins behind its anchor and tag."""
    return content_at(text, node.start) if node.properties else node.start


def content_at(text: str, at: int) -> int:
    """Return the first offset from `at` on that is no anchor and no tag."""
    while match := _PROPERTY.match(text, at):
        at = after_blank(text, match.end())
    return at


def leaf_end(text: str, node: Node) -> int:
    """Return where the last token of a node ends; of a block scalar, the end of its last line without the line end."""
    while node.style == "block" and node.parts:
        last = node.parts[-1]
        if node.kind == "map":
            key, node, _ = last
            if _missing(text, key, node):
                node = key
        else:
            node = last
    if node.kind == "scalar" and node.style in ("|", ">"):
        return block_scalar_end(text, node.start, node.end)
    return node.end


def literal_column(text: str, part: Node | tuple[Node, Node, str | None], kind: str) -> int:
    """Return the column of the block scalar's text that a pair (kind map) or an item (kind seq) ends with; else -1."""
    node: Node = part[1] if kind == "map" else part  # type: ignore[assignment]
    while node.style == "block" and node.parts:
        node = node.parts[-1][1] if node.kind == "map" else node.parts[-1]
    if node.kind != "scalar" or node.style not in ("|", ">"):
        return -1
    return column(text, after_space(text, line_end(text, node.start)))


def pair_end(text: str, key: Node, value: Node) -> int:
    """Return where a pair ends: its value, or its key when it has none."""
    return leaf_end(text, key if _missing(text, key, value) else value)


def _missing(text: str, key: Node, value: Node) -> bool:
    return value.start == value.end and not has_colon(text, key)


def has_colon(text: str, key: Node) -> bool:
    """Tell whether a `:` follows a key; a set-like `? key` has none."""
    at = after_blank(text, leaf_end(text, key))
    return text[at : at + 1] == ":"


def after_colon(text: str, key: Node) -> int:
    """Return the offset behind the `:` of a key."""
    return after_blank(text, leaf_end(text, key)) + 1


def block_scalar_end(text: str, start: int, end: int) -> int:
    """Return where the text of a block scalar ends: the parser's `end` is the start of the next line that is not blank.

    Blank lines below it belong to it only when it keeps them (`|+`), or when they hold more spaces than its text is
    indented, which are content.
    """
    if text[end - 1 : end] != "\n":
        return end
    header = _HEADER.search(text, start)
    end = before_newline(text, end)
    indented = 0  # unknown: with a digit in the header the text may begin with spaces, or there is none
    if header and "+" in header[1]:
        return end
    if header and header[1] in ("", "-"):
        first = after_space(text, line_end(text, header.start()))
        indented = column(text, first) if first < end else 0
    while end > start:
        above = line_start(text, end)
        if end - above > indented or text[above:end].strip(" "):
            break
        end = before_newline(text, above)
    return end


def stripped(text: str, node: Node, start: int, end: int) -> str:
    """Return `text[start:end]`, which ends with the block scalar `node`, made not to own a line end after it."""
    header = _HEADER.search(text, node.start)
    if header is None:
        return text[start:end]
    digits = header[1].strip("+-")
    return text[start : header.start() + 1] + digits + "-" + text[header.end() : end]


def before_newline(text: str, at: int) -> int:
    """Return the offset in front of the line end that ends at `at`."""
    return at - 2 if text[at - 2 : at] == "\r\n" else at - 1


def line_start(text: str, at: int) -> int:
    """Return the offset at which the line of `at` begins."""
    return text.rfind("\n", 0, at) + 1


def line_end(text: str, at: int) -> int:
    """Return the offset behind the line of `at`: the start of the next line, or the end of the text."""
    found = text.find("\n", at)
    return len(text) if found < 0 else found + 1


def column(text: str, at: int) -> int:
    """Return the column of `at`, from 0."""
    return at - line_start(text, at)


def first_on_line(text: str, at: int) -> bool:
    """Tell whether only spaces stand before `at` on its line."""
    while at and text[at - 1] == " ":  # and not back to the start of the line, which may be all of the text
        at -= 1
    return not at or text[at - 1] == "\n"


def alone_behind(text: str, at: int) -> bool:
    """Tell whether nothing but white space follows `at` on its line."""
    return not text[at : line_end(text, at)].strip()


def newline_at(text: str, at: int) -> str:
    """Return the line ending in use around `at`."""
    found = text.rfind("\n", 0, at)
    if found < 0:
        found = text.find("\n", at)
    return "\r\n" if found > 0 and text[found - 1] == "\r" else "\n"


def entry_spans(text: str, node: Node) -> tuple[list[int], list[int]]:
    """Return where each entry of a collection begins, and where its last token ends.

    A block entry begins with its `-`, its key (the anchor of the key included) or its `?`; a flow entry with its first
    token, a `?` included.
    """
    flow = node.style == "flow"
    at = content(text, node)
    if flow and text[at : at + 1] in ("{", "["):
        at = after_blank(text, at + 1)
    starts = []
    ends = []
    for part in node.parts:
        starts.append(at)
        if node.kind == "map":
            end = pair_end(text, part[0], part[1])
        else:
            end = leaf_end(text, part)
            if not flow and end <= at:
                end = at + 1
        ends.append(end)
        at = after_blank(text, end)
        if flow and text[at : at + 1] == ",":
            at = after_blank(text, at + 1)
    return starts, ends


def first_entry(text: str, node: Node) -> int:
    """Return where the first entry of a block collection begins."""
    return content(text, node)
