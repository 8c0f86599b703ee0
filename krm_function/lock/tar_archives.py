"""Read tar archives as they arrive: bounded, hashed, only forwards."""

import hashlib
from collections.abc import Iterable, Iterator

from krm_function.lock.media import Budget, LockProblem, malformed, too_large
from krm_function.record import NamedTuple

# --- Read an uncompressed archive as it arrives: bounded, hashed, and only forwards
#
# Rule: every byte counts for the size and for the digest, and each piece counts for the budget.


LAYER = "a layer"
BLOCK = 512
LARGEST_READ = 1 << 20  # bytes: of one extended header, as in Go, and of a file that is kept


class TarStream:
    """An uncompressed archive. limit: of its size in bytes. All methods raise Problem."""

    def __init__(self, data: Iterable[bytes], limit: int, budget: Budget) -> None:
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
        """Read `size` bytes, fewer only at the end."""
        parts, missing = [], size
        while missing and self._has_more():
            part = self._piece[self._used : self._used + missing]
            parts.append(part)
            self._used += len(part)
            missing -= len(part)
        return b"".join(parts)

    def skip(self, size: int) -> bool:
        """Pass over `size` bytes; return whether the archive has them."""
        missing = size
        while missing and self._has_more():
            step = min(missing, len(self._piece) - self._used)
            self._used += step
            missing -= step
        return not missing

    def drain(self) -> None:
        """Read the rest, which must be zeros, because tools differ on files there."""
        clean = True
        while self._has_more():
            clean = clean and not self._piece[self._used :].strip(b"\0")
            self._used = len(self._piece)
        if not clean:
            raise malformed("CC1204.archive-behind", LAYER)

    def _has_more(self) -> bool:
        """Tell whether there is a byte to read; fetch one if needed."""
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


# --- Read a header block of a tar archive, and the records of an extended header
#
# Rule: it reads what Go's archive/tar reads, with which container runtimes unpack, and refuses the rest.
# Where other tools see something else in the same bytes (a prefix that only some formats have, blanks in a number, a
# name with NUL), it refuses, too. Formats: POSIX.1-2017 pax, "Extended Description";
# https://www.gnu.org/software/tar/manual, "Tar Internals".
#
#     magic and version       format        the path is
#     "ustar" NUL             POSIX, star   prefix / name
#     "ustar  " NUL           GNU           name
#     anything else           version 7     name


NAME, SIZE, SUM, KIND, LINK = slice(0, 100), slice(124, 136), slice(148, 156), slice(156, 157), slice(157, 257)
MAGIC, PREFIX, TRAILER = slice(257, 265), slice(345, 500), slice(508, 512)
STAR_PREFIX = slice(345, 476)  # followed by two times of star
GNU_TIMES = (slice(345, 357), slice(357, 369))  # of access and change, where POSIX has the prefix
LARGEST = 1 << 63
TEXTS = frozenset({b"path", b"linkpath", b"uname", b"gname"})


class TarMember(NamedTuple):
    """One member, or its header. kind: the type flag; a member has `0` for every file. size: bytes after it.

    sparse_name: the name that a sparse file has for tools that know of sparse files; its content is never looked at.
    """

    kind: bytes
    name: bytes
    link: bytes = b""
    size: int = 0
    sparse_name: bytes = b""


def read_header(block: bytes) -> TarMember:
    """Read a block of 512 bytes that is not all zeros. Raises LockProblem."""
    total = sum(block) - sum(block[SUM]) + 8 * ord(" ")
    stated = tar_number(block[SUM])
    if stated != total:
        negative = sum(byte > 127 for byte in block[:148] + block[156:])
        if stated != total - 256 * negative:  # of signed bytes, the old way of counting
            raise damaged()
    name = text(block[NAME])
    if block[345]:
        name = _check_prefix(block, name)
    return TarMember(block[KIND], name, text(block[LINK]), tar_number(block[SIZE]))


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


def _check_prefix(block: bytes, name: bytes) -> bytes:
    """Return the name of a header whose prefix field is not empty."""
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


# --- Yields the members of a tar archive, with their extended headers applied
#
# Rule: as Go's archive/tar, which containerd uses: an archive may end without blocks of zeros and without
# the padding of its last file; a global header changes nothing. Extended headers that tools combine in different ways
# are refused, and so is every kind of member that containerd does not unpack.


ZEROS = bytes(BLOCK)
LOCAL, GLOBAL, LONG_NAME, LONG_LINK = b"x", b"g", b"L", b"K"
FILES = frozenset({b"0", b"\0"})
HEADER_ONLY = frozenset({b"1", b"2", b"3", b"4", b"5", b"6"})  # nothing follows, whatever their size
SPARSE = b"GNU.sparse."
SPARSE_NAME = b"GNU.sparse.name"
RENAMING = frozenset({b"path", b"linkpath", b"size", SPARSE_NAME})  # tools do not agree on these in a global header


def tar_members(file: TarStream, budget: Budget) -> Iterator[TarMember]:
    """Yield all members. The caller reads the bytes of one and its padding before it asks for the next."""
    extended: dict[bytes, bytes] = {}
    while block := file.block():
        if block == ZEROS:
            _expect_end(file)
            break
        if len(block) < BLOCK:
            raise damaged()
        budget.spend(1)
        header = read_header(block)
        kind = header.kind
        if kind in HEADER_ONLY or kind in FILES:
            yield _apply_extended(header, extended)
            extended = {}
        elif kind == GLOBAL:
            if not RENAMING.isdisjoint(_read_extended(file, header.size, budget)):
                raise malformed("CC1204.global", LAYER)
            if extended:
                raise damaged("CC1204.extended-twice")
            yield TarMember(GLOBAL, header.name)
        elif kind in (LOCAL, LONG_NAME, LONG_LINK):
            if kind in extended or (extended and LOCAL in (kind, *extended)):
                raise damaged("CC1204.extended-twice")
            if kind == LOCAL:
                extended = {LOCAL: b"", **_read_extended(file, header.size, budget)}
            else:
                extended[kind] = text(_read_content(file, header.size, budget))
        else:
            raise malformed("CC1204.kind", LAYER)
    if extended:
        raise damaged("CC1204.extended-last")


def _apply_extended(header: TarMember, extended: dict[bytes, bytes]) -> TarMember:
    """Apply extended headers; an empty record keeps the header's value."""
    kind, name, link, size, _ = header
    sparse_name = b""
    if extended:
        name = extended.get(b"path") or extended.get(LONG_NAME) or name
        link = extended.get(b"linkpath") or extended.get(LONG_LINK) or link
        if stated := extended.get(b"size"):
            if not stated.isdigit() or len(stated) > 18:
                raise malformed("CC1204.size", LAYER)
            size = int(stated)
        if any(key.startswith(SPARSE) for key in extended):
            if kind not in FILES:
                raise damaged("CC1204.extended-twice")
            sparse_name = extended.get(SPARSE_NAME) or name
    if kind == b"\0":  # version 7 knew a directory by the slash at its end
        kind = b"5" if name.endswith(b"/") else b"0"
    return TarMember(kind, name, link, size if kind == b"0" else 0, sparse_name)


def _read_extended(file: TarStream, size: int, budget: Budget) -> dict[bytes, bytes]:
    data = _read_content(file, size, budget)
    budget.spend(data.count(b"\n"))
    return read_records(data)


def _read_content(file: TarStream, size: int, budget: Budget) -> bytes:
    """Read the content of an extended header."""
    if size > LARGEST_READ:
        raise malformed("CC1204.extended-size", LAYER)
    budget.spend(size >> 8)  # long names cost as much as many short ones
    data = file.take(size)
    if len(data) < size:
        raise damaged("CC1204.extended-end")
    file.skip(-size % BLOCK)
    return data


def _expect_end(file: TarStream) -> None:
    """Expect another block of zeros after the first, or nothing."""
    block = file.block()
    if block not in (b"", ZEROS):
        raise damaged()
