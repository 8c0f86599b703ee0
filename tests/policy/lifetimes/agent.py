"""The agent of one VM, as a host would wish it: it asks the rules, then does what it was asked, as badly as it may.

Assumptions, each the worse one where the agent's behaviour is not known (docs/facts/kata-rules.md#lifetimes):

| | here |
|---|---|
| the rules' state | changes when a request is allowed, whether or not the agent's own work succeeds |
| a storage | is mounted when a container is created; one whose mount point is known stays as it is |
| a creation that fails | may have mounted all of its storages; they stay |
| an id that the agent has already | a second creation takes the place of the first |
| a removal that fails | the container stays, and runs on; or it is gone and its storages stay mounted |
| the built-in pause image | is the root of every container with an id that the sandbox ever had |
| a second sandbox | is created; what ran runs on |
| storages of a container that was removed | are gone with the last container that counts on them, if nothing failed |
"""

from typing import Any, Literal, NamedTuple

from tests.policy.host import Agent, Json

Creation = Literal["succeeds", "fails at once", "fails with its storages mounted"]
Removal = Literal["succeeds", "leaves its storages", "is refused"]
BUILT_IN = "pause"  # the image inside of the VM, and the word for it in requests


class Mount(NamedTuple):
    """What is mounted at a place, and how many containers count on it."""

    content: str
    users: int = 0


class Container(NamedTuple):
    """A container that the agent has. request: that created it; root: the content of its root file system.

    leaving: its removal was asked for. commands: those of its execs that were obeyed.
    """

    request: Json
    root: str
    runs: bool = False
    leaving: bool = False
    commands: tuple[tuple[str, ...], ...] = ()

    @property
    def name(self) -> str:
        """Which container of the pod it claims to be; the sandbox's has no name."""
        annotations: Json = self.request["OCI"]["Annotations"]
        return str(annotations.get("io.kubernetes.cri.container-name", BUILT_IN))


class Machine:
    """The VM: what is mounted, what runs. Every method says whether the rules let the agent try."""

    def __init__(self, rego: str) -> None:
        self.rules = Agent(rego, quick=True, older=False, kept=False)
        self.sandboxes: set[str] = set()
        self.mounted: dict[str, Mount] = {}  # by mount point
        self.containers: dict[str, Container] = {}
        self.gone: list[Container] = []  # replaced by one of the same id, and running on

    def create_sandbox(self, request: Json) -> bool:
        """CreateSandboxRequest."""
        if not self.rules.allows("CreateSandboxRequest", request):
            return False
        self.sandboxes.add(request["sandbox_id"])
        return True

    def create(self, request: Json, how: Creation) -> bool:
        """CreateContainerRequest."""
        if not self.rules.allows("CreateContainerRequest", request):
            return False
        if how == "fails at once":
            return True
        for storage in request["storages"]:
            known = self.mounted.get(storage["mount_point"], Mount(storage["source"]))
            self.mounted[storage["mount_point"]] = known._replace(users=known.users + 1)
        if how == "succeeds":
            own = request["container_id"]
            if own in self.containers:
                self.gone.append(self.containers[own])
            self.containers[own] = Container(request, self._root(request))
        return True

    def _root(self, request: Json) -> str:
        if request["container_id"] in self.sandboxes:
            return BUILT_IN
        return self.mounted.get(request["OCI"]["Root"]["Path"], Mount("what the host has put there")).content

    def start(self, own: str) -> bool:
        """StartContainerRequest."""
        if not self.rules.allows("StartContainerRequest", {"container_id": own}):
            return False
        self._change(own, runs=True)
        return True

    def execute(self, request: Json) -> bool:
        """ExecProcessRequest."""
        if not self.rules.allows("ExecProcessRequest", request):
            return False
        found = self.containers.get(request["container_id"])
        if found is not None:
            args = tuple(request["process"]["Args"])
            self._change(request["container_id"], runs=True, commands=(*found.commands, args))
        return True

    def remove(self, own: str, how: Removal) -> bool:
        """RemoveContainerRequest."""
        if not self.rules.allows("RemoveContainerRequest", {"container_id": own, "timeout": 0}):
            return False
        self._change(own, leaving=True)
        if how != "is refused":
            left = self.containers.pop(own, None)
            for storage in left.request["storages"] if left and how == "succeeds" else ():
                self._unmount(storage["mount_point"])
        return True

    def _unmount(self, point: str) -> None:
        known = self.mounted.pop(point, Mount(""))
        if known.users > 1:
            self.mounted[point] = known._replace(users=known.users - 1)

    def ask(self, entry_point: str, request: Json) -> bool:
        """A request of which the agent keeps nothing."""
        return self.rules.allows(entry_point, request)

    def _change(self, own: str, **values: Any) -> None:
        if own in self.containers:
            self.containers[own] = self.containers[own]._replace(**values)

    def running(self) -> list[Container]:
        """All whose process was started, those included that the host cannot name any more."""
        return [one for one in (*self.containers.values(), *self.gone) if one.runs]
