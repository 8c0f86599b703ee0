"""The files of a made-up Contrast release, in the form of real ones: what `release import` reads.

The facts are those of tools/example_release.py, so what is imported from here is the release of the examples.
"""

import hashlib
import json
from typing import Any

from tools.example_release import COORDINATOR, RELEASED, SUFFIX, VERSION, measurement, platform, read

CONTRAST = "ghcr.io/edgelesssys/contrast"
SNP, SNP_GPU, TDX, TDX_GPU = "metal-qemu-snp", "metal-qemu-snp-gpu", "metal-qemu-tdx", "metal-qemu-tdx-gpu"
PLATFORMS = (SNP, SNP_GPU, TDX, TDX_GPU)
INSTALLERS = ("node-installer-kata", "node-installer-kata-gpu")
PAUSE = "registry.k8s.io/pause:3.6@sha256:" + hashlib.sha256(b"pause").hexdigest()


def marker(name: str) -> str:
    return "Metal-QEMU-" + name.removeprefix("metal-qemu-").upper()


def pinned(name: str, version: str = VERSION) -> str:
    return f"{CONTRAST}/{name}:{version}@sha256:{hashlib.sha256(f'{CONTRAST}/{name}:{version}'.encode()).hexdigest()}"


def runtime(name: str, suffix: str = SUFFIX, version: str = VERSION) -> str:
    """runtime-<platform>.yml."""
    handler = f"contrast-cc-{name}-{suffix}"
    gpu = name.endswith("-gpu")
    return f"""apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata:
  name: {handler}
  labels:
    addonmanager.kubernetes.io/mode: Reconcile
handler: {handler}
overhead:
  podFixed:
    memory: {"1194Mi" if gpu else "682Mi"}
---
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: {handler}-nodeinstaller
  namespace: contrast-system
  labels:
    app.kubernetes.io/name: {handler}-nodeinstaller
spec:
  selector:
    matchLabels:
      app.kubernetes.io/name: {handler}-nodeinstaller
  template:
    metadata:
      labels:
        app.kubernetes.io/name: {handler}-nodeinstaller
      annotations:
        contrast.edgeless.systems/pod-role: contrast-node-installer
        contrast.edgeless.systems/platform: {marker(name)}
    spec:
      hostPID: true
      initContainers:
        - name: installer
          image: {pinned(INSTALLERS[gpu], version)}
          command: ["/bin/node-installer", "{marker(name)}"]
          resources:
            requests:
              memory: 700Mi
          securityContext:
            privileged: true
          volumeMounts:
            - name: host-mount
              mountPath: /host
      containers:
        - name: pause
          image: {PAUSE}
      volumes:
        - name: host-mount
          hostPath:
            path: /
            type: Directory
"""


def coordinator(version: str = VERSION) -> str:
    """coordinator.yml; the examples' coordinator, whose image a release pins."""
    return read(COORDINATOR).replace(f"{CONTRAST}/coordinator:latest", pinned("coordinator", version))


def version_text(version: str = VERSION, suffix: str = SUFFIX) -> str:
    """Return what `contrast --version` prints, in the form of docs/facts/contrast.md#version-text."""
    images = [pinned(name, version) for name in RELEASED]
    lines = [f"contrast version {version}", "", "container image versions:", *(f"    {image}" for image in images)]
    for name in PLATFORMS:
        lines += ["", f"reference values for {marker(name)} platform:"]
        lines += [f"    runtime handler:      contrast-cc-{name}-{suffix}"]
        for entry in platform(name)["referenceValues"].get("snp", ()):
            lines += [f"    - launch digest:      {entry['TrustedMeasurement']}", "      default SNP TCB:"]
            lines += [f"          {number:<16}(no default)" for number in ("bootloader:", "tee:", "snp:", "microcode:")]
        lines += ["    genpolicy version:    3.15.0"]
    return "\n".join(lines) + "\n"


def replacements(version: str = VERSION) -> str:
    """Return an image-replacements file."""
    lines = [f"{CONTRAST}/{name}:latest = {pinned(name, version)}" for name in RELEASED]
    return "# images of this release\n\n" + "\n".join(lines) + "\n"


def entries(name: str, vcpus: int = 1) -> list[dict[str, Any]]:
    """Return the reference values of one platform as a manifest has them."""
    made: list[dict[str, Any]] = []
    values = platform(name)["referenceValues"]
    for entry in values.get("snp", ()):
        tcb = dict.fromkeys(("BootloaderVersion", "TEEVersion", "SNPVersion", "MicrocodeVersion"))
        policy = {"ABIMinor": 0, "ABIMajor": 0, "SMT": True, "Debug": False}
        made.append({**entry, "MinimumTCB": tcb, "GuestPolicy": policy, "AllowedChipIDs": None})
    for entry in values.get("tdx", ()):
        rtmrs = [measurement(f"{name} RTMR0 {vcpus}"), *entry["Rtmrs"][1:]]
        more = {"MrSeam": "", "Xfam": "e702060000000000", "AllowedPIIDs": None, "MemoryIntegrity": False}
        made.append({**entry, "Rtmrs": rtmrs, **more})
    return made


def manifest(*names: str, vcpus: int = 1) -> dict[str, Any]:
    """manifest.json as `contrast generate` makes it."""
    values: dict[str, Any] = {}
    for name in names:
        values.setdefault("snp" if "-snp" in name else "tdx", []).extend(entries(name, vcpus))
    policies: dict[str, Any] = {
        "0" * 64: {"SANs": ["coordinator"], "WorkloadSecretID": "apps/v1/StatefulSet/default/coordinator"}
    }
    policies["0" * 64]["Role"] = "coordinator"
    return {
        "Policies": policies,
        "ReferenceValues": values,
        "WorkloadOwnerPubKeys": [],
        "SeedshareOwnerPubKeys": [],
    }


def by_handler(*names: str, suffix: str = SUFFIX) -> dict[str, Any]:
    """Return the reference values that Contrast's CLI carries: by handler, with the RTMR0 table."""
    made: dict[str, Any] = {}
    for name in names:
        facts = platform(name)
        value = {("snp" if "-snp" in name else "tdx"): entries(name)}
        if "rtmr0ByVCPU" in facts:
            value["rtmr0ByVCPU"] = facts["rtmr0ByVCPU"]
        made[f"contrast-cc-{name}-{suffix}"] = value
    return made


def files(*names: str) -> dict[str, str]:
    """All that a user of the release has, by name; version.txt is the output of `contrast --version`."""
    chosen = names or PLATFORMS
    made = {f"runtime-{name}.yml": runtime(name) for name in chosen}
    made["coordinator.yml"] = coordinator()
    made["version.txt"] = version_text()
    made["manifest.json"] = json.dumps(manifest(*chosen), indent=2) + "\n"
    return made
