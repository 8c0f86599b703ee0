"""argparse with this program's exit codes and messages, and the arguments that commands share."""

import argparse
import os
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TextIO

from krm_function.cli.exits import USAGE, Exit
from krm_function.cli.streams import flush, write_out

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

    from krm_function.cli.messages import Form


# --- The abilities of a stream: colours, and the number of columns
#
# Rule: only a terminal gets colours, unless --color asks for them.
#
#     --color   NO_COLOR     TERM    the stream is a terminal    colours
#     always    any          any     any                         yes
#     never     any          any     any                         no
#     auto      not empty    any     any                         no      (https://no-color.org)
#     auto      otherwise    dumb    any                         no
#     auto      otherwise    other   yes                         yes
#     auto      otherwise    other   no                          no


Choice = Literal["auto", "always", "never"]


def coloured(choice: Choice, stream: TextIO | None) -> bool:
    """Tell whether to print colours to a stream. stream: None if the caller has closed it."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream is not None and stream.isatty()


def columns(default: int, *, file: bool = False) -> int:
    """Return the width of standard output: COLUMNS, else the terminal's own width, else the default.

    file: the text goes into a file, whose width does not depend on a terminal. Like `shutil.get_terminal_size`, but
    without the decompressors that `shutil` loads: argparse asks for the width in every call.
    """
    variable = os.environ.get("COLUMNS", "")
    if variable.isascii() and variable.isdecimal() and len(variable) < 7 and int(variable):
        return int(variable)
    if file or sys.__stdout__ is None:
        return default
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or default
    except (OSError, ValueError):  # no terminal; closed, or without a descriptor
        return default


# --- argparse with this program's exit codes and messages: one line, one hint, and a suggestion for a typing mistake
#
# Rule: nothing here depends on a command.


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
OPTIONS_ELSEWHERE = {  # options of Contrast's program, and where their purpose is met here
    "--platform": "set spec.platform in the ContrastGenerate; generate also accepts contrast's --reference-values",
    "--calculate-pod-memory": "set memory: calculate in the ContrastGenerate",
    "--collateral-proxy": "a collateral proxy is not supported",
    "--insecure-enable-debug-shell-access": "a debug shell is not supported: it opens the guest to the host",
    "--genpolicy-cache-path": "no cache is needed: a render reads the ImageLock, which contrast-krm lock writes",
    "-c": "--config FILE names the configuration; a cache of image layers is not needed",
    "--workspace-dir": "change to that directory first: file names are relative to the working directory",
    "--log-level": "use -v for more, or -q for errors only",
}


def _keep_english(text: str | None) -> str | None:
    return text


# Its sentences stay English like all others; with gettext, each would search for a catalogue of messages.
vars(argparse)["_"] = _keep_english


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Print `-o, --output FILE` under every Python, as in the docs: before 3.13 argparse repeats the FILE."""

    def __init__(self, prog: str) -> None:
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
    """A parser of one command, or of the commands below it. It accepts no abbreviated flags."""

    def __init__(self, **settings: Any) -> None:
        """Make a parser that accepts no abbreviations. settings: as argparse's own."""
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
        """Raise Exit instead of SystemExit."""
        if message:
            sys.stderr.write(message)
        flush()
        raise Exit(status)

    def refuse_unknown(self, words: Sequence[str]) -> NoReturn:
        """Refuse the first of these arguments, which no command accepts."""
        names = [option for action in self._actions for option in action.option_strings]
        word = words[0].partition("=")[0]
        hint = OPTIONS_ELSEWHERE.get(word) or _suggest(word, names) or f"see {self.prog} --help"
        self.refuse(f"unknown argument {_escape(word)}", hint)

    def refuse_single_dash(self, words: Sequence[str]) -> None:
        """Refuse `-out`, which argparse would read as `-o ut`; `-oFILE` and `-qv` stay what they are."""
        names = [option for action in self._actions for option in action.option_strings if option.startswith("--")]
        for word in words[: words.index("--")] if "--" in words else words:
            name = word.partition("=")[0]
            near = next((option for option in names if len(name) > 3 and option.startswith(f"-{name}")), "")
            if near and not name.startswith("--"):
                self.refuse(f"unknown argument {_escape(word)}", f"did you mean {near}?")

    def refuse_value(self, name: str, value: str, values: Sequence[str]) -> NoReturn:
        """Refuse a value that an option or variable does not accept."""
        hint = _suggest(value, values) or f"use one of {', '.join(values)}"
        self.refuse(f"{name} {_escape(value)} is not known", hint)

    def _check_value(self, action: argparse.Action, value: object) -> None:
        """Refuse a value that is not a choice; argparse would list all choices in one line."""
        if action.choices is None or value in action.choices:
            return
        choices = [str(choice) for choice in action.choices]
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 (argparse has no public name for it)
            near = _suggest(str(value), choices) or f"use one of {', '.join(choices)}"
            if str(value).partition(" ")[0] in choices:  # as in one --post-renderer-args of Helm 3
                near = "pass each word as an argument of its own; for Helm 3, with a --post-renderer-args of its own"
            hint = CONTRASTS_OWN.get(str(value), near)
            self.refuse(f"unknown command {_escape(str(value))}", hint)
        name = action.option_strings[-1] if action.option_strings else str(action.metavar).lower()
        self.refuse_value(name, str(value), choices)

    def refuse(self, message: str, hint: str) -> NoReturn:
        """Print one line and one hint; exit code 2."""
        sys.stderr.write(f"contrast-krm: {message}\n  hint: {hint}\n")
        raise Exit(USAGE)


def _suggest(word: str, words: Sequence[str]) -> str:
    from krm_function.schema.check import nearest

    close = nearest(word, words)
    return f"did you mean {close}?" if close else ""


def _escape(word: str) -> str:
    from krm_function.report.findings import on_one_line

    return on_one_line(word)


# --- Arguments that several commands share
#
# Rule: an option means the same in every command that has it, so it is declared once, here, with the environment
# variable that can replace it; cli/command_line.py reads the variable.


FORMATS = ("text", "json", "github", "sarif")  # the first one is the default
CONFIG_VARIABLE = "CONTRAST_KRM_CONFIG"
FORMAT_VARIABLE = "CONTRAST_KRM_FORMAT"


def add_paths(parser: Parser, metavar: str = "FILE", content: str = "files or directories") -> None:
    """Add `FILE ...`, or standard input."""
    parser.add_argument("paths", metavar=metavar, nargs="*", help=f"{content} (default: standard input)")


def add_workload(parser: Parser) -> None:
    """Add `WORKLOAD`."""
    text = "KIND/NAME or KIND/NAMESPACE/NAME, such as Deployment/web"
    parser.add_argument("workload", metavar="WORKLOAD", help=text)


def add_config(parser: Parser, *, variable: bool = True) -> None:
    """Add `--config`: the configuration. variable: whether CONTRAST_KRM_CONFIG can replace it."""
    default = f"; default: ${CONFIG_VARIABLE}, paths with {os.pathsep} between them" if variable else ""
    parser.set_defaults(config_variable=CONFIG_VARIABLE if variable else "")
    parser.add_argument(
        "--config",
        metavar="FILE",
        action="append",
        default=[],
        help=f"file or directory with ContrastGenerate, ContrastRelease and ImageLock objects (repeatable{default})",
    )


def add_render(parser: Parser, *, variable: bool = True, strict: bool = False) -> None:
    """Add `--config` and `--namespace`, which all renders have. strict: also `--warnings-as-errors`."""
    add_config(parser, variable=variable)
    parser.add_argument(
        "--namespace",
        metavar="NAME",
        type=_parse_namespace,
        help="namespace of the Contrast workloads that name none; overrides spec.namespace of the configuration",
    )
    if strict:
        add_strict(parser)


def add_strict(parser: Parser) -> None:
    """Add `--warnings-as-errors`."""
    parser.add_argument(
        "--warnings-as-errors",
        action="store_true",
        help="a warning that spec.acknowledged of the configuration does not list is an error",
    )


def add_findings(parser: Parser, *, variable: bool = True) -> None:
    """Add `--format`, `--report`, `--color`, `-v` and `-q`: how the findings are printed.

    variable: whether CONTRAST_KRM_FORMAT can replace `--format`.
    """
    default = f"${FORMAT_VARIABLE}, else {FORMATS[0]}" if variable else FORMATS[0]
    parser.set_defaults(format_variable=FORMAT_VARIABLE if variable else "")
    parser.add_argument(
        "--format", choices=FORMATS, help=f"format of the findings on standard error (default: {default})"
    )
    parser.add_argument(
        "--report", metavar="FILE", default="", help="also write the findings to FILE, in the same format"
    )
    parser.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colours in text: on a terminal unless NO_COLOR is set (auto, the default), always, or never",
    )
    amount = parser.add_mutually_exclusive_group()
    amount.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="also print infos in text, such as the nodes, the policy and the digest of each workload",
    )
    amount.add_argument("-q", "--quiet", action="store_true", help="in text, print only errors")


def form_of(options: Namespace) -> "Form":
    """Return the form of the findings that the options of `add_findings` choose."""
    from krm_function.cli.messages import Form, Shown

    shown: Shown = "error" if options.quiet else "info" if options.verbose else "warning"
    return Form(options.format, colour=coloured(options.color, sys.stderr), shown=shown)


def add_attest(parser: Parser) -> None:
    """Add `--attest`: a statement about the render."""
    parser.add_argument(
        "--attest",
        metavar="FILE",
        default="",
        help="also write an unsigned in-toto statement with the digests of inputs, configuration and output to FILE",
    )


def add_output_file(parser: "Parser | argparse._ArgumentGroup", text: str) -> None:
    """Add `--output FILE`. text: the help."""
    parser.add_argument("-o", "--output", metavar="FILE", default="", type=_parse_output_file, help=text)


def add_output_format(parser: Parser) -> None:
    """Add `--output text|json`."""
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text", help="output format")


def _parse_output_file(text: str) -> str:
    """Refuse the words that `--output` of other commands accepts as formats: the file would have that name."""
    if text in ("text", "json", "yaml", "html", "mermaid"):
        raise ArgumentTypeError(f"{text} would be the name of a file, not a format; for that name, write ./{text}")
    return text


def _parse_namespace(text: str) -> str:
    from krm_function.kubernetes.objects import is_dns_label

    if not is_dns_label(text):
        raise ArgumentTypeError("must be a DNS label: at most 63 lower-case letters, digits and inner hyphens")
    return text
