"""`lock` for profile kata-4.1, where pods have to state the users of their images."""

import re
from typing import Any

import pytest

from tests.failures.running import Run
from tests.failures.world import World
from tests.lock.conftest import Locking
from tests.lock.content import image, layer, layout_files, tar, written

PASSWD = "root:x:0:0:::\nweb:x:1000:2000:::\n"
NAMES = ("coordinator", "initializer", "service-mesh-proxy", "web")


def locked(lock: Locking, world: World, user: str, passwd: str = "", group: str = "", of: str = "web") -> Run:
    """Lock images of which one has a user."""
    files: dict[str, bytes] = {}
    for name in NAMES:
        accounts = {"etc/passwd": passwd, "etc/group": group} if name == of else {}
        settings: dict[str, Any] = {"Cmd": [name]} | ({"User": user} if name == of else {})
        made = image(layer(tar({f"bin/{name}": "x", **accounts})), settings=settings)
        files |= layout_files(made)
        reference = f"registry.example.com/{name}:v1.25.0@{made.digest}"
        if name == "web":
            world.container["image"] = reference
        else:
            world["release"]["spec"]["images"][f"ghcr.io/edgelesssys/contrast/{name}:latest"] = reference
    world.documents.pop("lock", None)
    (lock.directory / "resources.yaml").write_bytes(world.stream())
    (lock.directory / "config.yaml").write_bytes(world.config())
    source = f"oci:{written(files, lock.directory / 'layout')}"
    run = lock("resources.yaml", "--config", "config.yaml", "-o", "images.yaml", "--from", source, "--format", "json")
    assert run.code == 0, run.stderr
    return run


def warned(run: Run) -> list[dict[str, Any]]:
    return [found for found in run.findings if found["code"] == "CC1214"]


def kata() -> World:
    world = World()
    world.spec.setdefault("policy", {})["profile"] = "kata-4.1"
    return world


@pytest.mark.parametrize(
    ("user", "passwd", "group", "said", "remedy"),
    [
        ("1000:2000", "", "", "runs with user 1000,", {"runAsUser": 1000, "runAsGroup": 2000}),
        ("65532:65532", "", "", "runs with user 65532,", {"runAsUser": 65532, "runAsGroup": 65532}),
        (
            "web",
            PASSWD,
            "web:x:2000:\n",
            "runs with user 1000 and group 2000,",
            {"runAsUser": 1000, "runAsGroup": 2000},
        ),
        ("", PASSWD, "wheel:x:10:root\n", "runs with supplementary groups 10,", {"supplementalGroups": [10]}),
    ],
)
def test_it_names_the_image_and_what_to_write_and_the_render_takes_that(
    user: str, passwd: str, group: str, said: str, remedy: dict[str, Any], lock: Locking
) -> None:
    world = kata()
    (found,) = warned(locked(lock, world, user, passwd, group))
    assert found["severity"] == "warning"
    assert said in found["message"]
    assert "policy.profile kata-4.1" in found["message"]
    assert found["field"] == "spec.template.spec.containers[0].image"
    assert found["line"] > 0

    refused = generate(lock)
    assert [one["code"] for one in refused.errors] == ["CC0604"]
    for key, value in remedy.items():
        assert f"{key}: {value}" in found["hint"]
        assert f"{key}: {value}" in refused.errors[0]["hint"]
        place = world.pod if key == "supplementalGroups" else world.container
        place.setdefault("securityContext", {})[key] = value
    (lock.directory / "resources.yaml").write_bytes(world.stream())
    run = generate(lock)
    assert run.code == 0, run.stderr
    assert warned(locked(lock, world, user, passwd, group)) == []


def generate(lock: Locking) -> Run:
    names = ("resources.yaml", "--config", "config.yaml", "--config", "images.yaml")
    return lock._call("generate", *names, "--format", "json", directory=lock.directory)


def test_a_name_without_a_number_is_said_too(lock: Locking) -> None:
    (found,) = warned(locked(lock, kata(), "web"))
    assert re.search("runs as user web, whose number is not in its /etc/passwd", found["message"])
    assert "runAsUser and runAsGroup" in found["hint"]


def test_it_says_nothing_of_images_that_run_as_root_or_are_injected_or_for_other_profiles(lock: Locking) -> None:
    assert warned(locked(lock, kata(), "", PASSWD, "root:x:0:\n")) == []
    assert warned(locked(lock, kata(), "1000:2000", of="initializer")) == []
    assert warned(locked(lock, World(), "1000:2000")) == []


def test_it_does_not_warn_of_injected_users_that_only_a_lock_can_tell(lock: Locking) -> None:
    world = World()
    world.pod["securityContext"] = {"runAsUser": 65532}
    assert "CC0813" not in [found["code"] for found in locked(lock, world, "").findings]
