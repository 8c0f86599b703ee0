"""A policy holds over the whole life of a pod: sequences of requests, on all engines, and what notices a lost rule.

The invariants, and what is assumed of the agent: docs/explanation/threat-model.md#the-life-of-a-pod.
"""

import functools

import pytest

from krm_function.contrast.profiles import CONTRAST, KATA, STRICT, Profile
from krm_function.policy.rules import load_rules
from tests.policy import pods
from tests.policy.host import UID, Agent, Host
from tests.policy.lifetimes import rows
from tests.policy.lifetimes.agent import Machine
from tests.policy.lifetimes.invariants import broken
from tests.policy.lifetimes.search import search
from tests.policy.oracle import workloads
from tests.policy.oracle.requests import sandbox

BOUND = pytest.mark.parametrize("profile", [CONTRAST, STRICT], ids=lambda profile: profile.name)


@functools.cache
def sealed(profile: Profile) -> str:
    return rows.policy(profile)


@pytest.mark.slow
@BOUND
@pytest.mark.parametrize("name", rows.ROWS)
def test_each_request_of_a_sequence_has_its_verdict(profile: Profile, name: str) -> None:
    steps = rows.ROWS[name]
    assert rows.play(sealed(profile), steps, Agent(sealed(profile))) == [step.allowed for step in steps]


# file and text of the rules, and what stands there instead
MUTANTS: dict[str, tuple[str, str]] = {
    "the name of the pod is not kept": ('name_ops := pinned("sandbox_name", name)', "name_ops := []"),
    "the namespace is not kept": ('namespace_ops := pinned("namespace", namespace)', "namespace_ops := []"),
    "the network is not kept": ('network_ops := pinned("network_namespace", network_namespace)', "network_ops := []"),
    "a container does not keep the sandbox": (
        'sandbox_ops := sandbox_pinned(input.OCI.Annotations["io.kubernetes.cri.sandbox-id"])',
        "sandbox_ops := []",
    ),
    "a sandbox is not kept": ("ops := sandbox_pinned(input.sandbox_id)", "ops := []"),
    "what is kept of the pod is not written": ("pod_ops, creation(", "[], creation("),
    "a container is not kept": ("array.concat(pod_ops, creation(input.container_id, candidates[0]))", "pod_ops"),
    "what the state has is any value": ("[] if data.pstate[key] == value", "[] if is_pinned(key)"),
    "a value of the state may be replaced": (
        '"value": value}] if not is_pinned(key)',
        '"value": value}] if not data.pstate[key] == value',
    ),
    "a removal is not kept": ('[recorded(id, known.container, "removed")]', "[]"),
    "a removal forgets the id": (
        '[recorded(id, known.container, "removed")]',
        '[{"op": "remove", "path": state_path(id)}]',
    ),
    "a removed container is as new": ('known.container, "removed")', 'known.container, "created")'),
    "a container is removed twice": ('\tknown.phase != "removed"\n', ""),
    "what is given up cannot be removed": ('known.phase != "removed"', 'known.phase in {"created", "started"}'),
    "a removed container is one still": ('in {"created", "started"}', 'in {"created", "started", "removed"}'),
    "a container that runs is none": ('in {"created", "started"}', 'in {"created"}'),
    "a container that is to start is none": ('in {"created", "started"}', 'in {"started"}'),
    "an id may be used again": ("\tnot is_pinned(id)\n\tcount([1 | known", "\tcount([1 | known"),
    "a container may run twice": ('; known.phase == "started"]) == 0', '; known.phase == "started"]) >= 0'),
    "one that was removed hinders the next": ('; known.phase == "started"]) == 0', '; known.phase == "removed"]) == 0'),
    "one that was created hinders the next": ('; known.phase == "started"]) == 0', '; known.phase == "created"]) == 0'),
    "any container that runs hinders the next": ("known.container == container; ", ""),
    "one that was not started stays": ("array.concat(given_up, ", "array.concat([], "),
    "all that were not started are given up": ("\t\tknown.container == container\n", ""),
    "what is given up can be started": (
        'recorded(other, container, "given up")',
        'recorded(other, container, "created")',
    ),
    "a creation starts": ('recorded(id, container, "created")', 'recorded(id, container, "started")'),
    "a start is not kept": ('"ops": [recorded(id, data.pstate[id].container, "started")]', '"ops": []'),
    "a start is another container's": ("data.pstate[id].container, ", "0, "),
    "a start is of any container": ('\tdata.pstate[id].phase == "created"\n', "\tdata.pstate[id].phase\n"),
    "a start is of any key": ('\tdata.pstate[id].phase == "created"\n', "\tdata.pstate[id]\n"),
    "a container may have the sandbox's id": ("if input.container_id != sandbox_id", 'if sandbox_id != ""'),
    "the sandbox's container may have any id": ("if input.container_id == sandbox_id", 'if sandbox_id != ""'),
}


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_change_of_what_the_state_keeps_is_noticed(mutant: str) -> None:
    old, new = MUTANTS[mutant]
    changed = sealed(CONTRAST).replace(old, new)
    assert sealed(CONTRAST).count(old) == 1
    assert Agent(changed, quick=True, older=False, kept=False).allows("GuestDetailsRequest", {}), "it does not load"
    for steps in rows.ROWS.values():
        agent = Agent(changed, quick=True, older=False, kept=False)
        if rows.play(changed, steps, agent) != [step.allowed for step in steps]:
            return
    pytest.fail("no sequence shows it")


def test_plain_kata_creates_an_id_again_as_the_same_container_and_none_that_was_removed() -> None:
    steps = (
        rows.create("app", 1, True),
        rows.create("app", 1, True),
        rows.create("side", 1, False),
        rows.create("app", 2, True),
        rows.execute(1, True),
        rows.remove(1, True),
        rows.remove(1, False),
        rows.remove(9, False),
        rows.create("app", 1, False),
        rows.create("side", 1, False),
    )
    assert rows.play(sealed(KATA), steps, Agent(sealed(KATA))) == [step.allowed for step in steps]


ID = "a" * 64
UNDERSCORED = UID.replace("-", "_")
# the path, and whether contrast-1.25 and strict take it
CGROUPS = {
    f"/kubepods/besteffort/pod{UID}/{ID}": (True, True),
    f"/kubepods/burstable/pod{UID}/{ID}": (True, True),
    f"/kubepods/pod{UID}/{ID}": (True, True),
    f"kubepods-besteffort-pod{UNDERSCORED}.slice:cri-containerd:{ID}": (True, True),
    f"kubepods-burstable-pod{UNDERSCORED}.slice:cri-containerd:{ID}": (True, True),
    f"kubepods-pod{UNDERSCORED}.slice:cri-containerd:{ID}": (True, True),
    f"/kubelet/kubepods/besteffort/pod{UID}/{ID}": (True, False),
    f"/kubelet.slice/kubepods/pod{UID}/{ID}": (True, False),
    f"kubelet-kubepods-besteffort-pod{UNDERSCORED}.slice:cri-containerd:{ID}": (True, False),
    f"/kubepods/besteffort/pod{UID.replace('0', '1')}/{ID}": (True, False),
    f"/kubepods/guaranteed/pod{UID}/{ID}": (True, False),
    "": (False, False),
    "/": (False, False),
    f"/{ID}": (False, False),
    f"/system.slice/{ID}": (False, False),
    f"/kubepods/besteffort/pod{UID}/{'b' * 64}": (False, False),
    f"/kubepods/besteffort/pod{UID}/{ID}/x": (False, False),
    f"/kubepods/besteffort/pod{UID}/{ID}\n": (False, False),
    f"/kubepods/../pod{UID}/{ID}": (False, False),
    f"/../kubepods/pod{UID}/{ID}": (False, False),
    f"/kubepods//pod{UID}/{ID}": (False, False),
    f"kubepods/besteffort/pod{UID}/{ID}": (False, False),
    f"/xkubepods/pod{UID}/{ID}": (False, False),
    f"/kubepods/{'x' * 200}/{ID}": (False, False),
    f"xkubepods-pod{UNDERSCORED}.slice:cri-containerd:{ID}": (False, False),
    f"kubepods-{'x' * 170}.slice:cri-containerd:{ID}": (False, False),
    f"kubepods-pod{UNDERSCORED}.slice:crio:{ID}": (False, False),
    f"kubepods-pod{UNDERSCORED}.slice:cri-containerd:{'b' * 64}": (False, False),
    f"kubepods-pod{UNDERSCORED}.slice:cri-containerd:{ID}:x": (False, False),
    f"kubepods-pod{UNDERSCORED}xslice:cri-containerd:{ID}": (False, False),
    f"system.slice:cri-containerd:{ID}": (False, False),
}


@pytest.mark.slow
@pytest.mark.parametrize("path", CGROUPS)
def test_a_container_is_counted_where_containerd_counts_it(path: str) -> None:
    found = []
    for profile in (CONTRAST, STRICT, KATA):
        request = Host(sealed(profile)).create("app", ID)
        request["OCI"]["Linux"]["CgroupsPath"] = path
        found.append(Agent(sealed(profile)).allows("CreateContainerRequest", request))
    assert found == [*CGROUPS[path], True]


@pytest.mark.parametrize("length", [255, 256])
def test_the_path_of_a_cgroup_is_short(length: int) -> None:
    path = f"/kubepods/{'x' * (length - 75)}/{ID}"
    assert len(path) == length
    request = Host(sealed(CONTRAST)).create("app", ID)
    request["OCI"]["Linux"]["CgroupsPath"] = path
    assert Agent(sealed(CONTRAST)).allows("CreateContainerRequest", request) is (length < 256)


@BOUND
def test_a_container_is_in_the_directory_of_its_own_id(profile: Profile) -> None:
    """Its cgroup and its id agree, and only the directory is another one's."""
    request = Host(sealed(profile)).create("app", ID)
    assert Agent(sealed(profile)).allows("CreateContainerRequest", request)
    request["container_id"] = "b" * 64
    request["OCI"]["Linux"]["CgroupsPath"] = request["OCI"]["Linux"]["CgroupsPath"].replace(ID, "b" * 64)
    assert not Agent(sealed(profile)).allows("CreateContainerRequest", request)


EXAMPLES = (
    "quickstart StatefulSet/db",
    "quickstart Deployment/payments",
    "multi-runtime CronJob/report",
    "every-field StatefulSet/every-field",
    "gpu Deployment/recommendations",
    "strict Deployment/web",
)


@pytest.mark.slow
@pytest.mark.parametrize("examples", [12, pytest.param(200, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", EXAMPLES)
def test_no_sequence_of_requests_breaks_an_invariant(name: str, examples: int) -> None:
    search(workloads.examples()[name], examples)


def two_containers() -> str:
    images = [f"registry.example.com/shop/app:1@sha256:{digit * 64}" for digit in "12"]
    containers = [{"name": name, "image": image} for name, image in zip(("app", "side"), images, strict=True)]
    return pods.sealed(pods.workload({"containers": containers})).rego


def test_an_image_that_stays_mounted_is_another_container_s_where_the_rules_forget_ids() -> None:
    """What the search found in rules that took a removed container's id for a new one."""
    rego = two_containers()
    for kept, told in ((rego, []), (rego.replace(*MUTANTS["a removal forgets the id"]), ["side runs on"])):
        machine, host = Machine(kept), Host(kept)
        assert machine.create(host.create("app", "1" * 64), "fails with its storages mounted")
        assert machine.remove("1" * 64, "succeeds")
        obeyed = machine.create(host.create("side", "1" * 64), "succeeds") and machine.start("1" * 64)
        assert obeyed is bool(told)
        assert [line[:12] for line in broken(machine, host)] == told


def test_the_vm_s_own_image_is_a_container_s_where_the_rules_forget_the_sandbox() -> None:
    """What the search found in rules that did not look at the sandbox's id."""
    rego = two_containers()
    for kept, told in ((rego, []), (rego.replace(*MUTANTS["a sandbox is not kept"]), ["app runs on pause"])):
        machine, host = Machine(kept), Host(kept)
        assert machine.create_sandbox({**sandbox(host.data), "sandbox_id": "1" * 64})
        obeyed = machine.create(host.create("app", "1" * 64), "succeeds") and machine.start("1" * 64)
        assert obeyed is bool(told)
        assert [line[:17] for line in broken(machine, host)] == told


def test_a_host_that_means_no_harm_breaks_nothing() -> None:
    rego = sealed(CONTRAST)
    machine, host = Machine(rego), Host(rego, rows.NAME, "shop")
    for index, entry in enumerate(host.data["containers"]):
        name = entry["OCI"]["Annotations"].get("io.kubernetes.cri.container-name", "pause")
        if index == 0:
            assert machine.create_sandbox(sandbox(host.data))
        assert machine.create(host.create(name), "succeeds")
        assert machine.start(host.id_of(index))
        assert list(broken(machine, host)) == []
    assert len(machine.running()) == 4
    assert load_rules() in rego
