"""The settings files that come with Kata 4.1 and with Contrast 1.25, written from the reference's lists."""

import copy
from typing import Any

Json = dict[str, Any]

SYSCTL = {"net.ipv4.ip_unprivileged_port_start": "0", "net.ipv4.ping_group_range": "0 2147483647"}
BUNDLE = "/run/containerd/io.containerd.runtime.v2.task/k8s.io/$(bundle-id)"
UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
SHM = "/run/kata-containers/sandbox/shm"
OCTET = "([0-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5])"
LOOPBACK = r"^127\.(?:[0-9]{1,3}\.){2}[0-9]{1,3}$"


def bind(destination: str, options: str, **source: str) -> Json:
    return {"destination": destination, "type_": "bind", **source, "options": options.split(",")}


def caps(names: str) -> list[str]:
    return [f"CAP_{name}" for name in names.split()]


def kata() -> Json:
    """Kata 4.1.0's own genpolicy-settings.json."""
    block = {"mount_type": "bind", "mount_source": "", "mount_point": "$(spath)/$(b64_device_id)", "driver": ""}
    ephemeral = "^/run/kata-containers/sandbox/ephemeral/"
    local = "^$(cpath)/$(sandbox-id)/rootfs/local/"
    service, port, address = "$(svc_name_downward_env)", "$(ip_p)", "$(ipv4_a)"
    return {
        "pause_container": {
            "Root": {"Path": "$(root_path)", "Readonly": True},
            "Process": {"Args": ["/pause"], "NoNewPrivileges": True},
            "Mounts": [
                bind("/dev/shm", "rbind", source=SHM),  # noqa: S108
                bind("/etc/resolv.conf", "rbind,ro,nosuid,nodev,noexec"),
            ],
            "Annotations": {
                "io.kubernetes.cri.container-type": "sandbox",
                "io.kubernetes.cri.sandbox-id": "^[a-z0-9]{64}$",
                "io.kubernetes.cri.sandbox-log-directory": (
                    f"^/var/log/pods/$(sandbox-namespace)_$(sandbox-name)_{UUID}$"
                ),
                "io.katacontainers.pkg.oci.container_type": "pod_sandbox",
                "io.kubernetes.cri.sandbox-namespace": "default",
                "io.katacontainers.pkg.oci.bundle_path": BUNDLE,
            },
            "Linux": {
                "Sysctl": SYSCTL,
                "MaskedPaths": [
                    *("/proc/acpi", "/proc/asound", "/proc/kcore", "/proc/keys", "/proc/latency_stats"),
                    *("/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug", "/sys/firmware", "/proc/scsi"),
                ],
                "ReadonlyPaths": ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"],
            },
        },
        "other_container": {
            "Root": {"Path": "$(root_path)"},
            "Mounts": [
                bind("/etc/hosts", "rbind,rprivate,rw"),
                bind("/dev/termination-log", "rbind,rprivate,rw"),
                bind("/etc/hostname", "rbind,rprivate"),
                bind("/etc/resolv.conf", "rbind,rprivate"),
                bind("/dev/shm", "rbind", source=SHM),  # noqa: S108
                bind("/var/run/secrets/kubernetes.io/serviceaccount", "rbind,rprivate,ro"),
                bind("/var/run/secrets/azure/tokens", "rbind,rprivate,ro", source="$(sfprefix)tokens$"),
            ],
            "Annotations": {
                "io.katacontainers.pkg.oci.bundle_path": BUNDLE,
                "io.kubernetes.cri.sandbox-id": "^[a-z0-9]{64}$",
                "io.katacontainers.pkg.oci.container_type": "pod_container",
                "io.kubernetes.cri.container-type": "container",
            },
            "Linux": {"Sysctl": SYSCTL},
        },
        "mount_destinations": [
            *("/sys/fs/cgroup", "/etc/hosts", "/dev/termination-log", "/etc/hostname", "/etc/resolv.conf"),
            *("/dev/shm", "/var/run/secrets/kubernetes.io/serviceaccount", "/var/run/secrets/azure/tokens"),  # noqa: S108
        ],
        "volumes": {
            "emptyDir": {
                "mount_type": "local",
                "mount_source": local,
                "mount_point": local,
                "driver": "local",
                "driver_options": [],
                "fstype": "local",
                "options": ["mode=0777"],
                "source": "local",
                "shared": False,
            },
            "emptyDir_encrypted": {
                **block,
                "driver_options": ["encryption_key=ephemeral", "create_filesystem"],
                "source": "",
                "fstype": "ext4",
                "options": [],
                "shared": True,
            },
            "emptyDir_plain": {
                **block,
                "driver_options": ["create_filesystem"],
                "source": "",
                "fstype": "ext4",
                "options": ["discard"],
                "shared": True,
            },
            "emptyDir_memory": {
                "mount_type": "bind",
                "mount_source": ephemeral,
                "mount_point": ephemeral,
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
        "kata_config": {"oci_version": "1.1.0", "enable_configmap_secret_storages": False},
        "cluster_config": {
            "pause_container_image": "mcr.microsoft.com/oss/kubernetes/pause:3.6",
            "guest_pull": True,
            "emptydir_type": "block-encrypted",
            "cgroup_mount_extras_allowed": ["nsdelegate", "memory_recursiveprot"],
        },
        "sandbox": {
            "storages": [
                {
                    "driver": "ephemeral",
                    "driver_options": [],
                    "source": "shm",
                    "fstype": "tmpfs",
                    "options": ["noexec", "nosuid", "nodev", "mode=1777", "size=67108864"],
                    "mount_point": SHM,
                    "fs_group": None,
                }
            ]
        },
        "common": {
            "cpath": "/run/kata-containers/shared/containers(?:/passthrough)?",
            "root_path": "/run/kata-containers/$(bundle-id)/rootfs",
            "sfprefix": "^$(cpath)/(watchable/)?$(bundle-id)-[a-z0-9]{16}-",
            "spath": "/run/kata-containers/sandbox/storage",
            "ipv4_a": r"\.".join([OCTET] * 4),
            "ip_p": "[0-9]{1,5}",
            "svc_name_downward_env": "[A-Z](?:[A-Z0-9_]{0,61}[A-Z0-9])?",
            "dns_label": r"[a-zA-Z0-9_\.\-]+",
            "image_layer_verification": "none",
            "default_caps": caps(
                "CHOWN DAC_OVERRIDE FSETID FOWNER MKNOD NET_RAW SETGID SETUID SETFCAP SETPCAP NET_BIND_SERVICE "
                "SYS_CHROOT KILL AUDIT_WRITE"
            ),
            "privileged_caps": caps(
                "CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE "
                "NET_BIND_SERVICE NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT "
                "SYS_PTRACE SYS_PACCT SYS_ADMIN SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE "
                "AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ "
                "PERFMON BPF CHECKPOINT_RESTORE"
            ),
        },
        "request_defaults": {
            "CreateContainerRequest": {
                "allow_env_regex": [
                    "^HOSTNAME=$(dns_label)$",
                    f"^{service}_PORT_{port}_(TCP|UDP)=(tcp|udp)://{address}:{port}$",
                    f"^{service}_PORT_{port}_(TCP|UDP)_PROTO=(tcp|udp)$",
                    f"^{service}_PORT_{port}_(TCP|UDP)_PORT={port}$",
                    f"^{service}_PORT_{port}_(TCP|UDP)_ADDR={address}$",
                    f"^{service}_SERVICE_HOST={address}$",
                    f"^{service}_SERVICE_PORT={port}$",
                    f"^{service}_SERVICE_PORT_$(dns_label)={port}$",
                    f"^{service}_PORT=(tcp|udp)://{address}:{port}$",
                    "^JOB_COMPLETION_INDEX=[0-9]+$",
                    "^AZURE_CLIENT_ID=[A-Fa-f0-9-]*$",
                    "^AZURE_TENANT_ID=[A-Fa-f0-9-]*$",
                    "^AZURE_FEDERATED_TOKEN_FILE=/var/run/secrets/azure/tokens/azure-identity-token$",
                    r"^AZURE_AUTHORITY_HOST=https://login\.microsoftonline\.com/$",
                    "^TERM=xterm$",
                ]
            },
            "CopyFileRequest": ["$(sfprefix)"],
            "ExecProcessRequest": {"allowed_commands": [], "regex": []},
            "UpdateInterfaceRequest": {
                "allow_raw_flags": 128,
                "forbidden_names": ["lo"],
                "forbidden_hw_addrs": ["00:00:00:00:00:00"],
            },
            "UpdateRoutesRequest": {
                "forbidden_device_names": ["lo"],
                "forbidden_source_regex": ["^(?:0{0,4}:){0,7}0{0,3}1$", LOOPBACK],
            },
            "AddARPNeighborsRequest": {
                "forbidden_device_names": ["lo"],
                "forbidden_cidrs_regex": [LOOPBACK],
                "allowed_states": [2, 128],
            },
            "CloseStdinRequest": False,
            "ReadStreamRequest": False,
            "UpdateEphemeralMountsRequest": False,
            "WriteStreamRequest": False,
            "GetDiagnosticDataRequest": False,
        },
    }


def contrast() -> Json:
    """Contrast's own, of its newest release."""
    out = copy.deepcopy(kata())
    out["cluster_config"] |= {
        "pause_container_image": "ghcr.io/edgelesssys/kubernetes/pause:3.6",
        "pause_container_id_policy": "v1",
    }
    out["devices"]["vfio"]["nvidia"]["pgpu_resource_keys"] += [
        *("nvidia.com/GB100_B200", "nvidia.com/GB110_B300_SXM6_AC", "nvidia.com/GH100_H100_PCIE")
    ]
    out["request_defaults"]["ReadStreamRequest"] = True
    del out["volumes"]["image_volume"]
    return out
