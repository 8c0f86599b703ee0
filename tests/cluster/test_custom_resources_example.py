"""examples/custom-resources on a control plane with the three real controllers: valid, made, started, checked."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests import quick_yaml as yaml
from tests.cluster.api import Api, until
from tests.cluster.control_plane import ControlPlane
from tests.cluster.custom_controllers import KUBERAY, LWS, ROLLOUTS, running
from tests.cluster.made_pods import CREATE, agent_of, host_of, names
from tests.hosts.running import EXAMPLES, called

Json = dict[str, Any]
EXAMPLE = EXAMPLES / "custom-resources"
RENDERED = (EXAMPLE / "expected/rendered.yaml").read_bytes()
CUSTOM = {"LeaderWorkerSet": 4, "RayCluster": 3, "Rollout": 3}  # and how many pods each makes


@pytest.fixture(name="controllers", scope="module")
def the_controllers(cluster: ControlPlane) -> Iterator[ControlPlane]:
    with running(LWS, cluster), running(KUBERAY, cluster), running(ROLLOUTS, cluster):
        yield cluster


@pytest.fixture(name="applied")
def the_applied(controllers: ControlPlane, api: Api, shop: str) -> Iterator[list[Json]]:
    """The pods that the controllers make of the committed output, as it is applied."""

    def accepted() -> bool:  # once the webhooks answer
        done = controllers.kubectl("apply", "--validate=strict", "-f", "-", stdin=RENDERED.decode())
        return done.returncode == 0

    def made() -> list[Json]:
        return [one for one in api.items("Pod", shop) if not one["metadata"]["name"].startswith("coordinator")]

    until("every object of the example", accepted, 120)
    try:
        until("every pod of the example", lambda: len(made()) == sum(CUSTOM.values()), 180)
        yield made()
    finally:
        for kind in CUSTOM:
            controllers.kubectl("-n", shop, "delete", kind, "--all", "--wait=false")


def test_every_pod_of_the_example_starts_and_check_finds_nothing(
    controllers: ControlPlane, applied: list[Json]
) -> None:
    for pod in applied:
        host, agent = host_of(pod), agent_of(pod)
        for name in names(host):
            assert agent.allows(CREATE, host.create(name)), (pod["metadata"]["name"], name)
        for probe in probes(pod):
            assert agent.allows("ExecProcessRequest", host.execute("ray", probe)), (pod["metadata"]["name"], probe)
    compared = called("check", "-", "--cluster", stdin=RENDERED, env={"KUBECONFIG": str(controllers.kubeconfig)})
    assert [line for line in compared.err.splitlines() if line.startswith("error")] == []


def probes(pod: Json) -> list[list[str]]:
    containers = [one for one in pod["spec"]["containers"] if one["name"] == "ray"]
    return [one[key]["exec"]["command"] for one in containers for key in ("livenessProbe", "readinessProbe")]


def test_the_example_has_the_kinds_that_are_counted_here() -> None:
    kinds = {one["kind"] for one in yaml.safe_load_all(RENDERED)}
    assert kinds >= set(CUSTOM)
