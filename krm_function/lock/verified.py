"""Verify bytes against a digest.

Rule of this file: a digest is known after the last byte, so a reader of `chunks` must read to the end before it uses
anything; `whole` does that for parts that fit into memory.
"""

import hashlib
from collections.abc import Iterable, Iterator

from krm_function.lock.lock_problem import LockProblem
from krm_function.lock.media import Descriptor


def chunks(data: Iterable[bytes], part: Descriptor, what: str, limit: int) -> Iterator[bytes]:
    """Yield the chunks unchanged. Raises LockProblem at the first byte too many, and at the end for other bytes.

    limit: bytes that are read of a part whose size is not known.
    """
    refuse_too_large(part, what, limit)
    most = limit if part.size < 0 else part.size
    seen, count = hashlib.sha256(), 0
    for chunk in data:
        count += len(chunk)
        if count > most:
            if part.size < 0:
                raise too_large(what, limit)
            raise LockProblem("CC1203.longer", what=what, size=part.size, digest=part.digest)
        seen.update(chunk)
        yield chunk
    if 0 <= part.size != count:
        raise LockProblem("CC1203.shorter", what=what, count=count, size=part.size, digest=part.digest)
    if f"sha256:{seen.hexdigest()}" != part.digest:
        raise LockProblem("CC1203.other", what=what, digest=part.digest)


def whole(data: Iterable[bytes], part: Descriptor, what: str, limit: int) -> bytes:
    """Return all bytes of a small part, verified."""
    return b"".join(chunks(data, part, what, limit))


def refuse_too_large(part: Descriptor, what: str, limit: int) -> None:
    """Refuse a part whose declared size is too large, before it is fetched."""
    if part.size > limit:
        raise too_large(what, limit)


def too_large(what: str, limit: int) -> LockProblem:
    """Return the problem of too many bytes."""
    return LockProblem("CC1206", what=what, limit=amount(limit))


def amount(size: int) -> str:
    """Write a number of bytes as text: `8 GiB`, `1.5 MiB`, `312 bytes`."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size} bytes"
