"""Cut a stream without pulling every event: the chunks of the exact way in a tenth of its time, or None.

Rule of this file: what libyaml has not shown is not assumed; where it cannot be shown quickly the exact way decides.

- libyaml refuses a `---` at the start of a line inside of quotes and brackets. In a stream that it takes, every such
  line begins a document, and without `...` and directives nothing else does.
- The lines of a literal (`key: |`) mean nothing as long as they are indented like the first. libyaml is given one line
  in their place, which it refuses inside of quotes and brackets: so what it takes there is a literal, or inside of one.
- A header is read off plain first lines when no later line can be a second one. Any other document is read exactly.
- Depth is bounded by counting, before libyaml sees anything: a column opens two collections at most (a map, and a list
  in the same column), and so does a bracket (a list, and a pair in it).
"""

import re
from collections.abc import Callable, Iterator, Sequence

from krm_function.libyaml import CParser, YAMLError
from krm_function.yamltext.chunk import Chunk
from krm_function.yamltext.errors import Limits

_BREAKS = ("\r", "\x85", "\u2028", "\u2029", "\ufeff", "\n%", "\n...")  # line ends of libyaml's own, directives, ends
_NO_DOCUMENT = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]*(?:#[^\n]*)?")
_HEADER = re.compile(
    r"(?:(?:#[^\n]*)?\n)*(?:---[ ]*\n)?(?:(?:#[^\n]*)?\n)*"
    r"apiVersion: ([A-Za-z][A-Za-z0-9./-]*)\nkind: ([A-Za-z]+)\nmetadata:\n(?=( +))"
    r"(?:\3(?!name:)[A-Za-z]+:(?: [A-Za-z0-9][A-Za-z0-9./-]*)?\n(?:\3 +[^\n\"'\[{&*|>]*\n)*)*"  # what stands above
    r"\3name: ([A-Za-z0-9][A-Za-z0-9.-]*)\n"
    r"(?=\3[^ \n]|[^ \n]|\Z)"  # the name does not go on in the next line
    r"(?!(?:[ #][^\n]*\n|\n)*\3(?:name\b|[\"'?&!*]))"  # no second name
)
_AGAIN = re.compile(r"\n(?:[^ \nA-Za-z#]|(?:apiVersion|kind|metadata)\b)")
_LITERAL = re.compile(r"(?m)^( *)([A-Za-z0-9._/-]+): \|[+-]?\n(\1 +)(?=[^\s])[^\n]*\n(?:\3[^\n]*\n|\n)*")
_STAND_IN = (
    r"\1\2: |"
    "\n"
    r"""\3\\z' "
"""
)  # `\z` is an error inside of double quotes, text behind `'` inside of single ones, `|` inside of brackets
_ODD = bytes(set(range(32)) - {9, 10} | {127})  # characters that YAML does not allow
_COLUMNS, _BRACKETS = 24, 20
_DEEP = "\n" + " " * _COLUMNS
_NESTED = re.compile(r"\n *[-?][ \t]+[-?][ \t]")  # more than one collection begins in one line
_BATCH = 256 * 1024  # characters that libyaml reads at once


def cut(text: str, limits: Limits, exactly: Callable[[str], Sequence[Chunk]]) -> tuple[Chunk, ...] | None:
    """The documents of `text`, or None. exactly: the exact way, for one document."""
    if not 0 < len(text) <= limits.bytes or limits.depth < 2 * (_COLUMNS + 2 + _BRACKETS):
        return None
    if text[:1] == "%" or text[:3] == "..." or any(mark in text for mark in _BREAKS):
        return None
    try:
        return tuple(_documents(text, limits, exactly))
    except (ValueError, YAMLError):
        return None  # the exact way says what is wrong, and where


def _documents(text: str, limits: Limits, exactly: Callable[[str], Sequence[Chunk]]) -> Iterator[Chunk]:
    starts = list(_starts(text))
    if len(starts) > limits.documents:
        raise ValueError("too many documents")
    line, size = 1, 0
    batch: list[str] = []
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        piece = text[start:end]
        short = _shortened(piece)
        head = None if _deep(short) or short.count("*") > limits.aliases else _HEADER.match(piece)
        if head is None or _AGAIN.search(short, head.end(4)):
            (read,) = exactly(piece)
            yield read._replace(start=start, end=end, line=line)
        else:
            version, kind, _, name = head.groups()
            yield Chunk(start, end, line, version, kind, name, is_map=True)
            batch.append(short)
            size += len(short)
        if size > _BATCH:
            CParser("".join(batch)).raw_parse()
            batch, size = [], 0
        line += piece.count("\n")
    CParser("".join(batch)).raw_parse()


def _starts(text: str) -> Iterator[int]:
    """Where documents begin: at the first character, and at each `---` that follows the first document."""
    first = text.find("\n---")
    if text.startswith("---") or not _NO_DOCUMENT.fullmatch(text, 0, first + 1):
        at = first
    else:
        at = text.find("\n---", first + 1)  # comments above the first `---` belong to its document
    yield 0
    while at >= 0:
        if text[at + 4 : at + 5] in (" ", "\t", "\n", ""):
            yield at + 1
        at = text.find("\n---", at + 1)


def _shortened(piece: str) -> str:
    """The document with one line in place of each literal."""
    if ": |" not in piece or not piece.isascii():
        return piece
    odd = len(piece.encode().translate(None, _ODD)) < len(piece)
    return piece if odd else _LITERAL.sub(_STAND_IN, piece)


def _deep(piece: str) -> bool:
    """Whether a document may be nested deeper than is allowed."""
    return piece.count("[") + piece.count("{") > _BRACKETS or _DEEP in piece or bool(_NESTED.search(piece))
