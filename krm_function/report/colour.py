"""Colours of a terminal for words of this program.

Rule of this file: whether a stream shows colours is the caller's to decide (cli/terminal.py). The text that is painted
holds no control characters of the input (`order.on_one_line`).
"""

from collections.abc import Callable

# style -> parameters of "Select Graphic Rendition" (ECMA-48): of the sixteen colours that each user can choose
STYLES = {
    "error": "1;31",  # red
    "warning": "1;33",  # yellow
    "info": "1;34",  # blue
    "hint": "36",  # cyan
    "note": "33",
    "place": "1",
    "heading": "1",
}

Paint = Callable[[str, str], str]  # text, style -> text


def plain(text: str, style: str) -> str:  # noqa: ARG001 (a Paint)
    """Leave a text without colour."""
    return text


def ansi(text: str, style: str) -> str:
    """Put a text into the colour of a style."""
    return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if text else ""
