"""Manifests, indexes and configurations that are not as they should be."""

import json
from typing import Any

import pytest

from krm_function.lock.media import Descriptor, LockProblem, Manifest, choose, decode_manifest, image_config
from tests.lock.content import CONFIG, INDEX, MANIFEST, config, image, index, layer, tar
from tests.wording import wording

PART = {"mediaType": CONFIG, "digest": "sha256:" + "0" * 64, "size": 3}
LAYER = {**PART, "mediaType": "application/vnd.oci.image.layer.v1.tar+gzip"}
GOOD: dict[str, Any] = {"schemaVersion": 2, "mediaType": MANIFEST, "config": PART, "layers": [LAYER]}


def refused(value: object, says: str, media_type: str = MANIFEST) -> None:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    with pytest.raises(LockProblem) as caught:
        decode_manifest(data, media_type)
    assert caught.value.code == "CC1204"
    assert says in caught.value.finding("").message


@pytest.mark.parametrize("media_type", [MANIFEST, "", "application/json", f"{MANIFEST}; charset=utf-8"])
def test_a_manifest_without_a_media_type_of_its_own(media_type: str) -> None:
    value = {key: item for key, item in GOOD.items() if key != "mediaType"}
    found = decode_manifest(json.dumps(value).encode(), media_type)
    assert isinstance(found, Manifest)
    assert found.config == Descriptor(CONFIG, str(PART["digest"]), 3)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (b"\xff", "UTF-8"),
        (b"[]", "not a JSON object"),
        (b'{"config": 1, "config": 2}', "twice"),
        (b"[" * 100_000, "nested too deeply"),
        ({}, "schemaVersion"),
        ({**GOOD, "schemaVersion": 1, "fsLayers": []}, "schemaVersion"),
        ({**GOOD, "manifests": []}, "as an image and as an index"),
        ({"schemaVersion": 2}, "as an image and as an index"),
        ({**GOOD, "mediaType": INDEX}, "as an image and as an index"),
        ({**GOOD, "mediaType": "application/x"}, wording("CC1204.media-type")),
        (
            {**GOOD, "config": {**PART, "mediaType": "application/vnd.cncf.helm.config.v1+json"}},
            wording("CC1204.no-image"),
        ),
        ({**GOOD, "layers": [{**LAYER, "mediaType": "text/x"}]}, "unknown media type"),
        ({**GOOD, "layers": None}, "no list layers"),
        ({**GOOD, "config": {**PART, "size": -1}}, "mediaType or size"),
        ({**GOOD, "config": {**PART, "size": True}}, "mediaType or size"),
        ({**GOOD, "config": {**PART, "digest": "sha512:" + "0" * 128}}, "64 hex digits"),
        ({**GOOD, "config": {**PART, "digest": "sha256:" + "A" * 64}}, "64 hex digits"),
        ({**GOOD, "layers": [None]}, "mediaType or size"),
    ],
)
def test_what_is_no_manifest(value: object, says: str) -> None:
    refused(value, says)


def test_an_index_that_says_it_is_a_manifest() -> None:
    refused({"schemaVersion": 2, "manifests": []}, "as an image and as an index", MANIFEST)


def chosen(*platforms: str, attested: bool = False) -> str:
    images = [(platform, image(settings={"User": str(n)})) for n, platform in enumerate(platforms)]
    made = index(images, attested=attested)
    found = decode_manifest(made.manifest, INDEX)
    assert not isinstance(found, Manifest)
    wanted = choose(found).digest
    return next(platform for platform, one in images if one.digest == wanted)


def test_choices() -> None:
    assert chosen("linux/arm64", "linux/amd64") == "linux/amd64"
    assert chosen("linux/amd64/v1") == "linux/amd64/v1"
    assert chosen("linux/amd64/v3", "linux/amd64") == "linux/amd64"
    assert chosen("") == "", "its configuration tells"
    assert chosen("", attested=True) == ""


@pytest.mark.parametrize("platforms", [(), ("linux/arm64",), ("linux/amd64/v3",), ("windows/amd64",), ("", "")])
def test_no_choice(platforms: tuple[str, ...]) -> None:
    with pytest.raises(LockProblem) as caught:
        chosen(*platforms)
    assert caught.value.code == "CC1205"


def test_a_platform_that_is_not_fit_to_be_printed() -> None:
    with pytest.raises(LockProblem) as caught:
        chosen("linux\n::error::/x")
    assert caught.value.values["found"] == "?/x" or "\n" not in caught.value.values["found"]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"Env": "A=b"}, "config.Env must be a list"),
        ({"Env": [f"A={1}", 2]}, "config.Env"),
        ({"User": 1000}, "config.User must be a string"),
        ([], wording("CC1204.config")),
    ],
)
def test_a_configuration_of_the_wrong_shape(settings: object, says: str) -> None:
    with pytest.raises(LockProblem) as caught:
        image_config(config([], settings), 0)
    assert caught.value.code == "CC1204"
    assert says in caught.value.finding("").message


def test_a_configuration_with_other_layers() -> None:
    with pytest.raises(LockProblem) as caught:
        image_config(config([layer(tar({}))]), 2)
    assert wording("CC1204.layer-count", count="1", layers="2") in caught.value.finding("").message


def test_only_what_decides_how_it_runs_is_kept() -> None:
    left = {"Hostname": "", "Labels": {"a": "b"}, "Image": "sha256:0", "AttachStdin": False, "OnBuild": None}
    kept = {"User": "web", "Env": ["A=b"], "Cmd": ["x"], "Volumes": {"/data": {}}, "Tty": True}
    empty = {"Entrypoint": None, "WorkingDir": "", "StopSignal": ""}
    assert image_config(config([], left | kept | empty), 0)[0] == kept
    assert image_config(config([], {"Env": []}), 0)[0] == {"Env": []}, "no variables is not no Env"
    assert image_config(json.dumps({"os": "linux", "architecture": "amd64", "rootfs": {"diff_ids": []}}).encode(), 0)


@pytest.mark.parametrize("more", [{"os": "windows"}, {"architecture": "arm64"}, {"architecture": None}, {"os": 3}])
def test_a_configuration_for_another_platform(more: dict[str, Any]) -> None:
    with pytest.raises(LockProblem) as caught:
        image_config(config([], **more), 0)
    assert caught.value.code == "CC1205"
