"""A Source that is the archive of an older `docker save`: a list of configurations and uncompressed layers.

Rule of this file: such an archive has no manifest, so the digest of a reference cannot be checked. The image
is found by its name, its layers are checked against the configuration, and the finding CC1207 says the rest.
"""

import json
from typing import Any

from krm_function.api.strict_json import load_any, load_object
from krm_function.lock.budget import Budget
from krm_function.lock.file_tree import Extent, FileTree
from krm_function.lock.layout import same_name
from krm_function.lock.lock_problem import MISSING, LockProblem
from krm_function.lock.media import CONFIGS, Descriptor
from krm_function.lock.resolve_image import CONFIG_LIMIT, MANIFEST_LIMIT, Consume, Found, T
from krm_function.model.image import Image
from krm_function.model.lookup import mapping, maps

PLAIN = "application/vnd.docker.image.rootfs.diff.tar"


class DockerArchive:
    """What `docker save` wrote before it wrote OCI layouts."""

    def __init__(self, tree: FileTree) -> None:
        """Read the list of images. Raises LockProblem."""
        self._tree = tree
        self._files: dict[str, Extent] = {}
        try:
            self._images = maps(load_any(self._small("manifest.json", MANIFEST_LIMIT).decode("utf-8")))
        except (ValueError, RecursionError):
            raise self._unusable("CC1254.json-list") from None

    def find(self, image: Image, digest: str, budget: Budget) -> Found:
        """Make a manifest of what the archive has: its digests are those of the configuration and the layers."""
        del digest, budget
        for entry in self._images:
            names = entry.get("RepoTags")
            if isinstance(names, list) and any(same_name(name, image) for name in names):
                return Found(json.dumps(self._manifest(entry)).encode(), loose=True)
        raise LockProblem(MISSING, place=self._tree.place)

    def read(self, image: Image, part: Descriptor, consume: Consume[T], budget: Budget) -> T:
        """Hand a file of the archive to `consume`, and return its result."""
        del image, budget
        return consume(self._files[part.digest].chunks())

    def _manifest(self, entry: dict[str, Any]) -> dict[str, Any]:
        import hashlib

        name, layers = str(entry.get("Config")), entry.get("Layers")
        data = self._small(name, CONFIG_LIMIT)
        digits = hashlib.sha256(data).hexdigest()
        if name.rpartition("/")[2].removesuffix(".json") != digits:
            raise LockProblem("CC1203.other", what="the image configuration", digest="its name")
        try:
            diff_ids = mapping(load_object(data.decode("utf-8")).get("rootfs")).get("diff_ids")
        except (ValueError, RecursionError):
            raise self._unusable("CC1254.json", name=name) from None
        if not isinstance(layers, list) or not isinstance(diff_ids, list) or len(layers) != len(diff_ids):
            raise self._unusable("CC1254.diff-ids")
        config = self._part(name, f"sha256:{digits}", CONFIGS[1])
        parts = [self._part(str(layer), str(diff_id), PLAIN) for layer, diff_id in zip(layers, diff_ids, strict=True)]
        return {"schemaVersion": 2, "config": config, "layers": parts}

    def _part(self, name: str, digest: str, media_type: str) -> dict[str, Any]:
        extent = self._tree.get(name)
        if extent is None:
            raise self._unusable("CC1254.file")
        self._files[digest] = extent
        return {"mediaType": media_type, "digest": digest, "size": extent.size}

    def _small(self, name: str, limit: int) -> bytes:
        extent = self._tree.get(name)
        if extent is None:
            raise self._unusable("CC1254.lacks" if name == "manifest.json" else "CC1254.configuration", name=name)
        if extent.size > limit:
            raise self._unusable("CC1254.too-large")
        return b"".join(extent.chunks())

    def _unusable(self, code: str, **values: str) -> LockProblem:
        return LockProblem(code, place=self._tree.place, **values)
