"""The parser of the command line: our exit code, our tone, and the flags that several verbs share.

Rule of this file: it knows how a verb looks, and no verb.
"""

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from krm_function.cli.exits import USAGE, Exit
from krm_function.cli.say import FORMATS
from krm_function.cli.streams import flush, write_out
from krm_function.report.order import escape

if TYPE_CHECKING:
    from _typeshed import SupportsWrite


class Formatter(argparse.RawDescriptionHelpFormatter):
    """`-o, --output FILE` under every Python: before 3.13 argparse repeats the FILE, and our help is in the docs."""

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        value = self._format_args(action, self._get_default_metavar_for_optional(action))
        return f"{', '.join(action.option_strings)} {value}"


class Parser(argparse.ArgumentParser):
    """argparse with our exit code, our tone, and a suggestion for a mistyped verb, flag or choice."""

    def error(self, message: str) -> NoReturn:
        """One line, one hint, exit 2."""
        self._refuse(message.removeprefix("argument "), f"see {self.prog} --help")

    def print_help(self, file: "SupportsWrite[str] | None" = None) -> None:
        """To standard output through the one way there; argparse would say nothing of a full device."""
        if file is None:
            write_out(self.format_help().encode())
        else:
            super().print_help(file)

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """Leave through the one exit."""
        if message:
            sys.stderr.write(message)
        flush()
        raise Exit(status)

    def refuse_unknown(self, words: Sequence[str]) -> NoReturn:
        """Say that nobody knows the first of these arguments."""
        known = [option for action in self._actions for option in action.option_strings]
        word = words[0].partition("=")[0]
        self._refuse(f"unknown argument {escape(word)}", self._meant(word, known) or f"see {self.prog} --help")

    def _check_value(self, action: argparse.Action, value: object) -> None:
        """Refuse what is none of the choices; argparse would list them all in one line."""
        if action.choices is None or value in action.choices:
            return
        known = [str(choice) for choice in action.choices]
        name = action.option_strings[-1] if action.option_strings else str(action.metavar).lower()
        what = f"{name} {escape(str(value))} is not known" if name != "verb" else f"unknown verb {escape(str(value))}"
        self._refuse(what, self._meant(str(value), known) or f"use one of {', '.join(known)}")

    def _meant(self, word: str, known: Sequence[str]) -> str:
        from krm_function.schema.nearest import nearest

        close = nearest(word, known)
        return f"did you mean {close}?" if close else ""

    def _refuse(self, message: str, hint: str) -> NoReturn:
        sys.stderr.write(f"contrast-krm: {message}\n  hint: {hint}\n")
        raise Exit(USAGE)


Verbs = argparse._SubParsersAction  # noqa: SLF001


def verb(verbs: "Verbs[Parser]", name: str, summary: str, description: str = "") -> Parser:
    """A verb. summary: its line in the list of verbs; description: what there is to know beyond it."""
    about = f"{summary[0].upper()}{summary[1:]}." + (f" {description}" if description else "")
    parser = verbs.add_parser(name, help=summary, description=about, allow_abbrev=False, formatter_class=Formatter)
    parser.set_defaults(parser=parser)
    return parser


def group(verbs: "Verbs[Parser]", name: str, summary: str) -> "Verbs[Parser]":
    """A verb that has verbs of its own; alone it prints its help."""
    parser = verb(verbs, name, summary)

    def run(options: argparse.Namespace) -> int:
        sys.stderr.write(options.parser.format_help())
        return USAGE

    parser.set_defaults(run=run)
    return parser.add_subparsers(title="verbs", metavar="VERB", parser_class=Parser)


def say(parser: Parser) -> None:
    """The form of the findings."""
    parser.add_argument(
        "--format", choices=FORMATS, default="text", help="form of the findings on standard error (default: text)"
    )
    parser.add_argument(
        "--report", metavar="FILE", default="", help="also write the findings to FILE, in the same form"
    )


def config(parser: Parser) -> None:
    """Where the configuration is."""
    parser.add_argument(
        "--config",
        metavar="FILE",
        action="append",
        default=[],
        help="file or directory with ContrastGenerate, ContrastRelease and ImageLock objects (repeatable)",
    )


def genpolicy(parser: Parser, *, required: bool = False) -> None:
    """The generator in place of our own."""
    parser.add_argument(
        "--genpolicy",
        metavar="PATH",
        default="",
        required=required,
        help="Kata's or Contrast's genpolicy, to make the policies in place of our own generator; it uses the network",
    )
    parser.add_argument(
        "--genpolicy-timeout",
        metavar="SECONDS",
        type=_seconds,
        default=300,
        help="how long it may take for one workload (default: 300)",
    )


def _seconds(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 0 < int(text) <= 86400:
        raise argparse.ArgumentTypeError("must be a number of seconds, at least 1")
    return int(text)
