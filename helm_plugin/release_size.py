"""Estimate how large the Secret becomes in which Helm stores a release.

Rule of this file: it is what the rendered text alone takes, so never more than what Helm stores, which adds the chart
and its values. Source: docs/facts/helm.md#releases.
"""

import zlib
from collections.abc import Iterable

LIMIT = 1 << 20  # bytes that the API server accepts in a Secret
NEARLY = LIMIT * 4 // 5  # from here on it is worth a warning: the chart itself is in there as well
ENOUGH = LIMIT  # packed bytes, a third over the limit in base64, from which on nobody needs the exact number


def release_size(pieces: Iterable[bytes], level: int = 9) -> int:
    """Count the bytes of the rendered text as Helm stores it: gzip at its highest level, then base64.

    Stops far beyond the limit. level: 1 for a quick answer that is not smaller in practice.
    """
    packer = zlib.compressobj(level, wbits=31)
    packed = 0
    for piece in pieces:
        packed += len(packer.compress(piece))
        if packed > ENOUGH:
            break
    return -(-(packed + len(packer.flush())) // 3) * 4


def may_be_large(characters: int) -> bool:
    """Tell whether a text of so many characters can come near the limit; packed text is at most a third longer."""
    return characters * 4 // 3 >= NEARLY
