"""The real controllers of OpenKruise decide: the pods that they make of rendered objects start on a node.

Each kind runs on nodes that are made up, so that rollouts go on: a pod gets ready, and the next one is made.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from krm_function.kubernetes.workload import INITDATA
from tests.cluster.api import Api, until
from tests.cluster.control_plane import ControlPlane
from tests.cluster.custom_controllers import KRUISE, Controller, create, running
from tests.cluster.made_pods import (
    CREATE,
    agent_of,
    assert_denied,
    assert_starts,
    beside_the_coordinator,
    generated,
    host_of,
    made_pods,
    object_of,
)
from tests.cluster.made_up_nodes import made_up_nodes
from tests.custom_resources.objects import template

Json = dict[str, Any]
MERGE = "application/merge-patch+json"
REVISION = "controller-revision-hash"
ROOM = {"allocatable": {"cpu": "64", "memory": "64Gi"}}
NODES = [{"metadata": {"name": f"kruise-{number}"}, "status": ROOM} for number in range(2)]
# what each controller writes into the labels of its pods
LABELS = {
    "CloneSet": ("apps.kruise.io/cloneset-instance-id", REVISION, "pod-template-hash"),
    "StatefulSet": ("statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index", REVISION),
    "DaemonSet": (REVISION,),
}
FORMS = ("CloneSet v1alpha1", "StatefulSet v1beta1", "StatefulSet v1alpha1", "DaemonSet v1alpha1")
CLAIM = {"accessModes": ["ReadWriteOnce"], "volumeMode": "Block", "resources": {"requests": {"storage": "1Gi"}}}
MOUNT = {"name": "share", "mountPath": "/data", "mountPropagation": "HostToContainer"}


@pytest.fixture(name="controller", scope="module")
def the_controller(cluster: ControlPlane) -> Iterator[ControlPlane]:
    with running(KRUISE, cluster) as made, made_up_nodes(cluster.api, NODES):
        yield made


def of(form: str) -> tuple[str, Controller]:
    """The kind of a form, and where its objects are."""
    kind, version = form.split()
    return kind, KRUISE._replace(path=f"/apis/apps.kruise.io/{version}/namespaces/{{}}/{kind.lower()}s")


def rendered(namespace: str, form: str, *arguments: str, claims: bool = False, name: str = "web") -> bytes:
    """The output that has an object of two pods, whose program knows its name and the labels that were added."""
    kind, version = form.split()
    fields = ["metadata.name", *(f"metadata.labels['{key}']" for key in LABELS[kind])]
    env = [{"name": f"V{at}", "valueFrom": {"fieldRef": {"fieldPath": path}}} for at, path in enumerate(fields)]
    pod = template("web", args=["serve", *arguments], env=env)
    spec: Json = {"selector": {"matchLabels": pod["metadata"]["labels"]}, "template": pod}
    if kind != "DaemonSet":
        spec["replicas"] = 2
    if kind == "StatefulSet":
        spec["serviceName"] = "web"
    if claims:
        pod["metadata"]["annotations"] = {"contrast.edgeless.systems/secure-pv": "data:share"}
        pod["spec"]["containers"][0]["volumeMounts"] = [MOUNT]
        pod["spec"]["volumes"] = [{"name": "share", "emptyDir": {}}]
        spec |= {"podManagementPolicy": "Parallel"} if kind == "StatefulSet" else {}
        spec["volumeClaimTemplates"] = [{"metadata": {"name": "data"}, "spec": CLAIM}]
    metadata = {"name": name, "namespace": namespace}
    return generated({"apiVersion": f"apps.kruise.io/{version}", "kind": kind, "metadata": metadata, "spec": spec})


def created(cluster: ControlPlane, api: Api, namespace: str, form: str) -> list[Json]:
    """The pods that the controller makes of it."""
    kind, controller = of(form)
    create(cluster, controller, object_of(rendered(namespace, form), kind))
    return made_pods(api, namespace, 2)


@pytest.mark.parametrize("form", FORMS)
def test_every_pod_of_every_version_starts(controller: ControlPlane, api: Api, namespace: str, form: str) -> None:
    kind, where = of(form)
    resource = f"{kind.lower()}s.apps.kruise.io"
    first = created(controller, api, namespace, form)
    for pod in first:
        assert_starts(pod)
    said = beside_the_coordinator(controller, namespace, resource, rendered(namespace, form))
    assert said == [], said
    output = rendered(namespace, form, "--fast")
    changed = {"spec": {"template": object_of(output, kind)["spec"]["template"]}}
    api("PATCH", f"{where.path.format(namespace)}/web", changed, MERGE).ok()
    old = {pod["metadata"]["labels"][REVISION] for pod in first}

    def second() -> list[Json]:
        pods = [one for one in api.items("Pod", namespace) if "deletionTimestamp" not in one["metadata"]]
        return pods if len(pods) == 2 and all(one["metadata"]["labels"][REVISION] not in old for one in pods) else []

    for pod in until("pods of the second version", second, 60):
        assert "--fast" in pod["spec"]["containers"][0]["args"]
        assert_starts(pod)
    said = beside_the_coordinator(controller, namespace, resource, output)
    assert said == [], said


@pytest.mark.parametrize(
    ("form", "length"),
    [
        ("CloneSet v1alpha1", 52),
        ("StatefulSet v1beta1", 52),
        ("DaemonSet v1alpha1", 57),
        ("DaemonSet v1alpha1", 58),
        ("DaemonSet v1alpha1", 63),
    ],
)
def test_the_pods_of_a_long_name_start(
    controller: ControlPlane, api: Api, namespace: str, form: str, length: int
) -> None:
    kind, where = of(form)
    create(controller, where, object_of(rendered(namespace, form, name="n" * length), kind))
    for pod in made_pods(api, namespace, 2):
        assert_starts(pod)


@pytest.mark.parametrize("form", FORMS)
def test_a_single_change_of_them_is_denied(controller: ControlPlane, api: Api, namespace: str, form: str) -> None:
    pod = created(controller, api, namespace, form)[-1]
    for change in ("V0=other", "V1=../x", "KRUISE_CONTAINER_BARRIER=true", "LD_PRELOAD=/x"):
        assert_denied(pod, "web", change)


@pytest.mark.parametrize("form", ["CloneSet v1alpha1", "StatefulSet v1beta1"])
def test_scaled_up_and_made_again_the_new_pods_start(
    controller: ControlPlane, api: Api, namespace: str, form: str
) -> None:
    where = of(form)[1]
    before = created(controller, api, namespace, form)
    api("PATCH", f"{where.path.format(namespace)}/web", {"spec": {"replicas": 3}}, MERGE).ok()
    api.delete("Pod", before[0]["metadata"]["name"], namespace).ok()
    old = {pod["metadata"]["uid"] for pod in before}

    def new() -> list[Json]:
        pods = [one for one in api.items("Pod", namespace) if one["metadata"]["uid"] not in old]
        return pods if len(pods) == 2 else []

    for pod in until("two new pods", new):
        assert_starts(pod)


@pytest.mark.parametrize("form", ["CloneSet v1alpha1", "StatefulSet v1beta1"])
def test_a_pod_with_a_claim_of_a_template_starts(controller: ControlPlane, api: Api, namespace: str, form: str) -> None:
    kind, where = of(form)
    output = rendered(namespace, form, claims=True)
    create(controller, where, object_of(output, kind))
    for pod in made_pods(api, namespace, 2):
        claimed = [one["persistentVolumeClaim"] for one in pod["spec"]["volumes"] if "persistentVolumeClaim" in one]
        assert [one["claimName"].rpartition("-")[0] for one in claimed] == ["data-web"]
        assert_starts(pod)
    said = beside_the_coordinator(controller, namespace, f"{kind.lower()}s.apps.kruise.io", output)
    assert said == [], said


def test_an_update_in_place_writes_a_policy_that_the_vm_does_not_have(
    controller: ControlPlane, api: Api, namespace: str
) -> None:
    """Why it is refused: the pod stays, its container is made anew, and its VM has the policy of before."""
    first = {pod["metadata"]["uid"]: pod for pod in created(controller, api, namespace, FORMS[0])}
    until("pods that are ready", lambda: all(map(_is_ready, api.items("Pod", namespace))))
    output = rendered(namespace, FORMS[0])
    changed = object_of(output, "CloneSet")["spec"]["template"]
    changed["spec"]["containers"][0]["image"] = changed["spec"]["initContainers"][0]["image"]
    changed["metadata"]["annotations"][INITDATA] = "another"
    spec = {"template": changed, "updateStrategy": {"type": "InPlaceIfPossible"}}
    api("PATCH", f"{of(FORMS[0])[1].path.format(namespace)}/web", {"spec": spec}, MERGE).ok()

    def updated() -> list[Json]:
        pods = api.items("Pod", namespace)
        return [one for one in pods if one["metadata"]["annotations"][INITDATA] == "another"]

    pod = until("a pod that is updated in place", updated)[0]
    old = first[pod["metadata"]["uid"]]
    host, agent = host_of(pod), agent_of(old)
    assert agent.allows(CREATE, host.create("pause"))
    assert not agent.allows(CREATE, host.create("web"))


def _is_ready(pod: Json) -> bool:
    return any(one["type"] == "Ready" and one["status"] == "True" for one in pod["status"].get("conditions", ()))


def test_a_container_of_a_sidecar_set_is_denied(controller: ControlPlane, api: Api, namespace: str) -> None:
    """What another object of the cluster adds is in no policy."""
    image = template()["spec"]["containers"][0]["image"]
    value = {
        "apiVersion": "apps.kruise.io/v1alpha1",
        "kind": "SidecarSet",
        "metadata": {"name": namespace},
        "spec": {
            "namespace": namespace,
            "selector": {"matchLabels": {"app": "web"}},
            "containers": [{"name": "log", "image": image, "command": ["/bin/log"]}],
        },
    }
    path = "/apis/apps.kruise.io/v1alpha1/sidecarsets"
    until("the webhooks of the controller", lambda: api("POST", path, value).code in (201, 409))
    try:
        pod = created(controller, api, namespace, FORMS[0])[0]
    finally:
        api("DELETE", f"{path}/{namespace}").ok()
    host, agent = host_of(pod), agent_of(pod)
    assert agent.allows(CREATE, host.create("pause"))
    assert not agent.allows(CREATE, host.create("log"))
