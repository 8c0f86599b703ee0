"""A pod that a known webhook would change after it was sealed is refused, and passes with the opt-out that is named."""

from typing import Any

import pytest

from krm_function.check.check_output import check_output
from krm_function.contrast.sidecar_injectors import ANY, INJECTORS, Injector, Key
from tests.world import Json, an_object, codes, coordinator, good, pod_spec, run, stream, values

ROWS = [(one, key) for one in INJECTORS for key in one.pod]
OWNER_ROWS = [(one, key) for one in INJECTORS for key in one.owner]
NAMESPACE_ROWS = [(one, key) for one in INJECTORS for key in one.namespace]


def ids(value: Any) -> str:
    return value.name if isinstance(value, Injector) else f"{value.place} {value.key}"


def entry(key: Key, value: str | None = None) -> dict[str, Any]:
    """The labels or annotations of one key that asks, or with this value."""
    name = key.key.replace("*", "java")
    asks = "collector" if key.on == ANY else key.on[0]
    return {f"{key.place}s": {name: asks if value is None else value}}


def namespace(metadata: dict[str, Any]) -> Json:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", **metadata}}


@pytest.mark.parametrize("injector, key", ROWS, ids=ids)
def test_a_pod_that_asks_for_a_sidecar_is_refused_and_passes_with_the_opt_out(injector: Injector, key: Key) -> None:
    made = run(coordinator(), an_object(**entry(key)))
    (found,) = (one for one in made.findings if one.code == "CC0260")
    assert injector.name in found.message
    assert injector.way_out in found.hint
    assert made.texts == tuple(one.text for one in stream(coordinator(), an_object(**entry(key))))
    good(coordinator(), an_object(**entry(injector.pod[0], injector.off[0])))


@pytest.mark.parametrize("injector, key", OWNER_ROWS, ids=ids)
def test_an_object_that_asks_for_a_change_of_its_template_is_refused(injector: Injector, key: Key) -> None:
    def around(value: str | None, kind: str = "Deployment") -> Json:
        made = an_object(kind=kind)
        return {**made, "metadata": {**made["metadata"], **entry(key, value)}}

    (found,) = (one for one in run(coordinator(), around(None)).findings if one.code == "CC0260")
    assert (found.path[0], found.path[-1], injector.name in found.message) == ("metadata", key.key, True)
    assert "Deployment" in found.hint
    good(coordinator(), around(injector.off[0]))


def test_a_label_of_a_pod_of_its_own_is_none_of_an_object_around_it() -> None:
    pod = an_object(kind="Pod")
    good(coordinator(), {**pod, "metadata": {**pod["metadata"], "annotations": {"keel.sh/policy": "all"}}})


@pytest.mark.parametrize("injector, key", NAMESPACE_ROWS, ids=ids)
def test_a_namespace_that_asks_is_one_for_its_pods_until_the_pod_forbids_it(injector: Injector, key: Key) -> None:
    around = namespace(entry(key))
    assert codes(run(coordinator(), an_object(), around)).count("CC0260") == 2
    opted_out = entry(injector.pod[0] if not injector.pod[0].key.endswith("*") else key, injector.off[0])
    left = run(coordinator(), an_object(**opted_out), around)
    assert [one.ref.name for one in left.findings if one.code == "CC0260" and one.ref] == ["coordinator"]
    other = {**around, "metadata": {**around["metadata"], "name": "elsewhere"}}
    good(coordinator(), an_object(), other)


def refused(namespace_labels: Json | None = None, **metadata: Any) -> bool:
    around = [namespace({"labels": namespace_labels})] if namespace_labels else []
    made = run(coordinator(), an_object(**metadata), *around)
    return any(one.code == "CC0260" and one.ref and one.ref.name == "web" for one in made.findings)


def test_of_several_keys_the_first_of_the_table_decides() -> None:
    inject = "sidecar.istio.io/inject"
    assert refused(labels={inject: "true"}, annotations={inject: "false"})
    assert not refused(labels={inject: "false"}, annotations={inject: "true"})
    assert not refused({"istio-injection": "disabled", "istio.io/rev": "stable"})
    assert refused({"istio.io/rev": "stable"})


def test_each_language_and_the_sidecar_of_open_telemetry_ask_by_themselves() -> None:
    prefix = "instrumentation.opentelemetry.io/inject-"
    assert refused(annotations={f"{prefix}java": "false", f"{prefix}python": "true"})
    assert refused(annotations={f"{prefix}java": "true", "sidecar.opentelemetry.io/inject": "false"})
    assert not refused(annotations={f"{prefix}java": "false", "sidecar.opentelemetry.io/inject": "false"})


def test_a_pod_without_a_namespace_may_come_into_any() -> None:
    made = run(coordinator(), an_object(namespace=""), namespace({"labels": {"istio-injection": "enabled"}}))
    assert {one.ref.name for one in made.findings if one.code == "CC0260" and one.ref} == {"coordinator", "web"}


@pytest.mark.parametrize(("count", "wrong"), [(1, False), (2, True)])
def test_an_order_of_containers_is_asked_for_by_a_variable_of_one_of_several(count: int, wrong: bool) -> None:
    subject = an_object()
    (container,) = subject["spec"]["template"]["spec"]["containers"]
    env = [*container.get("env", ()), {"name": "KRUISE_CONTAINER_PRIORITY", "value": "1"}]
    several = [{**container, "name": f"c{number}", "env": env} for number in range(count)]
    subject["spec"]["template"]["spec"]["containers"] = several
    found = [one for one in run(coordinator(), subject).findings if one.code == "CC0260"]
    assert bool(found) == wrong
    assert all("the variable KRUISE_CONTAINER_PRIORITY" in one.message for one in found)


def sidecar_set(**spec: Any) -> Json:
    metadata = {"name": "logging"}
    return {"apiVersion": "apps.kruise.io/v1alpha1", "kind": "SidecarSet", "metadata": metadata, "spec": spec}


OWN = {"matchLabels": {"app": "web"}}
IN = {"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "db"]}]}


@pytest.mark.parametrize(
    ("spec", "wrong"),
    [
        ({"selector": OWN}, True),
        ({"selector": IN}, True),
        ({"selector": OWN, "namespace": "shop"}, True),
        ({"selector": OWN, "namespaceSelector": {"matchLabels": {"a": "b"}}}, True),
        ({"selector": OWN, "namespace": "elsewhere"}, False),
        ({"selector": OWN, "injectionStrategy": {"paused": True}}, False),
        ({"selector": {"matchLabels": {"app": "other"}}}, False),
        ({"selector": {}}, False),
        ({}, False),
    ],
    ids=str,
)
def test_a_sidecar_set_that_selects_the_pod_changes_it(spec: Json, wrong: bool) -> None:
    subject = an_object(labels={"app": "web"})
    listed = {"apiVersion": "v1", "kind": "List", "items": [sidecar_set(**spec)]}
    for value in (sidecar_set(**spec), listed):
        found = [one for one in run(coordinator(), subject, value).findings if one.code == "CC0260"]
        assert [one.message.partition(" asks")[0] for one in found] == ["SidecarSet logging"] * wrong


def test_the_annotation_that_rolls_a_deployment_back_is_refused() -> None:
    subject = an_object()
    subject["metadata"]["annotations"] = {"deprecated.deployment.rollback.to": "0"}
    assert codes(run(coordinator(), subject)) == ["CC0293"]


def test_a_plain_pod_may_have_a_sidecar() -> None:
    plain = an_object(name="plain", annotations={"linkerd.io/inject": "enabled"})
    del plain["spec"]["template"]["spec"]["runtimeClassName"]
    good(coordinator(), an_object(), plain)


def test_a_check_of_rendered_output_says_the_same() -> None:
    rendered = values(good(coordinator(), an_object()))
    asking = namespace({"labels": {"istio-injection": "enabled"}})
    assert "CC0260" in {one.code for one in check_output(stream(*rendered, asking)).findings}


def other_object(api_version: str, kind: str, spec: Json, **more: Any) -> Json:
    metadata = {"name": "it", **more.pop("metadata", {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec, **more}


WEB = {"kind": "Deployment", "name": "web", "apiVersion": "apps/v1"}
KRUISE, VPA, KYVERNO = "apps.kruise.io/v1alpha1", "autoscaling.k8s.io/v1", "kyverno.io/v1"
ADMISSION, GATEKEEPER = "admissionregistration.k8s.io/v1", "mutations.gatekeeper.sh/v1"
ON_PODS = {"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}
ON_SERVICES = {**ON_PODS, "resources": ["services"]}
ON_DEPLOYMENTS = {**ON_PODS, "apiGroups": ["apps"], "resources": ["deployments"]}
ON_OTHER_JOBS = {**ON_PODS, "apiGroups": ["batch.volcano.sh"], "resources": ["jobs"]}
OF_PODS = {"any": [{"resources": {"kinds": ["Pod"]}}]}
ROLE = {"annotations": {"eks.amazonaws.com/role-arn": "a"}}


def spread(**subset: Any) -> Json:
    return other_object(KRUISE, "WorkloadSpread", {"targetRef": WEB, "subsets": [subset]})


def autoscaler(*policies: Json, target: Json = WEB, **more: Any) -> Json:
    spec = {"targetRef": target, "resourcePolicy": {"containerPolicies": list(policies)}, **more}
    return other_object(VPA, "VerticalPodAutoscaler", spec)


def pod_default(selector: Json) -> Json:
    return other_object("kubeflow.org/v1alpha1", "PodDefault", {"selector": selector, "volumes": []})


def of_rules(api_version: str, kind: str, rule: Json) -> Json:
    return other_object(
        api_version, kind, {"matchConstraints": {"resourceRules": [rule]}}, webhooks=[{"rules": [rule]}]
    )


OBJECTS = [
    (spread(patch={}), "CC0260"),
    (spread(name="a"), ""),
    (autoscaler(), "CC0260"),
    (autoscaler(target={**WEB, "name": "db"}), ""),
    (autoscaler(updatePolicy={"updateMode": "Off"}), ""),
    (autoscaler({"containerName": "*", "controlledValues": "RequestsOnly"}), ""),
    (autoscaler({"containerName": "*", "controlledResources": ["memory"]}), ""),
    (autoscaler({"containerName": "*", "controlledResources": ["cpu"]}), "CC0260"),
    (autoscaler({"containerName": "*", "mode": "Off"}, {"containerName": "web"}), "CC0260"),
    (autoscaler() | {"metadata": {"name": "it", "namespace": "elsewhere"}}, ""),
    (other_object("v1", "ServiceAccount", {}, metadata={"name": "web", **ROLE}), "CC0260"),
    (other_object("v1", "ServiceAccount", {}, metadata={"name": "db", **ROLE}), ""),
    (other_object("v1", "ServiceAccount", {}, metadata={"name": "web"}), ""),
    *(
        (of_rules(api_version, kind, rule), code)
        for api_version, kind in (
            (ADMISSION, "MutatingAdmissionPolicy"),
            (ADMISSION, "MutatingWebhookConfiguration"),
            ("policies.kyverno.io/v1", "MutatingPolicy"),
        )
        for rule, code in ((ON_PODS, "CC0292"), (ON_DEPLOYMENTS, "CC0292"), (ON_SERVICES, ""), (ON_OTHER_JOBS, ""))
    ),
    (of_rules(ADMISSION, "ValidatingWebhookConfiguration", ON_PODS), ""),
    (pod_default(OWN), "CC0260"),
    (pod_default({"matchLabels": {"app": "other"}}), ""),
    (pod_default(OWN) | {"metadata": {"name": "it", "namespace": "elsewhere"}}, ""),
    (other_object("argoproj.io/v1alpha1", "Rollout", {"workloadRef": WEB}), "CC0260"),
    (other_object("argoproj.io/v1alpha1", "Rollout", {"workloadRef": {**WEB, "name": "db"}}), ""),
    (other_object(KYVERNO, "ClusterPolicy", {"rules": [{"mutate": {}, "match": OF_PODS}]}), "CC0292"),
    (other_object(KYVERNO, "Policy", {"rules": [{"mutate": {}, "match": OF_PODS}]}), "CC0292"),
    (other_object(KYVERNO, "ClusterPolicy", {"rules": [{"validate": {}, "match": OF_PODS}]}), ""),
    (other_object(GATEKEEPER, "Assign", {"applyTo": [{"kinds": ["Pod"]}]}), "CC0292"),
    (other_object(GATEKEEPER, "Assign", {"applyTo": [{"kinds": ["Deployment"]}]}), "CC0292"),
    (other_object(GATEKEEPER, "Assign", {"applyTo": [{"kinds": ["Service"]}]}), ""),
    (other_object(GATEKEEPER, "AssignMetadata", {}), "CC0292"),
]


@pytest.mark.parametrize(("value", "code"), OBJECTS)
def test_an_object_that_changes_pods_later_is_named(value: Json, code: str) -> None:
    """docs/facts/sidecar-injectors.md#objects-that-change-pods."""
    subject = an_object(spec=pod_spec(serviceAccountName="web"))
    findings = [item for item in run(coordinator(), subject, value).findings if item.code in ("CC0260", "CC0292")]
    assert [item.code for item in findings] == [code] * bool(code)
    assert "CC0260" not in codes(run(coordinator(), value))
