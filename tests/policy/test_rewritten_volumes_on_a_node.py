"""Pods that a rule rewrote: each container starts on a Contrast node, and with one thing changed it does not.

What has to be mounted is read from the rendered pod, as the kubelet would, and not from its policy.
"""

import copy
import functools
from collections.abc import Callable
from typing import Any

import pytest

from krm_function.config.generate import ManifestOptions, PolicyOptions, VolumeRules
from krm_function.kubernetes.workload import INITDATA, Workload
from krm_function.policy.initdata import POLICY, decode_toml, from_annotation
from tests.policy.engines import agreed
from tests.policy.engines.corpus import allows
from tests.policy.host import Json
from tests.policy.oracle.requests import Asked, life
from tests.world import FACTS, LOCK, WEB, an_object, config, coordinator, good, named, pod_spec

CREATE = "CreateContainerRequest"
NAME = "io.kubernetes.cri.container-name"
PROFILES = ("contrast-1.25", "strict")
TCB = dict.fromkeys(("BootloaderVersion", "TEEVersion", "SNPVersion", "MicrocodeVersion"), 3)
CLAIM: Json = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "data", "namespace": "shop"},
    "spec": {"accessModes": ["ReadWriteOncePod"], "resources": {"requests": {"storage": "1Gi"}}},
}


def mount(name: str, path: str, sub: str = "", **more: Any) -> Json:
    return {"name": name, "mountPath": path, **({"subPath": sub} if sub else {}), **more}


def container(name: str, *mounts: Json) -> Json:
    return {"name": name, "image": WEB, "volumeMounts": list(mounts)}


PLAIN: Json = {
    "containers": [container("web", mount("e", "/work"))],
    "volumes": [{"name": "e", "emptyDir": {}}],
}
RULES: dict[str, tuple[VolumeRules | Json, Json]] = {
    "calculated memory": ({"memory": "calculate"}, pod_spec(**PLAIN)),
    "more vCPUs": ({"vcpus": 4}, pod_spec(**PLAIN)),
    "more vCPUs and calculated memory": ({"memory": "calculate", "vcpus": 4}, pod_spec(**PLAIN)),
    "split on disk": (
        VolumeRules(split_sub_paths=True),
        pod_spec(
            initContainers=[container("prep", mount("e", "/out", "a"))],
            containers=[container("web", mount("e", "/a", "a", readOnly=True), mount("e", "/b", "b"))],
            volumes=[{"name": "e", "emptyDir": {}}],
        ),
    ),
    "split in memory": (
        VolumeRules(split_sub_paths="divideSizeLimit"),
        pod_spec(
            containers=[
                container("web", mount("e", "/a", "x/y"), mount("e", "/b", "z")),
                container("b", mount("e", "/z", "z")),
            ],
            volumes=[{"name": "e", "emptyDir": {"medium": "Memory", "sizeLimit": "64Mi"}}],
        ),
    ),
    "encrypted claim": (
        VolumeRules(secure_claims=("data",)),
        pod_spec(
            initContainers=[container("prep", mount("data", "/d"))],
            containers=[container("web", mount("data", "/var/data", readOnly=True))],
            volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
        ),
    ),
    "volumes of an image": (VolumeRules(image_volumes=True), pod_spec(containers=[container("web")])),
    "cache of the node": (
        VolumeRules(split_sub_paths=True, cache_paths=("/models",)),
        pod_spec(
            containers=[container("web", mount("m", "/models", "hub"), mount("m", "/cache", "tmp"))],
            volumes=[{"name": "m", "hostPath": {"path": "/models"}}],
        ),
    ),
}
LAYERS = ({"diffID": f"sha256:{1:064}", "compressedSize": 10 << 20, "uncompressedSize": 30 << 20},)
DECLARED: Json = {"/srv": {}, "/var/lib/web": {}}


@functools.cache
def rendered(name: str, profile: Any) -> tuple[Workload, str]:
    """A pod after the rule, and its policy."""
    rules, spec = RULES[name]
    options = {"volumes": rules} if isinstance(rules, VolumeRules) else rules
    declared = {"Volumes": DECLARED} if isinstance(rules, VolumeRules) and rules.image_volumes else {}
    facts = FACTS._replace(config={**FACTS.config, **declared}, layers=LAYERS)
    images = {image: one._replace(layers=LAYERS) for image, one in LOCK.items()}
    manifest = ManifestOptions(reference_values={"snp": ({"MinimumTCB": TCB},)})
    to = config(images={**images, WEB: facts}, policy=PolicyOptions(profile=profile), manifest=manifest, **options)
    claims = [CLAIM] if isinstance(rules, VolumeRules) and rules.secure_claims else []
    workload = named(good(coordinator(), an_object(spec=spec), *claims, to=to), "web")
    return workload, decode_toml(from_annotation(str(workload.annotations[INITDATA]))).data[POLICY]


@functools.cache
def created(name: str, profile: str) -> tuple[Asked, ...]:
    """The requests that create a container, each allowed when its turn comes."""
    return tuple(asked for asked in life(rendered(name, profile)[1], quick=True) if asked.entry_point == CREATE)


def of_app(asked: Asked) -> bool:
    return asked.request["OCI"]["Annotations"].get(NAME) in {"web", "b", "prep"}


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", RULES)
def test_every_container_starts_with_the_mounts_of_the_pod(name: str, profile: str) -> None:
    workload, rego = rendered(name, profile)
    containers = {one["name"]: one for one in workload.init_containers + workload.containers}
    asked_of = {asked.request["OCI"]["Annotations"].get(NAME): asked for asked in created(name, profile)}

    assert asked_of.keys() - {None} == containers.keys()
    for each, one in containers.items():
        asked = asked_of[each]
        mounts = {entry["destination"]: entry for entry in asked.request["OCI"]["Mounts"]}
        for entry in one.get("volumeMounts", ()):
            options = mounts[entry["mountPath"]]["options"]
            assert ("ro" in options) == bool(entry.get("readOnly"))
            wanted = {"HostToContainer": "rslave", "Bidirectional": "rshared"}.get(entry.get("mountPropagation"))
            assert (wanted or "rprivate") in options
            assert "/shared/" not in mounts[entry["mountPath"]]["source"], "no directory of the node"
        assert allows(agreed.ask(rego, CREATE, asked.state, asked.request, asked.name)), asked.name


def _ours(request: Json, workload: Workload) -> Any:
    """The first mount of a volume of the pod."""
    name = request["OCI"]["Annotations"][NAME]
    (one,) = [each for each in workload.init_containers + workload.containers if each["name"] == name]
    path = one["volumeMounts"][0]["mountPath"]
    return next(entry for entry in request["OCI"]["Mounts"] if entry["destination"] == path)


def _storage(request: Json) -> Any:
    return next(one for one in request["storages"] if one["driver"] != "image_guest_pull")


def _shared(request: Json, workload: Workload) -> None:
    """A directory of the node, as a subPath of an emptyDir, a claim or a hostPath would be."""
    source = f"/run/kata-containers/shared/containers/{request['container_id']}-0123456789abcdef-x"
    _ours(request, workload)["source"] = source


CHANGES: dict[str, Callable[[Json, Workload], Any]] = {
    "a directory of the node at the same path": _shared,
    "the same mount elsewhere": lambda r, w: _ours(r, w).update(destination="/elsewhere"),
    "a writable mount, or one that is not": lambda r, w: _ours(r, w).update(
        options=[{"ro": "rw", "rw": "ro"}.get(one, one) for one in _ours(r, w)["options"]]
    ),
    "a storage less": lambda r, _: r["storages"].remove(_storage(r)),
    "a storage more": lambda r, _: r["storages"].append({**copy.deepcopy(_storage(r)), "fstype": "xfs"}),
    "a storage that is not encrypted": lambda r, _: _storage(r).update(driver_options=["x"]),
    "a mount more": lambda r, w: r["OCI"]["Mounts"].append({**copy.deepcopy(_ours(r, w)), "destination": "/more"}),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", CHANGES)
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", RULES)
def test_with_one_thing_changed_none_starts(name: str, profile: str, what: str) -> None:
    workload, rego = rendered(name, profile)
    for asked in filter(of_app, created(name, profile)):
        request = copy.deepcopy(asked.request)
        CHANGES[what](request, workload)
        assert request != asked.request
        answer = agreed.ask(rego, CREATE, asked.state, request, what, quick=True)
        assert not allows(answer), f"{asked.name}: {what}"


@pytest.mark.parametrize(
    ("name", "resources"),
    [
        ("calculated memory", {"requests": {"memory": "130Mi"}, "limits": {"memory": "130Mi"}}),
        ("more vCPUs", {"limits": {"cpu": "3"}}),
    ],
)
def test_the_pod_that_starts_has_what_the_rule_writes(name: str, resources: Json) -> None:
    assert rendered(name, "strict")[0].pod_spec["resources"] == resources
