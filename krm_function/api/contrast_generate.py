"""ContrastGenerate: the options of a render.

Rule of this file: a field is declared once, in the record; `table` makes of that what is read, what the JSON Schema
says, and the short names of a ConfigMap.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal

from krm_function.api.document import API_VERSION, ConfigDocument, ConfigKind, read_kind
from krm_function.api.gpu_rules import GPUS, GpuRules
from krm_function.api.manifest_options import MANIFEST, ManifestOptions
from krm_function.api.policy_options import POLICY, PolicyOptions
from krm_function.api.volume_rules import VOLUMES, VolumeRules
from krm_function.api.workload_entries import ENTRY, REQUIRED, WorkloadEntry, kind_problems
from krm_function.findings import Finding, Ref
from krm_function.measurement.vcpu_count import MAX_VCPUS
from krm_function.model.labels import DNS_LABEL, LABEL_KEY, LABEL_VALUE, matches_label_key
from krm_function.model.platforms import PLATFORMS
from krm_function.model.pod_kinds import SHIPPED, Kinds
from krm_function.model.pod_template_entries import ENTRIES, KindEntry, kinds_of
from krm_function.model.runtime_class_objects import toleration_problems
from krm_function.record import Annotated, NamedTuple
from krm_function.schema.kinds import (
    Choice,
    Field,
    Flag,
    ListOf,
    MapOf,
    Number,
    OneOrMany,
    Problems,
    Record,
    Text,
    Word,
)
from krm_function.schema.table import EMPTY, only, table

KIND: ConfigKind = "ContrastGenerate"
CALCULATE = "calculate"
GPUS_OF_POD = "gpus"
MINIMUM = (
    "the least that the VM of a confidential pod has, by a cpu limit of the pod as a whole: a number, or gpus for as "
    "many as the pod has GPUs"
)
SHORT = "short"  # the mark of a field that a ConfigMap may set by the name of the map around it
LABEL_KEYS = Text("a label key", LABEL_KEY, 317, matches=matches_label_key)
LABEL_VALUES = Text("a label value", LABEL_VALUE, 63)


def _check_tolerations(tolerations: list[Any]) -> Problems:
    return tuple((problem.path, problem.problem) for problem in toleration_problems(tolerations))


def _enabled(about: str) -> Field:
    return Field(Record({"enabled": Field(Flag(), marks=(SHORT,))}, make=only), about)


TOLERATION = Record(
    {
        "key": Field(LABEL_KEYS, "empty or absent: every key; then operator must be Exists"),
        "operator": Field(Choice(("Equal", "Exists", "")), "empty: Equal", default="Equal"),
        "value": Field(LABEL_VALUES),
        "effect": Field(Choice(("NoSchedule", "PreferNoSchedule", "NoExecute", "")), "empty or absent: every effect"),
        "tolerationSeconds": Field(Number(), "only with effect NoExecute"),
    }
)


class Scheduling(NamedTuple):
    """What the RuntimeClass of one platform says about nodes."""

    node_selector: Annotated[
        Mapping[str, str], Field(MapOf(LABEL_KEYS, LABEL_VALUES), "labels of the nodes that have this platform")
    ] = EMPTY
    tolerations: Annotated[
        tuple[Mapping[str, Any], ...],
        Field(ListOf(TOLERATION, check=_check_tolerations), "for taints of those nodes"),
    ] = ()


SCHEDULING = table(Scheduling)


class Generate(NamedTuple):
    """ContrastGenerate: the options of a render."""

    name: str = "contrast"
    platform: Annotated[  # lower case, for bare placeholders
        str, Field(Choice(tuple(PLATFORMS), fold=True), "what the bare placeholder contrast-cc stands for")
    ] = ""
    initializer: Annotated[bool, _enabled("injects the initializer")] = True
    service_mesh: Annotated[bool, _enabled("injects the service mesh into pods with its annotations")] = True
    image_store: Annotated[bool, _enabled("injects the secure image store")] = False
    scheduling: Annotated[  # by platform
        Mapping[str, Scheduling],
        Field(
            Record({name: Field(SCHEDULING, f"for pods on {name}") for name in PLATFORMS}),
            "goes into the RuntimeClass objects and is checked against every pod",
        ),
    ] = EMPTY
    runtime_classes: Annotated[
        Literal["check", "emit", "off"],
        "check takes them as they are in the input or the cluster; emit adds them to the output",
    ] = "check"
    namespace: Annotated[  # for workloads that name none
        str,
        Field(
            Text("a DNS label", DNS_LABEL, 63),
            "namespace of the Contrast workloads that name none: written into the object, and used in the policy and "
            "the manifest; --namespace on the command line wins",
        ),
    ] = ""
    workloads: Annotated[
        tuple[WorkloadEntry | str, ...],
        Field(
            OneOrMany(Word(REQUIRED, ENTRY)),
            "workloads that are confidential though their pods name no runtimeClassName, and those that are plain on "
            "purpose; with the word required, alone or as an entry, every pod of the input is one or the other",
        ),
    ] = ()
    volumes: Annotated[
        VolumeRules,
        Field(VOLUMES, "rules that rewrite volumes which no confidential pod can have; none is on by itself"),
    ] = VolumeRules()
    gpus: Annotated[GpuRules, Field(GPUS, "names of GPUs")] = GpuRules()
    vcpus: Annotated[  # 0 for no rule
        int | Literal["gpus"],
        Field(
            Record({"minimum": Field(Word(GPUS_OF_POD, Number(2, MAX_VCPUS)), MINIMUM, required=True)}, make=only),
            "how many vCPUs VMs have; without it as many as the cpu limits make",
        ),
    ] = 0
    object_annotations: Annotated[
        Literal["refuse", "move"],
        "annotations of Contrast's that stand on a workload instead of its pod template, where nothing reads them: "
        "refuse is an error, move puts them there",
    ] = "refuse"
    memory: Annotated[
        Literal["check", "calculate"],
        "check compares the memory of each VM with what its images take; calculate writes the pod's memory, of its "
        "images and of the limits of its containers, as `contrast generate --calculate-pod-memory` does",
    ] = "check"
    pod_templates: Annotated[
        tuple[KindEntry, ...],
        Field(
            ENTRIES,
            "custom resources whose controllers make pods, and where their pod templates are; in place of what the "
            "shipped catalogue says of the same kind",
        ),
    ] = ()
    policy: Annotated[PolicyOptions, Field(POLICY, "how execution policies are made")] = PolicyOptions()
    manifest: Annotated[ManifestOptions, Field(MANIFEST, "what goes into the manifest beside the policies")] = (
        ManifestOptions()
    )
    mode: Annotated[Literal["render", "check"], "check changes nothing and says what is wrong with rendered output"] = (
        "render"
    )

    @property
    def ref(self) -> Ref:
        """The object, for findings about it."""
        return Ref(API_VERSION, "ContrastGenerate", "", self.name)

    @cached_property
    def kinds(self) -> Kinds:
        """The kinds with pod templates: the eight, the catalogue, and those of this configuration."""
        return Kinds(kinds_of(self.pod_templates, "configuration")) if self.pod_templates else SHIPPED

    @property
    def requires_all(self) -> bool:
        """Whether every pod of the input must be confidential, or named as plain."""
        return REQUIRED in self.workloads


def _check(spec: dict[str, Any]) -> Problems:
    return kind_problems(spec.get("workloads"), [entry["kind"] for entry in spec.get("podTemplates") or ()])


GENERATE = table(Generate, _check)


def parse_generate(document: ConfigDocument) -> tuple[Generate | None, tuple[Finding, ...]]:
    """Read a ContrastGenerate; None when a finding is an error."""
    return read_kind(document, KIND, GENERATE, required=False)
