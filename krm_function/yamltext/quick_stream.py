"""Cut a stream without pulling every event: the chunks of the exact way, or None (see `quick`).

Rule of this file: libyaml refuses a `---` at the start of a line inside of quotes and brackets. In a stream that it
takes, every such line begins a document, and without `...` and directives nothing else does.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from krm_function.libyaml import YAMLError
from krm_function.yamltext.chunk import Chunk
from krm_function.yamltext.errors import Limits
from krm_function.yamltext.quick import BREAKS, Header, Proof, deep, fits, shortened

_NO_DOCUMENT = re.compile(r"(?:[ \t]*+(?:#[^\n]*+)?\n)*+[ \t]*+(?:#[^\n]*+)?")
_HEADER = Header(r"(?:(?:#[^\n]*+)?\n)*+(?:---[ ]*+\n)?(?:(?:#[^\n]*+)?\n)*+", "")


def cut(text: str, limits: Limits, exactly: Callable[[str], Sequence[Chunk]]) -> tuple[Chunk, ...] | None:
    """The documents of `text`, or None. exactly: the exact way, for one document."""
    if not 0 < len(text) <= limits.bytes or not fits(limits):
        return None
    if text[:1] == "%" or text[:3] == "..." or any(mark in text for mark in BREAKS):
        return None
    try:
        return tuple(_documents(text, limits, exactly))
    except (ValueError, YAMLError):
        return None  # the exact way says what is wrong, and where


def _documents(text: str, limits: Limits, exactly: Callable[[str], Sequence[Chunk]]) -> Iterator[Chunk]:
    starts = list(_starts(text))
    if len(starts) > limits.documents:
        raise ValueError("too many documents")
    line, proof = 1, Proof()
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        piece = text[start:end]
        short = shortened(piece)
        plain = not deep(short) and short.count("*") <= limits.aliases
        head = _HEADER.read(piece, short) if plain else None
        if head is None:
            (read,) = exactly(piece)
            yield read._replace(start=start, end=end, line=line)
        else:
            proof.take(short)
            yield Chunk(start, end, line, *head, is_map=True)
        line += piece.count("\n")
    proof.finish()


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
