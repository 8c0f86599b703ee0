"""Default settings: those of Kata 4.1.0, with the changes of a profile.

Rule of this file: one literal in the shape of a genpolicy-settings.json document, so that settings.py reads a
user's file and the defaults in the same way. The changes of each profile are in model/profiles.py.
"""

from marshal import dumps, loads
from typing import Any

from krm_function.model import allowed_variables
from krm_function.model.profiles import Profile

_SHM = "/run/kata-containers/sandbox/shm"
_DEV_SHM = "/dev/shm"  # noqa: S108 - a mount of the guest
_BUNDLE = "/run/containerd/io.containerd.runtime.v2.task/k8s.io/$(bundle-id)"
_UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_OCTET = "([0-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5])"
_SYSCTL = {"net.ipv4.ip_unprivileged_port_start": "0", "net.ipv4.ping_group_range": "0 2147483647"}
_LOOPBACK_V4 = r"^127\.(?:[0-9]{1,3}\.){2}[0-9]{1,3}$"


def _caps(names: str) -> list[str]:
    return [f"CAP_{name}" for name in names.split()]


def _bind(destination: str, options: str, source: str = "") -> dict[str, Any]:
    return {"destination": destination, "source": source, "type_": "bind", "options": options.split(",")}


KATA_4_1: dict[str, Any] = {
    "pause_container": {
        "Root": {"Path": "$(root_path)"},
        "Mounts": [
            _bind(_DEV_SHM, "rbind", _SHM),
            _bind("/etc/resolv.conf", "rbind,ro,nosuid,nodev,noexec"),
        ],
        "Annotations": {
            "io.katacontainers.pkg.oci.bundle_path": _BUNDLE,
            "io.katacontainers.pkg.oci.container_type": "pod_sandbox",
            "io.kubernetes.cri.container-type": "sandbox",
            "io.kubernetes.cri.sandbox-id": "^[a-z0-9]{64}$",
            "io.kubernetes.cri.sandbox-log-directory": (
                f"^/var/log/pods/$(sandbox-namespace)_$(sandbox-name)_{_UUID}$"
            ),
            "io.kubernetes.cri.sandbox-namespace": "default",
        },
        "Process": {"Args": ["/pause"]},
        "Linux": {
            "Sysctl": _SYSCTL,
            "MaskedPaths": [
                "/proc/acpi",
                "/proc/asound",
                "/proc/kcore",
                "/proc/keys",
                "/proc/latency_stats",
                "/proc/timer_list",
                "/proc/timer_stats",
                "/proc/sched_debug",
                "/sys/firmware",
                "/proc/scsi",
            ],
            "ReadonlyPaths": ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"],
        },
    },
    "other_container": {
        "Root": {"Path": "$(root_path)"},
        "Mounts": [
            _bind("/etc/hosts", "rbind,rprivate,rw"),
            _bind("/dev/termination-log", "rbind,rprivate,rw"),
            _bind("/etc/hostname", "rbind,rprivate"),
            _bind("/etc/resolv.conf", "rbind,rprivate"),
            _bind(_DEV_SHM, "rbind", _SHM),
            _bind("/var/run/secrets/kubernetes.io/serviceaccount", "rbind,rprivate,ro"),
            _bind("/var/run/secrets/azure/tokens", "rbind,rprivate,ro", "$(sfprefix)tokens$"),
        ],
        "Annotations": {
            "io.katacontainers.pkg.oci.bundle_path": _BUNDLE,
            "io.katacontainers.pkg.oci.container_type": "pod_container",
            "io.kubernetes.cri.container-type": "container",
            "io.kubernetes.cri.sandbox-id": "^[a-z0-9]{64}$",
        },
        "Linux": {"Sysctl": _SYSCTL},
    },
    "mount_destinations": [
        "/sys/fs/cgroup",
        "/etc/hosts",
        "/dev/termination-log",
        "/etc/hostname",
        "/etc/resolv.conf",
        _DEV_SHM,
        "/var/run/secrets/kubernetes.io/serviceaccount",
        "/var/run/secrets/azure/tokens",
    ],
    "volumes": {
        "emptyDir_encrypted": {
            "mount_type": "bind",
            "mount_source": "",
            "mount_point": "$(spath)/$(b64_device_id)",
            "driver": "",
            "driver_options": ["encryption_key=ephemeral", "create_filesystem"],
            "source": "",
            "fstype": "ext4",
            "options": [],
            "shared": True,
        },
        "emptyDir_plain": {
            "mount_type": "bind",
            "mount_source": "",
            "mount_point": "$(spath)/$(b64_device_id)",
            "driver": "",
            "driver_options": ["create_filesystem"],
            "source": "",
            "fstype": "ext4",
            "options": ["discard"],
            "shared": True,
        },
        "emptyDir_memory": {
            "mount_type": "bind",
            "mount_source": "^/run/kata-containers/sandbox/ephemeral/",
            "mount_point": "^/run/kata-containers/sandbox/ephemeral/",
            "driver": "ephemeral",
            "driver_options": [],
            "source": "tmpfs",
            "fstype": "tmpfs",
            "options": [],
            "shared": False,
        },
        "configMap": {
            "mount_type": "bind",
            "mount_source": "$(sfprefix)",
            "mount_point": "$(sfprefix)",
            "driver": "local",
            "fstype": "bind",
            "options": ["rbind", "rprivate", "ro"],
        },
        "image_volume": {
            "mount_type": "bind",
            "mount_source": "$(sfprefix)",
            "driver": "local",
            "source": "local",
            "fstype": "bind",
            "options": ["rbind", "rprivate", "rw"],
        },
    },
    "devices": {
        "vfio": {
            "device_path": "/dev/vfio/devices/vfio",
            "anno_key_regex": r"^cdi\.k8s\.io/vfio[0-9]+$",
            "nvidia": {
                "gpu_anno_value_regex": r"^nvidia\.com/gpu=[0-9]+$",
                "gpu_gk_device_type": "vfio-pci-gk",
                "pgpu_resource_keys": ["nvidia.com/pgpu"],
            },
        }
    },
    "sandbox": {
        "storages": [
            {
                "driver": "ephemeral",
                "driver_options": [],
                "source": "shm",
                "fstype": "tmpfs",
                "options": ["noexec", "nosuid", "nodev", "mode=1777", "size=67108864"],
                "mount_point": _SHM,
                "fs_group": None,
                "shared": False,
            }
        ]
    },
    "common": {
        "cpath": "/run/kata-containers/shared/containers(?:/passthrough)?",
        "root_path": "/run/kata-containers/$(bundle-id)/rootfs",
        "sfprefix": "^$(cpath)/(watchable/)?$(bundle-id)-[a-z0-9]{16}-",
        "spath": "/run/kata-containers/sandbox/storage",
        "ipv4_a": r"\.".join([_OCTET] * 4),
        "ip_p": "[0-9]{1,5}",
        "svc_name_downward_env": allowed_variables.NAME_OF_SERVICE,
        "dns_label": r"[a-zA-Z0-9_\.\-]+",
        "default_caps": _caps(
            "CHOWN DAC_OVERRIDE FSETID FOWNER MKNOD NET_RAW SETGID SETUID SETFCAP SETPCAP NET_BIND_SERVICE SYS_CHROOT "
            "KILL AUDIT_WRITE"
        ),
        "privileged_caps": _caps(
            "CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE "
            "NET_BIND_SERVICE NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT "
            "SYS_PTRACE SYS_PACCT SYS_ADMIN SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE "
            "AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ "
            "PERFMON BPF CHECKPOINT_RESTORE"
        ),
    },
    "kata_config": {"oci_version": "1.1.0", "enable_configmap_secret_storages": False},
    "cluster_config": {
        "pause_container_image": "mcr.microsoft.com/oss/kubernetes/pause:3.6",
        "guest_pull": True,
        "emptydir_type": "block-encrypted",
        "cgroup_mount_extras_allowed": ["nsdelegate", "memory_recursiveprot"],
    },
    "request_defaults": {
        "CreateContainerRequest": {"allow_env_regex": list(allowed_variables.KATA)},
        "CopyFileRequest": ["$(sfprefix)"],
        "ExecProcessRequest": {"allowed_commands": [], "regex": []},
        "UpdateInterfaceRequest": {
            "allow_raw_flags": 128,
            "forbidden_names": ["lo"],
            "forbidden_hw_addrs": ["00:00:00:00:00:00"],
        },
        "UpdateRoutesRequest": {
            "forbidden_device_names": ["lo"],
            "forbidden_source_regex": ["^(?:0{0,4}:){0,7}0{0,3}1$", _LOOPBACK_V4],
        },
        "AddARPNeighborsRequest": {
            "forbidden_device_names": ["lo"],
            "forbidden_cidrs_regex": [_LOOPBACK_V4],
            "allowed_states": [2, 128],
        },
        "CloseStdinRequest": False,
        "ReadStreamRequest": False,
        "UpdateEphemeralMountsRequest": False,
        "WriteStreamRequest": False,
        "GetDiagnosticDataRequest": False,
    },
}


def default_document(profile: Profile) -> dict[str, Any]:
    """Return the settings document of a profile, a new copy at each call."""
    made: dict[str, Any] = _copy(KATA_4_1)
    for pointer, value in (*profile.settings, *profile.own_settings):
        place, name = _at(made, pointer)
        place[name] = _copy(value)
    for pointer in profile.left_out:
        place, name = _at(made, pointer)
        del place[name]
    return made


def _copy(value: Any) -> Any:
    """Copy plain data deeply, in C; nothing else in a render would load module `copy`."""
    return loads(dumps(value))  # noqa: S302 - bytes made by dumps in this line


def _at(document: dict[str, Any], pointer: str) -> tuple[dict[str, Any], str]:
    """Resolve a JSON pointer without escapes: the map that holds its last name, and that name."""
    *above, name = pointer.removeprefix("/").split("/")
    for key in above:
        document = document[key]
    return document, name
