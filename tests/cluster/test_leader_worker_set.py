"""The real controller of LeaderWorkerSets decides: the pods that it makes of a rendered object start on a node.

Each pod is sealed by itself, as it stands in the cluster, which tells what a correct host asks of its agent; the policy
of the template must allow that, and nothing else.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.cluster.api import Api
from tests.cluster.control_plane import ControlPlane
from tests.cluster.custom_controllers import LWS, create, running
from tests.cluster.made_pods import (
    CREATE,
    agent_of,
    assert_starts,
    beside_the_coordinator,
    generated,
    host_of,
    made_pods,
    names,
    object_of,
)
from tests.custom_resources.objects import leader_worker_set
from tests.hosts.running import called

Json = dict[str, Any]
SIZE = 3
FORMS: dict[str, Json] = {
    "both templates": {},
    "one template": {"leaderTemplate": None},
    "a subdomain for each group": {"networkConfig": {"subdomainPolicy": "UniquePerReplica"}},
}


@pytest.fixture(name="controller", scope="module")
def the_controller(cluster: ControlPlane) -> Iterator[ControlPlane]:
    with running(LWS, cluster) as made:
        yield made


def rendered(namespace: str, form: str, name: str = "llm") -> Json:
    """A LeaderWorkerSet of two groups, sealed."""
    value = leader_worker_set(name)
    value["metadata"]["namespace"] = namespace
    spec = value["spec"]
    for field, given in FORMS[form].items():
        if given is None:
            del spec["leaderWorkerTemplate"][field]
        else:
            spec[field] = given
    output = generated(value)
    return object_of(output, "LeaderWorkerSet")


@pytest.mark.parametrize("form", FORMS)
def test_every_pod_of_the_controller_starts(controller: ControlPlane, api: Api, namespace: str, form: str) -> None:
    made = created(controller, api, namespace, form)
    assert len(made) == 2 * SIZE
    for pod in made:
        assert_starts(pod)


@pytest.mark.parametrize("length", [40, 49, 50])
def test_the_pods_of_a_long_name_start(controller: ControlPlane, api: Api, namespace: str, length: int) -> None:
    create(controller, LWS, rendered(namespace, "both templates", "n" * length))
    for pod in made_pods(api, namespace, 2 * SIZE):
        assert_starts(pod)


CHANGES: dict[str, Callable[[Json], None]] = {
    "another size": lambda request: _variable(request, "LWS_GROUP_SIZE", "99"),
    "another leader": lambda request: _variable(request, "LWS_LEADER_ADDRESS", "evil.example.com"),
    "a leader of another object": lambda request: _variable(request, "LWS_LEADER_ADDRESS", "llm2-0.llm2.shop"),
    "no number": lambda request: _variable(request, "LWS_WORKER_INDEX", "1;id"),
    "one more variable": lambda request: request["OCI"]["Process"]["Env"].append("LWS_OTHER=1"),
    "another command": lambda request: request["OCI"]["Process"]["Args"].__setitem__(0, "/bin/evil"),
    "another name": lambda request: request["OCI"]["Annotations"].update({"io.kubernetes.cri.sandbox-name": "evil-0"}),
}


def _variable(request: Json, name: str, value: str) -> None:
    env = request["OCI"]["Process"]["Env"]
    (at,) = [index for index, text in enumerate(env) if text.startswith(f"{name}=")]
    env[at] = f"{name}={value}"


def test_a_single_change_of_them_is_denied(controller: ControlPlane, api: Api, namespace: str) -> None:
    for pod in created(controller, api, namespace, "both templates"):
        host = host_of(pod)
        main = pod["spec"]["containers"][0]["name"]
        for name in (main, "contrast-initializer"):
            for what, change in CHANGES.items():
                agent = agent_of(pod)
                assert agent.allows(CREATE, host.create("pause"))
                request = host.create(name)
                change(request)
                assert not agent.allows(CREATE, request), (pod["metadata"]["name"], name, what)


def test_scaled_up_the_new_pods_start(controller: ControlPlane, api: Api, namespace: str) -> None:
    created(controller, api, namespace, "both templates")
    scaled = controller.kubectl("-n", namespace, "scale", "leaderworkersets/llm", "--replicas", "3")
    assert scaled.returncode == 0, scaled.stderr
    made = made_pods(api, namespace, 3 * SIZE)
    pod = next(one for one in made if one["metadata"]["name"] == "llm-2-1")
    host, agent = host_of(pod), agent_of(pod)
    assert all(agent.allows(CREATE, host.create(name)) for name in names(host))


def created(cluster: ControlPlane, api: Api, namespace: str, form: str) -> list[Json]:
    """The pods that the controller makes of a rendered object."""
    create(cluster, LWS, rendered(namespace, form))
    return made_pods(api, namespace, 2 * SIZE)


def test_check_of_the_cluster_knows_what_the_controller_made(
    controller: ControlPlane, api: Api, namespace: str
) -> None:
    """The coordinator of the output is absent, and nothing else is said: of the object, its StatefulSets, its pods."""
    value = leader_worker_set("llm")
    value["metadata"]["namespace"] = namespace
    output = generated(value)
    create(controller, LWS, object_of(output, "LeaderWorkerSet"))
    made_pods(api, namespace, 2 * SIZE)
    said = beside_the_coordinator(controller, namespace, "leaderworkersets", output)
    assert said == [], said
    environment = {"KUBECONFIG": str(controller.kubeconfig)}
    for pod in ("llm-0", "llm-1-2"):
        causes = called("why", f"pod/{pod}", "--cluster", "--namespace", namespace, env=environment).out.decode()
        assert "CC1161" in causes, causes  # there is no node here
        assert "CC1165" not in causes, causes
