"""ContrastGenerate: the options of a render."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

from krm_function.config.document import (
    API_VERSION,
    NAMESPACE,
    SUBDOMAIN,
    ConfigDocument,
    ConfigKind,
    load_object,
    read_kind,
)
from krm_function.contrast import manifest
from krm_function.contrast.gpus import gpu_name, is_passable
from krm_function.contrast.manifest import FieldProblem, canonical, decode
from krm_function.contrast.measurement import MAX_VCPUS
from krm_function.contrast.platforms import BARE, PLATFORMS, Platform, placeholder
from krm_function.contrast.profiles import DEFAULT, PROFILES, ProfileName
from krm_function.findings import Finding, Ref, row
from krm_function.kubernetes import image
from krm_function.kubernetes.kinds import CATALOGUED, KINDS
from krm_function.kubernetes.objects import (
    DNS_LABEL,
    LABEL_KEY,
    LABEL_VALUE,
    LONGEST_SUBDOMAIN,
    fits,
    matches_label_key,
)
from krm_function.kubernetes.pod_kinds import ENTRIES, SHIPPED, Kinds, PodKind, kinds_of
from krm_function.kubernetes.runtime_classes import toleration_problems
from krm_function.record import Annotated, NamedTuple
from krm_function.schema.check import nearest
from krm_function.schema.table import EMPTY, only, table
from krm_function.schema.values import (
    Choice,
    Field,
    Flag,
    JsonObject,
    ListOf,
    MapOf,
    Number,
    OneOrMany,
    Path,
    Problems,
    Record,
    Text,
    Word,
)

# --- Reference values of a release or an operator: the manifest's own fields, all optional
#
# Rule: the fields come from the manifest's tables; they are not repeated here.


NEEDED: Mapping[str, tuple[str, ...]] = {"snp": ("ProductName", "TrustedMeasurement"), "tdx": ("MrTd", "Rtmrs")}


def released(platform: Platform) -> Record:
    """Return the reference values of one platform in a release: `{snp: [...]}` or `{tdx: [...]}`."""
    tee = platform.tee
    about = f"{platform.marker}, which is also what is meant when it is left out"
    fields = {**manifest.ENTRIES[tee].fields, "Platform": Field(Choice((platform.marker,)), about)}
    fields |= {name: fields[name]._replace(required=True) for name in NEEDED[tee]}

    def check(values: dict[str, Any]) -> Problems:
        from krm_function.contrast.manifest_merge import check_selectors

        entries = [{**entry, "Platform": platform.marker} for entry in values.get(tee, ())]
        return tuple((problem.path, problem.problem) for problem in check_selectors(tee, entries))

    return Record({tee: Field(ListOf(Record(fields)), "one entry for each product", required=True)}, check)


def operated(tee: str) -> Record:
    """Return what an operator sets in the entries of a platform or TEE; ProductName limits it to one product."""
    return Record({name: field for name, field in manifest.ENTRIES[tee].fields.items() if name != "Platform"})


# --- The manifest in `spec.manifest.base`: as a map, as JSON, in a ConfigMap, or named by `{configMap: NAME}`
#
# Rule: it recognises a manifest by the types of its fields; the values are validated later.


def load_manifest(text: str) -> dict[str, Any]:
    """Read a manifest. Raises ValueError with a problem text."""
    return decode(text.encode())


def manifest_in(value: dict[str, Any]) -> dict[str, Any]:
    """Return the manifest of a ConfigMap object; any other map unchanged. Raises ValueError with a problem text."""
    if value.get("kind") != "ConfigMap":
        return value
    data = value.get("data")
    text = data.get("manifest.json") if isinstance(data, dict) else None
    if not isinstance(text, str):
        raise ValueError("is a ConfigMap without the key manifest.json")  # noqa: TRY004 (about the object)
    return load_manifest(text)


def names_config_map(value: Mapping[str, Any]) -> bool:
    """Tell whether a base is `{configMap: NAME}`: the manifest of a ConfigMap among the resources."""
    return set(value) == {"configMap"} and isinstance(value["configMap"], str)


def manifest_problem(value: dict[str, Any]) -> str:
    """Return why a map is not a manifest at all, or ""."""
    if names_config_map(value):
        return ""
    try:
        canonical(manifest_in(value))
    except FieldProblem as fault:
        return f"is no manifest: {fault}"
    except ValueError as problem:
        return str(problem)
    return ""


# --- `manifest` of ContrastGenerate: the manifest's content beside the policies, and how it is emitted
#
# Rule: a base is kept as the manifest that it contains, in whatever form it was written; its values are checked when
# the manifest is made.


LONGEST_PEM = 16 * 1024
NOTE = r"(?:\s*[A-Za-z0-9][A-Za-z0-9@._+, -]{0,120}\r?\n)?"  # name and date of a key (contrast/owner_keys.py)
PEM = r"\s*-----BEGIN {0}-----\s[A-Za-z0-9+/=\s]+-----END {0}-----\s*"
PART = "[!-.0-~]"  # of a name: printable, without a slash


def _key_spec(types: str, kind: str) -> Text:
    return Text(
        f"a public {kind} key in PEM, never a private one",
        NOTE + PEM.format(types),
        LONGEST_PEM,
        "-----BEGIN PUBLIC KEY-----...",
    )


def _make_entries(**values: list[Any]) -> Mapping[str, tuple[Any, ...]]:
    return {name: tuple(entries) for name, entries in values.items()}


# In the order in which they apply: values for a platform override values for its TEE.
REFERENCE_VALUES = Record(
    {
        **{tee: Field(OneOrMany(operated(tee)), f"for all {tee} entries") for tee in ("snp", "tdx")},
        **{
            name: Field(OneOrMany(operated(platform.tee)), f"for entries of {platform.marker}")
            for name, platform in PLATFORMS.items()
        },
    },
    make=_make_entries,
)


SAN = Text("a DNS name, IP address or URI, and not *, which every workload has", r"\**[!-)+-~][!-~]*", 2048)


class WorkloadPolicy(NamedTuple):
    """The operator's additions to one workload's manifest entry."""

    sans: Annotated[tuple[str, ...], Field(ListOf(SAN))] = ()


class Coordinator(NamedTuple):
    """The workload that is the coordinator."""

    namespace: Annotated[str, Field(NAMESPACE)]
    kind: Annotated[str, Field(Choice(tuple(KINDS)))]
    name: Annotated[str, Field(SUBDOMAIN)]

    @property
    def key(self) -> str:
        """`StatefulSet/shop/coordinator`."""
        return f"{self.kind}/{self.namespace}/{self.name}"


class SharedSecret(NamedTuple):
    """A WorkloadSecretID, and the workloads that may have it: `Deployment/shop/web`."""

    id: Annotated[str, Field(Text("a workload secret ID"), "the annotation workload-secret-id")]
    workloads: Annotated[
        tuple[str, ...],
        Field(
            ListOf(Text("KIND/NAMESPACE/NAME", f"{PART}+/{PART}+/{PART}+", 512, "Deployment/shop/web")),
            "all that may have this secret, also those of other releases",
        ),
    ]


def _check_once(secrets: list[Any]) -> Problems:
    ids = [secret["id"] for secret in secrets]
    return tuple(((index, "id"), "is there twice") for index, name in enumerate(ids) if name in ids[:index])


class ManifestOptions(NamedTuple):
    """The manifest's content beside the policies, and how it is emitted."""

    emit: Annotated[Literal["ConfigMap", "LocalConfig", "none"], "how the manifest is emitted", "short"] = "ConfigMap"
    name: Annotated[str, Field(SUBDOMAIN, "of that object")] = "contrast-manifest"
    base: Annotated[  # a decoded manifest
        Mapping[str, Any] | None,
        Field(
            JsonObject(
                "a manifest: a map, a JSON object, a ConfigMap, or {configMap: NAME}", load_manifest, manifest_problem
            ),
            "a manifest whose entries are kept",
        ),
    ] = None
    workload_owner_keys: Annotated[  # PEM
        tuple[str, ...], Field(ListOf(_key_spec("PUBLIC KEY", "ECDSA")), "who may update the manifest")
    ] = ()
    seedshare_owner_keys: Annotated[  # PEM
        tuple[str, ...], Field(ListOf(_key_spec("(?:RSA )?PUBLIC KEY", "RSA")), "who may recover the coordinator")
    ] = ()
    disable_updates: Annotated[bool, "nobody may update the manifest"] = False
    # Operator's values by platform, e.g. {"metal-qemu-snp": ({"MinimumTCB": {...}},)}; the manifest's own field names.
    # "snp" and "tdx" mean every entry of that kind; a ProductName in an entry limits it to one product.
    reference_values: Annotated[
        Mapping[str, tuple[Mapping[str, Any], ...]],
        Field(
            REFERENCE_VALUES,
            "what only the operator knows, such as MinimumTCB; a list tells products apart by ProductName",
        ),
    ] = EMPTY
    policies: Annotated[  # by name of the workload, or by its key `Deployment/shop/web`
        Mapping[str, WorkloadPolicy],
        Field(
            MapOf(
                Text("a workload's name, or KIND/NAMESPACE/NAME", f"{PART}+(?:/{PART}+/{PART}+)?", 512),
                table(WorkloadPolicy),
            ),
            "by workload: more subject alternative names of its certificate. The key is its name where no other has it,"
            " else KIND/NAMESPACE/NAME, which also allows a workload a name that another one has",
        ),
    ] = EMPTY
    coordinator: Annotated[
        Coordinator | None,
        Field(
            table(Coordinator),
            "the workload that is the coordinator; absent: the one StatefulSet that has the label for it",
        ),
    ] = None
    shared_secrets: Annotated[
        tuple[SharedSecret, ...],
        Field(
            ListOf(table(SharedSecret), check=_check_once),
            "the workload secrets that several workloads may have, or that a workload may take over from another one",
        ),
    ] = ()
    keep: Annotated[
        Literal["none", "previous"],
        "what of base stays beside the new: `previous` keeps policies and reference values of the render before,"
        " so that its pods may restart during a rollout",
    ] = "none"


def _make_options(base: dict[str, Any] | None = None, **values: Any) -> ManifestOptions:
    return ManifestOptions(base=None if base is None else manifest_in(base), **values)


MANIFEST = table(ManifestOptions, make=_make_options)


# --- `gpus` of ContrastGenerate: the rule that renames GPUs to the resources of nodes that pass them to VMs
#
# Rule: this is the user's text. A resource without a rule stays.


LONGEST = 316  # bytes of a qualified name: a domain of 253 and a name of 63
_RESOURCE = r"[a-z0-9.-]+/[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?"


def _check_passable(name: str) -> str:
    return "" if is_passable(name) else "is no GPU that nodes pass to VMs: nvidia.com/pgpu, or nvidia.com/ and a model"


FROM = Text("the name of an extended resource", _RESOURCE, LONGEST, "nvidia.com/gpu")
TO = Text(
    "the name of a GPU that is passed to VMs", r"nvidia\.com/[A-Za-z0-9_]+", LONGEST, "nvidia.com/pgpu", _check_passable
)


def _check_renamed(renamed: dict[str, Any]) -> Problems:
    reason = "is no other GPU, and no part of one, that a rule could rename"
    return tuple(((name,), reason) for name in renamed if gpu_name(name) not in ("other", "part"))


class GpuRules(NamedTuple):
    """rename: resource of the pods -> the new name."""

    rename: Annotated[
        Mapping[str, str],
        Field(
            MapOf(FROM, TO, _check_renamed),
            "GPUs, and parts of them, that the nodes of Contrast's GPU platforms do not offer, and the name that is "
            "written in their place: each becomes a whole GPU of the pod's VM",
        ),
    ] = EMPTY


GPUS = table(GpuRules)


# --- `policy` of ContrastGenerate: how execution policies are made
#
# Rule: these are the types and limits of the user's text; what a policy allows is decided elsewhere.


INITDATA_FILE = r"(?!policy\.rego$)[A-Za-z0-9._-]+"
NAME_PATTERN = "[a-z0-9*](?:[a-z0-9.*-]*[a-z0-9*])?"


def rules_problem(text: str) -> str:
    """Return why a text is not rules, or "": without its package, the guest would deny everything."""
    if not re.search(r"^package agent_policy\b", text, re.MULTILINE):
        return "must be Rego of package agent_policy"
    if re.search(r"^policy_data\b", text, re.MULTILINE):
        return "holds policy_data, so it is a whole policy and not the rules alone"
    return ""


def _check_name(source: dict[str, Any]) -> Problems:
    if (source.get("name") is None) == (source.get("namePattern") is None):
        return (((), "needs either name or namePattern"),)
    return ()


def _find_pattern_problem(text: str) -> str:
    return "" if re.search("[a-z0-9]", text) else "stands for every name; write a part of the names"


class ExternalSource(NamedTuple):
    """ConfigMaps or Secrets that only the cluster has: variables from there may have any value.

    name or name_pattern: the other one is "". namespace: "" for the workload's. keys: () for all that env names.
    variables: the names that they may have in a container, () for any.
    """

    kind: Annotated[Literal["Secret", "ConfigMap"], ""]
    namespace: Annotated[str, Field(NAMESPACE, "absent: that of the workload")] = ""
    name: Annotated[str, Field(SUBDOMAIN, "of the object")] = ""
    name_pattern: Annotated[  # as model.glob_pattern reads it
        str,
        Field(
            Text("a name with * for any text", NAME_PATTERN, LONGEST_SUBDOMAIN, "db-*", _find_pattern_problem),
            "of the whole name, in place of name; * stands for any text",
        ),
    ] = ""
    keys: Annotated[
        tuple[str, ...],
        Field(
            ListOf(Text("a key of a ConfigMap or Secret", "[-._a-zA-Z0-9]+", 253)),
            "the keys that are meant; absent: each that env of a pod names, and none for envFrom",
        ),
    ] = ()
    variables: Annotated[
        tuple[str, ...],
        Field(
            ListOf(Text("a name of a variable", "[^=\\0]+", 253)),
            "the names that a variable from there may have, the prefix of envFrom included; absent: any",
        ),
    ] = ()


PROFILE = Field(
    Choice(tuple(PROFILES)),
    "; ".join(f"{profile.name}: {profile.means}" for profile in PROFILES.values())
    + "; absent: the profile of the release",
    default=DEFAULT.name,  # the profile of every known release
)


def _find_empty_commands(commands: list[Any]) -> Problems:
    return tuple(((index,), "is empty; write a program") for index, command in enumerate(commands) if not command)


class RequestRules(NamedTuple):
    """What the host may ask of a running pod. logs: "" and exec: None for what the settings of the policies allow."""

    logs: Annotated[
        Literal["allow", "deny", ""], Field(Choice(("allow", "deny")), "whether the host may read output")
    ] = ""
    exec: Annotated[
        tuple[tuple[str, ...], ...] | None,
        Field(
            ListOf(ListOf(Text("a word of a command")), check=_find_empty_commands),
            "the only commands, beside those of probes and hooks, that the host may run in containers, each whole: "
            "a program and all its arguments",
        ),
    ] = None


class PolicyOptions(NamedTuple):
    """How execution policies are made.

    profile: None for the release's. rules: Rego text, None for the project's own. settings: see policy.settings.
    initdata: file name -> file text.
    """

    engine: Annotated[Literal["native", "none"], "none leaves the initdata annotation alone", "short"] = "native"
    profile: Annotated[ProfileName | None, PROFILE] = None
    rules: Annotated[
        str | None, Field(Text("Rego rules", check=rules_problem), "rules in place of the project's own")
    ] = None
    settings: Annotated[
        Mapping[str, Any] | None,
        Field(JsonObject("a map or a JSON object", load_object), "settings in place of the release's"),
    ] = None
    initdata: Annotated[
        Mapping[str, str],
        Field(
            MapOf(Text("a file name other than policy.rego", INITDATA_FILE, 253), Text("the text of a file")),
            "more files for the guest, such as aa.toml, cdh.toml or imagepuller.toml; part of every policy digest",
        ),
    ] = EMPTY
    external_sources: Annotated[
        tuple[ExternalSource, ...],
        Field(
            ListOf(table(ExternalSource, _check_name)),
            "ConfigMaps and Secrets that only the cluster has: the host may give their variables any value",
        ),
    ] = ()
    requests: Annotated[
        RequestRules, Field(table(RequestRules), "what differs from the settings of the release or the profile")
    ] = RequestRules()


POLICY = table(PolicyOptions)


# --- `volumes` of ContrastGenerate: rules that rewrite volumes that no confidential pod can have
#
# Rule: this is the user's text. An absent rule changes nothing. adapt/ has a module for each rule, which defines the
# new volumes and the pods that it refuses.


def image_problem(text: str) -> str:
    """Return the problem of an image reference that matches its pattern, or ""."""
    parsed = image.parse_image(text)
    return "" if isinstance(parsed, image.Image) else f"is not an image reference: {parsed}"


REFERENCE = Text("an image reference", image.REFERENCE, image.LONGEST, "ghcr.io/org/name:tag", image_problem)
PINNED = Text(
    "an image pinned by digest",
    image.PINNED,
    image.LONGEST,
    "ghcr.io/org/name:tag@sha256:<64 hex digits>",
    image_problem,
    matches=image.is_pinned,
)


DIVIDE = "divideSizeLimit"
LONGEST_PATH = 4095  # bytes, without the end (limits.h(0p), PATH_MAX on Linux)
NO_CACHES = ("dev", "proc", "sys")  # directories of / without caches of programs


class VolumeRules(NamedTuple):
    """The active rules. split_sub_paths: with DIVIDE, a sizeLimit is divided among the new volumes.

    secure_claims: names of claims, * for any text. cache_paths: paths of hostPath volumes. owner_image: of the init
    container that gives encrypted volumes to their pod's fsGroup, "" for none.
    """

    split_sub_paths: bool | Literal["divideSizeLimit"] = False
    secure_claims: tuple[str, ...] = ()
    image_volumes: bool = False
    cache_paths: tuple[str, ...] = ()
    owner_image: str = ""

    @property
    def names_something(self) -> bool:
        """Whether a rule has names, all of which the input has to contain."""
        return bool(self.secure_claims or self.cache_paths)


def _find_path_problem(path: str) -> str:
    parts = path.strip("/").split("/")
    if {"", ".", ".."}.intersection(parts):
        return "must be a path without empty parts, . and .."
    return "is no place for a cache" if parts[0] in NO_CACHES else ""


def _make_volume_rules(
    splitSubPaths: bool | Literal["divideSizeLimit"] = False,  # noqa: N803 (fields of the document)
    securePV: dict[str, Any] | None = None,  # noqa: N803
    imageVolumes: str = "",  # noqa: N803
    hostPathCaches: list[str] | None = None,  # noqa: N803
) -> VolumeRules:
    rule = securePV or {}
    claims, caches = tuple(rule.get("claims", ())), tuple(hostPathCaches or ())
    return VolumeRules(splitSubPaths, claims, bool(imageVolumes), caches, rule.get("image", ""))


def _check_owner(rule: dict[str, Any]) -> Problems:
    return (((), "needs both owner and image, or neither"),) if ("owner" in rule) != ("image" in rule) else ()


CLAIM_NAME = Text("a name with * for any text", NAME_PATTERN, LONGEST_SUBDOMAIN, "data")  # as model.glob_pattern reads
CACHE_PATH = Text("an absolute path", r"/[^\0\r\n]+", LONGEST_PATH, "/models", _find_path_problem)


def _list_field(name: str, items: Text, about: str, check: Any = None, make: Any = only, **siblings: Field) -> Record:
    return Record({name: Field(ListOf(items), about, required=True), **siblings}, check, make=make)


VOLUMES = Record(
    {
        "splitSubPaths": Field(
            Word((DIVIDE,), Flag()),
            "an emptyDir that is mounted by subPath only becomes one emptyDir for each subPath; with divideSizeLimit "
            "its sizeLimit is divided among them, else one is an error",
            default=False,
        ),
        "securePV": Field(
            _list_field(
                "claims",
                CLAIM_NAME,
                "names of PersistentVolumeClaims, of volumeClaimTemplates, or of the volumes of pods that name a claim;"
                " one that names none is an error",
                _check_owner,
                make=dict,
                owner=Field(
                    Choice(("fsGroup",)),
                    "gives the volume to the fsGroup of its pod, by an init container that runs as root",
                ),
                image=Field(PINNED, "the image of that init container, with /bin/sh, chgrp and chmod"),
            ),
            "claims that become encrypted volumes: Contrast's annotation secure-pv, and volumeMode Block in the claim",
        ),
        "imageVolumes": Field(
            Choice(("emptyDir",)),
            "an emptyDir at each VOLUME of an image that no volumeMount covers; it does not have the image's files",
        ),
        "hostPathCaches": Field(
            _list_field(
                "paths",
                CACHE_PATH,
                "paths of hostPath volumes of type DirectoryOrCreate or of none; one that names none is an error",
            ),
            "caches on the node that become an emptyDir of each pod",
        ),
    },
    make=_make_volume_rules,
)


# --- `workloads` of ContrastGenerate: which pod templates of the input are confidential, and which are plain on
# purpose
#
# Rule: this is the user's text, and the match of entries and objects. Only kind, namespace and name decide: nothing
# else that an author of the input writes makes an entry match, or prevents a match.


REQUIRED = "required"
OPTIONAL = "optional"
OBJECT_KIND = Text("a kind, such as Deployment", "[A-Z][A-Za-z0-9]*", 63)
NAME = Text("a name with * for any text", NAME_PATTERN, LONGEST_SUBDOMAIN, "web-*")  # as model.glob_pattern reads it
REASON = Text("a reason, on one line", r"\S(?:[^\r\n]*\S)?", 300, "reads host metrics")


class WorkloadEntry(NamedTuple):
    """An entry that names workloads. namespace: "" for any. platform: "" for the bare placeholder.

    plain: the reason to run outside of a VM, "" for confidential workloads. optional: the input may lack them.
    """

    kind: Annotated[str, Field(OBJECT_KIND, "of the object")]
    name: Annotated[str, Field(NAME, "of the whole name; * stands for any text")]
    namespace: Annotated[str, Field(NAMESPACE, "absent: any, none included")] = ""
    platform: Annotated[
        str, Field(Choice(tuple(PLATFORMS), fold=True), "absent: the bare placeholder contrast-cc, as pods write it")
    ] = ""
    plain: Annotated[str, Field(REASON, "why they are not confidential; in place of platform")] = ""
    optional: Annotated[
        bool,
        Field(Flag(), "the input may lack them, such as a hook of a chart, which Helm 3 passes to no post-renderer"),
    ] = False

    @property
    def placeholder(self) -> str:
        """The runtimeClassName of its pods, "" for plain ones."""
        if self.plain:
            return ""
        return placeholder(PLATFORMS[self.platform]) if self.platform else BARE

    @property
    def text(self) -> str:
        """The entry in a sentence: what it names."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


Workloads = Sequence[WorkloadEntry | str]
"""The value of `spec.workloads`: entries, and the words `required` or `optional`."""


def _check_workload(entry: dict[str, Any]) -> Problems:
    if entry.get("plain") is not None and entry.get("platform") is not None:
        return (((), "has a platform and is plain; leave one of the two out"),)
    return ()


def kind_problems(workloads: Any, configured: Iterable[str]) -> Problems:
    """Return the entries with kinds whose pods are never sealed. configured: kinds of spec.podTemplates."""
    kinds = (*KINDS, *CATALOGUED, *configured)
    problems: list[tuple[Path, str]] = []
    entries = workloads if isinstance(workloads, list) else [workloads]
    for index, entry in enumerate(entries):
        if not isinstance(entry, dict) or entry.get("plain") is not None or entry["kind"] in kinds:
            continue
        near = nearest(entry["kind"], kinds)
        path = ("workloads", index, "kind") if isinstance(workloads, list) else ("workloads", "kind")
        remedy = f"did you mean {near}?" if near else f"{', '.join(KINDS)}, and those of spec.podTemplates"
        problems.append((path, f"is no kind whose pods are sealed: {remedy}"))
    return tuple(problems)


ENTRY = table(WorkloadEntry, _check_workload)


def names(entry: WorkloadEntry, ref: Ref, namespace: str) -> bool:
    """Tell whether an entry names an object. namespace: for an object that names none, "" for none."""
    return (
        entry.kind == ref.kind
        and entry.namespace in ("", ref.namespace or namespace)
        and bool(ref.name)
        and fits(entry.name, ref.name)
    )


def naming(workloads: Workloads, ref: Ref, namespace: str) -> list[tuple[int, WorkloadEntry]]:
    """Return the entries that name an object, each with its position."""
    return [
        (index, entry)
        for index, entry in enumerate(workloads)
        if not isinstance(entry, str) and names(entry, ref, namespace)
    ]


# --- `acknowledged` of ContrastGenerate: warnings that the reviewers accept
#
# Rule: only a warning can be acknowledged, by its code and object. Config.report applies the entries.


def _check_code(entry: dict[str, Any]) -> Problems:
    try:
        severity = row(entry["code"]).severity
    except KeyError:
        return ((("code",), "is no code of a finding"),)
    return () if severity == "warning" else ((("code",), f"is the code of an {severity}, not of a warning"),)


class Acknowledged(NamedTuple):
    """A warning that the reviewers accept. kind, name, namespace: of its object, "" for any."""

    code: Annotated[str, Field(Text("a code, such as CC0843", r"CC\d{4}", 6, "CC0843"))]
    reason: Annotated[str, Field(REASON, "why it is acceptable")]
    kind: Annotated[str, Field(OBJECT_KIND, "of the object; absent: any, none included")] = ""
    name: Annotated[str, Field(NAME, "of the object, * for any text; absent: any")] = ""
    namespace: Annotated[str, Field(NAMESPACE, "of the object; absent: any")] = ""

    def covers(self, problem: Finding) -> bool:
        """Tell whether a finding is this warning, about an object that the entry names."""
        ref = problem.ref or Ref("", "", "", "")
        return (
            self.code == problem.code
            and self.kind in ("", ref.kind)
            and self.namespace in ("", ref.namespace)
            and (not self.name or fits(self.name, ref.name))
        )


# --- ContrastGenerate: the options of a render
#
# Rule: a field is declared once, in the record; `table` derives from it the reader, the JSON Schema, and the short
# names of a ConfigMap.


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


def _enabled_field(about: str) -> Field:
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
    """The scheduling fields of one platform's RuntimeClass."""

    node_selector: Annotated[
        Mapping[str, str], Field(MapOf(LABEL_KEYS, LABEL_VALUES), "labels of the nodes that have this platform")
    ] = EMPTY
    tolerations: Annotated[
        tuple[Mapping[str, Any], ...],
        Field(ListOf(TOLERATION, check=toleration_problems), "for taints of those nodes"),
    ] = ()


SCHEDULING = table(Scheduling)


class Generate(NamedTuple):
    """ContrastGenerate: the options of a render."""

    name: str = "contrast"
    platform: Annotated[  # lower case, for bare placeholders
        str, Field(Choice(tuple(PLATFORMS), fold=True), "what the bare placeholder contrast-cc stands for")
    ] = ""
    initializer: Annotated[bool, _enabled_field("injects the initializer")] = True
    service_mesh: Annotated[bool, _enabled_field("injects the service mesh into pods with its annotations")] = True
    image_store: Annotated[bool, _enabled_field("injects the secure image store")] = False
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
            OneOrMany(Word((REQUIRED, OPTIONAL), ENTRY)),
            "workloads that are confidential though their pods name no runtimeClassName, and those that are plain on "
            "purpose; with the word required, alone or as an entry, every pod of the input is one or the other; with "
            "optional, an input may have pods none of which is confidential",
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
            Record({"minimum": Field(Word((GPUS_OF_POD,), Number(2, MAX_VCPUS)), MINIMUM, required=True)}, make=only),
            "how many vCPUs VMs have; without it as many as the cpu limits make",
        ),
    ] = 0
    object_annotations: Annotated[
        Literal["refuse", "move"],
        "Contrast's annotations on a workload instead of its pod template, and the coordinator's role as an annotation "
        "instead of a label: refuse is an error, move puts them where Contrast reads them",
    ] = "refuse"
    memory: Annotated[
        Literal["check", "calculate"],
        "check compares the memory of each VM with what its images take; calculate writes the pod's memory, of its "
        "images and of the limits of its containers, as `contrast generate --calculate-pod-memory` does",
    ] = "check"
    pod_templates: Annotated[
        tuple[PodKind, ...],
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
    warnings: Annotated[
        Literal["report", "error"],
        "error: a warning that is not acknowledged is an error, as with --warnings-as-errors",
    ] = "report"
    acknowledged: Annotated[
        tuple[Acknowledged, ...],
        Field(
            ListOf(table(Acknowledged, _check_code)), "warnings that the reviewers accept; a plan shows them as CC0294"
        ),
    ] = ()
    mode: Annotated[Literal["render", "check"], "check changes nothing and says what is wrong with rendered output"] = (
        "render"
    )

    @property
    def ref(self) -> Ref:
        """The object, for findings about it."""
        return Ref(API_VERSION, "ContrastGenerate", "", self.name)

    @cached_property
    def kinds(self) -> Kinds:
        """The kinds with pod templates: the eight, the catalogue, and this configuration's own."""
        return Kinds(kinds_of(self.pod_templates, "configuration")) if self.pod_templates else SHIPPED

    @property
    def requires_all(self) -> bool:
        """Whether every pod of the input must be confidential, or named as plain."""
        return REQUIRED in self.workloads

    @property
    def requires_one(self) -> bool:
        """Whether an input with pods must have a confidential one, unless entries name all of them as plain."""
        return OPTIONAL not in self.workloads


def _check_spec(spec: dict[str, Any]) -> Problems:
    workloads = spec.get("workloads")
    if isinstance(workloads, list) and REQUIRED in workloads and OPTIONAL in workloads:
        return ((("workloads",), f"has both {REQUIRED} and {OPTIONAL}; leave one of the two out"),)
    return kind_problems(spec.get("workloads"), [entry["kind"] for entry in spec.get("podTemplates") or ()])


GENERATE = table(Generate, _check_spec)


def parse_generate(document: ConfigDocument) -> tuple[Generate | None, tuple[Finding, ...]]:
    """Read a ContrastGenerate; None if a finding is an error."""
    return read_kind(document, KIND, GENERATE, required=False)
