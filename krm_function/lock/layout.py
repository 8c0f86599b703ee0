"""A Source that is an OCI image layout: https://github.com/opencontainers/image-spec/blob/v1.1.0/image-layout.md

Rule of this file: an image with a digest is found by that digest alone. By name only a whole one will do: a layout made
by `skopeo copy … oci:DIR:1.2` says just "1.2", which could be any repository's.
"""

from collections.abc import Mapping
from typing import Any

from krm_function.api.strict_json import load_object
from krm_function.lock.budget import Budget
from krm_function.lock.file_tree import Extent, FileTree
from krm_function.lock.lock_problem import MISSING, LockProblem, malformed
from krm_function.lock.media import Descriptor
from krm_function.lock.resolve_image import MANIFEST_LIMIT, Consume, Found, T
from krm_function.lock.verified import too_large
from krm_function.model.image import Image, parse_image
from krm_function.model.lookup import mapping, maps

NAMES = ("io.containerd.image.name", "org.opencontainers.image.ref.name")


class Layout:
    """An OCI layout, in a directory or a tar archive."""

    def __init__(self, tree: FileTree) -> None:
        """Read the index. Raises LockProblem."""
        self._tree = tree
        version = read_json(tree, "oci-layout").get("imageLayoutVersion")
        if version != "1.0.0":
            raise LockProblem("CC1254.version", place=tree.place)
        self._entries = maps(read_json(tree, "index.json").get("manifests"))

    def find(self, image: Image, digest: str, budget: Budget) -> Found:
        """Find the manifest or index."""
        del budget  # a local file is never waited for
        extent = self._blob(digest or self._named(image))
        if extent is None:
            raise LockProblem(MISSING, place=self._tree.place)
        if extent.size > MANIFEST_LIMIT:
            raise too_large("the manifest", MANIFEST_LIMIT)
        return Found(b"".join(extent.chunks()))

    def read(self, image: Image, part: Descriptor, consume: Consume[T], budget: Budget) -> T:
        """Hand a blob to `consume`, and return its result."""
        del image, budget
        extent = self._blob(part.digest)
        if extent is None:
            raise malformed("CC1204.not-in-layout", f"{part.digest[:19]}…")
        return consume(extent.chunks())

    def _named(self, image: Image) -> str:
        """Return the digest of the image with this name and tag, "" unless there is exactly one."""
        digests = {str(entry.get("digest")) for entry in self._entries if _is_called(entry, image)}
        return digests.pop() if len(digests) == 1 else ""

    def _blob(self, digest: str) -> Extent | None:
        algorithm, _, digits = digest.partition(":")
        return self._tree.get(f"blobs/{algorithm}/{digits}") if digits else None


def same_name(name: Any, image: Image) -> bool:
    """Tell whether a text is a whole name with tag, and means this image."""
    other = parse_image(name) if isinstance(name, str) and "/" in name else ""
    return isinstance(other, Image) and other.name == image.name and (other.tag or "latest") == (image.tag or "latest")


def read_json(tree: FileTree, name: str) -> dict[str, Any]:
    """Read a small JSON object of a tree. Raises LockProblem."""
    extent = tree.get(name)
    if extent is None:
        raise LockProblem("CC1254.lacks", place=tree.place, name=name)
    if extent.size > MANIFEST_LIMIT:
        raise LockProblem("CC1254.size", place=tree.place, name=name)
    try:
        return load_object(b"".join(extent.chunks()).decode("utf-8"))
    except (ValueError, RecursionError):
        raise LockProblem("CC1254.json", place=tree.place, name=name) from None


def _is_called(entry: Mapping[str, Any], image: Image) -> bool:
    notes = mapping(entry.get("annotations"))
    return any(same_name(notes.get(key), image) for key in NAMES)
