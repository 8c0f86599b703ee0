"""Rule of this file: what a correct host asks of the agent, from the sandbox to the end of a pod, out of the policy.

The order and the fields are those of Kata's shim (docs/facts/kata-rules.md#requests); every request here must be
allowed.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from krm_function.kubernetes.pod_names import HASH, MINUTES, NUMBER, RANDOM
from tests.policy.host import SANDBOX_ID, Agent, Host, Json


class Asked(NamedTuple):
    """One request of a correct host, and the state of the agent when it comes."""

    name: str  # "create app"
    entry_point: str
    state: Json
    request: Json


def life(rego: str, *, quick: bool = False) -> Iterator[Asked]:
    """All requests of a pod's life, each after the agent has obeyed the ones before; raises if one is denied."""
    host = Host(rego, *identity(rego))
    agent = Agent(rego, quick=quick)
    for name, entry_point, request in _requests(host):
        state = dict(agent.state)
        if not agent.allows(entry_point, request):
            raise AssertionError(f"a correct host is denied: {name}")
        yield Asked(name, entry_point, state, request)


def identity(rego: str) -> tuple[str, str]:
    """A name and a namespace of a pod that the policy is for."""
    wanted = Host(rego).data["containers"][0]["OCI"]["Annotations"]
    name = wanted.get("io.kubernetes.cri.sandbox-name", "^any$").removeprefix("^").removesuffix("$")
    for letters, sample in ((RANDOM, "x2v9k"), (HASH, "7c5ddbdf54"), (MINUTES, "29384215"), (NUMBER, "28")):
        name = name.replace(letters.pattern(), sample)
    name = re.sub(r"\\(.)", r"\1", name)
    return name, wanted["io.kubernetes.cri.sandbox-namespace"] or "default"


def _requests(host: Host) -> Iterator[tuple[str, str, Json]]:
    data = host.data
    yield "interface", "UpdateInterfaceRequest", {"interface": _interface()}
    yield "routes", "UpdateRoutesRequest", {"routes": {"Routes": [_route("10.0.0.0/16"), _route("")]}}
    yield "sandbox", "CreateSandboxRequest", sandbox(data)
    yield "neighbors", "AddARPNeighborsRequest", {"neighbors": {"ARPNeighbors": [_neighbor()]}}
    for index, container in enumerate(data["containers"]):
        name = container["OCI"]["Annotations"].get("io.kubernetes.cri.container-name", "pause")
        for mount in container["OCI"]["Mounts"]:
            if mount["source"].startswith("$(sfprefix)"):
                yield f"copy {name}", "CopyFileRequest", _copied(host.create(name), mount["destination"])
                break
        yield f"create {name}", "CreateContainerRequest", host.create(name)
        yield f"start {name}", "StartContainerRequest", {"container_id": host.id_of(index)}
        for number, command in enumerate(container["exec_commands"]):
            yield f"exec {name} {number}", "ExecProcessRequest", host.execute(name, command)
    last = len(data["containers"]) - 1
    link = _link(host.create(host.data["containers"][last]["OCI"]["Annotations"]["io.kubernetes.cri.container-name"]))
    yield "link", "CopyFileRequest", link
    for index in reversed(range(len(data["containers"]))):
        yield f"remove {index}", "RemoveContainerRequest", {"container_id": host.id_of(index), "timeout": 0}
    yield "destroy", "DestroySandboxRequest", {}


def sandbox(data: Json) -> Json:
    """CreateSandboxRequest of a correct host. data: of the policy."""
    return {
        "hostname": "web",
        "dns": ["nameserver 10.0.0.10"],
        "storages": data["sandbox"]["storages"],
        "sandbox_pidns": False,
        "sandbox_id": SANDBOX_ID,
        "guest_hook_path": "",
        "kernel_modules": [],
    }


def _interface() -> Json:
    address = {"family": 0, "address": "10.0.0.5", "mask": "16"}
    names = {"device": "eth0", "name": "eth0", "hwAddr": "02:00:00:00:00:01", "devicePath": "", "type_": ""}
    return {**names, "IPAddresses": [address], "mtu": 1500, "raw_flags": 0}


def _route(dest: str) -> Json:
    names = {"dest": dest, "gateway": "" if dest else "10.0.0.1", "device": "eth0", "source": "10.0.0.5"}
    return {**names, "scope": 0, "family": 0, "flags": 0, "mtu": 0}


def _neighbor() -> Json:
    address = {"family": 0, "address": "10.0.0.1", "mask": ""}
    return {"toIPAddress": address, "device": "eth0", "lladdr": "02:00:00:00:00:02", "state": 128, "flags": 0}


def _copied(created: Json, destination: str) -> Json:
    source = next(m["source"] for m in created["OCI"]["Mounts"] if m["destination"] == destination)
    return {"path": source, "file_type": "Regular", "symlink_target": None, **_file()}


def _link(created: Json) -> Json:
    source = next(m["source"] for m in created["OCI"]["Mounts"] if m["destination"] == "/etc/hosts")
    directory = source.removesuffix("hosts") + "look"
    return {"path": f"{directory}/..data", "file_type": "Symlink", "symlink_target": "..2026_11_21", **_file()}


def _file() -> dict[str, Any]:
    return dict.fromkeys(("file_size", "file_mode", "dir_mode", "uid", "gid", "offset"), 0)
