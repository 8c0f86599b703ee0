"""How findings are printed on standard error: the word that --format takes, and what --color, -v and -q add to it.

    shown      option    prints
    error      -q        errors
    warning              errors, warnings, and the closing lines of the command
    info       -v        those, and infos: what was done

Rule of this file: only the text format has colours and shows more or less; the formats for machines, the file of
--report and the exit code do not depend on it.
"""

from typing import Literal, Self

Shown = Literal["error", "warning", "info"]


class Form(str):
    """One of options.FORMATS; as a str, so that a plain word is a form as well."""

    __slots__ = ("colour", "shown")
    colour: bool
    shown: Shown

    def __new__(cls, name: str, *, colour: bool = False, shown: Shown = "warning") -> Self:
        """The format `name`. colour, shown: of the text format."""
        made = super().__new__(cls, name)
        made.colour, made.shown = colour, shown
        return made
