"""What PodSecurity, quotas and limit ranges of a namespace do to random pods is what `admission` says of containers."""

import json
from collections.abc import Iterator
from functools import partial
from random import Random
from typing import Any

import pytest

from krm_function.contrast.namespace_admission import (
    LABEL,
    Level,
    admitted_resources,
    applies,
    missing,
    refusals,
    refused_amounts,
    violations,
    wanted_of_containers,
)
from krm_function.contrast.owned import CONTAINERS
from krm_function.contrast.vm_size import vcpus
from krm_function.hosts.stream import decode_stream
from krm_function.kubernetes.quantity import equal
from krm_function.kubernetes.workload import workloads_of
from krm_function.render.select import select
from tests.cluster.api import Api, Json, until
from tests.cluster.conftest import Sizes
from tests.world import an_object, config, coordinator, good, values

DRY = "?dryRun=All"
IMAGE = "registry.example.com/web:1"
LEVELS: tuple[Level, ...] = ("baseline", "restricted")
CAPABILITIES = ("NET_ADMIN", "CHOWN", "NET_BIND_SERVICE", "SYS_ADMIN", "ALL")
PROFILES = ("RuntimeDefault", "Unconfined", "Localhost")


def pod(namespace: str, containers: list[Json], **spec: Any) -> Json:
    metadata = {"name": "tried", "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": containers, **spec}}


def some(random: Random, share: float, **choices: Any) -> Json:
    """Some of the fields."""
    return {key: value for key, value in choices.items() if random.random() < share}


def profile(random: Random, *kinds: str) -> Json:
    kind = random.choice(kinds)
    return {"type": kind, **({"localhostProfile": "a.json"} if kind == "Localhost" else {})}


def security(random: Random) -> Json:
    """A securityContext of a container: near what `restricted` asks for, or with one thing in it that is too much."""
    close = {
        "allowPrivilegeEscalation": False,
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
        "capabilities": {"drop": ["ALL"]},
    }
    value = some(random, 0.9, **close)
    more = some(
        random,
        0.12,
        privileged=random.choice((True, False)),
        allowPrivilegeEscalation=random.choice((True, False)),
        runAsUser=random.choice((0, 1000)),
        seccompProfile=profile(random, *PROFILES),
        appArmorProfile=profile(random, *PROFILES),
        procMount="Default",
        seLinuxOptions=random.choice(({"type": "container_t"}, {"type": "spc_t"}, {"level": "s0"}, {"role": "x"})),
        capabilities=some(random, 0.6, add=random.sample(CAPABILITIES, 1), drop=random.sample(CAPABILITIES, 2)),
    )
    if more.get("privileged") or "SYS_ADMIN" in more.get("capabilities", {}).get("add", ()):
        value.pop("allowPrivilegeEscalation", None)  # validation refuses both together
        more.pop("allowPrivilegeEscalation", None)
    return {**value, **more}


def container(random: Random, name: str) -> Json:
    probe = {"httpGet": {"port": 80, **some(random, 0.5, host="10.0.0.1")}}
    return {
        "name": name,
        "image": IMAGE,
        "securityContext": security(random),
        **some(random, 0.1, ports=[{"containerPort": 80, **some(random, 0.5, hostPort=80)}]),
        **some(random, 0.1, readinessProbe=probe, lifecycle={"preStop": probe}),
    }


@pytest.mark.parametrize("level", LEVELS)
def test_a_level_of_pod_security_refuses_the_containers_that_break_it(
    api: Api, namespace: str, sizes: Sizes, level: Level
) -> None:
    random = sizes.random(f"pod security {level}")
    api.patch("Namespace", namespace, {"metadata": {"labels": {LABEL: level}}}).ok()
    until("the level", lambda: _refuses(api, pod(namespace, [_privileged()])))
    verdicts: list[bool] = []
    for _ in range(sizes(150, 1500)):
        choices = {"runAsNonRoot": True, "seccompProfile": profile(random, "RuntimeDefault", "Localhost")}
        whole = some(random, 0.3, **choices)
        value = pod(namespace, [container(random, "app")], securityContext=whole)
        refused, ours = _refuses(api, value), violations(value["spec"]["containers"][0], value["spec"], level)
        assert refused == bool(ours), (ours, value)
        verdicts.append(refused)
    assert min(verdicts.count(True), verdicts.count(False)) > len(verdicts) / 20


def _privileged() -> Json:
    return {"name": "app", "image": IMAGE, "securityContext": {"privileged": True}}


def _refuses(api: Api, value: Json) -> bool:
    answer = api.create(value, DRY)
    if answer.code == 201:
        return False
    assert answer.code == 403, (answer.message, value)
    assert "violates PodSecurity" in answer.message, (answer.message, value)
    return True


AMOUNTS = {"cpu": ("250m", "0.5", "1", "2", "4"), "memory": ("64Mi", "128M", "1Gi", "2Gi")}


def amounts(random: Random, share: float, lowest: int = 0, highest: int = 9) -> Json:
    return {name: random.choice(rows[lowest:highest]) for name, rows in AMOUNTS.items() if random.random() < share}


def resources(random: Random) -> Json:
    """Requests are not above the limits."""
    limits = amounts(random, 0.5, 2)
    requests = amounts(random, 0.4, 0, 2)
    return {key: value for key, value in (("limits", limits), ("requests", requests)) if value}


@pytest.fixture
def objects(api: Api, namespace: str) -> Iterator[list[tuple[str, str]]]:
    """What a test adds to its namespace."""
    made: list[tuple[str, str]] = []
    yield made
    for kind, name in made:
        api.delete(kind, name, namespace)


def test_a_limit_range_changes_and_refuses_resources_as_we_say(
    api: Api, namespace: str, sizes: Sizes, objects: list[tuple[str, str]]
) -> None:
    random = sizes.random("limit ranges")
    verdicts: list[bool] = []
    objects.append(("LimitRange", "tried"))
    while len(verdicts) < sizes(100, 800):
        value = limit_range(random, namespace)
        made = api.create(value)
        if made.code != 201:  # a default below its minimum, and the like
            assert made.code == 422, made.message
            continue
        most = value["spec"]["limits"][0]["max"]["storage"]
        until("the limit range", partial(_in_use, api, namespace, most))
        for _ in range(10):
            one = {"name": "app", "image": IMAGE, "resources": resources(random)}
            verdicts.append(_compared(api, pod(namespace, [one]), [made.value]))
        api.delete("LimitRange", "tried", namespace).ok()
    assert min(verdicts.count(True), verdicts.count(False)) > len(verdicts) / 20


def limit_range(random: Random, namespace: str) -> Json:
    item: Json = {"type": "Container"}
    for field, low, high in (("min", 0, 2), ("max", 2, 9), ("default", 1, 4), ("defaultRequest", 0, 3)):
        if random.random() < 0.5 and (found := amounts(random, 0.7, low, high)):
            item[field] = found
    mark = {"type": "PersistentVolumeClaim", "max": {"storage": f"{2 * random.randrange(1 << 20) + 1}Mi"}}
    return {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "tried", "namespace": namespace},
        "spec": {"limits": [mark, item]},
    }


def _in_use(api: Api, namespace: str, most: str) -> bool:
    """Whether admission knows a limit range, by the size of a claim that it refuses."""
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Ei"}}}
    head: Json = {"apiVersion": "v1", "kind": "PersistentVolumeClaim"}
    claim = {**head, "metadata": {"name": "tried", "namespace": namespace}, "spec": spec}
    return f"maximum storage usage per PersistentVolumeClaim is {most}," in api.create(claim, DRY).message


def _compared(api: Api, value: Json, ranges: list[Json]) -> bool:
    """Compare the resources that one container is admitted with, or that it is refused; whether it was."""
    one = value["spec"]["containers"][0]
    outside = [each for around in ranges for each in refused_amounts(one, ranges, around)]
    answer = api.create(value, DRY)
    if answer.code == 422:  # a default made a request larger than its limit
        assert "must be less than or equal to" in answer.message
        return True
    assert (answer.code == 403) == bool(outside), (answer.message, outside, value, ranges)
    if answer.code == 201:
        admitted = answer.value["spec"]["containers"][0].get("resources", {})
        for ours, side in zip(admitted_resources(one, ranges), ("requests", "limits"), strict=True):
            theirs = admitted.get(side, {})
            assert ours.keys() == theirs.keys(), (ours, theirs, value, ranges)
            assert all(equal(ours[name], theirs[name]) for name in ours)
    return bool(answer.code == 403)


SCOPES = (["NotTerminating"], ["Terminating"], ["NotBestEffort"])
HARD = ("cpu", "memory", "requests.cpu", "limits.cpu", "requests.memory", "limits.memory")


def test_a_quota_asks_of_each_container_what_we_say(api: Api, namespace: str, sizes: Sizes) -> None:
    random = sizes.random("quotas")
    verdicts: list[bool] = []
    for number in range(sizes(6, 40)):
        quota = resource_quota(random, f"tried-{number}", namespace)
        api.create(quota).ok()
        until("the quota", partial(_enforced, api, quota))
        for _ in range(10):
            every = [{"name": f"app-{n}", "image": IMAGE, "resources": resources(random)} for n in range(2)]
            every[0]["resources"] = every[0]["resources"] or {"requests": {"memory": "64Mi"}}  # as an injected one has
            more = some(random, 0.2, activeDeadlineSeconds=60, resources={"limits": {"cpu": "9", "memory": "9Gi"}})
            verdicts.append(_asked(api, pod(namespace, every, **more), quota))
        api.delete("ResourceQuota", f"tried-{number}", namespace).ok()
    assert min(verdicts.count(True), verdicts.count(False)) > len(verdicts) / 20


def resource_quota(random: Random, name: str, namespace: str) -> Json:
    spec: Json = {"hard": dict.fromkeys(random.sample(HARD, random.randint(1, 3)), "100Gi")}
    spec |= some(random, 0.4, scopes=random.choice(SCOPES))
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": spec}


def _enforced(api: Api, quota: Json) -> bool:
    """Whether admission knows a quota: whether one of these pods is refused because of it."""
    name, namespace = quota["metadata"]["name"], quota["metadata"]["namespace"]
    for given in ({}, {"requests": {"cpu": "1"}}, {"requests": {"memory": "1Gi"}}):
        for more in ({}, {"activeDeadlineSeconds": 60}):
            value = pod(namespace, [{"name": "app", "image": IMAGE, "resources": given}], **more)
            if f"failed quota: {name}: must specify " in api.create(value, DRY).message:
                return True
    return False


def _asked(api: Api, value: Json, quota: Json) -> bool:
    """Compare what each container lacks for a quota; whether the pod was refused."""
    wanted, every = wanted_of_containers(quota), value["spec"]["containers"]
    lacks = [name for one in every for name in missing(one, wanted, [])] if applies(quota, value["spec"]) else []
    answer = api.create(value, DRY)
    assert (answer.code == 403) == bool(lacks), (answer.message, lacks, value, quota)
    if lacks:
        assert f"failed quota: {quota['metadata']['name']}: must specify " in answer.message
    return bool(lacks)


@pytest.mark.parametrize(
    ("kind", "spec", "code", "says"),
    [
        ("Namespace", "baseline", "CC0315", "violates PodSecurity"),
        ("Namespace", "restricted", "CC0315", "violates PodSecurity"),
        ("Namespace", "privileged", "", ""),
        (
            "ResourceQuota",
            {"hard": {"limits.cpu": "100"}},
            "CC0316",
            "must specify limits.cpu for: contrast-initi",
        ),
        ("ResourceQuota", {"hard": {"pods": "100"}}, "", ""),
        ("LimitRange", {"limits": [{"type": "Container", "default": {"cpu": "4"}}]}, "CC0317", ""),
        ("LimitRange", {"limits": [{"type": "Container", "min": {"memory": "1Gi"}}]}, "CC0318", "minimum memory usage"),
    ],
    ids=["baseline", "restricted", "privileged", "cpu-quota", "pod-quota", "default-cpu", "least-memory"],
)
def test_a_rendered_pod_is_refused_or_changed_where_plan_and_check_warn(
    api: Api,
    namespace: str,
    objects: list[tuple[str, str]],
    kind: str,
    spec: Any,
    code: str,
    says: str,
) -> None:
    """The pod of a render, in which all is well but what the injected containers have."""
    sealed = _rendered(namespace)
    workload = workloads_of(sealed, (), select(sealed).workloads[0].ref)[0]
    if kind == "Namespace":
        api.patch("Namespace", namespace, {"metadata": {"labels": {LABEL: spec}}}).ok()
        value: Json = {**api.get("Namespace", namespace).ok(), "apiVersion": "v1", "kind": "Namespace"}
    else:
        value = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "tried", "namespace": namespace}, "spec": spec}
        api.create(value).ok()
        objects.append((kind, "tried"))
    warned = refusals(decode_stream(json.dumps(value).encode()).resources, [workload])
    assert [found.code for found in warned] == ([code] if code else [])
    api.create(_class(workload.runtime_class)).ok()
    try:
        if says:
            message: str = until(says, lambda: _message(api, sealed, says))
            assert any(name in message for name in CONTAINERS) or kind == "LimitRange"
        else:
            admitted = until("admission", lambda: _admitted(api, sealed, changed=code == "CC0317"))
            counts = [vcpus(workload), vcpus(workloads_of(admitted, (), workload.ref)[0])]
            assert (counts[0] != counts[1]) == (code == "CC0317")
    finally:
        api.delete("RuntimeClass", workload.runtime_class)


def _rendered(namespace: str) -> Json:
    """A rendered Pod that would pass `restricted` but for what was injected."""
    tight = {
        "allowPrivilegeEscalation": False,
        "runAsNonRoot": True,
        "runAsUser": 1000,
        "seccompProfile": {"type": "RuntimeDefault"},
        "capabilities": {"drop": ["ALL"]},
    }
    one = an_object("Pod", "tried", namespace)
    big = {"cpu": "1", "memory": "1Gi"}
    one["spec"]["containers"][0] |= {"securityContext": tight, "resources": {"requests": big, "limits": big}}
    rendered = values(good(coordinator(namespace=namespace), one, to=config()))
    return next(value for value in rendered if value["kind"] == "Pod")


def _class(name: str) -> Json:
    head: Json = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": name}, "handler": name}
    return {**head, "overhead": {"podFixed": {"memory": "682Mi"}}}


def _message(api: Api, value: Json, says: str) -> str:
    answer = api.create(value, DRY)
    return answer.message if answer.code == 403 and says in answer.message else ""


def _admitted(api: Api, value: Json, *, changed: bool) -> Any:
    """The pod as it is admitted, once admission knows the object that changes it."""
    answer = api.create(value, DRY)
    if answer.code != 201:
        return None
    found = {**answer.value, "apiVersion": "v1", "kind": "Pod"}
    limits = [one.get("resources", {}).get("limits", {}) for one in found["spec"]["initContainers"]]
    return found if not changed or any("cpu" in one for one in limits) else None
