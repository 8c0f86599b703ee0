"""argparse with this program's exit codes and messages: one line, one hint, and a suggestion for what was mistyped.

Rule of this file: it knows how a command line is parsed, and no command.
"""

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from krm_function.cli.exits import USAGE, Exit
from krm_function.cli.streams import flush, write_out
from krm_function.cli.terminal import columns

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

WIDTH = 80  # columns, where there is no terminal
MARGIN = 2  # columns that argparse leaves free

CONTRASTS_OWN = {  # commands of Contrast's program that have no counterpart here
    name: f"contrast {name} is Contrast's own: {does}"
    for name, does in {
        "set": "give it the manifest, as contrast set --manifest manifest.json, after kubectl apply",
        "verify": "it attests the coordinator and needs no render",
        "recover": "it brings the coordinator back after a restart and needs no render",
        "sign": "it signs the manifest, which contrast-krm manifest prints",
    }.items()
}


def _untranslated(text: str | None) -> str | None:
    """Return a sentence of argparse's as it is."""
    return text


# Its sentences stay English, as all others are, under every locale; each would look for a catalogue of messages.
vars(argparse)["_"] = _untranslated


class Formatter(argparse.RawDescriptionHelpFormatter):
    """`-o, --output FILE` under every Python: before 3.13 argparse repeats the FILE, and the docs show the help."""

    def __init__(self, prog: str) -> None:
        """Make one as wide as the terminal; argparse makes one for each argument that is declared."""
        super().__init__(prog, width=columns(WIDTH) - MARGIN)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Wrap each line of a description by itself."""
        fill = super(argparse.RawDescriptionHelpFormatter, self)._fill_text
        return "\n".join(fill(line, width, indent) for line in text.split("\n"))

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        value = self._format_args(action, self._get_default_metavar_for_optional(action))
        return f"{', '.join(action.option_strings)} {value}"


class Parser(argparse.ArgumentParser):
    """A parser of one command, or of the commands below it. It takes no abbreviated flags."""

    def __init__(self, **settings: Any) -> None:
        """Make a parser that takes no abbreviations. settings: as argparse's own."""
        super().__init__(formatter_class=Formatter, allow_abbrev=False, **settings)

    def error(self, message: str) -> NoReturn:
        """Print one line and one hint; exit code 2."""
        self.refuse(message.removeprefix("argument "), f"see {self.prog} --help")

    def print_help(self, file: "SupportsWrite[str] | None" = None) -> None:
        """Print the help on standard output. Raises FileProblem; argparse would ignore a full device."""
        if file is None:
            write_out(self.format_help().encode())
        else:
            super().print_help(file)

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """Raise Exit, in place of SystemExit."""
        if message:
            sys.stderr.write(message)
        flush()
        raise Exit(status)

    def refuse_unknown(self, words: Sequence[str]) -> NoReturn:
        """Refuse the first of these arguments, which no command takes."""
        names = [option for action in self._actions for option in action.option_strings]
        word = words[0].partition("=")[0]
        self.refuse(f"unknown argument {_escaped(word)}", _suggestion(word, names) or f"see {self.prog} --help")

    def refuse_value(self, name: str, value: str, values: Sequence[str]) -> NoReturn:
        """Refuse a value that is not among those of an option or variable."""
        hint = _suggestion(value, values) or f"use one of {', '.join(values)}"
        self.refuse(f"{name} {_escaped(value)} is not known", hint)

    def _check_value(self, action: argparse.Action, value: object) -> None:
        """Refuse a value that is not among the choices; argparse would list them all in one line."""
        if action.choices is None or value in action.choices:
            return
        choices = [str(choice) for choice in action.choices]
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 (argparse has no public name for it)
            near = _suggestion(str(value), choices) or f"use one of {', '.join(choices)}"
            hint = CONTRASTS_OWN.get(str(value), near)
            self.refuse(f"unknown command {_escaped(str(value))}", hint)
        name = action.option_strings[-1] if action.option_strings else str(action.metavar).lower()
        self.refuse_value(name, str(value), choices)

    def refuse(self, message: str, hint: str) -> NoReturn:
        """Print one line and one hint; exit code 2."""
        sys.stderr.write(f"contrast-krm: {message}\n  hint: {hint}\n")
        raise Exit(USAGE)


def _suggestion(word: str, words: Sequence[str]) -> str:
    """Return the hint for a mistyped word, "" where no known word is near."""
    from krm_function.schema.nearest import nearest

    close = nearest(word, words)
    return f"did you mean {close}?" if close else ""


def _escaped(word: str) -> str:
    """Make the control characters of a word visible."""
    from krm_function.report.order import on_one_line

    return on_one_line(word)
