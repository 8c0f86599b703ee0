"""`policy replay` on a pod in a file: what is printed, the exit code, and nothing of the values that a log holds."""

import json
from pathlib import Path
from typing import Any

import pytest

from krm_function.kubernetes.workload import INITDATA
from krm_function.operations import rego_engine
from krm_function.operations.rego_engine import COLUMNS
from krm_function.policy.initdata import Initdata, annotation, encode_toml
from tests import quick_yaml as yaml
from tests.cli.conftest import Shop
from tests.failures.running import Run, listing
from tests.hosts.running import called
from tests.policy.test_contrast_node import _pod
from tests.real_tools import needing
from tests.replay.logs import CANARY, DATA, agent, life, line, of_another_pod, refused, rego
from tests.wording import wording
from tools.real import tool

POD = "Pod/test"


@pytest.fixture(scope="module")
def rendered() -> str:
    """The recorded pod as a render leaves it."""
    document = dict(_pod().object)
    toml = encode_toml(Initdata("0.1.0", "sha256", {"policy.rego": rego()}))
    document["spec"] = {**document["spec"], "runtimeClassName": "contrast-cc-metal-qemu-snp-0123abcd"}
    document["metadata"] = {**document["metadata"], "annotations": {INITDATA: annotation(toml)}}
    return str(yaml.safe_dump(document))


@pytest.fixture
def replay(shop: Shop, rendered: str) -> Any:
    """Replay a log of data/, or a text; with OPA unless something else is said."""
    shop.write("pod.yaml", rendered)

    def call(log: str, *more: str, engine: str = "opa-cli", workload: str = POD) -> Run:
        text = (DATA / log).read_bytes() if (DATA / log[:100]).is_file() else log.encode()
        shop.write("a.log", text)
        asked = ["--engine", tool(engine)] if engine else []
        run = shop("policy", "replay", workload, "pod.yaml", "--log", "a.log", *asked, *more)
        assert CANARY not in run.stderr
        assert CANARY not in run.stdout.decode()
        return run

    return call


REFUSED = """\
Pod test, policy {digest}, asked with {engine}

pod default/test: 6 requests, 1 denied

denied  line {line} {time}CreateContainerRequest of container test
  OCI.Process.Env: variable HTTP_PROXY is not in the policy
    in the pod: spec.containers[name=test].env
    remedy: if an admission webhook or a controller adds it, add it to the input and render again
  storages: the node asked for sha256:0000000000000000000000000000000000000000000000000000000000000000; \
the pod was sealed with sha256:dc2d7742d8a6e4e2ad8b7c5b4f9bf8ea9d6ccd7c37a0f76b5b1a6d0d4aa18616
    in the pod: spec.containers[name=test].image
    remedy: render again with the values that the cluster really uses

log: {lines} lines; 6 requests of this workload's pods
"""


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["opa", pytest.param("regorus", marks=needing("regorus-cli"))])
@pytest.mark.parametrize(
    ("log", "number", "time", "lines"),
    [
        ("refused.jsonl", 6, "", 6),
        ("refused-journal.log", 7, "Nov 23 06:00:06 ", 7),
        ("refused-kubectl.log", 7, "2026-11-23T06:00:06.123456789Z ", 8),
    ],
)
def test_what_was_refused_is_said_and_what_in_the_pod_decides_it(
    shop: Shop, replay: Any, engine: str, log: str, number: int, time: str, lines: int
) -> None:
    run = replay(log, engine=f"{engine}-cli")
    assert (run.code, run.stderr) == (1, "")
    digest = shop("policy", "show", POD, "pod.yaml", "-o", "digest").stdout.decode()[:8]
    wanted = REFUSED.format(digest=digest, engine=engine, line=number, time=time, lines=lines)
    assert run.stdout.decode() == wanted


@pytest.mark.parametrize("engine", ["opa-cli", pytest.param("regorus-cli", marks=needing("regorus-cli"))])
def test_the_whole_life_of_a_pod_is_allowed(shop: Shop, replay: Any, engine: str) -> None:
    before = listing(shop.directory)
    run = replay("life.jsonl", engine=engine)
    assert (run.code, run.stderr) == (0, "")
    assert run.stdout.decode().splitlines()[2:] == [
        "pod default/test: 12 requests, 0 denied",
        "",
        "log: 12 lines; 12 requests of this workload's pods",
    ]
    assert set(listing(shop.directory)) - set(before) == {"a.log"}, "nothing is written"


def test_json_has_the_same(replay: Any) -> None:
    run = replay("refused-journal.log", "-o", "json")
    made = json.loads(run.stdout)
    (pod,) = made["pods"]
    (denied,) = pod["denied"]
    assert (run.code, made["version"], made["engine"]) == (1, 1, "opa")
    assert (pod["namespace"], pod["name"], pod["requests"]) == ("default", "test", 6)
    assert (denied["kind"], denied["line"], denied["container"]) == ("CreateContainerRequest", 7, "test")
    assert [one["field"] for one in denied["reasons"]] == ["OCI.Process.Env", "storages"]
    assert made["log"] == {
        "lines": 7,
        "requests": 6,
        "otherPods": 0,
        "unknownPod": 0,
        "notReadable": [],
        "denialsWithoutRequest": [],
        "denialsOfAllowedRequests": [],
    }


def test_of_a_node_only_the_pods_of_the_workload_count(replay: Any) -> None:
    run = replay("node-journal.log")
    assert run.code == 1
    assert "pod default/test: 6 requests, 1 denied" in run.stdout.decode()
    assert "6 requests of other pods, not looked at" in run.stdout.decode()
    run = replay("node-journal.log", "--pod", "default/db-0")
    assert run.code == 1
    assert "the node asked for db-0; the pod was sealed with ^test$" in run.stdout.decode()


def test_a_pod_that_the_log_does_not_have_is_an_error(replay: Any) -> None:
    run = replay("node-journal.log", "--pod", "web-0")
    assert run.code == 2
    assert "the log has no pod web-0" in run.stderr
    assert "use one of default/test, default/db-0" in run.stderr
    other = agent(of_another_pod(life())) + agent(of_another_pod(life())).replace("6" * 64, "8" * 64)
    run = replay(other)
    assert run.code == 2
    assert wording("CC0909.log-pods") in run.stderr


def test_requests_of_which_the_log_does_not_say_whose_they_are_are_counted(replay: Any) -> None:
    text = (DATA / "node-journal.log").read_text().replace("sandbox=", "of=")
    out = replay(text).stdout.decode()
    assert (
        "4 requests of other pods, not looked at; 4 requests of a pod that the log does not tell, not looked at" in out
    )


@pytest.mark.parametrize("engine", ["", "opa-cli"])
def test_a_denial_without_its_request_is_said_without_an_engine(replay: Any, engine: str) -> None:
    run = replay("events.txt", engine=engine)
    assert (run.code, run.stderr) == (1, "")
    assert run.stdout.decode().splitlines()[1:] == [
        "",
        "denied  lines 4, 5 CreateContainerRequest",
        "  the log has the denial and not the request, so which field it is cannot be told",
        "    remedy: a log of the agent at debug level has the requests: docs/how-to/blocked-by-policy.md",
        "",
        "log: 5 lines; no request",
    ]


def test_a_denial_whose_request_is_in_the_log_is_told_once(replay: Any) -> None:
    run = replay(agent(refused()) + "CreateContainerRequest is blocked by policy: \n")
    assert run.stdout.decode().count("denied  line") == 1


def test_a_denial_that_this_policy_does_not_explain_is_said(replay: Any) -> None:
    run = replay(agent(life()[:6]) + "CreateContainerRequest is blocked by policy: \n")
    assert run.code == 1
    assert run.stdout.decode().splitlines()[2:6] == [
        "pod default/test: 6 requests, 0 denied",
        "",
        "denied  line 7 CreateContainerRequest",
        "  the agent denied it, and this policy allows the request before it: the VM has another policy",
    ]


def test_requests_that_cannot_be_read_are_counted_and_no_success(replay: Any) -> None:
    cut = line(*life()[3])[:200]
    run = replay(f"{agent(life())}{cut}\n{cut}\n" + '{"kind": "A", "request": ' + "[" * 100_000)
    assert run.code == 1
    assert "0 denied" in run.stdout.decode()
    assert "not readable: 3 requests, cut off, or no JSON: lines 13, 14, 15" in run.stdout.decode()


@pytest.mark.parametrize("text", ["", "\n\n", "nothing to see\n"])
def test_a_log_without_requests_is_an_error(replay: Any, text: str) -> None:
    run = replay(text)
    assert (run.code, run.stdout) == (2, b"")
    assert f"--log: {wording('CC0909.log-empty')}" in run.stderr


def test_control_characters_of_a_log_are_made_visible(replay: Any) -> None:
    asked = refused()
    asked[-1][1]["OCI"]["Process"]["Env"].append("A\x1b[31m=1")
    asked[-1][1]["OCI"]["Mounts"].append({"destination": "/\x1b]0;x\x07\n", "source": "", "type_": "", "options": []})
    for form in ("text", "json"):
        out = replay(agent(asked), "-o", form).stdout.decode()
        assert "\x1b" not in out
        assert "\x07" not in out


def test_without_an_engine_the_message_says_how_to_get_one(
    shop: Shop, replay: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run = shop("policy", "replay", POD, "pod.yaml", "--log", "a.log", "--engine", "./nothing")
    assert run.code == 3, "the log is read first, and is not there yet"
    run = replay("life.jsonl", "--engine", "./nothing", engine="")
    assert (run.code, wording("CC0909.engine-file", program="./nothing") in run.stderr) == (2, True)
    run = replay("life.jsonl", "--engine", "./pod.yaml", engine="")
    assert (run.code, "./pod.yaml is not executable" in run.stderr) == (2, True)
    run = replay("life.jsonl", "--engine", "nothing", engine="")
    assert (run.code, run.stdout) == (3, b"")
    assert wording("CC1006", problem="nothing is not on PATH") in run.stderr
    assert "cargo install --example regorus regorus" in run.stderr


@needing("regorus-cli")
def test_the_first_engine_on_path_is_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with rego_engine.rego_engine("", rego(), {}) as (ask, _, wrong):
        assert ask is None
        assert [one.code for one in wrong] == ["CC1006"]
    for name, real in (("regorus", "regorus-cli"), ("opa", "opa-cli")):
        (tmp_path / name).symlink_to(tool(real))
        with rego_engine.rego_engine("", rego(), {}) as (ask, engine, wrong):
            assert (ask is not None, engine, wrong) == (True, name, ())


def test_a_program_that_is_no_engine_is_an_environment_error(shop: Shop, replay: Any) -> None:
    for name, text in (("opa", "#!/bin/sh\necho '{}'\n"), ("regorus", "#!/bin/sh\necho secret >&2; exit 1\n")):
        shop.write(name, text)
        (shop.directory / name).chmod(0o755)
        run = replay("life.jsonl", "--engine", f"./{name}", engine="")
        assert (run.code, run.stdout) == (3, b"")
        assert wording("CC1006", problem="") in run.stderr
        assert "secret" not in run.stderr


def test_an_engine_that_hangs_or_floods_is_ended(shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rego_engine, "SECONDS", 1)
    monkeypatch.setattr(rego_engine, "OUTPUT_LIMIT", 100)
    for text, said in (("sleep 60", "takes more than 1 seconds"), ("yes | head -c 200", "prints too much")):
        (tmp_path / "regorus").write_text(
            f"#!/bin/sh\nPATH=/usr/bin:/bin\nexec {text}\n"
            if "|" not in text
            else f"#!/bin/sh\nPATH=/usr/bin:/bin\n{text}\n"
        )
        (tmp_path / "regorus").chmod(0o755)
        with rego_engine.rego_engine(f"{tmp_path}/regorus", "package agent_policy\n", {}) as (ask, _, (wrong,)):
            assert ask is None
            assert said in wrong.message


def test_all_evaluations_together_have_a_limit(shop: Shop, rendered: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rego_engine, "ALL_SECONDS", 0)
    pod = str(shop.directory / shop.write("pod.yaml", rendered))
    run = called("policy", "replay", POD, pod, "--log", str(DATA / "refused.jsonl"), "--engine", tool("opa-cli"))
    assert (run.code, run.out) == (3, b"")
    assert wording("CC1006.slow", seconds=300) in run.err


def test_opa_has_no_builtin_that_leaves_the_machine() -> None:
    policy = 'package agent_policy\n\nx := http.send({"method": "get", "url": "http://127.0.0.1:1"})\n'
    with rego_engine.rego_engine(tool("opa-cli"), policy, {}) as (ask, _, (wrong,)):
        assert ask is None
        assert "undefined function http.send" in wrong.message
    for call in ("time.now_ns()", "opa.runtime()", 'net.lookup_ip_addr("x")', 'rand.intn("x", 2)'):
        with rego_engine.rego_engine(tool("opa-cli"), f"package agent_policy\n\nx := {call}\n", {}) as (ask, _, wrongs):
            assert ask is None, call
            assert len(wrongs) == 1


@needing("regorus-cli")
def test_a_policy_with_long_lines_is_loaded_by_both(rendered: str) -> None:
    from krm_function.operations.replay_log import Question
    from krm_function.policy.initdata import read_policy_data

    policy = rego().replace('"containers": [', f'"long": "{"x" * 3 * COLUMNS}",\n  "containers": [', 1)
    for engine in ("opa-cli", "regorus-cli"):
        with rego_engine.rego_engine(tool(engine), policy, read_policy_data(policy)) as (ask, _, wrong):
            assert ask is not None, wrong
            assert ask(Question(("count(data.agent_policy.policy_data.long)",), {})) == [[3 * COLUMNS]]


def test_a_pod_without_a_policy_cannot_be_replayed(shop: Shop, rendered: str) -> None:
    shop.write("pod.yaml", rendered.replace(INITDATA, "example.com/other"))
    shop.write("a.log", agent(life()))
    run = shop("policy", "replay", POD, "pod.yaml", "--log", "a.log", "--format", "json")
    assert (run.code, [one["code"] for one in run.errors]) == (1, ["CC1102"])
