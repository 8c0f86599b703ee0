"""Read the layers of an image, each once, for a few files, and find these in the stack of them."""

import posixpath
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from threading import Lock
from typing import Any, Literal

from krm_function.lock.media import Budget, Descriptor, LockProblem, malformed
from krm_function.lock.tar_archives import BLOCK, GLOBAL, LARGEST_READ, LAYER, TarMember, TarStream, tar_members
from krm_function.record import NamedTuple

# --- Decompress layers: gzip, zstd or plain, decided by their first bytes as container runtimes do
#
# Rule: memory is constant. A piece of output has at most 1 MiB, whatever the input claims, and the caller
# bounds the sum; a zstd window has at most the 128 MiB that its library allows without being asked.


PIECE = 1 << 20  # bytes of one piece of output
GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
LONGEST_MAGIC = 4


def decompressed(data: Iterable[bytes]) -> Iterator[bytes]:
    """Decompress, in pieces. Raises LockProblem for a stream that is damaged or ends early."""
    chunks = iter(data)
    head = b""
    for chunk in chunks:
        head += chunk
        if len(head) >= LONGEST_MAGIC:
            break
    if head.startswith(GZIP):
        return _decompress_gzip(_chain_head(head, chunks))
    if head.startswith(ZSTD) or (head[1:4] == b"\x2a\x4d\x18" and head[0] & 0xF0 == 0x50):  # or a skippable frame
        return _decompress_zstd(_chain_head(head, chunks))
    return _chain_head(head, chunks)


def _chain_head(head: bytes, chunks: Iterable[bytes]) -> Iterator[bytes]:
    if head:
        yield head
    yield from chunks


def _decompress_gzip(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield all members of a gzip stream, as Go reads them: nothing else may follow."""
    stream = zlib.decompressobj(wbits=31)
    try:
        for chunk in chunks:
            rest = chunk
            while rest:
                if stream.eof:
                    stream = zlib.decompressobj(wbits=31)
                piece = stream.decompress(rest, PIECE)
                if piece:
                    yield piece
                rest = stream.unused_data if stream.eof else stream.unconsumed_tail
        while not stream.eof and (piece := stream.decompress(b"", PIECE)):
            yield piece
    except zlib.error:
        raise malformed("CC1204.gzip", "a layer") from None
    if not stream.eof:
        raise malformed("CC1204.gzip-end", "a layer")


def _decompress_zstd(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield all frames of a zstd stream, skippable ones left out."""
    if sys.version_info >= (3, 14):
        from compression.zstd import ZstdDecompressor, ZstdError
    else:
        from backports.zstd import ZstdDecompressor, ZstdError

    stream = ZstdDecompressor()
    try:
        for chunk in chunks:
            rest = chunk
            if stream.eof:
                stream = ZstdDecompressor()
            while rest or not stream.needs_input:
                piece = stream.decompress(rest, PIECE)
                rest = b""
                if piece:
                    yield piece
                if stream.eof:
                    rest = stream.unused_data
                    if not rest:
                        break
                    stream = ZstdDecompressor()
    except ZstdError:
        raise malformed("CC1204.zstd", "a layer") from None
    if not stream.eof:
        raise malformed("CC1204.zstd-end", "a layer")


# --- Follows the symbolic links that a layer has made so far, to find where an entry below one lands
#
# Rule: as containerd unpacks, the directories of a path are followed through links, one after the other
# and inside of the layer; the last part is not. Layers are looked at one by one, as overlays unpack them: a link of a
# lower layer leads nowhere here.


MOST_HOPS = 40  # of one entry, Linux's own limit
MOST_WALKED = 10_000_000  # parts of paths that led through links, of all entries together
LONGEST = 4096  # bytes of a path, characters of a target: Linux's own limit
MOST_TEXT = 64 << 20  # characters of all links of a layer together


class Links:
    """A tree of names. A text is the target of a link; a map is a directory with links in or below it."""

    def __init__(self) -> None:
        self._tree: dict[str, Any] = {}
        self._text = 0
        self._walked = 0

    def real(self, parts: Sequence[str]) -> Sequence[str]:
        """Return where an entry lands. Raises LockProblem for links in a circle."""
        for _ in range(MOST_HOPS + 1):
            tree: Any = self._tree
            for index in range(len(parts) - 1):
                tree = tree.get(parts[index])
                if tree is None:
                    return parts
                if isinstance(tree, str):
                    led = posixpath.normpath("/".join(["", *parts[:index], tree]) if tree[:1] != "/" else tree)
                    parts = [*filter(None, led.split("/")), *parts[index + 1 :]]
                    self._walked += len(parts)
                    break
            else:
                return parts
            if self._walked > MOST_WALKED or len(parts) > LONGEST:
                break
        raise malformed("CC1204.circle", LAYER)

    def target(self, parts: Sequence[str]) -> str | None:
        """Return the target of the link at a path that `real` gave, None without a link."""
        entry = self._at(parts)
        return entry if isinstance(entry, str) else None

    def put(self, parts: Sequence[str], target: str) -> None:
        """Make a link. Raises LockProblem when there are too many."""
        if len(target) > LONGEST:
            raise malformed("CC1204.link", LAYER, limit=LONGEST)
        self._text += sum(map(len, parts)) + len(target) + 64
        if self._text > MOST_TEXT:
            raise LockProblem("CC1206", what=LAYER, limit="64 MiB of symbolic links")
        tree = self._tree
        for part in parts[:-1]:
            below = tree.get(part)
            if not isinstance(below, dict):
                below = tree[part] = {}
            tree = below
        tree[parts[-1]] = target or "."

    def drop(self, parts: Sequence[str], *, directory: bool = False) -> None:
        """Forget what is at and below a path; a directory replaces a link only, and keeps what is in another one."""
        tree = self._tree
        for part in parts[:-1]:
            below = tree.get(part)
            if not isinstance(below, dict):
                return
            tree = below
        if not (directory and isinstance(tree.get(parts[-1]), dict)):
            tree.pop(parts[-1], None)

    def deep(self, parts: Sequence[str]) -> bool:
        """Tell whether there are links below a directory, but not in it."""
        tree = self._at(parts)
        return isinstance(tree, dict) and any(isinstance(below, dict) and below for below in tree.values())

    def has_below(self, parts: Sequence[str]) -> bool:
        """Tell whether there are links in or below a directory."""
        return isinstance(self._at(parts), dict)

    def _at(self, parts: Sequence[str]) -> Any:
        tree: Any = self._tree
        for part in parts:
            tree = tree.get(part) if isinstance(tree, dict) else None
        return tree


def parts_of(name: bytes) -> list[str]:
    """Cut a path into parts, cleaned as Go's filepath.Clean does below the root. Raises LockProblem for `..` in it."""
    if len(name) > LONGEST:
        raise malformed("CC1204.path", LAYER, limit=LONGEST)
    parts = [part for part in name.decode("utf-8", "surrogateescape").split("/") if part not in ("", ".")]
    if ".." in parts:
        raise malformed("CC1204.parent", LAYER)
    return parts


# --- Read one layer, from its first byte to its last, for its entries at a few paths
#
# Rule: nothing is extracted, and the entries are taken in their order, as containerd unpacks them: a later
# entry replaces an earlier one of the same path, a hard link keeps what its target was, and an entry below a link goes
# where that link leads. What tools read in different ways is refused. Source: docs/facts/oci-registries.md#layers.


WHITEOUT = ".wh."  # https://github.com/opencontainers/image-spec/blob/v1.1.0/layer.md#whiteouts
OPAQUE = ".wh..wh..opq"
NO_WHITEOUTS = frozenset({".wh.", ".wh..", ".wh..."})  # of a directory itself, or of the one above


class LayerEntry(NamedTuple):
    """The entry of a layer at a path. text: a file's content, None when it is too long.

    target: where a symbolic link points; of a hard link, the path of its unwatched target, "" for a target that the
    layer does not have.
    """

    kind: Literal["file", "directory", "symlink", "hardlink", "other"]
    text: bytes | None = None
    target: str = ""


class Layer(NamedTuple):
    """One layer: nodes and whiteouts by path (`etc/passwd`; the root is ""), its diffID and size in bytes."""

    nodes: dict[str, LayerEntry]
    whiteouts: frozenset[str]
    opaque: frozenset[str]
    diff_id: str
    size: int


def scan(data: Iterable[bytes], watched: frozenset[str], limit: int, budget: Budget) -> Layer:
    """Read an uncompressed layer to its end. watched: paths to remember; limit: of its size. Raises LockProblem."""
    file = TarStream(data, limit, budget)
    entries = _LayerReader(watched)
    for member in tar_members(file, budget):
        path = entries.take(member)
        if not path:
            whole = file.skip(member.size)
        elif member.size > LARGEST_READ:
            entries.nodes[path], whole = LayerEntry("file"), file.skip(member.size)
        else:
            text = file.take(member.size)
            entries.nodes[path], whole = LayerEntry("file", text), len(text) == member.size
        if not whole:
            raise malformed("CC1204.file-end", LAYER)
        file.skip(-member.size % BLOCK)
    file.drain()
    return Layer(entries.nodes, frozenset(entries.whiteouts), frozenset(entries.opaque), file.digest, file.size)


class _LayerReader:
    """The result of the entries so far."""

    def __init__(self, watched: frozenset[str]) -> None:
        self.nodes: dict[str, LayerEntry] = {}
        self.whiteouts: set[str] = set()
        self.opaque: set[str] = set()
        self._watched = watched
        self._links = Links()
        self._opaqued: set[str] = set()  # directories with links, checked once as in containerd

    def take(self, member: TarMember) -> str:
        """Take one entry; return its path if it is a file whose content is needed."""
        written = parts_of(member.name)
        if not written:
            return ""  # the root itself
        parts = self._links.real(written)
        if parts is not written:
            self._refuse_through_link(written, parts)
        name = parts[-1]
        if name.startswith(WHITEOUT):
            self._remove(parts, name)
            return ""
        self._links.drop(parts, directory=member.kind == b"5")
        if member.kind == b"2":
            self._links.put(parts, member.link.decode("utf-8", "surrogateescape"))
        path = "/".join(parts)
        if member.sparse_name:
            self._add_sparse(path, member)
        elif member.kind == b"1":
            self._add_hard_link(path, parts, member.link)
        elif path in self._watched:
            if member.kind == GLOBAL:  # containerd removes the entry of that name
                raise malformed("CC1204.global", LAYER)
            self._put(path, _node(member))
            return path if member.kind == b"0" else ""
        return ""

    def _put(self, path: str, node: LayerEntry) -> None:
        earlier = self.nodes.get(path)
        if earlier and (earlier.kind == "directory") != (node.kind == "directory"):
            raise ambiguous("CC1208.two-kinds", path)
        self.nodes[path] = node

    def _add_hard_link(self, path: str, parts: Sequence[str], link: bytes) -> None:
        """Copy the present entry of the target; later changes of it do not count."""
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

    def _add_sparse(self, path: str, member: TarMember) -> None:
        """Count a sparse file as unreadable: under its name, and under its name for tools without sparse files."""
        other_path = self._links.real(parts_of(member.sparse_name) or [""])
        for name in (path, "/".join(other_path)):
            if name in self._watched:
                self._put(name, LayerEntry("other"))
        if other_path[-1].startswith(WHITEOUT) or self._links.target(other_path) is not None:
            raise malformed("CC1204.sparse", LAYER)

    def _remove(self, parts: Sequence[str], name: str) -> None:
        """Apply a whiteout."""
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
            if self._has_implied_directory(parts[:-1], parent):
                raise malformed("CC1204.opaque", LAYER)
        self.opaque |= {parent} & (self._watched | {""})

    def _has_implied_directory(self, parts: Sequence[str], parent: str) -> bool:
        """Tell whether a directory below this one has content and no entry of its own: tools differ on those."""
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

    def _refuse_through_link(self, written: Sequence[str], parts: Sequence[str]) -> None:
        """Refuse an entry that goes through a link to or from a watched path: some tools replace the link."""
        name = written[-1]
        for above in (written[:-1], parts[:-1]):
            path = "/".join(above if name == OPAQUE else (*above, name.removeprefix(WHITEOUT)))
            if not path or path in self._watched:
                raise ambiguous("CC1208.below-link", path)


def ambiguous(code: str, path: str) -> LockProblem:
    """Return the problem of a file that tools read differently or not at all. code: CC1208 with a variant."""
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


# --- Find the file of a path in a stack of layers, by the rules of overlays
#
# Rule: a path has one reading, or the image is refused. Whiteouts hide what is below them; links are
# followed inside of the image. Tools differ about an entry and a whiteout for the same path in one layer, and about an
# entry below a link: both are refused.
#
#     in the topmost layer with an entry for a path         answer
#     a node there                                         that node
#     a whiteout of it or of a directory above it          nothing
#     an opaque directory above it                         nothing
#     a file or link where a directory above it would be   nothing


MOST_LINKS = 8
MOST_PARTS = 64  # of a path that a link leads to


class MoreLayersError(Exception):
    """The layers so far do not decide."""


class UnwatchedError(Exception):
    """A link leads to a path that was not watched when the layers were read."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class Rootfs:
    """Layers from the top down. complete: whether these are all."""

    def __init__(self, watched: frozenset[str]) -> None:
        """Begin without a layer; watched: the paths that the layers are read for."""
        self.watched = watched
        self.layers: list[Layer] = []
        self.complete = False

    def read(self, path: str) -> bytes | None:
        """Return the content of a file, None without one. Raises LockProblem, MoreLayersError and UnwatchedError."""
        return self._read(path, path, 0, MOST_LINKS)

    def _read(self, asked: str, path: str, top: int, links: int) -> bytes | None:
        if not links:
            raise ambiguous("CC1208.links", asked)
        parts = path.split("/")
        if len(parts) > MOST_PARTS:
            raise ambiguous("CC1208.directories", asked)
        for end in range(1, len(parts) + 1):
            place, rest = "/".join(parts[:end]), parts[end:]
            if place not in self.watched:
                raise UnwatchedError(path)
            level, node = self._node(asked, place, top)
            if node is None or node.kind == "directory":
                continue
            if rest:
                self._nothing_below(asked, place, top, level)
            if node.kind == "symlink":
                return self._read(asked, _resolve_target(place, node.target, rest), top, links - 1)
            if rest:
                return None
            if node.kind == "hardlink":
                if node.target and node.target not in self.watched:
                    raise UnwatchedError(node.target)
                raise ambiguous("CC1208.hard-link", asked)
            if node.kind == "file" and node.text is not None:
                return node.text
            raise ambiguous("CC1208.size" if node.kind == "file" else "CC1208.kind", asked)
        return None

    def _node(self, asked: str, path: str, top: int) -> tuple[int, LayerEntry | None]:
        """Return the topmost node of a path and its layer, from layer `top` down."""
        for level in range(top, len(self.layers)):
            layer = self.layers[level]
            node = layer.nodes.get(path)
            whiteout = path in layer.whiteouts or any(above in layer.whiteouts for above in parents(path))
            if node and whiteout:
                raise ambiguous("CC1208.removed", asked)
            replaced = any(above in layer.nodes and layer.nodes[above].kind != "directory" for above in parents(path))
            if node and replaced:
                raise ambiguous("CC1208.below-file", asked)
            if node:
                return level, node
            if whiteout or replaced or any(above in layer.opaque for above in ("", *parents(path))):
                return level, None
        if not self.complete:
            raise MoreLayersError
        return len(self.layers), None

    def _nothing_below(self, asked: str, link: str, top: int, level: int) -> None:
        """Refuse entries below a link or a file: some tools write them through it, others in its place."""
        for layer in self.layers[top : level + 1]:
            paths = (*layer.nodes, *layer.whiteouts, *(f"{path}/" for path in layer.opaque))
            if any(path.startswith(f"{link}/") for path in paths):
                raise ambiguous("CC1208.below-file", asked)


def prefixes(paths: frozenset[str]) -> frozenset[str]:
    """Return the paths and all directories above them."""
    return paths | {above for path in paths for above in parents(path)}


def _resolve_target(link: str, target: str, rest: list[str]) -> str:
    """Return where a link leads, from the root of the image, which `..` cannot leave."""
    return posixpath.normpath(posixpath.join("/", posixpath.dirname(link), target, *rest)).lstrip("/")


# --- /etc/passwd and /etc/group of an image
#
# Rule: layers are read top down, and no further than needed, unless the sizes of all are wanted; each
# is read once for all images of a run that share it. A link that leads elsewhere means another round, with that path
# watched, too.


PASSWD, GROUP = "etc/passwd", "etc/group"
ROUNDS = 4

ReadLayer = Callable[[Descriptor, frozenset[str]], Layer]


def accounts(
    layers: Sequence[Descriptor], diff_ids: Sequence[str], read: ReadLayer, *, read_all: bool = False
) -> tuple[str | None, str | None, Mapping[str, int]]:
    """Return both files, None for a missing one, and the uncompressed size of each layer read, by diffID.

    layers: lowest first. read_all: read every layer. Raises LockProblem.
    """
    paths = frozenset((PASSWD, GROUP))
    sizes: dict[str, int] = {}
    for _ in range(ROUNDS):
        rootfs = Rootfs(prefixes(paths))
        rest = list(zip(layers, diff_ids, strict=True))
        while True:
            rootfs.complete = not rest
            try:
                files = _read_text(rootfs, PASSWD), _read_text(rootfs, GROUP), sizes
                if not read_all or not rest:
                    return files
            except MoreLayersError:
                pass
            except UnwatchedError as link:
                paths |= {link.path}
                break
            descriptor, diff_id = rest.pop()
            layer = read(descriptor, rootfs.watched)
            if layer.diff_id != diff_id:
                raise malformed("CC1204.diff-id", "the image configuration") from None
            sizes[diff_id] = layer.size
            rootfs.layers.append(layer)
    raise ambiguous("CC1208.links", PASSWD)


def _read_text(rootfs: Rootfs, path: str) -> str | None:
    data = rootfs.read(path)
    try:
        return None if data is None else data.decode("utf-8")
    except UnicodeDecodeError:
        raise ambiguous("CC1208.encoding", path) from None


class Shared:
    """Layers that were read, by digest and watched paths; a second reader of one waits for the first."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: dict[tuple[str, frozenset[str]], Future[Layer]] = {}

    def read(self, digest: str, watched: frozenset[str], make: Callable[[], Layer]) -> Layer:
        """Return the layer, which the first caller reads. A failure is raised for all waiting readers, and not kept."""
        key = (digest, watched)
        with self._lock:
            future = self._known.get(key)
            mine = future is None
            if future is None:
                future = self._known[key] = Future()
        if not mine:
            return future.result()
        try:
            layer = make()
        except BaseException as problem:
            with self._lock:
                del self._known[key]
            future.set_exception(problem)
            raise
        future.set_result(layer)
        return layer
