"""Texts of new configuration files, with comments at what is to be filled in.

Rule of this file: each text is valid, so that a render reports what is missing and not that a file is broken.
"""

from collections.abc import Mapping
from typing import Literal

from krm_function.api.document import ConfigKind
from krm_function.api.modeline import modeline, schema_file
from krm_function.krm.kube_object import FUNCTION
from krm_function.model.profiles import DEFAULT
from krm_function.release import NO_VERSION
from krm_function.wiring.kustomize_function import Function

HostName = Literal["kustomize", "kpt", "helm", "files"]
NEW_FILES: Mapping[ConfigKind, str] = {
    "ContrastGenerate": "contrast.yaml",
    "ContrastRelease": "release.yaml",
    "ImageLock": "images.yaml",
}
COMMENT = """
    # What kustomize runs: `exec` a program on PATH, with --enable-exec; `container` an image. Without the annotation
    # it is a legacy plugin. `contrast-krm init --function` changes it."""
LOCAL = """
    emit: LocalConfig # a file of the package, which `kpt live apply` skips"""
GENERATE = """# What you decide. Every field of spec may be left out.
apiVersion: contrast-krm.dev/v1alpha1
kind: ContrastGenerate
metadata:
  name: contrast
  annotations:
    config.kubernetes.io/local-config: "true"{function}
spec:
  # What the bare placeholder contrast-cc stands for; the coordinator has it.
  {platform}
  # Workloads that are confidential though their pods name no runtimeClassName, such as those of a chart of others.
  # workloads:
  #   - {{kind: Deployment, name: web}}
  # Labels of the nodes that have a platform. They go into its RuntimeClass and are checked against every pod.
  # scheduling:
  #   metal-qemu-snp:
  #     nodeSelector:
  #       example.com/tee: sev-snp
  # Policies are for the nodes of the release, with profile {profile}. `strict` leaves a host less to choose.
  # policy:
  #   profile: strict
  # RuntimeClasses belong to the cluster and are applied once: `contrast-krm release runtime-classes` prints them.
  # `emit` would add them to this output; no other deployment of the cluster may do that, too.
  runtimeClasses: check
  manifest:
    # Who may update the manifest, and who may recover the coordinator. An entry each is added by
    #   contrast-krm keys new --workload-owner --add-to {file}
    #   contrast-krm keys new --seedshare-owner --add-to {file}
    # What only you know: for SNP the firmware versions that you accept at least, for TDX the module's measurement.
    # referenceValues:
    #   snp:
    #     MinimumTCB: {{BootloaderVersion: 0, TEEVersion: 0, SNPVersion: 0, MicrocodeVersion: 0}}
    #   tdx:
    #     MrSeam: ""
    name: contrast-manifest{emit}
"""
RELEASE = """# The facts of one Contrast release. There are none yet; `contrast-krm release import` puts them here:
#   contrast-krm release import runtime-*.yml coordinator.yml image-replacements.txt manifest.json -o {file}
# Whoever can change this file decides what the deployment accepts: review it, and take its sources over a channel that
# you trust.
apiVersion: contrast-krm.dev/v1alpha1
kind: ContrastRelease
metadata:
  name: {version}
  annotations:
    config.kubernetes.io/local-config: "true"
spec:
  version: {version}
  platforms: {{}}
"""
LOCK = """# What policies have to know of each image: its digest and its OCI configuration, by the name that pods use.
# There is none yet; contrast-krm lock fills it in, and contrast-krm init prints the command.
apiVersion: contrast-krm.dev/v1alpha1
kind: ImageLock
metadata:
  name: images
  annotations:
    config.kubernetes.io/local-config: "true"
spec:
  images: {}
"""


def new_file(kind: ConfigKind, host: HostName, platform: str = "", function: Function | None = None) -> str:
    """Write a new file. platform: the default one, "" if not given. function: what kustomize runs; None: a program."""
    head, file = modeline(schema_file(kind)), NEW_FILES[kind]
    match kind:
        case "ContrastGenerate":
            chosen = f"platform: {platform}" if platform else "# platform: metal-qemu-snp"
            wired = _annotation(function or Function("exec")) if host == "kustomize" else ""
            emit = LOCAL if host == "kpt" else ""
            return head + GENERATE.format(function=wired, platform=chosen, profile=DEFAULT.name, emit=emit, file=file)
        case "ContrastRelease":
            return head + RELEASE.format(version=NO_VERSION, file=file)
        case "ImageLock":
            return head + LOCK


def _annotation(function: Function) -> str:
    if function.annotation is None:
        return COMMENT
    lines = "".join(f"\n      {line}" for line in function.annotation.splitlines())
    return f"{COMMENT}\n    {FUNCTION}: |{lines}"
