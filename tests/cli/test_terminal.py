"""What a terminal gets and a file does not: colours, the width of the plan; and how much is printed."""

import io
import json
import os
import pty
import subprocess
import termios
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from krm_function.cli.parser import Choice, coloured, columns
from tests.cli.conftest import Shop, warned
from tests.failures.checking import CONFIG
from tests.failures.running import EXECUTABLE, Run, environment, spawned
from tests.failures.world import World

QUICKSTART = Path(__file__).parents[2] / "examples" / "quickstart"
ESCAPE = "\x1b["
PLAN = ("plan", "deployment", "--config", CONFIG)


def failing() -> World:
    """An error whose message has a control sequence of the input."""
    world = World()
    world.container["image"] = "example.com/\x1b[31munpinned"
    return world


def in_a_terminal(directory: Path, *arguments: str, stream: str, **variables: str) -> Run:
    """Run the executable with one of its streams in a terminal of 100 columns; the other one is a pipe."""
    controller, terminal = pty.openpty()
    os.set_blocking(controller, True)
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: terminal}
    termios.tcsetwinsize(terminal, (40, 100))
    env = environment(TERM="xterm", **variables)
    process = subprocess.Popen([EXECUTABLE, *arguments], cwd=directory, stdin=subprocess.DEVNULL, env=env, **streams)
    os.close(terminal)
    seen = b""
    while True:
        try:
            piece = os.read(controller, 65536)
        except OSError:  # EIO: the last one has closed the terminal
            break
        seen += piece
    out, err = process.communicate(timeout=60)
    os.close(controller)
    seen = seen.replace(b"\r\n", b"\n")
    return Run(process.returncode, seen if out is None else out, (seen if err is None else err).decode())


# --- colours


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("choice", "variables", "terminal", "yes"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("auto", {"TERM": "dumb"}, True, False),
        ("always", {"NO_COLOR": "1", "TERM": "dumb"}, False, True),
        ("never", {}, True, False),
    ],
)
def test_who_gets_colours(
    choice: Choice, variables: Mapping[str, str], terminal: bool, yes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert coloured(choice, Terminal() if terminal else io.StringIO()) is yes
    assert coloured(choice, None) is (choice == "always")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "variables", "yes"),
    [((), {}, True), ((), {"NO_COLOR": "1"}, False), (("--color", "never"), {}, False)],
    ids=["as it is", "NO_COLOR", "--color never"],
)
@pytest.mark.parametrize(
    ("world", "head"),
    [(failing, "\x1b[1;31merror CC0503\x1b[0m"), (warned, "\x1b[1;33mwarning CC0310\x1b[0m")],
    ids=["an error", "a warning"],
)
def test_findings_on_a_terminal(
    arguments: tuple[str, ...], variables: dict[str, str], yes: bool, world: Any, head: str, shop: Shop
) -> None:
    shop.change(world())
    shown = in_a_terminal(
        shop.directory, "generate", *PLAN[1:], *arguments, "--report", "report", stream="stderr", **variables
    )
    piped = shop.generate()
    assert shown.code == piped.code
    assert (ESCAPE in shown.stderr) is yes
    if yes:
        assert shown.stderr.startswith(f"{head} \x1b[1mshop/web spec.")
        assert "\n  \x1b[36mhint:\x1b[0m " in shown.stderr
    for code in ("1;31", "1;33", "36", "1", "0"):
        shown = shown._replace(stderr=shown.stderr.replace(f"\x1b[{code}m", ""))
    assert shown.stderr == piped.stderr, "without the colours of this program nothing is left of them"
    assert ESCAPE not in (shop.directory / "report").read_text()


def test_colours_are_forced_into_a_pipe_but_never_into_a_report_or_a_format_for_machines(shop: Shop) -> None:
    shop.change(failing())
    run = shop.generate("--color", "always", "--report", "report")
    assert run.stderr.startswith("\x1b[1;31merror ")
    assert ESCAPE not in (shop.directory / "report").read_text()
    for form in ("json", "github", "sarif"):
        assert shop.generate("--color", "always", "--format", form).stderr == shop.generate("--format", form).stderr


def test_results_of_a_krm_function_have_no_colours(shop: Shop) -> None:
    data = failing().resource_list()
    run = shop("fn", "--color", "always", data=data)
    assert ESCAPE in run.stderr
    assert run.stdout == shop("fn", data=data).stdout
    assert b"results:" in run.stdout
    assert b"\\x1b[1;31m" not in run.stdout
    assert b"\x1b" not in run.stdout


# --- how much


@pytest.mark.parametrize("make", [World, warned, failing], ids=["fine", "warned", "failing"])
def test_quiet_prints_errors_and_verbose_prints_infos(make: Any, shop: Shop) -> None:
    shop.change(make())
    usual, quiet, verbose = shop.generate(), shop.generate("-q"), shop.generate("--verbose")
    assert usual.code == quiet.code == verbose.code
    assert usual.stdout == quiet.stdout == verbose.stdout
    heads = [[line.split()[0] for line in run.stderr.splitlines() if line[0] != " "] for run in (usual, quiet, verbose)]
    assert set(heads[1]) <= {"error"}
    assert heads[0].count("error") == heads[1].count("error") == heads[2].count("error")
    assert "info" not in heads[0]
    if make is not failing:
        assert "info CC0606 shop/web" in verbose.stderr
        assert quiet.stderr == ""


@pytest.mark.parametrize("form", ["json", "github", "sarif"])
def test_formats_for_machines_and_the_report_are_the_same_however_much_is_printed(form: str, shop: Shop) -> None:
    shop.change(warned())
    usual, quiet, verbose = (shop.generate("--format", form, *more) for more in ((), ("-q",), ("-v",)))
    assert usual == quiet == verbose
    for number, more in enumerate(("-q", "-v", "--color=never")):
        shop.generate(more, "--report", f"report-{number}")
    reports = {(shop.directory / f"report-{number}").read_text() for number in range(3)}
    assert len(reports) == 1
    assert "info CC0606" in reports.pop()


def test_the_closing_line_of_a_check_is_no_error(shop: Shop, rendered: bytes) -> None:
    assert "checked 2 Contrast workloads" in shop("check", data=rendered).stderr
    assert shop("check", "--quiet", data=rendered).stderr == ""


def test_more_and_less_at_once_is_a_mistake(shop: Shop) -> None:
    run = shop.generate("-q", "-v")
    assert (run.code, run.stdout) == (2, b"")
    assert "not allowed with" in run.stderr


# --- the width of the plan


@pytest.mark.parametrize("width", ["80", "120"])
@pytest.mark.parametrize("nodes", [(), ("--nodes", "nodes.yaml")], ids=["without nodes", "with nodes"])
def test_nothing_of_the_quickstart_wraps(width: str, nodes: tuple[str, ...]) -> None:
    call = ("plan", "resources", "--config", "config", *nodes)
    run = spawned(*call, directory=QUICKSTART, COLUMNS=width)
    assert max(map(len, run.stdout.decode().splitlines())) <= int(width)
    assert run.stdout == spawned(*call, directory=QUICKSTART, COLUMNS="1000").stdout


def test_the_plan_fits_the_terminal_and_is_coloured_there(shop: Shop) -> None:
    world = World()
    world["web"]["metadata"]["name"] = "w" * 50
    shop.change(world)
    nodes = shop.write("nodes.json", json.dumps({"kind": "Node", "metadata": {"name": "a" * 200}}))
    shown = in_a_terminal(shop.directory, *PLAN, "--nodes", nodes, stream="stdout")
    text = shown.stdout.decode()
    assert ESCAPE in text
    bare = text.replace("\x1b[1;31m", "").replace("\x1b[0m", "")
    assert 80 < max(map(len, bare.splitlines())) <= 100
    wide = in_a_terminal(shop.directory, *PLAN, "--nodes", nodes, "--color=never", stream="stdout", COLUMNS="90")
    assert 80 < max(map(len, wide.stdout.decode().splitlines())) <= 90
    assert ESCAPE not in wide.stdout.decode()
    piped = shop(*PLAN, "--nodes", nodes)
    assert max(map(len, piped.stdout.decode().splitlines())) <= 80


def test_a_plan_in_a_file_is_the_same_from_every_terminal(shop: Shop) -> None:
    in_a_terminal(shop.directory, *PLAN, "-o", "a.txt", "--color=always", stream="stdout")
    shop(*PLAN, "-o", "b.txt")
    first, second = ((shop.directory / name).read_bytes() for name in ("a.txt", "b.txt"))
    assert first == second == shop(*PLAN).stdout


@pytest.mark.parametrize(("said", "width"), [("", 80), ("0", 80), ("x", 80), ("-3", 80), ("132", 132), ("²", 80)])
def test_columns_of_a_file(said: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", said)
    assert columns(80, file=True) == width
