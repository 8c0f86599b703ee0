"""Where images come from: registries, OCI image layouts, archives of `docker save`; and how --from names these."""

import hashlib
import json
import os
import posixpath
import tarfile
from collections.abc import Collection, Iterator
from typing import Any, Protocol

from krm_function.config.document import load_any, load_object
from krm_function.kubernetes.image import Image, parse_image
from krm_function.kubernetes.objects import mapping, maps
from krm_function.lock.media import CONFIGS, MISSING, Budget, Descriptor, LockProblem, malformed, too_large
from krm_function.lock.resolve import CONFIG_LIMIT, MANIFEST_LIMIT, Consume, Found, ImageSource, T
from krm_function.record import NamedTuple

# --- Named files of a directory or of a tar archive, read in place
#
# Rule: nothing is unpacked, and a name leads nowhere but into the tree: names come from the archive's own
# index, hence from its author.


CHUNK = 1 << 16
MOST_LINKS = 4


class Extent(NamedTuple):
    """Where the bytes of a file are."""

    path: str
    offset: int
    size: int

    def chunks(self) -> Iterator[bytes]:
        """Yield its bytes. Raises LockProblem."""
        try:
            with open(self.path, "rb") as file:
                file.seek(self.offset)
                remaining = self.size
                while remaining and (chunk := file.read(min(CHUNK, remaining))):
                    remaining -= len(chunk)
                    yield chunk
        except OSError as problem:
            raise unreadable_file(self.path, problem) from None


class FileTree(Protocol):
    """A directory or an archive. place: its name in messages."""

    place: str

    def get(self, name: str) -> Extent | None:
        """Return the file of that name, or None. Raises LockProblem."""


class Directory:
    """A tree on disk."""

    def __init__(self, path: str) -> None:
        self.place = path

    def get(self, name: str) -> Extent | None:
        """Return the file of that name."""
        if not _is_inside(name):
            return None
        path = os.path.join(self.place, *name.split("/"))
        real, top = os.path.realpath(path), os.path.realpath(self.place)
        if os.path.commonpath((real, top)) != top:
            raise LockProblem("CC1254.link", place=path, root=self.place)
        try:
            return Extent(path, 0, os.stat(path).st_size) if os.path.isfile(path) else None
        except OSError as problem:
            raise unreadable_file(path, problem) from None


class Archive:
    """A tree in an uncompressed tar archive."""

    def __init__(self, path: str) -> None:
        """Read the headers. Raises LockProblem."""
        self.place = path
        self._members: dict[str, tarfile.TarInfo] = {}
        try:
            with tarfile.open(path, "r:") as archive:
                self._members = {posixpath.normpath(member.name): member for member in archive}
        except OSError as problem:
            raise unreadable_file(path, problem) from None
        except (tarfile.TarError, ValueError, OverflowError, RecursionError):
            raise LockProblem("CC1254.tar", place=path) from None

    def get(self, name: str) -> Extent | None:
        """Return the file of that name; links are followed, because `docker save` stores equal layers once."""
        for _ in range(MOST_LINKS):
            member = self._members.get(posixpath.normpath(name))
            if member is None:
                return None
            if member.issym():
                name = posixpath.join(posixpath.dirname(member.name), member.linkname)
            elif member.islnk():
                name = member.linkname
            elif member.isreg() and not member.issparse():
                return Extent(self.place, member.offset_data, member.size)
            else:
                return None
        return None


def unreadable_file(path: str, problem: OSError) -> LockProblem:
    """Return the problem of a file that cannot be read."""
    reason = problem.strerror or "cannot be read"
    return LockProblem("CC1254.system", place=path, error=reason[:1].lower() + reason[1:])


def _is_inside(name: str) -> bool:
    return not name.startswith("/") and ".." not in name.split("/") and "\0" not in name


# --- A Source that is an OCI image layout: https://github.com/opencontainers/image-spec/blob/v1.1.0/image-layout.md
#
# Rule: an image with a digest is found by that digest alone. By name, only a whole name counts: a layout
# made by `skopeo copy … oci:DIR:1.2` has just "1.2", which could be any repository's.


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
        notes = [(str(entry.get("digest")), mapping(entry.get("annotations"))) for entry in self._entries]
        digests = {digest for digest, texts in notes if any(same_name(texts.get(key), image) for key in NAMES)}
        return digests.pop() if len(digests) == 1 else ""

    def _blob(self, digest: str) -> Extent | None:
        algorithm, _, digits = digest.partition(":")
        return self._tree.get(f"blobs/{algorithm}/{digits}") if digits else None


def same_name(name: Any, image: Image) -> bool:
    """Tell whether a text is a whole name with tag, and means this image."""
    reference = parse_image(name) if isinstance(name, str) and "/" in name else ""
    name_and_tag = (image.name, image.tag or "latest")
    return isinstance(reference, Image) and (reference.name, reference.tag or "latest") == name_and_tag


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


# --- A Source that is the archive of an older `docker save`: a list of configurations and uncompressed layers
#
# Rule: such an archive has no manifest, so the digest of a reference cannot be checked. The image
# is found by its name, its layers are checked against the configuration, and the finding CC1207 warns of the rest.


PLAIN = "application/vnd.docker.image.rootfs.diff.tar"


class DockerArchive:
    """An archive of `docker save` from before it wrote OCI layouts."""

    def __init__(self, tree: FileTree) -> None:
        """Read the list of images. Raises LockProblem."""
        self._tree = tree
        self._files: dict[str, Extent] = {}
        try:
            self._images = maps(load_any(self._small("manifest.json", MANIFEST_LIMIT).decode("utf-8")))
        except (ValueError, RecursionError):
            raise self._unusable("CC1254.json-list") from None

    def find(self, image: Image, digest: str, budget: Budget) -> Found:
        """Make a manifest with the digests of the archive's configuration and layers."""
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


# --- Parse `--from` and open its sources
#
# Rule: sources are tried in the order of the command line, and no others: with an archive alone,
# the network is not used.


FORMS = ("registry", "oci:PATH", "docker-archive:PATH")


class SourceOption(NamedTuple):
    """One `--from`: its form, and the path, "" for the registry."""

    form: str
    path: str = ""


def parse_source(text: str) -> SourceOption | None:
    """Read one `--from`; None when it has none of the FORMS."""
    form, colon, path = text.partition(":")
    if text == "registry":
        return SourceOption("registry")
    return SourceOption(form, path) if form in ("oci", "docker-archive") and colon and path else None


def open_source(place: SourceOption, plain_http: Collection[str], workers: int) -> ImageSource:
    """Open a source. plain_http: see Transport. Raises LockProblem for a file of another form."""
    if place.form == "registry":
        from krm_function.lock.connections import Transport
        from krm_function.lock.registry import Credentials, Registry

        return Registry(Transport(plain_http, workers), Credentials())

    tree: FileTree = Directory(place.path) if os.path.isdir(place.path) else Archive(place.path)
    if place.form == "oci" or tree.get("oci-layout") is not None:  # today's `docker save` writes both forms
        return Layout(tree)
    return DockerArchive(tree)
