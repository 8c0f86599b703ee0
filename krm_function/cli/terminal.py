"""What a stream can show: colours, and how many columns.

Rule of this file: only a terminal gets colours, unless --color asks for them.

    --color   NO_COLOR     TERM    the stream is a terminal    colours
    always    any          any     any                         yes
    never     any          any     any                         no
    auto      not empty    any     any                         no      (https://no-color.org)
    auto      otherwise    dumb    any                         no
    auto      otherwise    other   yes                         yes
    auto      otherwise    other   no                          no
"""

import os
from typing import Literal, TextIO

Choice = Literal["auto", "always", "never"]


def coloured(choice: Choice, stream: TextIO | None) -> bool:
    """Tell whether to use colours on a stream. stream: None if the caller has closed it."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream is not None and stream.isatty()


def columns(default: int, *, file: bool = False) -> int:
    """Return how wide standard output is: COLUMNS, else the terminal's own width, else the default.

    file: the text goes into a file, which is the same whatever terminal is there.
    """
    if file:
        width = os.environ.get("COLUMNS", "")
        return int(width) if width.isascii() and width.isdecimal() and len(width) < 7 and int(width) else default
    from shutil import get_terminal_size

    return get_terminal_size((default, 0)).columns
