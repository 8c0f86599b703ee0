"""Read an uncompressed archive as it arrives: bounded, hashed, and only forwards.

Rule of this file: every byte counts for the size and for the digest, and each piece counts for the budget.
"""

import hashlib
from collections.abc import Iterable

from krm_function.lock.budget import Budget
from krm_function.lock.lock_problem import malformed
from krm_function.lock.verified import too_large

LAYER = "a layer"
BLOCK = 512
LARGEST_READ = 1 << 20  # bytes: of one extended header, as in Go, and of a file that is kept


class TarStream:
    """An uncompressed archive. limit: of its size in bytes. All methods raise Problem."""

    def __init__(self, data: Iterable[bytes], limit: int, budget: Budget) -> None:
        """Begin before the first byte."""
        self._data = iter(data)
        self._piece = b""
        self._used = 0  # bytes of the piece
        self._fetched = 0
        self._limit = limit
        self._budget = budget
        self._seen = hashlib.sha256()

    @property
    def digest(self) -> str:
        """Digest of what was fetched: after `drain`, the diffID."""
        return f"sha256:{self._seen.hexdigest()}"

    @property
    def size(self) -> int:
        """Bytes that were fetched: after `drain`, the size of the layer."""
        return self._fetched

    def block(self) -> bytes:
        """Read the next block; shorter or empty only at the end."""
        end = self._used + BLOCK
        if end > len(self._piece):
            return self.take(BLOCK)
        block = self._piece[self._used : end]
        self._used = end
        return block

    def take(self, size: int) -> bytes:
        """Read so many bytes, fewer only at the end."""
        parts, missing = [], size
        while missing and self._more():
            part = self._piece[self._used : self._used + missing]
            parts.append(part)
            self._used += len(part)
            missing -= len(part)
        return b"".join(parts)

    def skip(self, size: int) -> bool:
        """Pass over so many bytes; whether there were as many."""
        missing = size
        while missing and self._more():
            step = min(missing, len(self._piece) - self._used)
            self._used += step
            missing -= step
        return not missing

    def drain(self) -> None:
        """Read the rest, which must be zeros: one tool would see files there, another would not."""
        clean = True
        while self._more():
            clean = clean and not self._piece[self._used :].strip(b"\0")
            self._used = len(self._piece)
        if not clean:
            raise malformed("CC1204.archive-behind", LAYER)

    def _more(self) -> bool:
        """Tell whether there is a byte to read, fetched if need be."""
        while self._used >= len(self._piece):
            self._budget.check()
            piece = next(self._data, None)
            if piece is None:
                return False
            self._piece, self._used = piece, 0
            self._fetched += len(piece)
            if self._fetched > self._limit:
                raise too_large("an uncompressed layer", self._limit)
            self._seen.update(piece)
        return True
