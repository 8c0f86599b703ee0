"""One layer, read once from its first byte to its last: what it says about a few paths.

Rule of this file: nothing is extracted. Python's tarfile reads the headers, behind a file that only goes forward, that
grants no large read (an extended header may claim any size) and remembers what tarfile forgives: it takes a damaged
header for the end of the archive, and then everything behind it would be hidden.
"""

import hashlib
import posixpath
import tarfile
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from krm_function.lock.budget import Budget
from krm_function.lock.problem import malformed
from krm_function.lock.verified import too_large

WHITEOUT = ".wh."  # https://github.com/opencontainers/image-spec/blob/v1.1.0/layer.md#whiteouts
OPAQUE = ".wh..wh..opq"
LARGEST_READ = 1 << 20  # bytes: of an extended header, and of a file that is kept
MOST_MEMBERS = 4_000_000
LAYER = "a layer"
GLOBAL = frozenset({"path", "linkpath", "size"})  # Go takes these from no global header, tarfile does


class Node(NamedTuple):
    """What a layer has at a path. text: a file's content, None when it is too long. target: where a link points."""

    kind: Literal["file", "directory", "symlink", "hardlink", "other"]
    text: bytes | None = None
    target: str = ""


class Layer(NamedTuple):
    """What a layer says: nodes and whiteouts by path (`etc/passwd`; the root is ""), its diffID and size in bytes."""

    nodes: dict[str, Node]
    whiteouts: frozenset[str]
    opaque: frozenset[str]
    diff_id: str
    size: int


def scan(data: Iterable[bytes], watched: frozenset[str], limit: int, budget: Budget) -> Layer:
    """Read an uncompressed layer to its end. watched: paths to remember; limit: of its size. Raises Problem."""
    file = _Forward(data, limit, budget)
    nodes: dict[str, Node] = {}
    whiteouts: set[str] = set()
    opaque: set[str] = set()
    try:
        for member, path in _members(file):
            parent, name = posixpath.split(path)
            if name == OPAQUE:
                opaque |= {parent} & (watched | {""})
            elif name.startswith(WHITEOUT):
                whiteouts |= {posixpath.join(parent, name.removeprefix(WHITEOUT))} & watched
            elif path in watched:
                nodes[path] = _node(member, file)
    except (tarfile.TarError, ValueError, OverflowError, RecursionError):
        raise malformed(LAYER, "is a damaged tar archive") from None
    file.drain()
    return Layer(nodes, frozenset(whiteouts), frozenset(opaque), file.digest, file.tell())


def _members(file: "_Forward") -> Iterator[tuple[tarfile.TarInfo, str]]:
    """All members with their paths, cleaned as Go's filepath.Clean does below the root."""
    if not file.peek():
        return
    with tarfile.TarFile(fileobj=file, mode="r", errorlevel=2) as archive:  # type: ignore[arg-type]
        for count in range(MOST_MEMBERS + 1):
            file.grant()
            member = archive.next()
            if member is None:
                file.check_end()
                return
            archive.members = []  # type: ignore[attr-defined]  # else a layer of a million files is a gigabyte of headers
            if count == MOST_MEMBERS:
                raise malformed(LAYER, f"has more than {MOST_MEMBERS} files")
            if not GLOBAL.isdisjoint(archive.pax_headers):
                raise malformed(LAYER, "has a global header that not all tools read alike")
            if member.size < 0:
                raise malformed(LAYER, "has a file of negative size")
            name = member.name
            if ".." in name.split("/"):
                raise malformed(LAYER, "has a path with ..")
            yield member, posixpath.normpath("/" + name).lstrip("/")


def _node(member: tarfile.TarInfo, file: "_Forward") -> Node:
    if member.isreg() and not member.issparse():
        if member.size > LARGEST_READ:
            return Node("file")
        file.seek(member.offset_data)
        file.grant()
        text = file.read(member.size)
        if len(text) < member.size:
            raise malformed(LAYER, "ends inside of a file")
        return Node("file", text)
    if member.isdir():
        return Node("directory")
    if member.issym():
        return Node("symlink", target=member.linkname)
    if member.islnk():
        return Node("hardlink", target=member.linkname)
    return Node("other")


class _Forward:
    """The file that tarfile sees: bounded, hashed, and only ever read forwards."""

    def __init__(self, data: Iterable[bytes], limit: int, budget: Budget) -> None:
        self._data = iter(data)
        self._buffer = b""
        self._at = 0
        self._seen = hashlib.sha256()
        self._fetched = 0
        self._limit = limit
        self._budget = budget
        self._last = b""
        self._granted = 0
        self.grant()

    @property
    def digest(self) -> str:
        return f"sha256:{self._seen.hexdigest()}"

    def tell(self) -> int:
        return self._at

    def peek(self) -> bool:
        """Whether there is anything at all."""
        return bool(self._buffer) or self._fill()

    def grant(self) -> None:
        """Allow the reads of one member, whose extended headers and sparse maps may claim to go on for ever."""
        self._granted = LARGEST_READ + 64 * tarfile.BLOCKSIZE

    def read(self, size: int) -> bytes:
        self._granted -= size
        if size < 0 or self._granted < 0:
            raise malformed(LAYER, "has an extended header of absurd size")
        parts, missing = [], size
        while missing and (self._buffer or self._fill()):
            part, self._buffer = self._buffer[:missing], self._buffer[missing:]
            parts.append(part)
            missing -= len(part)
        self._at += size - missing
        self._last = b"".join(parts)
        return self._last

    def seek(self, position: int) -> None:
        missing = position - self._at
        if missing < 0:
            raise malformed(LAYER, "has a file of negative size")
        while missing and (self._buffer or self._fill()):
            step = min(missing, len(self._buffer))
            self._buffer = self._buffer[step:]
            self._at += step
            missing -= step

    def check_end(self) -> None:
        """Refuse an archive whose last header was no end of one: nothing, or blocks of zeros."""
        if self._last.strip(b"\0") or 0 < len(self._last) < tarfile.BLOCKSIZE:
            raise malformed(LAYER, "has a damaged header")

    def drain(self) -> None:
        """Read the rest, which must be zeros: one tool would see files there, another would not."""
        clean = not self._buffer.strip(b"\0")
        self._at += len(self._buffer)
        self._buffer = b""
        while self._fill():
            clean = clean and not self._buffer.strip(b"\0")
            self._at += len(self._buffer)
            self._buffer = b""
        if not clean:
            raise malformed(LAYER, "has something behind the end of its tar archive")

    def _fill(self) -> bool:
        """Fetch the next piece; False at the end."""
        piece = next(self._data, b"")
        self._budget.check()
        self._fetched += len(piece)
        if self._fetched > self._limit:
            raise too_large("an uncompressed layer", self._limit)
        self._seen.update(piece)
        self._buffer = piece
        return bool(piece)
