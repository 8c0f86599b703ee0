"""What is said of a denied request names its field, the pod's field, and what differs; alike with both engines."""

import copy
import json
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from krm_function.contrast.profiles import CONTRAST, STRICT, Profile
from krm_function.operations.replay import Sealed, explain, replay
from krm_function.operations.replay_log import Ask, Reason, Request
from krm_function.policy.initdata import read_policy_data, rules_of
from tests.policy import node, pods
from tests.policy.host import Host
from tests.real_tools import needing
from tests.replay.conftest import ENGINES
from tests.replay.logs import CANARY, created, rich_rego

Asking = Callable[[str, str], Ask]
Json = dict[str, Any]
NAME = "web-7c5ddbdf54-x2v9k"
APP = "spec.template.spec.containers[name=app]"
DIGEST = "sha256:" + "0" * 64


class Case(NamedTuple):
    """A change of the request for the container app, and what is to be said: field, pod, part of the sentence."""

    change: Callable[[Json], object]
    field: str
    pod: str
    said: str


def _process(**values: Any) -> Callable[[Json], object]:
    return lambda r: r["OCI"]["Process"].update(values)


def _user(**values: Any) -> Callable[[Json], object]:
    return lambda r: r["OCI"]["Process"]["User"].update(values)


def _note(key: str, value: str) -> Callable[[Json], object]:
    return lambda r: r["OCI"]["Annotations"].update({key: value})


def _linux(**values: Any) -> Callable[[Json], object]:
    return lambda r: r["OCI"]["Linux"].update(values)


def _variable(name: str, value: str) -> Callable[[Json], object]:
    def change(request: Json) -> None:
        env = request["OCI"]["Process"]["Env"]
        (index,) = [n for n, text in enumerate(env) if text.startswith(f"{name}=")]
        env[index] = f"{name}={value}"

    return change


def _mount(place: str, **values: Any) -> Callable[[Json], object]:
    return lambda r: next(one for one in r["OCI"]["Mounts"] if one["destination"] == place).update(values)


def _image(**values: Any) -> Callable[[Json], object]:
    return lambda r: next(one for one in r["storages"] if one["driver"] == "image_guest_pull").update(values)


def _identity(identity: str) -> Callable[[Json], object]:
    def change(request: Json) -> None:
        path = request["OCI"]["Linux"]["CgroupsPath"].replace(request["container_id"], identity)
        request["OCI"]["Linux"]["CgroupsPath"] = path
        request["container_id"] = identity

    return change


MOUNT = {"destination": "/injected", "source": "/x", "type_": "bind", "options": ["rbind"]}
CRI = "io.kubernetes.cri."
CASES = {
    "a variable more": Case(
        lambda r: r["OCI"]["Process"]["Env"].append(f"HTTP_PROXY={CANARY}"),
        "OCI.Process.Env",
        f"{APP}.env",
        "variable HTTP_PROXY is not in the policy",
    ),
    "another value": Case(
        _variable("MODE", CANARY), "OCI.Process.Env", f"{APP}.env", "variable MODE has another value than in the policy"
    ),
    "a variable without a name": Case(
        lambda r: r["OCI"]["Process"]["Env"].append(CANARY), "OCI.Process.Env", f"{APP}.env", "variable without a name"
    ),
    "another user": Case(
        _user(UID=4711),
        "OCI.Process.User.UID",
        f"{APP}.securityContext.runAsUser",
        "the node asked for 4711; the pod was sealed with 0",
    ),
    "another group": Case(
        _user(GID=12),
        "OCI.Process.User.GID",
        f"{APP}.securityContext.runAsGroup",
        "asked for 12; the pod was sealed with 0",
    ),
    "further groups": Case(
        _user(AdditionalGids=[0, 7]),
        "OCI.Process.User.AdditionalGids",
        "spec.template.spec.securityContext.supplementalGroups",
        "the node asked for 0, 7; the pod was sealed with 0",
    ),
    "another directory": Case(
        _process(Cwd="/srv"), "OCI.Process.Cwd", f"{APP}.workingDir", "/srv; the pod was sealed with /"
    ),
    "a terminal": Case(_process(Terminal=True), "OCI.Process.Terminal", f"{APP}.tty", "asked for true; "),
    "privileges": Case(
        _process(NoNewPrivileges=False),
        "OCI.Process.NoNewPrivileges",
        f"{APP}.securityContext.allowPrivilegeEscalation",
        "asked for false; the pod was sealed with true",
    ),
    "an argument more": Case(
        lambda r: r["OCI"]["Process"]["Args"].append(CANARY),
        "OCI.Process.Args",
        f"{APP}.command, args",
        "the node runs 5 arguments, the program among them; the pod was sealed with 4",
    ),
    "another argument": Case(
        lambda r: r["OCI"]["Process"]["Args"].__setitem__(2, CANARY),
        "OCI.Process.Args",
        f"{APP}.command, args",
        "argument 2 differs from the policy's (it has 12 characters",
    ),
    "a capability": Case(
        lambda r: r["OCI"]["Process"]["Capabilities"]["Bounding"].append("CAP_SYS_ADMIN"),
        "OCI.Process.Capabilities.Bounding",
        f"{APP}.securityContext.capabilities",
        "capability SYS_ADMIN is not in the policy",
    ),
    "a capability less": Case(
        lambda r: r["OCI"]["Process"]["Capabilities"]["Permitted"].remove("CAP_KILL"),
        "OCI.Process.Capabilities.Permitted",
        f"{APP}.securityContext.capabilities",
        "capability KILL of the policy is not in the request",
    ),
    "a mount more": Case(
        lambda r: r["OCI"]["Mounts"].append(dict(MOUNT)),
        "OCI.Mounts",
        f"{APP}.volumeMounts",
        "a mount at /injected that the policy does not have",
    ),
    "another option of a mount": Case(
        _mount("/etc/look", options=["rbind", "rprivate", "rw"]),
        "OCI.Mounts",
        f"{APP}.volumeMounts",
        "the mount at /etc/look: its options are rbind, rprivate, rw; sealed were rbind, rprivate, ro",
    ),
    "a mount from elsewhere": Case(
        _mount("/etc/look", source="/proc"),
        "OCI.Mounts",
        f"{APP}.volumeMounts",
        "the mount at /etc/look: it comes from /proc, which is not where the policy has it from",
    ),
    "another image": Case(
        _image(source=f"web@{DIGEST}"),
        "storages",
        f"{APP}.image",
        f"the node asked for {DIGEST}; the pod was sealed with sha256:33333",
    ),
    "an image by its tag": Case(
        _image(source="web:1.2"),
        "storages",
        f"{APP}.image",
        "the node asked for web:1.2, without a digest; the pod was sealed",
    ),
    "an option of the image": Case(
        _image(driver_options=["x"]), "storages", f"{APP}.image", "the image's driver_options differ from the policy's"
    ),
    "no image": Case(
        lambda r: r["storages"].pop(0),
        "storages",
        "spec.template.spec.volumes",
        "storages (image and volumes); the pod was",
    ),
    "an annotation": Case(
        _note("example.com/x", CANARY),
        "OCI.Annotations",
        "spec.template.metadata.annotations",
        "example.com/x: not in the policy",
    ),
    "another container": Case(
        _note(f"{CRI}container-name", "istio-proxy"),
        f'OCI.Annotations["{CRI}container-name"]',
        "spec.containers",
        "the pod was sealed without a container istio-proxy",
    ),
    "another namespace": Case(
        _note(f"{CRI}sandbox-namespace", "test"),
        f'OCI.Annotations["{CRI}sandbox-namespace"]',
        "metadata.namespace",
        "the node asked for test; the pod was sealed with shop",
    ),
    "the pod of another workload": Case(
        _note(f"{CRI}sandbox-name", "db-0"),
        f'OCI.Annotations["{CRI}sandbox-name"]',
        "metadata.name",
        "the node asked for db-0; the pod was sealed with ^web-",
    ),
    "a writable root": Case(
        lambda r: r["OCI"]["Root"].update(Readonly=False),
        "OCI.Root.Readonly",
        f"{APP}.securityContext.readOnlyRootFilesystem",
        "asked for false; the pod was sealed with true",
    ),
    "a shared namespace": Case(
        lambda r: r.update(sandbox_pidns=True),
        "sandbox_pidns",
        "spec.template.spec.shareProcessNamespace",
        "asked for true",
    ),
    "namespaces": Case(
        _linux(Namespaces=[]),
        "OCI.Linux.Namespaces",
        "spec.template.spec.hostNetwork, hostPID, hostIPC, shareProcessNamespace",
        "something else than the policy allows",
    ),
    "a path that is not masked": Case(
        _linux(MaskedPaths=[]),
        "OCI.Linux.MaskedPaths",
        f"{APP}.securityContext.privileged, procMount",
        "not among them, but in the policy: /proc/acpi, /proc/kcore",
    ),
    "a sysctl": Case(
        _linux(Sysctl={"kernel.shmmax": CANARY}),
        "OCI.Linux.Sysctl",
        "spec.template.spec.securityContext.sysctls",
        "kernel.shmmax: ",
    ),
    "a device": Case(
        lambda r: r["devices"].append(
            {"id": "d", "type_": "blk", "vm_path": "", "container_path": "/dev/x", "options": []}
        ),
        "devices",
        f"{APP}.volumeDevices",
        "device /dev/x is not in the policy",
    ),
    "seccomp": Case(_linux(Seccomp={}), "OCI.Linux.Seccomp", "", "something else than the policy allows"),
    "a hook": Case(lambda r: r["OCI"].update(Hooks={}), "OCI.Hooks", "", "something else than the policy allows"),
    "propagation": Case(
        _linux(RootfsPropagation="rshared"),
        "OCI.Linux.RootfsPropagation",
        f"{APP}.volumeMounts[].mountPropagation",
        "the node asked for rshared; the pod was sealed with another",
    ),
    "a root elsewhere": Case(lambda r: r["OCI"]["Root"].update(Path="/"), "OCI.Root.Path", "", "something else"),
    "another id": Case(_identity("a" * 64), "container_id", "", "something else"),
}


EACH = pytest.mark.parametrize(
    ("profile", "engine"),
    [(CONTRAST, "opa-cli"), pytest.param(STRICT, "regorus-cli", marks=needing("regorus-cli"))],
    ids=["contrast-1.25-opa", "strict-regorus"],
)


@pytest.fixture(scope="module")
def policies() -> dict[str, str]:
    return {profile.name: rich_rego(profile) for profile in (CONTRAST, STRICT)}


def sealed(policy: str) -> Sealed:
    return Sealed(pods.rich(), rules_of(policy), read_policy_data(policy))


def denied(ask: Ask, policy: str, *asked: tuple[str, Any]) -> tuple[Reason, ...]:
    """The reasons of the last of some requests, which is the only one that is denied."""
    requests = [Request(kind, request, number) for number, (kind, request) in enumerate(asked, 1)]
    of = sealed(policy)
    found = list(replay(tuple(requests), ask, lambda *one: explain(of, ask, *one)))
    assert [one.allowed for one in found] == [True] * (len(asked) - 1) + [False]
    return found[-1].reasons


def app(policy: str) -> Json:
    return created(Host(policy, NAME, "shop", node.CONTRAST), "app")


def creating(request: Json) -> tuple[str, Json]:
    return "CreateContainerRequest", request


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@EACH
def test_the_field_of_a_denied_container_is_named(
    asking: Asking, policies: dict[str, str], profile: Profile, engine: str, case: Case
) -> None:
    policy = policies[profile.name]
    request = app(policy)
    case.change(request)
    reasons = denied(asking(engine, policy), policy, creating(request))
    assert [(one.field, one.pod) for one in reasons if case.said in one.problem] == [(case.field, case.pod)], reasons
    assert CANARY not in repr(reasons)
    assert all(one.remedy for one in reasons)


@pytest.mark.slow
def test_what_holds_is_not_named(asking: Asking, policies: dict[str, str]) -> None:
    """One change is one reason, unless two fields say the same thing of it."""
    policy = policies["contrast-1.25"]
    several = {"the pod of another workload", "another namespace"}  # of which variables and arguments have the name too
    ask = asking("opa-cli", policy)
    for name, case in CASES.items():
        request = app(policy)
        case.change(request)
        reasons = denied(ask, policy, creating(request))
        assert len(reasons) == 1 or name in several, (name, reasons)


def test_several_changes_are_all_named(asking: Asking, policies: dict[str, str]) -> None:
    policy = policies["contrast-1.25"]
    request = app(policy)
    names = ("a variable more", "another user", "a mount more", "another image")
    for name in names:
        CASES[name].change(request)
    reasons = denied(asking("opa-cli", policy), policy, creating(request))
    assert {one.field for one in reasons} == {CASES[name].field for name in names}


def test_of_many_reasons_the_first_are_named_and_the_others_counted(asking: Asking, policies: dict[str, str]) -> None:
    policy = policies["contrast-1.25"]
    request = app(policy)
    request["OCI"]["Process"]["Env"] += [f"V{number}=1" for number in range(100)]
    reasons = denied(asking("opa-cli", policy), policy, creating(request))
    assert (len(reasons), reasons[-1].problem) == (21, "and 80 more")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("key", "field", "said"),
    [
        (
            "sandbox-name",
            f'OCI.Annotations["{CRI}sandbox-name"]',
            "web-7c5ddbdf54-zzzzz; an earlier request said web-7c5ddbdf54-x2v9k",
        ),
        ("network", "OCI.Linux.Namespaces", "the node says /run/netns/a; an earlier request said nothing"),
    ],
)
def test_a_contradiction_to_an_earlier_request_is_named(
    asking: Asking, policies: dict[str, str], engine: str, key: str, field: str, said: str
) -> None:
    policy = policies["contrast-1.25"]
    on = Host(policy, NAME, "shop", node.CONTRAST)
    later = Host(policy, "web-7c5ddbdf54-zzzzz" if key == "sandbox-name" else NAME, "shop", node.CONTRAST)
    request = created(later, "contrast-service-mesh")
    if key == "network":
        request["OCI"]["Linux"]["Namespaces"].append({"Type": "network", "Path": "/run/netns/a"})
    reasons = denied(asking(engine, policy), policy, creating(created(on, "pause")), creating(request))
    assert [one.field for one in reasons if said in one.problem] == [field], reasons
    assert all(one.pod == "" for one in reasons), "nothing of the pod is wrong"


@pytest.mark.parametrize("engine", ENGINES)
def test_an_id_that_was_used_is_named(asking: Asking, policies: dict[str, str], engine: str) -> None:
    policy = policies["contrast-1.25"]
    on = Host(policy, NAME, "shop", node.CONTRAST)
    first, second = created(on, "contrast-service-mesh"), on.create("app", on.id_of(on.index("contrast-service-mesh")))
    second["OCI"]["Linux"]["CgroupsPath"] = first["OCI"]["Linux"]["CgroupsPath"]
    reasons = denied(asking(engine, policy), policy, creating(first), creating(second))
    assert [(one.field, one.problem.partition(" 0")[0]) for one in reasons] == [("container_id", "the container id")]
    assert "was used before" in reasons[0].problem


@pytest.mark.parametrize("engine", ENGINES)
def test_a_container_that_runs_already_is_named(asking: Asking, policies: dict[str, str], engine: str) -> None:
    policy = policies["contrast-1.25"]
    first, second = app(policy), app(policy)
    for key in ("container_id", "exec_id"):
        second[key] = "e" * 64
    second = json.loads(json.dumps(second).replace(first["container_id"], "e" * 64))
    started = ("StartContainerRequest", {"container_id": first["container_id"]})
    reasons = denied(asking(engine, policy), policy, creating(first), started, creating(second))
    assert [one.field for one in reasons] == ["container_id"]
    assert "is new, and the container runs under another" in reasons[0].problem


EXEC = {
    "a command": (
        lambda r: r["process"].update(Args=["sh", "-c", CANARY]),
        "process.Args",
        "a command of 3 words that neither",
    ),
    "a user": (
        lambda r: r["process"]["User"].update(UID=7),
        "process.User.UID",
        "the node asked for 7; the pod was sealed with 0",
    ),
    "a variable": (
        lambda r: r["process"]["Env"].append(f"A={CANARY}"),
        "process.Env",
        "variable A is not in the policy",
    ),
    "another container": (lambda r: r.update(container_id="9" * 64), "container_id", "is not known"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", EXEC.values(), ids=EXEC)
@EACH
def test_a_denied_command_is_explained(
    asking: Asking, policies: dict[str, str], profile: Profile, engine: str, case: tuple[Any, str, str]
) -> None:
    change, field, said = case
    policy = policies[profile.name]
    on = Host(policy, NAME, "shop", node.CONTRAST)
    request = copy.deepcopy(on.execute("app", ["/web", "health"]))
    change(request)
    asked = ("ExecProcessRequest", request)
    reasons = denied(asking(engine, policy), policy, creating(app(policy)), asked)
    assert [one.field for one in reasons if said in one.problem] == [field], reasons
    assert CANARY not in repr(reasons)


OTHERS = [
    (
        "SetPolicyRequest",
        {"policy": CANARY},
        "the policy never allows this request",
        "cannot be replaced in a running VM",
    ),
    ("UpdateContainerRequest", {}, "the policy never allows this request", "resources of a running pod"),
    ("PauseContainerRequest", {}, "the policy never allows this request", "cannot be paused"),
    ("WriteStreamRequest", {"data": [1]}, "request_defaults.WriteStreamRequest == true", "spec.policy.settings"),
    ("CloseStdinRequest", {}, "request_defaults.CloseStdinRequest == true", "spec.policy.settings"),
    ("NoSuchRequest", {}, "the policy does not know this request", "another release or generator"),
    ("RemoveContainerRequest", {"container_id": "7" * 64}, "is not known", "state of the VM"),
    ("StartContainerRequest", {"container_id": "7" * 64}, "is not known", "state of the VM"),
    (
        "CopyFileRequest",
        {"path": f"/{CANARY}", "file_type": "Regular"},
        "begins(shared_path(pattern), input.path)",
        "the node",
    ),
    (
        "UpdateInterfaceRequest",
        {"interface": {"name": "lo", "hwAddr": "", "raw_flags": 0}},
        "not name in",
        "network interface",
    ),
    (
        "UpdateRoutesRequest",
        {"routes": {"Routes": [{"device": "lo", "source": ""}]}},
        "for number 1: every route",
        "a route",
    ),
    ("AddARPNeighborsRequest", {"neighbors": {"ARPNeighbors": [{}]}}, "for number 1: every neighbor", "neighbour"),
    (
        "CreateSandboxRequest",
        {"sandbox_id": "5" * 64, "guest_hook_path": "/x", "kernel_modules": [], "sandbox_pidns": False, "storages": []},
        'input.guest_hook_path == ""',
        "the node",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "request_", "said", "remedy"), OTHERS, ids=[one[0] for one in OTHERS])
@pytest.mark.parametrize("engine", ENGINES)
def test_every_other_request_has_its_sentence(
    asking: Asking, policies: dict[str, str], engine: str, kind: str, request_: Any, said: str, remedy: str
) -> None:
    policy = policies["contrast-1.25"]
    (reason, *more) = denied(asking(engine, policy), policy, (kind, request_))
    assert more == []
    assert said in reason.problem
    assert remedy in reason.remedy
    assert CANARY not in repr(reason)


FOREIGN = """package agent_policy

import future.keywords.if

default CreateContainerRequest := false

CreateContainerRequest if {
\tinput.container_id == "x"
}
"""


def test_of_rules_with_other_functions_the_verdict_alone_counts(asking: Asking) -> None:
    data = 'policy_data := {"containers": []}'
    policy = f"{FOREIGN}\n{data}"
    ask = asking("opa-cli", policy)
    (reason,) = explain(Sealed(pods.rich(), FOREIGN, {"containers": []}), ask, Request(*creating({}), 1), {}, "")
    assert reason.problem == "which field it is cannot be told"
    assert "another release or generator" in reason.remedy


@pytest.mark.slow
@pytest.mark.parametrize(
    "request_", [None, [], "x", 7, {}, {"OCI": []}, {"OCI": {"Annotations": 7, "Mounts": [7, None]}}]
)
def test_a_request_of_another_shape_is_denied_and_explained(
    asking: Asking, policies: dict[str, str], request_: Any
) -> None:
    policy = policies["contrast-1.25"]
    for kind in ("CreateContainerRequest", "ExecProcessRequest", "CopyFileRequest"):
        assert denied(asking("opa-cli", policy), policy, (kind, request_))


SHAPES: list[Any] = [None, 7, "x", [], {}, [None], ["x"], [7], [{}], {"x": 7}, [{"destination": 7, "options": "x"}]]


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES, ids=range(len(SHAPES)))
def test_fields_of_another_shape_are_denied_and_explained(asking: Asking, policies: dict[str, str], shape: Any) -> None:
    policy = policies["strict"]
    request = app(policy)
    places: list[tuple[Any, str]] = [(request, key) for key in ("storages", "devices", "container_id")]
    places += [(request["OCI"], key) for key in ("Mounts", "Linux", "Root")]
    request["OCI"]["Process"].update(dict.fromkeys(("Args", "Env", "User", "Capabilities", "Cwd"), shape))
    for holder, key in places:
        holder[key] = shape
    assert denied(asking("opa-cli", policy), policy, creating(request))
