"""How findings are printed on standard error: the word that --format takes, and what --color, -v and -q add to it.

    shown      option    prints
    error      -q        errors
    warning              errors, warnings, and the closing lines of the command
    info       -v        those, and infos: what was done

Rule of this file: only the text format has colours and shows more or less; the formats for machines, the file of
--report and the exit code do not depend on it.
"""

from typing import Literal

from krm_function.record import NamedTuple

Shown = Literal["error", "warning", "info"]


class Form(NamedTuple):
    """One of options.FORMATS; colour, shown: of the text format."""

    name: str = "text"
    colour: bool = False
    shown: Shown = "warning"
