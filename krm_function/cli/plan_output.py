"""What `plan --output` may be: a format, or a file whose suffix gives the format.

Rule of this file: the argument parser reads it, so that an unknown format is refused as any mistyped argument.
"""

from collections.abc import Iterator, Sequence

FORMATS = ("text", "json", "mermaid", "html")
SUFFIXES = {".txt": "text", ".json": "json", ".mmd": "mermaid", ".html": "html"}


class OutputChoices:
    """The choices of --output for argparse, which iterates over them for messages and tests a value with `in`."""

    def __iter__(self) -> Iterator[str]:
        """Yield the formats, and an example of a file, for messages."""
        return iter((*FORMATS, "FILE.html"))

    def __contains__(self, value: object) -> bool:
        """Tell whether it is a format, or a file with a known suffix."""
        return value in FORMATS or (isinstance(value, str) and value.endswith(tuple(SUFFIXES)))


def format_and_file(given: Sequence[str]) -> tuple[str, str]:
    """Return the format and the file ("" for standard output) that the values name; of each the last one counts."""
    chosen, file = "", ""
    for value in given:
        if value in FORMATS:
            chosen = value
        else:
            file = value
    by_suffix = next((known for suffix, known in SUFFIXES.items() if file.endswith(suffix)), "text")
    return chosen or by_suffix, file
