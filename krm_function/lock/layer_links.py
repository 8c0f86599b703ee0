"""Follows the symbolic links that a layer has made so far, to find where an entry below one lands.

Rule of this file: as containerd unpacks, the directories of a path are followed through links, one after the other and
inside of the layer; the last part is not. Layers are looked at one by one, as overlays unpack them: a link of a lower
layer leads nowhere here.
"""

import posixpath
from collections.abc import Sequence
from typing import Any

from krm_function.lock.lock_problem import LockProblem, malformed
from krm_function.lock.tar_stream import LAYER

MOST_HOPS = 40  # of one entry, Linux's own limit
MOST_WALKED = 10_000_000  # parts of paths that led through links, of all entries together
LONGEST = 4096  # bytes of a path, characters of a target: Linux's own limit
MOST_TEXT = 64 << 20  # characters of all links of a layer together


class Links:
    """A tree of names: a text is a link and its target, a map what is below a directory that has links."""

    def __init__(self) -> None:
        """Begin without a link."""
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
        """Return the target of the link at a path that `real` gave, None when there is none."""
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
