"""The image's archive in dist/, taken apart: its configuration and its one layer, as a registry would get them.

Rule of this file: all is read from the archive; no engine is asked.
"""

import functools
import gzip
import io
import json
import tarfile
from typing import Any

from tools.image import ARCHIVE


def _blob(name: str) -> bytes:
    with tarfile.open(ARCHIVE) as archive:
        member = archive.extractfile(name)
        assert member is not None
        return member.read()


def _of(descriptor: Any) -> bytes:
    return _blob("blobs/" + descriptor["digest"].replace(":", "/"))


@functools.cache
def manifest_digest() -> str:
    """The digest of the manifest."""
    (manifest,) = json.loads(_blob("index.json"))["manifests"]
    digest: str = manifest["digest"]
    return digest


@functools.cache
def _manifest() -> Any:
    return json.loads(_of({"digest": manifest_digest()}))


@functools.cache
def configuration() -> Any:
    """The image's configuration, with its history."""
    return json.loads(_of(_manifest()["config"]))


def identity() -> str:
    """The digest of the configuration, without the algorithm: what engines call the image's ID."""
    digest: str = _manifest()["config"]["digest"]
    return digest.removeprefix("sha256:")


@functools.cache
def members() -> dict[str, tarfile.TarInfo]:
    """What is in the layer, by absolute path."""
    return {_path(member.name): member for member in _layer().getmembers() if _path(member.name) != "/"}


def names() -> set[str]:
    """The last parts of all paths."""
    return {path.rpartition("/")[2] for path in members()}


def files() -> dict[str, bytes]:
    """The contents of the regular files, by absolute path."""
    return {path: content(path) for path, member in members().items() if member.isreg()}


@functools.cache
def content(path: str) -> bytes:
    """What is in one file; links are not followed, but those that are hard."""
    file = _layer().extractfile(members()[path])
    assert file is not None
    return file.read()


@functools.cache
def _layer() -> tarfile.TarFile:
    (layer,) = _manifest()["layers"]
    assert layer["mediaType"] == "application/vnd.oci.image.layer.v1.tar+gzip"
    return tarfile.open(fileobj=io.BytesIO(gzip.decompress(_of(layer))))


def _path(name: str) -> str:
    return "/" + name.removeprefix("./").strip("/")
