"""Sequences of requests with the verdict on each, found by the search or by hand: the loss of a rule shows in them.

Rule of this file: a row is data. `play` gives it to an agent, which keeps the state as the rules say.
"""

import copy
from typing import Any, NamedTuple

from krm_function.contrast.profiles import Profile
from tests.policy import pods
from tests.policy.host import NETNS, SANDBOX_ID, Agent, Host, Json
from tests.policy.oracle.requests import sandbox

NAME, OTHER_NAME = "web-7c5ddbdf54-x2v9k", "web-7c5ddbdf54-bbbbb"
HEALTH = ["/bin/app", "health"]
KEYS = ("sandbox_name", "namespace", "network_namespace", "sandbox_id")  # of the state, and no ids


class Step(NamedTuple):
    """A request and its verdict. verb: create | start | remove | exec | sandbox.

    own: the number of an id, 0 for the sandbox's, or a key of the state. pod, namespace, network: of the pod that a
    creation is for; within: number of the sandbox's id that it names.
    """

    verb: str
    container: str
    own: int | str
    allowed: bool
    pod: str = NAME
    namespace: str = "shop"
    network: str = ""
    within: int = 0


def create(container: str, own: int, allowed: bool, **values: Any) -> Step:
    return Step("create", container, own, allowed, **values)


def start(own: int | str, allowed: bool) -> Step:
    return Step("start", "", own, allowed)


def remove(own: int | str, allowed: bool) -> Step:
    return Step("remove", "", own, allowed)


def execute(own: int, allowed: bool) -> Step:
    return Step("exec", "app", own, allowed)


def create_sandbox(own: int, allowed: bool) -> Step:
    return Step("sandbox", "", own, allowed)


# id 0 is the sandbox's
ROWS: dict[str, tuple[Step, ...]] = {
    "an honest life, with a restart": (
        create_sandbox(0, True),
        create("pause", 0, True),
        start(0, True),
        create("prepare", 1, True),
        start(1, True),
        remove(1, True),
        create("app", 2, True),
        start(2, True),
        execute(2, True),
        create("side", 3, True),
        start(3, True),
        remove(2, True),
        create("app", 4, True),
        start(4, True),
        execute(4, True),
        remove(4, True),
        remove(3, True),
        remove(0, True),
    ),
    # found by the search: the image of the first stays mounted where the second one's is to be
    "an id after its removal": (
        create("prepare", 1, True),
        remove(1, True),
        create("app", 1, False),
        create("prepare", 1, False),
        create("app", 2, True),
    ),
    # found by the search: the VM takes its own pause image for the id that it knows as the sandbox's
    "a sandbox of another id than the requests say": (
        create_sandbox(1, True),
        create("app", 1, False),
        create("app", 2, False, within=0),
        create("pause", 1, True, within=1),
        create("app", 2, True, within=1),
    ),
    "a second sandbox": (
        create_sandbox(0, True),
        create_sandbox(1, False),
        create("pause", 0, True),
        create_sandbox(1, False),
        create_sandbox(0, True),
    ),
    "a sandbox after its container": (create("pause", 0, True), create_sandbox(1, False), create_sandbox(0, True)),
    "the sandbox's id for a container": (create("app", 0, False), create("pause", 1, False), create("pause", 0, True)),
    "an id that another container has": (
        create("app", 1, True),
        create("side", 1, False),
        start(1, True),
        execute(1, True),
    ),
    "an id that the same container has": (create("app", 1, True), create("app", 1, False), start(1, True)),
    "a container that runs already": (
        create("app", 1, True),
        start(1, True),
        create("app", 2, False),
        create("side", 2, True),
        start(2, True),
        remove(1, True),
        create("app", 3, True),
        start(3, True),
    ),
    "a container that was created and never started": (
        create("side", 3, True),
        create("app", 1, True),
        create("app", 2, True),
        start(1, False),
        execute(1, False),
        start(2, True),
        execute(2, True),
        remove(1, True),
        remove(1, False),
        start(3, True),
        create("app", 1, False),
    ),
    "a command": (
        execute(1, False),
        create("app", 1, True),
        execute(1, True),
        start(1, True),
        execute(1, True),
        create("side", 2, True),
        start(2, True),
        execute(2, False),
        remove(1, True),
        execute(1, False),
    ),
    "a start too many": (
        start(1, False),
        create("app", 1, True),
        start(1, True),
        start(1, False),
        remove(1, True),
        start(1, False),
    ),
    "a removal too many": (
        remove(1, False),
        create("app", 1, True),
        start(1, True),
        remove(1, True),
        remove(1, False),
        execute(1, False),
        create("app", 1, False),
    ),
    "what the state has of the pod is no container": (
        create("app", 1, True),
        *(step(key, False) for key in KEYS for step in (start, remove)),
        create("side", 2, False, pod=OTHER_NAME),
    ),
    "a pod of another name": (
        create("app", 1, True),
        create("side", 2, False, pod=OTHER_NAME),
        remove(1, True),
        create("side", 2, False, pod=OTHER_NAME),
        create("side", 2, True),
    ),
    "a pod of another namespace": (
        create("app", 1, True, namespace="blue"),
        create("side", 2, False, namespace="green"),
        create("side", 2, True, namespace="blue"),
    ),
    "a pod of another network": (
        create("app", 1, True, network=NETNS),
        create("side", 2, False),
        create("side", 2, False, network=NETNS + "0"),
        create("side", 2, True, network=NETNS),
    ),
}


def policy(profile: Profile) -> str:
    """Seal a pod in any namespace, of an init container and two others; one of them has a probe."""
    digits = {"prepare": "1", "app": "2", "side": "3"}
    images = {name: f"registry.example.com/shop/{name}:1@sha256:{digit * 64}" for name, digit in digits.items()}
    app = {"name": "app", "image": images["app"], "livenessProbe": {"exec": {"command": HEALTH}}}
    spec = {
        "initContainers": [{"name": "prepare", "image": images["prepare"]}],
        "containers": [app, {"name": "side", "image": images["side"]}],
    }
    return pods.sealed(pods.workload(spec, metadata={"name": "web"}), profile=profile).rego


def number(own: int | str) -> str:
    """The id of a number; a key of the state is itself."""
    return own if isinstance(own, str) else f"{own:064x}" if own else SANDBOX_ID


def play(rego: str, steps: tuple[Step, ...], agent: Agent) -> list[bool]:
    """Ask an agent for each step; what it answers."""
    return [_ask(rego, step, agent) for step in steps]


def _ask(rego: str, step: Step, agent: Agent) -> bool:
    host, own = Host(rego, step.pod, step.namespace), number(step.own)
    match step.verb:
        case "create":
            return agent.allows("CreateContainerRequest", _creation(host, step, own))
        case "start":
            return agent.allows("StartContainerRequest", {"container_id": own})
        case "remove":
            return agent.allows("RemoveContainerRequest", {"container_id": own, "timeout": 0})
        case "exec":
            return agent.allows("ExecProcessRequest", {**host.execute(step.container, HEALTH), "container_id": own})
        case _:
            return agent.allows("CreateSandboxRequest", {**sandbox(host.data), "sandbox_id": own})


def _creation(host: Host, step: Step, own: str) -> Json:
    request = copy.deepcopy(host.create(step.container, own))
    request["OCI"]["Annotations"]["io.kubernetes.cri.sandbox-id"] = number(step.within)
    if step.network:
        request["OCI"]["Linux"]["Namespaces"].append({"Type": "network", "Path": step.network})
    return request
