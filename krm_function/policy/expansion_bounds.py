"""Bound what `$(NAME)` makes of the texts of a container, before any of it is built.

Rule of this file: a length is computed from the lengths of the parts. Variables that name each other twice double with
each line, so that 1 KB of them stands for gigabytes. Text without a reference is as long as the input and has no bound
here. A single string of a process may have 128 KiB on Linux (execve(2), MAX_ARG_STRLEN).
"""

import re
from collections.abc import Mapping

LONGEST_VALUE = 64 * 1024  # characters of one variable or argument, or of the pattern that stands for it
LONGEST_CONTAINER = 1024 * 1024  # characters of all that is expanded in one container
EXPANSION = r"\$(?:\$|\(([^)]*)\))"


class Room:
    """What one container may still expand to."""

    __slots__ = ("left", "refused")

    def __init__(self) -> None:
        """Start with the whole of it."""
        self.left = LONGEST_CONTAINER
        self.refused: set[str] = set()

    def refuses(self, size: int) -> tuple[str, int] | None:
        """Take `size` characters; if there is no room, nothing is taken: the variant of CC0604, and the limit."""
        if size > LONGEST_VALUE:
            return "CC0604.long-expansion", LONGEST_VALUE
        if size > self.left:
            return "CC0604.long-expansions", LONGEST_CONTAINER
        self.left -= size
        return None


def expanded_size(text: str, known: Mapping[str, str]) -> int:
    """Return how many characters `expand` makes of a text.

    >>> expanded_size("$(A)$(A) $$ $(B)", {"A": "12345"})
    17
    """
    size = len(text)
    for found in re.finditer(EXPANSION, text):
        name = found[1]
        if name is None:
            size -= 1
        elif name in known:
            size += len(known[name]) - len(name) - 3
    return size
