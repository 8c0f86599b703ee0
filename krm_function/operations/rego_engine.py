"""The Rego engine on this machine for `policy replay`: the command line of OPA or of regorus.

    opa eval --data policy.rego … --input request.json QUERY       https://www.openpolicyagent.org/docs/cli
    regorus eval --data policy.rego … --input request.json QUERY   the example of its crate, `cargo install --example`

Rule of this file: it starts the engine without a shell and with a reduced environment, in a directory of its own that
only the owner can read and that is removed at the end. OPA gets no builtin that the agent's engine lacks, so none that
reaches a network or a clock. Of an engine's standard error only its first sentence is shown: the rest may have lines of
the policy.
"""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Any, Literal

from krm_function.findings import Finding, finding
from krm_function.operations.replay_log import Ask, Question, Unanswered
from krm_function.policy.initdata import HEAD, rules_of
from krm_function.record import NamedTuple

Kind = Literal["opa", "regorus"]
KINDS: tuple[Kind, ...] = ("opa", "regorus")
SECONDS = 60  # for one evaluation; those of the tests take less than one
ALL_SECONDS = 300  # for all of a command
OUTPUT_LIMIT = 64 << 20
COLUMNS = 1024  # of a line that regorus loads; its command line has no option for more
PASSED_ON = ("HOME", "PATH", "TMPDIR")  # of the environment; a wrapper script may need them
SAID = 200  # characters of an engine's message

# the builtins of the agent's build, by their beginnings (docs/facts/kata-rules.md#engine-limits)
WITHOUT_DOT = frozenset(
    (
        *("abs", "all", "and", "any", "array", "assign", "ceil", "concat", "contains", "count", "div", "endswith"),
        *("eq", "equal", "floor", "format_int", "gt", "gte", "indexof", "indexof_n", "intersection", "lower", "lt"),
        *("lte", "max", "min", "minus", "mul", "neq", "or", "plus", "print", "product", "rem", "replace", "round"),
        *("set_diff", "sort", "split", "sprintf", "startswith", "substring", "sum", "to_number", "trim", "trim_left"),
        *("trim_prefix", "trim_right", "trim_space", "trim_suffix", "type_name", "union", "upper", "walk"),
        *("is_array", "is_boolean", "is_null", "is_number", "is_object", "is_set", "is_string"),
    )
)
FAMILIES = frozenset(
    ("array", "base64", "base64url", "bits", "internal", "json", "numbers", "object", "regex", "strings", "units")
)


class OutOfTime(Exception):
    """All evaluations together take too long: no further request has a verdict."""


class Engine(NamedTuple):
    """An engine of this machine."""

    kind: Kind
    program: str


@contextmanager
def rego_engine(wish: str, policy: str, data: Any) -> Iterator[tuple[Ask | None, str, tuple[Finding, ...]]]:
    """Yield how to ask a policy, the engine's name, and the problems. It works inside the block.

    wish: `opa`, `regorus`, a path, or "" for the first one on PATH. data: the policy_data of the policy.
    """
    program = _find_engine(wish)
    if isinstance(program, Finding):
        yield None, "", (program,)
        return
    with TemporaryDirectory(prefix="contrast-krm-") as directory:
        engine = _Evaluation(program, directory)
        try:
            engine.load(policy, data)
            engine.ask(Question(("true",), {}))
        except Unanswered as problem:
            yield None, "", (finding("CC1006.load", engine=program.kind, error=str(problem)),)
            return
        yield engine.ask, program.kind, ()


def _find_engine(wish: str) -> Engine | Finding:
    if os.sep in wish:
        if not os.path.isfile(wish):
            return finding("CC0909.engine-file", option="--engine", program=wish)
        if not os.access(wish, os.X_OK):
            return finding("CC0909.engine-mode", option="--engine", program=wish)
        kind: Kind = "regorus" if "regorus" in os.path.basename(wish) else "opa"
        return Engine(kind, os.path.abspath(wish))
    for name in KINDS:
        if wish in ("", name) and (path := shutil.which(name)):
            return Engine(name, os.path.abspath(path))
    return finding("CC1006.none", names=wish or " or ".join(KINDS))


class _Evaluation:
    """One policy in a directory; each question is a process."""

    def __init__(self, engine: Engine, directory: str) -> None:
        self._engine, self._directory = engine, directory
        self._files: list[str] = []
        self._options: list[str] = []
        self._end = time.monotonic() + ALL_SECONDS

    def load(self, policy: str, data: Any) -> None:
        """Write the policy. Raises Unanswered for an OPA that does not list its builtins."""
        if self._engine.kind == "opa":
            told = self._run(["capabilities", "--current"])
            self._options = ["--capabilities", self._write("capabilities.json", _limit_capabilities(told))]
        elif max(map(len, policy.encode().split(b"\n"))) >= COLUMNS:
            # the same rules and data; only the engine's path of the data differs
            policy = f"{rules_of(policy)}\n{HEAD}data.contrast_krm_policy_data\n"
            self._files.append(self._write("data.json", json.dumps({"contrast_krm_policy_data": data})))
        self._files.append(self._write("policy.rego", policy))

    def ask(self, question: Question) -> list[list[Any]]:
        """Return the values of each term, none if it is undefined. Raises Unanswered."""
        document = {"pstate": question.state, "contrast_krm_requests": question.requests}
        files = [*self._files, self._write("state.json", json.dumps(document))]
        if question.module:
            files.append(self._write("probes.rego", question.module))
        entry = self._write("input.json", json.dumps(question.input))
        query = ",\n".join(f"[contrast_krm_term | contrast_krm_term := {term}]" for term in question.terms)
        options = [part for file in files for part in ("--data", file)]
        format_ = ["--format", "json", *self._options] if self._engine.kind == "opa" else ["--non-strict"]
        text = self._run(["eval", *format_, *options, "--input", entry, f"[{query}]"])
        try:
            (result,) = json.loads(text)["result"]
            values = result["expressions"][0]["value"]
        except (ValueError, KeyError, TypeError, IndexError, RecursionError):
            raise Unanswered("its answer cannot be read") from None
        if not isinstance(values, list) or len(values) != len(question.terms):
            raise Unanswered("its answer cannot be read")
        return values

    def _write(self, name: str, text: str) -> str:
        path = os.path.join(self._directory, name)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        return path

    def _run(self, arguments: list[str]) -> bytes:
        remaining = self._end - time.monotonic()
        if remaining <= 0:
            raise OutOfTime
        output = os.path.join(self._directory, "output")
        with open(output, "wb+") as out, open(os.path.join(self._directory, "log"), "wb+") as log:
            try:
                done = subprocess.run(
                    [self._engine.program, *arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=log,
                    cwd=self._directory,
                    env={name: os.environ[name] for name in PASSED_ON if name in os.environ},
                    timeout=min(SECONDS, remaining),
                    check=False,
                )
            except subprocess.TimeoutExpired:
                raise Unanswered(f"it takes more than {SECONDS} seconds") from None
            except OSError as problem:
                raise Unanswered(f"it does not start: {(problem.strerror or 'unknown error').lower()}") from None
            out.seek(0)
            text = out.read(OUTPUT_LIMIT + 1)
            log.seek(0)
            errors = log.read(1 << 20)
        if len(text) > OUTPUT_LIMIT:
            raise Unanswered("it prints too much")
        if done.returncode != 0:
            raise Unanswered(_read_error(text, errors) or f"exit status {done.returncode}")
        return text


def _read_error(text: bytes, errors: bytes) -> str:
    """Return the engine's error message, OPA's first error or regorus' line `error: …`; "" for neither."""
    try:
        message = str(json.loads(text)["errors"][0]["message"])
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        lines = errors.decode("utf-8", "replace").splitlines()
        message = next((line.removeprefix("error: ") for line in lines if line.startswith("error: ")), "")
    return " ".join(message.split())[:SAID]


def _limit_capabilities(told: bytes) -> str:
    try:
        capabilities = json.loads(told)
        permitted = [builtin for builtin in capabilities["builtins"] if _is_permitted(builtin["name"])]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Unanswered("it does not list its capabilities") from None
    return json.dumps({**capabilities, "builtins": permitted, "allow_net": []})


def _is_permitted(name: str) -> bool:
    family, dot, _ = name.partition(".")
    return family in FAMILIES if dot else name in WITHOUT_DOT
