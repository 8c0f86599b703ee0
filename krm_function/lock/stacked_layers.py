"""Find the file of a path in a stack of layers, by the rules of overlays.

Rule of this file: a path has one reading, or the image is refused. Whiteouts hide what is below them; links are
followed inside of the image. Tools differ about an entry and a whiteout for the same path in one layer, and about an
entry below a link: both are refused.

    the topmost layer that says something about a path   answer
    a node there                                         that node
    a whiteout of it or of a directory above it          nothing
    an opaque directory above it                         nothing
    a file or link where a directory above it would be   nothing
"""

import posixpath

from krm_function.lock.layer import Layer, LayerEntry, ambiguous, parents

MOST_LINKS = 8
MOST_PARTS = 64  # of a path that a link leads to


class MoreLayersError(Exception):
    """The layers so far do not decide."""


class UnwatchedError(Exception):
    """A link leads to a path that was not watched when the layers were read."""

    def __init__(self, path: str) -> None:
        """Remember the path."""
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
            here, rest = "/".join(parts[:end]), parts[end:]
            if here not in self.watched:
                raise UnwatchedError(path)
            level, node = self._node(asked, here, top)
            if node is None or node.kind == "directory":
                continue
            if rest:
                self._nothing_below(asked, here, top, level)
            if node.kind == "symlink":
                return self._read(asked, _target(here, node.target, rest), top, links - 1)
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
        """Refuse entries below what is a link or a file: some tools write them through it, others in its place."""
        for layer in self.layers[top : level + 1]:
            paths = (*layer.nodes, *layer.whiteouts, *(f"{path}/" for path in layer.opaque))
            if any(path.startswith(f"{link}/") for path in paths):
                raise ambiguous("CC1208.below-file", asked)


def prefixes(paths: frozenset[str]) -> frozenset[str]:
    """Return the paths and all directories above them."""
    return paths | {above for path in paths for above in parents(path)}


def _target(link: str, target: str, rest: list[str]) -> str:
    """Return where a link leads, from the root of the image, which `..` cannot leave."""
    return posixpath.normpath(posixpath.join("/", posixpath.dirname(link), target, *rest)).lstrip("/")
