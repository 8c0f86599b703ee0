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
import sys
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

    file: the text goes into a file, which is the same whatever terminal is there. As `shutil.get_terminal_size`, which
    every call would pay for, since argparse asks for the width, with the decompressors that `shutil` loads.
    """
    said = os.environ.get("COLUMNS", "")
    if said.isascii() and said.isdecimal() and len(said) < 7 and int(said):
        return int(said)
    if file or sys.__stdout__ is None:
        return default
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or default
    except (OSError, ValueError):  # no terminal; closed, or without a descriptor
        return default
