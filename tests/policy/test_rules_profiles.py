"""Where the profiles differ: what kata-4.1 lets a host choose and contrast-1.25 does not, and the same of strict.

It never is the other way between contrast-1.25 and strict. Every name in the tables below is a line of
docs/explanation/profiles.md.
"""

import copy
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from krm_function.contrast.profiles import CONTRAST, KATA, STRICT
from krm_function.kubernetes.workload import Workload
from tests.policy import host, pods

Json = dict[str, Any]

PINNED = "registry.example.com/shop/app:1@sha256:" + "a" * 64
OTHER = "b" * 64
NAMES = ("pause", "contrast-service-mesh", "contrast-initializer", "pvc-holder", "app")
IMAGE_NAME = "io.kubernetes.cri.image-name"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "profiles.md"


def _mount(request: Json, destination: str) -> Json:
    return next(mount for mount in request["OCI"]["Mounts"] if mount["destination"] == destination)


def _pull(request: Json) -> Json:
    return next(storage for storage in request["storages"] if storage["driver"] == "image_guest_pull")


def _memory(request: Json) -> Json:
    return next(storage for storage in request["storages"] if storage["driver"] == "ephemeral")


def _variable(request: Json, name: str, value: str | None) -> None:
    env = request["OCI"]["Process"]["Env"]
    index = next(number for number, entry in enumerate(env) if entry.startswith(name + "="))
    env[index : index + 1] = [] if value is None else [f"{name}={value}"]


def _annotate(request: Json, **annotations: str) -> None:
    request["OCI"]["Annotations"] |= {f"io.kubernetes.cri.{key.replace('_', '-')}": v for key, v in annotations.items()}


def _id(request: Json, value: str) -> Json:
    """A container of another id, in a directory of that name."""
    text = json.dumps(request).replace(request["container_id"], value)
    request.clear()
    request.update(json.loads(text))
    return request


def _root(request: Json, path: str) -> None:
    request["OCI"]["Root"]["Path"] = path


# A request to create a container that a policy for plain Kata takes and one for a Contrast node refuses.
NODE: dict[str, tuple[str, Callable[[Json], Any]]] = {
    "another image": ("app", lambda r: _pull(r).update(source="registry.example.com/shop/other@sha256:" + OTHER)),
    "another digest": ("app", lambda r: _pull(r).update(source=_pull(r)["source"].replace("3333", "4444"))),
    "the image by its tag": ("app", lambda r: _pull(r).update(source=_pull(r)["source"].partition("@")[0])),
    "another image for the sandbox": ("pause", lambda r: _pull(r).update(source=PINNED)),
    "options of a pull": ("app", lambda r: _pull(r)["driver_options"].append("x=y")),
    "no image at all": ("app", lambda r: r["storages"].remove(_pull(r))),
    "two images": ("app", lambda r: r["storages"].append(copy.deepcopy(_pull(r)))),
    "a root path inside another": ("app", lambda r: _root(r, "/x" + r["OCI"]["Root"]["Path"] + "/x")),
    "the root of another container": ("app", lambda r: _id(r, OTHER).update(container_id="c" * 64)),
    "a container id of another form": ("app", lambda r: _id(r, "app.1")),
    "a key of the state as container id": ("app", lambda r: r.update(container_id="namespace")),
    "a path as container id": ("app", lambda r: r.update(container_id="a/b")),
    "one storage in place of another": (
        "app",
        lambda r: [s.update(copy.deepcopy(_memory(r))) for s in r["storages"] if s["driver"] == "ephemeral"],
    ),
}

# A request to create a container that a policy of contrast-1.25 takes and strict refuses.
CREATE: dict[str, tuple[str, Callable[[Json], Any]]] = {
    "any text before the digest": ("app", lambda r: _pull(r).update(source="\n" + _pull(r)["source"])),
    "another name of the image": ("app", lambda r: _annotate(r, image_name="registry.example.com/shop/other:1")),
    "unknown annotations of the runtime": ("app", lambda r: _annotate(r, made_up="x")),
    "any value of a runtime annotation": ("app", lambda r: _annotate(r, sandbox_uid="x")),
    "any value of a pod annotation": (
        "app",
        lambda r: r["OCI"]["Annotations"].update({"example.com/mode": "other"}),
    ),
    "any bundle directory": (
        "app",
        lambda r: r["OCI"]["Annotations"].update({"io.katacontainers.pkg.oci.bundle_path": "/run/x"}),
    ),
    "a mount source that contains the expected one": (
        "app",
        lambda r: _mount(r, "/dev/shm").update(source="/x/run/kata-containers/sandbox/shm/y"),  # noqa: S108
    ),
    "a storage source that contains the expected one": ("app", lambda r: _memory(r).update(source="xtmpfs")),
    "fewer mounts": ("app", lambda r: r["OCI"]["Mounts"].remove(_mount(r, "/etc/keys"))),
    "fewer devices": ("pvc-holder", lambda r: r["devices"].clear()),
    "a device twice": ("pvc-holder", lambda r: r["devices"].append(copy.deepcopy(r["devices"][0]))),
    "fewer variables": ("app", lambda r: _variable(r, "MODE", None)),
    "a variable twice": ("app", lambda r: r["OCI"]["Process"]["Env"].append("MODE=a=b")),
    "the image's value of a variable that the pod sets": ("app", lambda r: _variable(r, "PATH", "/bin")),
    "a variable of the pod as a service variable": ("app", lambda r: _variable(r, "DB_SERVICE_HOST", "10.6.6.6")),
    "any host name": ("app", lambda r: _variable(r, "HOSTNAME", "a b")),
    "the text of a token of the policy": ("app", lambda r: _variable(r, "HOSTNAME", "$(host-name)")),
}


def _rich() -> Workload:
    """The rich pod, and whatever else the tables above need."""
    subject = pods.rich()
    template = subject.object["spec"]["template"]
    template["metadata"]["annotations"] = {"example.com/mode": "a"}
    app = template["spec"]["containers"][0]
    app["env"] = [
        *app["env"],
        {"name": "PATH", "value": "/web/bin"},
        {"name": "DB_SERVICE_HOST", "value": "10.0.0.7"},
        {"name": "UID", "valueFrom": {"fieldRef": {"fieldPath": "metadata.uid"}}},
    ]
    app["args"] = [*app["args"], "$(NODE)"]
    app["volumeMounts"] = [*app["volumeMounts"], {"name": "look", "mountPath": "/etc/hosts"}]
    return subject


def _annotated(request: Json) -> Json:
    """The pod's annotations are in the request of a correct host; those of the tests are not by default."""
    request["OCI"]["Annotations"]["example.com/mode"] = "a"
    return request


@pytest.fixture(scope="module")
def kata() -> str:
    return pods.sealed(_rich(), profile=KATA).rego


@pytest.fixture(scope="module")
def contrast() -> str:
    return pods.sealed(_rich(), profile=CONTRAST).rego


@pytest.fixture(scope="module")
def strict() -> str:
    return pods.sealed(_rich(), profile=STRICT).rego


@pytest.fixture(scope="module")
def agents(contrast: str, strict: str) -> tuple[host.Agent, host.Agent]:
    return host.Agent(contrast), host.Agent(strict)


def _allowed(agent: host.Agent, entry_point: str, request: Json) -> bool:
    return agent.verdict(entry_point, request) is not False


@pytest.mark.parametrize("name", NAMES)
def test_a_correct_container_is_allowed_by_both(agents: tuple[host.Agent, host.Agent], strict: str, name: str) -> None:
    request = _annotated(host.Host(strict).create(name))
    assert [_allowed(agent, "CreateContainerRequest", request) for agent in agents] == [True, True]


@pytest.mark.slow
@pytest.mark.parametrize("what", NODE)
def test_what_kata_allows_and_contrast_does_not(kata: str, contrast: str, strict: str, what: str) -> None:
    name, change = NODE[what]
    for rego, allowed in ((kata, True), (contrast, False), (strict, False)):
        request = _annotated(host.Host(rego).create(name))
        before = copy.deepcopy(request)
        assert _allowed(host.Agent(rego), "CreateContainerRequest", request)
        change(request)
        assert request != before
        assert _allowed(host.Agent(rego), "CreateContainerRequest", request) is allowed


@pytest.mark.slow
@pytest.mark.parametrize("what", CREATE)
def test_what_contrast_allows_and_strict_does_not(
    agents: tuple[host.Agent, host.Agent], strict: str, what: str
) -> None:
    name, change = CREATE[what]
    request = _annotated(host.Host(strict).create(name))
    before = copy.deepcopy(request)
    change(request)

    assert request != before
    assert [_allowed(agent, "CreateContainerRequest", request) for agent in agents] == [True, False]


@pytest.mark.parametrize("name", ["registry.example.com/shop/web:1.2", "registry.example.com/shop/web", "web", "a:1/b"])
def test_an_image_is_known_by_its_digest_wherever_it_comes_from(
    agents: tuple[host.Agent, host.Agent], strict: str, name: str
) -> None:
    request = _annotated(host.Host(strict).create("app"))
    _pull(request)["source"] = f"{name}@sha256:{'3' * 64}"
    _annotate(request, image_name=_pull(request)["source"])
    assert [_allowed(agent, "CreateContainerRequest", request) for agent in agents] == [True, True]


def test_text_that_only_looks_like_a_token_is_text(strict: str) -> None:
    subject = pods.simple(image=PINNED, env=[{"name": "A", "value": "$(my-var)"}], args=["$(my-var)"])
    rego = pods.sealed(subject, profile=STRICT).rego
    assert _allowed(host.Agent(rego), "CreateContainerRequest", host.Host(rego).create("app"))


def _state(fresh: host.Agent, requests: list[Json]) -> Json:
    """The state after containers were created, asked of an agent before the first one: each pins the same."""
    verdicts = [fresh.verdict("CreateContainerRequest", request) for request in requests]
    return {op["path"].rpartition("/")[2]: op["value"] for verdict in verdicts for op in verdict["ops"]}


@pytest.fixture(scope="module")
def running(agents: tuple[host.Agent, host.Agent], contrast: str, strict: str) -> tuple[host.Agent, host.Agent]:
    """The two agents after the sandbox and the app were created."""
    both = (host.Agent(contrast), host.Agent(strict))
    correct = host.Host(strict)
    for fresh, agent in zip(agents, both, strict=True):
        agent.state = _state(fresh, [_annotated(correct.create(name)) for name in ("pause", "app")])
    return both


SHARED = f"/run/kata-containers/shared/containers/{'a' * 64}-0123456789abcdef-"
SHM = {
    "driver": "ephemeral",
    "driver_options": [],
    "source": "shm",
    "fstype": "tmpfs",
    "options": ["noexec", "nosuid", "nodev", "mode=1777", "size=67108864"],
    "mount_point": "/run/kata-containers/sandbox/shm",
    "fs_group": None,
    "shared": False,
}


def _copy(path: str) -> Json:
    return {"path": path, "file_type": "Regular", "symlink_target": None}


def _sandbox(*storages: Json) -> Json:
    request = {"storages": list(storages), "sandbox_pidns": False, "guest_hook_path": "", "kernel_modules": []}
    return {**request, "sandbox_id": host.SANDBOX_ID}


# A request to a pod that runs.
LATER: dict[str, tuple[str, Callable[[host.Host], Json]]] = {
    "a shared file without a name": ("CopyFileRequest", lambda _: _copy(SHARED)),
    "a storage of the sandbox twice": ("CreateSandboxRequest", lambda _: _sandbox(SHM, SHM)),
    "loopback with a prefix length in a route": ("UpdateRoutesRequest", lambda _: _routes("127.0.0.1/32")),
    "a network that contains loopback in a route": ("UpdateRoutesRequest", lambda _: _routes("126.0.0.0/7")),
    "loopback as IPv6 in a route": ("UpdateRoutesRequest", lambda _: _routes("::ffff:127.0.0.1")),
    "loopback with a prefix length as a neighbour": ("AddARPNeighborsRequest", lambda _: _neighbours("127.0.0.1/8")),
    "IPv6 loopback as a neighbour": ("AddARPNeighborsRequest", lambda _: _neighbours("::1")),
    "loopback as IPv6 as a neighbour": ("AddARPNeighborsRequest", lambda _: _neighbours("0::ffff:7f00:1")),
}


def _routes(*sources: str) -> Json:
    return {"routes": {"Routes": [{"source": source, "device": "eth0"} for source in sources]}}


def _neighbours(*addresses: str) -> Json:
    entries = [
        {"toIPAddress": {"address": address, "mask": ""}, "device": "eth0", "state": 128, "flags": 0}
        for address in addresses
    ]
    return {"neighbors": {"ARPNeighbors": entries}}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("address", "wide", "narrow"),
    [
        ("", True, True),
        ("10.0.0.5", True, True),
        ("10.0.0.5/32", True, True),
        ("fd00::5", True, True),
        ("fd00::5/128", True, True),
        ("127.0.0.1", False, False),
        ("127.0.0.1/32", True, False),
        ("127.0.0.0/8", True, False),
        ("0.0.0.0/0", True, False),
        ("10.0.0.0/16", True, False),
        ("10.0.0.5/", True, False),
        ("127.0.0.1/32/32", True, False),
        ("::ffff:127.0.0.1", True, False),
        ("::FFFF:7f00:1", True, False),
        ("0:0:0:0:0:ffff:127.0.0.1", True, False),
    ],
)
def test_addresses_of_routes_and_neighbours(
    agents: tuple[host.Agent, host.Agent], address: str, *, wide: bool, narrow: bool
) -> None:
    for entry_point, request in (
        ("UpdateRoutesRequest", _routes("10.0.0.6", address)),
        ("AddARPNeighborsRequest", _neighbours("10.0.0.6", address)),
    ):
        assert [_allowed(agent, entry_point, request) for agent in agents] == [wide, narrow]


SPELLINGS = ["::1", "0:0:0:0:0:0:0:1", "0000::0001", "::1/128", "0:0:0:0:0:0:0:1/128", "::0.0.0.1"]


@pytest.mark.parametrize("address", SPELLINGS)
def test_loopback_of_ipv6_is_no_source_and_no_neighbour(agents: tuple[host.Agent, host.Agent], address: str) -> None:
    source = [_allowed(agent, "UpdateRoutesRequest", _routes(address)) for agent in agents]
    assert source == [bool(re.search("[/.]", address)), False]
    # Kata's settings name no address of IPv6 for neighbours
    neighbour = [_allowed(agent, "AddARPNeighborsRequest", _neighbours("10.0.0.6", address)) for agent in agents]
    assert neighbour == [True, False]


@pytest.mark.parametrize("address", ["fd00::1", "fe80::1", "2001:db8::1:1", "1::1", "10.0.0.1", "::2"])
def test_other_addresses_that_end_in_one_are_taken(agents: tuple[host.Agent, host.Agent], address: str) -> None:
    for entry_point, request in (
        ("UpdateRoutesRequest", _routes(address)),
        ("AddARPNeighborsRequest", _neighbours(address)),
    ):
        assert [_allowed(agent, entry_point, request) for agent in agents] == [True, True]


@pytest.mark.parametrize("what", LATER)
def test_what_contrast_allows_later_and_strict_does_not(
    running: tuple[host.Agent, host.Agent], strict: str, what: str
) -> None:
    entry_point, make = LATER[what]
    request = make(host.Host(strict))
    assert [_allowed(agent, entry_point, request) for agent in running] == [True, False]


def test_a_dot_is_a_dot() -> None:
    container = {"name": "app", "image": PINNED, "volumeMounts": [{"name": "v", "mountPath": "/etc/look.conf"}]}
    spec = {"containers": [container], "volumes": [{"name": "v", "configMap": {"name": "look"}}]}
    subject = pods.workload(spec, "Pod", {"name": "a.b", "namespace": "shop"})
    for profile, allowed in ((KATA, True), (CONTRAST, True), (STRICT, False)):
        rego = pods.sealed(subject, profile=profile).rego
        agent = host.Agent(rego)
        correct = host.Host(rego, "a.b").create("app")
        assert _allowed(agent, "CreateContainerRequest", correct)
        assert not _allowed(agent, "CreateContainerRequest", host.Host(rego, "axb").create("app"))
        _mount(correct, "/etc/look.conf")["source"] = _mount(correct, "/etc/look.conf")["source"].replace(
            ".conf", "xconf"
        )
        assert _allowed(agent, "CreateContainerRequest", correct) is allowed


def test_a_name_of_the_pod_is_no_pattern_in_the_log_directory() -> None:
    subject = pods.workload(
        {"containers": [{"name": "app", "image": PINNED}]}, "Pod", {"name": "a.b", "namespace": "s"}
    )
    for profile, allowed in ((KATA, True), (CONTRAST, True), (STRICT, False)):
        rego = pods.sealed(subject, profile=profile).rego
        request = host.Host(rego, "a.b", "s").create("pause")
        assert _allowed(host.Agent(rego), "CreateContainerRequest", request)
        directory = request["OCI"]["Annotations"]["io.kubernetes.cri.sandbox-log-directory"]
        _annotate(request, sandbox_log_directory=directory.replace("a.b", "axb"))
        assert _allowed(host.Agent(rego), "CreateContainerRequest", request) is allowed


DOCUMENTED = (
    *(*CREATE, *LATER, "any character in place of a dot", "other text around a pattern of the settings"),
    "one device for two volumes",  # test_rules_fine_points.py
)


@pytest.mark.parametrize(
    ("chapter", "names"), [("## Gaps of kata-4.1", NODE), ("## strict compared with contrast-1.25", DOCUMENTED)]
)
def test_every_difference_is_documented(chapter: str, names: Iterable[str]) -> None:
    text = PAGE.read_text().partition(chapter)[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([^|]+?) \|", text, re.MULTILINE)
    assert sorted(row for row in rows if row != "a host may use") == sorted(names)


# --- strict never allows what contrast-1.25 denies


def _subjects() -> list[Workload]:
    """Pods of all the shapes that policies have."""
    container = {"name": "app", "image": PINNED}
    mounts = [
        {"name": "v", "mountPath": "/x/look.d"},
        {"name": "e", "mountPath": "/e"},
        {"name": "e", "mountPath": "/f"},
    ]
    volumes = [{"name": "v", "configMap": {"name": "look"}}, {"name": "e", "emptyDir": {}}]
    gpu = {"resources": {"limits": {"nvidia.com/pgpu": 1}}}
    return [
        _rich(),
        pods.workload({"containers": [{**container, "volumeMounts": mounts}], "volumes": volumes}, "StatefulSet"),
        pods.workload({"containers": [{**container, **gpu}]}, "Pod", {"namespace": "shop"}),
        pods.workload({"containers": [{**container, "args": ["$(NODE)"], "env": [_node()]}]}, "Pod", {"name": "a.b"}),
    ]


def _node() -> Json:
    return {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}


class _Pod:
    """Two agents with the two policies of one pod, in the state that a correct host brings them to."""

    def __init__(self, subject: Workload, name: str) -> None:
        self.policies = [pods.sealed(subject, profile=profile).rego for profile in (CONTRAST, STRICT)]
        self.host = host.Host(self.policies[1], name)
        names = [entry["OCI"]["Annotations"].get("io.kubernetes.cri.container-name", "pause") for entry in self._data()]
        self.requests: list[tuple[str, Json]] = [("CreateContainerRequest", self._create(name)) for name in names]
        self.fresh = [host.Agent(rego) for rego in self.policies]
        self.running = [host.Agent(rego) for rego in self.policies]
        for fresh, agent in zip(self.fresh, self.running, strict=True):
            agent.state = _state(fresh, [made for _, made in self.requests])
        for number, container in enumerate(self._data()):
            commands = container["exec_commands"] or [["sh"]]
            self.requests.append(("ExecProcessRequest", self.host.execute(names[number], commands[0])))
        self.requests += [
            ("RemoveContainerRequest", {"container_id": f"{1:064x}", "timeout": 0}),
            ("CopyFileRequest", _copy(SHARED + "look/x")),
            ("CopyFileRequest", {"path": SHARED + "look/..data", "file_type": "Symlink", "symlink_target": "..1"}),
            ("CreateSandboxRequest", _sandbox(SHM)),
            ("UpdateRoutesRequest", _routes("10.0.0.5", "")),
            ("AddARPNeighborsRequest", _neighbours("10.0.0.5")),
        ]

    def _data(self) -> list[Json]:
        containers: list[Json] = self.host.data["containers"]
        return containers

    def _create(self, name: str) -> Json:
        request = self.host.create(name)
        if "example.com/mode" in self.host.data["containers"][0]["OCI"]["Annotations"]:
            _annotated(request)
        return request


@pytest.fixture(scope="module")
def several() -> list[_Pod]:
    names = (host.TOKENS["sandbox-name"], "web-0", "any", "a.b")
    return [_Pod(subject, name) for subject, name in zip(_subjects(), names, strict=True)]


TEXTS = [
    "",
    "x",
    "/",
    "a.b",
    "axb",
    "sandbox",
    "namespace",
    "sandbox_name",
    "0" * 64,
    "$(node-name)",
    "$(sandbox-name)",
    "10.0.0.1",
    "NODE=$(node-name)",
    "A_SERVICE_HOST=10.0.0.1",
    "image_guest_pull",
    "blk",
    "tmpfs",
    "/run/kata-containers/sandbox/shm",
    PINNED,
]


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The places of a request at which something can be another thing."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path] * bool(path) + [leaf for key, child in children for leaf in _leaves(child, (*path, key))]


def _mutate(draw: Callable[[st.SearchStrategy[Any]], Any], request: Json) -> None:
    """One change somewhere."""
    places = _leaves(request)
    if not places:
        return
    path = places[draw(st.integers(0, len(places) - 1))]
    parent: Any = request
    for key in path[:-1]:
        parent = parent[key]
    old = parent[path[-1]]
    how = draw(st.sampled_from(["drop", "twice", "text", "around", "before", "after", "dot", "number", "flip", "null"]))
    if how == "drop":
        del parent[path[-1]]
    elif how == "twice" and isinstance(parent, list):
        parent.append(copy.deepcopy(old))
    elif how == "null":
        parent[path[-1]] = None
    elif isinstance(old, str):
        extra = draw(st.sampled_from(["x", "/", ".", "=", "\n", "0"]))
        parent[path[-1]] = {
            "around": extra + old + extra,
            "before": extra + old,
            "after": old + extra,
            "dot": old.replace(".", "x", 1),
        }.get(how) or draw(st.sampled_from(TEXTS))
    elif isinstance(old, bool):
        parent[path[-1]] = not old
    elif isinstance(old, int):
        parent[path[-1]] = old + draw(st.sampled_from([-1, 1, 1000]))
    elif isinstance(old, list):
        parent[path[-1]] = [*old, draw(st.sampled_from(TEXTS))] if how == "text" else old[::-1]


@pytest.mark.slow
@settings(max_examples=80)
@given(data=st.data())
def test_strict_never_allows_what_contrast_denies(several: list[_Pod], data: st.DataObject) -> None:
    pod = several[data.draw(st.integers(0, len(several) - 1))]
    entry_point, correct = pod.requests[data.draw(st.integers(0, len(pod.requests) - 1))]
    request = copy.deepcopy(correct)
    for _ in range(data.draw(st.integers(0, 3))):
        _mutate(data.draw, request)
    wide, strict = pod.running if data.draw(st.booleans()) else pod.fresh

    narrow = strict.verdict(entry_point, request)
    if narrow is not False:
        assert wide.verdict(entry_point, request) == narrow
