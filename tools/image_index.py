"""`python -m tools.image_index DIRECTORY MACHINE...`: one archive with the image for each machine, out of theirs.

    contrast-krm-VERSION-image-linux-MACHINE.tar    what tools/image.py made on each machine; they are removed
    contrast-krm-VERSION-image.tar                  an OCI layout of an image index, which names an image for each

Rule of this file: images are copied as they are, and the index is made of them alone, so its digest is known before
anything is pushed. Source: the image index and the image layout of the OCI image specification 1.1.
"""

import hashlib
import json
import os
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from typing import Any

from krm_function import __version__
from tools.archive import files_below, tar
from tools.cache import ToolError, say
from tools.machines import MACHINES, Machine

INDEX = "application/vnd.oci.image.index.v1+json"
PREFIX = f"contrast-krm-{__version__}-image"
NAME = f"{PREFIX}.tar"

Json = dict[str, Any]


def combine(directory: str, machines: Sequence[Machine]) -> str:
    """Write the archive and remove those that are in it; the digest of the index. Raises ToolError."""
    parts = [os.path.join(directory, f"{PREFIX}-linux-{machine.name}.tar") for machine in machines]
    with tempfile.TemporaryDirectory() as layout:
        images = [_image(path, machine, layout) for path, machine in zip(parts, machines, strict=True)]
        index = _blob({"schemaVersion": 2, "mediaType": INDEX, "manifests": images}, layout)
        _write(os.path.join(layout, "index.json"), {"schemaVersion": 2, "mediaType": INDEX, "manifests": [index]})
        members = files_below(layout, ".")
        del members["."]
        with open(os.path.join(directory, NAME), "wb") as file:
            file.write(tar(members))
    for path in parts:
        os.unlink(path)
    return str(index["digest"])


def _image(path: str, machine: Machine, layout: str) -> Json:
    """Unpack an archive into the layout; return what the index says of its image."""
    with tarfile.open(path) as archive:
        archive.extractall(layout, filter="data")
    (one, *more) = _read(os.path.join(layout, "index.json"))["manifests"]
    config = _read(_place(_read(_place(one["digest"], layout))["config"]["digest"], layout))
    if more or config["architecture"] != machine.go:
        raise ToolError(f"{os.path.basename(path)} is not one image for {machine.name}")
    platform = {"architecture": machine.go, "os": "linux"}
    return {**{key: one[key] for key in ("mediaType", "digest", "size")}, "platform": platform}


def _blob(value: Json, layout: str) -> Json:
    """Write a value as a blob; return its descriptor."""
    data = json.dumps(value, separators=(",", ":")).encode()
    digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
    with open(_place(digest, layout), "wb") as file:
        file.write(data)
    return {"mediaType": value["mediaType"], "digest": digest, "size": len(data)}


def _place(digest: str, layout: str) -> str:
    return os.path.join(layout, "blobs", *digest.split(":"))


def _read(path: str) -> Json:
    with open(path, encoding="utf-8") as file:
        return dict(json.load(file))


def _write(path: str, value: Json) -> None:
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file)


def main(arguments: Sequence[str]) -> int:
    """Make the archive; 0, or 1 with one line that says what is wrong."""
    directory, *names = arguments or [""]
    if not directory or not names or not set(names) <= MACHINES.keys():
        print(f"usage: python -m tools.image_index DIRECTORY MACHINE...; of {', '.join(MACHINES)}", file=sys.stderr)
        return 2
    try:
        print(combine(directory, [MACHINES[name] for name in names]))
    except (ToolError, OSError, KeyError, ValueError, tarfile.TarError) as error:
        say(f"error: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
