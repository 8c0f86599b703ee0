"""The facts of the release that the examples use: made up, but the same on every machine.

Rule of this file: a digest is the SHA-256 of the image it belongs to ("registry.example.com/shop/web:2.3.1"), a
measurement the SHA-384 of its description ("metal-qemu-snp Milan TrustedMeasurement"), so no example holds a value of a
real release by accident. make_examples.py writes these facts as configuration, release_assets.py as a release's files.
"""

import hashlib
import os
from typing import Any, NamedTuple

EXAMPLES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "examples")
VERSION = "v1.25.0"
POLICY_PROFILE = "contrast-1.25"  # as `release import` makes of the version
SUFFIX = hashlib.sha256(VERSION.encode()).hexdigest()[:8]  # of every runtime handler
CONTRAST = "ghcr.io/edgelesssys/contrast/"
PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
COORDINATOR = "quickstart/resources/coordinator.yaml"


class Image(NamedTuple):
    """One image: how pods name it, what its OCI configuration says, and the two account files where it has them."""

    name: str  # registry/path:tag
    config: dict[str, Any]
    passwd: str = ""
    group: str = ""

    @property
    def digest(self) -> str:
        """The made-up digest."""
        return "sha256:" + hashlib.sha256(self.name.encode()).hexdigest()

    @property
    def reference(self) -> str:
        """`registry/path:tag@sha256:...`."""
        return f"{self.name}@{self.digest}"


def contrast(name: str) -> Image:
    """Describe an image of Contrast: one program that runs as root."""
    return Image(
        f"{CONTRAST}{name}:{VERSION}", {"Env": ["PATH=/bin"], "Entrypoint": [f"/bin/{name}"], "WorkingDir": "/"}
    )


RELEASED = {name: contrast(name) for name in ("coordinator", "debugshell", "initializer", "service-mesh-proxy")}


def measurement(what: str) -> str:
    """Return a made-up SHA-384 value, 96 hex digits."""
    return hashlib.sha384(what.encode()).hexdigest()


def platform(name: str) -> dict[str, Any]:
    """Return the release's facts about one platform."""
    gpu = name.endswith("-gpu")
    marker = "Metal-QEMU-" + name.removeprefix("metal-qemu-").upper()
    facts: dict[str, Any] = {
        "handler": f"contrast-cc-{name}-{SUFFIX}",
        "overhead": {"memory": "1194Mi" if gpu else "682Mi"},
    }
    if "-snp" in name:
        snp = [
            {
                "Platform": marker,
                "ProductName": product,
                "TrustedMeasurement": measurement(f"{name} {product} TrustedMeasurement"),
                "APEIP": "0080b004",
            }
            for product in ("Milan", "Genoa")
        ]
        return {**facts, "referenceValues": {"snp": snp}}
    rtmrs = [measurement(f"{name} RTMR0 1"), *(measurement(f"{name} RTMR{index}") for index in (1, 2, 3))]
    facts["referenceValues"] = {
        "tdx": [{"Platform": marker, "MrTd": measurement(f"{name} MrTd"), "Rtmrs": rtmrs}],
    }
    if not gpu:
        facts["rtmr0ByVCPU"] = {str(count): measurement(f"{name} RTMR0 {count}") for count in range(1, 9)}
    return facts


def read(path: str) -> str:
    """Return the text of a file below examples/, "" if there is none."""
    try:
        with open(os.path.join(EXAMPLES, path), encoding="utf-8") as handle:
            return handle.read()
    except FileNotFoundError:
        return ""
