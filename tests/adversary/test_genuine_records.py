"""Records that a render wrote: the next one accepts them, whatever has happened to release, options and text since."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from krm_function.config.generate import ManifestOptions, PolicyOptions, Scheduling
from krm_function.kubernetes.image import images_of
from krm_function.kubernetes.kinds import KINDS
from krm_function.kubernetes.objects import reference
from krm_function.kubernetes.workload import EMITTED, INITDATA, ORIGINAL
from krm_function.text.writer import dump
from tests import quick_yaml as yaml
from tests.hosts.documents import by_name, without_original
from tests.hosts.hosts import put
from tests.hosts.running import EXAMPLES, Machine, called
from tests.world import (
    HANDLERS,
    IMAGES,
    INGRESS,
    LOCK,
    RELEASE,
    SECURE_PV,
    a_list,
    again,
    an_object,
    codes,
    config,
    coordinator,
    good,
    pod_spec,
    run,
    values,
)

FILES = ("quickstart", "multi-runtime", "gpu", "every-field", "strict")
MESH = {INGRESS: ""}
SECURE = {SECURE_PV: "disk:state"}
DISK = {"name": "disk", "persistentVolumeClaim": {"claimName": "disk"}}
OLD_INITIALIZER = {"name": "contrast-initializer", "image": next(iter(IMAGES.values())), "command": ["old"]}
MOUNTED = [{**pod_spec()["containers"][0], "volumeMounts": [{"name": "contrast-secrets", "mountPath": "/mine"}]}]
REPLACED = [{"name": "web", "image": "ghcr.io/edgelesssys/contrast/coordinator:latest"}]
PODS: dict[str, Any] = {
    "plain": an_object(),
    "mesh": an_object(annotations=MESH),
    "secure volume": an_object(annotations=SECURE, spec=pod_spec(volumes=[DISK])),
    "an initializer of the input": an_object(spec=pod_spec(initContainers=[OLD_INITIALIZER])),
    "a mount of the input": an_object(spec=pod_spec(containers=MOUNTED)),
    "an image that the release replaces": an_object(spec=pod_spec(containers=REPLACED)),
    "a cron job": an_object("CronJob", annotations=MESH, schedule="@daily"),
    "a pod": an_object("Pod", annotations=MESH),
    "another TEE": an_object(spec=pod_spec(runtimeClassName="contrast-cc-metal-qemu-tdx")),
}


def renewed(text: str) -> str:
    """Another release: other handlers, and other digests of Contrast's images."""
    for digest in {
        line.rpartition("@sha256:")[2] for line in text.splitlines() if "edgelesssys" in line and "@" in line
    }:
        text = text.replace(digest.rstrip(":"), digest.rstrip(":")[::-1])
    return text.replace("-18a1a065", "-77777777")


def by_content(data: bytes) -> dict[str, Any]:
    return without_original(by_name(data))


@pytest.mark.parametrize("name", FILES)
def test_the_output_of_one_release_renders_to_that_of_the_next(tmp_path: Path, name: str) -> None:
    config_files = {path.name: path.read_text() for path in (EXAMPLES / name / "config").iterdir()}
    config_files = {file: renewed(text) for file, text in config_files.items()}
    assert any("77777777" in text for text in config_files.values())
    new = str(put(tmp_path / "config", config_files))
    resources = str(EXAMPLES / name / "resources")
    once = called("generate", resources, "--config", str(EXAMPLES / name / "config")).ok()
    twice = called("generate", "-", "--config", new, stdin=once).ok()
    assert by_content(twice) == by_content(called("generate", resources, "--config", new).ok())
    again_once = called("generate", "-", "--config", str(EXAMPLES / name / "config"), stdin=twice).ok()
    assert by_content(again_once) == by_content(once)


OPTIONS: dict[str, dict[str, Any]] = {
    "all": {"image_store": True, "runtime_classes": "emit"},
    "no initializer": {"initializer": False},
    "no mesh": {"service_mesh": False},
    "no store": {"image_store": False},
    "nothing": {"initializer": False, "service_mesh": False},
    "no manifest": {"manifest": ManifestOptions(emit="none")},
    "local manifest": {"manifest": ManifestOptions(emit="LocalConfig", name="other")},
    "another platform": {"platform": "metal-qemu-tdx"},
}


def same_objects(made: Any, expected: Any) -> None:
    first, second = ({reference(one): one for one in values(each)} for each in (made, expected))
    assert first == second


OF_THE_INPUT = ("an initializer of the input", "a mount of the input")
WITH_A_MESH = ("mesh", "a cron job", "a pod")


@pytest.mark.slow
@pytest.mark.parametrize("second", OPTIONS)
@pytest.mark.parametrize("first", OPTIONS)
def test_options_may_change(first: str, second: str) -> None:
    without = [OPTIONS[name] for name in (first, second) if not OPTIONS[name].get("initializer", True)]
    left_out: tuple[str, ...] = OF_THE_INPUT if without else ()
    if any(options.get("service_mesh", True) for options in without):
        left_out += WITH_A_MESH  # a mesh without an initializer is CC0286
    documents = [coordinator()]
    for name, pod in PODS.items():
        if name not in left_out:
            documents.append({**pod, "metadata": {**pod["metadata"], "name": name.replace(" ", "-")}})
    one, two = config(**OPTIONS[first]), config(**OPTIONS[second])
    same_objects(again(good(*documents, to=one), two), good(*documents, to=two))


def test_an_initializer_of_the_input_does_not_come_back_where_none_is_injected() -> None:
    """Nobody can tell it from one that only a record holds."""
    first = good(coordinator(), PODS["an initializer of the input"])
    made = run(*values(first), to=config(initializer=False))
    assert codes(made) == ["CC0115"]


def by_sorting(data: bytes) -> bytes:
    """What kustomize does to the text: keys sorted, quotes and comments its own."""
    return yaml.safe_dump_all([value for value in yaml.safe_load_all(data) if value], sort_keys=True).encode()


def changed(change: Callable[[Any], None]) -> Callable[[bytes], bytes]:
    def overlay(data: bytes) -> bytes:
        objects = [value for value in yaml.safe_load_all(data) if value]
        for value in objects:
            change(value)
        return yaml.safe_dump_all(objects, sort_keys=False).encode()

    return overlay


def replicas(value: Any) -> None:
    if value["kind"] == "Deployment":
        value["spec"]["replicas"] = 7


def labels(value: Any) -> None:
    if value["kind"] not in KINDS:
        return
    value["metadata"].setdefault("labels", {})["team"] = "shop"
    if value["kind"] in KINDS and KINDS[value["kind"]][1] == ("spec", "template"):
        value["spec"]["template"]["metadata"].setdefault("labels", {})["team"] = "shop"


def namespace(value: Any) -> None:
    if value["kind"] not in ("RuntimeClass", "Namespace"):
        value["metadata"]["namespace"] = "prod"


def prefix(value: Any) -> None:
    if value["kind"] in KINDS:
        value["metadata"]["name"] = f"prod-{value['metadata']['name']}"


def bookkeeping(value: Any) -> None:
    value["metadata"].setdefault("annotations", {})["config.kubernetes.io/index"] = "3"


def defaults(value: Any) -> None:
    """Some of what an API server fills in."""
    if value["kind"] in KINDS and KINDS[value["kind"]][1] == ("spec", "template"):
        spec = value["spec"]["template"]["spec"]
        spec |= {"dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler"}
        value["spec"]["template"]["metadata"]["creationTimestamp"] = None
        for container in (*spec.get("initContainers", ()), *spec["containers"]):
            container |= {"terminationMessagePath": "/dev/termination-log", "imagePullPolicy": "IfNotPresent"}


OVERLAYS = {
    overlay.__name__: changed(overlay) for overlay in (replicas, labels, namespace, prefix, bookkeeping, defaults)
}


# quickstart's configuration names a workload, which a prefix renames
OVERLAID = [(name, overlay) for name in ("quickstart", "multi-runtime") for overlay in ("sorted", *OVERLAYS)]
OVERLAID.remove(("quickstart", "prefix"))


@pytest.mark.slow
@pytest.mark.parametrize("name, overlay", OVERLAID)
def test_what_an_outer_overlay_changes_stays_changed(name: str, overlay: str) -> None:
    edit = OVERLAYS.get(overlay, by_sorting)
    to = ("--config", str(EXAMPLES / name / "config"))
    source = called("generate", str(EXAMPLES / name / "resources"), *to).ok()
    outer = edit(source)
    made = called("generate", "-", *to, stdin=outer).ok()
    back = called("uninject", stdin=outer).ok()
    if overlay in ("sorted", "replicas", "labels", "prefix", "namespace"):
        assert by_content(called("generate", "-", *to, stdin=back).ok()) == by_content(made)
    assert called("generate", "-", *to, stdin=made).ok() == made
    if overlay == "replicas":
        assert b"replicas: 7" in made


@pytest.mark.parametrize(
    "flag",
    [
        "namespace: prod",
        "namePrefix: prod-",
        "labels: [{pairs: {team: a}}]",
        "images: [{name: registry.example.com/shop/web, newName: registry.example.com/shop/web}]",
        "replicas: [{name: web, count: 9}]",
        "commonAnnotations: {team: a}",
    ],
)
def test_the_real_kustomize_over_rendered_output(krm_machine: Machine, tmp_path: Path, flag: str) -> None:
    to = ("--config", str(EXAMPLES / "multi-runtime" / "config"))
    once = krm_machine.krm("generate", str(EXAMPLES / "multi-runtime" / "resources"), *to).ok()
    files = {"rendered.yaml": once.decode(), "kustomization.yaml": f"resources: [rendered.yaml]\n{flag}\n"}
    outer = krm_machine.run(["kustomize", "build", "."], put(tmp_path / "outer", files)).ok()
    assert ORIGINAL.encode() in outer
    outer = outer.replace(b"name: prod-coordinator-ready\n", b"name: coordinator-ready\n")  # else it is CC0771
    made = krm_machine.krm("generate", "-", *to, stdin=outer).ok()
    assert krm_machine.krm("generate", "-", *to, stdin=made).ok() == made
    assert ORIGINAL.encode() not in krm_machine.krm("uninject", stdin=outer).ok()


@pytest.mark.parametrize("key", ["annotations", "labels"])
def test_null_in_the_source_is_null_again(key: str) -> None:
    """`annotations:` without any, as charts write it; a host puts its own there once a render has made a map of it."""
    subject = an_object()
    subject["metadata"][key] = None
    rendered = values(good(coordinator(), subject))[1]
    rendered["metadata"]["annotations"]["config.kubernetes.io/index"] = "1"
    good(coordinator(), rendered, to=config(platform="metal-qemu-tdx"))
    rendered["metadata"]["annotations"]["team"] = "shop"
    made = run(coordinator(), rendered, to=config(platform="metal-qemu-tdx"))
    assert codes(made) == (["CC0115"] if key == "annotations" else [])


# --- scheduling of RuntimeClass objects


def a_class() -> dict[str, Any]:
    name = HANDLERS["metal-qemu-snp"]
    head = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": name}, "handler": name}
    return {**head, "overhead": {"podFixed": {"memory": "682Mi"}}, "scheduling": {"nodeSelector": {"mine": "1"}}}


def scheduled(selector: dict[str, str], **options: Any) -> Any:
    wanted = Scheduling(selector, ({"key": "tee", "operator": "Exists"},))
    return config(scheduling={"metal-qemu-snp": wanted}, **{"runtime_classes": "check", **options})


def test_scheduling_that_a_render_added_may_go_while_the_configuration_names_it() -> None:
    first = good(coordinator(), an_object(), a_class(), to=scheduled({"tee": "snp"}))
    assert '"tee"' in json.dumps(values(first)[2]["scheduling"])
    off = scheduled({"tee": "snp"}, runtime_classes="off")
    same_objects(again(first, off), good(coordinator(), an_object(), a_class(), to=off))
    same_objects(again(first, scheduled({"tee": "snp"})), first)


def test_scheduling_that_the_configuration_no_longer_names_does_not_go_silently() -> None:
    first = good(coordinator(), an_object(), a_class(), to=scheduled({"tee": "snp"}))
    made = run(*values(first), to=scheduled({"tee": "other"}))
    assert codes(made) == ["CC0115"]
    (found,) = (one for one in made.findings if one.severity == "error")
    assert "scheduling.nodeSelector.tee" in found.message
    data = "---\n".join(dump(one) for one in values(first)).encode()
    back = list(yaml.safe_load_all(called("uninject", stdin=data).ok()))
    same_objects(
        good(*back, to=scheduled({"tee": "other"})),
        good(coordinator(), an_object(), a_class(), to=scheduled({"tee": "other"})),
    )


# --- images


NEW = "ghcr.io/edgelesssys/contrast/coordinator:v1.26.0@sha256:" + "9" * 64


@pytest.mark.parametrize(
    "image, accepted",
    [
        (NEW, True),  # another release's
        (NEW.partition("@")[0], False),  # a tag, which no release with digests writes
        (NEW.replace("coordinator", "initializer"), False),
        (NEW.replace("ghcr.io/edgelesssys", "evil.example"), False),
        ("example.com/web@sha256:" + "9" * 64, False),
    ],
)
def test_an_image_goes_back_to_what_the_release_replaces_if_it_is_a_replacement(image: str, *, accepted: bool) -> None:
    (one, web) = values(good(coordinator(), PODS["an image that the release replaces"]))[:2]
    assert image not in IMAGES.values()
    web["spec"]["template"]["spec"]["containers"][0]["image"] = image
    made = run(one, web)
    assert codes(made) == ([] if accepted else ["CC0115"])


@pytest.mark.parametrize("name", ["pvc-holder", "contrast-service-mesh"])
def test_a_container_of_the_input_with_a_name_of_ours_follows_the_release(name: str) -> None:
    own = {"name": name, "image": "ghcr.io/edgelesssys/contrast/coordinator:latest"}
    subject = an_object(spec=pod_spec(initContainers=[own]))
    images = {key: NEW if "coordinator" in key else value for key, value in IMAGES.items()}
    platforms = {key: one._replace(handler=f"{one.handler}f") for key, one in RELEASE.platforms.items()}
    release = RELEASE._replace(version="v1.26.0", platforms=platforms, images=images)
    options: dict[str, Any] = {"policy": PolicyOptions(engine="none"), "manifest": ManifestOptions(emit="none")}
    to = config(release, **options)
    first = good(coordinator(), subject, to=config(**options))
    made = run(*values(first), to=to)
    assert "CC0115" not in codes(made)
    evil = run(*(json.loads(json.dumps(one).replace(own["image"], "example.com/evil")) for one in values(first)), to=to)
    assert "CC0115" in codes(evil)


def test_a_replacement_of_today_goes_back_to_what_it_replaces_and_to_no_other() -> None:
    images = {
        "example.com/a:1": "example.com/a@sha256:" + "1" * 64,
        "example.com/a:2": "example.com/a@sha256:" + "2" * 64,
    }
    rule = images_of(images)
    assert rule(images["example.com/a:1"], "example.com/a:1")
    assert not rule(images["example.com/a:1"], "example.com/a:2")
    assert rule("example.com/a@sha256:" + "3" * 64, "example.com/a:2")


def test_a_release_that_replaces_an_image_no_longer_says_so() -> None:
    first = good(coordinator(), PODS["an image that the release replaces"])
    images = {key: value for key, value in IMAGES.items() if "coordinator" not in key}
    documents = [one for one in values(first) if EMITTED not in one["metadata"].get("annotations", {})]
    made = run(*documents, to=config(RELEASE._replace(images=images), images=LOCK))
    assert "CC0115" in codes(made)


def test_a_list_of_rendered_objects_is_a_rendered_list() -> None:
    first = good(coordinator(), *(an_object(name=name, annotations=MESH) for name in "abc"))
    objects = values(first)
    assert INITDATA in json.dumps(objects)
    made = good(a_list(*reversed(objects)))
    assert {reference(one): one for one in values(made)} == {reference(one): one for one in objects}
