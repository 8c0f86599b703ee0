"""Images that are not in a registry: OCI layouts and docker archives."""

import io
import json
import tarfile
from collections.abc import Mapping

import pytest

from tests.lock.conftest import Locking
from tests.lock.content import (
    ACCOUNTS,
    GROUP,
    PASSWD,
    SETTINGS,
    Image,
    Link,
    digest,
    docker_files,
    image,
    index,
    layer,
    layout_files,
    pods,
    tar,
    written,
)
from tests.lock.registries import Front
from tests.wording import wording

NAME = "registry.example.com/shop/web:1.0"


def archive(lock: Locking, files: Mapping[str, bytes | Link], name: str = "image.tar") -> str:
    (lock.directory / name).write_bytes(tar(files))
    return name


def locked(lock: Locking, source: str, made: Image, name: str = NAME) -> dict[str, object]:
    pinned = f"{name}@{made.digest}"
    entry: dict[str, object] = lock.entries(pinned, flags=("--from", source))[pinned]
    return entry


def refused(lock: Locking, source: str, code: str, name: str, exit: int = 1) -> str:  # noqa: A002
    message: str = lock.refused(code, name, exit=exit, flags=("--from", source))["message"]
    return message


# --- OCI layouts


def test_a_layout_directory(lock: Locking) -> None:
    base = layer(tar(ACCOUNTS))
    made = image(base)
    entry = locked(lock, f"oci:{written(layout_files(made), lock.directory / 'layout')}", made)
    assert entry == {
        "digest": made.digest,
        "config": SETTINGS,
        "passwd": PASSWD,
        "group": GROUP,
        "layers": [{"diffID": base.diff_id, "compressedSize": len(base.data), "uncompressedSize": base.size}],
    }


@pytest.mark.parametrize("form", ["oci", "docker-archive"])
def test_a_layout_archive(form: str, lock: Locking) -> None:
    made = index([("linux/arm64", image(architecture="arm64")), ("linux/amd64", image())])
    entry = locked(lock, f"{form}:{archive(lock, layout_files(made))}", made)
    assert entry["passwd"] == PASSWD, "what docker save writes since version 25 is a layout too"


@pytest.mark.parametrize("name", [NAME, "shop/web", "docker.io/shop/web:latest"])
def test_a_tag_in_a_layout(name: str, lock: Locking) -> None:
    made = image()
    source = f"oci:{written(layout_files(made, name), lock.directory / 'layout')}"
    run = lock.images(name, flags=("--from", source))
    assert run.code == 0, run.stderr
    assert "CC1201" in run.stderr
    assert list(lock.written()) == [f"{name}@{made.digest}"]


@pytest.mark.parametrize("name", ["1.0", "", "registry.example.com/shop/web:2.0", "registry.example.com/other/web:1.0"])
def test_a_name_in_a_layout_that_is_not_the_image(name: str, lock: Locking) -> None:
    source = f"oci:{written(layout_files(image(), name), lock.directory / 'layout')}"
    assert "does not exist in" in refused(lock, source, "CC1202", NAME)


def test_a_digest_that_is_not_in_a_layout(lock: Locking) -> None:
    source = f"oci:{written(layout_files(image()), lock.directory / 'layout')}"
    refused(lock, source, "CC1202", f"{NAME}@{digest(b'other')}")


def test_a_blob_that_was_changed(lock: Locking) -> None:
    made = image()
    files = layout_files(made)
    key = next(key for key, data in files.items() if b"CANARY-image-env" in data)
    files[key] = files[key].replace(b'"web"', b'"bad"')
    source = f"oci:{written(files, lock.directory / 'layout')}"
    assert f"configuration {wording('CC1203.other')}" in refused(lock, source, "CC1203", f"{NAME}@{made.digest}")


def test_a_layer_that_no_tool_should_have_written_is_named(lock: Locking) -> None:
    whole = tar({"bin/a": "b", "etc/passwd": "x"})
    good, damaged = layer(tar({"bin/other": "c"})), layer(whole[:1536])
    made = image(damaged, good)
    source = f"oci:{written(layout_files(made), lock.directory / 'layout')}"
    said = refused(lock, source, "CC1204", f"{NAME}@{made.digest}")
    assert f": layer {damaged.descriptor['digest']} {wording('CC1204.file-end')}" in said


def test_a_blob_that_is_missing(lock: Locking) -> None:
    made = image()
    files = {key: data for key, data in layout_files(made).items() if b"CANARY-image-env" not in data}
    source = f"oci:{written(files, lock.directory / 'layout')}"
    assert "is not in the layout" in refused(lock, source, "CC1204", f"{NAME}@{made.digest}")


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"a": b""}, "has no oci-layout"),
        ({"oci-layout": b"{}"}, "unsupported version"),
        ({"oci-layout": b'{"imageLayoutVersion": "1.0.0"}'}, "has no index.json"),
        ({"oci-layout": b'{"imageLayoutVersion": "1.0.0"}', "index.json": b"["}, wording("CC1252.json")),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_what_is_no_layout(packed: bool, files: dict[str, bytes], says: str, lock: Locking) -> None:
    path = archive(lock, files) if packed else written(files, lock.directory / "layout")
    assert says in refused(lock, f"oci:{path}", "CC1254", f"{NAME}@{digest(b'')}", exit=3)


def test_a_path_that_is_not_there(lock: Locking) -> None:
    assert "no such file" in refused(lock, "oci:nowhere", "CC1254", f"{NAME}@{digest(b'')}", exit=3)


def test_a_compressed_archive(lock: Locking) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz"):
        pass
    (lock.directory / "image.tar.gz").write_bytes(out.getvalue())
    name = f"{NAME}@{digest(b'')}"
    assert "is not an uncompressed tar archive" in refused(lock, "oci:image.tar.gz", "CC1254", name, exit=3)


# --- docker archives


@pytest.fixture
def plain() -> Image:
    base = layer(tar(ACCOUNTS), "plain")
    return image(base, layer(tar({"bin/a": "x"}), "plain"), base)


def test_an_older_docker_archive(plain: Image, lock: Locking) -> None:
    pinned = f"{NAME}@{digest(b'the manifest in the registry')}"
    run = lock.images(pinned, flags=("--from", f"docker-archive:{archive(lock, docker_files(plain, NAME))}"))
    assert run.code == 0, run.stderr
    assert "warning CC1207" in run.stderr
    entry = lock.written()[pinned]
    assert entry["digest"] == pinned.partition("@")[2]
    assert (entry["config"], entry["passwd"]) == (SETTINGS, PASSWD)
    assert {"diffID", "uncompressedSize"} == set(entry["layers"][2])
    assert all("compressedSize" not in row for row in entry["layers"])


def test_a_docker_archive_names_no_digest(plain: Image, lock: Locking) -> None:
    source = f"docker-archive:{archive(lock, docker_files(plain, NAME))}"
    assert "is not pinned" in refused(lock, source, "CC1209", NAME)


def test_an_image_that_is_not_in_the_archive(plain: Image, lock: Locking) -> None:
    source = f"docker-archive:{archive(lock, docker_files(plain, 'shop/other:1'))}"
    refused(lock, source, "CC1202", f"{NAME}@{digest(b'')}")


def test_a_layer_that_is_not_what_the_configuration_says(plain: Image, lock: Locking) -> None:
    files = docker_files(plain, NAME) | {"0/layer.tar": tar({"etc/passwd": "root"})}
    source = f"docker-archive:{archive(lock, files)}"
    assert "a layer" in refused(lock, source, "CC1203", f"{NAME}@{digest(b'')}")


def test_a_configuration_that_is_not_its_name(plain: Image, lock: Locking) -> None:
    files = docker_files(plain, NAME)
    key = next(key for key in files if key.endswith(".json") and key != "manifest.json")
    data = files[key]
    assert isinstance(data, bytes)
    files[key] = data.replace(b'"web"', b'"bad"')
    refused(lock, f"docker-archive:{archive(lock, files)}", "CC1203", f"{NAME}@{digest(b'')}")


@pytest.mark.parametrize("change", ["layers", "config", "list", "json", "absent"])
def test_what_is_no_docker_archive(change: str, plain: Image, lock: Locking) -> None:
    files = docker_files(plain, NAME)
    listed = files.pop("manifest.json")
    assert isinstance(listed, bytes)
    rows = json.loads(listed)
    if change == "layers":
        rows[0]["Layers"].pop()
    if change == "config":
        rows[0]["Config"] = "none.json"
    if change == "list":
        rows[0]["Layers"][1] = "../../etc/passwd"
    if change != "absent":
        files["manifest.json"] = b"[" if change == "json" else json.dumps(rows).encode()
    refused(lock, f"docker-archive:{archive(lock, files)}", "CC1254", f"{NAME}@{digest(b'')}", exit=3)


# --- several sources


def test_sources_are_asked_in_order_and_no_others(lock: Locking, front: Front) -> None:
    here, there = image(settings={"User": "1"}), image(settings={"User": "2"})
    sources = [f"oci:{written(layout_files(one), lock.directory / str(n))}" for n, one in enumerate((here, there))]
    names = [f"{front.address}/shop/web@{one.digest}" for one in (here, there)]
    flags = ("--from", sources[0], "--from", sources[1])
    assert [entry["config"]["User"] for entry in lock.entries(*names, flags=flags).values()] != []
    assert not front.asked


def test_a_registry_after_a_layout(lock: Locking, front: Front) -> None:
    made = image()
    name = front.named(f"x/shop/later@{made.digest}")
    front.rule = lambda asked, count: None
    source = f"oci:{written(layout_files(image(settings={})), lock.directory / 'layout')}"
    message = refused_by_both(lock, source, name)
    assert f"does not exist in {front.address}" in message
    assert front.asked


def refused_by_both(lock: Locking, source: str, name: str) -> str:
    message: str = lock.refused("CC1202", name, flags=("--from", source, "--from", "registry"))["message"]
    return message


def test_without_a_registry_nothing_is_asked_of_one(lock: Locking, front: Front) -> None:
    source = f"oci:{written(layout_files(image()), lock.directory / 'layout')}"
    run = lock("--from", source, data=pods(f"{front.address}/shop/web@{digest(b'')}"))
    assert run.code == 1
    assert not front.asked
