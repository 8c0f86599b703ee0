"""Read one layer, from its first byte to its last, for its entries at a few paths.

Rule of this file: nothing is extracted, and the entries are taken in their order, as containerd unpacks them: a later
entry replaces an earlier one of the same path, a hard link keeps what its target was, and an entry below a link goes
where that link leads. What tools read in different ways is refused. Source: docs/facts/oci-registries.md#layers.
"""

import posixpath
from collections.abc import Iterable, Sequence
from typing import Literal

from krm_function.lock.budget import Budget
from krm_function.lock.layer_links import Links, parts_of
from krm_function.lock.lock_problem import LockProblem, malformed
from krm_function.lock.tar_members import GLOBAL, TarMember, tar_members
from krm_function.lock.tar_stream import BLOCK, LARGEST_READ, LAYER, TarStream
from krm_function.record import NamedTuple

WHITEOUT = ".wh."  # https://github.com/opencontainers/image-spec/blob/v1.1.0/layer.md#whiteouts
OPAQUE = ".wh..wh..opq"
NO_WHITEOUTS = frozenset({".wh.", ".wh..", ".wh..."})  # of a directory itself, or of the one above


class LayerEntry(NamedTuple):
    """What a layer has at a path. text: a file's content, None when it is too long.

    target: where a symbolic link points; of a hard link, whose target was not watched, the path of that; "" for a hard
    link to what the layer does not have.
    """

    kind: Literal["file", "directory", "symlink", "hardlink", "other"]
    text: bytes | None = None
    target: str = ""


class Layer(NamedTuple):
    """What a layer says: nodes and whiteouts by path (`etc/passwd`; the root is ""), its diffID and size in bytes."""

    nodes: dict[str, LayerEntry]
    whiteouts: frozenset[str]
    opaque: frozenset[str]
    diff_id: str
    size: int


def scan(data: Iterable[bytes], watched: frozenset[str], limit: int, budget: Budget) -> Layer:
    """Read an uncompressed layer to its end. watched: paths to remember; limit: of its size. Raises LockProblem."""
    file = TarStream(data, limit, budget)
    entries = _Found(watched)
    for member in tar_members(file, budget):
        kept = entries.take(member)
        if not kept:
            whole = file.skip(member.size)
        elif member.size > LARGEST_READ:
            entries.nodes[kept], whole = LayerEntry("file"), file.skip(member.size)
        else:
            text = file.take(member.size)
            entries.nodes[kept], whole = LayerEntry("file", text), len(text) == member.size
        if not whole:
            raise malformed("CC1204.file-end", LAYER)
        file.skip(-member.size % BLOCK)
    file.drain()
    return Layer(entries.nodes, frozenset(entries.whiteouts), frozenset(entries.opaque), file.digest, file.size)


class _Found:
    """The result of the entries so far."""

    def __init__(self, watched: frozenset[str]) -> None:
        self.nodes: dict[str, LayerEntry] = {}
        self.whiteouts: set[str] = set()
        self.opaque: set[str] = set()
        self._watched = watched
        self._links = Links()
        self._opaqued: set[str] = set()  # directories with links that were looked at once: containerd does no more

    def take(self, member: TarMember) -> str:
        """Take one entry; the path, if it is a file whose content is wanted."""
        named = parts_of(member.name)
        if not named:
            return ""  # the root itself
        parts = self._links.real(named)
        if parts is not named:
            self._not_through(named, parts)
        name = parts[-1]
        if name.startswith(WHITEOUT):
            self._remove(parts, name)
            return ""
        self._links.drop(parts, directory=member.kind == b"5")
        if member.kind == b"2":
            self._links.put(parts, member.link.decode("utf-8", "surrogateescape"))
        path = "/".join(parts)
        if member.sparse:
            self._sparse(path, member)
        elif member.kind == b"1":
            self._hard_link(path, parts, member.link)
        elif path in self._watched:
            if member.kind == GLOBAL:  # containerd removes what has its name
                raise malformed("CC1204.global", LAYER)
            self._put(path, _node(member))
            return path if member.kind == b"0" else ""
        return ""

    def _put(self, path: str, node: LayerEntry) -> None:
        before = self.nodes.get(path)
        if before and (before.kind == "directory") != (node.kind == "directory"):
            raise ambiguous("CC1208.two-kinds", path)
        self.nodes[path] = node

    def _hard_link(self, path: str, parts: Sequence[str], link: bytes) -> None:
        """Take a hard link for what its target is now, whatever becomes of that later."""
        if link.endswith(b"/"):
            raise malformed("CC1204.hard-link-directory", LAYER)
        target_parts: Sequence[str] = parts_of(link)
        if not target_parts:
            raise malformed("CC1204.hard-link-nothing", LAYER)
        target_parts = self._links.real(target_parts)
        leads = self._links.target(target_parts)
        if leads is not None:
            self._links.put(parts, leads)
        if path in self._watched:
            target = "/".join(target_parts)
            entry = self.nodes.get(target)
            if entry and entry.kind == "directory":
                raise malformed("CC1204.hard-link-directory", LAYER)
            self._put(path, entry or LayerEntry("hardlink", target="" if target in self._watched else target))

    def _sparse(self, path: str, member: TarMember) -> None:
        """Count a sparse file as unreadable: under its name, and under its name for tools without sparse files."""
        other = self._links.real(parts_of(member.other) or [""])
        for name in (path, "/".join(other)):
            if name in self._watched:
                self._put(name, LayerEntry("other"))
        if other[-1].startswith(WHITEOUT) or self._links.target(other) is not None:
            raise malformed("CC1204.sparse", LAYER)

    def _remove(self, parts: Sequence[str], name: str) -> None:
        """Obey a whiteout."""
        if name in NO_WHITEOUTS:
            raise malformed("CC1204.whiteout", LAYER)
        if name != OPAQUE:
            gone = [*parts[:-1], name.removeprefix(WHITEOUT)]
            self._links.drop(gone)
            self.whiteouts |= {"/".join(gone)} & self._watched
            return
        parent = "/".join(parts[:-1])
        if parent not in self._opaqued:
            if self._links.has_below(parts[:-1]):
                self._opaqued.add(parent)
            if self._implied(parts[:-1], parent):
                raise malformed("CC1204.opaque", LAYER)
        self.opaque |= {parent} & (self._watched | {""})

    def _implied(self, parts: Sequence[str], parent: str) -> bool:
        """Tell whether there is something in a directory below this one that has no entry: tools differ on those."""
        if self._links.deep(parts):
            return True
        if parent and parent not in self._watched:
            return False
        below = f"{parent}/" if parent else ""
        return any(
            above.startswith(below) and above not in self.nodes
            for path in self.nodes
            if path.startswith(below)
            for above in parents(path)
        )

    def _not_through(self, named: Sequence[str], parts: Sequence[str]) -> None:
        """Refuse an entry that goes through a link to or from a watched path: some tools replace the link."""
        name = named[-1]
        for above in (named[:-1], parts[:-1]):
            path = "/".join(above if name == OPAQUE else (*above, name.removeprefix(WHITEOUT)))
            if not path or path in self._watched:
                raise ambiguous("CC1208.below-link", path)


def ambiguous(code: str, path: str) -> LockProblem:
    """Return the problem of a file with more than one reading, or with none. code: CC1208 with a variant."""
    return LockProblem(code, name=f"/{path}")


def parents(path: str) -> Iterable[str]:
    """Return the directories above a path, the root left out."""
    while path := posixpath.dirname(path):
        yield path


def _node(member: TarMember) -> LayerEntry:
    match member.kind:
        case b"0":
            return LayerEntry("file", b"")
        case b"5":
            return LayerEntry("directory")
        case b"2":
            return LayerEntry("symlink", target=member.link.decode("utf-8", "surrogateescape"))
        case _:
            return LayerEntry("other")
