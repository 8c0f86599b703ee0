"""What holds of a VM after every sequence of requests, whatever the host has asked (docs/explanation/threat-model.md).

Rule of this file: an invariant looks at what the agent has, never at the state of the rules.
"""

from collections import Counter
from collections.abc import Iterator

from krm_function.policy.image_storage import DRIVER
from tests.policy.host import Host, Json
from tests.policy.lifetimes.agent import BUILT_IN, Container, Machine


def broken(machine: Machine, host: Host) -> Iterator[str]:
    """Say what does not hold."""
    names = [container_name(entry) for entry in host.data["containers"]]
    running = machine.running()
    for one in running:
        if one.name not in names:
            yield f"{one.name} runs, which the pod does not have"
            continue
        entry = host.data["containers"][names.index(one.name)]
        yield from _image(one, entry)
        yield from _one_entry(one, entry, host.create(one.name, one.request["container_id"]))
    staying = Counter(one.name for one in running if not one.leaving)
    yield from (f"{name} runs {count} times at once" for name, count in staying.items() if count > 1)
    if sum(staying.values()) > len(names):
        yield f"{sum(staying.values())} containers run, of {len(names)}"
    yield from _one_pod(running)


def container_name(entry: Json) -> str:
    """The name of a container of the policy; of the sandbox's, the word for its image."""
    return str(entry["OCI"]["Annotations"].get("io.kubernetes.cri.container-name", BUILT_IN))


def _digest(reference: str) -> str:
    return reference.partition("@")[2] or reference


def _image(one: Container, entry: Json) -> Iterator[str]:
    """The root file system is the image that the policy names for the container."""
    wanted = next(storage["source"] for storage in entry["storages"] if storage["driver"] == DRIVER)
    if _digest(one.root) != _digest(wanted):
        yield f"{one.name} runs on {one.root}, not on {wanted}"


def _one_entry(one: Container, entry: Json, correct: Json) -> Iterator[str]:
    """Arguments, variables, mounts and commands are those of one and the same entry. correct: an honest request."""
    process, expected = one.request["OCI"]["Process"], correct["OCI"]["Process"]
    if process["Args"] != expected["Args"]:
        yield f"{one.name} runs with arguments that are not its own"
    if not set(process["Env"]) <= set(expected["Env"]):
        yield f"{one.name} runs with variables that are not its own"
    given, wanted = ({mount["destination"] for mount in made["OCI"]["Mounts"]} for made in (one.request, correct))
    if not given <= wanted:
        yield f"{one.name} runs with mounts that are not its own"
    if not {tuple(command) for command in entry["exec_commands"]} >= set(one.commands):
        yield f"a command runs in {one.name} that is not its own"


def _one_pod(running: list[Container]) -> Iterator[str]:
    """All containers are of one pod: its name, its namespace, its sandbox."""
    for key in ("sandbox-name", "sandbox-namespace", "sandbox-id"):
        found = {one.request["OCI"]["Annotations"][f"io.kubernetes.cri.{key}"] for one in running}
        if len(found) > 1:
            yield f"containers of several pods run: {key} {sorted(found)}"
