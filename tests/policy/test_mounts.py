import copy
from typing import Any

import pytest

from krm_function.config.references import References
from krm_function.contrast.profiles import CONTRAST, DEFAULT, KATA, STRICT, Profile
from krm_function.policy.rules import load_rules
from krm_function.policy.seal import seal
from krm_function.policy.settings import default_document, settings
from tests.policy import pods

Json = dict[str, Any]
SECURE = ["rbind", "rprivate", "rw"]
SHM = "/dev/shm"  # noqa: S108 - a mount of the guest
SF = "$(sfprefix)"


def _pod(volume: Json, *mounts: Json, **spec: Any) -> Any:
    entries = [{"name": "v", "mountPath": "/data/v", **mount} for mount in mounts or ({},)]
    containers = [{"name": "app", "image": "i", "volumeMounts": entries}]
    return pods.workload({"containers": containers, "volumes": [{"name": "v", **volume}], **spec})


def _made(volume: Json, *mounts: Json, **spec: Any) -> tuple[list[Json], list[Json]]:
    """The mounts at /data, and the storages without the image's, which is the last."""
    found = pods.container(_pod(volume, *mounts, **spec))
    *storages, image = found["storages"]
    assert image["driver"] == "image_guest_pull"
    return [mount for mount in found["OCI"]["Mounts"] if mount["destination"].startswith("/data")], storages


def test_what_every_workload_container_may_mount() -> None:
    found = pods.container(pods.simple())["OCI"]["Mounts"]
    assert [(mount["destination"], mount["type_"], mount["source"]) for mount in found] == [
        ("/proc", "proc", "proc"),
        ("/dev", "tmpfs", "tmpfs"),
        ("/dev/pts", "devpts", "devpts"),
        (SHM, "bind", "/run/kata-containers/sandbox/shm"),
        ("/dev/mqueue", "mqueue", "mqueue"),
        ("/sys", "sysfs", "sysfs"),
        ("/sys/fs/cgroup", "cgroup", "cgroup"),
        ("/etc/hosts", "bind", SF + "hosts$"),
        ("/dev/termination-log", "bind", SF + "termination-log$"),
        ("/etc/hostname", "bind", SF + "hostname$"),
        ("/etc/resolv.conf", "bind", SF + "resolv.conf$"),
        ("/var/run/secrets/kubernetes.io/serviceaccount", "bind", SF + "serviceaccount$"),
        ("/var/run/secrets/azure/tokens", "bind", SF + "tokens$"),
    ]
    assert found[9]["options"] == ["rbind", "rprivate", "rw"]


def test_a_read_only_root() -> None:
    found = pods.container(pods.simple(securityContext={"readOnlyRootFilesystem": True}))["OCI"]["Mounts"]
    assert [mount["options"][-1] for mount in found[7:11]] == ["rw", "rw", "ro", "ro"]


def test_the_termination_log_may_be_elsewhere() -> None:
    found = pods.container(pods.simple(terminationMessagePath="/log/end.log"))["OCI"]["Mounts"]
    assert found[8]["destination"] == "/log/end.log"
    assert found[8]["source"] == SF + "end.log$"


def test_memory() -> None:
    mounts, storages = _made({"emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}}, {}, {"mountPath": "/data/w"})
    source = "^/run/kata-containers/sandbox/ephemeral/v$"
    assert mounts == [
        {"destination": "/data/v", "source": source, "type_": "bind", "options": SECURE},
        {"destination": "/data/w", "source": source, "type_": "bind", "options": SECURE},
    ]
    assert storages == 2 * [
        {
            "driver": "ephemeral",
            "driver_options": [],
            "source": "tmpfs",
            "fstype": "tmpfs",
            "options": [],
            "mount_point": source,
            "fs_group": None,
            "shared": False,
        }
    ]


def test_encrypted_block() -> None:
    mounts, storages = _made({"emptyDir": {}}, {"readOnly": True})
    assert mounts == [{"destination": "/data/v", "source": "", "type_": "bind", "options": ["rbind", "rprivate", "ro"]}]
    assert storages == [
        {
            "driver": "",
            "driver_options": ["encryption_key=ephemeral", "create_filesystem"],
            "source": "",
            "fstype": "ext4",
            "options": [],
            "mount_point": "$(spath)/$(b64_device_id)",
            "fs_group": None,
            "shared": True,
        }
    ]
    assert _made({}) == _made({"emptyDir": {}})


def test_groups_of_the_file_system() -> None:
    context = {"fsGroup": 1000}
    assert _made({"emptyDir": {}}, securityContext=context)[1][0]["fs_group"] == {
        "group_id": 1000,
        "group_change_policy": 0,
    }
    assert _made({"emptyDir": {"medium": "Memory"}}, securityContext=context)[1][0]["options"] == ["fsgid=1000"]
    assert _made({"emptyDir": {}}, securityContext={"fsGroup": 0})[1][0]["fs_group"] is None


@pytest.mark.parametrize(
    ("propagation", "option"),
    [(None, "rprivate"), ("None", "rprivate"), ("HostToContainer", "rslave"), ("Bidirectional", "rshared")],
)
def test_propagation(propagation: str | None, option: str) -> None:
    mounts, _ = _made({"emptyDir": {"medium": "Memory"}}, {"mountPropagation": propagation})
    assert mounts[0]["options"] == ["rbind", option, "rw"]


@pytest.mark.parametrize("volume", [{"configMap": {"name": "look"}}, {"secret": {"secretName": "keys"}}])
def test_config_maps_and_secrets(volume: Json) -> None:
    mounts, storages = _made(volume)
    assert mounts == [
        {"destination": "/data/v", "source": SF + "v$", "type_": "bind", "options": ["rbind", "rprivate", "ro"]}
    ]
    assert storages == []


def _bind(source: str, *options: str, destination: str = "/data/v") -> list[Json]:
    return [{"destination": destination, "source": source, "type_": "bind", "options": ["rbind", *options]}]


DISKS: list[Json] = [
    {"persistentVolumeClaim": {"claimName": "c"}},
    {"ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"]}}}},
    {"csi": {"driver": "d", "volumeAttributes": {"a": "b"}}},
    {"nfs": {"server": "s", "path": "/p"}},
    {"iscsi": {"targetPortal": "t", "iqn": "i", "lun": 0}},
    {"fc": {"wwids": ["w"]}},
    {"flexVolume": {"driver": "d"}},
    {"azureFile": {"secretName": "s", "shareName": "n"}},
    {"azureDisk": {"diskName": "d", "diskURI": "u"}},
    {"awsElasticBlockStore": {"volumeID": "v"}},
    {"cinder": {"volumeID": "v"}},
    {"gcePersistentDisk": {"pdName": "p"}},
    {"portworxVolume": {"volumeID": "v"}},
    {"vsphereVolume": {"volumePath": "p"}},
    {"hostPath": {"path": "/srv", "type": "Directory"}},
]


@pytest.mark.parametrize("volume", DISKS, ids=lambda volume: next(iter(volume)))
def test_what_the_kubelet_mounts_is_the_host_s(volume: Json) -> None:
    source = next(iter(volume))
    for mount, option in (({}, "rw"), ({"readOnly": True}, "ro"), ({"subPath": "a/b"}, "rw")):
        assert _made(volume, mount) == (_bind(SF + "v$", "rprivate", option), [])
    assert _made(volume, {"mountPropagation": "Bidirectional"})[0] == _bind(SF + "v$", "rshared", "rw")
    assert _made(volume, {"mountPath": "/data/a.b-c"})[0][0]["source"] == SF + r"a\.b\-c$"
    if source not in {"ephemeral", "vsphereVolume", "hostPath"}:
        assert _made({source: {**volume[source], "readOnly": True}})[0] == _bind(SF + "v$", "rprivate", "ro")
    _, findings = pods.sealing(_pod(volume))
    assert [(found.code, found.severity) for found in findings] == [("CC0630", "warning"), ("CC0606", "info")]
    assert findings[0].message.startswith(f"the files of volume v ({source}) belong to the host")
    assert findings[0].path == ("spec", "template", "spec", "volumes", 0)


@pytest.mark.parametrize(
    "volume",
    [
        {"projected": {"sources": [{"serviceAccountToken": {"path": "t"}}, {"configMap": {"name": "c"}}]}},
        {"downwardAPI": {"items": [{"path": "n", "fieldRef": {"fieldPath": "metadata.name"}}]}},
    ],
)
def test_files_that_the_kubelet_writes(volume: Json) -> None:
    assert _made(volume) == (_bind(SF + "v$", "rprivate", "ro"), [])
    assert _made(volume, {"readOnly": False, "subPath": "n", "mountPath": "/data/n.txt"}) == (
        _bind(SF + r"n\.txt$", "rprivate", "ro", destination="/data/n.txt"),
        [],
    )
    assert [found.code for found in pods.sealing(_pod(volume))[1]] == ["CC0606"]


def test_a_file_of_a_config_map() -> None:
    volume = {"configMap": {"name": "look"}}
    mount = {"mountPath": "/data/app.conf", "subPath": "app.conf"}
    assert _made(volume, mount)[0] == _bind(SF + r"app\.conf$", "rprivate", "ro", destination="/data/app.conf")
    assert _made(volume, {"mountPropagation": "HostToContainer"})[0] == _bind(SF + "v$", "rslave", "ro")


@pytest.mark.parametrize("path", ["/dev", "/dev/fuse", "/sys", "/sys/kernel/debug/"])
def test_devices_of_the_vm(path: str) -> None:
    volume = {"hostPath": {"path": path}}
    assert _made(volume, {"readOnly": True}) == (_bind(path.rstrip("/"), "rprivate", "ro"), [])
    assert [found.code for found in pods.sealing(_pod(volume))[1]] == ["CC0606"]
    assert _made({"hostPath": {"path": path.replace("/", "/x", 1)}})[0][0]["source"] == SF + "v$"


def test_a_volume_that_nobody_mounts_is_no_risk() -> None:
    _, findings = pods.sealing(pods.workload({"containers": [pods.HOLDER], "volumes": [pods.IMAGE_STORE]}))
    assert [found.code for found in findings] == ["CC0606"]


def test_claims_of_a_stateful_set() -> None:
    mounts = [{"name": "state", "mountPath": "/data/state"}, {"name": "both", "mountPath": "/data/both"}]
    spec = {
        "containers": [{"name": "app", "image": "i", "volumeMounts": mounts}],
        "volumes": [{"name": "both", "emptyDir": {}}],
    }
    subject = pods.workload(spec, "StatefulSet")
    subject.object["spec"]["volumeClaimTemplates"] = [
        {"metadata": {"name": "state"}, "spec": {"volumeMode": "Filesystem"}},
        {"metadata": {"name": "both"}},
    ]
    found = pods.container(subject)
    assert [one["driver"] for one in found["storages"]] == ["image_guest_pull"]
    assert found["OCI"]["Mounts"][-2:] == [
        *_bind(SF + "state$", "rprivate", "rw", destination="/data/state"),
        *_bind(SF + "both$", "rprivate", "rw", destination="/data/both"),
    ]
    assert [found.message.split("(")[0] for found in pods.sealing(subject)[1][:2]] == [
        "the files of volume state ",
        "the files of volume both ",
    ]


@pytest.mark.parametrize("place", [SHM, "/etc/hosts", "/var/run/secrets/kubernetes.io/serviceaccount", "/sys"])
def test_a_mount_of_the_pod_takes_the_place_of_the_runtime_s(place: str) -> None:
    found = pods.container(_pod({"emptyDir": {"medium": "Memory"}}, {"mountPath": place}))["OCI"]["Mounts"]
    assert [mount["source"] for mount in found if mount["destination"] == place] == [
        "^/run/kata-containers/sandbox/ephemeral/v$"
    ]


@pytest.mark.parametrize("path", ["/log/.*", "log", "/", "/a/b c"])
def test_a_termination_log_whose_name_a_policy_cannot_hold(path: str) -> None:
    assert pods.refused(pods.simple(terminationMessagePath=path)) == [
        ("CC0604", "containers[0].terminationMessagePath")
    ]


def test_order_is_that_of_the_volumes() -> None:
    spec = {
        "containers": [
            {
                "name": "app",
                "image": "i",
                "volumeMounts": [{"name": "b", "mountPath": "/data/b"}, {"name": "a", "mountPath": "/data/a"}],
            }
        ],
        "volumes": [{"name": "a", "emptyDir": {}}, {"name": "b", "emptyDir": {}}],
    }
    found = pods.container(pods.workload(spec))["OCI"]["Mounts"]
    assert [mount["destination"] for mount in found[-2:]] == ["/data/a", "/data/b"]


@pytest.mark.parametrize(
    ("volume", "mount", "expected"),
    [
        ({"emptyDir": {"medium": "HugePages"}}, {}, ("CC0601", "")),
        ({"emptyDir": {}, "secret": {}}, {}, ("CC0601", "")),
        ({"image": {"reference": "i"}}, {}, None),
        ({"rbd": {}}, {}, None),
        ({"gitRepo": {"repository": "r"}}, {}, None),
        ({"emptyDir": {"mode": 448}}, {}, None),
        ({"emptyDir": {}}, {"recursiveReadOnly": "Enabled"}, ("CC0601", ".recursiveReadOnly")),
        ({"emptyDir": {}}, {"bindMountOptions": ["noexec"]}, ("CC0601", ".bindMountOptions")),
        ({"hostPath": {"path": "data"}}, {}, ("CC0604", "")),
        ({"hostPath": {"path": "/a/../dev"}}, {}, ("CC0604", "")),
        ({"hostPath": {"path": "/dev//sda"}}, {}, ("CC0604", "")),
        ({"hostPath": {"path": "/dev"}}, {"subPath": "sda"}, ("CC0604", ".subPath")),
        ({"ephemeral": {"volumeClaimTemplate": {"spec": {"volumeMode": "Block"}}}}, {}, ("CC0604", "")),
        ({"emptyDir": {}}, {"mountPropagation": "Sideways"}, ("CC0604", ".mountPropagation")),
        ({"emptyDir": {}}, {"mountPath": "/"}, ("CC0604", ".mountPath")),
        ({"emptyDir": {}}, {"mountPath": "/a/.."}, ("CC0604", ".mountPath")),
        ({"emptyDir": {}}, {"mountPath": "data"}, ("CC0604", ".mountPath")),
        ({"emptyDir": {}}, {"mountPath": "/a/.*"}, ("CC0604", ".mountPath")),
        ({"emptyDir": {}}, {"name": "w"}, ("CC0604", ".name")),
        ({"emptyDir": {}}, {"subPath": "x"}, ("CC0604", ".subPath")),
        ({"emptyDir": {"medium": "Memory"}}, {"subPathExpr": "x"}, ("CC0604", ".subPathExpr")),
    ],
)
def test_what_is_not_covered(volume: Json, mount: Json, expected: tuple[str, str] | None) -> None:
    if expected is None:  # the volume as such
        ((code, place),) = pods.refused(_pod(volume, mount))
        assert (code, place.split(".")[:2]) == ("CC0601", ["volumes[0]", *volume])
        return
    code, place = expected
    assert pods.refused(_pod(volume, mount)) == [(code, f"containers[0].volumeMounts[0]{place}")]


def test_the_path_begins_at_the_document() -> None:
    _, findings = pods.sealing(_pod({"emptyDir": {}}, {}, {"subPath": "x"}))
    assert findings[0].path == ("spec", "template", "spec", "containers", 0, "volumeMounts", 1, "subPath")
    assert findings[0].message.startswith("containers[0].volumeMounts[1].subPath: is part of an emptyDir")


def test_volumes_of_images_on_a_node_with_plain_kata() -> None:
    volumes: Json = {"/var//lib/db": {}, "/a": {}, "/etc/hosts": {}}
    found = pods.sealed(pods.simple(), profile=KATA, Volumes=volumes).data["containers"][1]["OCI"]["Mounts"]
    assert found[-2:] == [
        {"destination": "/a", "source": SF + "a$", "type_": "bind", "options": ["rbind", "rprivate", "rw"]},
        {"destination": "/var/lib/db", "source": SF + "db$", "type_": "bind", "options": ["rbind", "rprivate", "rw"]},
    ]
    assert pods.refused(pods.simple(), profile=KATA, Volumes={"/": {}}) == [("CC0604", "containers[0].image")]


def test_kata_s_settings_without_image_volumes_refuse_them_too() -> None:
    document = default_document(KATA)
    del document["volumes"]["image_volume"]
    chosen, findings = settings(document, KATA)
    assert findings == ()
    subject = pods.simple()
    made, found = seal(subject, pods.images(subject, Volumes={"/a": {}}), References(), chosen, load_rules(KATA))
    assert made is None
    assert [one.code for one in found] == ["CC0643"]


@pytest.mark.parametrize("profile", [CONTRAST, STRICT], ids=lambda profile: profile.name)
@pytest.mark.parametrize(
    ("volume", "path", "sealed"),
    [
        ("/data", "/data", True),
        ("/data/", "/data/", True),
        ("/data", "/data/", False),
        ("/data/", "/data", False),
        ("/data", "/", False),
        ("/data/db", "/data", False),
        ("/data", "/data/db", False),
        ("/data", "/datas", False),
    ],
)
def test_a_volume_of_an_image_has_a_volume_of_the_pod_or_there_is_no_policy(
    profile: Profile, volume: str, path: str, sealed: bool
) -> None:
    if path == "/":
        path, volume = "/x", "/x/y"  # no policy can hold a mount at the root
    subject = _pod({"emptyDir": {}}, {"mountPath": path})
    made, findings = pods.sealing(subject, profile=profile, Volumes={volume: {}})
    assert (made is not None) is sealed
    if sealed:
        return
    (found,) = findings
    assert (found.code, found.path[-3:]) == ("CC0643", ("containers", 0, "image"))
    assert pods.pinned("i") in found.message
    assert f"VOLUME {volume} that no" in found.message
    assert f"at exactly {volume}, " in found.hint


def test_a_claim_of_the_stateful_set_is_no_volume_for_a_volume_of_the_image() -> None:
    claim = {"metadata": {"name": "v"}, "spec": {"volumeMode": "Filesystem"}}
    subject = _pod({"emptyDir": {}}, {"mountPath": "/data"})
    document = copy.deepcopy(subject.object)
    document["kind"] = "StatefulSet"
    document["spec"]["volumeClaimTemplates"] = [claim]
    del document["spec"]["template"]["spec"]["volumes"]
    assert pods.refused(pods.of(document), Volumes={"/data": {}}) == [("CC0643", "containers[0].image")]


@pytest.mark.parametrize(
    ("profile", "asked", "option"),
    [
        (CONTRAST, None, "rprivate"),
        (CONTRAST, "HostToContainer", "rslave"),
        (CONTRAST, "Bidirectional", "rshared"),
        (KATA, "HostToContainer", "rprivate"),
        (KATA, "Bidirectional", "rprivate"),
    ],
)
@pytest.mark.parametrize("medium", ["", "Memory"])
def test_how_an_empty_dir_propagates(profile: Profile, asked: str | None, option: str, medium: str) -> None:
    mount = {"mountPath": "/data"} | ({"mountPropagation": asked} if asked else {})
    subject = _pod({"emptyDir": {"medium": medium}}, mount, {**mount, "mountPath": "/ro", "readOnly": True})
    found = pods.sealed(subject, profile=profile).data["containers"][1]["OCI"]["Mounts"]
    made = {one["destination"]: one["options"] for one in found}
    assert (made["/data"], made["/ro"]) == (["rbind", option, "rw"], ["rbind", option, "ro"])


def _with(subject: Any, *path: Any) -> Json:
    document = default_document(DEFAULT)
    value: Any = document
    for part in path[:-2]:
        value = value[part]
    value[path[-2]] = path[-1]
    chosen, findings = settings(document)
    assert findings == ()
    made, found = seal(subject, pods.images(subject), References(), chosen, load_rules())
    assert made is not None, found
    container: Json = made.data["containers"][1]
    return container


def test_other_kinds_of_empty_dir() -> None:
    subject = _pod({"emptyDir": {}})
    plain = _with(subject, "cluster_config", "emptydir_type", "block-plain")
    assert plain["storages"][0]["driver_options"] == ["create_filesystem"]
    assert plain["storages"][0]["options"] == ["discard"]
    shared = _with(subject, "cluster_config", "emptydir_type", "shared-fs")
    assert [one["driver"] for one in shared["storages"]] == ["image_guest_pull"]
    both = _with(_pod({"emptyDir": {}}, {"mountPath": SHM}), "cluster_config", "emptydir_type", "shared-fs")
    assert [mount["source"][:5] for mount in both["OCI"]["Mounts"] if mount["destination"] == SHM] == ["^$(cp", SF[:5]]
    assert [mount["source"] for mount in shared["OCI"]["Mounts"][-2:]] == [
        "^$(cpath)/sandbox-[0-9a-f]{16}-v$",
        "$(sfprefix)v$",
    ]


def test_storages_of_config_maps() -> None:
    made = _with(_pod({"configMap": {"name": "x"}}), "kata_config", "enable_configmap_secret_storages", True)
    assert made["storages"][:-1] == [
        {
            "driver": "local",
            "driver_options": [],
            "source": SF + "v$",
            "fstype": "bind",
            "options": ["rbind", "rprivate", "ro"],
            "mount_point": SF + "v$",
            "fs_group": None,
            "shared": False,
        }
    ]


@pytest.mark.parametrize("volume", [{"emptyDir": None}, {}, {"emptyDir": None, "configMap": None}])
@pytest.mark.parametrize("profile", [CONTRAST, STRICT, KATA], ids=lambda profile: profile.name)
def test_a_volume_without_a_source_is_sealed_as_an_empty_dir(profile: Profile, volume: Json) -> None:
    def rego(source: Json) -> str:
        spec = {
            "containers": [{"name": "app", "image": "app:1", "volumeMounts": [{"name": "v", "mountPath": "/v"}]}],
            "volumes": [{"name": "v", **source}],
        }
        return pods.sealed(pods.workload(spec), profile=profile).rego

    assert rego(volume) == rego({"emptyDir": {}})
