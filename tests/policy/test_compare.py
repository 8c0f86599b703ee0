"""Which of two policies is weaker: by changes of a pod, by settings, and by anything else that may differ."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_function.kubernetes.objects import dig
from krm_function.policy.compare import compare_initdata
from krm_function.policy.initdata import Initdata, read_policy_data
from krm_function.policy.rules import load_rules
from tests.policy import host, pods
from tests.policy.compared import Line, lines_of
from tests.policy.pods import rego_document

Json = dict[str, Any]
RICH = json.loads(json.dumps(pods.sealed(pods.rich()).data))


def initdata(data: Json, rules: str = "package agent_policy\n", **files: str) -> Initdata:
    return Initdata("0.1.0", "sha256", {"policy.rego": rego_document(rules, data), **files})


def between(old: Json, new: Json) -> list[Line]:
    return lines_of(initdata(old), initdata(new))


def of_pods(before: Json, after: Json) -> list[tuple[str, str, str, str, str]]:
    """The lines, without their reasons, between the policies of two pods that differ in one container."""
    old, new = (pods.sealed(pods.simple(**container)).data for container in (before, after))
    return [line[:5] for line in between(old, new)]


SHORTENED = " -> ".join(f"{pods.pinned(name)[:64]}…" for name in ("app:1", "app:2"))
# a container before, after, and the one line; the reverse must be the reverse
CHANGES: dict[str, tuple[Json, Json, tuple[str, str, str, str, str]]] = {
    "image": ({}, {"image": "app:2"}, ("app", "image", "changed", SHORTENED, "different")),
    "command": (
        {"command": ["/a", "b"]},
        {"command": ["/a", "c"]},
        ("app", "command", "changed", "/a b -> /a c", "different"),
    ),
    "env": ({}, {"env": [{"name": "DEBUG", "value": "very secret"}]}, ("app", "env", "added", "DEBUG", "weaker")),
    "env value": (
        {"env": [{"name": "DEBUG", "value": "very secret"}]},
        {"env": [{"name": "DEBUG", "value": "more secret"}]},
        ("app", "env", "changed", "DEBUG", "different"),
    ),
    "env from the host": (
        {"env": [{"name": "NODE", "value": "a"}]},
        {"env": [{"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}]},
        ("app", "env", "changed", "NODE", "weaker"),
    ),
    "env another value": (
        {"env": [{"name": "A", "value": "1"}]},
        {"env": [{"name": "PATH", "value": "/other"}, {"name": "A", "value": "1"}]},
        ("app", "env", "changed", "PATH", "weaker"),
    ),
    "capability": (
        {},
        {"securityContext": {"capabilities": {"add": ["NET_ADMIN"]}}},
        ("app", "capabilities", "added", "NET_ADMIN (Bounding, Effective, Permitted)", "weaker"),
    ),
    "privilege escalation": (
        {"securityContext": {"allowPrivilegeEscalation": False}},
        {"securityContext": {"allowPrivilegeEscalation": True}},
        ("app", "noNewPrivileges", "changed", "true -> false", "weaker"),
    ),
    "root file system": (
        {"securityContext": {"readOnlyRootFilesystem": True}},
        {"securityContext": {"readOnlyRootFilesystem": False}},
        ("app", "readOnlyRootFilesystem", "changed", "true -> false", "weaker"),
    ),
    "tty": ({}, {"tty": True}, ("app", "tty", "changed", "false -> true", "weaker")),
    "probe": (
        {},
        {"livenessProbe": {"exec": {"command": ["/bin/sh", "-c", "id"]}}},
        ("app", "exec commands", "added", "$(PATH)/sh -c id", "weaker"),
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_of_the_pod_is_one_line_with_a_verdict_and_the_way_back_is_its_opposite(name: str) -> None:
    before, after, line = CHANGES[name]
    found = of_pods(before, after)
    assert line in found
    assert not [one for one in found if one[4] == "stronger"]
    back = of_pods(after, before)
    opposite = {"weaker": "stronger", "different": "different"}
    operation = {"added": "removed", "changed": "changed"}
    assert [(one[1], one[2], one[4]) for one in back if one[1] == line[1]] == [
        (one[1], operation[one[2]], opposite[one[4]]) for one in found if one[1] == line[1]
    ]


def test_users_and_groups() -> None:
    def running(user: int, group: int, *more: int) -> Json:
        context = {"runAsUser": user, "runAsGroup": group, "supplementalGroups": list(more)}
        spec = {"securityContext": context, "containers": [{"name": "app", "image": "app:1"}]}
        return dict(pods.sealed(pods.workload(spec)).data)

    def said(old: Json, new: Json) -> list[tuple[str, str, str]]:
        return [(line.op, line.what, line.verdict) for line in between(old, new) if "app" in line.container]

    assert said(running(1000, 1000), running(1001, 1000)) == [("changed", "UID 1000 -> 1001", "different")]
    assert said(running(1000, 1000), running(0, 1000)) == [("changed", "UID 1000 -> 0", "weaker")]
    assert said(running(0, 1000), running(1000, 1000)) == [("changed", "UID 0 -> 1000", "stronger")]
    assert said(running(1, 1), running(1, 1, 7)) == [("added", "group 7", "weaker")]
    assert ("changed", "GID 5 -> 0", "weaker") in said(running(1, 5), running(1, 0))


def test_privileged_is_told_by_capability_path_and_mount() -> None:
    found = between(
        pods.sealed(pods.simple()).data, pods.sealed(pods.simple(securityContext={"privileged": True})).data
    )
    assert {line.verdict for line in found} == {"weaker"}
    gained = {line.what.split()[0] for line in found if line.field == "capabilities"}
    assert {"SYS_ADMIN", "NET_ADMIN"} <= gained
    assert {"masked paths", "read-only paths", "mounts"} <= {line.field for line in found}
    sys = next(line for line in found if line.field == "mounts" and line.what.startswith("/sys,"))
    assert sys.why == "it is now mounted rw"
    assert "(pause), app" in {line.container for line in found}, "the same line of two containers is one"


def mounted(volume: Json, **mount: Any) -> Json:
    spec = {
        "containers": [{"name": "app", "image": "app:1", "volumeMounts": [{"name": "v", "mountPath": "/v", **mount}]}],
        "volumes": [{"name": "v", **volume}],
    }
    return dict(pods.sealed(pods.workload(spec)).data)


def test_mounts_and_storages() -> None:
    disk: Json = {"emptyDir": {}}
    memory: Json = {"emptyDir": {"medium": "Memory"}}
    shared = {"secret": {"secretName": "keys"}}
    none = dict(pods.sealed(pods.simple()).data)
    assert [line[1:5] for line in between(none, mounted(disk))] == [
        ("mounts", "added", "/v", "weaker"),
        ("storages", "added", "encrypted ext4 at $(spath)/$(b64_device_id)", "weaker"),
    ]
    to_host = between(mounted(memory), mounted(shared, readOnly=True))
    assert [line.why for line in to_host if line.field == "mounts"] == ["the content comes from the host"]
    back = between(mounted(shared), mounted(memory))
    assert {line.verdict for line in back if line.field == "mounts"} == {"weaker"}, "it is writable now"
    assert [line[1:5] for line in between(mounted(disk, readOnly=True), mounted(disk))] == [
        ("mounts", "changed", "/v, options rbind rprivate ro -> rbind rprivate rw", "weaker")
    ]
    assert [line[1:5] for line in between(mounted(disk), mounted(disk, readOnly=True))] == [
        ("mounts", "changed", "/v, options rbind rprivate rw -> rbind rprivate ro", "stronger")
    ]
    both = between(mounted(disk), mounted(disk, mountPropagation="Bidirectional"))
    assert {line.verdict for line in both} <= {"weaker"}


def changed(path: tuple[str | int, ...], value: Any) -> Json:
    """RICH with one value in another's place."""
    data: Json = copy.deepcopy(RICH)
    dig(data, path[:-1])[path[-1]] = value
    return data


DEFAULTS = ("request_defaults",)
EXEC = (*DEFAULTS, "ExecProcessRequest")
INTERFACE = (*DEFAULTS, "UpdateInterfaceRequest")
SETTINGS: dict[str, tuple[tuple[str | int, ...], Any, str, str]] = {
    "logs": ((*DEFAULTS, "ReadStreamRequest"), False, "ReadStreamRequest changed true -> false", "stronger"),
    "stdin": ((*DEFAULTS, "WriteStreamRequest"), True, "WriteStreamRequest changed false -> true", "weaker"),
    "exec": ((*EXEC, "regex"), [".*"], "ExecProcessRequest.regex added .*", "weaker"),
    "exec command": (
        (*EXEC, "allowed_commands"),
        [["sh", "-c", "x"]],
        "ExecProcessRequest.allowed_commands added sh -c x",
        "weaker",
    ),
    "interface": ((*INTERFACE, "forbidden_names"), [], "UpdateInterfaceRequest.forbidden_names removed lo", "weaker"),
    "flags": (
        (*INTERFACE, "allow_raw_flags"),
        129,
        "UpdateInterfaceRequest.allow_raw_flags changed 128 -> 129",
        "weaker",
    ),
    "fewer flags": (
        (*INTERFACE, "allow_raw_flags"),
        0,
        "UpdateInterfaceRequest.allow_raw_flags changed 128 -> 0",
        "stronger",
    ),
    "other flags": (
        (*INTERFACE, "allow_raw_flags"),
        64,
        "UpdateInterfaceRequest.allow_raw_flags changed 128 -> 64",
        "weaker",
    ),
    "image from the host": (("cluster_config", "guest_pull"), False, "guest pull changed true -> false", "weaker"),
    "plain emptyDir": (
        ("cluster_config", "emptydir_type"),
        "block-plain",
        "emptyDir type changed block-encrypted -> block-plain",
        "weaker",
    ),
    "pause": (("cluster_config", "pause_container_image"), "p:2", "pause image changed", "different"),
    "a pattern": (
        ("common", "cpath"),
        "/run/.*",
        "common.cpath changed /run/kata-containers/shared/containers(?:/passthrough)? -> /run/.*",
        "weaker",
    ),
    "a new switch": ((*DEFAULTS, "NewRequest"), False, "request_defaults.NewRequest added ", "weaker"),
    "a new section": (("new",), {}, "new added ", "weaker"),
    "a new part of a container": (("containers", 1, "future"), [1], "future added ", "weaker"),
    "a new part of a process": (("containers", 1, "OCI", "Process", "Umask"), 0, "OCI.Process.Umask added ", "weaker"),
    "a number for a switch": ((*DEFAULTS, "CloseStdinRequest"), 0, "CloseStdinRequest changed ", "weaker"),
    "no list": (("containers", 1, "OCI", "Mounts"), 5, "mounts changed ", "weaker"),
    "no namespaces": (("containers", 0, "OCI", "Linux", "Namespaces"), [], "namespaces removed uts", "weaker"),
    "any pod": (
        ("containers", 1, "OCI", "Annotations", "io.kubernetes.cri.sandbox-namespace"),
        "",
        "namespace removed shop",
        "weaker",
    ),
    "any argument": (("containers", -1, "OCI", "Process", "Args", 0), "$(node-name)", "command changed", "weaker"),
    "another root": (
        ("containers", 1, "OCI", "Root", "Path"),
        "/",
        "root path changed $(root_path) -> /",
        "weaker",
    ),
    "another version": (
        ("containers", 1, "OCI", "Version"),
        "1.3.0",
        "OCI version changed 1.1.0 -> 1.3.0",
        "different",
    ),
    "shared processes": (
        ("containers", 1, "sandbox_pidns"),
        True,
        "shareProcessNamespace changed false -> true",
        "weaker",
    ),
    "text for a command": ((*EXEC, "allowed_commands"), ['["sh"]'], 'allowed_commands added ["sh"]', "weaker"),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_what_is_not_the_pods_is_compared_too(name: str) -> None:
    path, value, says, verdict = SETTINGS[name]
    index = [len(RICH["containers"]) - 1 if step == -1 else step for step in path]
    found = between(RICH, changed(tuple(index), value))
    said = [f"{line.field} {line.op} {line.what}" for line in found if line.verdict == verdict]
    assert any(says in text for text in said), found


def test_annotations_of_the_pod_are_keys_to_the_guest() -> None:
    def noted(**notes: str) -> Json:
        metadata = {"annotations": {key.replace("__", "/"): text for key, text in notes.items()}}
        return dict(
            pods.sealed(
                pods.workload({"containers": [pods.APP | {"volumeMounts": []}]}, template_metadata=metadata)
            ).data
        )

    block = "io.katacontainers.config.hypervisor.snp_id_block_Milan"
    (line,) = between(noted(**{block: "old"}), noted(**{block: "new"}))
    assert line[1:] == ("annotations", "changed", block, "different", "the guest does not compare its value")
    (line,) = between(noted(), noted(example="new"))
    assert line[1:5] == ("annotations", "added", "example", "weaker")
    (line,) = between(noted(example="new"), noted())
    assert line[1:5] == ("annotations", "removed", "example", "stronger")


def test_a_container_that_is_new_or_gone() -> None:
    fewer = {**RICH, "containers": RICH["containers"][:-1]}
    name = "app"
    assert [line[:5] for line in between(fewer, RICH)] == [(name, "container", "added", name, "weaker")]
    assert [line[:5] for line in between(RICH, fewer)] == [(name, "container", "removed", name, "stronger")]
    (line,) = between(RICH, {**RICH, "containers": RICH["containers"][::-1]})
    assert (line.field, line.verdict) == ("text", "different")
    twice = {**RICH, "containers": [*RICH["containers"], RICH["containers"][-1]]}
    assert [line.verdict for line in between(RICH, twice)] == ["weaker"]


def test_rules_and_files_cannot_be_measured() -> None:
    plain = initdata(RICH)
    for other in (
        initdata(RICH, load_rules()),
        initdata(RICH, **{"aa.toml": "x"}),
        plain._replace(data={"policy.rego": plain.data["policy.rego"] + "\nCreateContainerRequest := true\n"}),
        plain._replace(algorithm="sha384"),
    ):
        assert [line.verdict for line in compare_initdata(plain, other)] == ["weaker"]
        assert [line.verdict for line in compare_initdata(other, plain)] == ["weaker"]
    (only,) = compare_initdata(plain, plain._replace(data={"policy.rego": plain.data["policy.rego"] + "\n"}))
    assert (only.verdict, only.why) == ("different", "the same policy, written in another way")
    assert compare_initdata(plain, plain) == ()
    with pytest.raises(ValueError, match="policy"):
        compare_initdata(plain, plain._replace(data={}))


def test_what_is_nested_too_deeply_is_refused_and_never_a_crash() -> None:
    for depth in (30, 300, 900, 990, 100_000):
        deep = f"{'[' * depth}{']' * depth}"
        dicts = '{"a":' * depth + "1" + "}" * depth
        for text in (deep, dicts):
            rego = f'package agent_policy\n\npolicy_data := {{"containers": [], "x": {text}}}'
            other = initdata({"containers": []})._replace(data={"policy.rego": rego})
            try:
                assert compare_initdata(initdata({"containers": []}), other)
            except ValueError as problem:
                assert "nested too deeply" in str(problem)  # noqa: PT017 (either is right, by the size of the stack)


def test_a_command_never_shows_the_value_of_a_variable() -> None:
    secret = 'correct horse "battery"\nstaple ' * 5
    env = [{"name": "TOKEN", "value": secret}]
    old = {"env": env, "command": ["/run", "--token=$(TOKEN)"]}
    new = {
        "env": env,
        "command": ["/run", "--token=$(TOKEN)", "--debug"],
        "livenessProbe": {"exec": {"command": [secret]}},
    }
    (command, probe) = sorted(of_pods(old, new), key=lambda line: line[1])
    assert command[3] == "/run --token=$(TOKEN) -> /run --token=$(TOKEN) --debug"
    assert probe[3] == "$(TOKEN)"


def test_long_values_are_cut() -> None:
    (line,) = of_pods({"command": ["a" * 500]}, {"command": ["b" * 500]})
    assert line[3] == f"{'a' * 64}… -> {'b' * 64}…"


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The path of everything in a document but the root."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, entry in steps for found in leaves(entry, (*path, key)))]


# by name of CHANGES: what is wider for a host, and what is only another process (engines are slow, so not all of them)
WIDER = ("env", "env another value", "probe", "env from the host")
OTHER = ("command", "capability")


def obeyed(policy: str, asked_for: str) -> bool:
    """Whether a guest with one policy does all that a host asks for that goes by another."""
    agent, asking = host.Agent(policy), host.Host(asked_for)
    if not all(agent.allows("CreateContainerRequest", asking.create(name)) for name in ("pause", "app")):
        return False
    commands = read_policy_data(asked_for)["containers"][asking.index("app")]["exec_commands"]
    return all(agent.allows("ExecProcessRequest", asking.execute("app", command)) for command in commands)


@pytest.mark.parametrize("name", WIDER + OTHER)
def test_the_rules_agree_on_which_policy_is_wider(name: str) -> None:
    narrow, wide = (pods.sealed(pods.simple(**container)).rego for container in CHANGES[name][:2])
    assert not obeyed(narrow, wide)
    assert obeyed(wide, narrow if name in WIDER else wide)
    if name in OTHER:
        assert not obeyed(wide, narrow)


ALL = [path for path in leaves(RICH) if path]
ODD = st.sampled_from([None, True, 0, "", "odd", [], [1], ["odd"], {}, {"odd": 1}, [{"odd": 1}]])


@given(path=st.sampled_from(ALL), value=ODD)
def test_nothing_that_differs_goes_unseen(path: tuple[str | int, ...], value: Any) -> None:
    """Whatever is put in the place of whatever: a line, or the policy cannot be read."""
    other = changed(path, value)
    if json.dumps(other, sort_keys=True) == json.dumps(RICH, sort_keys=True):
        return
    try:
        found = between(RICH, other)
        back = between(other, RICH)
    except ValueError:
        assert path == ("containers",)
        return
    assert found
    assert back
    if value in ("odd", ["odd"], {"odd": 1}, [{"odd": 1}]):
        assert {line.field for line in found} != {"text"}


@given(path=st.sampled_from(ALL))
def test_what_is_taken_away_is_seen(path: tuple[str | int, ...]) -> None:
    data = copy.deepcopy(RICH)
    del dig(data, path[:-1])[path[-1]]
    if path == ("containers",):
        return
    assert between(RICH, data)


def test_data_without_a_profile_are_called_kata_s_only_if_they_are() -> None:
    named = {**RICH, "profile": "contrast-1.25"}
    unnamed = {key: value for key, value in named.items() if key != "profile"}
    (line,) = between(unnamed, named)  # with image storages, which kata-4.1 has not
    assert (line.field, line.what) == ("profile", "none: the data are another program's -> contrast-1.25")

    bare = copy.deepcopy(unnamed)
    for container in bare["containers"]:
        container["storages"] = [one for one in container["storages"] if one["driver"] != "image_guest_pull"]
    lines = [line.what for line in between(bare, named) if line.field == "profile"]
    assert lines == ["kata-4.1 -> contrast-1.25"]
