"""Read a header block of a tar archive, and the records of an extended header.

Rule of this file: it reads what Go's archive/tar reads, with which container runtimes unpack, and refuses the rest.
Where other tools see something else in the same bytes (a prefix that only some formats have, blanks in a number, a name
with NUL), it refuses, too. Formats: POSIX.1-2017 pax, "Extended Description"; https://www.gnu.org/software/tar/manual,
"Tar Internals".

    magic and version       format        the path is
    "ustar" NUL             POSIX, star   prefix / name
    "ustar  " NUL           GNU           name
    anything else           version 7     name
"""

from krm_function.lock.lock_problem import LockProblem, malformed
from krm_function.lock.tar_stream import LAYER
from krm_function.record import NamedTuple

NAME, SIZE, SUM, KIND, LINK = slice(0, 100), slice(124, 136), slice(148, 156), slice(156, 157), slice(157, 257)
MAGIC, PREFIX, TRAILER = slice(257, 265), slice(345, 500), slice(508, 512)
STAR_PREFIX = slice(345, 476)  # star keeps two times behind it
GNU_TIMES = (slice(345, 357), slice(357, 369))  # of access and change, where POSIX has the prefix
LARGEST = 1 << 63
TEXTS = frozenset({b"path", b"linkpath", b"uname", b"gname"})


class TarHeader(NamedTuple):
    """What a block says. kind: the type flag; size in bytes."""

    kind: bytes
    name: bytes
    link: bytes
    size: int


def read_header(block: bytes) -> TarHeader:
    """Read a block of 512 bytes that is not all zeros. Raises LockProblem."""
    total = sum(block) - sum(block[SUM]) + 8 * ord(" ")
    stated = tar_number(block[SUM])
    if stated != total:
        negative = sum(byte > 127 for byte in block[:148] + block[156:])
        if stated != total - 256 * negative:  # of signed bytes, as it was counted of old
            raise damaged()
    name = text(block[NAME])
    if block[345]:
        name = _prefixed(block, name)
    return TarHeader(block[KIND], name, text(block[LINK]), tar_number(block[SIZE]))


def text(field: bytes) -> bytes:
    """Return a name: up to the first NUL."""
    return field.partition(b"\0")[0]


def tar_number(field: bytes) -> int:
    """Read an octal number, or one of 63 bits in base 256, between blanks and NULs; none is 0. Raises LockProblem."""
    if field[0] & 0x80:
        value = int.from_bytes(field, "big") - (1 << 8 * len(field) - 1)
        if field[0] & 0x40:
            raise malformed("CC1204.negative", LAYER)
        if value >= LARGEST:
            raise damaged()
        return value
    digits = field.strip(b" \0")
    if not digits:
        return 0
    if not digits.isdigit() or max(digits) > ord("7"):
        raise damaged()
    return int(digits, 8)


def read_records(data: bytes) -> dict[bytes, bytes]:
    """Read the records of an extended header, the last of each name. Raises LockProblem."""
    records: dict[bytes, bytes] = {}
    start = 0
    while start < len(data):
        space = data.find(b" ", start, start + 20)
        digits = data[start:space]
        end = start + int(digits) if space > 0 and digits.isdigit() else -1
        if not space + 1 < end <= len(data) or data[end - 1] != ord("\n"):
            raise damaged("CC1204.extended")
        key, equals, value = data[space + 1 : end - 1].partition(b"=")
        if not key or not equals:
            raise damaged("CC1204.extended")
        if b"\0" in (value if key in TEXTS else key):
            raise malformed("CC1204.nul", LAYER)
        records[key] = value
        start = end
    return records


def damaged(code: str = "CC1204.header") -> LockProblem:
    """Return the problem of a damaged header. code: CC1204 with a variant."""
    return malformed(code, LAYER)


def _prefixed(block: bytes, name: bytes) -> bytes:
    """Return the name of a header that has something where POSIX has the prefix."""
    magic = block[MAGIC]
    if magic[:6] == b"ustar\0":
        star = block[TRAILER] == b"tar\0"
        if star and b"\0" not in block[STAR_PREFIX]:
            raise damaged()
        return text(block[PREFIX]) + b"/" + name
    if magic != b"ustar  \0":
        raise damaged()
    for times in GNU_TIMES:
        if not block[times][0] & 0x80:
            tar_number(block[times])
    return name
