"""`plan --cluster` of the quickstart says of a real cluster what happens there when the render is applied."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import quick_yaml as yaml
from tests.cluster.api import Api, Json, until
from tests.cluster.conftest import add_namespace, clear_runtime_classes
from tests.cluster.control_plane import ControlPlane
from tests.cluster.made_up_nodes import made_up_nodes
from tests.cluster.runtime_classes_option import emitting
from tests.hosts.hosts import WEB
from tests.hosts.running import EXAMPLES, Machine
from tests.wording import wording

QUICKSTART = EXAMPLES / "quickstart"
NODES: list[Json] = yaml.safe_load((QUICKSTART / "nodes.yaml").read_text())["items"]
RESOURCES = str(QUICKSTART / "resources")
ARGUMENTS = (RESOURCES, "--config", str(QUICKSTART / "config"))


@pytest.fixture(scope="module")
def five_nodes(api: Api) -> Iterator[list[Json]]:
    with made_up_nodes(api, NODES) as stored:
        yield stored


def planned(machine: Machine, cluster: ControlPlane, *arguments: str) -> list[Any]:
    """The workloads of a plan as JSON."""
    ran = machine.krm("plan", *arguments, "-o", "json", KUBECONFIG=str(cluster.kubeconfig))
    workloads: list[Any] = json.loads(ran.ok())["workloads"]
    return workloads


@pytest.mark.usefixtures("five_nodes")
def test_the_plan_of_the_cluster_is_that_of_its_nodes_in_a_file(
    cluster: ControlPlane, krm_machine: Machine, tmp_path: Path
) -> None:
    printed = cluster.kubectl("get", "nodes", "-o", "yaml")
    (tmp_path / "nodes.yaml").write_text(printed.stdout)
    of_cluster = planned(krm_machine, cluster, *ARGUMENTS, "--cluster")
    assert of_cluster == planned(krm_machine, cluster, *ARGUMENTS, "--nodes", str(tmp_path / "nodes.yaml"))
    by_hand = planned(krm_machine, cluster, *ARGUMENTS, "--nodes", str(QUICKSTART / "nodes.yaml"))
    assert [one["nodes"]["fitting"] for one in of_cluster] == [sorted(one["nodes"]["fitting"]) for one in by_hand]


@pytest.mark.usefixtures("five_nodes")
def test_pods_run_where_the_plan_says(
    api: Api, cluster: ControlPlane, krm_machine: Machine, no_shop: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    arguments = (RESOURCES, "--config", str(emitting(QUICKSTART / "config", tmp_path)))
    plan = {one["name"]: one["nodes"]["fitting"] for one in planned(krm_machine, cluster, *arguments, "--cluster")}
    add_namespace(api, no_shop)
    rendered = krm_machine.krm("generate", *arguments).ok()
    done = cluster.kubectl("apply", "-f", "-", stdin=rendered.decode())
    request.addfinalizer(lambda: clear_runtime_classes(api))
    assert done.returncode == 0, done.stderr

    def all_bound() -> list[Json] | None:
        pods = api.items("Pod", no_shop)
        owners = {_workload(pod, plan) for pod in pods}
        return pods if owners >= _started(plan) and all(pod["spec"].get("nodeName") for pod in pods) else None

    pods: list[Json] = until("the pods of the quickstart", all_bound)
    for pod in pods:
        if name := _workload(pod, plan):
            assert pod["spec"]["nodeName"] in plan[name]


AGENT = """
apiVersion: apps/v1
kind: DaemonSet
metadata: {{name: agent, namespace: {namespace}}}
spec:
  selector: {{matchLabels: {{app: agent}}}}
  template:
    metadata: {{labels: {{app: agent}}}}
    spec:
      runtimeClassName: contrast-cc-{platform}
      containers:
        - name: agent
          image: {image}
"""


@pytest.mark.usefixtures("five_nodes", "shop")
@pytest.mark.parametrize("platform", ["metal-qemu-snp", "metal-qemu-snp-gpu"])
def test_a_daemon_set_runs_where_the_plan_says(
    api: Api, cluster: ControlPlane, krm_machine: Machine, tmp_path: Path, request: pytest.FixtureRequest, platform: str
) -> None:
    """It names nothing but its class, and has pods on the planned nodes alone; all of them run."""
    shutil.copytree(QUICKSTART / "resources", tmp_path / "resources")
    (tmp_path / "resources" / "agent.yaml").write_text(AGENT.format(image=WEB, namespace="shop", platform=platform))
    arguments = (str(tmp_path / "resources"), "--config", str(emitting(QUICKSTART / "config", tmp_path)))
    plan = {one["name"]: one["nodes"]["fitting"] for one in planned(krm_machine, cluster, *arguments, "--cluster")}
    request.addfinalizer(lambda: clear_runtime_classes(api))
    done = cluster.kubectl("apply", "-f", "-", stdin=krm_machine.krm("generate", *arguments).ok().decode())
    assert done.returncode == 0, done.stderr

    def settled() -> list[Json] | None:
        status = api.get("DaemonSet", "agent", "shop").ok().get("status", {})
        pods = [pod for pod in api.items("Pod", "shop") if pod["metadata"]["name"].startswith("agent-")]
        decided = all(pod["status"].get("conditions") for pod in pods)
        done = status.get("observedGeneration") and status["desiredNumberScheduled"] == len(pods) and decided
        return [*pods, {}] if done else None

    pods: list[Json] = until("the pods of the DaemonSet", settled)[:-1]
    assert sorted(pod["spec"].get("nodeName", "nowhere") for pod in pods) == sorted(plan["agent"])


def _started(plan: Json) -> set[str]:
    """The workloads that have pods at once: all but the CronJobs."""
    rendered = (QUICKSTART / "expected" / "rendered.yaml").read_text()
    crons = {
        value["metadata"]["name"] for value in yaml.safe_load_all(rendered) if value and value["kind"] == "CronJob"
    }
    return set(plan) - crons


def _workload(pod: Json, plan: Json) -> str:
    """The workload of the plan that a pod belongs to, by its name; "" for another one."""
    name = pod["metadata"]["name"]
    return max((one for one in plan if name == one or name.startswith(f"{one}-")), key=len, default="")


def test_without_the_right_to_see_nodes_the_plan_is_made_and_says_what_it_lacks(
    api: Api, cluster: ControlPlane, krm_machine: Machine, namespace: str, tmp_path: Path
) -> None:
    """A service account may not list nodes; its token is in no message."""
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/default/token"
    token = api("POST", path, request).ok()["status"]["token"]
    config = json.loads(cluster.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": token}
    (tmp_path / "kubeconfig").write_text(json.dumps(config))
    ran = krm_machine.krm("plan", *ARGUMENTS, "--cluster", KUBECONFIG=str(tmp_path / "kubeconfig"))
    assert (ran.code, "shop/web" in ran.out.decode()) == (0, True), ran.err
    assert f"warning CC1134: {wording('CC1134', answer='403 Forbidden')}\n" in ran.err
    assert "warning CC1121: the RuntimeClasses of the cluster were not compared" in ran.err
    assert "this user may not create pods in namespace shop\n" in ran.err
    assert token not in ran.err + ran.out.decode()
