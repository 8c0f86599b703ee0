"""What a node of Contrast 1.25 sends is allowed, and each single change of it is denied; on every engine.

The table is that of docs/facts/contrast-node.md#rules, and of what Contrast's generator adds to Kata's. The pod is the
one that was recorded on a real node (K3s, containerd 2): busybox without a securityContext, as a Pod and as a
Deployment.
"""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from krm_function.config.image_lock import ImageFacts
from krm_function.config.references import References
from krm_function.contrast.profiles import CONTRAST, STRICT, Profile
from krm_function.kubernetes.workload import Workload
from krm_function.policy.rules import load_rules
from krm_function.policy.seal import seal
from krm_function.policy.settings import default_settings
from tests.policy import node, pods
from tests.policy.host import SANDBOX_ID, Agent, Host, Json

DIGEST = "sha256:dc2d7742d8a6e4e2ad8b7c5b4f9bf8ea9d6ccd7c37a0f76b5b1a6d0d4aa18616"
BUSYBOX = f"busybox@{DIGEST}"
FACTS = ImageFacts(
    DIGEST,
    {"Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"], "Cmd": ["sh"]},
    "root:x:0:0:root:/root:/bin/sh\ndaemon:x:1:1:daemon:/usr/sbin:/bin/false\n",
    "root:x:0:\ndaemon:x:1:\nwheel:x:10:root\n",
)
PROFILES = pytest.mark.parametrize("profile", [CONTRAST, STRICT], ids=lambda profile: profile.name)
ROOT = "/run/kata-containers"


def _sealed(subject: Workload, profile: Profile, facts: ImageFacts = FACTS) -> str:
    images = {entry["image"]: facts for entry in subject.containers}
    made, findings = seal(subject, images, References(), default_settings(profile), load_rules(profile))
    assert made is not None, findings
    return made.rego


def _pod(kind: str = "Pod", volumes: list[Json] | None = None, **container: Any) -> Workload:
    spec = {"containers": [{"name": "test", "image": BUSYBOX, "args": ["sleep", "inf"], **container}]}
    return pods.workload({**spec, **({"volumes": volumes} if volumes else {})}, kind, {"name": "test"})


class Node:
    """The agent with the policy of a pod, and the requests of a Contrast node for it."""

    def __init__(self, subject: Workload, profile: Profile, facts: ImageFacts = FACTS) -> None:
        rego = _sealed(subject, profile, facts)
        name = "test" if subject.ref.kind == "Pod" else "test-7c5ddbdf54-x2v9k"
        self.agent, self.host = Agent(rego), Host(rego, name, "default", node.CONTRAST)

    def allows(self, container: str, change: Callable[[Json], object] = lambda _: None) -> bool:
        """Whether a container may be created after a change of the correct request."""
        request = copy.deepcopy(self.host.create(container))
        change(request)
        return self.agent.verdict("CreateContainerRequest", request) is not False


def _pull(request: Json) -> Json:
    return next(one for one in request["storages"] if one["driver"] == "image_guest_pull")


def _source(source: str) -> Callable[[Json], None]:
    return lambda request: _pull(request).update(source=source)


def _storage(**values: Any) -> Callable[[Json], None]:
    def change(request: Json) -> None:
        assert any(_pull(request)[key] != value for key, value in values.items())
        _pull(request).update(values)

    return change


def _propagation(value: str) -> Callable[[Json], None]:
    return lambda request: request["OCI"]["Linux"].update(RootfsPropagation=value)


def _version(value: str) -> Callable[[Json], None]:
    return lambda request: request["OCI"].update(Version=value)


# rule, container, change of the request, verdict
ROWS: list[tuple[str, str, Callable[[Json], Any], bool]] = [
    ("R1 propagation without a mount that has it", "test", _propagation("rslave"), False),
    ("R1 propagation without a mount that has it, shared", "test", _propagation("rshared"), False),
    ("R2 1.0.2", "test", _version("1.0.2"), True),
    ("R2 1.1.0", "test", _version("1.1.0"), True),
    ("R2 1.3.0", "test", _version("1.3.0"), True),
    ("R2 1.3.0 of the sandbox", "pause", _version("1.3.0"), True),
    ("R3 no storage", "test", lambda r: r["storages"].clear(), False),
    ("R3 the storage twice", "test", lambda r: r["storages"].append(copy.deepcopy(r["storages"][0])), False),
    ("R4 fstype", "test", _storage(fstype="tmpfs"), False),
    ("R4 options", "test", _storage(options=["rw"]), False),
    ("R4 driver_options", "test", _storage(driver_options=["image_guest_pull={}"]), False),
    ("R4 driver", "test", _storage(driver="scsi"), False),
    ("R4 driver, and a source of it", "test", _storage(driver="scsi", source="0:1"), False),
    (
        "R4 a block device at the text of the pattern",
        "test",
        _storage(driver="blk", source="01/01", mount_point="^$(root_path)$"),
        False,
    ),
    ("R4 shared", "test", _storage(shared=True), False),
    ("R4 fs_group", "test", _storage(fs_group={"group_id": 1, "group_change_policy": 0}), False),
    ("R5 another registry", "test", _source(f"registry.k8s.io/{BUSYBOX}"), True),
    ("R5 a tag beside the digest", "test", _source(f"busybox:1.36@{DIGEST}"), True),
    ("R5 another digest", "test", _source("busybox@sha256:" + "0" * 64), False),
    ("R5 a tag", "test", _source("busybox:latest"), False),
    ("R5 a name", "test", _source("busybox"), False),
    ("R5 nothing before the digest", "test", _source(f"@{DIGEST}"), False),
    ("R5 two digests", "test", _source(f"busybox@sha256:{'0' * 64}@{DIGEST}"), False),
    ("R5 the sandbox's image", "test", _source("pause"), False),
    ("R5 sandbox", "pause", _source("pause"), True),
    ("R5 sandbox, any image", "pause", _source("evil.example/x:1"), False),
    ("R5 sandbox, any digest", "pause", _source("evil.example/pause@sha256:" + "0" * 64), False),
    ("R5 sandbox, the image of the pod", "pause", _source(BUSYBOX), False),
    ("R6 another directory", "test", _storage(mount_point="/proc"), False),
    ("R6 another container's", "test", _storage(mount_point=f"{ROOT}/{'a' * 64}/rootfs"), False),
    ("R6 around the one expected", "test", _storage(mount_point=f"/x{ROOT}/{1:064x}/rootfs"), False),
    ("R6 below the one expected", "test", _storage(mount_point=f"{ROOT}/{1:064x}/rootfs/x"), False),
    ("R6 a line more", "test", _storage(mount_point=f"{ROOT}/{1:064x}/rootfs\n"), False),
    ("id another than the directory's", "test", lambda r: r.update(container_id="a" * 64), False),
]


@pytest.fixture(scope="module", params=[CONTRAST, STRICT], ids=lambda profile: profile.name)
def plain(request: pytest.FixtureRequest) -> Node:
    return Node(_pod(), request.param)


@pytest.mark.parametrize(("container", "change", "allowed"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_a_request_that_differs(plain: Node, container: str, change: Callable[[Json], Any], *, allowed: bool) -> None:
    assert plain.allows(container, change) is allowed


@PROFILES
@pytest.mark.parametrize("kind", ["Pod", "Deployment"])
def test_the_recorded_pod_starts_as_it_was_recorded(profile: Profile, kind: str) -> None:
    recorded = Node(_pod(kind), profile)
    sandbox, container = recorded.host.create("pause"), recorded.host.create("test")
    # the values are of the record, whatever the policy says
    assert sandbox["container_id"] == SANDBOX_ID
    for request, user, groups in ((sandbox, 65535, [65535]), (container, 0, [0, 10])):
        request["OCI"]["Process"]["User"] = {"UID": user, "GID": user, "AdditionalGids": groups, "Username": ""}
        request["OCI"]["Linux"]["Namespaces"] = [{"Type": kind, "Path": ""} for kind in ("ipc", "uts", "mount")]
        assert request["OCI"]["Version"] == "1.3.0"
        assert [one["driver_options"] for one in request["storages"]] == [[]]
    sandbox["OCI"]["Process"]["NoNewPrivileges"] = True
    container["OCI"]["Process"]["NoNewPrivileges"] = False
    assert [one["source"] for one in (*sandbox["storages"], *container["storages"])] == ["pause", BUSYBOX]
    assert recorded.agent.allows("CreateContainerRequest", sandbox)
    assert recorded.agent.allows("CreateContainerRequest", container)


@PROFILES
@pytest.mark.parametrize("groups", [[0], [10], [0, 10, 11], []])
def test_other_groups_are_denied(profile: Profile, groups: list[int]) -> None:
    assert not Node(_pod(), profile).allows("test", lambda r: r["OCI"]["Process"]["User"].update(AdditionalGids=groups))


@PROFILES
@pytest.mark.parametrize(("asked", "option"), [("HostToContainer", "rslave"), ("Bidirectional", "rshared")])
@pytest.mark.parametrize("medium", ["", "Memory"])
def test_propagation_is_what_containerd_writes(profile: Profile, asked: str, option: str, medium: str) -> None:
    mount = {"name": "v", "mountPath": "/v", "mountPropagation": asked}
    volumes = [{"name": "v", "emptyDir": {"medium": medium}}]
    found = Node(_pod(volumes=volumes, volumeMounts=[mount]), profile)

    def mounted(value: str) -> Callable[[Json], None]:
        def change(request: Json) -> None:
            (entry,) = [one for one in request["OCI"]["Mounts"] if one["destination"] == "/v"]
            entry["options"] = ["rbind", value, "rw"]

        return change

    assert found.host.create("test")["OCI"]["Linux"]["RootfsPropagation"] == option
    assert found.allows("test")
    assert found.allows("test", mounted(option))
    assert not found.allows("test", mounted("rprivate"))
    for other in {"", "rslave", "rshared", "rprivate", "shared"} - {option}:
        assert not found.allows("test", _propagation(other))
    assert not found.allows("pause", _propagation(option)), "the sandbox has no such mount"


@PROFILES
def test_a_volume_of_the_image_is_the_pod_s(profile: Profile) -> None:
    facts = FACTS._replace(config={**FACTS.config, "Volumes": {"/data": {}}})
    subject = _pod(volumes=[{"name": "v", "emptyDir": {}}], volumeMounts=[{"name": "v", "mountPath": "/data"}])
    found = Node(subject, profile, facts)
    assert found.allows("test")

    def host_directory(request: Json) -> None:
        (entry,) = [one for one in request["OCI"]["Mounts"] if one["destination"] == "/data"]
        entry["source"] = f"{ROOT}/shared/containers/{request['container_id']}-0123456789abcdef-data"

    assert not found.allows("test", host_directory)


@PROFILES
@pytest.mark.parametrize("number", [2, 3])
@pytest.mark.parametrize("medium", ["", "Memory"])
def test_several_volumes_and_one_mounted_twice_start(profile: Profile, number: int, medium: str) -> None:
    names = [f"v{index}" for index in range(number)]
    mounts = [{"name": name, "mountPath": f"/{name}"} for name in names]
    mounts.append({"name": "v0", "mountPath": "/again"})
    volumes = [{"name": name, "emptyDir": {"medium": medium}} for name in names]
    found = Node(_pod(volumes=volumes, volumeMounts=mounts), profile)
    assert found.allows("test")
    assert not found.allows("test", lambda r: r["storages"].pop())
    assert not found.allows("test", lambda r: r["storages"].append(copy.deepcopy(r["storages"][-1])))
    assert not found.allows("test", lambda r: r["storages"].__setitem__(0, copy.deepcopy(r["storages"][-1])))


def _gpus(count: int) -> Node:
    limits: Json = {"resources": {"limits": {"nvidia.com/GH100_H100_PCIE": count}}} if count else {}
    return Node(_pod(**limits), CONTRAST)


def _gpu(request: Json, number: int) -> None:
    path = f"/dev/vfio/devices/vfio{number}"
    options = [f"0000:0{number}:00.0=01/0{number}"]
    gpu = {"id": f"vfio{number}", "type_": "vfio-pci-gk", "vm_path": "", "container_path": path, "options": options}
    request["devices"].append(gpu)
    request["OCI"]["Annotations"][f"cdi.k8s.io/vfio{number}"] = f"nvidia.com/gpu={number}"


@pytest.mark.parametrize(
    ("asked", "given", "allowed"),
    [(0, 0, True), (0, 1, False), (1, 1, True), (1, 2, False), (1, 0, False), (2, 2, True), (2, 1, False)],
)
@pytest.mark.parametrize("container", ["pause", "test"])
def test_gpus_of_the_sandbox_are_those_of_all_containers(
    container: str, asked: int, given: int, *, allowed: bool
) -> None:
    def change(request: Json) -> None:
        request["devices"].clear()
        for key in [key for key in request["OCI"]["Annotations"] if key.startswith("cdi.k8s.io/")]:
            del request["OCI"]["Annotations"][key]
        for number in range(given):
            _gpu(request, number)

    assert _gpus(asked).allows(container, change) is allowed


@PROFILES
def test_gpus_of_init_containers_count_for_the_sandbox(profile: Profile) -> None:
    limits = {"resources": {"limits": {"nvidia.com/pgpu": 1}}}
    spec = {
        "initContainers": [{"name": "warm", "image": BUSYBOX, **limits}],
        "containers": [{"name": "test", "image": BUSYBOX, **limits}, {"name": "side", "image": BUSYBOX}],
    }
    subject = pods.workload(spec, "Pod", {"name": "test"})
    rego = pods.sealed(subject, profile=profile).rego
    host = Host(rego, "test", "default", node.CONTRAST)
    counts = {name: len(host.create(name)["devices"]) for name in ("pause", "warm", "test", "side")}
    assert counts == {"pause": 2, "warm": 1, "test": 1, "side": 0}
    for name in counts:
        assert Agent(rego).allows("CreateContainerRequest", host.create(name))


# Rules of somebody else that look at storages only, as Contrast's own do: all are counted, images by their digests.
COUNTING = """package agent_policy

import future.keywords.every
import future.keywords.if
import future.keywords.in

default CreateContainerRequest := false

CreateContainerRequest if {
\tsome p in policy_data.containers
\tp.OCI.Annotations["io.kubernetes.cri.container-type"] == input.OCI.Annotations["io.kubernetes.cri.container-type"]
\tcount(p.storages) == count(input.storages)
\tevery storage in input.storages {
\t\tpermitted(p, storage)
\t}
}

permitted(p, storage) if {
\tsome wanted in p.storages
\twanted.driver == storage.driver
\twanted.driver_options == storage.driver_options
\twanted.fstype == storage.fstype
\tsplit(wanted.source, "@")[1] == split(storage.source, "@")[1]
\tid := input.container_id
\tpoint := replace(replace(wanted.mount_point, "$(root_path)", policy_data.common.root_path), "$(bundle-id)", id)
\tregex.match(point, storage.mount_point)
}

permitted(p, storage) if {
\tsome wanted in p.storages
\twanted.source == "pause"
\tstorage.source == "pause"
}
"""


def test_rules_of_somebody_else_that_count_images_work_with_our_data() -> None:
    subject = _pod()
    made, findings = seal(subject, {BUSYBOX: FACTS}, References(), default_settings(), COUNTING)
    assert made is not None, findings
    # rego-cpp refuses to run what it compiled of so small a module ("bundle verify: raw index ...")
    asking = Host(made.rego, "test", "default", node.CONTRAST)
    for name in ("pause", "test"):
        assert Agent(made.rego, quick=True).allows("CreateContainerRequest", asking.create(name))
    other = asking.create("test")
    _source("busybox@sha256:" + "0" * 64)(other)
    assert not Agent(made.rego, quick=True).allows("CreateContainerRequest", other)
