"""The file that an object of a stream comes from, as its annotations or comments say, and how a position is written.

Rule of this file: an origin is a claim of the input's author. It is printed, and never opened or compared.
"""

from krm_function.record import NamedTuple


class Origin(NamedTuple):
    """A claimed file. path: relative, with slashes. position: of the document in the file, from 0; None: not known."""

    path: str
    position: int | None = None

    def __str__(self) -> str:
        """Write `shop/web.yaml`, or `shop/web.yaml, document 3` for any document but the first."""
        return f"{self.path}, document {self.position + 1}" if self.position else self.path

    @property
    def inside(self) -> bool:
        """Whether the path stays below the directory that it is relative to, so that other programs may resolve it."""
        return ".." not in self.path.split("/")


def position_text(file: str, line: int = 0, column: int = 0, origin: Origin | None = None) -> str:
    """Write `file:line:column` as far as known, `<stdin>:line:column` for a stream; "" if nothing is known.

    With an origin: `shop/web.yaml (<stdin>:12:3)`, since line and column count in the stream.
    """
    if not file and not line:
        return str(origin) if origin else ""
    numbers = [str(number) for number in (line, column) if number]
    place = ":".join((file or "<stdin>", *numbers))
    return f"{origin} ({place})" if origin else place
