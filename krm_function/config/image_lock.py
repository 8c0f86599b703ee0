"""ImageLock: the known facts of the images.

Rule of this file: `config` accepts only the field names of the OCI image specification, so that a mistyped name is not
silently an image without that setting. No policy reads the sizes of layers: they are only for the memory of VMs.
"""

import re
from collections.abc import Mapping
from typing import Any

from krm_function.config.document import ConfigDocument, ConfigKind, config_reference, located, read_body
from krm_function.config.generate import REFERENCE
from krm_function.findings import Finding, finding, has_errors
from krm_function.kubernetes.image import DIGEST, TAG
from krm_function.kubernetes.objects import mapping
from krm_function.record import Annotated, NamedTuple
from krm_function.schema.table import filled, table
from krm_function.schema.values import Field, Flag, ListOf, MapOf, Number, Record, Text

KIND: ConfigKind = "ImageLock"
DIGESTS = Text("a digest", DIGEST, example="sha256:<64 hex digits>")
TAGS = Text("a tag", TAG, example="v1.2.0")
STRINGS = ListOf(Text())

# https://github.com/opencontainers/image-spec/blob/v1.1.0/config.md, including Docker's legacy fields
CONFIG = Record(
    {
        "User": Field(Text()),
        "ExposedPorts": Field(MapOf(Text(), Record({}, closed=False))),
        "Env": Field(STRINGS),
        "Entrypoint": Field(STRINGS),
        "Cmd": Field(STRINGS),
        "Volumes": Field(MapOf(Text(), Record({}, closed=False))),
        "WorkingDir": Field(Text()),
        "Labels": Field(MapOf(Text(), Text())),
        "StopSignal": Field(Text()),
        "Tty": Field(Flag()),
        "ArgsEscaped": Field(Flag()),
        "Memory": Field(Number()),
        "MemorySwap": Field(Number()),
        "CpuShares": Field(Number()),
        "Healthcheck": Field(Record({}, closed=False)),
        "OnBuild": Field(STRINGS),
        "Shell": Field(STRINGS),
    }
)
LAYER = Record(
    {
        "diffID": Field(DIGESTS, "digest of the uncompressed layer", required=True),
        "compressedSize": Field(Number(0), "bytes"),
        "uncompressedSize": Field(Number(0), "bytes"),
    }
)


class ImageFacts(NamedTuple):
    """The facts of one image: its digest and its OCI image config, passwd/group as file text or None."""

    digest: Annotated[str, Field(DIGESTS, "digest of the image's manifest or index")]
    config: Annotated[Mapping[str, Any], Field(CONFIG, "the OCI image configuration's `config`")]
    passwd: Annotated[str | None, Field(Text(), 'the image\'s /etc/passwd; "" if it has none')] = None
    group: Annotated[str | None, Field(Text(), 'the image\'s /etc/group; "" if it has none')] = None
    found_as: Annotated[
        str,
        Field(TAGS, "the tag by which this digest is known, if nobody has looked up the one that pods name"),
    ] = ""
    pinned_over: Annotated[
        str,
        Field(Text(), "the tag of the base, or the chart's appVersion, of which the pin that `lock` wrote is a copy"),
    ] = ""
    layers: Annotated[tuple[Mapping[str, Any], ...], Field(ListOf(LAYER), "in order, lowest first")] = ()


IMAGE = table(ImageFacts)
IMAGE_LOCK = Record(
    {"images": Field(MapOf(REFERENCE, IMAGE), "by reference, exactly as a pod names the image", required=True)}
)


def parse_image_lock(document: ConfigDocument) -> tuple[dict[str, ImageFacts] | None, tuple[Finding, ...]]:
    """Read an ImageLock; None if a finding is an error.

    An entry must have the digest that its key names.
    """
    _, spec, faults = read_body(document, KIND, IMAGE_LOCK)
    images: dict[str, Any] = mapping(spec.get("images"))
    findings = list(faults)
    ref = config_reference(document)
    for name, facts in images.items():
        _, pinned, digest = str(name).partition("@")
        locked = mapping(facts).get("digest")
        if pinned and isinstance(locked, str) and locked != digest and re.fullmatch(DIGEST, locked):
            path = ("spec", "images", name, "digest")
            findings.append(located(finding("CC0505", ref, path, locked=locked, image=name), document))
    if has_errors(findings):
        return None, tuple(findings)
    return filled(IMAGE_LOCK, spec)["images"], tuple(findings)


def unknown_accounts(image: ImageFacts) -> str:
    """Name the account files that the entry of an image lacks: "passwd", "group", "passwd and group"; "" for none.

    A missing text does not mean that the image has no users: if they are needed, it is CC0508.
    """
    return " and ".join(name for name, text in (("passwd", image.passwd), ("group", image.group)) if text is None)
