"""A container with NVIDIA_VISIBLE_DEVICES=all is told of all GPUs of its pod, and no other one; on every engine.

Source: docs/facts/contrast-node.md#gpus-that-containers-share.
"""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from krm_function.check.drift import find_drift
from krm_function.config.image_lock import ImageFacts
from krm_function.config.references import References
from krm_function.contrast.injected import INITIALIZER, SERVICE_MESH
from krm_function.contrast.profiles import CONTRAST, KATA, STRICT, Profile
from krm_function.kubernetes.workload import Workload
from krm_function.policy.compare import compare_initdata
from krm_function.policy.initdata import decode_toml
from krm_function.policy.mounts import shared_gpu_notes
from krm_function.policy.rules import load_rules
from krm_function.policy.seal import seal
from krm_function.policy.settings import default_settings
from tests.policy import node, pods
from tests.policy.host import Agent, Host, Json
from tests.policy.pods import rego_document

DIGEST = "sha256:" + "d" * 64
IMAGE = f"registry.example.com/shop/cuda@{DIGEST}"
VARIABLE = "NVIDIA_VISIBLE_DEVICES"
ALL = [{"name": VARIABLE, "value": "all"}]
CONTRAST_NODES = pytest.mark.parametrize("profile", [CONTRAST, STRICT], ids=lambda profile: profile.name)

Change = Callable[[Json], Any]


def limit(count: int) -> Json:
    return {"resources": {"limits": {"nvidia.com/pgpu": count}}}


def workload(*containers: Json, init: tuple[Json, ...] = ()) -> Workload:
    entries = [{"image": IMAGE, "command": ["/run"], **entry} for entry in containers]
    spec = {"containers": entries, "initContainers": [{"image": IMAGE, "command": ["/run"], **one} for one in init]}
    return pods.workload({key: value for key, value in spec.items() if value}, "Pod", {"name": "test"})


def sealing(subject: Workload, profile: Profile, env: tuple[str, ...] = (), references: Any = None) -> Any:
    facts = ImageFacts(DIGEST, {"Env": ["PATH=/bin", *env]}, "root:x:0:0:root:/:/bin/sh\n", "root:x:0:\n")
    images = {one.container["image"]: facts for one in subject.all_containers}
    return seal(subject, images, references or References(), default_settings(profile), load_rules(profile))


class Running:
    """The agent with the policy of a pod, and a host of that profile's nodes."""

    def __init__(self, subject: Workload, profile: Profile, env: tuple[str, ...] = (), references: Any = None) -> None:
        made, findings = sealing(subject, profile, env, references)
        assert made is not None, findings
        self.data = made.data
        self.agent = Agent(made.rego)
        self.host = Host(made.rego, "test", "default", node.CONTRAST if profile.binds_images else node.KATA)

    def allows(self, container: str, change: Change = lambda _: None) -> bool:
        request = copy.deepcopy(self.host.create(container))
        change(request)
        return self.agent.verdict("CreateContainerRequest", request) is not False

    def announced(self, container: str) -> int:
        return sum(key.startswith("cdi.k8s.io/") for key in self.host.create(container)["OCI"]["Annotations"])


def announce(*numbers: int, value: str = "nvidia.com/gpu={}") -> Change:
    """The request with these GPUs announced, and no others."""

    def change(request: Json) -> None:
        notes = request["OCI"]["Annotations"]
        for key in [key for key in notes if key.startswith("cdi.k8s.io/")]:
            del notes[key]
        for number in numbers:
            notes[f"cdi.k8s.io/vfio{number}"] = value.format(number)

    return change


def with_device(number: int) -> Change:
    """The request with one more GPU plugged in."""

    def change(request: Json) -> None:
        gpu = {
            "id": f"vfio{number}",
            "type_": "vfio-pci-gk",
            "vm_path": "",
            "container_path": f"/dev/vfio/devices/vfio{number}",
        }
        request["devices"].append({**gpu, "options": [f"0000:0{number}:00.0=01/0{number}"]})

    return change


def without_devices(request: Json) -> None:
    request["devices"].clear()


def both(*changes: Change) -> Change:
    def change(request: Json) -> None:
        for one in changes:
            one(request)

    return change


POD = ({"name": "asks", **limit(2)}, {"name": "shares", "env": ALL}, {"name": "other"})
BOTH = ({"name": "first", "env": ALL, **limit(1)}, {"name": "second", "env": ALL, **limit(1)})

# containers, container, change of the request of a correct host, verdict
ROWS: list[tuple[str, tuple[Json, ...], str, Change, bool]] = [
    ("all of them", POD, "shares", announce(0, 1), True),
    ("all of them, other numbers", POD, "shares", announce(3, 7), True),
    ("none", POD, "shares", announce(), False),
    ("too few", POD, "shares", announce(0), False),
    ("too many", POD, "shares", announce(0, 1, 2), False),
    ("another value", POD, "shares", announce(0, 1, value="evil.example/gpu={}"), False),
    ("another value around the right one", POD, "shares", announce(0, 1, value="nvidia.com/gpu={} x"), False),
    (
        "another key",
        POD,
        "shares",
        lambda r: r["OCI"]["Annotations"].update({"cdi.k8s.io/x": "nvidia.com/gpu=0"}),
        False,
    ),
    ("a device", POD, "shares", with_device(0), False),
    (
        "the same device twice",
        POD,
        "asks",
        lambda r: r["devices"].__setitem__(1, copy.deepcopy(r["devices"][0])),
        False,
    ),
    ("two that ask and share, its device twice", BOTH, "first", with_device(0), False),
    ("to a container that does not share", POD, "other", announce(0), False),
    ("all to a container that does not share", POD, "other", announce(0, 1), False),
    ("to the container that asks, as it asks", POD, "asks", announce(0, 1), True),
    ("to the container that asks, one more", POD, "asks", announce(0, 1, 2), False),
    ("to the container that asks, none", POD, "asks", announce(), False),
    ("to the sandbox, one more", POD, "pause", announce(0, 1, 2), False),
    ("two that ask and share", BOTH, "first", announce(0, 1), True),
    ("two that ask and share, there from the start", BOTH, "first", both(without_devices, announce(0, 1)), True),
    ("two that ask and share, its own alone", BOTH, "first", announce(0), False),
    ("two that ask and share, one too many", BOTH, "first", announce(0, 1, 2), False),
    ("two that ask and share, not its own", BOTH, "first", announce(1, 2), False),
    ("two that ask and share, another device", BOTH, "first", with_device(1), False),
]


@pytest.mark.slow
@CONTRAST_NODES
@pytest.mark.parametrize(
    ("containers", "container", "change", "allowed"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_what_a_host_may_announce(
    profile: Profile, containers: tuple[Json, ...], container: str, change: Change, *, allowed: bool
) -> None:
    assert Running(workload(*containers), profile).allows(container, change) is allowed


def source(**entry: Any) -> list[Json]:
    return [{"name": VARIABLE, **entry}]


# variables of the image, env and envFrom of the pod's container, whether the GPUs are announced to it
VALUES: list[tuple[str, tuple[str, ...], Json, bool]] = [
    ("the pod's", (), {"env": ALL}, True),
    ("the image's", (f"{VARIABLE}=all",), {}, True),
    ("the image's, of two the later one", (f"{VARIABLE}=none", f"{VARIABLE}=all"), {}, True),
    ("the image's, of two the earlier one", (f"{VARIABLE}=all", f"{VARIABLE}=none"), {}, False),
    ("the pod's in place of the image's", (f"{VARIABLE}=none",), {"env": ALL}, True),
    ("the image's replaced by the pod's", (f"{VARIABLE}=all",), {"env": source(value="none")}, False),
    ("the image's replaced by nothing", (f"{VARIABLE}=all",), {"env": source(value="")}, False),
    ("the later one of two", (), {"env": [*source(value="none"), *ALL]}, True),
    ("the earlier one of two", (), {"env": [*ALL, *source(value="none")]}, False),
    ("env before envFrom", (), {"env": source(value="void"), "envFrom": [{"configMapRef": {"name": "gpus"}}]}, False),
    ("envFrom", (), {"envFrom": [{"configMapRef": {"name": "gpus"}}]}, True),
    ("a key", (), {"env": source(valueFrom={"configMapKeyRef": {"name": "gpus", "key": VARIABLE}})}, True),
    ("expanded", (), {"env": [{"name": "A", "value": "al"}, *source(value="$(A)l")]}, True),
    ("not expanded", (), {"env": source(value="$(B)")}, False),
    *((value, (), {"env": source(value=value)}, False) for value in ("none", "void", "0", "0,1", "ALL", "All", "all ")),
    ("another name", (), {"env": [{"name": "NVIDIA_VISIBLE_DEVICES_", "value": "all"}]}, False),
]


@pytest.mark.slow
@CONTRAST_NODES
@pytest.mark.parametrize(("env", "container", "shares"), [row[1:] for row in VALUES], ids=[row[0] for row in VALUES])
def test_the_variable_of_the_process_counts(
    profile: Profile, env: tuple[str, ...], container: Json, *, shares: bool
) -> None:
    values = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "gpus"}, "data": {VARIABLE: "all"}}
    subject = workload({"name": "asks", "env": source(value="none"), **limit(1)}, {"name": "other", **container})
    running = Running(subject, profile, env, References([values]))
    assert running.announced("other") == shares
    for name in ("pause", "asks", "other"):
        assert running.allows(name), name
    assert running.allows("other", announce(0)) is shares
    assert running.allows("other", announce()) is not shares
    assert [note for note in shared_gpu_notes(running.data) if "container other" in note] == (
        ["container other gets all GPUs of the pod, by NVIDIA_VISIBLE_DEVICES=all; it asks for none itself"] * shares
    )


@CONTRAST_NODES
def test_the_image_s_value_that_the_pod_replaces_gives_no_container_more(profile: Profile) -> None:
    asks = {"name": "asks", "env": source(value="none"), **limit(1)}
    running = Running(workload(asks, {"name": "more", "env": ALL, **limit(1)}), profile, (f"{VARIABLE}=all",))
    assert [running.announced(name) for name in ("pause", "asks", "more")] == [2, 1, 2]
    assert all(running.allows(name) for name in ("pause", "asks", "more"))

    def as_the_image_says(request: Json) -> None:
        variables = request["OCI"]["Process"]["Env"]
        variables[:] = [entry for entry in variables if not entry.startswith(VARIABLE)] + [f"{VARIABLE}=all"]

    assert not running.allows("asks", both(as_the_image_says, announce(0, 1)))


@CONTRAST_NODES
def test_init_containers_and_sidecars_share_as_well(profile: Profile) -> None:
    init = ({"name": "warm", "env": ALL}, {"name": "side", "restartPolicy": "Always", "env": ALL})
    running = Running(workload({"name": "asks", **limit(2)}, init=init), profile)
    for name in ("warm", "side"):
        assert running.announced(name) == 2
        assert running.allows(name)
        assert not running.allows(name, announce(0, 1, 2))


@CONTRAST_NODES
@pytest.mark.parametrize("name", [INITIALIZER, SERVICE_MESH, "pvc-holder"])
def test_an_injected_container_is_told_of_no_gpu(profile: Profile, name: str) -> None:
    init = ({"name": name, "restartPolicy": "Always"},)
    running = Running(workload({"name": "asks", **limit(1)}, init=init), profile, (f"{VARIABLE}=all",))
    assert not running.allows(name, announce(0))
    assert running.allows(name, announce())


@CONTRAST_NODES
def test_in_a_pod_without_a_gpu_the_variable_means_nothing(profile: Profile) -> None:
    plain, with_it = (Running(workload({"name": "web", **more}), profile) for more in ({}, {"env": ALL}))
    assert with_it.allows("web")
    assert not with_it.allows("web", announce(0))
    assert (
        with_it.data["containers"][1]["runtime_anno_patterns"] == plain.data["containers"][1]["runtime_anno_patterns"]
    )
    assert not list(shared_gpu_notes(with_it.data))


def test_kata_s_own_nodes_share_nothing() -> None:
    running = Running(workload({"name": "asks", **limit(1)}, {"name": "shares", "env": ALL}), KATA)
    assert running.announced("shares") == 0
    assert running.allows("shares")
    assert not running.allows("shares", announce(0))
    two = Running(workload(*BOTH), KATA)
    assert two.allows("first", announce(0))
    assert not two.allows("first", announce(0, 1))


@CONTRAST_NODES
@pytest.mark.parametrize("path", ["metadata.name", "spec.nodeName", "status.podIP"])
def test_a_value_that_is_known_later_is_refused_in_a_pod_with_gpus(profile: Profile, path: str) -> None:
    later = {"name": "later", "env": source(valueFrom={"fieldRef": {"fieldPath": path}})}
    made, findings = sealing(workload({"name": "asks", **limit(1)}, later), profile)
    assert made is None
    assert [found.code for found in findings if found.severity == "error"] == ["CC0632"]
    assert sealing(workload({"name": "asks"}, later), profile)[0] is not None


def test_a_comparison_says_which_container_reaches_more_gpus() -> None:
    asks = {"name": "asks", **limit(1)}
    documents = [
        decode_toml(sealing(workload(asks, {"name": "other", "env": env}), CONTRAST)[0].toml)
        for env in (source(value="none"), ALL)
    ]
    found = [(one.container, one.field, one.verdict) for one in compare_initdata(*documents)]
    assert ("other", "GPUs", "weaker") in found
    back = [(one.container, one.field, one.verdict) for one in compare_initdata(*reversed(documents))]
    assert ("other", "GPUs", "stronger") in back


@CONTRAST_NODES
@pytest.mark.parametrize("env", [(), (f"{VARIABLE}=all",), (f"{VARIABLE}=none",)], ids=["", "all", "none"])
def test_check_sees_what_a_pod_shares(profile: Profile, env: tuple[str, ...]) -> None:
    pod = workload({"name": "asks", **limit(1)}, {"name": "shares", "env": ALL}, {"name": "other"})
    data = sealing(pod, profile, env)[0].data
    assert find_drift(pod, data, References()) == []
    notes = data["containers"][2]["runtime_anno_patterns"]
    del notes[next(key for key in notes if "cdi" in key)]
    assert find_drift(pod, data, References()) == [f"shares: GPUs of the pod by {VARIABLE}"]
    assert find_drift(pod, data, References(), native=False) == []


@CONTRAST_NODES
@pytest.mark.parametrize("numbers", [(), (0,), (0, 1)])
def test_data_that_do_not_say_how_many_gpus_the_pod_has_share_none(profile: Profile, numbers: tuple[int, ...]) -> None:
    running = Running(workload(*BOTH, {"name": "shares", "env": ALL}), profile)
    data = copy.deepcopy(running.data)
    data["containers"][0]["devices"].clear()
    agent = Agent(rego_document(load_rules(profile), data))
    for name in ("first", "shares"):
        request = running.host.create(name)
        announce(*numbers)(request)
        without_devices(request)
        assert agent.verdict("CreateContainerRequest", request) is False
