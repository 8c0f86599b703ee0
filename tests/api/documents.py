"""The examples of the design page, with values of full length, and how to change them."""

from copy import deepcopy
from typing import Any

from krm_function.config.document import ConfigDocument
from krm_function.findings import Finding

API_VERSION = "contrast-krm.dev/v1alpha1"
A, B, C = (f"sha256:{letter * 64}" for letter in "abc")
SHA384 = "0123456789ab" * 8
OTHER384 = "fedcba987654" * 8
WEB = f"registry.example.com/shop/web:1.2@{A}"
INITIALIZER = "ghcr.io/edgelesssys/contrast/initializer"
PEM = "-----BEGIN PUBLIC KEY-----\nMHYwEAYHKoZIzj0CAQYFK4EEACIDYgAE\n-----END PUBLIC KEY-----\n"
RSA_PEM = PEM.replace("PUBLIC", "RSA PUBLIC")

GENERATE: dict[str, Any] = {
    "apiVersion": API_VERSION,
    "kind": "ContrastGenerate",
    "metadata": {"name": "contrast"},
    "spec": {
        "platform": "metal-qemu-snp",
        "initializer": {"enabled": True},
        "serviceMesh": {"enabled": True},
        "imageStore": {"enabled": False},
        "scheduling": {
            "metal-qemu-snp": {
                "nodeSelector": {"hardware": "sev-snp"},
                "tolerations": [{"key": "cc", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}],
            },
            "metal-qemu-tdx": {"nodeSelector": {"hardware": "tdx"}},
        },
        "runtimeClasses": "check",
        "policy": {
            "engine": "native",
            "profile": "kata-4.1",
            "rules": "package agent_policy",
            "settings": {"a": 1},
            "initdata": {"aa.toml": "a = 1"},
            "requests": {"logs": "deny", "exec": [["pg_dump", "shop"]]},
        },
        "manifest": {
            "emit": "ConfigMap",
            "name": "contrast-manifest",
            "base": None,
            "workloadOwnerKeys": [PEM],
            "seedshareOwnerKeys": [RSA_PEM],
            "disableUpdates": False,
            "referenceValues": {
                "snp": {
                    "MinimumTCB": {"BootloaderVersion": 4, "TEEVersion": 0, "SNPVersion": 22, "MicrocodeVersion": 72},
                    "AllowedChipIDs": ["0" * 128],
                },
                "metal-qemu-snp": [
                    {"ProductName": "Milan", "MinimumTCB": {"SNPVersion": 8}, "GuestPolicy": {"SMT": True}},
                    {"ProductName": "Genoa", "MinimumTCB": {"SNPVersion": 21}},
                ],
                "tdx": {"MrSeam": SHA384, "Xfam": "e702060000000000"},
            },
            "policies": {"web": {"sans": ["web.example.com", "10.0.0.1", "spiffe://shop/web"]}},
        },
    },
}
RELEASE: dict[str, Any] = {
    "apiVersion": API_VERSION,
    "kind": "ContrastRelease",
    "metadata": {"name": "v1.25.0"},
    "spec": {
        "version": "v1.25.0",
        "platforms": {
            "metal-qemu-snp": {
                "handler": "contrast-cc-metal-qemu-snp-1a2b3c4d",
                "overhead": {"memory": "682Mi", "cpu": 1, "sev-snp.amd.com/esids": 1},
                "referenceValues": {
                    "snp": [
                        {
                            "Platform": "Metal-QEMU-SNP",
                            "ProductName": product,
                            "TrustedMeasurement": SHA384,
                            "APEIP": "0080b004",
                        }
                        for product in ("Milan", "Genoa")
                    ]
                },
            },
            "metal-qemu-tdx": {
                "handler": "contrast-cc-metal-qemu-tdx-1a2b3c4d",
                "referenceValues": {"tdx": [{"Platform": "Metal-QEMU-TDX", "MrTd": SHA384, "Rtmrs": [SHA384] * 4}]},
                "rtmr0ByVCPU": {"1": SHA384, "2": OTHER384},
            },
        },
        "images": {f"{INITIALIZER}:latest": f"{INITIALIZER}:v1.25.0@{B}"},
        "policySettings": {"common": {}},
        "policyProfile": "contrast-1.25",
        "memory": {"initializer": "51Mi", "securePv": 104857600, "serviceMesh": "0.5Gi", "pvcHolder": "1Mi"},
    },
}
IMAGE_LOCK: dict[str, Any] = {
    "apiVersion": API_VERSION,
    "kind": "ImageLock",
    "metadata": {"name": "images"},
    "spec": {
        "images": {
            WEB: {
                "digest": A,
                "config": {
                    "User": "1000",
                    "Env": ["PATH=/usr/bin"],
                    "Entrypoint": ["/web"],
                    "Cmd": ["serve"],
                    "WorkingDir": "/",
                    "Volumes": {"/data": {}},
                    "ExposedPorts": {"80/tcp": {}},
                    "Labels": {"a": "b"},
                },
                "passwd": "root:x:0:0::/root:/bin/sh\n",
                "group": "root:x:0:\n",
                "layers": [{"diffID": C, "compressedSize": 1, "uncompressedSize": 2}],
            }
        }
    },
}
EXAMPLES: dict[str, dict[str, Any]] = {
    "ContrastGenerate": GENERATE,
    "ContrastRelease": RELEASE,
    "ImageLock": IMAGE_LOCK,
}
REMOVE = object()


def changed(value: dict[str, Any], path: str, new: Any = REMOVE) -> dict[str, Any]:
    """A copy with the value at a path (parts joined by a space) set or removed; missing maps on the way are made."""
    made = deepcopy(value)
    *parents, last = path.split(" ")
    inner: Any = made
    for part in parents:
        inner = inner[int(part)] if isinstance(inner, list) else inner.setdefault(part, {})
    key = int(last) if isinstance(inner, list) else last
    if new is REMOVE:
        del inner[key]
    else:
        inner[key] = new
    return made


def document(value: Any, file: str = "config.yaml", line: int = 7) -> ConfigDocument:
    """A document of a file."""
    return ConfigDocument(value, file, line)


def said(findings: tuple[Finding, ...]) -> list[tuple[str, str, str]]:
    """Code, message and hint of every finding."""
    return [(found.code, found.message, found.hint) for found in findings]
