"""One archive with the image for each machine: an index whose digest depends on the images alone."""

import hashlib
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tools import image_index
from tools.catalogue import image_digest
from tools.image_index import NAME, PREFIX
from tools.machines import ARM, X86, Machine


def made(directory: Path, machine: Machine, architecture: str = "") -> str:
    """An archive of one image; the digest of its manifest."""
    blobs: dict[str, bytes] = {}

    def blob(value: Any) -> dict[str, Any]:
        data = json.dumps(value).encode()
        digest = hashlib.sha256(data).hexdigest()
        blobs[f"blobs/sha256/{digest}"] = data
        return {"mediaType": "application/x", "digest": f"sha256:{digest}", "size": len(data), "annotations": {}}

    manifest = blob({"config": blob({"architecture": architecture or machine.go, "of": machine.name})})
    files = {**blobs, "oci-layout": b"{}", "index.json": json.dumps({"manifests": [manifest]}).encode()}
    with tarfile.open(directory / f"{PREFIX}-linux-{machine.name}.tar", "w") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return str(manifest["digest"])


def member(directory: Path, name: str) -> bytes:
    with tarfile.open(directory / NAME) as archive:
        file = archive.extractfile(name)
        assert file
        return file.read()


def test_the_index_names_an_image_for_each_machine_and_holds_them(tmp_path: Path) -> None:
    digests = [made(tmp_path, machine) for machine in (X86, ARM)]
    assert image_index.main([str(tmp_path), "x86_64", "aarch64"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == [NAME]
    (entry,) = json.loads(member(tmp_path, "index.json"))["manifests"]
    data = member(tmp_path, entry["digest"].replace("sha256:", "blobs/sha256/"))
    assert (entry["size"], entry["digest"]) == (len(data), f"sha256:{hashlib.sha256(data).hexdigest()}")
    index = json.loads(data)
    assert (index["mediaType"], entry["mediaType"]) == (image_index.INDEX, image_index.INDEX)
    assert [one["digest"] for one in index["manifests"]] == digests
    assert [one["platform"]["architecture"] for one in index["manifests"]] == ["amd64", "arm64"]
    for digest in digests:
        config = json.loads(member(tmp_path, digest.replace("sha256:", "blobs/sha256/")))["config"]["digest"]
        assert member(tmp_path, config.replace("sha256:", "blobs/sha256/"))
    assert image_digest(str(tmp_path / NAME)) == entry["digest"].removeprefix("sha256:")


def test_the_image_of_another_machine_and_a_missing_one_are_errors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made(tmp_path, X86)
    assert image_index.main([str(tmp_path), "x86_64", "aarch64"]) == 1
    assert f"{PREFIX}-linux-aarch64.tar" in capsys.readouterr().err
    made(tmp_path, ARM, "amd64")
    assert image_index.main([str(tmp_path), "x86_64", "aarch64"]) == 1
    assert f"{PREFIX}-linux-aarch64.tar is not one image for aarch64" in capsys.readouterr().err
    assert not (tmp_path / NAME).exists()
