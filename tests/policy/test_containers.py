from typing import Any

import pytest

from krm_function.config.references import References
from krm_function.contrast.profiles import CONTRAST, KATA, STRICT, Profile
from krm_function.policy.seal import seal
from krm_function.policy.settings import default_settings
from tests.policy import pods
from tests.policy.bound import image_storage
from tests.wording import wording

Json = dict[str, Any]
SHM = "/dev/shm"  # noqa: S108 - a mount of the guest
DEFAULT, PRIVILEGED = ["$(default_caps)"], ["$(privileged_caps)"]


def _names(data: Json) -> list[str]:
    key = "io.kubernetes.cri.container-name"
    return [container["OCI"]["Annotations"].get(key, "") for container in data["containers"]]


def _one(*names: str) -> Json:
    containers = [{"name": name, "image": name} for name in names]
    return {"initContainers": containers[:-1], "containers": containers[-1:]}


def test_order() -> None:
    assert _names(pods.sealed(pods.workload(_one("a", "b", "c", "app"))).data) == ["", "c", "b", "a", "app"]


def test_pause_is_synthesised() -> None:
    pause = pods.container(pods.simple(), 0)
    process = pause["OCI"]["Process"]

    assert process["Args"] == ["/pause"]
    assert process["User"] == {"UID": 65535, "GID": 65535, "AdditionalGids": [65535], "Username": ""}
    assert process["Env"] == ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]
    assert process["NoNewPrivileges"] is True
    assert process["Capabilities"]["Bounding"] == DEFAULT
    assert pause["OCI"]["Root"] == {"Path": "$(root_path)", "Readonly": True}
    assert [mount["destination"] for mount in pause["OCI"]["Mounts"]] == [
        "/proc",
        "/dev",
        "/dev/pts",
        SHM,
        "/dev/mqueue",
        "/sys",
        "/etc/resolv.conf",
    ]
    assert pause["OCI"]["Mounts"][3] == {
        "destination": SHM,
        "source": "/run/kata-containers/sandbox/shm",
        "type_": "bind",
        "options": ["rbind"],
    }
    assert pause["OCI"]["Linux"]["MaskedPaths"][1] == "/proc/asound"
    assert "io.kubernetes.cri.container-name" not in pause["OCI"]["Annotations"]
    assert pause["OCI"]["Annotations"]["nerdctl/network-namespace"].startswith("^/var/run/netns/cni-[0-9a-f]{8}-")
    assert (pause["devices"], pause["exec_commands"], pause["runtime_anno_patterns"]) == ([], [], {})


def test_a_pause_image_of_the_lock_is_used() -> None:
    subject = pods.simple()
    images = pods.images(subject)
    images["ghcr.io/edgelesssys/kubernetes/pause:3.6"] = pods.IMAGE._replace(config={"Entrypoint": ["/other"]})
    made, _ = seal(subject, images, References(), default_settings(), "")
    assert made is not None
    assert made.data["containers"][0]["OCI"]["Process"]["Args"] == ["/other", "/pause"]


def test_a_plain_container() -> None:
    made = pods.container(pods.simple())

    assert list(made) == ["OCI", "storages", "devices", "sandbox_pidns", "exec_commands", "runtime_anno_patterns"]
    assert list(made["OCI"]) == ["Version", "Process", "Root", "Mounts", "Annotations", "Linux"]
    assert made["OCI"]["Version"] == "1.1.0"
    assert made["OCI"]["Linux"]["Sysctl"] == {
        "net.ipv4.ip_unprivileged_port_start": "0",
        "net.ipv4.ping_group_range": "0 2147483647",
    }
    assert made["OCI"]["Linux"]["MaskedPaths"][0] == "/proc/acpi"
    assert len(made["OCI"]["Linux"]["MaskedPaths"]) == 9
    assert len(made["OCI"]["Linux"]["ReadonlyPaths"]) == 6
    annotations = made["OCI"]["Annotations"]
    assert annotations["io.kubernetes.cri.image-name"] == pods.pinned("app:1")
    assert annotations["io.kubernetes.cri.container-type"] == "container"
    assert "nerdctl/network-namespace" not in annotations
    assert made["runtime_anno_patterns"] == {
        r"^io\.kubernetes\.container\.terminationMessagePath$": "^/.*$",
        r"^io\.kubernetes\.container\.terminationMessagePolicy$": "^(File|FallbackToLogsOnError)$",
    }


def test_each_container_has_the_image_that_the_pod_names_and_the_sandbox_its_own() -> None:
    made = pods.sealed(pods.rich()).data["containers"]
    assert [one["storages"][-1] for one in made] == [
        image_storage("pause"),
        *(
            image_storage(container["image"])
            for container in (pods.MESH, pods.CRYPT_INITIALIZER, pods.HOLDER, pods.APP)
        ),
    ]
    for container in made:
        assert [one["driver"] for one in container["storages"]].count("image_guest_pull") == 1


def test_plain_kata_s_policy_has_no_images() -> None:
    for container in pods.sealed(pods.rich(), profile=KATA).data["containers"]:
        assert "image_guest_pull" not in [one["driver"] for one in container["storages"]]


@pytest.mark.parametrize("image", ["app", "app:1", "registry.example.com/app:1", "app@sha256:12", "app@"])
@pytest.mark.parametrize("profile", [CONTRAST, STRICT], ids=lambda profile: profile.name)
def test_an_image_without_a_digest_is_not_sealed(image: str, profile: Profile) -> None:
    subject = pods.simple()
    subject.object["spec"]["template"]["spec"]["containers"][0]["image"] = image
    assert pods.refused(subject, profile=profile) == [("CC0502", "containers[0].image")]


@pytest.mark.parametrize(
    ("image", "said", "hint"),
    [
        ("app:1", "is not pinned", "append @sha256:"),
        (f"app@sha512:{'a' * 128}", "a digest other than sha256", "replace the digest"),
        (f"app@sha256:{'a' * 64}@sha256:{'b' * 64}", "has two digests", "keep only"),
        ("app@sha256:12", wording("CC0502.hex"), "64 lower-case hex digits"),
    ],
)
def test_what_is_wrong_with_a_digest_is_said(image: str, said: str, hint: str) -> None:
    subject = pods.simple()
    subject.object["spec"]["template"]["spec"]["containers"][0]["image"] = image
    (found,) = pods.sealing(subject)[1]
    assert found.code == "CC0502"
    assert said in found.message
    assert hint in found.hint


def test_an_image_without_a_tag() -> None:
    subject = pods.simple()
    subject.object["spec"]["template"]["spec"]["containers"][0]["image"] = "nginx"
    made = pods.sealed(subject, profile=KATA).data["containers"][1]
    assert made["OCI"]["Annotations"]["io.kubernetes.cri.image-name"] == "nginx:latest"


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ({}, DEFAULT),
        ({"privileged": True}, PRIVILEGED),
        ({"privileged": True, "capabilities": {"add": ["NET_ADMIN"]}}, PRIVILEGED),
        ({"capabilities": {"drop": ["ALL"]}}, []),
        ({"capabilities": {"drop": ["ALL"], "add": ["NET_ADMIN"]}}, ["CAP_NET_ADMIN"]),
        ({"capabilities": {"drop": ["SYS_ADMIN"]}}, DEFAULT),
        ({"capabilities": {"add": ["ALL", "KILL"]}}, PRIVILEGED),
        ({"capabilities": {"add": ["all"], "drop": ["All"]}}, []),
        ({"capabilities": {"drop": ["ALL", "chown"], "add": ["net_admin", "CHOWN"]}}, ["CAP_NET_ADMIN"]),
    ],
)
def test_capabilities(context: Json, expected: list[str]) -> None:
    found = pods.container(pods.simple(securityContext=context))["OCI"]["Process"]["Capabilities"]
    assert found == {
        "Ambient": [],
        "Bounding": expected,
        "Effective": expected,
        "Inheritable": [],
        "Permitted": expected,
    }


def test_what_is_dropped_stays_dropped() -> None:
    found = pods.container(pods.simple(securityContext={"capabilities": {"add": ["ALL"], "drop": ["SYS_ADMIN"]}}))
    names = found["OCI"]["Process"]["Capabilities"]["Effective"]
    assert len(names) == 40
    assert "CAP_SYS_ADMIN" not in names


@pytest.mark.parametrize("name", ["CAP_KILL", "NOT_THERE", ""])
def test_names_that_are_no_capabilities(name: str) -> None:
    for key in ("add", "drop"):
        found = pods.refused(pods.simple(securityContext={"capabilities": {key: ["KILL", name]}}))
        assert found == [("CC0604", f"containers[0].securityContext.capabilities.{key}[1]")]


def test_added_to_the_default_list() -> None:
    found = pods.container(pods.simple(securityContext={"capabilities": {"add": ["NET_ADMIN"], "drop": ["KILL"]}}))
    names = found["OCI"]["Process"]["Capabilities"]["Permitted"]
    assert len(names) == 14
    assert names[-1] == "CAP_NET_ADMIN"
    assert "CAP_KILL" not in names


def test_privileged_containers() -> None:
    pause, app = pods.sealed(pods.simple(securityContext={"privileged": True})).data["containers"]
    assert app["OCI"]["Linux"]["MaskedPaths"] == []
    assert app["OCI"]["Linux"]["ReadonlyPaths"] == []
    sysfs = [mount for made in (pause, app) for mount in made["OCI"]["Mounts"] if mount["destination"] == "/sys"]
    assert [mount["options"][-1] for mount in sysfs] == ["rw", "rw"]
    assert app["OCI"]["Mounts"][6]["options"] == ["nosuid", "noexec", "nodev", "relatime", "rw"]


def test_switches() -> None:
    context = {"readOnlyRootFilesystem": True, "allowPrivilegeEscalation": False}
    spec = {"containers": [{"name": "a", "image": "i", "tty": True, "securityContext": context}]}
    pause, app = pods.sealed(pods.workload({**spec, "shareProcessNamespace": True})).data["containers"]

    assert app["OCI"]["Root"]["Readonly"] is True
    assert app["OCI"]["Process"]["NoNewPrivileges"] is True
    assert app["OCI"]["Process"]["Terminal"] is True
    assert (pause["sandbox_pidns"], app["sandbox_pidns"]) == (False, True)


def test_sysctls_are_in_all_containers() -> None:
    sysctls = [{"name": "net.core.somaxconn", "value": "1024"}]
    for made in pods.sealed(pods.workload({**_one("a"), "securityContext": {"sysctls": sysctls}})).data["containers"]:
        assert made["OCI"]["Linux"]["Sysctl"]["net.core.somaxconn"] == "1024"


def test_a_sysctl_with_slashes_is_the_same_one() -> None:
    context = {"sysctls": [{"name": "net/ipv4/conf/eth0.1/rp_filter", "value": "1"}, {"name": "net.a/b", "value": "2"}]}
    found = pods.container(pods.workload({"containers": [{"name": "a", "image": "i"}], "securityContext": context}))
    assert {"net.ipv4.conf.eth0/1.rp_filter": "1", "net.a/b": "2"}.items() <= found["OCI"]["Linux"]["Sysctl"].items()


def test_variables_in_probes_are_expanded_and_in_hooks_not() -> None:
    command = ["$(A)-$(B)-$(N)-$$(A)", "$(C)"]
    handler = {"exec": {"command": command}}
    field = {"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
    env = [{"name": "A", "value": "1"}, {"name": "B", "value": "$(A)"}, field]
    found = pods.container(pods.simple(env=env, readinessProbe=handler, lifecycle={"postStart": handler}))
    assert found["exec_commands"] == [["1-$(A)--$(A)", "$(C)"], command]


def test_exec_commands() -> None:
    probe = {"exec": {"command": ["a", "$(B)"]}}
    made = pods.container(
        pods.simple(
            startupProbe={"exec": {"command": ["s"]}},
            livenessProbe=probe,
            readinessProbe={"tcpSocket": {"port": 1}},
            lifecycle={"preStop": {"exec": {"command": ["p"]}}, "postStart": {"httpGet": {"port": 1}}},
        )
    )
    assert made["exec_commands"] == [["a", "$(B)"], ["s"], ["p"]]


def test_block_devices() -> None:
    made = pods.sealed(pods.rich()).data["containers"]
    assert [device["container_path"] for device in made[3]["devices"]] == ["/dev/image_store"]
    assert made[2]["OCI"]["Linux"]["Devices"] == [{"Type": "", "Path": "/dev/csi0"}]
    assert made[2]["devices"] == [{"id": "", "type_": "", "vm_path": "", "container_path": "/dev/csi0", "options": []}]


def test_block_devices_of_a_stateful_set() -> None:
    container: Json = {"name": "a", "image": "i", "volumeDevices": [{"name": "state", "devicePath": "/dev/csi0"}]}
    subject = pods.workload({"containers": [container]}, "StatefulSet")
    subject.object["spec"]["volumeClaimTemplates"] = [{"metadata": {"name": "state"}, "spec": {"volumeMode": "Block"}}]
    assert pods.container(subject)["OCI"]["Linux"]["Devices"] == [{"Type": "", "Path": "/dev/csi0"}]

    subject.containers[0]["volumeMounts"] = [{"name": "state", "mountPath": "/x"}]
    assert pods.refused(subject) == [("CC0604", "containers[0].volumeMounts[0]")]


@pytest.mark.parametrize(
    ("device", "place"),
    [
        ({"name": "none", "devicePath": "/dev/x"}, "name"),
        ({"name": "scratch", "devicePath": "/dev/x"}, "name"),
        ({"name": "block", "devicePath": "dev/x"}, "devicePath"),
        ({"name": "block", "devicePath": "/dev/vfio/devices/vfio0"}, "devicePath"),
    ],
)
def test_block_devices_that_are_none(device: Json, place: str) -> None:
    volumes = [{"name": "scratch", "emptyDir": {}}, {"name": "block", "persistentVolumeClaim": {"claimName": "b"}}]
    spec = {"containers": [{"name": "a", "image": "i", "volumeDevices": [device]}], "volumes": volumes}
    assert pods.refused(pods.workload(spec)) == [("CC0604", f"containers[0].volumeDevices[0].{place}")]


def test_gpus() -> None:
    limits = {"nvidia.com/pgpu": "1", "nvidia.com/GB100_B200": 1, "cpu": 4}
    made = pods.container(pods.simple(resources={"limits": limits, "requests": {"nvidia.com/pgpu": 8}}))
    gpu = {
        "id": "",
        "type_": "vfio-pci-gk",
        "vm_path": "",
        "container_path": "/dev/vfio/devices/vfio",
        "options": [],
    }
    assert made["devices"] == [gpu, gpu]
    assert made["runtime_anno_patterns"][r"^cdi\.k8s\.io/vfio[0-9]+$"] == r"^nvidia\.com/gpu=[0-9]+$"
    assert pods.refused(pods.simple(resources={"limits": {"nvidia.com/pgpu": "1k"}})) == [
        ("CC0604", 'containers[0].resources.limits["nvidia.com/pgpu"]')
    ]


def test_a_device_of_an_unknown_resource_is_told() -> None:
    limits = {"cpu": 1, "hugepages-2Mi": "2Mi", "nvidia.com/pgpu": 1, "example.com/dongle": 1}
    _, findings = pods.sealing(pods.simple(resources={"limits": limits, "requests": {"example.com/other": 1}}))
    told = [(found.code, found.path[-1]) for found in findings if found.severity == "warning"]
    assert told == [("CC0631", "example.com/dongle")]


def test_names_must_differ() -> None:
    assert pods.refused(pods.workload(_one("a", "b", "a"))) == [("CC0604", "containers[0].name")]
    assert pods.refused(pods.workload(_one(""))) == [("CC0604", "containers[0].name")]


def test_coordinator() -> None:
    spec = {
        "runtimeClassName": "contrast-cc-metal-qemu-snp",
        "serviceAccountName": "coordinator",
        "affinity": {"podAntiAffinity": {}},
        "containers": [
            {
                "name": "coordinator",
                "image": "ghcr.io/edgelesssys/contrast/coordinator:v1@sha256:" + "9" * 64,
                "env": [
                    {"name": "NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}},
                    {"name": "ACCOUNT", "valueFrom": {"fieldRef": {"fieldPath": "spec.serviceAccountName"}}},
                ],
                "ports": [{"name": "userapi", "containerPort": 1313}],
                "securityContext": {"capabilities": {"add": ["NET_ADMIN"]}},
                "startupProbe": {"httpGet": {"port": 9102, "path": "/probe/startup"}, "failureThreshold": 60},
                "livenessProbe": {"httpGet": {"port": 9102, "path": "/probe/liveness"}},
                "readinessProbe": {"httpGet": {"port": 9102, "path": "/probe/readiness"}},
                "resources": {"requests": {"memory": "50Mi"}, "limits": {"memory": "200Mi"}},
            }
        ],
    }
    made = pods.container(pods.workload(spec, "StatefulSet", {"name": "coordinator"}))
    assert made["OCI"]["Annotations"]["io.kubernetes.cri.sandbox-name"] == "^coordinator-[0-9]{1,10}$"
    assert made["OCI"]["Process"]["Env"][2:] == ["NAMESPACE=$(sandbox-namespace)", "ACCOUNT=coordinator"]
    assert made["exec_commands"] == []
