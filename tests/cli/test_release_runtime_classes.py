"""`release runtime-classes`: complete objects, the same that a render checks pods against, and nothing else."""

from pathlib import Path

import pytest

from krm_function.text.writer import dump
from tests import quick_yaml as yaml
from tests.hosts.running import EXAMPLES, called

CONFIG = EXAMPLES / "multi-runtime" / "config"
RESOURCES = str(EXAMPLES / "multi-runtime" / "resources")


def test_every_platform_of_the_release_has_its_class() -> None:
    made = list(yaml.safe_load_all(called("release", "runtime-classes", "--config", str(CONFIG)).ok()))
    release = yaml.safe_load((CONFIG / "release.yaml").read_text())
    handlers = [facts["handler"] for facts in release["spec"]["platforms"].values()]
    assert sorted(value["metadata"]["name"] for value in made) == sorted(handlers)
    assert all(value["metadata"] == {"name": value["handler"]} for value in made), "nothing that a render adds"
    (tdx,) = (value for value in made if "qemu-tdx-1" in value["handler"])
    assert tdx["scheduling"]["nodeSelector"] == {"example.com/tee": "tdx"}


def test_a_render_with_them_among_its_resources_changes_none_of_them(tmp_path: Path) -> None:
    classes = called("release", "runtime-classes", "--config", str(CONFIG)).ok()
    (tmp_path / "classes.yaml").write_bytes(classes)
    with_them = called("generate", RESOURCES, str(tmp_path), "--config", str(CONFIG)).ok()
    assert with_them.startswith(classes)
    without = called("generate", RESOURCES, "--config", str(CONFIG)).ok()
    documents = [value for value in yaml.safe_load_all(with_them) if value["kind"] != "RuntimeClass"]
    assert documents == list(yaml.safe_load_all(without))
    assert called("check", stdin=with_them).ok() == b""
    assert called("check", "--config", str(CONFIG), stdin=without).ok() == b""


@pytest.mark.parametrize("taken", ["all", "one"])
def test_a_class_that_is_not_in_the_input_is_no_error_of_check(taken: str) -> None:
    classes = list(yaml.safe_load_all(called("release", "runtime-classes", "--config", str(CONFIG)).ok()))
    rendered = called("generate", RESOURCES, "--config", str(CONFIG)).ok()
    left = "".join(f"---\n{dump(one)}" for one in classes[: 0 if taken == "all" else 1]).encode()
    for config in ([], ["--config", str(CONFIG)]):
        ran = called("check", *config, stdin=left + (b"---\n" if left else b"") + rendered)
        assert ran.code == 0, ran.err
        assert "CC1107" not in ran.err


def test_without_a_release_it_says_so() -> None:
    ran = called("release", "runtime-classes", "--config", str(CONFIG / "contrast.yaml"))
    assert (ran.code, ran.out) == (2, b"")
    assert "CC0903" in ran.err


def test_a_release_without_platforms_has_no_class(tmp_path: Path) -> None:
    (tmp_path / "release.yaml").write_text(
        "apiVersion: contrast-krm.dev/v1alpha1\nkind: ContrastRelease\nmetadata: {name: v1.25.0}\n"
        "spec: {version: v1.25.0, platforms: {}}\n"
    )
    ran = called("release", "runtime-classes", "--config", str(tmp_path))
    assert (ran.code, ran.out) == (2, b"")
    assert "has no platform" in ran.err


def test_scheduling_that_kubernetes_would_refuse_is_an_error(tmp_path: Path) -> None:
    for file in CONFIG.iterdir():
        (tmp_path / file.name).write_text(file.read_text().replace("example.com/tee: tdx", "example.com/tee: -tdx-"))
    ran = called("release", "runtime-classes", "--config", str(tmp_path))
    assert ran.code != 0
    assert ran.out == b""
