"""Nothing at all is no success: `kustomize build (which fails) | contrast-krm check` must not be green."""

import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Shop, call, rendered, shop
from tests.failures.checking import CONFIG
from tests.failures.running import EXECUTABLE, Run, environment

__all__ = ["call", "rendered", "shop"]

COMMANDS = {
    "generate": ("generate", "--config", CONFIG),
    "plan": ("plan", "--config", CONFIG),
    "explain": ("explain", "Deployment/web", "--config", CONFIG),
    "diff": ("diff", "--config", CONFIG),
    "check": ("check",),
    "check --config": ("check", "--config", CONFIG),
    "uninject": ("uninject",),
    "manifest": ("manifest",),
    "policy show": ("policy", "show", "Deployment/web"),
    "policy replay": ("policy", "replay", "Deployment/web", "--log", "/dev/null"),
    "why": ("why", "deploy/web"),
    "upgrade": ("upgrade", "--config", CONFIG, "--to", "next.yaml"),
    "lock": ("lock", "--config", CONFIG),
    "release show": ("release", "show"),
}
# why there is nothing -> what there is
NOTHING = {
    "the command in front of the pipe has failed": b"",
    "it has printed its last line end": b"\n",
    "it has printed blank lines as some templates do": b" \r\n\t\n\x0c\n",
    "it writes a byte order mark first": b"\xef\xbb\xbf",
    "mark and line end": b"\xef\xbb\xbf\r\n",
}


def refused(run: Run, says: str) -> None:
    assert run.code == 1
    assert run.stdout == b""
    (error,) = run.errors
    assert (error["code"], error["message"]) == ("CC0109", "the input is empty")
    assert says in error["hint"]


@pytest.mark.parametrize("why", NOTHING)
@pytest.mark.parametrize("command", COMMANDS)
def test_an_empty_standard_input_is_an_error_of_every_command_that_reads_resources(
    command: str, why: str, shop: Shop
) -> None:
    hint = f"or name files: contrast-krm {command.removesuffix(' --config')} FILE"
    refused(shop(*COMMANDS[command], "--format", "json", data=NOTHING[why]), hint)
    if "explain" not in command and "policy" not in command:
        refused(shop(*COMMANDS[command], "-", "--format", "json", data=NOTHING[why]), hint)


@pytest.mark.parametrize("why", NOTHING)
def test_the_function_answers_nothing_with_an_error(why: str, shop: Shop) -> None:
    """What it was sent goes on, as in any failure, for a pipe without pipefail."""
    run = shop("fn", "--format", "json", data=NOTHING[why])
    refused(run._replace(stdout=b""), "pass a ResourceList")
    assert run.stdout == NOTHING[why]
    run = shop(data=NOTHING[why])
    assert (run.code, run.stdout) == (1, NOTHING[why])
    assert run.stderr.startswith("error CC0109: the input is empty\n")


@pytest.mark.parametrize("command", [name for name in COMMANDS if "policy" not in name and name != "explain"])
def test_an_empty_standard_input_beside_files_is_an_error(command: str, shop: Shop) -> None:
    refused(shop(*COMMANDS[command], "deployment", "-", "--format", "json"), "or name files")


@pytest.mark.parametrize("why", NOTHING)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_with_nothing_in_it_is_an_error(command: str, why: str, shop: Shop) -> None:
    """`kustomize build > rendered.yaml` leaves one when it fails."""
    shop.write("rendered.yaml", NOTHING[why])
    run = shop(*COMMANDS[command], "rendered.yaml", "--format", "json")
    refused(run, "check the program that writes this file")
    assert run.errors[0]["file"] == "rendered.yaml"


def test_files_with_nothing_in_any_of_them_are_an_error(shop: Shop) -> None:
    shop.write("empty/a.yaml", "")
    shop.write("empty/b.yaml", "\n")
    refused(shop("check", "empty", "--format", "json"), "check the program that writes this file")


def test_an_empty_file_among_others_is_none(shop: Shop) -> None:
    before = shop.generate()
    shop.write("deployment/empty.yaml", "")
    assert shop.generate() == before
    assert shop.generate("--in-place").code == 0
    assert (shop.directory / "deployment/empty.yaml").read_bytes() == b""


@pytest.mark.parametrize("more", [("--no-weaker", "old.yaml"), ("--manifest", "old.yaml")])
def test_an_empty_file_to_compare_with_is_no_gate(more: tuple[str, ...], shop: Shop, rendered: bytes) -> None:
    shop.write("old.yaml", "")
    run = shop("check", *more, data=rendered)
    assert run.code != 0
    assert run.stderr.startswith("error ")


def test_an_empty_side_of_a_comparison_is_an_error(shop: Shop, rendered: bytes) -> None:
    shop.write("old.yaml", "")
    refused(
        shop("diff", "--policy", "old.yaml", "-", "--format", "json", data=rendered), "check the program that writes"
    )
    shop.write("old.yaml", rendered)
    refused(
        shop("diff", "--policy", "old.yaml", "-", "--format", "json"), "check the command before the pipe for errors"
    )


def test_empty_nodes_are_an_error(shop: Shop) -> None:
    run = shop("plan", "deployment", "--config", CONFIG, "--nodes", "-", "--format", "json")
    refused(run, "check the command before the pipe for errors")


def test_the_report_has_it(shop: Shop) -> None:
    assert shop("check", "--report", "report.txt").code == 1
    assert (shop.directory / "report.txt").read_text().startswith("error CC0109: the input is empty\n")


@pytest.mark.parametrize("command", ["check", "post-render", "fn", "generate"])
def test_a_standard_input_that_cannot_be_read_is_told(command: str, tmp_path: Path) -> None:
    """It is open for writing only; of a directory the interpreter complains itself."""
    line = f"{EXECUTABLE} {command} 0>{tmp_path / 'out'}"
    done = subprocess.run(["bash", "-c", line], env=environment(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("error CC1001 standard input: cannot be read: bad file descriptor\n")
