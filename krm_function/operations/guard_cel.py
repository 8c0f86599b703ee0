"""Pieces of CEL, the language of admission policies, that define a confidential pod."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from krm_function.contrast.guarded_namespaces import DOMAIN
from krm_function.contrast.platforms import BARE, LEGACY_BARE, LONGEST_HASH, PLATFORMS
from krm_function.findings import Finding, finding
from krm_function.kubernetes.kinds import CATALOGUED, KINDS, Pattern
from krm_function.kubernetes.objects import LONGEST_SUBDOMAIN
from krm_function.kubernetes.pod_kinds import Kinds, PodKind, of_group, shipped
from krm_function.record import NamedTuple

# --- Write pieces of CEL, the language of ValidatingAdmissionPolicies
#
# Rule: no expression fails where a field is absent, null or of another type, because a failure refuses the request with
# an incomprehensible message. Source: docs/facts/kubernetes.md#validating-admission-policies.


RESERVED = frozenset(
    (
        *("as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop"),
        *("namespace", "null", "package", "return", "true", "var", "void", "while"),
    )
)


def text(value: str) -> str:
    """Write a string."""
    return json.dumps(value)


def texts(values: Iterable[str]) -> str:
    """Write a list of strings."""
    return f"[{', '.join(map(text, values))}]"


def field(value: str, path: Iterable[str]) -> str:
    """Write the optional field of a value, which `.orValue(...)` turns into a value."""
    return value + "".join(
        f".?{step}" if step.isidentifier() and step not in RESERVED else f"[?{text(step)}]" for step in path
    )


def a_list(value: str) -> str:
    """Write an optional value as a list: an empty one if it is not a list."""
    return f"[{value}.orValue([])].map(l, type(l) == list ? l : [])[0]"


def is_text(value: str, condition: str) -> str:
    """Write whether an optional value is a string `t` for which a condition holds."""
    return f'[{value}.orValue("")].exists(t, type(t) == string && {condition})'


def sentence(words: str, *values: str) -> str:
    """Write a sentence with a value in place of each `{}`."""
    first, *rest = words.split("{}")
    parts = [text(first)]
    for value, words_after in zip(values, rest, strict=True):
        parts += [f"string({value})", *([text(words_after)] if words_after else [])]
    return " + ".join(parts)


def listed(values: Iterable[str]) -> str:
    """Write the entries of several lists as one list."""
    return " + ".join(values) or "[]"


# --- Write in CEL what a runtimeClassName means
#
# Rule: `contrast/platforms.py` decides; a real API server confirms each row of its truth table
# (tests/cluster/test_guard.py). The value under test is a string `t`. No class has more characters than LONGEST.


LONGEST = LONGEST_SUBDOMAIN
_PLATFORMS = "|".join(PLATFORMS)
_CONTRAST = rf"^(?s:{LEGACY_BARE}|contrast([^\pL].*)?|contrast(cc|insecure).*)$"
_HANDLER = f"^{BARE}-({_PLATFORMS})-[0-9a-z]{{1,{LONGEST_HASH}}}$"
_NO_HASH = f"^{BARE}-({_PLATFORMS})-gpu[0-9a-z]*$"

IS_CONTRAST = f"(t.size() <= {LONGEST} && t.lowerAscii().trim().matches({text(_CONTRAST)}))"
IS_HANDLER = (
    f"(t.size() <= {LONGEST} && t.lowerAscii().matches({text(_HANDLER)}) && !t.lowerAscii().matches({text(_NO_HASH)}))"
)
IS_UNRESOLVED = f"({IS_CONTRAST} && !{IS_HANDLER})"


# --- Where objects of the catalogue's refused kinds name a runtime class: the paths to the maps that have the field
#
# Rule: a table of the fields in their own documentation; `[]` means each entry of a list, `{}` each value of a map.
# Kinds that name a class only in a text (a podSpecPatch, a profile of an operator) have no row: the guard refuses the
# pods of their controllers instead.


LIST, MAP = "[]", "{}"


def _paths(*written: str) -> tuple[Pattern, ...]:
    return tuple(tuple(path.replace("[]", ".[]").replace("{}", ".{}").split(".")) for path in written)


_RAY = ("headGroupSpec.template.spec", "workerGroupSpecs[].template.spec")
_ROLES = ("TFJob", "tf"), ("XGBoostJob", "xgb"), ("PaddleJob", "paddle"), ("MPIJob", "mpi")
_TRAINED = _paths("spec.template.spec.replicatedJobs[].template.spec.template.spec")

REFUSED_PLACES: Mapping[str, Mapping[str, tuple[Pattern, ...]]] = {
    "apps.nvidia.com": {"NIMService": _paths("spec")},
    "kubeflow.org": {kind: _paths(f"spec.{name}ReplicaSpecs{{}}.template.spec") for kind, name in _ROLES},
    "ray.io": {
        "RayJob": _paths(*(f"spec.rayClusterSpec.{path}" for path in _RAY)),
        "RayService": _paths(*(f"spec.rayClusterConfig.{path}" for path in _RAY)),
    },
    "serving.knative.dev": {
        "Service": _paths("spec.template.spec"),
        "Configuration": _paths("spec.template.spec"),
        "Revision": _paths("spec"),
    },
    "serving.kserve.io": {
        "InferenceService": _paths("spec.predictor", "spec.transformer", "spec.explainer"),
        "ServingRuntime": _paths("spec"),
        "ClusterServingRuntime": _paths("spec"),
        "LLMInferenceService": _paths("spec.template", "spec.worker", "spec.prefill.template", "spec.prefill.worker"),
    },
    "trainer.kubeflow.org": {"TrainingRuntime": _TRAINED, "ClusterTrainingRuntime": _TRAINED},
}


# --- Write in CEL where the pods of an object are, and which requests of an API server are about such objects
#
# Rule: kinds and paths come from `kubernetes/pod_kinds.py`. An API server matches resources, and of a custom resource
# only the kind is known. So the rules match every resource of its group, and the kind decides.
#
#     kind                                    guarded
#     the eight kinds of Kubernetes           yes
#     of the catalogue or spec.podTemplates   yes, in every version
#     refused by the catalogue                if `operations/guard_cel.py` has the places of its classes
#     with a path through two lists           no: CC1370, as CEL cannot make one list of them


Places = Mapping[str, tuple[Pattern, ...]]  # group/Kind -> paths from the object; () is the object itself
Rule = dict[str, Any]
GROUPS = frozenset(entry[0].rpartition("/")[0] for entry in KINDS.values())  # of Kubernetes itself


class Guarded(NamedTuple):
    """The kinds that a guard covers. pods: paths of their pod templates.

    classes: for kinds whose pods are never sealed, paths of the maps that have a runtimeClassName. reasons: why not.
    """

    pods: Places
    classes: Places
    reasons: Mapping[str, str]
    findings: tuple[Finding, ...] = ()


def find_guarded(kinds: Kinds) -> Guarded:
    """Find the pod templates of all kinds, and the refused places."""
    pods: dict[str, tuple[Pattern, ...]] = {
        f"{place[0].rpartition('/')[0]}/{kind}": place[1:] for kind, place in KINDS.items()
    }
    findings = []
    for kind_of_pod in _select_sealed_kinds(kinds):
        kind, group = kind_of_pod.kind, kind_of_pod.group
        paths = dict.fromkeys(
            tuple(step.replace("*", LIST) for step in template.path) for template in kind_of_pod.templates
        )
        deep = [path for path in paths if path.count(LIST) > 1]
        places = (".".join(path).replace(f".{LIST}", "[*]") for path in deep)
        findings += [finding("CC1370", kind=kind, group=group, place=place) for place in places]
        if shallow := tuple(path for path in paths if path not in deep):
            pods[f"{group}/{kind}"] = shallow
    classes: dict[str, tuple[Pattern, ...]] = {}
    reasons: dict[str, str] = {}
    for group, of in REFUSED_PLACES.items():
        for kind, refused_paths in of.items():
            refused = shipped(group, kind)
            if (group, kind) not in kinds.configured and refused is not None and refused.refused:
                classes[f"{group}/{kind}"] = refused_paths
                reasons[f"{group}/{kind}"] = f"{refused.refused}; {refused.instead}"
    return Guarded(pods, classes, reasons, tuple(findings))


def _select_sealed_kinds(kinds: Kinds) -> list[PodKind]:
    """Return the kinds of catalogue and configuration whose pods are sealed, sorted by name."""
    groups = {group for groups in CATALOGUED.values() for group in groups}
    kinds_by_key = {key: pod_kind for group in groups for key, pod_kind in of_group(group).items()}
    kinds_by_key.update(kinds.configured)
    return [pod_kind for _, pod_kind in sorted(kinds_by_key.items()) if not pod_kind.refused]


def maps_at(value: str, places: Places) -> str:
    """Write the list of the maps at the places of an object; the CEL variable `kind` chooses the places."""
    lists = {key: listed(_write_maps(value, path) for path in paths) for key, paths in places.items()}
    return f"({by_kind(lists, '[]')}).filter(p, type(p) == map)"


def by_kind(cases: Mapping[str, str], otherwise: str) -> str:
    """Write the expression for the CEL variable `kind`; kinds with the same one share a case."""
    kinds: dict[str, list[str]] = {}
    for key, expression in cases.items():
        kinds.setdefault(expression, []).append(key)
    written = (f"variables.kind in {texts(keys)} ? {expression} : " for expression, keys in kinds.items())
    return "".join(written) + otherwise


def _write_maps(value: str, path: Pattern) -> str:
    size = next((size for size, step in enumerate(path) if step in (MAP, LIST)), None)
    if size is None:
        return f"[{_write_map(value, path)}]"
    of, below = field(value, path[:size]), path[size + 1 :]
    if path[size] == LIST:
        return f"{a_list(of)}.map(e, {_write_map('e', below)})"
    templates = f"m.map(k, {_write_map('m[k]', below)})"
    return f"[{of}.orValue({{}})].map(m, type(m) == map ? {templates} : [])[0]"


def _write_map(value: str, path: Pattern) -> str:
    return f"{field(value, path)}.orValue({{}})" if path else value


def rules(places: Iterable[str], scope: str = "Namespaced") -> list[Rule]:
    """Return the rules that match requests for objects of these kinds (group/Kind); of pods, new ones only."""
    by_version: dict[str, list[str]] = {}
    for kind, places_of_kind in KINDS.items():
        if kind != "Pod":
            by_version.setdefault(places_of_kind[0], []).append(f"{kind.lower()}s")
    changed = ["CREATE", "UPDATE"]
    custom = sorted({key.partition("/")[0] for key in places} - GROUPS)
    return [
        _rule("", "v1", ["CREATE"], ["pods"]),
        *(
            _rule(version.rpartition("/")[0], version.rpartition("/")[2], changed, sorted(resources))
            for version, resources in by_version.items()
        ),
        *([{**_rule("", "*", changed, ["*"], scope), "apiGroups": custom}] if custom else []),
    ]


def changes_of_pods() -> list[Rule]:
    """Return the rules for what is written into an existing pod; a binding may bring annotations."""
    return [
        _rule("", "v1", ["UPDATE"], ["pods", "pods/ephemeralcontainers"]),
        _rule("", "v1", ["CREATE"], ["pods/binding", "bindings"]),
    ]


def _rule(group: str, version: str, operations: list[str], resources: list[str], scope: str = "Namespaced") -> Rule:
    return {
        "apiGroups": [group],
        "apiVersions": [version],
        "operations": operations,
        "resources": resources,
        "scope": scope,
    }


# --- The form of a ValidatingAdmissionPolicy, and what all policies of a guard have in common
#
# Rule: an expression that fails refuses the request (`failurePolicy: Fail`), and so does one that costs too much; if a
# message cannot be made, the plain sentence counts. Source: docs/facts/kubernetes.md#validating-admission-policies.


Json = dict[str, Any]
API_VERSION = "admissionregistration.k8s.io/v1"
CLASS = "p.?spec.?runtimeClassName"  # of a pod `p`
ACCOUNTS = "system:serviceaccount:kube-system:"  # Kubernetes' controllers make pods of templates that were judged
MANAGER = "system:kube-controller-manager"  # the same, where they have no accounts of their own
USER = "request.userInfo.username"
OF_KUBERNETES = f'({USER}.startsWith("{ACCOUNTS}") || {USER} == "{MANAGER}")'  # no field that an author can write
CONDITIONS = {
    "of-no-controller": f'request.kind.kind == "Pod" || !{OF_KUBERNETES} || '
    "!object.metadata.?ownerReferences.orValue([]).exists(o, o.?controller.orValue(false))",
    "not-on-its-way-out": "!has(object.metadata.deletionTimestamp)",
}


def pod_variables(guarded: Guarded) -> dict[str, str]:
    """Return the variables about an object: its kind, its pods, the earlier pods, and whether they are judged."""
    return {
        "it": "dyn(object)",
        "was": "dyn(oldObject)",
        "kind": 'request.kind.group + "/" + request.kind.kind',
        "pods": maps_at("variables.it", guarded.pods),
        "before": f'request.operation == "CREATE" ? [] : {maps_at("variables.was", guarded.pods)}',
        "judged": 'request.operation == "CREATE" || variables.pods != variables.before '
        '&& (request.resource.resource != "pods" || has(request.subResource))',
    }


def refuse(offenders: str, plain: str, words: str, *values: str) -> Json:
    """Return a validation. offenders: a variable with a list. words: with `{}` for values. plain: if these fail."""
    messages = {"message": plain, "messageExpression": sentence(words, *values)}
    return {"expression": f"variables.{offenders}.size() == 0", **messages, "reason": "Forbidden"}


def policy(
    name: str, matched: Json, variables: Mapping[str, str], validations: Sequence[Json], parameters: Json | None = None
) -> Json:
    """Return a policy. matched: the requests it judges. parameters: the kind of its parameters."""
    spec: Json = {
        "failurePolicy": "Fail",
        **({"paramKind": parameters} if parameters else {}),
        "matchConstraints": matched,
        "matchConditions": [{"name": key, "expression": value} for key, value in CONDITIONS.items()],
        "variables": [{"name": key, "expression": value} for key, value in variables.items()],
        "validations": list(validations),
    }
    metadata = {"name": f"{name}.{DOMAIN}"}
    return {"apiVersion": API_VERSION, "kind": "ValidatingAdmissionPolicy", "metadata": metadata, "spec": spec}


def binding(of: Json, selector: Json | None, *, warn: bool) -> Json:
    """Return the binding that puts a policy into force. selector: of its parameters. warn: it refuses nothing."""
    name = of["metadata"]["name"]
    spec: Json = {"policyName": name, "validationActions": ["Warn", "Audit"] if warn else ["Deny"]}
    if selector is not None:
        spec["paramRef"] = {"selector": {"matchLabels": selector}, "parameterNotFoundAction": "Allow"}
    kind = "ValidatingAdmissionPolicyBinding"
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}
