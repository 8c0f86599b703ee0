"""An image that a deployment's own file is to pin, and the file with its pins.

Rule of this file: records only.
"""

from krm_function.findings import Cause
from krm_function.model.image import Image
from krm_function.record import NamedTuple


class Pin(NamedTuple):
    """An image with a tag, as rendered pods name it, and the digest that the tag has now.

    image: without a digest, or with the one that is to be replaced.
    """

    image: Image
    digest: str

    @property
    def name(self) -> str:
        """The reference without its tag and digest, as it was written."""
        return str(self.image._replace(tag="", digest=""))

    @property
    def pinned(self) -> str:
        """The reference with the digest that it has now."""
        return str(self.image._replace(digest=self.digest))


class Pinned(NamedTuple):
    """A file with pins. made: those that it holds now; left: those that it cannot hold, each with the reason."""

    text: str
    made: tuple[Pin, ...] = ()
    left: tuple[tuple[Pin, Cause], ...] = ()
