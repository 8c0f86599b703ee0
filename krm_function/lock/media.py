"""Manifests, indexes and image configurations, each verified, within the bounds of one image."""

import hashlib
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from threading import Event
from typing import Any

from krm_function.config.document import load_object
from krm_function.config.image_lock import CONFIG
from krm_function.findings import Finding, dotted, finding
from krm_function.kubernetes.image import DIGEST
from krm_function.kubernetes.objects import mapping
from krm_function.record import NamedTuple
from krm_function.schema.table import read_value

# --- The reason why an image cannot be locked
#
# Rule: a LockProblem is a code of the findings' table and its values, never the text of an exception of a
# library: those quote URLs and headers, and with them credentials.


MISSING = "CC1202"  # the only problem that lets the next source be asked
MALFORMED = "CC1204"


class LockProblem(Exception):
    """Why an image cannot be locked."""

    def __init__(self, code: str, **values: Any) -> None:
        super().__init__(code)
        self.variant = code
        self.values = values

    @property
    def code(self) -> str:
        """The code without the variant."""
        return self.variant.partition(".")[0]

    @property
    def about_registry(self) -> bool:
        """Whether it concerns a registry or the network, and so every image there."""
        return self.code >= "CC1250"

    @property
    def key(self) -> tuple[str, ...]:
        """Two problems that differ in the image alone have the same key."""
        return (self.variant, *(f"{name}={value}" for name, value in sorted(self.values.items())))

    def finding(self, image: str) -> Finding:
        """Make the finding about this image."""
        return finding(self.variant, image=image, **self.values)


def malformed(code: str, part: str, **values: Any) -> LockProblem:
    """Return the problem of content that matches its digest and is malformed.

    code: MALFORMED and a variant. part: which part of the image.
    """
    return LockProblem(code, what=part, **values)


# --- How long the work on one image may take, and how many entries its layers may have
#
# Rule: everything that waits, and every loop over foreign bytes, counts here first. `stop` is set when the
# whole run is over, so that no thread outlives it by more than one read.


MOST_ENTRIES = 2_000_000  # of all layers that are read; each costs some microseconds


class Budget:
    """A deadline of `seconds` from now."""

    __slots__ = ("_end", "_entries", "_seconds", "_stop")

    def __init__(self, seconds: float, stop: Event) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds
        self._stop = stop
        self._entries = 0

    @property
    def left(self) -> float:
        """The seconds that are left. Raises LockProblem when time is up."""
        seconds = self._end - time.monotonic()
        if seconds <= 0 or self._stop.is_set():
            raise self.over()
        return seconds

    def check(self) -> None:
        """Raise LockProblem when time is up."""
        _ = self.left

    def spend(self, entries: int) -> None:
        """Count headers and records of archives; raise LockProblem when there are too many."""
        self._entries += entries
        if self._entries > MOST_ENTRIES:
            raise LockProblem("CC1206", what="the image", limit=f"{MOST_ENTRIES} files and header records")

    def wait(self, seconds: float) -> None:
        """Sleep, or raise LockProblem at once if too little time is left."""
        if seconds >= self.left:
            raise self.over()
        self._stop.wait(seconds)

    def over(self) -> LockProblem:
        """Return the problem of too little time."""
        return LockProblem("CC1250.time", registry="the source", seconds=f"{self._seconds:g}")


# --- Manifests, indexes and image configurations: from bytes to records
#
# Rule: closed shapes. A document is a manifest or an index and never both, whatever its media type claims
# (CVE-2021-41190); media types are those of the OCI image specification 1.1 and of Docker's schema 2, no others.
# Source: docs/facts/oci-registries.md#manifests.


OCI = "application/vnd.oci.image."
DOCKER = "application/vnd.docker.distribution."
MANIFESTS = (f"{OCI}manifest.v1+json", f"{DOCKER}manifest.v2+json")
INDEXES = (f"{OCI}index.v1+json", f"{DOCKER}manifest.list.v2+json")
CONFIGS = (f"{OCI}config.v1+json", "application/vnd.docker.container.image.v1+json")
LAYERS = frozenset(
    (
        *(f"{OCI}layer.{kind}v1.tar{form}" for kind in ("", "nondistributable.") for form in ("", "+gzip", "+zstd")),
        *("application/vnd.docker.image.rootfs.diff.tar" + form for form in ("", ".gzip", ".zstd")),
        "application/vnd.docker.image.rootfs.foreign.diff.tar.gzip",
    )
)
PLATFORM = "linux/amd64"
ATTESTATION = "vnd.docker.reference.type"  # BuildKit's annotation on entries of an index that are not images

MOST_LAYERS = 512  # overlays take fewer
NAMED_PLATFORMS = 8  # platforms that a finding names

# Members that matter to a policy or its reviewer; labels and health checks are in no policy and change often.
KEPT = ("User", "ExposedPorts", "Env", "Entrypoint", "Cmd", "Volumes", "WorkingDir", "StopSignal", "Tty")


class Descriptor(NamedTuple):
    """A part of an image. digest: `sha256:<64 hex>`; size in bytes, -1 when only the digest is known."""

    media_type: str
    digest: str
    size: int


class Manifest(NamedTuple):
    """One image: its configuration and its layers, lowest first."""

    config: Descriptor
    layers: tuple[Descriptor, ...]


Index = tuple[tuple[str, Descriptor], ...]
"""Images, each with `os/architecture` or `os/architecture/variant`, "" where the index has no platform."""


def decode_manifest(data: bytes, media_type: str) -> Manifest | Index:
    """Read a manifest or an index. media_type: as the source gives it. Raises LockProblem."""
    part = "the manifest"
    value = _load_object(data, part)
    claimed = value.get("mediaType") or media_type.partition(";")[0].strip()
    is_index, is_manifest = "manifests" in value, "config" in value or "layers" in value
    if value.get("schemaVersion") != 2 or "fsLayers" in value:
        raise malformed("CC1204.schema-version", part)
    if is_index == is_manifest or (claimed in INDEXES and is_manifest) or (claimed in MANIFESTS and is_index):
        raise malformed("CC1204.both", part)
    if claimed and claimed not in (*INDEXES, *MANIFESTS, "application/json", "text/plain", "application/octet-stream"):
        raise malformed("CC1204.media-type", part)
    if is_index:
        items = _list_member(value, "manifests", part)
        images = [item for item in items if ATTESTATION not in mapping(mapping(item).get("annotations"))]
        return tuple(map(_platform_entry, images))
    config = _read_descriptor(value.get("config"), part)
    if config.media_type not in CONFIGS:
        raise malformed("CC1204.no-image", part)
    rows = _list_member(value, "layers", part)
    if len(rows) > MOST_LAYERS:
        raise LockProblem("CC1206", what=part, limit=f"{MOST_LAYERS} layers")
    layers = tuple(_read_descriptor(item, part) for item in rows)
    if any(layer.media_type not in LAYERS for layer in layers):
        raise malformed("CC1204.layer-type", part)
    return Manifest(config, layers)


def choose(index: Index) -> Descriptor:
    """Choose the image for linux/amd64: the first, as containerd does. Raises LockProblem without one.

    An index with a single entry may lack its platform; then the image's own configuration has it.
    """
    for platform, descriptor in index:
        if platform in (PLATFORM, f"{PLATFORM}/v1"):
            return descriptor
    if len(index) == 1 and not index[0][0]:
        return index[0][1]
    names = list(dict.fromkeys(platform or "an unnamed platform" for platform, _ in index))
    text = ", ".join(names[:NAMED_PLATFORMS]) + (
        f" and {len(names) - NAMED_PLATFORMS} more" if len(names) > NAMED_PLATFORMS else ""
    )
    raise LockProblem("CC1205", found=text or "nothing")


def image_config(data: bytes, layers: int) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """Read an image configuration: the settings as they go into the lock, and the digests of its layers.

    layers: how many the manifest has. Raises LockProblem.
    """
    part = "the image configuration"
    value = _load_object(data, part)
    platform = f"{_make_printable(value.get('os'))}/{_make_printable(value.get('architecture'))}"
    if platform != PLATFORM:
        raise LockProblem("CC1205", found=platform)
    diff_ids = _list_member(mapping(value.get("rootfs")), "diff_ids", part)
    if len(diff_ids) != layers:
        raise malformed("CC1204.layer-count", part, count=len(diff_ids), layers=layers)
    config = value.get("config")
    if config is not None and not isinstance(config, dict):
        raise malformed("CC1204.config", part)
    fields = {key: config[key] for key in KEPT if config and config.get(key) not in (None, "", False)}
    settings, config_faults = read_value(CONFIG, fields)
    for fault in config_faults:
        raise malformed("CC1204.field", part, field=dotted(fault.path[:1]), error=fault.problem)
    return settings, tuple(_check_digest(digest, part) for digest in diff_ids)


def _load_object(data: bytes, part: str) -> dict[str, Any]:
    try:
        return load_object(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise malformed("CC1204.encoding", part) from None
    except RecursionError:
        raise malformed("CC1204.depth", part) from None
    except ValueError as problem:
        raise malformed("CC1204.json", part, error=str(problem)) from None


def _list_member(value: Mapping[str, Any], key: str, part: str) -> list[Any]:
    entries = value.get(key)
    if not isinstance(entries, list):
        raise malformed("CC1204.list", part, key=key)
    return entries


def _platform_entry(value: Any) -> tuple[str, Descriptor]:
    descriptor = _read_descriptor(value, "the index")
    platform = mapping(value.get("platform"))
    parts = [_make_printable(platform.get(key)) for key in ("os", "architecture", "variant") if platform.get(key)]
    if descriptor.media_type in INDEXES:
        parts = ["a nested index"]
    return "/".join(parts), descriptor


def _read_descriptor(value: Any, part: str) -> Descriptor:
    entry = mapping(value)
    media_type, size = entry.get("mediaType"), entry.get("size")
    if not isinstance(media_type, str) or isinstance(size, bool) or not isinstance(size, int) or size < 0:
        raise malformed("CC1204.descriptor", part)
    return Descriptor(media_type, _check_digest(entry.get("digest"), part), size)


def _check_digest(value: Any, part: str) -> str:
    if not isinstance(value, str) or not re.fullmatch(DIGEST, value):
        raise malformed("CC1204.digest", part)
    return value


def _make_printable(value: Any) -> str:
    """Make control characters of foreign data visible."""
    return value if isinstance(value, str) and re.fullmatch(r"[A-Za-z0-9._-]{1,32}", value) else "?"


# --- Verify bytes against a digest
#
# Rule: a digest is known after the last byte, so a reader of `chunks` must read to the end before it uses
# anything; `whole` does that for parts that fit into memory.


def chunks(data: Iterable[bytes], part: Descriptor, name: str, limit: int) -> Iterator[bytes]:
    """Yield the chunks unchanged. Raises LockProblem at the first byte too many, and at the end for other bytes.

    limit: bytes that are read of a part whose size is not known.
    """
    refuse_too_large(part, name, limit)
    most = limit if part.size < 0 else part.size
    seen, count = hashlib.sha256(), 0
    for chunk in data:
        count += len(chunk)
        if count > most:
            if part.size < 0:
                raise too_large(name, limit)
            raise LockProblem("CC1203.longer", what=name, size=part.size, digest=part.digest)
        seen.update(chunk)
        yield chunk
    if 0 <= part.size != count:
        raise LockProblem("CC1203.shorter", what=name, count=count, size=part.size, digest=part.digest)
    if f"sha256:{seen.hexdigest()}" != part.digest:
        raise LockProblem("CC1203.other", what=name, digest=part.digest)


def whole(data: Iterable[bytes], part: Descriptor, name: str, limit: int) -> bytes:
    """Return all bytes of a small part, verified."""
    return b"".join(chunks(data, part, name, limit))


def refuse_too_large(part: Descriptor, name: str, limit: int) -> None:
    """Refuse a part whose declared size is too large, before it is fetched."""
    if part.size > limit:
        raise too_large(name, limit)


def too_large(name: str, limit: int) -> LockProblem:
    """Return the problem of too many bytes."""
    return LockProblem("CC1206", what=name, limit=amount(limit))


def amount(size: int) -> str:
    """Write a number of bytes as text: `8 GiB`, `1.5 MiB`, `312 bytes`."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size} bytes"
