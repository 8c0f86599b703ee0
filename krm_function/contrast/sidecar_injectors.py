"""The admission webhooks that are known to change a pod after it was sealed."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Literal

from krm_function.kubernetes.objects import dig, mapping, selects
from krm_function.kubernetes.resource import Resource
from krm_function.kubernetes.workload import Workload
from krm_function.record import NamedTuple

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
# A variable of a container asks before all of these.


Place = Literal["label", "annotation", "variable"]
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
    """One webhook. pod, namespace: keys that ask for it. off: values that forbid it. way_out: to write.

    variables: of containers, which ask for it if the pod has several containers.
    """

    name: str
    pod: tuple[Key, ...]
    off: tuple[str, ...]
    way_out: str
    namespace: tuple[Key, ...] = ()
    variables: tuple[str, ...] = ()


def _label_key(key: str, *on: str) -> Key:
    return Key("label", key, on or ANY)


def _annotation_key(key: str, *on: str) -> Key:
    return Key("annotation", key, on or ANY)


FALSE = ("false",)
NAMESPACE_OFF = ("false", "disabled")
INJECTORS = (
    Injector(
        "Istio",
        (
            _label_key("sidecar.istio.io/inject", "true"),
            _annotation_key("sidecar.istio.io/inject", "true"),
            _label_key("istio.io/rev"),
        ),
        FALSE,
        'the label sidecar.istio.io/inject: "false"',
        (_label_key("istio-injection", "enabled"), _label_key("istio.io/rev")),
    ),
    Injector(
        "Linkerd",
        (_annotation_key("linkerd.io/inject", "enabled", "ingress"),),
        ("disabled",),
        "the annotation linkerd.io/inject: disabled",
        (_annotation_key("linkerd.io/inject", "enabled", "ingress"),),
    ),
    Injector(
        "Kuma",
        (_label_key("kuma.io/sidecar-injection", "enabled", "true"),),
        ("disabled", "false"),
        "the label kuma.io/sidecar-injection: disabled",
        (_label_key("kuma.io/sidecar-injection", "enabled", "true"),),
    ),
    Injector(
        "Consul",
        (_annotation_key("consul.hashicorp.com/connect-inject", "true"),),
        FALSE,
        'the annotation consul.hashicorp.com/connect-inject: "false"',
    ),
    Injector(
        "the Vault agent",
        (_annotation_key("vault.hashicorp.com/agent-inject", "true", "update"),),
        FALSE,
        'the annotation vault.hashicorp.com/agent-inject: "false"',
    ),
    Injector(
        "Dapr",
        (_annotation_key("dapr.io/enabled", "true"),),
        FALSE,
        'the annotation dapr.io/enabled: "false"',
    ),
    Injector(
        "the OpenTelemetry operator",
        (_annotation_key("sidecar.opentelemetry.io/inject"),),
        FALSE,
        'the annotation sidecar.opentelemetry.io/inject: "false"',
        (_annotation_key("sidecar.opentelemetry.io/inject"),),
    ),
    Injector(
        "the OpenTelemetry operator's instrumentation",
        (_annotation_key("instrumentation.opentelemetry.io/inject-*"),),
        FALSE,
        'that annotation with the value "false"',
        (_annotation_key("instrumentation.opentelemetry.io/inject-*"),),
    ),
    Injector(
        "Jaeger",
        (_annotation_key("sidecar.jaegertracing.io/inject"),),
        FALSE,
        'the annotation sidecar.jaegertracing.io/inject: "false"',
        (_annotation_key("sidecar.jaegertracing.io/inject"),),
    ),
    Injector(
        "Datadog",
        (_label_key("admission.datadoghq.com/enabled", "true"),),
        FALSE,
        'the label admission.datadoghq.com/enabled: "false"',
    ),
    Injector(
        "Azure's workload identity",
        (_label_key("azure.workload.identity/use", "true"),),
        FALSE,
        'the label azure.workload.identity/use: "false"',
    ),
    Injector(
        "GKE's driver for Cloud Storage",
        (_annotation_key("gke-gcsfuse/volumes", "true"),),
        FALSE,
        'the annotation gke-gcsfuse/volumes: "false", without volumes of that driver',
    ),
    Injector(
        "OpenKruise's order of containers",
        (_annotation_key("apps.kruise.io/container-launch-priority", "ordered"),),
        ("",),
        "no annotation apps.kruise.io/container-launch-priority and no variable KRUISE_CONTAINER_PRIORITY",
        variables=("KRUISE_CONTAINER_PRIORITY",),
    ),
)
KEYS = tuple({key.key.rstrip("*") for injector in INJECTORS for key in (*injector.pod, *injector.namespace)})
WORDS = tuple(key.key.rstrip("*") for injector in INJECTORS for key in injector.namespace)
VARIABLES = frozenset(name for injector in INJECTORS for name in injector.variables)


def may_ask(metadata: Mapping[str, Any], variables: Collection[str] = ()) -> bool:
    """Tell whether metadata, or the names of variables, have a key of the table at all, whatever its value is."""
    places = (metadata.get("labels"), metadata.get("annotations"))
    return not VARIABLES.isdisjoint(variables) or any(
        str(key).startswith(KEYS) for entries in places if isinstance(entries, dict) for key in entries
    )


def asking(
    injector: Injector, pod: Mapping[str, Any], namespace: Mapping[str, Any], variables: Collection[str] = ()
) -> Iterator[tuple[Literal["pod", "namespace"], Place, str]]:
    """Yield the owner of the key that makes an injector change a pod, its place and the key; at most one.

    pod, namespace: their metadata. variables: the names in the containers of the pod, if it has several.
    """
    for name in injector.variables:
        if name in variables:
            yield "pod", "variable", name
            return
    for whose, keys, metadata, off in (
        ("pod", injector.pod, pod, injector.off),
        ("namespace", injector.namespace, namespace, NAMESPACE_OFF),
    ):
        for key in keys:
            answer = key.asks(metadata, off)
            if answer is not None:
                if answer[1]:
                    yield ("pod" if whose == "pod" else "namespace"), key.place, answer[0]
                return


# --- The SidecarSets of OpenKruise in an input: which pods their webhook adds containers to
#
# Rule: a set that may select a pod counts, whatever it adds; a selector of namespaces may select any. An empty selector
# selects none, and a paused set adds nothing. Source: docs/facts/controllers.md#openkruise.


KIND = "SidecarSet"
GROUP = "apps.kruise.io/"


def sidecar_sets(resources: Iterable[Resource]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield name and spec of each that is not paused, without unreadable documents, which the render reports."""
    for item in (item for resource in resources if KIND in resource.text for item in resource.objects):
        spec = mapping(mapping(item.value).get("spec"))
        paused = dig(spec, ("injectionStrategy", "paused")) is True
        if item.ref.kind == KIND and item.ref.api_version.startswith(GROUP) and not paused:
            yield item.ref.name, spec


def may_select(spec: Mapping[str, Any], workload: Workload) -> bool:
    """Tell whether a SidecarSet of this spec may select the pods of a workload."""
    namespace, own_namespace = spec.get("namespace"), workload.ref.namespace
    selector = mapping(spec.get("selector"))
    return (
        any(selector.values())
        and (not namespace or not own_namespace or namespace == own_namespace)
        and selects(selector, workload.labels)
    )
