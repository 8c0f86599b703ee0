"""The admission webhooks that are known to change a pod after it was sealed."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Literal

from krm_function.findings import Ref
from krm_function.kubernetes.kinds import KINDS
from krm_function.kubernetes.objects import dig, mapping, maps, selects
from krm_function.kubernetes.resource import ObjectAt, Resource
from krm_function.kubernetes.workload import Workload
from krm_function.record import NamedTuple
from krm_function.schema.table import EMPTY

# --- The admission webhooks that are known to change a pod after it was sealed, and their triggers
#
# Rule: one table, with its sources in docs/facts/sidecar-injectors.md#requests-for-a-change and
# docs/facts/sidecar-injectors.md#not-looked-up-again. The node refuses a pod that is not as it was sealed, so a pod
# that one of them would change never starts. The pod decides before its namespace; of several keys the first one in the
# table with an answer counts, and of the keys with one prefix each that asks.
#
#     value on the pod                  the namespace           answer
#     one of `off`                      any                     the pod stays as it is
#     one of `on`, or ANY other         any                     it would be changed
#     absent, or not understood         asks for injection      it would be changed
#     absent, or not understood         does not ask            it stays as it is
#
# A variable of a container asks before all of these. For programs that read the object around the pod template, such as
# the Deployment, its keys come before the pod's.


Place = Literal["label", "annotation", "variable"]
Asker = Literal["pod", "namespace", "owner"]
ANY = ("*",)  # every value but those of `off`


class Key(NamedTuple):
    """A label or an annotation, and the values that ask for injection. key: ends with `*` for a prefix."""

    place: Place
    key: str
    on: tuple[str, ...]

    def asks(self, metadata: Mapping[str, Any], off: tuple[str, ...]) -> tuple[str, bool] | None:
        """Return the matching key, and whether it asks (True) or forbids (False); None without an answer."""
        entries = metadata.get(f"{self.place}s")
        forbids = ""
        for key, value in entries.items() if isinstance(entries, dict) else ():
            if key != self.key and not (self.key.endswith("*") and str(key).startswith(self.key[:-1])):
                continue
            if str(value).lower() in off:
                forbids = str(key)
            elif self.on == ANY or str(value).lower() in self.on:
                return str(key), True
        return (forbids, False) if forbids else None


class Injector(NamedTuple):
    """One webhook or controller. pod, namespace: keys that ask for it. off: values that forbid it.

    variables: of containers, which ask for it if the pod has several containers. owner: keys of the object around the
    pod template. opt_out: of a pod, "" for the first key with the first value that forbids it.
    """

    name: str
    pod: tuple[Key, ...]
    off: tuple[str, ...]
    namespace: tuple[Key, ...] = ()
    variables: tuple[str, ...] = ()
    owner: tuple[Key, ...] = ()
    opt_out: str = ""

    @property
    def way_out(self) -> str:
        """What to write into a pod: `the label kuma.io/sidecar-injection: disabled`."""
        if self.opt_out or not self.pod:
            return self.opt_out
        place, key, _ = self.pod[0]
        value = '"false"' if self.off == FALSE else self.off[0]
        return f"the {place} {key}: {value}" if value else f"no {place} {key}"


def _label_key(key: str, *on: str) -> Key:
    return Key("label", key, on or ANY)


def _annotation_key(key: str, *on: str) -> Key:
    return Key("annotation", key, on or ANY)


FALSE, ABSENT = ("false",), ("",)
NAMESPACE_OFF = ("false", "disabled")
_LINKERD = (_annotation_key("linkerd.io/inject", "enabled", "ingress"),)
_KUMA = (_label_key("kuma.io/sidecar-injection", "enabled", "true"),)
_TELEMETRY = (_annotation_key("sidecar.opentelemetry.io/inject"),)
_INSTRUMENTATION = (_annotation_key("instrumentation.opentelemetry.io/inject-*"),)
_JAEGER = (_annotation_key("sidecar.jaegertracing.io/inject"),)
INJECTORS = (
    Injector(
        "Istio",
        (
            _label_key("sidecar.istio.io/inject", "true"),
            _annotation_key("sidecar.istio.io/inject", "true"),
            _label_key("istio.io/rev"),
        ),
        FALSE,
        (_label_key("istio-injection", "enabled"), _label_key("istio.io/rev")),
    ),
    Injector("Linkerd", _LINKERD, ("disabled",), _LINKERD),
    Injector("Kuma", _KUMA, ("disabled", "false"), _KUMA),
    Injector("Consul", (_annotation_key("consul.hashicorp.com/connect-inject", "true"),), FALSE),
    Injector("the Vault agent", (_annotation_key("vault.hashicorp.com/agent-inject", "true", "update"),), FALSE),
    Injector("Dapr", (_annotation_key("dapr.io/enabled", "true"),), FALSE),
    Injector("the OpenTelemetry operator", _TELEMETRY, FALSE, _TELEMETRY),
    Injector(
        "the OpenTelemetry operator's instrumentation",
        _INSTRUMENTATION,
        FALSE,
        _INSTRUMENTATION,
        opt_out='that annotation with the value "false"',
    ),
    Injector("Jaeger", _JAEGER, FALSE, _JAEGER, owner=_JAEGER),
    Injector("Datadog", (_label_key("admission.datadoghq.com/enabled", "true"),), FALSE),
    Injector("Azure's workload identity", (_label_key("azure.workload.identity/use", "true"),), FALSE),
    Injector(
        "GKE's driver for Cloud Storage",
        (_annotation_key("gke-gcsfuse/volumes", "true"),),
        FALSE,
        opt_out='the annotation gke-gcsfuse/volumes: "false", without volumes of that driver',
    ),
    Injector(
        "OpenKruise's order of containers",
        (_annotation_key("apps.kruise.io/container-launch-priority", "ordered"),),
        ABSENT,
        variables=("KRUISE_CONTAINER_PRIORITY",),
        opt_out="no annotation apps.kruise.io/container-launch-priority and no variable KRUISE_CONTAINER_PRIORITY",
    ),
    Injector("Bank-Vaults", (_annotation_key("vault.security.banzaicloud.io/vault-addr"),), ABSENT),
    Injector("1Password's injector", (_annotation_key("operator.1password.io/inject"),), ABSENT),
    Injector(
        "Reloader",
        (),
        FALSE,
        owner=(
            *(_annotation_key(f"{kind}reloader.stakater.com/auto", "true") for kind in ("", "secret.", "configmap.")),
            *(_annotation_key(f"{kind}reloader.stakater.com/reload") for kind in ("secret.", "configmap.")),
            _annotation_key("reloader.stakater.com/search", "true"),
        ),
    ),
    Injector("Keel", (), ("never",), owner=(_annotation_key("keel.sh/policy"), _label_key("keel.sh/policy"))),
)
KEYS = tuple({key.key.rstrip("*") for row in INJECTORS for key in (*row.pod, *row.namespace, *row.owner)})
WORDS = tuple(key.key.rstrip("*") for injector in INJECTORS for key in injector.namespace)
VARIABLES = frozenset(name for injector in INJECTORS for name in injector.variables)


def may_ask(metadata: Mapping[str, Any], variables: Collection[str] = ()) -> bool:
    """Tell whether metadata, or the names of variables, have a key of the table at all, whatever its value is."""
    places = (metadata.get("labels"), metadata.get("annotations"))
    return not VARIABLES.isdisjoint(variables) or any(
        str(key).startswith(KEYS) for entries in places if isinstance(entries, dict) for key in entries
    )


def asking(
    injector: Injector,
    pod: Mapping[str, Any],
    namespace: Mapping[str, Any],
    variables: Collection[str] = (),
    owner: Mapping[str, Any] = EMPTY,
) -> Iterator[tuple[Asker, Place, str]]:
    """Yield what has the key that makes an injector change a pod, its place and the key; at most one.

    pod, namespace, owner: their metadata, `owner` of the object around the pod template. variables: the names in the
    containers of the pod, if it has several.
    """
    for name in injector.variables:
        if name in variables:
            yield "pod", "variable", name
            return
    askers: tuple[tuple[Asker, tuple[Key, ...], Mapping[str, Any], tuple[str, ...]], ...] = (
        ("owner", injector.owner, owner, injector.off),
        ("pod", injector.pod, pod, injector.off),
        ("namespace", injector.namespace, namespace, NAMESPACE_OFF),
    )
    for whose, keys, metadata, off in askers:
        for key in keys:
            answer = key.asks(metadata, off)
            if answer is not None:
                if answer[1]:
                    yield whose, key.place, answer[0]
                return


# --- Objects of an input that change pods: when the cluster creates them, or later
#
# Rule: an object that names or selects a workload asks for the change; one that is about pods in general may make it.
# An unreadable document is reported by the render. Sources: docs/facts/sidecar-injectors.md#objects-that-change-pods.
#
#     object                                                      its change                            answer
#     SidecarSet that may select the pod, and is not paused       adds containers                       asks
#     WorkloadSpread of the workload, with a patch                writes the patch into its pods        asks
#     VerticalPodAutoscaler of a workload with CPU limits         writes other limits: another vCPU     asks
#       the same, Off, RequestsOnly, or without cpu               count than was measured               no
#     ServiceAccount of the pod with a role of AWS                adds variables and a volume           asks
#     Rollout whose workloadRef is the workload                   makes the pods under its own name     asks
#     PodDefault, PodPreset that selects the pod                  adds variables, volumes, containers   asks
#     MutatingAdmissionPolicy, MutatingPolicy,                    any                                   may
#       MutatingWebhookConfiguration for pods
#     Kyverno's Policy and ClusterPolicy that mutate pods         any                                   may
#     Gatekeeper's Assign and its like, for pods                  any                                   may
#
# "For pods" includes the kinds with a pod template.


AWS_ROLE = "eks.amazonaws.com/role-arn"
ROLLBACK = "deprecated.deployment.rollback.to"  # the controller of Deployments puts the named revision back
CHANGING_KINDS = frozenset(
    (
        *("ClusterPolicy", "MutatingAdmissionPolicy", "MutatingPolicy", "MutatingWebhookConfiguration", "Policy"),
        *("PodDefault", "PodPreset", "Rollout", "ServiceAccount", "SidecarSet", "VerticalPodAutoscaler"),
        "WorkloadSpread",
    )
)
GATEKEEPER = "mutations.gatekeeper.sh/"
CHANGING_GROUPS = (
    *("v1", "admissionregistration.k8s.io/", "apps.kruise.io/", "argoproj.io/", "autoscaling.k8s.io/", "kyverno.io/"),
    *("kubeflow.org/", "policies.kyverno.io/", "redhatcop.redhat.io/", GATEKEEPER),
)
POD_KINDS = {*KINDS, "*"}
POD_GROUPS = {*(version.rpartition("/")[0] for version, *_ in KINDS.values()), "*"}
POD_RESOURCES = {*(f"{kind.lower()}s" for kind in KINDS), "*", "*/*"}


class Asking(NamedTuple):
    """An object that asks for a change of a workload. by: the program that makes it."""

    name: str
    by: str
    way_out: str


def find_mutators(resources: Iterable[Resource]) -> list[ObjectAt]:
    """Return the objects of an input that may change pods."""
    return [
        item
        for resource in resources
        if (resource.may_be(CHANGING_KINDS) and (resource.kind != "ServiceAccount" or AWS_ROLE in resource.text))
        or GATEKEEPER in resource.api_version
        for item in resource.objects
        if item.ref.api_version.startswith(CHANGING_GROUPS)
    ]


def asks_of(item: ObjectAt, workload: Workload) -> Asking | None:
    """Return how an object asks for a change of the pods of a workload; None if it does not."""
    spec, ref = mapping(mapping(item.value).get("spec")), item.ref
    match ref.kind:
        case "SidecarSet":
            if dig(spec, ("injectionStrategy", "paused")) is not True and may_select(spec, workload):
                return Asking(f"SidecarSet {ref.name}", "OpenKruise", "add labels that the SidecarSet does not select")
        case "WorkloadSpread":
            has_patch = any("patch" in subset for subset in maps(spec.get("subsets")))
            if has_patch and _targets(ref, spec.get("targetRef"), workload):
                way_out = "remove its patch; a workload of its own can have these fields in its template"
                return Asking(f"WorkloadSpread {ref.name}", "OpenKruise", way_out)
        case "VerticalPodAutoscaler":
            if _targets(ref, spec.get("targetRef"), workload) and _changes_cpu_limits(spec, workload):
                way_out = "set controlledValues: RequestsOnly, or updateMode: 'Off'"
                return Asking(f"VerticalPodAutoscaler {ref.name}", "the autoscaler", way_out)
        case "Rollout":
            if _targets(ref, spec.get("workloadRef"), workload):
                return Asking(f"Rollout {ref.name}", "Argo Rollouts", "move the pod template into the Rollout")
        case "PodDefault" | "PodPreset" if _presets(spec, ref, workload):
            return Asking(f"{ref.kind} {ref.name}", "its webhook", f"remove the labels that the {ref.kind} selects")
        case "ServiceAccount":
            uses = workload.pod_spec.get("serviceAccountName", "default") == ref.name
            if uses and _in_namespace(ref, workload) and dig(item.value, ("metadata", "annotations", AWS_ROLE)):
                way_out = f"remove {AWS_ROLE}, and write the variables and the token's volume into the pod template"
                return Asking(f"ServiceAccount {ref.name}", "AWS's webhook", way_out)
        case _:
            pass
    return None


def may_change_pods(item: ObjectAt) -> bool:
    """Tell whether an object is a policy or a webhook that may change pods in general."""
    spec, ref = mapping(mapping(item.value).get("spec")), item.ref
    if ref.api_version.startswith(GATEKEEPER):
        kinds = [kind for entry in maps(spec.get("applyTo")) for kind in _texts(entry.get("kinds"))]
        return not kinds or not POD_KINDS.isdisjoint(kinds)
    match ref.kind:
        case "MutatingAdmissionPolicy" | "MutatingPolicy":
            return _is_about_pods(mapping(spec.get("matchConstraints")).get("resourceRules"))
        case "MutatingWebhookConfiguration":
            webhooks = maps(mapping(item.value).get("webhooks"))
            return any(_is_about_pods(webhook.get("rules")) for webhook in webhooks)
        case "Policy" | "ClusterPolicy":
            return any("mutate" in rule and _matches_pods(rule.get("match")) for rule in maps(spec.get("rules")))
        case _:
            return False


def _texts(value: Any) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _is_about_pods(rules: Any) -> bool:
    return any(
        not POD_RESOURCES.isdisjoint(_texts(rule.get("resources")))
        and not POD_GROUPS.isdisjoint(_texts(rule.get("apiGroups")) or POD_GROUPS)
        for rule in maps(rules)
    )


def _matches_pods(match: Any) -> bool:
    filters = [match, *maps(dig(match, ("any",))), *maps(dig(match, ("all",)))]
    kinds = [kind for entry in filters for kind in _texts(dig(entry, ("resources", "kinds")))]
    return any(kind.rpartition("/")[2] in POD_KINDS for kind in kinds)


def _targets(ref: Ref, target: Any, workload: Workload) -> bool:
    same = dig(target, ("kind",)) == workload.ref.kind and dig(target, ("name",)) == workload.ref.name
    return same and _in_namespace(ref, workload)


def _in_namespace(ref: Ref, workload: Workload) -> bool:
    return not ref.namespace or not workload.ref.namespace or ref.namespace == workload.ref.namespace


def _presets(spec: Mapping[str, Any], ref: Ref, workload: Workload) -> bool:
    adds = spec.keys() - {"desc", "selector", "tolerations"}
    return bool(adds) and _in_namespace(ref, workload) and selects(mapping(spec.get("selector")), workload.labels)


def _changes_cpu_limits(spec: Mapping[str, Any], workload: Workload) -> bool:
    if dig(spec, ("updatePolicy", "updateMode")) == "Off":
        return False
    policies = {entry.get("containerName"): entry for entry in maps(dig(spec, ("resourcePolicy", "containerPolicies")))}
    for container in workload.all_containers:
        policy = policies.get(container.name, policies.get("*", {}))
        has_limit = dig(container.container, ("resources", "limits", "cpu")) is not None
        is_off = policy.get("mode") == "Off" or policy.get("controlledValues") == "RequestsOnly"
        if has_limit and not is_off and "cpu" in (policy.get("controlledResources") or ("cpu",)):
            return True
    return False


def may_select(spec: Mapping[str, Any], workload: Workload) -> bool:
    """Tell whether a SidecarSet of this spec may select the pods of a workload."""
    namespace, own_namespace = spec.get("namespace"), workload.ref.namespace
    selector = mapping(spec.get("selector"))
    return (
        any(selector.values())
        and (not namespace or not own_namespace or namespace == own_namespace)
        and selects(selector, workload.labels)
    )
