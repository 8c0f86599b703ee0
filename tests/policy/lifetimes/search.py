"""Search for a sequence of requests that breaks an invariant: hypothesis plays the host, up to twelve requests long.

A host may send anything. Tried here is what could matter to a sequence: honest requests of any container, under any id
that was used before or never, in any order, with one part of another container, pod or id in it; creations and removals
that fail in the agent's hands; commands; a second sandbox. Changes of a single request are the oracle's
(tests/policy/oracle).
"""

import copy
from collections.abc import Callable
from typing import NamedTuple

from hypothesis import HealthCheck, Phase, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from tests.policy.host import SANDBOX_ID, Host, Json
from tests.policy.lifetimes.agent import BUILT_IN, Creation, Machine, Removal
from tests.policy.lifetimes.invariants import broken, container_name
from tests.policy.lifetimes.rows import KEYS
from tests.policy.oracle.requests import identity, sandbox

LENGTH = 12
IDS = (SANDBOX_ID, *(f"{number:064x}" for number in range(1, 6)))
CREATIONS: tuple[Creation, ...] = ("succeeds", "succeeds", "fails at once", "fails with its storages mounted")
REMOVALS: tuple[Removal, ...] = ("succeeds", "leaves its storages", "is refused")


class Part(NamedTuple):
    """A part of a request that may be another container's, or of another id."""

    name: str
    take: Callable[[Json, Json], object]  # into the request, out of the other one


def _process(key: str) -> Callable[[Json, Json], object]:
    return lambda request, other: request["OCI"]["Process"].update({key: other["OCI"]["Process"][key]})


def _note(key: str) -> Callable[[Json, Json], object]:
    def take(request: Json, other: Json) -> None:
        request["OCI"]["Annotations"].pop(key, None)
        if key in other["OCI"]["Annotations"]:
            request["OCI"]["Annotations"][key] = other["OCI"]["Annotations"][key]

    return take


def _pulled(key: str) -> Callable[[Json, Json], object]:
    return lambda request, other: request["storages"][0].update({key: other["storages"][0][key]})


def _cgroup(request: Json, other: Json) -> None:
    request["OCI"]["Linux"]["CgroupsPath"] = other["OCI"]["Linux"]["CgroupsPath"]


PARTS = (
    Part("arguments", _process("Args")),
    Part("variables", _process("Env")),
    Part("mounts", lambda request, other: request["OCI"].update(Mounts=other["OCI"]["Mounts"])),
    Part("storages", lambda request, other: request.update(storages=other["storages"])),
    Part("image", _pulled("source")),
    Part("place of the image", _pulled("mount_point")),
    Part("root", lambda request, other: request["OCI"].update(Root=other["OCI"]["Root"])),
    Part("container's name", _note("io.kubernetes.cri.container-name")),
    Part("container's kind", _note("io.kubernetes.cri.container-type")),
    Part("annotations", lambda request, other: request["OCI"].update(Annotations=other["OCI"]["Annotations"])),
    Part("cgroup", _cgroup),
    Part("id", lambda request, other: request.update(container_id=other["container_id"])),
)
BY_NAME = {part.name: part for part in PARTS}
ENTRY_POINTS = ("DestroySandboxRequest", "UpdateContainerRequest", "SignalProcessRequest")
NUMBERS = st.integers(0, 11)  # of what there is


class HostileHost(RuleBasedStateMachine):
    """A host that wants one of the invariants broken; `search` makes a class of it for each policy."""

    rego = ""
    steps = 0  # of all sequences

    def __init__(self) -> None:
        """Begin with a VM in which nothing has happened."""
        super().__init__()
        self.machine = Machine(self.rego)
        name, namespace = identity(self.rego)
        self.host = Host(self.rego, name, namespace)
        self.names = [container_name(entry) for entry in self.host.data["containers"]]
        self.used: list[str] = []
        self.obeyed: list[str] = []

    @rule(which=NUMBERS, own=NUMBERS, how=st.sampled_from(CREATIONS), starts=st.booleans())
    def create(self, which: int, own: int, how: Creation, *, starts: bool) -> None:
        """Create a container as an honest host would, under an id that may have been used, and perhaps start it."""
        name, own_id = self._name(which), self._used(own)
        if name == BUILT_IN and own % 2:
            own_id = SANDBOX_ID
        self._create(f"create {name} as {short(own_id)}", self.host.create(name, own_id), how, starts=starts)

    @rule(
        which=NUMBERS,
        own=NUMBERS,
        how=st.sampled_from(CREATIONS),
        part=st.sampled_from((None, *BY_NAME)),
        other=NUMBERS,
        other_id=NUMBERS,
        sandbox_id=st.sampled_from(IDS),
        starts=st.booleans(),
    )
    def mix(
        self,
        which: int,
        own: int,
        how: Creation,
        part: str | None,
        other: int,
        other_id: int,
        sandbox_id: str,
        *,
        starts: bool,
    ) -> None:
        """Create a container with one part of another one, or of another id, or in another sandbox."""
        name, own_id = self._name(which), self._used(own)
        request, told = copy.deepcopy(self.host.create(name, own_id)), f"create {name} as {short(own_id)}"
        if part:
            BY_NAME[part].take(request, self.host.create(self._name(other), self._used(other_id)))
            told += f" with the {part} of {self._name(other)} as {short(self._used(other_id))}"
        else:
            request["OCI"]["Annotations"]["io.kubernetes.cri.sandbox-id"] = sandbox_id
            told += f" in sandbox {short(sandbox_id)}"
        self._create(told, request, how, starts=starts)

    def _create(self, told: str, request: Json, how: Creation, *, starts: bool) -> None:
        own = request["container_id"]
        if own not in self.used:
            self.used.append(own)
        self._look(f"{told}, which {how}", obeyed=self.machine.create(request, how))
        if starts:
            self._look(f"start {short(own)}", obeyed=self.machine.start(own))

    @rule(own=NUMBERS, how=st.sampled_from(REMOVALS))
    def remove(self, own: int, how: Removal) -> None:
        """Remove a container."""
        self._look(f"remove {short(self._used(own))}, which {how}", obeyed=self.machine.remove(self._used(own), how))

    @rule(what=st.sampled_from((*IDS, *KEYS, *ENTRY_POINTS, "start", "exec", "exec")), which=NUMBERS, own=NUMBERS)
    def other(self, what: str, which: int, own: int) -> None:
        """Start a container, run a command of any container in it, create a sandbox, or ask for something else."""
        own_id = self._used(own)
        match what:
            case "start":
                self._look(f"start {short(own_id)}", obeyed=self.machine.start(own_id))
            case "exec":
                self._execute(which, own_id)
            case _ if what in IDS:
                request = {**sandbox(self.host.data), "sandbox_id": what}
                self._look(f"create sandbox {short(what)}", obeyed=self.machine.create_sandbox(request))
            case _ if what in KEYS:
                self._look(f"remove {what}", obeyed=self.machine.remove(what, "succeeds"))
            case _:
                self._look(what, obeyed=self.machine.ask(what, {"container_id": own_id}))

    def _execute(self, which: int, own: str) -> None:
        commands = [
            (name, args)
            for name, entry in zip(self.names, self.host.data["containers"], strict=True)
            for args in entry["exec_commands"] or [["sh"]]
        ]
        name, args = commands[which % len(commands)]
        request = {**self.host.execute(name, args), "container_id": own}
        self._look(f"exec of {name} in {short(own)}", obeyed=self.machine.execute(request))

    def _used(self, number: int) -> str:
        """An id that was used, or the next one."""
        fresh = next((own for own in IDS[1:] if own not in self.used), IDS[-1])
        known = [*self.used, fresh]
        return known[number % len(known)]

    def _name(self, number: int) -> str:
        return self.names[number % len(self.names)]

    def _look(self, what: str, *, obeyed: bool) -> None:
        """Look at the VM after a request."""
        HostileHost.steps += 1
        if obeyed:
            self.obeyed.append(what)
            wrong = list(broken(self.machine, self.host))
            assert not wrong, "\n".join([*wrong, "after", *self.obeyed])


def short(own: str) -> str:
    """An id by its last digit, the sandbox's by its name."""
    return "sandbox" if own == SANDBOX_ID else own if own in KEYS else f"#{own[-1]}"


def search(rego: str, examples: int, *, seed: int | None = None) -> None:
    """Try so many sequences on a policy; raises AssertionError with the shortest that breaks an invariant.

    seed: of the sequences; None for what the run of the tests says.
    """
    made = type("Host", (HostileHost,), {"rego": rego})
    usual = settings.default or settings()
    run_state_machine_as_test(
        made if seed is None else seeded(seed)(made),
        settings=settings(
            max_examples=examples,
            stateful_step_count=LENGTH,
            phases=(Phase.generate, Phase.shrink),
            deadline=None,
            database=None,
            derandomize=usual.derandomize and seed is None,
            suppress_health_check=list(HealthCheck),
        ),
    )
