"""An image that a host's file is to pin, and the file with its pins.

Rule of this file: records only.
"""

from krm_function.findings import Cause
from krm_function.model.image import Image
from krm_function.record import NamedTuple


class Pin(NamedTuple):
    """An image without a digest, as rendered pods name it, and the digest that it has now."""

    image: Image
    digest: str

    @property
    def name(self) -> str:
        """The reference without its tag, as it was written."""
        return str(self.image._replace(tag=""))

    @property
    def pinned(self) -> str:
        """The reference with its digest."""
        return str(self.image._replace(digest=self.digest))


class Pinned(NamedTuple):
    """A file with pins. made: those that it holds now; left: those that it cannot hold, each with the reason."""

    text: str
    made: tuple[Pin, ...] = ()
    left: tuple[tuple[Pin, Cause], ...] = ()
