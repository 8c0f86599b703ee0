"""`lock --write-files`: digests in the image fields of plain files, every other byte as it was."""

import re
from pathlib import Path

import pytest

from krm_function.kubernetes.image import Image
from krm_function.lock.pins import Pin, pin_in_file
from tests import quick_yaml as yaml
from tests.failures.running import Run, listing
from tests.lock.conftest import Locking
from tests.lock.content import image, layer, tar
from tests.lock.registries import Registry
from tests.wording import wording

POD = """# ours
apiVersion: v1
kind: Pod
metadata: {name: web} # keep
spec:
  runtimeClassName: contrast-cc-metal-qemu-snp
  containers:
%s
"""
FORMS = {
    "plain": POD % "  - name: a\n    image:   NAME:1.0   # bump me\n",
    "quotes": POD % "  - {name: a, image: 'NAME:1.0'}   # bump me",
    "init containers": POD % "  - {name: a, image: NAME:1.0}\n  initContainers:\n  - image: NAME:1.0\n    name: b\n",
    "an anchor": POD % "  - {name: a, image: &web NAME:1.0} # ours\n  - {name: b, image: *web}\n",
    "a folded scalar": POD % "  - name: a\n    image: >- # here\n      NAME:1.0\n",
    "an image volume": POD % "  - {name: a, image: NAME:1.0}\n  volumes: [{name: v, image: {reference: NAME:1.0}}]\n",
    "several documents": "---\n# first\na: NAME:1.0\n---\n" + POD % "  - {name: a, image: NAME:1.0}" + "---\n# end\n",
    "CRLF": (POD % "  - name: a\n    image: NAME:1.0\n").replace("\n", "\r\n"),
    "a byte order mark": "\ufeff" + POD % "  - {name: a, image: NAME:1.0}",
    "JSON": '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"},\n\t"spec": {"runtimeClassName":'
    ' "contrast-cc-metal-qemu-snp", "containers": [{"name": "a",  "image": "NAME:1.0"}]}}\n',
    "a List": "apiVersion: v1\nkind: List\nitems:\n" + re.sub("(?m)^", "  ", POD % "  - {name: a, image: NAME:1.0}")
    .replace("  # ours", "- # ours", 1).rstrip(" "),
}  # fmt: skip


def locked(lock: Locking, hub: Registry, *arguments: str, paths: tuple[str, ...] = ("res",)) -> Run:
    return lock(*paths, "-o", "images.yaml", "--insecure-registry", hub.address, *arguments)


def put(lock: Locking, name: str, text: str) -> Path:
    path = lock.directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def test_a_name_that_is_written_with_an_escape_is_written_anew() -> None:
    text = POD % '  - {name: a, image: "web\\x3a1.0"} # bump me'
    pin = Pin(Image("", "web", "1.0", ""), image().digest)
    after, made = pin_in_file(text, [pin])
    assert made == {pin}
    assert after == text.replace("web\\x3a1.0", f"web:1.0@{image().digest}")


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_only_the_images_change_and_the_next_run_is_content(form: str, hub: Registry, lock: Locking) -> None:
    pinned = hub.push(image(), "files/web", "1.0")
    text = FORMS[form].replace("NAME:1.0", pinned.partition("@")[0])
    path = put(lock, "res/web.yaml", text)
    run = locked(lock, hub, "--write-files", "res")
    assert run.code == 0, run.stderr
    assert f"res/web.yaml: {pinned.partition('@')[0]} is pinned to {pinned.partition('@')[2]}" in run.stderr
    assert "CC1201" not in run.stderr
    after = path.read_bytes().decode()
    assert after.replace(f"@{image().digest}", "") == text
    assert after.count("@sha256:") == text.count(":1.0") - (form == "several documents"), "and no text but images"
    assert list(lock.written()) == [pinned]
    again = locked(lock, hub, "--write-files", "res", "--upgrade")
    assert (again.code, path.read_bytes().decode()) == (0, after)
    assert locked(lock, hub, "--check").code == 0


def test_an_upgrade_writes_the_new_digest_and_leaves_other_images_alone(hub: Registry, lock: Locking) -> None:
    old, new = image(), image(layer(tar({"a": "d"})))
    name = hub.push(old, "files/up", "1.0").partition(":1.0@")[0]
    other = hub.push(old, "files/other", "1.0")
    hub.push(new, "files/up", "2.0")
    text = POD % f"  - {{name: a, image: '{name}:2.0@{old.digest}'}} # bumped\n  - {{name: b, image: '{other}'}}"
    path = put(lock, "res/web.yaml", text)
    manifests = (
        f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata: {{containers: '{name}:2.0@{old.digest}'}}\n"
    )
    data = put(lock, "res/data.yaml", manifests)
    assert locked(lock, hub, "--write-files", "res", "--upgrade").code == 0
    assert path.read_text() == text.replace(f"{name}:2.0@{old.digest}", f"{name}:2.0@{new.digest}")
    assert data.read_text() == manifests
    assert set(lock.written()) == {f"{name}:2.0@{new.digest}", other}


def test_the_lock_may_be_among_the_files(hub: Registry, lock: Locking) -> None:
    pinned = hub.push(image(), "files/package", "1.0")
    put(lock, "images.yaml", "")
    put(lock, "web.yaml", POD % f"  - {{name: a, image: '{pinned.partition('@')[0]}'}}")
    assert locked(lock, hub, "--write-files", ".", paths=("web.yaml",)).code == 0
    assert yaml.safe_load((lock.directory / "web.yaml").read_text())["spec"]["containers"][0]["image"] == pinned
    assert list(lock.written()) == [pinned]


def test_an_image_that_no_file_names_is_said_and_the_hint_works(hub: Registry, lock: Locking) -> None:
    pinned = hub.push(image(), "files/elsewhere", "1.0")
    path = put(lock, "res/web.yaml", POD % f"  - {{name: a, image: '{pinned.partition('@')[0]}'}}")
    put(lock, "others/a.yaml", "a: b\n")
    run = locked(lock, hub, "--write-files", "others", "--format", "json")
    (left,) = [one for one in run.findings if one["code"] == "CC1215"]
    assert left["message"] == f"image {pinned.partition('@')[0]} is not pinned in others: {wording('CC1215.files')}"
    written = re.findall(r"write (\S+) where", left["hint"])[0]
    path.write_text(path.read_text().replace(pinned.partition("@")[0], written))
    assert locked(lock, hub, "--check").code == 0


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [("res/broken.yaml", "a: [\n", "CC0101"), ("nowhere", "", "CC1001")],
    ids=["broken", "nowhere"],
)
def test_a_file_that_cannot_be_read_stops_the_run(
    name: str, text: str, code: str, hub: Registry, lock: Locking
) -> None:
    tagged = hub.push(image(), "files/broken", "1.0").partition("@")[0]
    put(lock, "web.yaml", POD % f"  - {{name: a, image: '{tagged}'}}")
    if text:
        put(lock, name, text)
    before = listing(lock.directory)
    run = locked(lock, hub, "--write-files", "web.yaml", "--write-files", name, "--format", "json", paths=("web.yaml",))
    assert [one["code"] for one in run.errors] == [code]
    assert listing(lock.directory) == before


def test_a_link_out_of_the_directory_is_not_written_through(hub: Registry, lock: Locking) -> None:
    tagged = hub.push(image(), "files/link", "1.0").partition("@")[0]
    text = POD % f"  - {{name: a, image: '{tagged}'}}"
    put(lock, "web.yaml", text)
    outside = put(lock, "outside.yaml", text)
    (lock.directory / "res").mkdir()
    (lock.directory / "res/web.yaml").symlink_to(outside)
    run = locked(lock, hub, "--write-files", "res", "--format", "json", paths=("web.yaml",))
    assert [one["code"] for one in run.errors] == ["CC1001"]
    assert outside.read_text() == text
    assert not lock.lock.exists()
