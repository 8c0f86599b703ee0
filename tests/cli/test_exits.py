"""The table of exit codes: which outcome has which code, and which one wins where there are several."""

import sys

import pytest

from krm_function.cli import main
from krm_function.cli.exits import (
    Exit,
    Terminated,
    exit_code,
    exit_code_of_differences,
    exit_code_of_exception,
)
from krm_function.findings import finding

CONFIGURATION = finding("CC0903")
ENVIRONMENT = finding("CC1001", file="a.yaml", problem="permission denied")
REGISTRY = finding("CC1003", problem="no answer")
ERROR = finding("CC1106")


@pytest.mark.parametrize(
    ("findings", "code"),
    [
        ((), 0),
        ((ERROR,), 1),
        ((ERROR, CONFIGURATION), 2),
        ((ENVIRONMENT, CONFIGURATION), 2),
        ((ERROR, ENVIRONMENT), 3),
        ((REGISTRY,), 3),
        ((ERROR._replace(severity="warning"), CONFIGURATION._replace(severity="info")), 0),
    ],
    ids=["none", "input", "configuration wins", "over the environment too", "environment", "cluster", "no error"],
)
def test_the_code_follows_from_the_errors(findings: tuple[object, ...], code: int) -> None:
    assert exit_code(findings) == code  # type: ignore[arg-type]


def test_findings_that_could_not_be_printed_are_an_environment_error() -> None:
    assert exit_code((), printed=False) == 3
    assert exit_code((CONFIGURATION,), printed=False) == 3


@pytest.mark.parametrize(("code", "differ", "wanted"), [(0, False, 0), (0, True, 1), (2, True, 2), (3, False, 3)])
def test_a_difference_changes_the_code_of_a_success_only(code: int, differ: bool, wanted: int) -> None:
    assert exit_code_of_differences(code, differ=differ) == wanted


@pytest.mark.parametrize(
    ("problem", "code"),
    [
        (Exit(2), 2),
        (Exit(0), 0),
        (BrokenPipeError(), 3),
        (KeyboardInterrupt(), 130),
        (ValueError(), 70),
        (OSError(), 70),
    ],
    ids=repr,
)
def test_every_exception_has_a_code(problem: BaseException, code: int) -> None:
    assert exit_code_of_exception(problem) == code


def test_a_signal_is_no_error_that_a_command_can_catch() -> None:
    assert not issubclass(Terminated, Exception)


def test_on_windows_one_line_names_the_way_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        sys.modules["krm_function.cli.main"].os, "name", "nt"
    )  # a module of that name is behind the function
    code = main()
    monkeypatch.undo()
    told = capsys.readouterr()
    assert (code, told.out) == (3, "")
    assert told.err == "contrast-krm: Windows is not supported; nothing was written\n  hint: run it in WSL\n"
