"""One layer, read once from its first byte to its last: what it says about a few paths.

Rule of this file: nothing is extracted, and what tools read in two ways is refused. Python's tarfile reads the headers,
through a TarStream that keeps it within bounds.
"""

import posixpath
import tarfile
from collections.abc import Iterable, Iterator
from typing import Literal

from krm_function.lock.budget import Budget
from krm_function.lock.problem import malformed
from krm_function.lock.tar_stream import LARGEST_READ, LAYER, TarStream
from krm_function.record import NamedTuple

WHITEOUT = ".wh."  # https://github.com/opencontainers/image-spec/blob/v1.1.0/layer.md#whiteouts
OPAQUE = ".wh..wh..opq"
MOST_MEMBERS = 4_000_000
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
    file = TarStream(data, limit, budget)
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


def _members(file: TarStream) -> Iterator[tuple[tarfile.TarInfo, str]]:
    """All members with their paths, cleaned as Go's filepath.Clean does below the root."""
    if file.is_empty():
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


def _node(member: tarfile.TarInfo, file: TarStream) -> Node:
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
