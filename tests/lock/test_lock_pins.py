"""`lock --write-kustomize` and `--write-values`: what the real tools build afterwards is pinned, and in the lock."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.failures.running import Run
from tests.lock.conftest import Locking
from tests.lock.content import digest, image, layer, tar
from tests.lock.registries import Registry
from tests.wording import wording
from tools.real import tool

POD = """apiVersion: v1
kind: Pod
metadata: {name: %s}
spec:
  %scontainers:
%s"""
SEALED = "runtimeClassName: contrast-cc-metal-qemu-snp\n  "


def pod(name: str, *images: str, sealed: bool = True) -> str:
    containers = "".join(f"    - {{name: c{number}, image: '{one}'}}\n" for number, one in enumerate(images))
    return POD % (name, SEALED if sealed else "", containers)


def built(directory: Path) -> bytes:
    return subprocess.run([tool("kustomize"), "build", str(directory)], check=True, capture_output=True).stdout


def images_of(stream: bytes) -> list[str]:
    pods = [one for one in yaml.safe_load_all(stream) if one["kind"] == "Pod"]
    return [container["image"] for one in pods for container in one["spec"]["containers"]]


class Overlay:
    """A kustomization in the directory of a lock."""

    def __init__(self, lock: Locking, hub: Registry, kustomization: str, *pods: str) -> None:
        self.lock, self.hub = lock, hub
        self.file = lock.directory / "kustomization.yaml"
        self.file.write_bytes(kustomization.encode())
        for number, text in enumerate(pods):
            (lock.directory / f"pod{number}.yaml").write_text(text)

    def run(self, *arguments: str, where: str = ".") -> Run:
        flags = ("-o", "images.yaml", "--insecure-registry", self.hub.address, "--write-kustomize", where)
        return self.lock(*flags, *arguments, data=built(self.lock.directory))


@pytest.fixture(scope="module")
def web(hub: Registry) -> str:
    """An image by its tag."""
    return hub.push(image(), "pins/web").partition("@")[0]


FORMS = {
    "nothing": "resources: [pod0.yaml] # all\n",
    "an empty list": "resources: [pod0.yaml]\nimages: []\n",
    "null": "resources: [pod0.yaml]\nimages:\n# the end\n",
    "another image": "resources: [pod0.yaml]\nimages:\n# ours\n- name: other # keep\n  newTag: '2'\n\nnamePrefix: a-\n",
    "a flow list": "resources: [pod0.yaml]\nimages: [{name: other, newTag: '2'}]   # keep\n",
    "the image with its tag": 'resources: [pod0.yaml]\nimages:\n- name: NAME\n  newTag: "1.0" # bump me\n',
    "the image in flow style": "resources: [pod0.yaml]\nimages: [{name: NAME, newTag: '1.0'}] # bump me\n",
    "another name": "resources: [pod0.yaml]\nimages:\n- newName: NAME # mirrored\n  name: other\n",
    "two entries": "resources: [pod0.yaml]\nimages:\n- name: other\n  newName: NAME\n- name: NAME\n  newTag: '1.0'\n",
    "an end without a line feed": "resources: [pod0.yaml]\nimages:\n- {name: NAME, newTag: '1.0'}",
    "CRLF": "resources: [pod0.yaml]\r\nimages:\r\n- name: NAME\r\n  newTag: '1.0'\r\n",
    "a byte order mark": "\ufeffresources: [pod0.yaml]\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_what_kustomize_builds_next_is_pinned_and_in_the_lock(
    form: str, web: str, hub: Registry, lock: Locking
) -> None:
    name = web.rpartition(":")[0]
    overlay = Overlay(
        lock, hub, FORMS[form].replace("NAME", name), pod("web", "other:1.0" if form == "another name" else web)
    )
    before = overlay.file.read_bytes()
    run = overlay.run()
    assert run.code == 0, run.stderr
    assert f"kustomization.yaml: {web} is pinned to sha256:" in run.stderr
    assert "CC1201" not in run.stderr
    (pinned,) = images_of(built(lock.directory))
    assert pinned == f"{web}@{digest(image().manifest)}"
    assert list(lock.written()) == [pinned]
    after = overlay.file.read_bytes()
    words = re.split(rb"[\s,{}\[\]]+", before.rstrip())
    rest = iter(re.split(rb"[\s,{}\[\]]+", after))
    assert all(word in rest for word in words if word), "what was there stands there, in its order"
    assert after.count(b"\r\n") == (after.count(b"\n") if b"\r" in before else 0)
    again = overlay.run()
    assert (again.code, overlay.file.read_bytes()) == (0, after)
    assert "0 fetched" in again.stderr


def test_an_entry_with_a_suffix_for_tags_gets_another_behind_it(hub: Registry, lock: Locking) -> None:
    name = f"{hub.address}/pins/suffix"
    text = f"resources: [pod0.yaml]\nimages:\n- name: {name}\n  tagSuffix: -debug\n"
    overlay = Overlay(lock, hub, text, pod("web", f"{name}:1.0"))
    (tagged,) = images_of(built(lock.directory))
    hub.push(image(), "pins/suffix", tagged.rpartition(":")[2])
    run = overlay.run()
    assert run.code == 0, run.stderr
    assert overlay.file.read_text().startswith(text)
    assert images_of(built(lock.directory)) == list(lock.written()) == [f"{tagged}@{digest(image().manifest)}"]


def test_an_entry_without_effect_does_not_hold_the_pin_for_ever(web: str, hub: Registry, lock: Locking) -> None:
    name = web.rpartition(":")[0]
    text = f"resources: [pod0.yaml]\nimages:\n- name: other\n  newName: {name} # nothing is named other\n"
    overlay = Overlay(lock, hub, text, pod("web", web))
    assert overlay.run().code == 0
    assert images_of(built(lock.directory)) == [web]
    assert overlay.run().code == 0
    assert images_of(built(lock.directory)) == list(lock.written())


def test_an_image_without_a_tag_gets_its_digest_alone(hub: Registry, lock: Locking) -> None:
    name = hub.push(image(), "pins/latest", "latest").partition(":latest")[0]
    overlay = Overlay(lock, hub, "resources: [pod0.yaml]\n", pod("web", name))
    assert overlay.run().code == 0
    assert images_of(built(lock.directory)) == list(lock.written()) == [f"{name}@{digest(image().manifest)}"]


OTHER_USES: dict[str, tuple[str, ...]] = {
    "two tags of one confidential pod": (pod("web", "IMAGE:1.0", "IMAGE:2.0"),),
    "another tag of a pod that is not confidential": (
        pod("web", "IMAGE:1.0"),
        pod("other", "IMAGE:2.0", sealed=False),
    ),
    "another digest": (pod("web", "IMAGE:1.0"), pod("other", f"IMAGE@sha256:{'1' * 64}", sealed=False)),
}


@pytest.mark.parametrize("use", OTHER_USES)
def test_an_entry_that_would_change_what_others_run_is_not_written(use: str, hub: Registry, lock: Locking) -> None:
    made = image()
    name = hub.push(made, "pins/two", "1.0").partition(":1.0@")[0]
    hub.push(image(layer(tar({"a": "b"}))), "pins/two", "2.0")
    pods = [text.replace("IMAGE", name) for text in OTHER_USES[use]]
    files = ", ".join(f"pod{number}.yaml" for number in range(len(pods)))
    overlay = Overlay(lock, hub, f"resources: [{files}]\n", *pods)
    before = overlay.file.read_bytes()
    run = overlay.run("--format", "json")
    assert (run.code, overlay.file.read_bytes()) == (0, before)
    left = [one for one in run.findings if one["code"] == "CC1215"]
    assert left[0]["message"].startswith(f"image {name}:1.0 is not pinned in ./kustomization.yaml: an entry of images:")
    for one in left:  # the hint, to the letter
        pinned = re.findall(r"write (\S+) where the image is named", one["hint"])[0]
        for path in lock.directory.glob("pod*.yaml"):
            path.write_text(path.read_text().replace(f"'{pinned.partition('@')[0]}'", f"'{pinned}'"))
    again = overlay.run("--format", "json")
    assert (again.code, [one["code"] for one in again.findings]) == (0, ["CC1211"])
    assert {one for one in images_of(built(lock.directory)) if one.startswith(f"{name}:")} >= set(lock.written())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "where", "code", "says"),
    [
        ("kind: Component\n", ".", "CC0909", "it is not a kustomization"),
        ("images: a\n", ".", "CC0909", "images is not a list of maps"),
        ("images: [a]\n", ".", "CC0909", "images is not a list of maps"),
        ("a: [\n", "kustomization.yaml", "CC0101", "not valid YAML"),
        ("resources: []\n", "nowhere", "CC1001", "no such file"),
        ("resources: []\n", "empty", "CC1001", "it has no kustomization"),
    ],
)
def test_a_file_that_cannot_hold_pins_stops_the_run(
    text: str, where: str, code: str, says: str, web: str, hub: Registry, lock: Locking
) -> None:
    (lock.directory / "empty").mkdir()
    (lock.directory / "kustomization.yaml").write_text(text)
    flags = ("-o", "images.yaml", "--insecure-registry", hub.address, "--write-kustomize", where, "--format", "json")
    run = lock(*flags, data=pod("web", web).encode())
    assert run.code in {1, 2, 3}
    assert [one["code"] for one in run.errors] == [code]
    assert says in run.errors[0]["message"]
    assert not lock.lock.exists()
    assert (lock.directory / "kustomization.yaml").read_text() == text


def test_nothing_is_written_when_an_image_cannot_be_found(web: str, hub: Registry, lock: Locking) -> None:
    overlay = Overlay(lock, hub, "resources: [pod0.yaml]\n", pod("web", web, f"{hub.address}/pins/nothing:1"))
    run = overlay.run()
    assert run.code == 1
    assert overlay.file.read_text() == "resources: [pod0.yaml]\n"
    assert not lock.lock.exists()


# --- Helm

TEMPLATE = pod("web", "IMAGE")
VALUES = {
    "a repository and a tag": (
        "image:\n  repository: NAME # mirrored\n  tag: '1.0' # bump me\nmore: x\n",
        "{{ .Values.image.repository }}:{{ .Values.image.tag }}",
    ),
    "a registry beside them": (
        "image: {registry: HOST, repository: pins/web, tag: '1.0', digest: ''} # all\n",
        (
            "{{ .Values.image.registry }}/{{ .Values.image.repository }}"
            "{{ with .Values.image.digest }}@{{ . }}{{ else }}:{{ .Values.image.tag }}{{ end }}"
        ),
    ),
    "an empty tag": (
        "image:\n  repository: NAME\n  tag: ''\n",
        "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}",
    ),
    "no tag": (
        "image:\n  repository: NAME\n",
        "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}",
    ),
    "the whole reference": ("# ours\nimage: NAME:1.0 # bump me\n", "{{ .Values.image }}"),
    "a list": ("images:\n- NAME:1.0\n- other\n", "{{ index .Values.images 0 }}"),
    "two places": (
        "web: {image: {name: NAME, tag: '1.0'}}\njobs:\n- image: NAME\n  tag: '1.0'\n",
        "{{ .Values.web.image.name }}:{{ .Values.web.image.tag }}",
    ),
}


def chart(lock: Locking, values: str, template: str) -> None:
    (lock.directory / "chart/templates").mkdir(parents=True)
    (lock.directory / "chart/Chart.yaml").write_text("apiVersion: v2\nname: shop\nversion: 1.0.0\nappVersion: '1.0'\n")
    (lock.directory / "chart/values.yaml").write_text(values)
    (lock.directory / "chart/templates/web.yaml").write_text(TEMPLATE.replace("IMAGE", template))


def templated(lock: Locking, helm: str) -> bytes:
    command = [tool(helm), "template", "shop", str(lock.directory / "chart")]
    return subprocess.run(command, check=True, capture_output=True).stdout


def pinned_values(lock: Locking, hub: Registry, helm: str, *arguments: str) -> Run:
    flags = ("-o", "images.yaml", "--insecure-registry", hub.address, "--write-values", "chart/values.yaml")
    return lock(*flags, *arguments, data=templated(lock, helm))


@pytest.mark.slow
@pytest.mark.parametrize("form", VALUES)
def test_what_helm_renders_next_is_pinned_and_in_the_lock(form: str, web: str, hub: Registry, lock: Locking) -> None:
    values, template = VALUES[form]
    helm = "helm3" if len(form) % 2 else "helm4"
    values = values.replace("NAME", web.rpartition(":")[0]).replace("HOST", hub.address)
    chart(lock, values, template)
    run = pinned_values(lock, hub, helm)
    assert run.code == 0, run.stderr
    assert "CC1201" not in run.stderr
    pinned = f"{web}@{digest(image().manifest)}"
    assert images_of(templated(lock, helm)) == list(lock.written()) == [pinned]
    after = (lock.directory / "chart/values.yaml").read_text()
    assert re.findall("#.*", after) == re.findall("#.*", values), "comments stay"
    assert after.count(digest(image().manifest)) == (2 if form == "two places" else 1)
    assert pinned_values(lock, hub, helm).code == 0
    assert (lock.directory / "chart/values.yaml").read_text() == after


def test_an_image_that_no_value_makes_up_is_named_and_its_hint_works(web: str, hub: Registry, lock: Locking) -> None:
    chart(lock, "a: b\n", web)
    run = pinned_values(lock, hub, "helm4", "--format", "json")
    assert run.code == 0
    (left,) = [one for one in run.findings if one["code"] == "CC1215"]
    assert wording("CC1215.value") in left["message"]
    pinned = re.findall(r"if the chart has none, write (\S+) in its template", left["hint"])[0]
    path = lock.directory / "chart/templates/web.yaml"
    path.write_text(path.read_text().replace(web, pinned))
    again = pinned_values(lock, hub, "helm4", "--format", "json")
    assert (again.code, [one["code"] for one in again.findings]) == (0, ["CC1211"])
    assert images_of(templated(lock, "helm4")) == list(lock.written())


def test_values_that_only_the_chart_has_are_copied_and_pinned(web: str, hub: Registry, lock: Locking) -> None:
    name = web.rpartition(":")[0]
    chart(
        lock, f"image:\n  repository: {name}\n  tag: '1.0'\n", "{{ .Values.image.repository }}:{{ .Values.image.tag }}"
    )
    own = lock.directory / "prod.yaml"
    own.write_text("replicas: 3 # ours\n")
    command = [tool("helm4"), "template", "shop", str(lock.directory / "chart"), "-f", str(own)]
    flags = ("-o", "images.yaml", "--insecure-registry", hub.address, "--write-values", "prod.yaml", "--format", "json")

    def rendered() -> bytes:
        return subprocess.run(command, check=True, capture_output=True).stdout

    (left,) = [one for one in lock(*flags, data=rendered()).findings if one["code"] == "CC1215"]
    assert (
        "copy the values of the image from `helm show values CHART` into prod.yaml, and run this again" in left["hint"]
    )
    shown = subprocess.run(
        [tool("helm4"), "show", "values", str(lock.directory / "chart")], check=True, capture_output=True
    )
    own.write_text(own.read_text() + shown.stdout.decode())
    run = lock(*flags, data=rendered())
    assert [one["code"] for one in run.findings] == ["CC1211"]
    assert images_of(rendered()) == list(lock.written())


@pytest.mark.parametrize("option", ["--write-kustomize", "--write-values"])
def test_the_lock_itself_is_no_place_for_pins(option: str, web: str, hub: Registry, lock: Locking) -> None:
    lock.lock.write_text("")
    flags = ("-o", "images.yaml", "--insecure-registry", hub.address, option, "./images.yaml", "--format", "json")
    run = lock(*flags, data=pod("web", web).encode())
    assert (run.code, [one["code"] for one in run.errors]) == (2, ["CC0909"])
    assert lock.lock.read_text() == ""
