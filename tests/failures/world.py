"""A small deployment that renders without a word: coordinator, service, release and lock. A case breaks one thing.

Every value that a person would not like to see in a log is a canary: CANARY and something. No case may print one.
"""

import base64
from collections.abc import Callable, Iterator
from typing import Any

from tests import quick_yaml as yaml

GROUP = "contrast-krm.dev/v1alpha1"
NOTE = "contrast.edgeless.systems/"
CANARY = "CANARY"
PEM_BODY = "MIIEvgIBADANBgkqhkiGCANARYpemQEFAASCBKgwggSkAgEAAoIBAQC7"
PRIVATE_KEY = f"-----BEGIN PRIVATE KEY-----\n{PEM_BODY}\n-----END PRIVATE KEY-----\n"
REGISTRY = "registry.example.com/shop"
CONTRAST = "ghcr.io/edgelesssys/contrast"
OWNER_KEY = """-----BEGIN PUBLIC KEY-----
MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEP2+SXCNK/lYcYjCMeC98jlR3JTwXHTPH
vR+9p9wJdQcpv8d2gEw4jzxwd8uxqCvZrqFWz64ntBNuYffGk/VsnFHXC7mCPQ1y
Kp3c0HRchHuR48CnmxWUqgtQizNkeczT
-----END PUBLIC KEY-----
"""
TCB = {"BootloaderVersion": 4, "TEEVersion": 0, "SNPVersion": 24, "MicrocodeVersion": 219}


def pinned(name: str, digit: str) -> str:
    return f"{name}@sha256:{digit * 64}"


WEB_IMAGE = pinned(f"{REGISTRY}/web:1.0", "a")
OTHER_IMAGE = pinned(f"{REGISTRY}/other:1.0", "e")
IMAGES = {
    f"{CONTRAST}/coordinator:latest": pinned(f"{CONTRAST}/coordinator:v1.25.0", "b"),
    f"{CONTRAST}/initializer:latest": pinned(f"{CONTRAST}/initializer:v1.25.0", "c"),
    f"{CONTRAST}/service-mesh-proxy:latest": pinned(f"{CONTRAST}/service-mesh-proxy:v1.25.0", "d"),
}


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


CONFIG = ("options", "release", "lock", "second")


class World:
    """The documents of one deployment by name, as plain data or, once a case made it so, as raw text."""

    def __init__(self) -> None:
        self.documents: dict[str, Any] = {
            "coordinator": coordinator(),
            "web": web(),
            "service": {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": {"name": "web", "namespace": "shop"},
                "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]},
            },
            "settings": {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": "settings", "namespace": "shop"},
                "data": {"MODE": f"{CANARY}-config-map"},
            },
            "secret": {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": "login", "namespace": "shop"},
                "data": {"password": encoded(f"{CANARY}-secret")},
                "stringData": {"token": f"{CANARY}-string-data", "key.pem": PRIVATE_KEY},
            },
            "options": options(),
            "release": release(),
            "lock": lock(),
        }
        self.encoding = "utf-8"
        self.function_config: Any = None

    # --- what cases take hold of

    def __getitem__(self, name: str) -> Any:
        return self.documents[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.documents[name] = value

    @property
    def template(self) -> Any:
        return self["web"]["spec"]["template"]

    @property
    def pod(self) -> Any:
        return self.template["spec"]

    @property
    def container(self) -> Any:
        return self.pod["containers"][0]

    @property
    def notes(self) -> Any:
        """The annotations of web's pod template."""
        return self.template["metadata"]["annotations"]

    @property
    def spec(self) -> Any:
        """The spec of the ContrastGenerate."""
        return self["options"]["spec"]

    def mount(self, name: str, source: Any, **mount: Any) -> None:
        """Give web a volume and mount it."""
        self.pod.setdefault("volumes", []).append({"name": name, **source})
        self.container.setdefault("volumeMounts", []).append({"name": name, "mountPath": f"/{name}"} | mount)

    def env(self, name: str, **source: Any) -> None:
        self.container["env"].append({"name": name, "valueFrom": source})

    def raw(self, name: str, change: Callable[[str], str]) -> None:
        """Change the text of one document."""
        self.documents[name] = change(self.text(name))

    def replace(self, name: str, old: str, new: str) -> None:
        """Replace one place in the text of one document."""
        text = self.text(name)
        assert text.count(old) == 1, (old, text)
        self.documents[name] = text.replace(old, new)

    # --- what hosts hand over

    def text(self, name: str) -> str:
        value = self.documents[name]
        return value if isinstance(value, str) else yaml.safe_dump(value, sort_keys=False, width=4096)

    def stream(self, *names: str) -> bytes:
        return self._bytes("".join(f"---\n{self.text(name)}" for name in names or self.resources()))

    def config(self) -> bytes:
        return "".join(f"---\n{self.text(name)}" for name in CONFIG if name in self.documents).encode()

    def resources(self) -> list[str]:
        return [name for name in self.documents if name not in CONFIG]

    def resource_list(self) -> bytes:
        """All of it as kustomize sends it: configuration among the items, marked as local."""
        items = "".join(_item(self.text(name)) for name in self.documents)
        head = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"
        function = yaml.safe_dump({"functionConfig": self.function_config}) if self.function_config else ""
        return self._bytes(f"{head}{function}items:\n{items}")

    def _bytes(self, text: str) -> bytes:
        return text.encode(self.encoding, "surrogateescape" if self.encoding == "utf-8" else "strict")


def _item(text: str) -> str:
    lines = text.splitlines(keepends=True) if "\r" not in text else text.split("\n")
    if "\r" in text:
        lines = [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    return "".join(("- " if not index else "  ") + line for index, line in enumerate(lines))


def web() -> dict[str, Any]:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": "web",
            "namespace": "shop",
            "annotations": {"example.com/notes": f"{CANARY}-object-annotation " + "x" * 100},
        },
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {
                    "labels": {"app": "web"},
                    "annotations": {"example.com/long": f"{CANARY}-annotation " + "x" * 100},
                },
                "spec": {
                    "runtimeClassName": "contrast-cc-metal-qemu-snp",
                    "containers": [
                        {
                            "name": "web",
                            "image": WEB_IMAGE,
                            "env": [
                                {"name": "PLAIN", "value": f"{CANARY}-env"},
                                {"name": "MODE", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "MODE"}}},
                                {"name": "WORD", "valueFrom": {"secretKeyRef": {"name": "login", "key": "password"}}},
                            ],
                            "envFrom": [{"secretRef": {"name": "login"}, "prefix": "ALL_"}],
                            "resources": {"limits": {"cpu": "500m", "memory": "200Mi"}},
                        }
                    ],
                },
            },
        },
    }


def coordinator() -> dict[str, Any]:
    labels = {"app": "coordinator", f"{NOTE}pod-role": "coordinator"}
    container = {
        "name": "coordinator",
        "image": f"{CONTRAST}/coordinator:latest",
        "resources": {"limits": {"memory": "200Mi"}},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "coordinator", "namespace": "shop"},
        "spec": {
            "serviceName": "coordinator",
            "selector": {"matchLabels": {"app": "coordinator"}},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"runtimeClassName": "contrast-cc", "containers": [container]},
            },
        },
    }


def _config(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    local = {"config.kubernetes.io/local-config": "true"}
    return {"apiVersion": GROUP, "kind": kind, "metadata": {"name": name, "annotations": local}, "spec": spec}


def options() -> dict[str, Any]:
    spec = {
        "acknowledged": [{"code": "CC0675", "reason": "no value is a secret here"}],
        "platform": "metal-qemu-snp",
        "scheduling": {"metal-qemu-snp": {"nodeSelector": {"hardware": "snp"}}},
        "manifest": {
            "workloadOwnerKeys": [OWNER_KEY],
            "referenceValues": {"snp": {"MinimumTCB": TCB}},
        },
    }
    return _config("ContrastGenerate", "contrast", spec)


def release() -> dict[str, Any]:
    platforms = {
        name: {
            "handler": f"contrast-cc-{name}-1a2b3c4d",
            "overhead": {"memory": "682Mi"},
            "referenceValues": {
                "snp": [
                    {"Platform": marker, "ProductName": "Milan", "TrustedMeasurement": "0f" * 48, "APEIP": "0080b004"}
                ]
            },
        }
        for name, marker in (("metal-qemu-snp", "Metal-QEMU-SNP"), ("metal-qemu-snp-gpu", "Metal-QEMU-SNP-GPU"))
    }
    return _config("ContrastRelease", "v1.25.0", {"version": "v1.25.0", "platforms": platforms, "images": dict(IMAGES)})


def lock() -> dict[str, Any]:
    facts = {
        "Env": ["PATH=/bin", f"TOKEN={CANARY}-image-env"],
        "Entrypoint": ["/bin/main"],
        "WorkingDir": "/",
    }
    references = [WEB_IMAGE, OTHER_IMAGE, *IMAGES.values()]
    images = {
        name: {"digest": name.partition("@")[2], "config": facts, "passwd": "", "group": ""} for name in references
    }
    return _config("ImageLock", "images", {"images": yaml.safe_load(yaml.plain(images))})


def canaries(text: str) -> Iterator[str]:
    """The lines of a text in which something shows that should not."""
    secrets = (CANARY, encoded(f"{CANARY}-secret"), encoded(CANARY)[:6], PEM_BODY[:16])
    return (line for line in text.splitlines() if any(secret in line for secret in secrets))
