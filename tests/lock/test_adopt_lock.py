"""`adopt` looks images up as `lock` does, also those of pods that something else is wrong with."""

import json
from pathlib import Path
from typing import Any

from tests import quick_yaml as yaml
from tests.failures.running import Run, Zygote
from tests.failures.world import World
from tests.lock.conftest import Locking
from tests.lock.content import ACCOUNTS, image, layer, layout_files, tar, written
from tests.lock.registries import Registry

API = {"User": "1000", "Entrypoint": ["/bin/api"], "WorkingDir": "/"}


def adopt(lock: Locking, call: Zygote, hub: Registry, *arguments: str) -> Run:
    flags = ("--config", "config.yaml", "--insecure-registry", hub.address, *arguments)
    return call("adopt", "app", *flags, directory=lock.directory, variables=lock.variables)


def application(lock: Locking, *images: str) -> None:
    """A pod for each image; the first one has a variable of the cluster."""
    world = World()
    names = [name for name in world.documents if name not in ("options", "release", "lock")]
    for name in names:
        del world.documents[name]
    documents = dict(world.documents)
    documents["lock"]["spec"]["images"] = {}
    release = documents["release"]["spec"]
    release["images"] = {}
    documents["options"]["spec"]["initializer"] = {"enabled": False}
    (lock.directory / "config.yaml").write_text(yaml.safe_dump_all(documents.values()))
    (lock.directory / "app").mkdir()
    for number, one in enumerate(images):
        (lock.directory / f"app/pod{number}.yaml").write_text(yaml.safe_dump(pod(one, number)))


def pod(one: str, number: int) -> dict[str, Any]:
    container: dict[str, Any] = {"name": "web", "image": one}
    spec: dict[str, Any] = {"runtimeClassName": "contrast-cc", "containers": [container]}
    if number == 0:
        container["env"] = [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "db", "key": "a"}}}]
        container["volumeMounts"] = [{"name": "d", "mountPath": "/d"}]
        spec["volumes"] = [{"name": "d", "hostPath": {"path": "/d"}}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"p{number}", "namespace": "shop"}, "spec": spec}


def locked(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = next(
        one["spec"]["images"] for one in yaml.safe_load_all(file.read_text()) if one["kind"] == "ImageLock"
    )
    return found


def test_configuration_and_lock_are_written_together_and_known_images_are_not_fetched_again(
    lock: Locking, call: Zygote, hub: Registry
) -> None:
    images = hub.push(image(), "adopt/web"), hub.push(image(settings=API), "adopt/api")
    application(lock, *images)
    run = adopt(lock, call, hub, "--yes-to", "externalSources", "-o", "json")
    assert run.code == 1, run.stderr
    told = json.loads(run.stdout)
    assert told["written"] == ["config.yaml: changed", "config.yaml: 2 images, 2 of them fetched"]
    refused = {pod["name"]: [found["code"] for found in pod["after"]] for pod in told["pods"] if pod["after"]}
    assert refused == {"p0": ["CC0807"]}, "no configuration helps a file system of the host"
    assert set(locked(lock.directory / "config.yaml")) == set(images)
    before = (lock.directory / "config.yaml").read_bytes()
    again = adopt(lock, call, hub, "--yes-to", "externalSources", "-o", "json")
    assert json.loads(again.stdout)["written"][1] == "config.yaml: 2 images, 0 of them fetched"
    assert (lock.directory / "config.yaml").read_bytes() == before


def test_an_image_that_cannot_be_found_writes_nothing(lock: Locking, call: Zygote, hub: Registry) -> None:
    application(lock, hub.push(image(), "adopt/web"), f"{hub.address}/adopt/none@sha256:{'0' * 64}")
    before = (lock.directory / "config.yaml").read_bytes()
    run = adopt(lock, call, hub, "--yes-to", "externalSources", "--format", "json")
    assert run.code in (1, 3)
    assert b"config.yaml: would be changed" in run.stdout
    assert (lock.directory / "config.yaml").read_bytes() == before


def test_tags_are_pinned_in_the_files_that_the_options_name(lock: Locking, call: Zygote, hub: Registry) -> None:
    web = hub.push(image(), "adopt/pinned")
    application(lock, hub.push(image(), "adopt/web"), web.partition("@")[0])
    run = adopt(lock, call, hub, "--yes-to", "externalSources", "--write-files", "app")
    assert run.code == 1, run.stderr
    assert web in (lock.directory / "app/pod1.yaml").read_text()
    assert web in locked(lock.directory / "config.yaml")


def test_memory_that_is_calculated_gets_the_sizes_of_all_layers_and_a_second_call_changes_nothing(
    lock: Locking, call: Zygote
) -> None:
    base, top = layer(tar({"bin/large": "x" * 100_000})), layer(tar(ACCOUNTS))
    made = image(base, top)
    name = f"registry.example.com/sized@{made.digest}"
    store = f"oci:{written(layout_files(made), lock.directory / 'layout')}"
    application(lock, name, name)
    config = lock.directory / "config.yaml"

    def adopted(*arguments: str) -> Any:
        flags = ("--config", "config.yaml", "--from", store, "-o", "json", *arguments)
        run = call("adopt", "app", *flags, directory=lock.directory, variables=lock.variables)
        assert run.code == 1, run.stderr  # a file system of the host is left
        return json.loads(run.stdout)

    def unpacked() -> list[Any]:
        return [one.get("uncompressedSize") for one in locked(config)[name]["layers"]]

    told = adopted("--yes-to", "externalSources")
    assert "memory" in {choice["name"] for choice in told["offered"]}
    assert unpacked() == [None, top.size], "nobody has chosen it"
    told = adopted("--yes-to", "memory")
    assert "memory" in {choice["name"] for choice in told["chosen"]}
    assert unpacked() == [base.size, top.size]
    before = config.read_bytes()
    assert b"memory: calculate" in before
    adopted("--yes-to", "memory")
    assert config.read_bytes() == before
