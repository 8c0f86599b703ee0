"""Fast path: validate a slice with libyaml without materialising events; anything unclear is left to the event parser.

Rule of this file: nothing about a slice is assumed that libyaml has not confirmed.

- libyaml accepts a piece only if no quote or bracket is open at its end. So the next piece begins where it seems to.
- The lines of a literal (`key: |`) mean nothing as long as they are indented like the first. libyaml is given one line
  in their place. Inside of quotes and brackets it would refuse that line; so where it accepts it, the lines are a
  literal or a part of a larger one.
- A header is read off plain first lines when no later line can be a second one.
- Patterns are possessive throughout: a text takes a time in proportion to its length, whatever stands in it.
- Depth is bounded by counting, before libyaml sees anything: a column opens two collections at most (a map, and a list
  in the same column), and so does a bracket (a list, and a pair in it). Columns are those that some line begins in, or
  goes on in behind a dash.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from sys import intern

from krm_function.libyaml import CParser
from krm_function.yamltext.errors import Limits
from krm_function.yamltext.split.chunk import Chunk

_BREAKS = ("\r", "\x85", "\u2028", "\u2029", "\ufeff", "\n%", "\n...")  # line ends of libyaml's own, directives, ends
_LITERAL = re.compile(r"(?m)^( *+)([A-Za-z0-9._/-]++): \|[+-]?\n(\1 ++)(?=[^\s])[^\n]*+\n(?:\3[^\n]*+\n|\n)*+")
# `\z` is an error inside of double quotes, text behind `'` inside of single ones, `|` inside of brackets
_STAND_IN = r"\1\2: |" + "\n" + r"\3\\z' " + '"\n'
_ODD = bytes(set(range(32)) - {9, 10} | {127})  # characters that YAML does not allow
_COLUMNS, _BRACKETS = 24, 20
_DEEP = "\n" + " " * _COLUMNS
_BEGIN = re.compile(r"(?:\A|\n)( *+)([-?][ \t]++)?")
_NESTED = re.compile(r"\n *+[-?][ \t]++[-?][ \t]")  # more than one collection begins in one line
_BATCH = 256 * 1024  # characters that libyaml reads at once


class Header:
    """Reads apiVersion, kind and name off the first lines of a piece: at `margin`, behind `opening` (a pattern)."""

    def __init__(self, opening: str, margin: str) -> None:
        """Compile the two patterns."""
        second = r"\3(?:name\b|[\"'?&!*<])"
        self.first = re.compile(
            opening + r"apiVersion: ([A-Za-z][A-Za-z0-9./-]*+)\n"
            rf"{margin}kind: ([A-Za-z]++)\n{margin}metadata:\n(?=({margin} ++))"
            # what stands above the name
            r"(?:\3(?!name:)[A-Za-z]++:(?: [A-Za-z0-9][A-Za-z0-9./-]*+)?\n(?:\3 ++[^\n\"'\[{&*|>]*+\n)*+)*+"
            r"\3name: ([A-Za-z0-9][A-Za-z0-9.-]*+)\n"
            rf"(?=\3[^ \n]|{margin}[^ \n]|\Z)"  # the name does not go on in the next line
            rf"(?:(?!{second})(?:{margin} [^\n]*+| *+(?:#[^\n]*+)?)\n)*+(?!{second})"  # no second name
        )
        self.again = re.compile(rf"\n{margin}(?:[^ \nA-Za-z#]|(?:apiVersion|kind|metadata|items)\b)")

    def read(self, piece: str, short: str) -> tuple[str, str, str] | None:
        """Return apiVersion, kind and name; None where the patterns cannot tell them."""
        found = self.first.match(piece)
        if found is None or self.again.search(short, found.end(4)):
            return None
        return intern(found[1]), intern(found[2]), found[4]


def header_of_item(column: int) -> Header:
    """Make the header of a list item whose dash is in a column."""
    margin = " " * (column + 2)
    return Header(rf"{' ' * column}- (?:#[^\n]*\n{margin})*", margin)


def eligible(text: str, limits: Limits) -> bool:
    """Tell whether the fast path fits a text: the limits allow `may_be_too_deep`, and lines end in line feeds."""
    fits = len(text) <= limits.bytes and limits.depth >= 2 * (_COLUMNS + 2 + _BRACKETS)
    return fits and not any(mark in text for mark in _BREAKS)


def validated(
    text: str,
    edges: Iterable[tuple[int, int]],
    line: int,
    header: Header,
    by_events: Callable[[str], Chunk],
    aliases: int,
) -> Iterator[Chunk]:
    """Yield the chunks between edges that follow each other, each confirmed as one. Raises YAMLError and ValueError.

    line: of the first edge. by_events: reads one piece with the event parser. aliases: how many a piece may have.
    """
    batch = Batch()
    for start, end in edges:
        piece = text[start:end]
        short = without_literals(piece)
        plain = not may_be_too_deep(short) and short.count("*") <= aliases
        head = header.read(piece, short) if plain else None
        if head is None:
            yield by_events(piece)._replace(start=start, end=end, line=line)
        else:
            batch.take(short)
            yield Chunk(start, end, line, *head, is_map=True)
        line += piece.count("\n")
    batch.finish()


def without_literals(piece: str) -> str:
    """Replace each literal of a text by one line."""
    if ": |" not in piece or not piece.isascii():
        return piece
    odd = len(piece.encode().translate(None, _ODD)) < len(piece)
    return piece if odd else _LITERAL.sub(_STAND_IN, piece)


def may_be_too_deep(short: str) -> bool:
    """Tell whether a text without literals may be nested deeper than is allowed."""
    if short.count("[") + short.count("{") > _BRACKETS or _NESTED.search(short):
        return True
    return _DEEP in short and len(_columns(short)) > _COLUMNS


def _columns(short: str) -> set[int]:
    """Return the columns in which a collection may begin."""
    begins = set(_BEGIN.findall(short))
    return {len(spaces) for spaces, _ in begins} | {len(spaces) + len(dash) for spaces, dash in begins}


class Batch:
    """Validates pieces with libyaml, many at once. Each must be able to follow the one before it."""

    def __init__(self) -> None:
        """Begin with no piece."""
        self._pieces: list[str] = []
        self._size = 0

    def take(self, short: str) -> None:
        """Add a piece without literals that is not too deep. Raises YAMLError for it or an earlier one."""
        self._pieces.append(short)
        self._size += len(short)
        if self._size > _BATCH:
            self.finish()

    def finish(self) -> None:
        """Validate the pieces that are left. Raises YAMLError."""
        CParser("".join(self._pieces)).raw_parse()
        self._pieces, self._size = [], 0
