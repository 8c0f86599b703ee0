"""The steps of action.yml as a runner takes them: one bash each, inputs as variables, its files beside.

What a runner does is done here: expressions of `env:` and `if:` are filled in, a step is skipped after a failure unless
it says `always()`, and each printed line that is a workflow command is looked at. `uses: actions/setup-python` gives
the Python that runs the tests. pip finds the pinned wheels and no index.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from tests.docs.commands import blocks
from tests.hosts.running import EXAMPLES, ROOT, SYSTEM
from tools.wheels import wheels

pytestmark = pytest.mark.slow

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
QUICK = {"rendered": "rendered.yaml", "config": "config", "resources": "resources", "nodes": "nodes.yaml"}
GH = """#!/bin/sh
printf '%s\\n' "$@" > "$HOME/gh-arguments"
for each in "$@"; do
  case "$each" in
    sarif=@*) cp "${each#sarif=@}" "$HOME/gh-file" ;;
    *.md) cp "$each" "$HOME/gh-file" ;;
  esac
done
echo https://example.com/comment
"""


class Ran(NamedTuple):
    """failed: names of steps. said: all that they printed. summary: of the job. outputs: of the action."""

    failed: tuple[str, ...]
    said: str
    summary: str
    outputs: Mapping[str, str]

    @property
    def commands(self) -> list[str]:
        """The printed lines that a runner takes for commands, in its old and its new form."""
        return [line for line in self.said.splitlines() if line.lstrip().startswith("::") or "##[" in line]


class Runner(NamedTuple):
    """A workspace with a checkout, and the directories of a runner; installed: whether the action is there already."""

    directory: Path
    installed: Path | None = None

    @property
    def workspace(self) -> Path:
        return self.directory / "workspace"

    def run(self, inputs: Mapping[str, str], event: str = "") -> Ran:
        """Take all steps."""
        given = {name: str(each.get("default", "")) for name, each in ACTION["inputs"].items()} | dict(inputs)
        values = {f"inputs.{name}": value for name, value in given.items()}
        values |= {"github.token": "a-token", "github.event.pull_request.number": event}
        said, summary = "", self.directory / "summary"
        failed: list[str] = []
        summary.write_text("")
        for step in STEPS:
            if "uses" in step:
                values[f"steps.{step['id']}.outputs.python-path"] = sys.executable
                continue
            if self.installed is not None and step["name"].startswith("Install"):
                continue
            condition = step.get("if", "")
            if (failed and "always()" not in condition) or not holds(condition, values):
                continue
            out = self.directory / "output"
            out.write_text("")
            done = self._step(step, values, out, summary)
            said += done.stdout
            if done.returncode != 0:
                failed.append(step["name"])
            for line in out.read_text().splitlines():
                name, _, value = line.partition("=")
                values[f"steps.{step['id']}.outputs.{name}"] = value
        outputs = {name: filled(each["value"], values) for name, each in ACTION["outputs"].items()}
        return Ran(tuple(failed), said, summary.read_text(), outputs)

    def _step(
        self, step: dict[str, Any], values: Mapping[str, str], out: Path, summary: Path
    ) -> "subprocess.CompletedProcess[str]":
        script = self.directory / "script.sh"
        script.write_text(step["run"])
        variables = {
            "PATH": f"{self.directory / 'bin'}:{SYSTEM}",
            "HOME": str(self.directory),
            "RUNNER_TEMP": str(self.installed or self.directory),
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_OUTPUT": str(out),
            "GITHUB_STEP_SUMMARY": str(summary),
            "GITHUB_REPOSITORY": "shop/deployment",
            "GITHUB_SHA": "0" * 40,
            "GITHUB_REF": "refs/heads/main",
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": wheels(),
            **{name: filled(text, values) for name, text in step.get("env", {}).items()},
        }
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)],
            cwd=self.workspace,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )


def filled(text: str, values: Mapping[str, str]) -> str:
    return re.sub(r"\$\{\{ (\S+) \}\}", lambda found: values.get(found[1], ""), text)


def holds(condition: str, values: Mapping[str, str]) -> bool:
    """Whether an `if:` holds that is a chain of `always()`, `a == 'b'` and `a != 'b'`."""
    for part in filter(None, condition.split(" && ")):
        if part == "always()":
            continue
        name, relation, value = part.split(" ")
        assert relation in {"==", "!="}, part
        if (values.get(name, "") == value.strip("'")) != (relation == "=="):
            return False
    return True


def workspace(directory: Path) -> Path:
    """A checkout of the quickstart with its rendered output, and `gh` as a program that keeps what it is given."""
    made = directory / "workspace"
    shutil.copytree(EXAMPLES / "quickstart", made, ignore=shutil.ignore_patterns("expected"))
    shutil.copy(EXAMPLES / "quickstart/expected/rendered.yaml", made)
    (directory / "bin").mkdir()
    (directory / "bin/gh").write_text(GH)
    (directory / "bin/gh").chmod(0o755)
    return made


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Runner, Ran]:
    """A runner on which the action ran once, from its installation on, in a checkout with modules of a stranger."""
    made = Runner(tmp_path_factory.mktemp("runner"))
    checkout = workspace(made.directory)
    for name in ("venv.py", "pip/__main__.py", "subprocess.py", "types.py", "logging.py"):
        hostile = checkout / name
        hostile.parent.mkdir(exist_ok=True)
        hostile.write_text("raise SystemExit('a file of the checkout was run')\n")
    return made, made.run(QUICK)


@pytest.fixture
def runner(first: tuple[Runner, Ran], tmp_path: Path) -> Runner:
    """A fresh workspace; what was installed stays."""
    workspace(tmp_path)
    return Runner(tmp_path, first[0].directory)


def test_a_deployment_that_is_right_passes_with_its_plan_as_the_summary(first: tuple[Runner, Ran]) -> None:
    _, ran = first
    assert ran.failed == (), ran.said
    assert not [line for line in ran.commands if line.startswith("::error")]
    expected = (EXAMPLES / "quickstart/expected/plan.txt").read_text()
    assert ran.summary == "### Plan of contrast-krm\n\n" + re.sub("(?m)^", "    ", expected.rstrip("\n")) + "\n\n"
    assert json.loads(Path(ran.outputs["sarif"]).read_text())["version"] == "2.1.0"
    assert Path(ran.outputs["plan"]).read_text() == expected


def test_the_installed_program_renders_the_committed_bytes(first: tuple[Runner, Ran]) -> None:
    runner, _ = first
    program = runner.directory / "contrast-krm/bin/contrast-krm"
    command = [str(program), "generate", "resources", "--config", "config"]
    done = subprocess.run(command, cwd=runner.workspace, env={}, capture_output=True, check=True)
    assert done.stdout == (EXAMPLES / "quickstart/expected/rendered.yaml").read_bytes()


def test_a_broken_render_fails_with_annotations_and_sarif(runner: Runner) -> None:
    path = runner.workspace / "rendered.yaml"
    path.write_text(path.read_text().replace("shop/web:2.3.1@", "shop/web:2.3.2@"))
    ran = runner.run(QUICK)
    assert ran.failed == ("Check",)
    errors = [line for line in ran.commands if line.startswith("::error ")]
    assert any("file=rendered.yaml,line=" in line and "CC11" in line for line in errors), ran.said
    (found,) = json.loads(Path(ran.outputs["sarif"]).read_text())["runs"]
    assert {one["ruleId"] for one in found["results"] if one["level"] == "error"} <= set(
        re.findall(r"CC[0-9]{4}", "".join(errors))
    )
    assert ran.summary, "the plan of the resources is there all the same"


def test_after_a_plan_that_fails_the_check_still_runs(runner: Runner) -> None:
    path = runner.workspace / "resources/web.yaml"
    path.write_text(path.read_text().replace("@sha256:", "@sha257:"))
    ran = runner.run(QUICK)
    assert ran.failed == ("Plan",)
    assert ran.outputs["sarif"]
    assert any("file=resources/web.yaml" in line for line in ran.commands)


def test_without_work_it_fails(tmp_path: Path) -> None:
    workspace(tmp_path)
    ran = Runner(tmp_path).run({})
    assert ran.failed
    assert ran.said == "::error::contrast-krm: give rendered, resources, or both\n"


@pytest.mark.parametrize("missing", ["rendered", "config"])
def test_a_file_that_does_not_exist_is_an_error(missing: str, runner: Runner) -> None:
    ran = runner.run(QUICK | {missing: "nowhere.yaml"})
    assert "Check" in ran.failed
    assert any("nowhere.yaml" in line and line.startswith("::error") for line in ran.commands)


HOSTILE = (
    "$(touch pwned) `touch pwned`",
    "\"; touch pwned; \"'; touch pwned; '",
    "x\n::set-output name=a::b\n##[add-mask]b",
    "::stop-commands::x",
    "##[add-path]/tmp",
    "--help",
    "--report=pwned",
    "*\r::add-mask::b",
    "${{ github.token }}",
)
NAMES = ("rendered", "config", "resources", "nodes", "manifest", "no-weaker")


@pytest.mark.parametrize("value", HOSTILE)
def test_hostile_inputs_are_names_of_files_that_are_not_there(value: str, runner: Runner) -> None:
    ran = runner.run(dict.fromkeys(NAMES, value) | dict.fromkeys(("comment", "upload", "python-version"), value))
    assert ran.failed == ("Plan", "Check"), ran.said
    only_findings(ran)
    assert not list(runner.directory.rglob("pwned"))
    assert "a-token" not in ran.said
    assert not (runner.directory / "gh-arguments").exists()


@pytest.mark.parametrize("name", NAMES)
def test_one_hostile_input_fails(name: str, runner: Runner) -> None:
    ran = runner.run(QUICK | {name: HOSTILE[0]})
    assert ran.failed, ran.said
    only_findings(ran)
    assert not list(runner.directory.rglob("pwned"))


@pytest.mark.parametrize("value", HOSTILE[:3] + HOSTILE[-2:-1])
def test_a_hostile_file_prints_findings_and_nothing_else(value: str, runner: Runner) -> None:
    path = runner.workspace / "resources/web.yaml"
    path.write_text(path.read_text().replace("name: web\n", f"name: {json.dumps(value)}\n"))
    path = runner.workspace / "rendered.yaml"
    path.write_text(path.read_text().replace("  name: web\n", f"  name: {json.dumps(value)}\n"))
    ran = runner.run(QUICK)
    assert "Check" in ran.failed
    only_findings(ran)
    assert not list(runner.directory.rglob("pwned"))
    body = ran.summary.removeprefix("### Plan of contrast-krm\n\n")
    assert all(line.startswith("    ") or not line for line in body.split("\n")), "one block of code"
    assert "\r" not in body


def only_findings(ran: Ran) -> None:
    """Each line that was printed is an annotation of ours."""
    for line in re.split("[\r\n]+", ran.said):
        assert re.match(r"::(error|warning|notice) ([a-z]+=[^:]*)?::\S", line) or not line, line


def test_a_comment_is_made_only_when_asked_for_and_on_a_pull_request(runner: Runner) -> None:
    assert runner.run(QUICK | {"comment": "true"}).failed == ()
    assert not (runner.directory / "gh-arguments").exists()
    ran = runner.run(QUICK | {"comment": "true"}, event="17")
    assert ran.failed == (), ran.said
    arguments = (runner.directory / "gh-arguments").read_text().split("\n")
    assert arguments[:5] == ["pr", "comment", "17", "--repo", "shop/deployment"]
    assert (EXAMPLES / "quickstart/expected/plan.txt").read_text().split("\n")[0] in (
        runner.directory / "gh-file"
    ).read_text()


def test_findings_are_uploaded_when_asked_for_also_after_a_failure(runner: Runner) -> None:
    import base64
    import gzip

    path = runner.workspace / "rendered.yaml"
    path.write_text(path.read_text().replace("shop/web:2.3.1@", "shop/web:2.3.2@"))
    ran = runner.run(QUICK | {"upload": "true"})
    assert ran.failed == ("Check",), ran.said
    assert "repos/shop/deployment/code-scanning/sarifs" in (runner.directory / "gh-arguments").read_text()
    sent = gzip.decompress(base64.b64decode((runner.directory / "gh-file").read_text()))
    assert sent == Path(ran.outputs["sarif"]).read_bytes()


def test_the_linter_of_workflows_looks_at_the_action(tmp_path: Path) -> None:
    zizmor = str(Path(sys.executable).parent / "zizmor")
    for name, text in {"good": (ROOT / "action.yml").read_text(), "bad": ""}.items():
        path = tmp_path / name / "action.yml"
        path.parent.mkdir()
        path.write_text(text or (ROOT / "action.yml").read_text().replace('"$RENDERED"', '"${{ inputs.rendered }}"'))
        done = subprocess.run([zizmor, "--offline", "--quiet", str(path)], capture_output=True, text=True, check=False)
        assert (done.returncode == 0) == (name == "good"), done.stdout


def test_the_page_has_every_input_and_output() -> None:
    page = (ROOT / "docs/how-to/github-action.md").read_text()
    rows = "".join(line for line in page.splitlines() if line.startswith("| `"))
    for name in (*ACTION["inputs"], *ACTION["outputs"]):
        assert f"`{name}`" in rows
    (example,) = (block for block in blocks(page) if "jobs:" in block)
    steps = yaml.safe_load(example)["jobs"]["confidential"]["steps"]
    assert set(steps[-1]["with"]) <= set(ACTION["inputs"])
