"""The file that Python's tarfile sees: a stream that is bounded, hashed, and only ever read forwards.

Rule of this file: it makes up for what tarfile forgives. tarfile reads extended headers of any size into memory, and
takes a damaged header for the end of the archive, so that everything behind it would be hidden.
"""

import hashlib
import tarfile
from collections.abc import Iterable

from krm_function.lock.budget import Budget
from krm_function.lock.problem import malformed
from krm_function.lock.verified import too_large

LAYER = "a layer"
LARGEST_READ = 1 << 20  # bytes: of the extended headers of one member, and of a file that is kept


class TarStream:
    """An uncompressed archive as it arrives. limit: of its size in bytes. All methods raise Problem."""

    def __init__(self, data: Iterable[bytes], limit: int, budget: Budget) -> None:
        """Begin before the first byte."""
        self._data = iter(data)
        self._piece = b""
        self._used = 0  # bytes of the piece
        self._fetched = 0
        self._limit = limit
        self._budget = budget
        self._seen = hashlib.sha256()
        self._last = b""
        self._granted = 0
        self.grant()

    @property
    def digest(self) -> str:
        """Digest of what was fetched: after `drain`, the diffID."""
        return f"sha256:{self._seen.hexdigest()}"

    def tell(self) -> int:
        """Position in the archive."""
        return self._fetched - len(self._piece) + self._used

    def is_empty(self) -> bool:
        """Whether there is nothing at all."""
        return not self._more()

    def grant(self) -> None:
        """Allow the reads of one member, whose extended headers and sparse maps may claim to go on for ever."""
        self._granted = LARGEST_READ + 64 * tarfile.BLOCKSIZE

    def read(self, size: int) -> bytes:
        """So many bytes, fewer only at the end."""
        self._granted -= size
        if size < 0 or self._granted < 0:
            raise malformed(LAYER, "has an extended header of absurd size")
        parts, missing = [], size
        while missing and self._more():
            part = self._piece[self._used : self._used + missing]
            parts.append(part)
            self._used += len(part)
            missing -= len(part)
        self._last = b"".join(parts)
        return self._last

    def seek(self, position: int) -> None:
        """Go forward."""
        missing = position - self.tell()
        if missing < 0:
            raise malformed(LAYER, "has a file of negative size")
        while missing and self._more():
            step = min(missing, len(self._piece) - self._used)
            self._used += step
            missing -= step

    def check_end(self) -> None:
        """Refuse an archive whose last header was no end of one: nothing, or blocks of zeros."""
        if self._last.strip(b"\0") or 0 < len(self._last) < tarfile.BLOCKSIZE:
            raise malformed(LAYER, "has a damaged header")

    def drain(self) -> None:
        """Read the rest, which must be zeros: one tool would see files there, another would not."""
        clean = True
        while self._more():
            clean = clean and not self._piece[self._used :].strip(b"\0")
            self._used = len(self._piece)
        if not clean:
            raise malformed(LAYER, "has something behind the end of its tar archive")

    def _more(self) -> bool:
        """Whether there is a byte to read, fetched if need be."""
        if self._used < len(self._piece):
            return True
        self._budget.check()
        self._piece, self._used = next(self._data, b""), 0
        self._fetched += len(self._piece)
        if self._fetched > self._limit:
            raise too_large("an uncompressed layer", self._limit)
        self._seen.update(self._piece)
        return bool(self._piece)
