"""Yields the members of a tar archive, with their extended headers applied.

Rule of this file: as Go's archive/tar, which containerd uses: an archive may end without blocks of zeros and
without the padding of its last file; a global header changes nothing. Extended headers that tools combine in different
ways are refused, and so is every kind of member that containerd does not unpack.
"""

from collections.abc import Iterator

from krm_function.lock.budget import Budget
from krm_function.lock.lock_problem import malformed
from krm_function.lock.tar_header import TarHeader, damaged, read_header, read_records, text
from krm_function.lock.tar_stream import BLOCK, LARGEST_READ, LAYER, TarStream
from krm_function.record import NamedTuple

ZEROS = bytes(BLOCK)
LOCAL, GLOBAL, LONG_NAME, LONG_LINK = b"x", b"g", b"L", b"K"
FILES = frozenset({b"0", b"\0"})
HEADER_ONLY = frozenset({b"1", b"2", b"3", b"4", b"5", b"6"})  # whatever size they say, nothing follows
SPARSE = b"GNU.sparse."
SPARSE_NAME = b"GNU.sparse.name"
RENAMING = frozenset({b"path", b"linkpath", b"size", SPARSE_NAME})  # tools do not agree on these in a global header


class TarMember(NamedTuple):
    """One member. kind: its type flag, `0` for every file; size: bytes that follow it.

    other: the name that a sparse file has for tools that know of sparse files; its content is never looked at.
    """

    kind: bytes
    name: bytes
    link: bytes = b""
    size: int = 0
    other: bytes = b""

    @property
    def sparse(self) -> bool:
        """Whether what follows is not the content."""
        return bool(self.other)


def tar_members(file: TarStream, budget: Budget) -> Iterator[TarMember]:
    """Yield all members. The caller reads the bytes of one and its padding before it asks for the next."""
    extended: dict[bytes, bytes] = {}
    while block := file.block():
        if block == ZEROS:
            _end(file)
            break
        if len(block) < BLOCK:
            raise damaged()
        budget.spend(1)
        header = read_header(block)
        kind = header.kind
        if kind in HEADER_ONLY or kind in FILES:
            yield _member(header, extended)
            extended = {}
        elif kind == GLOBAL:
            if not RENAMING.isdisjoint(_records(file, header.size, budget)):
                raise malformed("CC1204.global", LAYER)
            if extended:
                raise damaged("CC1204.extended-twice")
            yield TarMember(GLOBAL, header.name)
        elif kind in (LOCAL, LONG_NAME, LONG_LINK):
            if kind in extended or (extended and LOCAL in (kind, *extended)):
                raise damaged("CC1204.extended-twice")
            if kind == LOCAL:
                extended = {LOCAL: b"", **_records(file, header.size, budget)}
            else:
                extended[kind] = text(_content(file, header.size, budget))
        else:
            raise malformed("CC1204.kind", LAYER)
    if extended:
        raise damaged("CC1204.extended-last")


def _member(header: TarHeader, extended: dict[bytes, bytes]) -> TarMember:
    """Return a member with its extended headers; an empty record keeps what the header says."""
    kind, name, link, size = header
    other = b""
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
            other = extended.get(SPARSE_NAME) or name
    if kind == b"\0":  # version 7 knew a directory by the slash at its end
        kind = b"5" if name.endswith(b"/") else b"0"
    return TarMember(kind, name, link, size if kind == b"0" else 0, other)


def _records(file: TarStream, size: int, budget: Budget) -> dict[bytes, bytes]:
    data = _content(file, size, budget)
    budget.spend(data.count(b"\n"))
    return read_records(data)


def _content(file: TarStream, size: int, budget: Budget) -> bytes:
    """Read what an extended header holds."""
    if size > LARGEST_READ:
        raise malformed("CC1204.extended-size", LAYER)
    budget.spend(size >> 8)  # of long names as much as of many short ones
    data = file.take(size)
    if len(data) < size:
        raise damaged("CC1204.extended-end")
    file.skip(-size % BLOCK)
    return data


def _end(file: TarStream) -> None:
    """Expect another block of zeros after the first, or nothing."""
    block = file.block()
    if block not in (b"", ZEROS):
        raise damaged()
