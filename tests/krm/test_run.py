import io
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import krm_function.krm
from krm_function.krm import FunctionError, ResourceList, as_main, execute, run
from krm_function.text.errors import YamlError, decode
from krm_function.text.parse import parse

Payload = Callable[[str], bytes]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(krm_function.__path__[0]).parent)}
HEAD = b"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"


def value_of(data: bytes) -> Any:
    return parse(decode(data).text).value


def nothing(resources: ResourceList) -> None:
    """Change nothing."""


def example() -> str:
    """The program in the documentation of the package, as someone would copy it."""
    text = krm_function.krm.__doc__ or ""
    body = text[text.index("    import sys") : text.index("What the function")]
    return textwrap.dedent(body)


# --- the function that the documentation shows


def test_the_example_in_process(payload: Payload) -> None:
    space: dict[str, Any] = {"__name__": "example"}
    exec(compile(example(), "example.py", "exec"), space)  # noqa: S102
    data = payload("kpt-eval-exec-args").replace(b"data: {mode: yaml, k2: two words}", b"data: {namespace: shop}")
    output, results = run(space["set_namespace"], data)
    assert results.exit_code == 0
    expected = value_of(data)
    for item in expected["items"]:
        item["metadata"]["namespace"] = "shop"
    reply = value_of(output)
    said = reply.pop("results")
    assert [entry["resourceRef"]["name"] for entry in said] == ["web", "conf", "svc"]
    assert said[0]["field"] == {"path": "metadata.namespace"}
    assert reply == expected
    kept = [line for line in output.splitlines(keepends=True) if line.strip(b" ") != b"namespace: shop\n"]
    head, _, _ = b"".join(kept).partition(b"results:")
    assert head == data
    again, _ = run(space["set_namespace"], output)
    assert value_of(again)["items"] == expected["items"]


def example_process(tmp_path: Path, data: bytes, *arguments: str) -> "subprocess.CompletedProcess[bytes]":
    program = tmp_path / "set_namespace.py"
    program.write_text(example())
    return subprocess.run(
        [sys.executable, str(program), *arguments], input=data, capture_output=True, check=False, env=ENVIRONMENT
    )


def test_the_example_as_a_process(tmp_path: Path, payload: Payload) -> None:
    data = payload("kpt-odd").replace(b"data: {}", b"data: {namespace: shop}")
    done = example_process(tmp_path, data)
    assert (done.returncode, done.stderr) == (0, b"")
    assert value_of(done.stdout)["items"][0]["metadata"]["namespace"] == "shop"
    done = example_process(tmp_path, payload("kpt-odd"))
    assert (done.returncode, done.stderr) == (1, b"[error] functionConfig: data.namespace is missing\n")
    assert done.stdout.startswith(payload("kpt-odd"))
    done = example_process(tmp_path, payload("kz-hash-over"))
    assert done.returncode == 1
    assert (
        done.stderr == b"[error] functionConfig: spec.mode is unknown; known are namespace; spec.namespace is missing\n"
    )
    assert done.stdout.startswith(payload("kz-hash-over"))
    done = example_process(tmp_path, b"kind: Pod\n")
    assert (done.returncode, done.stdout) == (1, b"kind: Pod\n")
    assert done.stderr == b"[error] the input is not a ResourceList: it is not one document with items\n"
    done = example_process(tmp_path, b"", "--help")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == b"Move workloads and what they need into a namespace: kpt fn eval -- namespace=shop\n"


def test_a_reader_that_went_away(tmp_path: Path, payload: Payload) -> None:
    program = tmp_path / "set_namespace.py"
    program.write_text(example())
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, str(program)],
        input=payload("kpt-odd"),
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
        env=ENVIRONMENT,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"[error] Broken pipe\n")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&-"])
def test_closed_streams(tmp_path: Path, closed: str) -> None:
    program = tmp_path / "set_namespace.py"
    program.write_text(example())
    line = f'"$0" "$1" {closed}'
    done = subprocess.run(
        ["/bin/sh", "-c", line, sys.executable, str(program)],
        input=b"",
        capture_output=True,
        check=False,
        env=ENVIRONMENT,
    )
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr == b"[error] stdin or stdout is closed\n"


def test_start_up_is_light() -> None:
    code = "import sys, krm_function.krm; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True, env=ENVIRONMENT)
    heavy = {"dataclasses", "argparse", "pathlib", "subprocess", "socket", "logging", "tempfile", "inspect"}
    assert not heavy & set(done.stdout.split())


# --- success


def test_a_function_that_does_nothing(recorded: bytes) -> None:
    output, results = run(nothing, recorded)
    assert output == recorded
    assert (len(results), results.exit_code) == (0, 0)


def test_true_and_none_are_success_warnings_too(payload: Payload) -> None:
    def warn(resources: ResourceList) -> bool:
        resources.results.warning("look")
        return True

    output, results = run(warn, payload("kz-odd"))
    assert results.exit_code == 0
    assert value_of(output)["results"] == [{"message": "look", "severity": "warning"}]


def test_no_items() -> None:
    data = HEAD + b"items: []\n"
    assert run(nothing, data)[0] == data


# --- failure


def change_and(then: Callable[[], Any]) -> Callable[[ResourceList], Any]:
    def function(resources: ResourceList) -> Any:
        resources.items[0].annotations["a"] = "b"
        resources.add({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}})
        return then()

    return function


def raising(error: BaseException) -> Callable[[], Any]:
    def then() -> Any:
        raise error

    return then


@pytest.mark.parametrize(
    ("then", "message", "code"),
    [
        (lambda: False, "the function reports a failure", 1),
        (raising(FunctionError("no replicas")), "no replicas", 1),
        (raising(YamlError("bad", 3, 4)), "line 3, column 4: bad", 1),
        (raising(YamlError("lost", code="splice")), "lost", 70),
        (raising(KeyError("a secret")), "bug of the function: KeyError in test_run.py:", 70),
        (raising(RecursionError()), "bug of the function: RecursionError in test_run.py:", 70),
        (raising(SystemExit(0)), "bug of the function: SystemExit in test_run.py:", 70),
    ],
)
def test_failure_answers_the_input_and_the_reason(
    recorded: bytes, then: Callable[[], Any], message: str, code: int
) -> None:
    output, results = run(change_and(then), recorded)
    assert results.exit_code == code
    assert output.startswith(recorded.rstrip(b"\n"))
    value = value_of(output)
    (said,) = value.pop("results")
    assert value == value_of(recorded)
    assert said["severity"] == "error"
    assert said["message"].startswith(message)
    assert "secret" not in said["message"]


def test_an_error_result_is_a_failure(payload: Payload) -> None:
    def check(resources: ResourceList) -> bool:
        resources.items[0].annotations["a"] = "b"
        resources.results.info("looked")
        resources.results.append(resources.items[0].result("no limits", path=("spec",)))
        return False

    output, results = run(check, payload("kz-hash-over"))
    assert results.exit_code == 1
    assert [entry["message"] for entry in value_of(output)["results"]] == ["no limits", "looked"]
    assert output.startswith(payload("kz-hash-over"))


def test_an_item_that_cannot_be_parsed() -> None:
    data = HEAD + b"items:\n- kind: Pod\n  metadata: {name: p}\n  spec: {a: 1, a: 2}\n"
    assert run(nothing, data)[0] == data

    def look(resources: ResourceList) -> None:
        resources.items[0].nested(("spec",))

    output, results = run(look, data)
    assert results.exit_code == 1
    assert output.startswith(data)
    assert "line 6" in results.lines()[0]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the input is empty"),
        (b"\n", "the input is empty"),
        (b"kind: Pod\n", "not a ResourceList"),
        (b"\xff\xfea\x00", "UTF-16"),
        (b"a: [\n", "line "),
        (HEAD + b"items: [}\n", "line 3"),
    ],
)
def test_unreadable_input_is_echoed(data: bytes, message: str) -> None:
    output, results = run(nothing, data)
    assert output == data
    assert results.exit_code == 1
    (line,) = results.lines()
    assert message in line


def test_an_object_that_cannot_be_written(payload: Payload) -> None:
    def add(resources: ResourceList) -> None:
        resources.items[0].set_nested(("spec", "x"), object())

    output, results = run(add, payload("kz-hash-over"))
    assert results.exit_code == 70
    assert output.startswith(payload("kz-hash-over"))


def test_results_that_cannot_be_written(payload: Payload) -> None:
    def say(resources: ResourceList) -> None:
        item = resources.items[0]
        shown: list[object] = []
        resources.results.append(item.result("bad", path=("spec",), current_value=shown))
        shown.append(object())

    output, results = run(say, payload("kz-hash-over"))
    assert output == payload("kz-hash-over")
    assert results.exit_code == 70
    assert any("cannot be written" in line for line in results.lines())


# --- execute and as_main


def test_execute(payload: Payload) -> None:
    writer = io.BytesIO()
    results = execute(nothing, io.BytesIO(payload("kz-odd")), writer)
    assert writer.getvalue() == payload("kz-odd")
    assert results.exit_code == 0


class Streams:
    def __init__(self, monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
        self.out, self.err = io.BytesIO(), io.StringIO()
        monkeypatch.setattr("sys.argv", ["fn"])
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        self.stdout = io.TextIOWrapper(self.out)
        monkeypatch.setattr("sys.stdout", self.stdout)
        monkeypatch.setattr("sys.stderr", self.err)


def test_findings_on_stderr_decisive_first(payload: Payload, monkeypatch: pytest.MonkeyPatch) -> None:
    def check(resources: ResourceList) -> None:
        resources.results.info("looked")
        resources.results.warning("hm")
        resources.results.error("no\nlimits")

    streams = Streams(monkeypatch, payload("kz-odd"))
    assert as_main(check) == 1
    assert streams.err.getvalue() == "[error] no limits\n[warning] hm\n[info] looked\n"
    assert streams.out.getvalue().startswith(payload("kz-odd"))
    assert sys.stdout is streams.stdout


def test_success_is_quiet_but_for_warnings(payload: Payload, monkeypatch: pytest.MonkeyPatch) -> None:
    def check(resources: ResourceList) -> None:
        resources.results.info("looked")
        resources.results.warning("hm")

    streams = Streams(monkeypatch, payload("kz-odd"))
    assert as_main(check) == 0
    assert streams.err.getvalue() == "[warning] hm\n"


def test_print_does_not_spoil_the_reply(payload: Payload, monkeypatch: pytest.MonkeyPatch) -> None:
    def talk(resources: ResourceList) -> None:
        print("debugging", len(resources.items))

    streams = Streams(monkeypatch, payload("kz-odd"))
    assert as_main(talk) == 0
    assert streams.out.getvalue() == payload("kz-odd")
    assert streams.err.getvalue() == "debugging 1\n"


def test_a_bug_shows_no_traceback(payload: Payload, monkeypatch: pytest.MonkeyPatch) -> None:
    streams = Streams(monkeypatch, payload("kz-odd"))
    assert as_main(change_and(raising(ZeroDivisionError()))) == 70
    (line,) = streams.err.getvalue().splitlines()
    assert line.startswith("[error] bug of the function: ZeroDivisionError in test_run.py:")
    assert streams.out.getvalue().startswith(payload("kz-odd"))


def test_empty_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    streams = Streams(monkeypatch, b"")
    assert as_main(nothing) == 1
    assert streams.out.getvalue() == b""
    assert streams.err.getvalue() == "[error] the input is empty, a ResourceList is expected\n"


def test_interrupted(payload: Payload, monkeypatch: pytest.MonkeyPatch) -> None:
    streams = Streams(monkeypatch, payload("kz-odd"))
    assert as_main(change_and(raising(KeyboardInterrupt()))) == 130
    assert streams.out.getvalue() == b""
