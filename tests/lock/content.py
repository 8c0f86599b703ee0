"""Images made here: layers of a few tar members, configurations, manifests, indexes; and the forms they are kept in."""

import gzip
import hashlib
import io
import json
import sys
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

if sys.version_info >= (3, 14):
    from compression.zstd import compress as zstd
else:
    from backports.zstd import compress as zstd

OCI = "application/vnd.oci.image."
MANIFEST, INDEX = f"{OCI}manifest.v1+json", f"{OCI}index.v1+json"
CONFIG = f"{OCI}config.v1+json"
LAYER = f"{OCI}layer.v1.tar"

PASSWD = "root:x:0:0:root:/root:/bin/sh\nweb:x:1000:1000::/home/web:/bin/sh\n"
GROUP = "root:x:0:\nwheel:x:10:root,web\nweb:x:1000:\n"
ACCOUNTS: dict[str, Any] = {"etc/": None, "etc/passwd": PASSWD, "etc/group": GROUP}
SETTINGS = {
    "User": "web",
    "Env": ["PATH=/bin", "TOKEN=CANARY-image-env"],
    "Entrypoint": ["/bin/web"],
    "WorkingDir": "/",
}


class Link(NamedTuple):
    """A symbolic link, or a hard one."""

    target: str
    hard: bool = False


class Part(NamedTuple):
    """A blob with its descriptor; diff_id and size of what it is uncompressed, for layers."""

    data: bytes
    descriptor: dict[str, Any]
    diff_id: str = ""
    size: int = 0


class Image(NamedTuple):
    """A manifest or index, and every blob by digest, other manifests included."""

    manifest: bytes
    media_type: str
    blobs: dict[str, bytes]

    @property
    def digest(self) -> str:
        return digest(self.manifest)


def digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def tar(members: Mapping[str, str | bytes | Link | None] | Sequence[tuple[str, Any]]) -> bytes:
    """A tar archive. A member is text, a link, or None: a directory, if its name ends in a slash, else a device."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, value in members.items() if isinstance(members, Mapping) else members:
            member = tarfile.TarInfo(name)
            data = b""
            if isinstance(value, Link):
                member.type = tarfile.LNKTYPE if value.hard else tarfile.SYMTYPE
                member.linkname = value.target
            elif value is None:
                member.type = tarfile.DIRTYPE if name.endswith("/") else tarfile.CHRTYPE
            else:
                data = value.encode() if isinstance(value, str) else value
                member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


def part(data: bytes, media_type: str) -> Part:
    return Part(data, {"mediaType": media_type, "digest": digest(data), "size": len(data)})


def layer(plain: bytes, form: str = "gzip") -> Part:
    """A layer of a tar archive. form: gzip, zstd or plain."""
    data = {"gzip": lambda: gzip.compress(plain, mtime=0), "zstd": lambda: zstd(plain), "plain": lambda: plain}
    made = part(data[form](), LAYER + ("" if form == "plain" else f"+{form}"))
    return made._replace(diff_id=digest(plain), size=len(plain))


def config(layers: Sequence[Part], settings: Any = None, **more: Any) -> bytes:
    value = {
        "os": "linux",
        "architecture": "amd64",
        "config": SETTINGS if settings is None else settings,
        "rootfs": {"type": "layers", "diff_ids": [one.diff_id for one in layers]},
        **more,
    }
    return json.dumps(value).encode()


def image(*layers: Part, settings: Any = None, configuration: bytes | None = None, **more: Any) -> Image:
    """An image of some layers, by default of one with two account files."""
    parts = layers or (layer(tar(ACCOUNTS)),)
    made = part(config(parts, settings, **more) if configuration is None else configuration, CONFIG)
    value = {"schemaVersion": 2, "mediaType": MANIFEST, "config": made.descriptor}
    manifest = json.dumps({**value, "layers": [one.descriptor for one in parts]}).encode()
    return Image(manifest, MANIFEST, {one.descriptor["digest"]: one.data for one in (made, *parts)})


def index(entries: Sequence[tuple[str, Image]], *, attested: bool = False) -> Image:
    """An index of images by `os/architecture`, and as BuildKit makes it, with an attestation of the first."""
    rows: list[dict[str, Any]] = []
    blobs: dict[str, bytes] = {}
    for platform, entry in entries:
        os, _, rest = platform.partition("/")
        architecture, _, variant = rest.partition("/")
        named = {"os": os, "architecture": architecture} | ({"variant": variant} if variant else {})
        row = {"mediaType": entry.media_type, "digest": entry.digest, "size": len(entry.manifest)}
        rows.append(row | ({"platform": named} if platform else {}))
        blobs |= entry.blobs | {entry.digest: entry.manifest}
    if attested:
        notes = {"vnd.docker.reference.type": "attestation-manifest"}
        unknown = {"os": "unknown", "architecture": "unknown"}
        rows.append({**rows[0], "platform": unknown, "annotations": notes})
    data = json.dumps({"schemaVersion": 2, "mediaType": INDEX, "manifests": rows}).encode()
    return Image(data, INDEX, blobs)


def layout_files(made: Image, name: str = "") -> dict[str, bytes]:
    """The files of an OCI layout."""
    row = {"mediaType": made.media_type, "digest": made.digest, "size": len(made.manifest)}
    notes = {"annotations": {"org.opencontainers.image.ref.name": name}} if name else {}
    blobs = made.blobs | {made.digest: made.manifest}
    return {
        "oci-layout": b'{"imageLayoutVersion": "1.0.0"}',
        "index.json": json.dumps({"schemaVersion": 2, "manifests": [row | notes]}).encode(),
        **{f"blobs/{key.replace(':', '/')}": data for key, data in blobs.items()},
    }


def docker_files(made: Image, name: str) -> dict[str, bytes | Link]:
    """The files of an older `docker save` of an image with plain layers; equal layers are links, as with Docker."""
    manifest = json.loads(made.manifest)
    key = manifest["config"]["digest"].removeprefix("sha256:")
    layers = [row["digest"] for row in manifest["layers"]]
    names = [f"{index}/layer.tar" for index in range(len(layers))]
    files: dict[str, bytes | Link] = {f"{key}.json": made.blobs[f"sha256:{key}"]}
    for position, (path, one) in enumerate(zip(names, layers, strict=True)):
        first = layers.index(one)
        files[path] = made.blobs[one] if first == position else Link(f"../{names[first]}")
    rows = [{"Config": f"{key}.json", "RepoTags": [name], "Layers": names}]
    return {**files, "manifest.json": json.dumps(rows).encode()}


def written(files: Mapping[str, bytes], directory: Path) -> str:
    for name, data in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return str(directory)


def pods(*images: str) -> bytes:
    """One confidential pod with all of these images."""
    containers = "".join(f"  - name: c{number}\n    image: {name}\n" for number, name in enumerate(images))
    head = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  runtimeClassName: contrast-cc-metal-qemu-snp\n"
    return f"{head}  containers:\n{containers}".encode()
