"""Namespaces of the input that refuse the injected containers, or make the VM another one: one warning each."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import pytest

from krm_function.check.check_output import check_output
from krm_function.contrast.namespace_admission import LABEL, refusals
from krm_function.findings import Finding
from krm_function.render.rendered import Rendered
from tests.world import INGRESS, SECURE_PV, SKIP, a_list, an_object, config, coordinator, good, pod_spec, stream, values

MESH = {INGRESS: ""}
CPU = {"requests.cpu": "4"}


def namespace(level: str | None = "restricted", name: str = "shop") -> Any:
    labels = {LABEL: level} if level else {}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def quota(hard: Any, space: str = "shop", **spec: Any) -> Any:
    metadata = {"name": "compute", "namespace": space}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": hard, **spec}}


def limits(space: str = "shop", kind: str = "Container", **item: Any) -> Any:
    metadata = {"name": "defaults", "namespace": space}
    spec = {"limits": [{"type": kind, **item}]}
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": metadata, "spec": spec}


def rendered(*others: Any, web: Any = None, **options: Any) -> Rendered:
    return good(coordinator(), *others, web or an_object(), to=config(**options))


def said(*others: Any, web: Any = None, **options: Any) -> list[Finding]:
    """The warnings about a deployment with a pod `web`; each is the same from `plan` and from `check`."""
    made = rendered(*others, web=web, **options)
    source = stream(coordinator(), *others, web or an_object())
    planned = refusals(source, [workload for workload in made.plan if not workload.skipped])
    output = [text.removeprefix("---\n") for text in map(str, made.texts)]
    checked = check_output(stream(*output, *made.added)).findings
    ours = [found for found in checked if found.code in {"CC0315", "CC0316", "CC0317", "CC0318"}]
    assert list(map(without_place, ours)) == list(map(without_place, planned))
    assert all(found.severity == "warning" for found in planned)
    return list(planned)


def without_place(found: Finding) -> Finding:
    """A finding without its place, which is another one in rendered output."""
    return found._replace(line=0, column=0, origin=None)


def codes(found: Sequence[Finding]) -> list[str]:
    return [one.code for one in found]


def with_cpu(**resources: Any) -> Any:
    spec = pod_spec()
    spec["containers"][0]["resources"] = resources
    return an_object(spec=spec)


# --- pod security


@pytest.mark.parametrize("level", ["baseline", "restricted"])
def test_the_initializer_needs_what_both_levels_forbid(level: str) -> None:
    (found,) = said(namespace(level))
    assert (found.code, str(found.ref), found.path) == ("CC0315", "shop", ("metadata", "labels", LABEL))
    assert f"level {level}, which refuses the pods of Deployment/web: contrast-initializer (capability NET_ADMIN" in (
        found.message
    )
    assert "coordinator" not in found.message


def test_a_privileged_mesh_and_a_privileged_initializer_are_named() -> None:
    (found,) = said(namespace("baseline"), web=an_object(annotations=MESH))
    assert "contrast-service-mesh (privileged: true, capability NET_ADMIN)" in found.message
    device = {"name": "disk", "persistentVolumeClaim": {"claimName": "disk"}}
    web = an_object(spec=pod_spec(volumes=[device]), annotations={SECURE_PV: "disk:data"})
    (found,) = said(namespace("baseline"), web=web)
    assert "contrast-initializer (privileged: true)" in found.message


def test_its_hint_works_and_a_pod_without_injected_containers_is_none_of_its_business() -> None:
    (found,) = said(namespace())
    assert "enforce: privileged" in found.hint
    assert "exempt runtime class contrast-cc-metal-qemu-snp-1a2b3c4d in" in found.hint
    assert said(namespace("privileged")) == []
    own = pod_spec(hostIPC=False)
    own["containers"][0]["securityContext"] = {"capabilities": {"add": ["NET_ADMIN"]}}
    assert said(namespace(), web=an_object(spec=own, annotations={SKIP: "true"})) == []


@pytest.mark.parametrize("level", [None, "privileged", "Baseline", 3])
def test_other_labels_enforce_nothing(level: Any) -> None:
    assert said(namespace(level)) == []


def test_warn_and_audit_refuse_nothing() -> None:
    subject = namespace(None)
    subject["metadata"]["labels"] = {LABEL.replace("enforce", mode): "restricted" for mode in ("warn", "audit")}
    assert said(subject) == []


def test_what_the_final_container_has_counts() -> None:
    made = rendered()
    (web,) = [workload for workload in made.plan if workload.ref.name == "web"]
    changed = deepcopy(web.object)
    security = {"runAsUser": 0, "runAsNonRoot": False, "allowPrivilegeEscalation": False}
    changed["spec"]["template"]["spec"]["initContainers"][0]["securityContext"] = security
    (found,) = refusals(stream(namespace()), [web._replace(object=changed)])
    assert "NET_ADMIN" not in found.message
    assert "no runAsNonRoot: true, runAsUser 0, no seccompProfile" in found.message
    assert refusals(stream(namespace("baseline")), [web._replace(object=changed)]) == ()


# --- quotas


@pytest.mark.parametrize("name", ["cpu", "requests.cpu"])
def test_a_quota_on_requests_of_cpu_refuses_containers_without_one(name: str) -> None:
    (found,) = said(quota({name: "4"}), web=an_object(annotations=MESH))
    assert (found.code, found.path) == ("CC0316", ("spec", "hard"))
    assert "contrast-initializer (requests.cpu); contrast-service-mesh (requests.cpu)" in found.message
    assert "defaultRequest for cpu" in found.hint


def test_its_hint_works_and_leaves_the_vm_as_it_was() -> None:
    assert said(quota(CPU), limits(defaultRequest={"cpu": "10m"})) == []


def test_a_quota_on_limits_of_cpu_cannot_be_met_by_a_default() -> None:
    (found,) = said(quota({"limits.cpu": "4"}))
    assert found.hint.startswith("remove limits.cpu from the quota")
    (found,) = said(quota({"limits.cpu": "4"}), limits(default={"cpu": "1"}))
    assert found.code == "CC0317"


@pytest.mark.parametrize("hard", [{}, {"pods": "3"}, {"requests.memory": "4Gi", "limits.memory": "8Gi"}, None])
def test_a_quota_on_what_they_set_or_on_other_things_refuses_nothing(hard: Any) -> None:
    assert said(quota(hard)) == []


def test_a_container_of_the_pod_without_memory_is_the_users_own() -> None:
    web = with_cpu(limits={"cpu": "1"})
    assert said(quota({"limits.memory": "1Gi"}), web=web) == []


def test_a_quota_is_about_pods_of_its_scope() -> None:
    urgent = [{"scopeName": "PriorityClass", "operator": "In", "values": ["urgent"]}]
    assert said(quota(CPU, scopes=["Terminating"])) == []
    assert said(quota(CPU, scopeSelector={"matchExpressions": urgent})) == []
    assert codes(said(quota(CPU, scopes=["NotTerminating"]))) == ["CC0316"]


# --- limit ranges


@pytest.mark.parametrize("bound", ["default", "max"])
def test_a_default_limit_makes_the_vm_another_one(bound: str) -> None:
    item: Any = {bound: {"cpu": "2"}}
    (found,) = said(limits(**item))
    assert (found.code, found.path) == ("CC0317", ("spec", "limits"))
    assert "StatefulSet/coordinator (1 becomes 3), Deployment/web (2 becomes 3)" in found.message


def test_its_hint_works() -> None:
    assert said(limits(defaultRequest={"cpu": "10m"}, min={"cpu": "1m"}, default={"memory": "1Gi"})) == []


def test_a_limit_that_leaves_the_vcpus_as_they_are_is_none() -> None:
    spec = pod_spec()
    assert said(limits(default={"cpu": "200m"}), web=an_object(spec=spec))[0].message.count("Deployment") == 0
    whole = pod_spec(resources={"limits": {"cpu": "900m"}})
    whole["containers"][0]["resources"] = {"limits": {"memory": "200Mi"}}
    found = said(limits(default={"cpu": "400m"}), web=an_object(spec=whole))
    assert "Deployment" not in "".join(one.message for one in found)


def test_minimum_and_maximum_of_the_injected_containers() -> None:
    (found,) = said(limits(min={"memory": "100Mi"}, max={"memory": "300Mi"}), web=an_object(annotations=MESH))
    assert found.code == "CC0318"
    assert "contrast-initializer (memory 50Mi, min 100Mi); contrast-service-mesh (memory 400Mi, max 300Mi)" in (
        found.message
    )
    assert said(limits(min={"memory": "50Mi"}, max={"memory": "400Mi"}), web=an_object(annotations=MESH)) == []


@pytest.mark.parametrize("kind", ["Pod", "PersistentVolumeClaim"])
def test_items_of_other_types_are_not_about_containers(kind: str) -> None:
    assert said(limits(kind=kind, default={"cpu": "2"}, min={"memory": "1Gi"})) == []


# --- which pods, which objects


ABOUT = ["Namespace", "ResourceQuota", "LimitRange"]


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("there", ["shop", "", "other"])
@pytest.mark.parametrize("about", ABOUT)
def test_only_pods_that_come_into_the_namespace_are_refused(about: str, there: str, *, listed: bool) -> None:
    subjects = {
        "Namespace": namespace(name=there or "shop"),
        "ResourceQuota": quota(CPU, there),
        "LimitRange": limits(there, default={"cpu": "3"}),
    }
    subject = subjects[about]
    if not there:
        subject["metadata"].pop("namespace", None)
    found = said(a_list(subject) if listed else subject)
    assert bool(found) == (there != "other")
    assert all(one.path[: 2 * listed] == (("items", 0) if listed else ()) for one in found)


def test_a_workload_without_a_namespace_may_come_into_any() -> None:
    made = good(coordinator(namespace=""), an_object(namespace=""))
    workloads = made.plan
    assert codes(refusals(stream(namespace()), workloads)) == ["CC0315"]
    placed = good(coordinator(namespace=""), an_object(namespace=""), to=config(namespace="prod"))
    workloads = placed.plan
    assert refusals(stream(namespace()), workloads) == ()


def test_one_finding_names_all_workloads() -> None:
    pods = [an_object(name=f"w{number}") for number in range(7)]
    made = good(coordinator(), *pods)
    (found,) = refusals(stream(namespace("baseline")), made.plan)
    assert "Deployment/w0, Deployment/w1, Deployment/w2, Deployment/w3, Deployment/w4 and 2 more: " in found.message
    assert found.message.count("NET_ADMIN") == 1


@pytest.mark.parametrize("kind", ABOUT)
@pytest.mark.parametrize("version", ["v2", "example.com/v1", ""])
def test_objects_of_other_groups_are_something_else(kind: str, version: str) -> None:
    for subject in (namespace(), quota(CPU), limits(default={"cpu": "2"})):
        if subject["kind"] == kind:
            assert said(subject | {"apiVersion": version}) == []


@pytest.mark.parametrize(
    "spec", [None, 3, {"limits": 3}, {"limits": [3, None, {"type": "Container", "default": 3}]}, {"hard": 3}]
)
def test_odd_shapes_raise_nothing(spec: Any) -> None:
    for subject in (namespace(), quota(CPU), limits()):
        if "spec" in subject:
            assert said(subject | {"spec": spec}) == []
    assert said(limits(max={"cpu": "a lot"}, min={"memory": ["x"]})) == []


def test_a_render_reports_them() -> None:
    made = rendered(namespace(), quota(CPU), limits(default={"cpu": "2"}))
    assert {"CC0315", "CC0317"} <= {found.code for found in made.findings}
    assert len(values(made)) == 6
