"""Estimate how large the Secret becomes in which Helm stores a release.

Rule of this file: it is what the rendered text alone takes, so never more than what Helm stores, which adds the chart
and its values. Source: docs/facts/helm.md#releases.
"""

import zlib
from collections.abc import Iterable

LIMIT = 1 << 20  # bytes that the API server accepts in a Secret
NEARLY = LIMIT * 4 // 5  # from here on it is worth a warning: the chart itself is in there as well


def release_size(pieces: Iterable[bytes]) -> int:
    """Count the bytes of the rendered text as Helm stores it: gzip at its highest level, then base64."""
    packer = zlib.compressobj(9, wbits=31)
    packed = sum(len(packer.compress(piece)) for piece in pieces) + len(packer.flush())
    return -(-packed // 3) * 4


def may_be_large(characters: int) -> bool:
    """Tell whether a text of so many characters can come near the limit; packed text is at most a third longer."""
    return characters * 4 // 3 >= NEARLY
