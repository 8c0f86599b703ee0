"""The function in a host's file, kustomization.yaml or Kptfile, and new configuration files."""

import os
from collections.abc import Mapping
from typing import Any, Literal, get_args

from krm_function.config.document import ConfigKind
from krm_function.config.edit import deep_change
from krm_function.config.json_schema import modeline, schema_file
from krm_function.config.release import NO_VERSION
from krm_function.contrast.profiles import DEFAULT
from krm_function.findings import Finding, Path, dotted, finding
from krm_function.krm.kube_object import FUNCTION, LOCAL_CONFIG
from krm_function.kubernetes.objects import dig, mapping, maps
from krm_function.record import NamedTuple
from krm_function.text.changes import Change
from krm_function.text.errors import YamlError
from krm_function.text.parse import parse
from krm_function.text.splice import splice
from krm_function.text.writer import dump

# --- The input and the result of adding the function to a host's file
#
# Rule: records only.


class Files(NamedTuple):
    """The configuration files of a deployment, as its host's file names them."""

    generate: str
    release: str
    lock: str


class Wired(NamedTuple):
    """A host's file with the function in it. added: a phrase for each addition."""

    text: str
    added: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


# --- Kptfile: the function as the last mutator
#
# Rule: as for a kustomization, entries are only appended. Release and lock need no entry: kpt passes every file of the
# package to a function (docs/facts/kpt.md#kptfile).


KPTFILE = "Kptfile"
PROGRAM = "contrast-krm"


def wire_kptfile(text: str, files: Files, name: str) -> Wired:
    """Add the mutator. name: of the package, for a new file. Raises YamlError."""
    text = text if text.strip() else _write_kptfile(name)
    document = parse(text)
    problem = _kptfile_problem(document.value)
    if problem:
        return Wired(text, findings=(problem,))
    path: Path = ("pipeline", "mutators")
    mutators = dig(document.value, path)
    present = [index for index, mutator in enumerate(maps(mutators)) if _is_ours(mutator)]
    if present:
        late = finding("CC1312", what=f"mutator {PROGRAM}", after="another mutator")
        return Wired(text, findings=(late,) if present[-1] != len(mutators) - 1 else ())
    mutator = {"exec": PROGRAM, "configPath": files.generate}
    if mutators:
        change = Change((*path, len(mutators)), "insert", mutator)
    else:
        change = deep_change(document.value, path, [mutator])
    return Wired(splice(document, [change]).text, (f"mutator: exec {PROGRAM}, configPath {files.generate}",))


def _write_kptfile(name: str) -> str:
    metadata = {"name": name, "annotations": {LOCAL_CONFIG: "true"}}
    return dump({"apiVersion": "kpt.dev/v1", "kind": KPTFILE, "metadata": metadata})


def _is_ours(mutator: dict[str, Any]) -> bool:
    words = str(mutator.get("exec") or "").split()
    image = str(mutator.get("image") or "").partition("@")[0].rpartition("/")[2].partition(":")[0]
    return PROGRAM in {image, *(os.path.basename(word) for word in words[:1])}


def _kptfile_problem(value: Any) -> Finding | None:
    if mapping(value).get("kind") != KPTFILE:
        return finding("CC1311.kptfile")
    for path, kind in ((("pipeline",), dict), (("pipeline", "mutators"), list)):
        if not isinstance(dig(value, path), kind | None):
            return finding("CC1311.map" if kind is dict else "CC1311.list", path=path, field=dotted(path))
    return None


# --- kustomization.yaml: the ContrastGenerate as the last transformer, release and lock among the resources
#
# Rule: entries are only appended. kustomize runs transformers in the order of the list (docs/facts/kustomize.md#order),
# and nothing may change a pod after it is sealed.


KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")  # the names that kustomize accepts
NEW_KUSTOMIZATION = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"


def wire_kustomization(text: str, files: Files, resources: tuple[str, ...] = ()) -> Wired:
    """Add the missing entries. resources: further ones, for a new file. Raises YamlError."""
    text = text if text.strip() else NEW_KUSTOMIZATION
    document = parse(text)
    value = mapping(document.value)
    problem = _kustomization_problem(document.value)
    if problem:
        return Wired(text, findings=(problem,))
    changes: list[Change] = []
    steps: list[str] = []
    for key, names in (("resources", (*resources, files.release, files.lock)), ("transformers", (files.generate,))):
        present = listed(value, key)
        added = [name for name in dict.fromkeys(names) if name not in present]
        changes += _append(value.get(key), key, added)
        steps += [f"{key}: {', '.join(added)}"] if added else []
    spliced = splice(document, changes).text if changes else text
    return Wired(spliced, tuple(steps), _check_last(value, files.generate))


def listed(value: Any, key: str) -> tuple[str, ...]:
    """Return the entries of one list of a kustomization, as paths: `./a.yaml` is a.yaml."""
    entries = mapping(value).get(key)
    texts = [entry for entry in entries if isinstance(entry, str)] if isinstance(entries, list) else []
    return tuple(text.removeprefix("./") for text in texts)


def _kustomization_problem(value: Any) -> Finding | None:
    kind = mapping(value).get("kind", "Kustomization")
    if not isinstance(value, dict):
        return finding("CC1311.no-map")
    if kind != "Kustomization":
        return finding("CC1311.kustomization", path=("kind",), kind=kind)
    for key in ("resources", "transformers"):
        if not isinstance(value.get(key), list | None):
            return finding("CC1311.list", path=(key,), field=key)
    return None


def _append(present: Any, key: str, names: list[str]) -> list[Change]:
    if not names:
        return []
    if not present:
        return [Change((key,), "set", names)]
    return [Change((key, len(present) + number), "insert", name) for number, name in enumerate(names)]


def _check_last(value: dict[str, Any], name: str) -> tuple[Finding, ...]:
    transformers = listed(value, "transformers")
    if name not in transformers or transformers[-1] == name:
        return ()
    return (finding("CC1312", what=f"transformer {name}", after=transformers[-1]),)


# --- How kustomize runs the function: the annotation `config.kubernetes.io/function` of the ContrastGenerate
#
#     form        annotation                              kustomize build
#     exec        exec: {path: contrast-krm}              --enable-alpha-plugins --enable-exec
#     container   container: {image: IMAGE}               --enable-alpha-plugins
#     legacy      none: a plugin named after the kind     --enable-alpha-plugins
#
# Source: docs/facts/kustomize.md.
#
# Rule: only an annotation that `init` itself writes is changed into another form; one with more content stays.


Form = Literal["exec", "container", "legacy"]
FORMS: tuple[Form, ...] = get_args(Form)
EXEC = "exec:\n  path: contrast-krm\n"  # a bare name: looked up on PATH
ANNOTATIONS = ("metadata", "annotations")


class Function(NamedTuple):
    """A form. image: of a container, "" otherwise."""

    form: Form
    image: str = ""

    @property
    def flags(self) -> str:
        """The flags that `kustomize build` needs to run it."""
        return "--enable-alpha-plugins --enable-exec" if self.form == "exec" else "--enable-alpha-plugins"

    @property
    def annotation(self) -> str | None:
        """The text of the annotation, None for a form without one."""
        if self.form == "container":
            return f"container:\n  image: {self.image}\n"
        return EXEC if self.form == "exec" else None


def function_of(value: Any) -> Function:
    """Return the form of a ContrastGenerate; an unknown annotation counts as exec."""
    text = dig(value, (*ANNOTATIONS, FUNCTION))
    if text is None:
        return Function("legacy")
    image = dig(_parse(text), ("container", "image"))
    return Function("container", image) if isinstance(image, str) else Function("exec")


def with_function(text: str, function: Function) -> str:
    """Give a ContrastGenerate this form. Raises YamlError, and ValueError if its annotation has more than a form."""
    document = parse(text)
    present, annotation = dig(document.value, (*ANNOTATIONS, FUNCTION)), function.annotation
    if present == annotation or (None not in (present, annotation) and _parse(present) == _parse(annotation)):
        return text
    if present is not None and not _is_from_init(_parse(present)):
        raise ValueError(f"its annotation {FUNCTION} contains more than a program or an image; change it there")
    annotations = dig(document.value, ANNOTATIONS)
    if annotation is None:
        change = Change((*ANNOTATIONS, FUNCTION), "remove", None)
    elif isinstance(annotations, dict) and annotations:
        change = Change((*ANNOTATIONS, FUNCTION), "set", annotation)
    else:
        change = Change(ANNOTATIONS, "set", {FUNCTION: annotation})
    return splice(document, [change]).text


def _parse(text: Any) -> Any:
    try:
        return parse(text).value if isinstance(text, str) else None
    except YamlError:
        return None


def _is_from_init(value: Any) -> bool:
    if value == {"exec": {"path": "contrast-krm"}}:
        return True
    image = dig(value, ("container", "image"))
    return isinstance(image, str) and value == {"container": {"image": image}}


# --- Texts of new configuration files, with comments at the values to fill in
#
# Rule: each text is valid, so that a render reports missing values, not a broken file.


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
  # Every pod is confidential, or an entry names it: a pod without runtimeClassName that is confidential nevertheless,
  # such as one of a chart of others, or a pod that is plain for a reason.
  workloads:
    - required
  #   - {{kind: Deployment, name: web}}
  #   - {{kind: DaemonSet, name: exporter, plain: reads metrics of the host}}
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
#   contrast --version | contrast-krm release import - runtime-*.yml coordinator.yml manifest.json -o {file}
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
    """Write a new file. platform: the default, "" for none. function: what kustomize runs; None: a program."""
    head, file = modeline(schema_file(kind)), NEW_FILES[kind]
    match kind:
        case "ContrastGenerate":
            chosen = f"platform: {platform}" if platform else "# platform: metal-qemu-snp"
            wired = _write_annotation(function or Function("exec")) if host == "kustomize" else ""
            emit = LOCAL if host == "kpt" else ""
            return head + GENERATE.format(function=wired, platform=chosen, profile=DEFAULT.name, emit=emit, file=file)
        case "ContrastRelease":
            return head + RELEASE.format(version=NO_VERSION, file=file)
        case "ImageLock":
            return head + LOCK


def _write_annotation(function: Function) -> str:
    if function.annotation is None:
        return COMMENT
    lines = "".join(f"\n      {line}" for line in function.annotation.splitlines())
    return f"{COMMENT}\n    {FUNCTION}: |{lines}"
