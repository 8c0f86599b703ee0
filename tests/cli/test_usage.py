"""Help, versions, mistyped arguments, and streams that are closed."""

import os
import pty
import subprocess
from pathlib import Path

import pytest

from krm_function import __version__
from krm_function.cli.main import ISSUES
from tests.cli.conftest import Shop
from tests.failures.checking import CONFIG
from tests.failures.running import EXECUTABLE, Zygote, environment, spawned

SETTING_UP = ("release", "init", "keys", "install", "completion")
COMMANDS = ("fn", "post-render", "generate", "plan", "check", "uninject", "manifest", "schema", *SETTING_UP)
BELOW = (("release", "import"), ("release", "show"), ("keys", "new"))
READERS = ("post-render", "generate", "plan", "check", "uninject", "manifest")


@pytest.mark.parametrize("arguments", [(), *((command,) for command in COMMANDS), *BELOW], ids=" ".join)
def test_help_goes_to_standard_output(arguments: tuple[str, ...], call: Zygote) -> None:
    run = call(*arguments, "--help")
    assert run.code == 0
    assert run.stderr == ""
    assert run.stdout.startswith(f"usage: {' '.join(('contrast-krm', *arguments))}".encode())


def test_the_help_lists_every_command_and_the_exit_codes(call: Zygote) -> None:
    text = call("--help").stdout.decode()
    assert all(f"\n    {command}" in text for command in COMMANDS)
    assert "exit codes: 0 ok, 1 error findings, 2 usage or configuration, 3 environment, 70" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80
    assert "None" not in text


def test_the_version_is_that_of_the_package() -> None:
    run = spawned("--version")
    assert (run.code, run.stdout.decode(), run.stderr) == (0, f"contrast-krm {__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "said", "hint"),
    [
        (["generat"], "unknown command generat", "did you mean generate?"),
        (["bogus"], "unknown command bogus", "use one of fn, post-render, assess, adopt, generate"),
        (["generate", "--confg", "x"], "unknown argument --confg", "did you mean --config?"),
        (["generate", "--confg=x"], "unknown argument --confg", "did you mean --config?"),
        (["generate", "--skip-initialiser"], "unknown argument --skip-initialiser", "did you mean --skip-initializer?"),
        (["--versoin"], "unknown argument --versoin", "did you mean --version?"),
        (["generate", "--calculate-pod-memory"], "unknown argument", "set memory: calculate in the ContrastGenerate"),
        (["--log-level", "debug", "generate"], "--log-level is before the command", "use -v for more"),
        (["plan", "-o", "yaml"], "--output yaml is not known", "use one of text, json"),
        (["check", "--format", "jsn"], "--format jsn is not known", "did you mean json?"),
        (["generate", "--config"], "--config: expected one argument", "see contrast-krm generate --help"),
        (["generate", "-o", "a", "--in-place"], "not allowed with argument", "see contrast-krm generate --help"),
        (["release", "imprt"], "unknown command imprt", "did you mean import?"),
        (["release", "import"], "the following arguments are required: FILE", "see contrast-krm release import --help"),
        (["release", "import", "a", "--relaese", "v1"], "unknown argument --relaese", "did you mean --release?"),
        (["generate", "-out", "x"], "unknown argument -out", "did you mean --output?"),
        (["generate", "-config=x"], "unknown argument -config=x", "did you mean --config?"),
        (["init", "--kusto"], "unknown argument --kusto", "did you mean --kustomize?"),
        (["schema", "ImageLock", "more"], "unknown argument more", "see contrast-krm schema --help"),
        (["gen\x1b[31m\u202e"], "unknown command gen\\x1b[31m\\u202e", "use one of"),
        ([""], "unknown command ", "use one of"),
    ],
)
def test_a_mistyped_argument_has_one_line_and_a_hint(arguments: list[str], said: str, hint: str, call: Zygote) -> None:
    run = call(*arguments)
    assert run.code == 2
    assert run.stdout == b""
    first, second = run.stderr.splitlines()
    assert first.startswith("contrast-krm: ")
    assert said in first
    assert second.startswith("  hint: ")
    assert hint in second


@pytest.mark.parametrize("command", ["release", "keys"])
def test_a_command_that_needs_another_one_says_which_there_are(command: str, call: Zygote) -> None:
    run = call(command)
    assert (run.code, run.stdout) == (2, b"")
    assert run.stderr.startswith(f"usage: contrast-krm {command}")


def test_a_shortened_flag_is_not_guessed(call: Zygote) -> None:
    assert call("generate", "--conf", "x").code == 2


def on_a_terminal(*arguments: str) -> tuple[int, str, str]:
    """Exit code and both streams of a call whose standard input is a terminal."""
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(
            [EXECUTABLE, *arguments],
            stdin=theirs,
            capture_output=True,
            text=True,
            timeout=30,
            env=environment(),
            check=False,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    return done.returncode, done.stdout, done.stderr


def test_without_arguments_on_a_terminal_it_says_how_to_use_it() -> None:
    code, said, message = on_a_terminal()
    assert (code, said) == (2, "")
    assert "contrast-krm --help" in message
    assert "kustomize build" in message


@pytest.mark.parametrize("command", ["generate", "post-render"])
def test_a_command_does_not_wait_for_someone_to_type_yaml(command: str) -> None:
    code, said, message = on_a_terminal(command)
    assert (code, said) == (2, "")
    assert message.startswith("error CC0909: standard input: it is a terminal\n  hint: name files")


@pytest.mark.parametrize("arguments", [("schema",), ("plan", "deployment", "--config", CONFIG), ("--help",)])
def test_a_reader_that_leaves_early_causes_no_message(arguments: tuple[str, ...], shop: Shop) -> None:
    command = f"{EXECUTABLE} {' '.join(arguments)} | head -c 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, cwd=shop.directory, timeout=30, check=False)
    assert len(done.stdout) == 1
    assert all(line.startswith((b"info CC0294 ", b"  ", b"more: ")) for line in done.stderr.splitlines())


def test_a_reader_that_is_gone_before_the_first_byte_causes_no_message(shop: Shop) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    command = [EXECUTABLE, "generate", "deployment", "--config", CONFIG]
    done = subprocess.run(command, stdout=theirs, stderr=subprocess.PIPE, cwd=shop.directory, timeout=30, check=False)
    os.close(theirs)
    assert (done.returncode, done.stderr) == (3, b"")


@pytest.mark.parametrize(
    ("redirection", "message"),
    [
        (">/dev/full", "error CC1002 standard output: cannot be written: no space left on device"),
        (">&-", "error CC1002 standard output: cannot be written: it is closed"),
        ("2>&-", ""),
    ],
)
def test_streams_that_cannot_be_written_are_an_environment_error(redirection: str, message: str, shop: Shop) -> None:
    command = f"{EXECUTABLE} generate deployment --config {CONFIG} {redirection}"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, cwd=shop.directory, timeout=30, check=False
    )
    assert done.returncode == (3 if message else 0)
    assert done.stderr == (f"{message}\n  hint: check the path and its permissions\n" if message else "")


@pytest.mark.parametrize("arguments", ["--version", "schema ImageLock"])
def test_a_full_disk_is_reported_for_a_short_output_too(arguments: str) -> None:
    done = subprocess.run(
        ["bash", "-c", f"{EXECUTABLE} {arguments} >/dev/full"], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 3
    assert done.stderr.count("error CC1002") == 1
    assert "Exception ignored" not in done.stderr


def test_a_closed_standard_input_is_an_environment_error() -> None:
    done = subprocess.run(["bash", "-c", f"{EXECUTABLE} <&-"], capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 3
    assert done.stderr.startswith("error CC1001 standard input: cannot be read: it is closed")


def test_a_bug_ends_in_one_line_and_exit_code_70(shop: Shop) -> None:
    """The one way to a bug from outside is to break the program itself."""
    script = (
        "import sys; from krm_function.cli import main, function; "
        "function.decode = lambda data: 1 / 0; sys.argv = ['contrast-krm']; sys.exit(main())"
    )
    for debug in ("", "1"):
        done = subprocess.run(
            [str(Path(EXECUTABLE).parent / "python"), "-c", script],
            input="x",
            capture_output=True,
            text=True,
            env=environment(CONTRAST_KRM_DEBUG=debug),
            cwd=shop.directory,
            timeout=30,
            check=False,
        )
        assert done.returncode == 70
        assert done.stdout == ""
        assert "internal error: ZeroDivisionError at" in done.stderr
        assert ISSUES in done.stderr
        assert ("Traceback" in done.stderr) == bool(debug)


def test_a_post_renderer_without_input_is_an_error(shop: Shop) -> None:
    run = shop("post-render", "--config", CONFIG, "--format", "json")
    assert (run.code, run.stdout) == (1, b"")
    (error,) = run.errors
    assert error["code"] == "CC0109"
    assert "--output-dir" in error["hint"]
