"""What `plan --output` may be: a form, or a file whose suffix says the form.

Rule of this file: it is read by the argument parser, so that a form that is none is refused as any mistake of typing.
"""

from collections.abc import Iterator, Sequence

FORMS = ("text", "json", "mermaid", "html")
SUFFIXES = {".txt": "text", ".json": "json", ".mmd": "mermaid", ".html": "html"}


class Outputs:
    """The choices of --output, in the manner of argparse: they can be told, and any value be asked for."""

    def __iter__(self) -> Iterator[str]:
        """For people: the forms, and what a file looks like."""
        return iter((*FORMS, "FILE.html"))

    def __contains__(self, value: object) -> bool:
        """Whether it is a form, or a file with a suffix that is known."""
        return value in FORMS or (isinstance(value, str) and value.endswith(tuple(SUFFIXES)))


def form_and_file(given: Sequence[str]) -> tuple[str, str]:
    """Form and file ("" for standard output) that the values ask for; of each kind the last one counts."""
    form, file = "", ""
    for value in given:
        if value in FORMS:
            form = value
        else:
            file = value
    by_suffix = next((known for suffix, known in SUFFIXES.items() if file.endswith(suffix)), "text")
    return form or by_suffix, file
