"""Proofs that a piece of text is what it seems, without pulling its events: in a tenth of their time, or not at all.

Rule of this file: what libyaml has not shown is not assumed; where it cannot be shown quickly the exact way decides.

- libyaml takes a piece only if no quote or bracket is open at its end. So the next piece begins where it seems to.
- The lines of a literal (`key: |`) mean nothing as long as they are indented like the first. libyaml is given one line
  in their place, which it refuses inside of quotes and brackets: so what it takes there is a literal, or inside of one.
- A header is read off plain first lines when no later line can be a second one.
- Patterns are possessive throughout: a text takes a time in proportion to its length, whatever stands in it.
- Depth is bounded by counting, before libyaml sees anything: a column opens two collections at most (a map, and a list
  in the same column), and so does a bracket (a list, and a pair in it).
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
_NESTED = re.compile(r"\n *+[-?][ \t]++[-?][ \t]")  # more than one collection begins in one line
_BATCH = 256 * 1024  # characters that libyaml reads at once


class Header:
    """How the first lines of a piece say what it is: at `margin`, behind `opening` (a pattern)."""

    def __init__(self, opening: str, margin: str) -> None:
        """Make the two patterns."""
        second = r"\3(?:name\b|[\"'?&!*])"
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
        """The apiVersion, the kind and the name; None where they are not plain to see."""
        found = self.first.match(piece)
        if found is None or self.again.search(short, found.end(4)):
            return None
        return intern(found[1]), intern(found[2]), found[4]


def header_of_item(column: int) -> Header:
    """The header of a list item whose dash is in a column."""
    margin = " " * (column + 2)
    return Header(rf"{' ' * column}- (?:#[^\n]*\n{margin})*", margin)


def eligible(text: str, limits: Limits) -> bool:
    """Whether a text may be read quickly at all: what `deep` lets pass is within its limit, lines end in line feeds."""
    fits = len(text) <= limits.bytes and limits.depth >= 2 * (_COLUMNS + 2 + _BRACKETS)
    return fits and not any(mark in text for mark in _BREAKS)


def proved(
    text: str,
    edges: Iterable[tuple[int, int]],
    line: int,
    header: Header,
    exactly: Callable[[str], Chunk],
    aliases: int,
) -> Iterator[Chunk]:
    """The chunks between edges that follow each other, each shown to be one piece. Raises YAMLError and ValueError.

    line: of the first edge. exactly: the exact way, for one piece. aliases: how many a piece may have.
    """
    proof = Proof()
    for start, end in edges:
        piece = text[start:end]
        short = shortened(piece)
        plain = not deep(short) and short.count("*") <= aliases
        head = header.read(piece, short) if plain else None
        if head is None:
            yield exactly(piece)._replace(start=start, end=end, line=line)
        else:
            proof.take(short)
            yield Chunk(start, end, line, *head, is_map=True)
        line += piece.count("\n")
    proof.finish()


def shortened(piece: str) -> str:
    """The text with one line in place of each literal."""
    if ": |" not in piece or not piece.isascii():
        return piece
    odd = len(piece.encode().translate(None, _ODD)) < len(piece)
    return piece if odd else _LITERAL.sub(_STAND_IN, piece)


def deep(short: str) -> bool:
    """Whether a shortened text may be nested deeper than is allowed."""
    return short.count("[") + short.count("{") > _BRACKETS or _DEEP in short or bool(_NESTED.search(short))


class Proof:
    """Shows pieces to libyaml, many at once. Each must be able to follow the one before it."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._pieces: list[str] = []
        self._size = 0

    def take(self, short: str) -> None:
        """One more shortened piece, which is not deep. Raises YAMLError for it or an earlier one."""
        self._pieces.append(short)
        self._size += len(short)
        if self._size > _BATCH:
            self.finish()

    def finish(self) -> None:
        """Show what is left. Raises YAMLError."""
        CParser("".join(self._pieces)).raw_parse()
        self._pieces, self._size = [], 0
