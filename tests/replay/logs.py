"""The logs in data/, made of the requests that were recorded on a node (data/README.md says what is composed).

`WRITE_GOLDEN=1 pytest -n0 tests/replay/test_data.py` writes them anew.
"""

import copy
import json
from pathlib import Path
from typing import Any

from krm_function.contrast.profiles import CONTRAST, Profile
from tests.policy import node, pods
from tests.policy.host import SANDBOX_ID, Host
from tests.policy.test_contrast_node import BUSYBOX, _pod, _sealed

Json = dict[str, Any]

DATA = Path(__file__).parent / "data"
TIME = "2026-11-23T06:00:{:02}.123456789Z"
OTHER_ID = "6" * 64
CANARY = "CANARY-value"


def rego(profile: Profile = CONTRAST) -> str:
    """The policy of the recorded pod: busybox by its digest, as a Pod `test` without a securityContext."""
    return _sealed(_pod(), profile)


def rich_rego(profile: Profile = CONTRAST) -> str:
    """A policy with what most pods have: init containers, volumes, probes, a workload with a template."""
    return pods.sealed(pods.rich(), profile=profile).rego


def host(policy: str, name: str = "test") -> Host:
    """A node of Contrast for a policy."""
    return Host(policy, name, "default" if name == "test" else "shop", node.CONTRAST)


def created(on: Host, container: str) -> Json:
    """CreateContainerRequest, with containerd's path of the cgroup."""
    request = on.create(container)
    request["OCI"]["Linux"]["CgroupsPath"] = f"/kubepods/besteffort/pod{on.tokens['pod-uid']}/{request['container_id']}"
    return request


def life() -> list[tuple[str, Any]]:
    """What a node asks from the beginning of the recorded pod to its end."""
    on = host(rego())
    sandbox, container = created(on, "pause"), created(on, "test")
    lo = {"device": "lo", "name": "eth0", "IPAddresses": [], "mtu": 1450, "hwAddr": "0a:58:0a:2a:00:05"}
    route = {"dest": "", "gateway": "10.42.0.1", "device": "eth0", "source": "", "scope": 0, "family": 0}
    shm = copy.deepcopy(on.data["sandbox"]["storages"])
    of = {"container_id": container["container_id"]}
    return [
        ("UpdateInterfaceRequest", {"interface": {**lo, "devicePath": "", "type_": "", "raw_flags": 0}}),
        ("UpdateRoutesRequest", {"routes": {"Routes": [{**route, "flags": 0, "mtu": 0}]}}),
        (
            "CreateSandboxRequest",
            {
                "hostname": "test",
                "dns": [],
                "storages": shm,
                "sandbox_pidns": False,
                "sandbox_id": SANDBOX_ID,
                "guest_hook_path": "",
                "kernel_modules": [],
            },
        ),
        ("CreateContainerRequest", sandbox),
        ("StartContainerRequest", {"container_id": sandbox["container_id"]}),
        ("CreateContainerRequest", container),
        ("StartContainerRequest", of),
        ("ReadStreamRequest", {**of, "exec_id": container["exec_id"], "len": 32768}),
        ("SignalProcessRequest", {**of, "exec_id": "", "signal": 15}),
        ("WaitProcessRequest", {**of, "exec_id": container["exec_id"]}),
        ("RemoveContainerRequest", {**of, "timeout": 0}),
        ("DestroySandboxRequest", {}),
    ]


def refused() -> list[tuple[str, Any]]:
    """The same up to the container, which an admission webhook and a moved tag have changed."""
    asked = [(kind, copy.deepcopy(request)) for kind, request in life()[:6]]
    container = asked[-1][1]
    container["OCI"]["Process"]["Env"].append(f"HTTP_PROXY=http://user:{CANARY}@proxy.example.com")
    container["storages"][0]["source"] = f"{BUSYBOX.partition('@')[0]}@sha256:{'0' * 64}"
    return asked


def line(kind: str, request: Any) -> str:
    """A line of the agent's own file."""
    return json.dumps({"kind": kind, "request": request}, separators=(",", ":"))


def agent(asked: list[tuple[str, Any]]) -> str:
    """The agent's own file."""
    return "".join(f"{line(*one)}\n" for one in asked)


def journal(asked: list[tuple[str, Any]], sandbox: str = SANDBOX_ID) -> str:
    """containerd's journal, with the console of the VM in `msg`, quoted as Go quotes."""
    lines = ["Nov 23 06:00:00 node-1 systemd[1]: Started containerd container runtime."]
    for number, one in enumerate(asked, 1):
        said = json.dumps(line(*one), ensure_ascii=False)
        head = f'Nov 23 06:00:{number:02} node-1 containerd[812]: time="{TIME.format(number)}" level=debug'
        lines.append(f"{head} msg={said} name=containerd-shim-v2 pid=4711 sandbox={sandbox} source=console")
    return "".join(f"{one}\n" for one in lines)


def kubectl(asked: list[tuple[str, Any]]) -> str:
    """`kubectl logs --timestamps` of a pod that prints the file, among other lines."""
    lines = [f"{TIME.format(n)} {line(*one)}" for n, one in enumerate(asked, 1)]
    return "".join(f"{one}\n" for one in (f"{TIME.format(0)} starting", *lines, f"{TIME.format(59)} done"))


def of_another_pod(asked: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """The same requests of a pod `db-0` in another sandbox."""
    text = json.dumps(asked).replace(SANDBOX_ID, OTHER_ID)
    text = text.replace('"io.kubernetes.cri.sandbox-name": "test"', '"io.kubernetes.cri.sandbox-name": "db-0"')
    moved = [(kind, request) for kind, request in json.loads(text)]
    for _, request in moved:
        if request.get("container_id", "").startswith("0"):
            request["container_id"] = "f" * 63 + "1"
    return moved


EVENTS = """\
LAST SEEN   TYPE      REASON      OBJECT     MESSAGE
2m          Normal    Scheduled   pod/test   Successfully assigned default/test to node-1
2m          Normal    Pulled      pod/test   Container image already present on machine
90s         Warning   Failed      pod/test   Error: failed to create containerd task: rpc status: \
Status { code: PERMISSION_DENIED, message: "CreateContainerRequest is blocked by policy: [\\"CANARY-value\\"]" }
Nov 23 06:00:07 node-1 containerd[812]: time="2026-11-23T06:00:07.5Z" level=error msg="StartContainer for \\"test\\" \
failed" error="CreateContainerRequest is blocked by policy: "
"""

FILES = {
    "life.jsonl": lambda: agent(life()),
    "refused.jsonl": lambda: agent(refused()),
    "refused-journal.log": lambda: journal(refused()),
    "refused-kubectl.log": lambda: kubectl(refused()),
    "node-journal.log": lambda: "".join(
        first + second
        for first, second in zip(
            journal(refused()).splitlines(keepends=True),
            journal(of_another_pod(life()), OTHER_ID).splitlines(keepends=True),
            strict=False,
        )
    ),
    "events.txt": lambda: EVENTS,
}
