"""All errors of a pod are said in one round, whichever stage finds them; what only follows from another one is not."""

from typing import Any

import pytest

from tests.world import FACTS, LOCK, WEB, an_object, config, coordinator, pod_spec, run

Json = dict[str, Any]
DISK_LOCK = {**LOCK, WEB: FACTS._replace(config={**FACTS.config, "Volumes": {"/srv": {}}})}
CLAIM = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
TMP = {"name": "tmp", "emptyDir": {}}
MISSING = [{"secretRef": {"name": "of-the-cluster"}}]


def container(*mounts: Json, **more: Any) -> Json:
    return {"name": "web", "image": WEB, "volumeMounts": list(mounts), **more}


def mount(name: str, path: str, sub: str = "") -> Json:
    return {"name": name, "mountPath": path, **({"subPath": sub} if sub else {})}


def errors(spec: Json, images: Any = DISK_LOCK, **options: Any) -> list[tuple[str, str]]:
    """The codes of the errors, with the last words of their places."""
    made = run(coordinator(), an_object(spec=spec), to=config(images=images, **options))
    return sorted(
        (one.code, str(next((part for part in reversed(one.path) if isinstance(part, str)), "")))
        for one in made.findings
        if one.severity == "error"
    )


def test_a_file_system_of_the_host_hides_no_error_of_the_policy() -> None:
    mounts = (mount("data", "/data"), mount("tmp", "/a", "a"), mount("tmp", "/b", "b"))
    spec = pod_spec(containers=[container(*mounts, envFrom=MISSING)], volumes=[CLAIM, TMP])

    assert errors(spec) == [
        ("CC0602", "secretRef"),
        ("CC0604", "subPath"),
        ("CC0604", "subPath"),
        ("CC0643", "image"),
        ("CC0807", "volumeMounts"),
    ]


def test_an_image_without_a_digest_hides_nothing_and_is_said_once() -> None:
    other = container(mount("data", "/data"), envFrom=MISSING) | {"name": "other", "image": "example.com/a:1"}
    spec = pod_spec(containers=[container(), other], volumes=[CLAIM])

    assert errors(spec) == [
        ("CC0502", "image"),
        ("CC0602", "secretRef"),
        ("CC0643", "image"),
        ("CC0807", "volumeMounts"),
    ]


def test_an_image_that_is_not_locked_hides_what_does_not_depend_on_it() -> None:
    spec = pod_spec(containers=[container(mount("data", "/data"), envFrom=MISSING)], volumes=[CLAIM])
    without = {name: facts for name, facts in LOCK.items() if name != WEB}

    assert errors(spec, without) == [("CC0504", "image"), ("CC0602", "secretRef"), ("CC0807", "volumeMounts")]


@pytest.mark.parametrize("field", [{"hostPID": True}, {"ofALaterRelease": 1}], ids=["refused", "unknown"])
def test_a_field_that_no_policy_covers_hides_no_variable(field: Json) -> None:
    found = errors(pod_spec(containers=[container(envFrom=MISSING)], **field), LOCK)

    assert [code for code, _ in found] == [
        "CC0601" if "hostPID" in field else "CC0602",
        "CC0602" if "hostPID" in field else "CC0605",
    ]


def test_values_of_a_wrong_type_are_all_that_is_said() -> None:
    spec = pod_spec(containers=[container(mount("data", "/data"), stdin="yes")], volumes=[CLAIM])

    assert errors(spec) == [("CC0207", "stdin")]


def test_a_volume_that_is_refused_is_said_once_for_each_mount() -> None:
    disk = {"name": "data", "gcePersistentDisk": {"pdName": "disk"}}
    spec = pod_spec(containers=[container(mount("data", "/data", "part"))], volumes=[disk])

    assert errors(spec, LOCK) == [("CC0807", "volumeMounts")]


def test_two_containers_of_one_name_are_said_once() -> None:
    assert errors(pod_spec(containers=[container(), container()]), LOCK) == [("CC0208", "spec")]


def test_places_are_those_of_the_input_where_an_initializer_comes_before() -> None:
    init = container(envFrom=MISSING) | {"name": "first"}
    spec = pod_spec(initContainers=[init], containers=[container(mount("data", "/d"))], volumes=[CLAIM])
    made = run(coordinator(), an_object(spec=spec), to=config(images=LOCK))
    (found,) = [one for one in made.findings if one.code == "CC0602"]

    assert found.path[-4:] == (0, "envFrom", 0, "secretRef")
    assert found.line
