"""What is asked of every failure, whatever the host: one error at one place, nothing written, nothing told."""

from pathlib import Path
from typing import Any

import yaml

from tests.failures.case import Case
from tests.failures.running import Run
from tests.failures.world import World, canaries

REPORT = "said.json"
RESOURCES = "deployment/resources.yaml"
CONFIG = "config.yaml"
INPUT = "config.kubernetes.io/index"


def written(world: World, directory: Path) -> None:
    """The deployment as files: a directory of resources, and the configuration."""
    (directory / "deployment").mkdir()
    (directory / RESOURCES).write_bytes(world.stream())
    (directory / CONFIG).write_bytes(world.config())


def check_said(run: Run, case: Case, *, in_pipe: bool = False) -> dict[str, Any]:
    """Exactly one error, the one of the case; the exit code; no secret, no traceback.

    in_pipe: of the function, whose lines nobody sees; it names the object where one is known.
    """
    assert "Traceback" not in run.stderr
    assert not list(canaries(run.stderr))
    assert run.code == case.exit, run.stderr
    (error,) = run.errors
    assert error["code"] == case.code
    assert case.says in error["message"]
    assert error["hint"]
    assert case.hint in error["hint"]
    resource = error.get("resource", {})
    if case.place == "line":
        assert ("line" in error) != (in_pipe and "resource" in error)
    else:
        assert f"{resource.get('name', '')} {error.get('field', '')}".strip() == case.place
    return error


def check_list(run: Run, sent: bytes, case: Case) -> None:
    """The function's answer: the items as they came, in a list that parses, and the error among its results."""
    if case.echoed:
        assert run.stdout == sent
        return
    assert list(yaml.parse(run.stdout, yaml.CSafeLoader))  # events only: to load an alias bomb would be the bomb
    assert run.stdout.startswith(sent)
    results = yaml.safe_load(run.stdout[len(sent) :])["results"]
    errors = [result for result in results if result["severity"] == "error"]
    assert [result["tags"]["code"] for result in errors] == [case.code]
    assert "hint:" in errors[0]["message"]
    assert "\n" not in errors[0]["message"]
    assert not list(canaries(yaml.safe_dump(results)))


def check_text(run: Run, case: Case) -> None:
    """The same for people: one error line with its code and place, and a hint below it."""
    assert not list(canaries(run.stderr))
    lines = run.stderr.splitlines()
    errors = [line for line in lines if line.startswith("error ")]
    assert len(errors) == 1
    assert errors[0].startswith(f"error {case.code}")
    assert case.says in errors[0]
    assert any(line.startswith("  hint: ") and case.hint in line for line in lines)
    assert not [line for line in lines if line.endswith(".") and not line.startswith("  hint: ")]
