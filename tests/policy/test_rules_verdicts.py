"""Our own rules, evaluated: what a correct host asks for is allowed, and every single thing beside it is denied.

Both profiles are asked. Where they differ, kata-4.1 does what Kata's rules do: test_rules_profiles.py.
"""

import base64
import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from krm_function.config.generate import RequestRules
from krm_function.config.references import References
from krm_function.contrast.profiles import DEFAULT, KATA, PROFILES, Profile
from krm_function.policy.rules import load_rules
from krm_function.policy.seal import seal
from krm_function.policy.settings import default_document, default_settings, settings
from tests.policy import host, pods

Json = dict[str, Any]

SHM = "/dev/shm"  # noqa: S108 - a mount of the guest
RO = ["nosuid", "noexec", "nodev", "ro"]
CGROUP = ["nosuid", "noexec", "nodev", "relatime", "ro"]
PINNED = "registry.example.com/shop/app:1@sha256:" + "a" * 64
NAMES = ("pause", "contrast-service-mesh", "contrast-initializer", "pvc-holder", "app")


@pytest.fixture(scope="module", params=tuple(PROFILES.values()), ids=tuple(PROFILES))
def profile(request: pytest.FixtureRequest) -> Profile:
    made: Profile = request.param
    return made


@pytest.fixture(scope="module")
def rego(profile: Profile) -> str:
    return pods.sealed(pods.rich(), profile=profile).rego


@pytest.fixture(scope="module")
def correct(rego: str) -> host.Host:
    return host.Host(rego)


@pytest.fixture(scope="module")
def fresh(rego: str) -> host.Agent:
    """An agent before the first container; tests ask it for verdicts only."""
    return host.Agent(rego)


@pytest.fixture(scope="module")
def running(rego: str, correct: host.Host) -> host.Agent:
    """An agent after all containers were created; tests ask it for verdicts only."""
    agent = host.Agent(rego)
    for name in NAMES:
        assert agent.allows("CreateContainerRequest", correct.create(name))
    return agent


@pytest.mark.parametrize("name", NAMES)
def test_a_correct_container_is_allowed_first(
    profile: Profile, fresh: host.Agent, correct: host.Host, name: str
) -> None:
    verdict = fresh.verdict("CreateContainerRequest", correct.create(name))

    assert verdict["allowed"] is True
    assert {op["path"]: op["value"] for op in verdict["ops"]} == {
        "/pstate/sandbox_name": host.TOKENS["sandbox-name"],
        "/pstate/namespace": "shop",
        "/pstate/network_namespace": host.NETNS if profile is KATA else "",
        **({} if profile is KATA else {"/pstate/sandbox_id": host.SANDBOX_ID}),
        f"/pstate/{correct.id_of(correct.index(name))}": {"container": correct.index(name), "phase": "created"},
    }


def _set(*path: Any) -> Callable[[Json], None]:
    """A mutation: the last element of `path` is put where the others lead."""

    def mutate(request: Json) -> None:
        value: Any = request
        for part in path[:-2]:
            value = value[part]
        assert value[path[-2]] != path[-1]
        value[path[-2]] = path[-1]

    return mutate


def _append(*path: Any) -> Callable[[Json], None]:
    def mutate(request: Json) -> None:
        value: Any = request
        for part in path[:-1]:
            value = value[part]
        value.append(path[-1])

    return mutate


def _drop(*path: Any) -> Callable[[Json], None]:
    def mutate(request: Json) -> None:
        value: Any = request
        for part in path[:-1]:
            value = value[part]
        del value[path[-1]]

    return mutate


def _replaced(key: str, value: str) -> Callable[[Json], None]:
    """A mutation of one environment variable."""

    def mutate(request: Json) -> None:
        env = request["OCI"]["Process"]["Env"]
        index = next(i for i, entry in enumerate(env) if entry.startswith(key + "="))
        assert env[index] != f"{key}={value}"
        env[index] = f"{key}={value}"

    return mutate


def _found(request: Json, destination: str) -> Json:
    return next(mount for mount in request["OCI"]["Mounts"] if mount["destination"] == destination)


def _mount(destination_: str, **values: Any) -> Callable[[Json], None]:
    def mutate(request: Json) -> None:
        mount = next(m for m in request["OCI"]["Mounts"] if m["destination"] == destination_)
        assert any(mount[key] != value for key, value in values.items())
        mount.update(values)

    return mutate


def _storage(driver_: str, **values: Any) -> Callable[[Json], None]:
    def mutate(request: Json) -> None:
        storage = next(s for s in request["storages"] if s["driver"] == driver_)
        assert any(storage[key] != value for key, value in values.items())
        storage.update(values)

    return mutate


def _twice(*path: Any) -> Callable[[Json], None]:
    def mutate(request: Json) -> None:
        value: Any = request
        for part in path:
            value = value[part]
        value.append(copy.deepcopy(value[-1]))

    return mutate


def _block(request: Json) -> Json:
    return next(storage for storage in request["storages"] if storage["driver"] == "blk")


def _block_mount(destination: str) -> Callable[[Json], None]:
    """Mount the block storage in place of another volume."""
    return lambda request: _mount(destination, source=_block(request)["mount_point"])(request)


def _moved_block(**values: str) -> Callable[[Json], None]:
    """A block storage that is another one, and mounted from where that one is."""

    def mutate(request: Json) -> None:
        storage = _block(request)
        storage.update(values)
        if "mount_point" not in values:
            address = base64.urlsafe_b64encode(storage["source"].encode()).decode()
            storage["mount_point"] = f"/run/kata-containers/sandbox/storage/{address}"
        mount = next(m for m in request["OCI"]["Mounts"] if m["destination"] == "/scratch")
        mount["source"] = storage["mount_point"]

    return mutate


def _no_device(request: Json) -> None:
    """The block storage exists by name only and is mounted nowhere."""
    _block(request).update(driver="", source="", mount_point="/run/kata-containers/sandbox/storage/")
    request["OCI"]["Mounts"] = [m for m in request["OCI"]["Mounts"] if m["destination"] != "/scratch"]


def _other_image(request: Json) -> Json:
    return {**request["storages"][0], "driver": "overlayfs"}


def _capabilities(name: str) -> Callable[[Json], None]:
    names = default_settings().shared["common"][name]
    sets = ("Bounding", "Effective", "Permitted")
    return lambda request: request["OCI"]["Process"]["Capabilities"].update(dict.fromkeys(sets, names))


MUTATIONS: dict[str, tuple[str, Callable[[Json], None]]] = {
    "shared mounts": ("app", _append("shared_mounts", {"name": "x", "src_ctr": "a"})),
    "string user": ("app", _set("string_user", {"uid": "0"})),
    "hooks": ("app", _set("OCI", "Hooks", {"Prestart": []})),
    "solaris": ("app", _set("OCI", "Solaris", {})),
    "windows": ("app", _set("OCI", "Windows", {})),
    "gid mappings": ("app", _append("OCI", "Linux", "GIDMappings", {"HostID": 0})),
    "uid mappings": ("app", _append("OCI", "Linux", "UIDMappings", {"HostID": 0})),
    "mount label": ("app", _set("OCI", "Linux", "MountLabel", "x")),
    "intel rdt": ("app", _set("OCI", "Linux", "IntelRdt", {})),
    "seccomp": ("app", _set("OCI", "Linux", "Seccomp", {})),
    "resources missing": ("app", _set("OCI", "Linux", "Resources", None)),
    "resource devices": ("app", _append("OCI", "Linux", "Resources", "Devices", {"Allow": True})),
    "resource block io": ("app", _set("OCI", "Linux", "Resources", "BlockIO", {})),
    "resource network": ("app", _set("OCI", "Linux", "Resources", "Network", {})),
    "resource pids": ("app", _set("OCI", "Linux", "Resources", "Pids", {})),
    "selinux label": ("app", _set("OCI", "Process", "SelinuxLabel", "x")),
    "user name": ("app", _set("OCI", "Process", "User", "Username", "root")),
    "propagation of the root": ("app", _set("OCI", "Linux", "RootfsPropagation", "rshared")),
    "propagation of a root whose mounts have it": ("pvc-holder", _set("OCI", "Linux", "RootfsPropagation", "rslave")),
    "pid namespace": ("app", _set("sandbox_pidns", True)),
    "writable root": ("app", _set("OCI", "Root", "Readonly", False)),
    "root path": ("app", _set("OCI", "Root", "Path", "/run/kata-containers/shared/x")),
    "terminal": ("app", _set("OCI", "Process", "Terminal", True)),
    "no sandbox name": ("app", _drop("OCI", "Annotations", "io.kubernetes.cri.sandbox-name")),
    "another sandbox name": ("app", _set("OCI", "Annotations", "io.kubernetes.cri.sandbox-name", "web-aeiou-x2v9k")),
    "no namespace": ("app", _drop("OCI", "Annotations", "io.kubernetes.cri.sandbox-namespace")),
    "another namespace": ("app", _set("OCI", "Annotations", "io.kubernetes.cri.sandbox-namespace", "bank")),
    "unknown annotation": ("app", _set("OCI", "Annotations", {"x": "y"})),
    "annotation": (
        "app",
        lambda request: request["OCI"]["Annotations"].update({"io.katacontainers.config.agent.policy": "x"}),
    ),
    "annotation value": (
        "app",
        lambda request: request["OCI"]["Annotations"].update(
            {"io.kubernetes.container.terminationMessagePolicy": "Socket"}
        ),
    ),
    "container name": ("app", _set("OCI", "Annotations", "io.kubernetes.cri.container-name", "pvc-holder")),
    "no container name": ("app", _drop("OCI", "Annotations", "io.kubernetes.cri.container-name")),
    "container type": ("app", _set("OCI", "Annotations", "io.kubernetes.cri.container-type", "sandbox")),
    "kata container type": (
        "app",
        _set("OCI", "Annotations", "io.katacontainers.pkg.oci.container_type", "pod_sandbox"),
    ),
    "sandbox id": ("app", _set("OCI", "Annotations", "io.kubernetes.cri.sandbox-id", "../" + "5" * 61)),
    "pause with a name": (
        "pause",
        lambda request: request["OCI"]["Annotations"].update({"io.kubernetes.cri.container-name": "x"}),
    ),
    "pause log directory": (
        "pause",
        _set("OCI", "Annotations", "io.kubernetes.cri.sandbox-log-directory", "/var/log/pods/x"),
    ),
    "pause network": ("pause", _set("OCI", "Annotations", "nerdctl/network-namespace", "/proc/1/ns/net")),
    "container with log directory": (
        "app",
        lambda request: request["OCI"]["Annotations"].update({"io.kubernetes.cri.sandbox-log-directory": "/x"}),
    ),
    "more arguments": ("app", _append("OCI", "Process", "Args", "--debug")),
    "fewer arguments": ("app", _drop("OCI", "Process", "Args", -1)),
    "another argument": ("app", _set("OCI", "Process", "Args", 1, "--name=other")),
    "unescaped argument": ("app", _set("OCI", "Process", "Args", 2, "--price=$$(POD_NAME)")),
    "more environment": ("app", _append("OCI", "Process", "Env", "LD_PRELOAD=/x.so")),
    "service-like environment": ("app", _append("OCI", "Process", "Env", "DB_SERVICE_HOST=10.0.0.1;x")),
    "literal variable": ("app", _replaced("MODE", "a=c")),
    "config map variable": ("app", _replaced("COLOUR", "blue")),
    "secret variable": ("app", _replaced("TOKEN", "guess")),
    "name variable": ("app", _replaced("POD_NAME", "web-7c5ddbdf54-zzzzz")),
    "address variable": ("app", _replaced("POD_IP", "10.1.2.256")),
    "any-value variable of two parts": ("app", _replaced("NODE", "a=b")),
    "path variable": ("app", _replaced("PATH", "/lib")),
    "directory": ("app", _set("OCI", "Process", "Cwd", "/")),
    "new privileges": ("app", _set("OCI", "Process", "NoNewPrivileges", False)),
    "user": ("app", _set("OCI", "Process", "User", "UID", 1000)),
    "group": ("app", _set("OCI", "Process", "User", "GID", 1000)),
    "supplementary groups": ("app", _append("OCI", "Process", "User", "AdditionalGids", 10)),
    "bounding capability": ("app", _append("OCI", "Process", "Capabilities", "Bounding", "CAP_SYS_ADMIN")),
    "ambient capability": ("app", _append("OCI", "Process", "Capabilities", "Ambient", "CAP_CHOWN")),
    "missing capability": ("contrast-initializer", _drop("OCI", "Process", "Capabilities", "Effective", 0)),
    "no capabilities": ("app", _set("OCI", "Process", "Capabilities", None)),
    "namespace list": ("app", _drop("OCI", "Linux", "Namespaces", 0)),
    "namespace path": ("app", _set("OCI", "Linux", "Namespaces", 0, "Path", "/proc/1/ns/ipc")),
    "pid namespace of the VM": ("app", _append("OCI", "Linux", "Namespaces", {"Type": "pid", "Path": "/x"})),
    "two networks": (
        "app",
        lambda request: request["OCI"]["Linux"]["Namespaces"].extend(
            {"Type": "network", "Path": path} for path in (host.NETNS, "/x")
        ),
    ),
    "unmasked": ("app", _drop("OCI", "Linux", "MaskedPaths", 0)),
    "not read-only": ("app", _drop("OCI", "Linux", "ReadonlyPaths", 0)),
    "linux device": ("app", _append("OCI", "Linux", "Devices", {"Path": "/dev/kvm", "Type": "c"})),
    "sysctl": ("pause", _set("OCI", "Linux", "Sysctl", "net.ipv4.ip_unprivileged_port_start", "1")),
    "another sysctl": ("app", lambda request: request["OCI"]["Linux"]["Sysctl"].update({"kernel.x": "1"})),
    "device": ("app", _append("devices", {"container_path": "/dev/kvm", "id": "", "type_": "", "options": []})),
    "device path": ("pvc-holder", _set("devices", 0, "container_path", "/dev/sda")),
    "gpu": (
        "app",
        _append(
            "devices",
            {
                "container_path": "/dev/vfio/devices/vfio0",
                "id": "vfio0",
                "type_": "vfio-pci-gk",
                "vm_path": "",
                "options": ["0000:01:00.0=01/02"],
            },
        ),
    ),
    "mount twice": ("app", _twice("OCI", "Mounts")),
    "another mount": (
        "app",
        _append("OCI", "Mounts", {"destination": "/x", "source": "/", "type_": "bind", "options": ["rbind"]}),
    ),
    "mount destination": ("app", _mount("/etc/look", destination="/etc/ssl")),
    "mount type": ("app", _mount("/proc", type_="bind")),
    "mount source": ("app", _mount("/etc/look", source="/etc")),
    "mount options": ("app", _mount("/etc/look", options=["rbind", "rprivate", "rw"])),
    "mount propagation": ("app", _mount("/data", options=["rbind", "rshared", "rw"])),
    "mount of another bundle": (
        "app",
        _mount("/etc/look", source="/run/kata-containers/shared/containers/other-0123456789abcdef-look"),
    ),
    "block mount of no storage": ("app", _mount("/scratch", source="/run/kata-containers/sandbox/storage/x")),
    "ephemeral mount": ("app", _mount("/contrast", source="/run/kata-containers/sandbox/ephemeral/contrast-secrets/x")),
    "cgroup option": (
        "app",
        _mount("/sys/fs/cgroup", options=["nosuid", "noexec", "nodev", "relatime", "ro", "favordynmods"]),
    ),
    "writable sysfs": ("app", _mount("/sys", options=["nosuid", "noexec", "nodev", "rw"])),
    "storage twice": ("app", _twice("storages")),
    "storage missing": ("app", _drop("storages", -1)),
    "image elsewhere": ("app", _storage("image_guest_pull", mount_point="/run/kata-containers/x/rootfs")),
    "image of another kind": ("app", _storage("image_guest_pull", fstype="ext4")),
    "shared image": ("app", _storage("image_guest_pull", shared=True)),
    "image options": ("app", _storage("image_guest_pull", options=["exec"])),
    "image group": ("app", _storage("image_guest_pull", fs_group={"group_id": 1, "group_change_policy": 0})),
    "unencrypted block": ("app", _storage("blk", driver_options=["create_filesystem"])),
    "block kind": ("app", _storage("blk", fstype="xfs")),
    "block options": ("app", _storage("blk", options=["discard"])),
    "block not shared": ("app", _storage("blk", shared=False)),
    "block address": ("app", _storage("blk", source="/dev/vda")),
    "block elsewhere": ("app", _storage("blk", mount_point="/run/kata-containers/sandbox/storage/x")),
    "memory elsewhere": ("app", _storage("ephemeral", mount_point="/run/kata-containers/sandbox/ephemeral/other")),
    "memory kind": ("app", _storage("ephemeral", fstype="ext4")),
    "memory source": ("app", _storage("ephemeral", source="/dev/vda")),
    "memory driver": ("app", _storage("ephemeral", driver="local")),
    "name of another workload": (
        "pvc-holder",
        _set("OCI", "Annotations", "io.kubernetes.cri.sandbox-name", "web-aeiou-x2v9k"),
    ),
    "pause as container": ("pause", _set("OCI", "Annotations", "io.kubernetes.cri.container-type", "container")),
    "pause as kata container": (
        "pause",
        _set("OCI", "Annotations", "io.katacontainers.pkg.oci.container_type", "pod_container"),
    ),
    "annotation with a value of another": ("app", lambda request: request["OCI"]["Annotations"].update({"x": "/y"})),
    "block mount of nothing": ("app", _mount("/scratch", source="")),
    "block mount of nothing with other options": (
        "app",
        _mount("/scratch", source="", options=["rbind", "rprivate", "ro"]),
    ),
    "read-only sysfs of another source": ("pvc-holder", _mount("/sys", source="x", options=RO)),
    "read-only sysfs elsewhere": ("pvc-holder", _mount("/sys", destination="/x", options=RO)),
    "cgroup option of another mount": ("app", _mount("/proc", options=["nosuid", "noexec", "nodev", "nsdelegate"])),
    "cgroup option of another source": ("app", _mount("/sys/fs/cgroup", source="x", options=[*CGROUP, "nsdelegate"])),
    "cgroup option elsewhere": ("app", _mount("/sys/fs/cgroup", destination="/x", options=[*CGROUP, "nsdelegate"])),
    "cgroup without an option": ("app", _mount("/sys/fs/cgroup", options=CGROUP[1:])),
    "block storage as something else": ("app", _block_mount("/etc/look")),
    "block mount elsewhere": ("app", _mount("/scratch", destination="/x")),
    "block mount options": ("app", _mount("/scratch", options=["rbind", "rshared", "rw"])),
    "block mount of a memory storage": (
        "app",
        _mount("/scratch", source="/run/kata-containers/sandbox/ephemeral/share"),
    ),
    "image of another driver": ("app", lambda request: request["storages"][-1].update(_other_image(request))),
    "block of another address": ("app", _moved_block(source="/dev/vda")),
    "block of another driver": ("app", _moved_block(driver="nvdimm")),
    "scsi of another address": ("app", _moved_block(driver="scsi", source="0:1:2")),
    "block group": ("app", _storage("blk", fs_group={"group_id": 1, "group_change_policy": 0})),
    "block moved with its mount": ("app", _moved_block(mount_point="/etc")),
    "block of no device": ("app", _no_device),
    "variable that is the name": ("app", _replaced("COLOUR", host.TOKENS["sandbox-name"])),
    "variable that is an address": ("app", _replaced("COLOUR", "10.1.2.3")),
    "inheritable capability": ("app", _append("OCI", "Process", "Capabilities", "Inheritable", "CAP_CHOWN")),
    "permitted capability": ("app", _append("OCI", "Process", "Capabilities", "Permitted", "CAP_SYS_ADMIN")),
    "effective capability": ("app", _append("OCI", "Process", "Capabilities", "Effective", "CAP_SYS_ADMIN")),
    "default capabilities": ("contrast-initializer", _capabilities("default_caps")),
    "privileged capabilities": ("app", _capabilities("privileged_caps")),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", MUTATIONS)
def test_any_other_container_is_denied(fresh: host.Agent, correct: host.Host, what: str) -> None:
    name, mutate = MUTATIONS[what]
    request = correct.create(name)
    mutate(request)

    assert fresh.verdict("CreateContainerRequest", request) is False


def _other_directory(request: Json) -> None:
    """With or without the part of the shared directory that says that files are passed through."""
    mount, part = _found(request, "/etc/look"), "/containers/passthrough/"
    there = part in mount["source"]
    mount["source"] = mount["source"].replace(*((part, "/containers/") if there else ("/containers/", part)))


TOLERATED: dict[str, tuple[str, Callable[[Json], None]]] = {
    "cri annotation": (
        "app",
        lambda request: request["OCI"]["Annotations"].update({"io.kubernetes.cri.sandbox-cpu-quota": "1"}),
    ),
    "service variables": ("app", _append("OCI", "Process", "Env", "DB_SERVICE_HOST=10.0.0.1")),
    "service port": ("app", _append("OCI", "Process", "Env", "DB_PORT_5432_TCP=tcp://10.0.0.1:5432")),
    "more masked paths": ("app", _append("OCI", "Linux", "MaskedPaths", "/proc/interrupts")),
    "read-only sysfs of a privileged one": ("pvc-holder", _mount("/sys", options=["nosuid", "noexec", "nodev", "ro"])),
    "cgroup option": (
        "app",
        _mount("/sys/fs/cgroup", options=["nosuid", "noexec", "nodev", "relatime", "ro", "nsdelegate"]),
    ),
    "no token of the service account": (
        "app",
        lambda request: request["OCI"]["Mounts"].remove(
            _found(request, "/var/run/secrets/kubernetes.io/serviceaccount")
        ),
    ),
    "mnt instead of mount": ("app", _set("OCI", "Linux", "Namespaces", 2, "Type", "mnt")),
    "capability spelling": (
        "contrast-initializer",
        lambda request: request["OCI"]["Process"]["Capabilities"].update(
            Bounding=[name.removeprefix("CAP_") for name in request["OCI"]["Process"]["Capabilities"]["Bounding"]]
        ),
    ),
    "another node": ("app", _replaced("NODE", "node-2")),
    "the other shared directory": ("app", _other_directory),
    "scsi instead of blk": ("app", _moved_block(driver="scsi", source="0:1")),
    "unchecked parts": ("app", _set("OCI", "Process", "OOMScoreAdj", 999)),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", TOLERATED)
def test_what_hosts_may_do_differently_is_allowed(fresh: host.Agent, correct: host.Host, what: str) -> None:
    name, mutate = TOLERATED[what]
    request = correct.create(name)
    mutate(request)

    assert fresh.verdict("CreateContainerRequest", request) is not False


@pytest.mark.parametrize("version", ["1.0.2", "1.1.0", "1.2.0", "1.3.0"])
def test_the_version_of_the_runtime_is_kata_s_matter_and_not_contrast_s(
    profile: Profile, fresh: host.Agent, correct: host.Host, version: str
) -> None:
    request = correct.create("app")
    request["OCI"]["Version"] = version
    allowed = fresh.verdict("CreateContainerRequest", request) is not False
    assert allowed is (profile is not KATA or version == "1.1.0")


def test_the_state_pins_the_pod(profile: Profile, running: host.Agent, rego: str) -> None:
    again = host.Host(rego).create("app", "a" * 64)
    created = {"op": "add", "path": f"/pstate/{'a' * 64}", "value": {"container": 4, "phase": "created"}}
    given_up = {"op": "add", "path": f"/pstate/{4:064x}", "value": {"container": 4, "phase": "given up"}}
    kept = [] if profile is KATA else [given_up]
    assert running.verdict("CreateContainerRequest", again)["ops"] == [*kept, created]

    renamed = host.Host(rego, name="web-7c5ddbdf54-bbbbb").create("app", "a" * 64)
    assert running.verdict("CreateContainerRequest", renamed) is False
    other_network = copy.deepcopy(again)
    networks = [one for one in other_network["OCI"]["Linux"]["Namespaces"] if one["Type"] == "network"]
    assert len(networks) == (profile is KATA)
    if networks:
        networks[0]["Path"] = "/var/run/netns/other"
        no_network = copy.deepcopy(again)
        no_network["OCI"]["Linux"]["Namespaces"] = no_network["OCI"]["Linux"]["Namespaces"][:3]
        assert running.verdict("CreateContainerRequest", no_network) is False
    else:
        other_network["OCI"]["Linux"]["Namespaces"].append({"Type": "network", "Path": host.NETNS})
    assert running.verdict("CreateContainerRequest", other_network) is False
    taken = host.Host(rego).create("app", f"{3:064x}")
    assert running.verdict("CreateContainerRequest", taken) is False


def test_the_first_namespace_is_kept_where_the_policy_names_none(profile: Profile) -> None:
    rego = pods.sealed(
        pods.workload({"containers": [{"name": "app", "image": PINNED}]}, metadata={"name": "web"}), profile=profile
    ).rego
    agent = host.Agent(rego)

    assert agent.allows("CreateContainerRequest", host.Host(rego, namespace="blue").create("pause"))
    assert not agent.allows("CreateContainerRequest", host.Host(rego, namespace="green").create("app"))
    assert agent.allows("CreateContainerRequest", host.Host(rego, namespace="blue").create("app"))


def test_exec_runs_the_container_s_own_probes_only(running: host.Agent, correct: host.Host) -> None:
    def allowed(name: str, *args: str, **changes: Any) -> bool:
        request = correct.execute(name, list(args))
        request["process"].update(changes)
        return running.verdict("ExecProcessRequest", request) is True

    assert allowed("app", "/web", "health")
    assert allowed("app", "/web", "stop")
    assert allowed("contrast-service-mesh", "test", "-f", "/ready")
    assert not allowed("app", "test", "-f", "/ready")
    assert not allowed("pause", "/web", "health")
    assert not allowed("app", "/bin/sh")
    assert not allowed("app", "/web", "health", Terminal=True)
    assert not allowed("app", "/web", "health", Capabilities={"Bounding": []})
    assert not allowed("app", "/web", "health", Cwd="/")
    assert not allowed("app", "/web", "health", Env=["LD_PRELOAD=/x.so"])
    assert not allowed("app", "/web", "health", SelinuxLabel="x")
    assert not allowed("app", "/web", "health", ApparmorProfile="x")
    assert not allowed("app", "/web", "health", NoNewPrivileges=False)
    named = correct.execute("app", ["/web", "health"])
    assert running.verdict("ExecProcessRequest", {**named, "string_user": {}}) is False
    assert running.verdict("ExecProcessRequest", {**named, "container_id": "unknown"}) is False
    assert running.verdict("ExecProcessRequest", {**named, "container_id": "namespace"}) is False


def test_exec_needs_a_container(fresh: host.Agent, correct: host.Host) -> None:
    assert fresh.verdict("ExecProcessRequest", correct.execute("app", ["/web", "health"])) is False


def test_a_removed_container_is_gone(rego: str, correct: host.Host) -> None:
    agent = host.Agent(rego)
    app = correct.create("app")
    remove = {"container_id": app["container_id"], "timeout": 0}
    assert agent.allows("CreateContainerRequest", app)

    assert agent.allows("RemoveContainerRequest", remove)
    assert not agent.allows("RemoveContainerRequest", remove)
    assert not agent.allows("ExecProcessRequest", correct.execute("app", ["/web", "health"]))
    assert not agent.allows("CreateContainerRequest", app)
    assert agent.allows("CreateContainerRequest", correct.create("app", "a" * 64))


BUNDLE = "a" * 64
SHARED = f"/run/kata-containers/shared/containers/{BUNDLE}-0123456789abcdef-"


def _copied(path: str, kind: str = "Regular", target: str | None = None) -> Json:
    values = dict.fromkeys(("file_size", "file_mode", "dir_mode", "uid", "gid", "offset"), 0)
    return {"path": path, "file_type": kind, "symlink_target": target, **values}


@pytest.mark.parametrize(
    ("request_", "allowed"),
    [
        (_copied(SHARED + "hosts"), True),
        (_copied(SHARED + "look", "Directory"), True),
        (_copied(SHARED + "look/..data", "Symlink", "..2026"), True),
        (_copied(SHARED + "look/colour"), True),
        (_copied("/etc/passwd"), False),
        (_copied("/x" + SHARED + "hosts"), False),
        (_copied(SHARED + "look/../../../etc/passwd"), False),
        (_copied(SHARED.replace(BUNDLE, "A" * 64) + "hosts"), False),
        (_copied(SHARED + "hosts", "Unknown"), False),
        (_copied(SHARED + "link", "Symlink", "x"), False),
        (_copied(SHARED + "look/link", "Symlink", "/etc/passwd"), False),
        (_copied(SHARED + "look/link", "Symlink", "a/../../x"), False),
        (_copied(SHARED + "look/link", "Symlink", None), False),
        (_copied(SHARED + "look/../../link", "Symlink", "x"), False),
    ],
)
def test_files_may_be_copied_to_the_shared_directory_only(fresh: host.Agent, request_: Json, *, allowed: bool) -> None:
    assert fresh.verdict("CopyFileRequest", request_) is allowed


def _sandbox(**changes: Any) -> Json:
    shm = {
        "driver": "ephemeral",
        "driver_options": [],
        "source": "shm",
        "fstype": "tmpfs",
        "options": ["noexec", "nosuid", "nodev", "mode=1777", "size=67108864"],
        "mount_point": "/run/kata-containers/sandbox/shm",
        "fs_group": None,
        "shared": False,
    }
    base = {"hostname": "web", "dns": [], "storages": [shm], "sandbox_pidns": False, "guest_hook_path": ""}
    return {**base, "sandbox_id": "x", "kernel_modules": [], **changes}


@pytest.mark.parametrize(
    ("request_", "allowed"),
    [
        (_sandbox(), True),
        (_sandbox(storages=[]), True),
        (_sandbox(guest_hook_path="/hooks"), False),
        (_sandbox(kernel_modules=[{"name": "x", "parameters": []}]), False),
        (_sandbox(sandbox_pidns=True), False),
        (_sandbox(storages=[{**_sandbox()["storages"][0], "options": []}]), False),
        (_sandbox(storages=[_sandbox()["storages"][0], {"driver": "virtio-fs"}]), False),
    ],
)
def test_the_sandbox_has_its_own_storages_only(fresh: host.Agent, request_: Json, *, allowed: bool) -> None:
    assert bool(fresh.verdict("CreateSandboxRequest", request_)) is allowed


def _interface(**changes: Any) -> Json:
    base = {"device": "eth0", "name": "eth0", "IPAddresses": [], "mtu": 1500, "hwAddr": "02:00:00:00:00:01"}
    return {"interface": {**base, "devicePath": "", "type_": "", "raw_flags": 0, **changes}}


def _route(**changes: Any) -> Json:
    base = {"dest": "", "gateway": "10.0.0.1", "device": "eth0", "source": "", "scope": 0, "family": 0, "flags": 0}
    return {**base, "mtu": 0, **changes}


def _neighbor(**changes: Any) -> Json:
    base = {"toIPAddress": {"family": 0, "address": "10.0.0.1", "mask": ""}, "device": "eth0", "lladdr": "x"}
    return {**base, "state": 128, "flags": 0, **changes}


def _routes(*routes: Json) -> Json:
    return {"routes": {"Routes": list(routes)}}


def _neighbors(*neighbors: Json) -> Json:
    return {"neighbors": {"ARPNeighbors": list(neighbors)}}


@pytest.mark.parametrize(
    ("entry_point", "request_", "allowed"),
    [
        ("UpdateInterfaceRequest", _interface(), True),
        ("UpdateInterfaceRequest", _interface(raw_flags=128), True),
        ("UpdateInterfaceRequest", _interface(raw_flags=129), False),
        ("UpdateInterfaceRequest", _interface(name="lo"), False),
        ("UpdateInterfaceRequest", _interface(hwAddr="00:00:00:00:00:00"), False),
        ("UpdateInterfaceRequest", {"interface": None}, False),
        ("UpdateRoutesRequest", _routes(), True),
        ("UpdateRoutesRequest", _routes(_route(), _route(source="10.1.1.1")), True),
        ("UpdateRoutesRequest", _routes(_route(), _route(device="lo")), False),
        ("UpdateRoutesRequest", _routes(_route(source="127.0.0.1")), False),
        ("UpdateRoutesRequest", _routes(_route(source="::1")), False),
        ("UpdateRoutesRequest", _routes(_route(source="0000::0001"), _route()), False),
        ("UpdateRoutesRequest", {"routes": None}, False),
        ("AddARPNeighborsRequest", _neighbors(_neighbor()), True),
        ("AddARPNeighborsRequest", _neighbors(_neighbor(flags=136)), True),
        ("AddARPNeighborsRequest", _neighbors(_neighbor(flags=16)), False),
        ("AddARPNeighborsRequest", _neighbors(_neighbor(), _neighbor(device="lo")), False),
        ("AddARPNeighborsRequest", _neighbors(_neighbor(state=1)), False),
        (
            "AddARPNeighborsRequest",
            _neighbors(_neighbor(toIPAddress={"family": 0, "address": "127.0.0.9", "mask": ""})),
            False,
        ),
        (
            "AddARPNeighborsRequest",
            _neighbors(_neighbor(toIPAddress={"family": 0, "address": "10.0.0.9", "mask": "24"})),
            False,
        ),
        ("AddARPNeighborsRequest", _neighbors(_neighbor(toIPAddress=None)), False),
        ("AddARPNeighborsRequest", {"neighbors": None}, False),
    ],
)
def test_the_network_stays_outside_of_loopback(
    fresh: host.Agent, entry_point: str, request_: Json, *, allowed: bool
) -> None:
    assert fresh.verdict(entry_point, request_) is allowed


@pytest.mark.parametrize("entry_point", host.ENTRY_POINTS_ALLOWED)
def test_always_allowed(fresh: host.Agent, entry_point: str) -> None:
    assert fresh.verdict(entry_point, {}) is True


def test_a_container_that_was_created_is_started_once_but_for_plain_kata(
    profile: Profile, rego: str, correct: host.Host
) -> None:
    agent, start = host.Agent(rego), {"container_id": correct.id_of(correct.index("app"))}
    assert agent.allows("StartContainerRequest", start) is (profile is KATA)
    assert agent.allows("CreateContainerRequest", correct.create("app"))
    assert agent.allows("StartContainerRequest", start)
    assert agent.allows("StartContainerRequest", start) is (profile is KATA)


@pytest.mark.slow
@pytest.mark.parametrize("entry_point", host.ENTRY_POINTS_DENIED)
def test_never_allowed(fresh: host.Agent, entry_point: str) -> None:
    assert fresh.verdict(entry_point, {}) is False


@pytest.mark.parametrize(
    ("entry_point", "allowed"),
    [
        ("ReadStreamRequest", True),
        ("WriteStreamRequest", False),
        ("CloseStdinRequest", False),
        ("UpdateEphemeralMountsRequest", False),
        ("GetDiagnosticDataRequest", False),
    ],
)
def test_switched_by_the_settings(profile: Profile, fresh: host.Agent, entry_point: str, *, allowed: bool) -> None:
    assert fresh.verdict(entry_point, {}) is (allowed and profile is not KATA)


@pytest.mark.parametrize(
    "entry_point",
    [
        "AddARPNeighborsRequest",
        "CopyFileRequest",
        "CreateContainerRequest",
        "CreateSandboxRequest",
        "ExecProcessRequest",
        "UpdateInterfaceRequest",
        "UpdateRoutesRequest",
    ],
)
def test_an_empty_request_is_denied(fresh: host.Agent, entry_point: str) -> None:
    assert fresh.verdict(entry_point, {}) is False


def test_two_containers_that_could_be_meant_are_denied(correct: host.Host, rego: str) -> None:
    head, data = rego.split("\npolicy_data := ")
    doubled = json.loads(data)
    doubled["containers"].append(doubled["containers"][4])
    agent = host.Agent(f"{head}\npolicy_data := {json.dumps(doubled, indent=2)}")  # regorus takes no long lines

    assert agent.verdict("CreateContainerRequest", correct.create("app")) is False
    assert agent.verdict("CreateContainerRequest", correct.create("pause"))["allowed"] is True


def test_gpus_are_plugged_in_or_there_from_the_start(profile: Profile) -> None:
    subject = pods.simple(image=PINNED, resources={"limits": {"nvidia.com/pgpu": 2}})
    rego = pods.sealed(subject, profile=profile).rego
    agent, correct = host.Agent(rego), host.Host(rego)
    hot = correct.create("app")
    assert len(hot["devices"]) == 2

    def allowed(mutate: Callable[[Json], object]) -> bool:
        request = copy.deepcopy(hot)
        mutate(request)
        return agent.verdict("CreateContainerRequest", request) is not False

    assert allowed(lambda request: None)
    assert allowed(lambda request: request.update(devices=[]))
    assert not allowed(lambda request: request["devices"].pop())
    assert not allowed(lambda request: request["OCI"]["Annotations"].pop("cdi.k8s.io/vfio1"))
    assert not allowed(lambda request: request["devices"].append(request["devices"][0]))
    assert not allowed(lambda request: request["devices"][1].update(request["devices"][0]))
    assert not allowed(lambda request: request["devices"][0].update(options=[]))
    assert not allowed(lambda request: request["devices"][0].update(options=["0000:01:00.0=01/02", "x"]))
    assert not allowed(lambda request: request["devices"][0].update(id="vfio7"))
    assert not allowed(lambda request: request["devices"][0].update(type_="vfio-pci"))
    assert not allowed(lambda request: request["devices"][0].update(vm_path="/dev/sda"))
    assert not allowed(
        lambda request: (request.update(devices=[]), request["OCI"]["Annotations"].pop("cdi.k8s.io/vfio0"))
    )
    assert not allowed(
        lambda request: (
            request["devices"][1].update(request["devices"][0]),
            request["OCI"]["Annotations"].pop("cdi.k8s.io/vfio1"),
        )
    )
    assert not allowed(lambda request: request["OCI"]["Annotations"].update({"cdi.k8s.io/vfio0": "nvidia.com/gpu=x"}))


def _with(profile: Profile, subject: Any, *path: Any) -> str:
    """The policy of a pod under settings of which one is another, or under a document of settings."""
    document = default_document(DEFAULT) if len(path) > 1 else path[0]
    value: Any = document
    for part in path[:-2]:
        value = value[part]
    if len(path) > 1:
        value[path[-2]] = path[-1]
    chosen, findings = settings(document, profile)
    assert findings == ()
    made, found = seal(subject, pods.images(subject), References(), chosen, load_rules(profile))
    assert made is not None, found
    return made.rego


def test_a_pod_of_any_name_has_no_exec(profile: Profile) -> None:
    container = {"name": "app", "image": PINNED, "livenessProbe": {"exec": {"command": ["true"]}}}
    rego = pods.sealed(pods.workload({"containers": [container]}, "Pod", {"namespace": "x"}), profile=profile).rego
    agent, correct = host.Agent(rego), host.Host(rego, "any", "x")
    assert agent.allows("CreateContainerRequest", correct.create("app"))
    assert not agent.allows("ExecProcessRequest", correct.execute("app", ["true"]))


def test_commands_of_the_settings(profile: Profile) -> None:
    given = {"allowed_commands": [["ls", "/"]], "regex": ["^cat /log/[a-z]+$"]}
    rego = _with(profile, pods.simple(image=PINNED), "request_defaults", "ExecProcessRequest", given)
    agent, correct = host.Agent(rego), host.Host(rego)
    assert agent.allows("CreateContainerRequest", correct.create("app"))

    def allowed(*args: str) -> bool:
        return agent.verdict("ExecProcessRequest", correct.execute("app", list(args))) is True

    assert allowed("ls", "/")
    assert not allowed("ls")
    assert allowed("cat", "/log/x")
    assert not allowed("cat", "/etc/passwd")


def test_requests_of_the_configuration(profile: Profile) -> None:
    subject = pods.simple(image=PINNED)
    chosen, findings = settings(None, profile, RequestRules("deny", (("pg_dump", "shop"),)))
    assert findings == ()
    made, _ = seal(subject, pods.images(subject), References(), chosen, load_rules(profile))
    assert made is not None
    agent, correct = host.Agent(made.rego), host.Host(made.rego)
    assert agent.allows("CreateContainerRequest", correct.create("app"))
    assert not agent.allows("ReadStreamRequest", {})
    for command, allowed in (
        (["pg_dump", "shop"], True),
        (["pg_dump"], False),
        (["pg_dump", "shop", "--file=/x"], False),
        (["sh"], False),
    ):
        assert agent.allows("ExecProcessRequest", correct.execute("app", command)) is allowed, command


# where a shared file system has mounted ConfigMaps (docs/facts/kata.md#default-settings)
WATCHED = "^$(cpath)/watchable/$(bundle-id)-[a-z0-9]{16}-"


def test_storages_of_config_maps(profile: Profile) -> None:
    container = {"name": "app", "image": PINNED, "volumeMounts": [{"name": "v", "mountPath": "/etc/look.d"}]}
    subject = pods.workload({"containers": [container], "volumes": [{"name": "v", "configMap": {"name": "look"}}]})
    document = default_document(DEFAULT)
    document["volumes"]["configMap"] |= {"driver": "watchable-bind", "mount_point": WATCHED}
    document["kata_config"]["enable_configmap_secret_storages"] = True
    rego = _with(profile, subject, document)
    agent, correct = host.Agent(rego), host.Host(rego)
    good = correct.create("app")
    assert good["storages"][1]["driver"] == "watchable-bind"
    assert agent.verdict("CreateContainerRequest", good) is not False

    for key in ("source", "mount_point"):
        bad = copy.deepcopy(good)
        bad["storages"][1][key] = "/etc"
        assert agent.verdict("CreateContainerRequest", bad) is False


def test_kata_expands_no_shared_prefix_in_a_mount_point(profile: Profile) -> None:
    container = {"name": "app", "image": PINNED, "volumeMounts": [{"name": "v", "mountPath": "/etc/look"}]}
    subject = pods.workload({"containers": [container], "volumes": [{"name": "v", "configMap": {"name": "look"}}]})
    rego = _with(profile, subject, "kata_config", "enable_configmap_secret_storages", True)
    assert host.Agent(rego).verdict("CreateContainerRequest", host.Host(rego).create("app")) is False


def test_kata_wants_sysctls_in_the_policy(profile: Profile) -> None:
    document = default_document(DEFAULT)
    document["other_container"]["Linux"] = {}
    rego = _with(profile, pods.simple(image=PINNED), document)
    assert host.Agent(rego).verdict("CreateContainerRequest", host.Host(rego).create("app")) is False


def test_storages_named_after_the_sandbox(profile: Profile) -> None:
    volume = default_document(DEFAULT)["volumes"]["emptyDir_memory"]
    where = "^$(cpath)/$(sandbox-id)/rootfs/local/"
    volume |= {"mount_source": where, "mount_point": where, "driver": "local", "source": "local", "fstype": "local"}
    container = {"name": "app", "image": PINNED, "volumeMounts": [{"name": "v", "mountPath": "/x"}]}
    subject = pods.workload({"containers": [container], "volumes": [{"name": "v", "emptyDir": {"medium": "Memory"}}]})
    rego = _with(profile, subject, "volumes", "emptyDir_memory", volume)
    agent, good = host.Agent(rego), host.Host(rego).create("app")
    assert agent.verdict("CreateContainerRequest", good) is not False

    other = copy.deepcopy(good)
    other["storages"][1]["mount_point"] = other["storages"][1]["mount_point"].replace("5" * 64, "6" * 64)
    assert agent.verdict("CreateContainerRequest", other) is False
    other = copy.deepcopy(good)
    other["OCI"]["Mounts"][-1]["source"] = other["OCI"]["Mounts"][-1]["source"].replace("5" * 64, "6" * 64)
    assert agent.verdict("CreateContainerRequest", other) is False
