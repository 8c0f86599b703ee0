"""Manifests, indexes and image configurations: from bytes to records.

Rule of this file: closed shapes. A document is a manifest or an index and never both, whatever its media type claims
(CVE-2021-41190); media types are those of the OCI image specification 1.1 and of Docker's schema 2, no others. Source:
docs/facts/oci-registries.md#manifests.
"""

import re
from collections.abc import Mapping
from typing import Any

from krm_function.api.image_lock import CONFIG
from krm_function.api.strict_json import load_object
from krm_function.findings import dotted
from krm_function.lock.lock_problem import LockProblem, malformed
from krm_function.model.image import DIGEST
from krm_function.model.lookup import mapping
from krm_function.record import NamedTuple
from krm_function.schema.read import read_value

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
ATTESTATION = "vnd.docker.reference.type"  # BuildKit's annotation on what stands in an index and is no image

MOST_LAYERS = 512  # overlays take fewer
NAMED = 8  # platforms that a finding names

# What a policy or a person who reviews one looks at; labels and health checks are in no policy and change often.
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


class Index(NamedTuple):
    """Several images. platforms: `os/architecture` or `os/architecture/variant`, "" when the index does not say."""

    entries: tuple[tuple[str, Descriptor], ...]


class ImageConfig(NamedTuple):
    """What the image configuration says: settings as they go into the lock, and the digests of its layers."""

    settings: Mapping[str, Any]
    diff_ids: tuple[str, ...]


def decode_manifest(data: bytes, media_type: str) -> Manifest | Index:
    """Read a manifest or an index. media_type: as the registry said it. Raises LockProblem."""
    what = "the manifest"
    value = _object(data, what)
    claimed = value.get("mediaType") or media_type.partition(";")[0].strip()
    is_index, is_manifest = "manifests" in value, "config" in value or "layers" in value
    if value.get("schemaVersion") != 2 or "fsLayers" in value:
        raise malformed("CC1204.schema-version", what)
    if is_index == is_manifest or (claimed in INDEXES and is_manifest) or (claimed in MANIFESTS and is_index):
        raise malformed("CC1204.both", what)
    if claimed and claimed not in (*INDEXES, *MANIFESTS, "application/json", "text/plain", "application/octet-stream"):
        raise malformed("CC1204.media-type", what)
    if is_index:
        return Index(tuple(_entry(item) for item in _list(value, "manifests", what) if not _is_attestation(item)))
    config = _descriptor(value.get("config"), what)
    if config.media_type not in CONFIGS:
        raise malformed("CC1204.no-image", what)
    rows = _list(value, "layers", what)
    if len(rows) > MOST_LAYERS:
        raise LockProblem("CC1206", what=what, limit=f"{MOST_LAYERS} layers")
    layers = tuple(_descriptor(item, what) for item in rows)
    if any(layer.media_type not in LAYERS for layer in layers):
        raise malformed("CC1204.layer-type", what)
    return Manifest(config, layers)


def choose(index: Index) -> Descriptor:
    """Choose the image for linux/amd64: the first, as containerd does. Raises LockProblem when there is none.

    An index with a single entry may say nothing about its platform; then the image's own configuration does.
    """
    for platform, descriptor in index.entries:
        if platform in (PLATFORM, f"{PLATFORM}/v1"):
            return descriptor
    if len(index.entries) == 1 and not index.entries[0][0]:
        return index.entries[0][1]
    names = list(dict.fromkeys(platform or "an unnamed platform" for platform, _ in index.entries))
    named = ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
    raise LockProblem("CC1205", found=named or "nothing")


def image_config(data: bytes, layers: int) -> ImageConfig:
    """Read an image configuration. layers: how many the manifest has. Raises LockProblem."""
    what = "the image configuration"
    value = _object(data, what)
    platform = f"{_word(value.get('os'))}/{_word(value.get('architecture'))}"
    if platform != PLATFORM:
        raise LockProblem("CC1205", found=platform)
    diff_ids = _list(mapping(value.get("rootfs")), "diff_ids", what)
    if len(diff_ids) != layers:
        raise malformed("CC1204.layer-count", what, count=len(diff_ids), layers=layers)
    config = value.get("config")
    if config is not None and not isinstance(config, dict):
        raise malformed("CC1204.config", what)
    kept = {key: config[key] for key in KEPT if config and config.get(key) not in (None, "", False)}
    reading = read_value(CONFIG, kept)
    for fault in reading.faults:
        raise malformed("CC1204.field", what, field=dotted(fault.path[:1]), error=fault.problem)
    return ImageConfig(reading.value, tuple(_digest(digest, what) for digest in diff_ids))


def _object(data: bytes, what: str) -> dict[str, Any]:
    try:
        return load_object(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise malformed("CC1204.encoding", what) from None
    except RecursionError:
        raise malformed("CC1204.depth", what) from None
    except ValueError as problem:
        raise malformed("CC1204.json", what, error=str(problem)) from None


def _list(value: Mapping[str, Any], key: str, what: str) -> list[Any]:
    entries = value.get(key)
    if not isinstance(entries, list):
        raise malformed("CC1204.list", what, key=key)
    return entries


def _entry(value: Any) -> tuple[str, Descriptor]:
    descriptor = _descriptor(value, "the index")
    platform = mapping(value.get("platform"))
    parts = [_word(platform.get(key)) for key in ("os", "architecture", "variant") if platform.get(key)]
    if descriptor.media_type in INDEXES:
        parts = ["a nested index"]
    return "/".join(parts), descriptor


def _is_attestation(value: Any) -> bool:
    return ATTESTATION in mapping(mapping(value).get("annotations"))


def _descriptor(value: Any, what: str) -> Descriptor:
    part = mapping(value)
    media_type, size = part.get("mediaType"), part.get("size")
    if not isinstance(media_type, str) or isinstance(size, bool) or not isinstance(size, int) or size < 0:
        raise malformed("CC1204.descriptor", what)
    return Descriptor(media_type, _digest(part.get("digest"), what), size)


def _digest(value: Any, what: str) -> str:
    if not isinstance(value, str) or not re.fullmatch(DIGEST, value):
        raise malformed("CC1204.digest", what)
    return value


def _word(value: Any) -> str:
    """Make the control characters of a name out of foreign data visible."""
    return value if isinstance(value, str) and re.fullmatch(r"[A-Za-z0-9._-]{1,32}", value) else "?"
