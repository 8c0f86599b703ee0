"""ContrastGenerate: the options of a render, as a table of fields, and from a document to the record.

Rule of this file: the table holds types and limits; the defaults are those of the record `Generate` in records.py.
"""

import re
from collections.abc import Mapping
from typing import Any

from krm_function.api.base_manifest import load_manifest, manifest_in, manifest_problem
from krm_function.api.document import ConfigDocument, ConfigKind, read_body
from krm_function.api.records import (
    Coordinator,
    ExternalSource,
    Generate,
    ManifestOptions,
    PolicyOptions,
    Scheduling,
    SharedSecret,
    WorkloadPolicy,
)
from krm_function.api.reference_values import operated
from krm_function.api.strict_json import load_object
from krm_function.findings import Finding, has_errors
from krm_function.model.kinds import KINDS
from krm_function.model.labels import DNS_LABEL, DNS_SUBDOMAIN, LABEL_KEY, LABEL_VALUE, LONGEST_SUBDOMAIN
from krm_function.model.platforms import PLATFORMS
from krm_function.model.profiles import DEFAULT, PROFILES
from krm_function.model.runtime_class_objects import toleration_problems
from krm_function.schema.kinds import (
    Choice,
    Field,
    Flag,
    JsonObject,
    ListOf,
    MapOf,
    Number,
    OneOrMany,
    Problems,
    Record,
    Text,
)

KIND: ConfigKind = "ContrastGenerate"
LONGEST_PEM = 16 * 1024
INITDATA_FILE = r"(?!policy\.rego$)[A-Za-z0-9._-]+"

PEM = r"\s*-----BEGIN {0}-----\s[A-Za-z0-9+/=\s]+-----END {0}-----\s*"
LONGEST_LABEL = 63
NAME_PATTERN = "[a-z0-9*](?:[a-z0-9.*-]*[a-z0-9*])?"
LABEL_KEYS = Text("a label key", LABEL_KEY, 317)
LABEL_VALUES = Text("a label value", LABEL_VALUE, 63)


def _enabled(about: str, *, default: bool) -> Field:
    return Field(Record({"enabled": Field(Flag(), default=default)}), about)


def _key(types: str, kind: str) -> Text:
    return Text(
        f"a public {kind} key in PEM, never a private one",
        PEM.format(types),
        LONGEST_PEM,
        "-----BEGIN PUBLIC KEY-----...",
    )


def _check_tolerations(tolerations: list[Any]) -> Problems:
    return tuple((problem.path, problem.problem) for problem in toleration_problems(tolerations))


def rules_problem(text: str) -> str:
    """Return what keeps a text from being rules, or "": the guest would deny everything for want of its package."""
    if not re.search(r"^package agent_policy\b", text, re.MULTILINE):
        return "must be Rego of package agent_policy"
    if re.search(r"^policy_data\b", text, re.MULTILINE):
        return "holds policy_data, so it is a whole policy and not the rules alone"
    return ""


TOLERATION = Record(
    {
        "key": Field(LABEL_KEYS, "empty or absent: every key; then operator must be Exists"),
        "operator": Field(Choice(("Equal", "Exists", "")), "empty: Equal", default="Equal"),
        "value": Field(LABEL_VALUES),
        "effect": Field(Choice(("NoSchedule", "PreferNoSchedule", "NoExecute", "")), "empty or absent: every effect"),
        "tolerationSeconds": Field(Number(), "only with effect NoExecute"),
    }
)
SCHEDULING = Record(
    {
        "nodeSelector": Field(MapOf(LABEL_KEYS, LABEL_VALUES), "labels of the nodes that have this platform"),
        "tolerations": Field(ListOf(TOLERATION, check=_check_tolerations), "for taints of those nodes"),
    }
)


def _check_name(source: dict[str, Any]) -> Problems:
    if (source.get("name") is None) == (source.get("namePattern") is None):
        return (((), "needs either name or namePattern"),)
    return ()


def _pattern_problem(text: str) -> str:
    return "" if re.search("[a-z0-9]", text) else "stands for every name; write a part of the names"


EXTERNAL_SOURCE = Record(
    {
        "kind": Field(Choice(("Secret", "ConfigMap")), required=True),
        "namespace": Field(Text("a namespace", DNS_LABEL, LONGEST_LABEL), "absent: that of the workload"),
        "name": Field(Text("a DNS subdomain", DNS_SUBDOMAIN, LONGEST_SUBDOMAIN), "of the object"),
        "namePattern": Field(
            Text("a name with * for any text", NAME_PATTERN, LONGEST_SUBDOMAIN, "db-*", _pattern_problem),
            "of the whole name, in place of name; * stands for any text",
        ),
        "keys": Field(
            ListOf(Text("a key of a ConfigMap or Secret", "[-._a-zA-Z0-9]+", 253)),
            "the keys that are meant; absent: each that env of a pod names, and none for envFrom",
        ),
        "variables": Field(
            ListOf(Text("a name of a variable", "[^=\\0]+", 253)),
            "the names that a variable from there may have, the prefix of envFrom included; absent: any",
        ),
    },
    check=_check_name,
)
POLICY = Record(
    {
        "engine": Field(Choice(("native", "none")), "none leaves the initdata annotation alone", default="native"),
        "profile": Field(
            Choice(tuple(PROFILES)),
            "; ".join(f"{one.name}: {one.means}" for one in PROFILES.values()) + "; absent: the profile of the release",
            default=DEFAULT.name,  # that of every release that is known
        ),
        "rules": Field(Text("Rego rules", check=rules_problem), "rules in place of the project's own"),
        "settings": Field(JsonObject("a map or a JSON object", load_object), "settings in place of the release's"),
        "initdata": Field(
            MapOf(Text("a file name other than policy.rego", INITDATA_FILE, 253), Text("the text of a file")),
            "more files for the guest, such as aa.toml, cdh.toml or imagepuller.toml; part of every policy digest",
        ),
        "externalSources": Field(
            ListOf(EXTERNAL_SOURCE),
            "ConfigMaps and Secrets that only the cluster has: the host may give their variables any value",
        ),
    }
)
# In the order in which they apply: what is said of a platform beats what is said of its TEE.
REFERENCE_VALUES = {tee: Field(OneOrMany(operated(tee)), f"for all {tee} entries") for tee in ("snp", "tdx")} | {
    name: Field(OneOrMany(operated(platform.tee)), f"for entries of {platform.marker}")
    for name, platform in PLATFORMS.items()
}
PART = "[!-.0-~]"  # of a name: printable, and no slash
COORDINATOR = Record(
    {
        "namespace": Field(Text("a namespace", DNS_LABEL, LONGEST_LABEL), required=True),
        "kind": Field(Choice(tuple(KINDS)), required=True),
        "name": Field(Text("a DNS subdomain", DNS_SUBDOMAIN, LONGEST_SUBDOMAIN), required=True),
    }
)
SHARED_SECRET = Record(
    {
        "id": Field(Text("a workload secret ID"), "the annotation workload-secret-id", required=True),
        "workloads": Field(
            ListOf(Text("KIND/NAMESPACE/NAME", f"{PART}+/{PART}+/{PART}+", 512, "Deployment/shop/web")),
            "all that may have this secret, also those of other releases",
            required=True,
        ),
    }
)


def _check_once(secrets: list[Any]) -> Problems:
    ids = [secret["id"] for secret in secrets]
    return tuple(((index, "id"), "is there twice") for index, one in enumerate(ids) if one in ids[:index])


MANIFEST = Record(
    {
        "emit": Field(Choice(("ConfigMap", "LocalConfig", "none")), "how the manifest is emitted", default="ConfigMap"),
        "name": Field(
            Text("a DNS subdomain", DNS_SUBDOMAIN, LONGEST_SUBDOMAIN), "of that object", default="contrast-manifest"
        ),
        "base": Field(
            JsonObject(
                "a manifest: a map, a JSON object, a ConfigMap, or {configMap: NAME}", load_manifest, manifest_problem
            ),
            "a manifest whose entries are kept",
        ),
        "workloadOwnerKeys": Field(ListOf(_key("PUBLIC KEY", "ECDSA")), "who may update the manifest"),
        "seedshareOwnerKeys": Field(ListOf(_key("(?:RSA )?PUBLIC KEY", "RSA")), "who may recover the coordinator"),
        "disableUpdates": Field(Flag(), "nobody may update the manifest", default=False),
        "referenceValues": Field(
            Record(REFERENCE_VALUES),
            "what only the operator knows, such as MinimumTCB; a list tells products apart by ProductName",
        ),
        "policies": Field(
            MapOf(
                Text("a workload's name, or KIND/NAMESPACE/NAME", f"{PART}+(?:/{PART}+/{PART}+)?", 512),
                Record({"sans": Field(ListOf(Text("a DNS name, IP address or URI", "[!-~]+", 2048)))}),
            ),
            "by workload: more subject alternative names of its certificate. The key is its name where no other has it,"
            " else KIND/NAMESPACE/NAME, which also allows a workload a name that another one has",
        ),
        "coordinator": Field(
            COORDINATOR, "the workload that is the coordinator; absent: the one StatefulSet that has the label for it"
        ),
        "sharedSecrets": Field(
            ListOf(SHARED_SECRET, check=_check_once),
            "the workload secrets that several workloads may have, or that a workload may take over from another one",
        ),
    }
)
GENERATE = Record(
    {
        "platform": Field(Choice(tuple(PLATFORMS), fold=True), "what the bare placeholder contrast-cc stands for"),
        "initializer": _enabled("injects the initializer", default=True),
        "serviceMesh": _enabled("injects the service mesh into pods with its annotations", default=True),
        "imageStore": _enabled("injects the secure image store", default=False),
        "scheduling": Field(
            Record({name: Field(SCHEDULING, f"for pods on {name}") for name in PLATFORMS}),
            "goes into the RuntimeClass objects and is checked against every pod",
        ),
        "runtimeClasses": Field(
            Choice(("check", "emit", "off")),
            "check takes them as they are in the input or the cluster; emit adds them to the output",
            default="check",
        ),
        "namespace": Field(
            Text("a DNS label", DNS_LABEL, 63),
            "namespace of the Contrast workloads that name none: written into the object, and used in the policy and "
            "the manifest; --namespace on the command line wins",
        ),
        "policy": Field(POLICY, "how execution policies are made"),
        "manifest": Field(MANIFEST, "what goes into the manifest beside the policies"),
        "mode": Field(
            Choice(("render", "check")),
            "check changes nothing and says what is wrong with rendered output",
            default="render",
        ),
    }
)


def parse_generate(document: ConfigDocument) -> tuple[Generate | None, tuple[Finding, ...]]:
    """Read a ContrastGenerate; None when a finding is an error."""
    body = read_body(document, KIND, GENERATE, required=False)
    if has_errors(body.findings):
        return None, body.findings
    spec, default = body.spec, Generate()
    made = Generate(
        name=body.name,
        mode=spec.get("mode", default.mode),
        platform=spec.get("platform", default.platform),
        initializer=spec.get("initializer", {}).get("enabled", default.initializer),
        service_mesh=spec.get("serviceMesh", {}).get("enabled", default.service_mesh),
        image_store=spec.get("imageStore", {}).get("enabled", default.image_store),
        scheduling={
            name: Scheduling(part.get("nodeSelector", {}), tuple(part.get("tolerations", ())))
            for name, part in spec.get("scheduling", {}).items()
        },
        runtime_classes=spec.get("runtimeClasses", default.runtime_classes),
        policy=_policy(spec.get("policy", {})),
        manifest=_manifest(spec.get("manifest", {})),
        namespace=spec.get("namespace", default.namespace),
    )
    return made, body.findings


def _policy(spec: Mapping[str, Any]) -> PolicyOptions:
    sources = tuple(
        ExternalSource(
            entry["kind"],
            entry.get("name", ""),
            entry.get("namePattern", ""),
            entry.get("namespace", ""),
            tuple(entry.get("keys", ())),
            tuple(entry.get("variables", ())),
        )
        for entry in spec.get("externalSources", ())
    )
    plain = {name: value for name, value in spec.items() if name != "externalSources"}
    return PolicyOptions(**plain, external_sources=sources)


def _manifest(spec: Mapping[str, Any]) -> ManifestOptions:
    default = ManifestOptions()
    return ManifestOptions(
        emit=spec.get("emit", default.emit),
        name=spec.get("name", default.name),
        base=manifest_in(spec["base"]) if spec.get("base") is not None else None,
        workload_owner_keys=tuple(spec.get("workloadOwnerKeys", ())),
        seedshare_owner_keys=tuple(spec.get("seedshareOwnerKeys", ())),
        disable_updates=spec.get("disableUpdates", default.disable_updates),
        reference_values={
            name: tuple(entries) if isinstance(entries, list) else (entries,)
            for name, entries in spec.get("referenceValues", {}).items()
        },
        policies={
            name: WorkloadPolicy(tuple(entry.get("sans", ()))) for name, entry in spec.get("policies", {}).items()
        },
        coordinator=Coordinator(**spec["coordinator"]) if spec.get("coordinator") else None,
        shared_secrets=tuple(SharedSecret(one["id"], tuple(one["workloads"])) for one in spec.get("sharedSecrets", ())),
    )
