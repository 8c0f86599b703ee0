"""Fast path: split a stream without materialising every event; None where only the events can tell.

Rule of this file: libyaml refuses a `---` at the start of a line inside of quotes and brackets. In a stream that it
accepts, every such line begins a document, and without `...` and directives nothing else does.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from krm_function.libyaml import YAMLError
from krm_function.yamltext.errors import Limits
from krm_function.yamltext.fast.validate import Header, eligible, validated
from krm_function.yamltext.split.chunk import Chunk

_NO_DOCUMENT = re.compile(r"(?:[ \t]*+(?:#[^\n]*+)?\n)*+[ \t]*+(?:#[^\n]*+)?")
_HEADER = Header(r"(?:(?:#[^\n]*+)?\n)*+(?:---[ ]*+\n)?(?:(?:#[^\n]*+)?\n)*+", "")


def cut(text: str, limits: Limits, by_events: Callable[[str], Sequence[Chunk]]) -> tuple[Chunk, ...] | None:
    """Return what `by_events` returns for `text`, or None. by_events: split_stream by one pass over all events."""
    if "\r" in text:
        return _cut_returns(text, limits, by_events)
    if not text or text[:1] == "%" or text[:3] == "..." or not eligible(text, limits):
        return None

    def document(piece: str) -> Chunk:
        (read,) = by_events(piece)
        return read

    starts = list(_starts(text))
    if len(starts) > limits.documents:
        return None
    try:
        return tuple(validated(text, pairwise([*starts, len(text)]), 1, _HEADER, document, limits.aliases))
    except (ValueError, YAMLError):
        return None  # the parser finds what is wrong, and where


def _cut_returns(text: str, limits: Limits, by_events: Callable[[str], Sequence[Chunk]]) -> tuple[Chunk, ...] | None:
    """Do as `cut` if each line ends in CR LF: as the same text with LF, and a character more for each line before."""
    plain = text.replace("\r\n", "\n")
    if "\r" in plain or len(text) - len(plain) != plain.count("\n"):
        return None
    chunks = cut(plain, limits, by_events)
    if chunks is None or len(text) > limits.bytes:
        return None
    starts = [*(chunk.start + chunk.line - 1 for chunk in chunks), len(text)]
    return tuple(
        chunk._replace(start=start, end=end) for chunk, (start, end) in zip(chunks, pairwise(starts), strict=True)
    )


def _starts(text: str) -> Iterator[int]:
    """Yield where documents begin: at the first character, and at each `---` that follows the first document."""
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
