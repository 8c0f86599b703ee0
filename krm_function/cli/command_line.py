"""The command line: the parser of the command that is called, and options from the environment."""

import argparse
import os
import signal
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import FrameType
from typing import NoReturn, Protocol, cast

from krm_function import __version__
from krm_function.cli.commands import GROUPS, SUMMARIES, module_of
from krm_function.cli.exits import OK, USAGE, Terminated
from krm_function.cli.parser import FORMATS, OPTIONS_ELSEWHERE, Parser, form_of
from krm_function.cli.streams import write_out

# --- Options that come from the environment if the command line does not set them
#
#     option      variable              called as                                     value
#     given       any                   any                                           the option's
#     not given   unset or empty        any                                           the default
#     not given   set                   fn, post-render, the legacy plugin            the default: nothing is read
#     not given   CONTRAST_KRM_CONFIG   generate, plan, explain, diff, check, lock    the variable's, with CC0911
#     not given   CONTRAST_KRM_CONFIG   another command                               the default
#     not given   CONTRAST_KRM_FORMAT   any other command that prints findings        the variable's
#
# kustomize, kpt and Helm pass their environment on and can hide standard error, so a forgotten variable would silently
# change what they deploy. `policy` reads what is sealed unless an option changes that.
#
# Rule: a variable takes the values of its option. It never sets more than one option, and never names a program to run.


def take_from_environment(options: Namespace) -> None:
    """Fill in what the command line of a call leaves open. Raises Exit for an invalid value.

    `options.config_from` is the variable that `options.config` comes from, "" for the command line.
    """
    if hasattr(options, "config"):
        options.config_from = ""
        if not options.config:
            options.config = _read_config_variable(options)
            options.config_from = options.config_variable if options.config else ""
    if hasattr(options, "format") and not options.format:
        options.format = _read_format_variable(options)


def _read_config_variable(options: Namespace) -> list[str]:
    variable = options.config_variable
    value = os.environ.get(variable, "") if variable else ""
    if not value:
        return []
    paths: list[str] = value.split(os.pathsep)  # as PATH separates them
    if "" in paths:
        options.parser.error(f"{variable}: one of its paths is empty")
    return paths


def _read_format_variable(options: Namespace) -> str:
    variable = options.format_variable
    value = os.environ.get(variable, "") if variable else ""
    if value and value not in FORMATS:
        options.parser.refuse_value(variable, value, FORMATS)
    return value or FORMATS[0]


# --- Parse the command line: the parser of the command that is called, or of all of them
#
# Rule: a command's file is imported only for a call that names it. `completion` gets the parser of all commands as a
# value, so that no command imports this file.


PROGRAM = "contrast-krm"
HELM = "post-render"
DESCRIPTION = """Make rendered Kubernetes pods confidential with Contrast, and create the manifest.

Without arguments: a KRM function (ResourceList on standard input), as kustomize and kpt call it.
Start with: assess, init, plan, check."""
EPILOG = """exit codes: 0 ok, 1 error findings, 2 usage or configuration, 3 environment, 70 internal error
environment: CONTRAST_KRM_CONFIG and CONTRAST_KRM_FORMAT stand for --config and --format where a command's help names \
them and the option is not given; fn and post-render read neither"""
OF_THE_PROGRAM = ("-h", "--help", "--version")
FIRST_WORDS = tuple(name for name in SUMMARIES if " " not in name)


class Command(Protocol):
    """The module of a command. DESCRIPTION: the part of the help after the summary, may be ""."""

    DESCRIPTION: str

    def add_arguments(self, parser: Parser) -> None:
        """Declare the arguments."""

    def run(self, options: argparse.Namespace) -> int:
        """Run one call and return its exit code. Raises FileProblem for a file that cannot be read or written."""


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the options of one call; `options.run(options)` runs it. Raises Exit for --help and for mistakes.

    `options.parser` is the parser of the command, `options.every_parser()` returns the parser of all commands, and
    `options.parse` is this function.
    """
    if list(arguments[:2]) == [HELM, HELM]:  # the plugin of Helm 4 passes it, and so do users of Helm 3
        arguments = arguments[1:]
    called = [name for name in SUMMARIES if list(arguments[: len(name.split())]) == name.split()]
    command = max(called, key=len, default="")
    if command and command not in GROUPS:
        parser, words = Parser(prog=f"{PROGRAM} {command}"), arguments[len(command.split()) :]
        _declare(parser, command)
        parser.set_defaults(every_parser=every_parser, parse=parse_arguments)
    else:  # a group, or no command at all; making all commands takes longer
        parser, words = _program([command] if command else FIRST_WORDS), arguments
        if len(arguments) > 1 and arguments[0].startswith("-") and arguments[0] not in OF_THE_PROGRAM:
            option = arguments[0].partition("=")[0]
            first = OPTIONS_ELSEWHERE.get(option) or f"write the command first: {PROGRAM} COMMAND {option} ..."
            parser.refuse(f"{option} is before the command", first)
    parser.refuse_single_dash(words)
    options, unknown = parser.parse_known_args(words)
    if unknown and hasattr(options, "paths") and not any(word.startswith("-") and word != "-" for word in unknown):
        options.paths += unknown  # argparse takes no files after an option once it has taken a first word
    elif unknown:
        options.parser.refuse_unknown(unknown)
    take_from_environment(options)
    if hasattr(options, "color"):
        options.format = form_of(options)
    return options


def every_parser() -> Parser:
    """Return the parser of all commands with all their arguments."""
    return _program(FIRST_WORDS, whole=True)


def _program(names: Iterable[str], *, whole: bool = False) -> Parser:
    parser = Parser(prog=PROGRAM, description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--version", action="store_true", help="print the version")
    parser.set_defaults(run=_run_without_command, parser=parser)
    _add_commands(parser, names, whole=whole)
    return parser


def load_command(name: str) -> Command:
    """Load the module of a command."""
    return cast("Command", import_module(module_of(name)))


def _add_commands(parser: Parser, names: Iterable[str], *, whole: bool) -> None:
    choices = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=Parser)
    for name in names:
        summary = SUMMARIES[name]
        subparser = choices.add_parser(name.rpartition(" ")[2], help=summary, description=f"{_make_sentence(summary)}.")
        subparser.set_defaults(parser=subparser, run=_print_usage)
        if below := _list_subcommands(name):
            _add_commands(subparser, below, whole=whole)
        if whole and name not in GROUPS:
            _declare(subparser, name)


def _declare(parser: Parser, name: str) -> None:
    command = load_command(name)
    parser.description = f"{_make_sentence(SUMMARIES[name])}. {command.DESCRIPTION}".rstrip()
    parser.epilog = "\n".join(f"{PROGRAM} {below}: {SUMMARIES[below]}" for below in _list_subcommands(name)) or None
    parser.set_defaults(parser=parser, run=command.run)
    command.add_arguments(parser)


def _list_subcommands(name: str) -> list[str]:
    return [below for below in SUMMARIES if below.startswith(f"{name} ")]


def _make_sentence(summary: str) -> str:
    return f"{summary[0].upper()}{summary[1:]}"


def _run_without_command(options: argparse.Namespace) -> int:
    if not options.version:
        return _print_usage(options)
    write_out(f"{PROGRAM} {__version__}\n".encode())
    return OK


def _print_usage(options: argparse.Namespace) -> int:
    """Print the commands below this one."""
    sys.stderr.write(options.parser.format_help())
    return USAGE


# --- SIGTERM and SIGHUP end a command as SIGINT does: it cleans up, then the process dies by the signal
#
# Rule: only the first signal leaves time to clean up; a second one ends the process at once.


ENDING = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def terminable() -> Iterator[None]:
    """Raise Terminated in the block when a signal arrives; a signal that the caller ignores stays ignored."""
    mine = [number for number in ENDING if signal.getsignal(number) is signal.SIG_DFL]
    for number in mine:
        signal.signal(number, _end)
    try:
        yield
    finally:
        for number in mine:
            signal.signal(number, signal.SIG_DFL)


def die(number: int) -> NoReturn:
    """End by the signal's default action, so that the parent process sees the signal."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    raise AssertionError("the default of these signals is to end")


def _end(number: int, _: FrameType | None) -> None:
    signal.signal(number, signal.SIG_DFL)
    raise Terminated(number)
