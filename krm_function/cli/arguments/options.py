"""Arguments that several commands share.

Rule of this file: an option means the same in every command that has it, so it is declared once, here. Which variable
of the environment stands for it is declared beside it; environment_variables.py reads that.
"""

import os
import sys
from argparse import Namespace
from typing import TYPE_CHECKING

from krm_function.cli.arguments.parser import Parser

if TYPE_CHECKING:
    from krm_function.cli.messages import Form

FORMATS = ("text", "json", "github", "sarif")  # the first one is the default
CONFIG_VARIABLE = "CONTRAST_KRM_CONFIG"
FORMAT_VARIABLE = "CONTRAST_KRM_FORMAT"
LONGEST_TIMEOUT = 86_400  # seconds: a day


def add_paths(parser: Parser, metavar: str = "FILE", what: str = "files or directories") -> None:
    """Add `FILE ...`, or standard input."""
    parser.add_argument("paths", metavar=metavar, nargs="*", help=f"{what} (default: standard input)")


def add_workload(parser: Parser) -> None:
    """Add `WORKLOAD`."""
    named = "KIND/NAME or KIND/NAMESPACE/NAME, such as Deployment/web"
    parser.add_argument("workload", metavar="WORKLOAD", help=named)


def add_config(parser: Parser, *, variable: bool = True) -> None:
    """Add `--config`: the configuration. variable: whether CONTRAST_KRM_CONFIG stands for it."""
    default = f"; default: ${CONFIG_VARIABLE}, paths with {os.pathsep} between them" if variable else ""
    parser.set_defaults(config_variable=CONFIG_VARIABLE if variable else "")
    parser.add_argument(
        "--config",
        metavar="FILE",
        action="append",
        default=[],
        help=f"file or directory with ContrastGenerate, ContrastRelease and ImageLock objects (repeatable{default})",
    )


def add_namespace(parser: Parser) -> None:
    """Add `--namespace`: of the Contrast workloads that name none."""
    parser.add_argument(
        "--namespace",
        metavar="NAME",
        type=_namespace,
        help="namespace of the Contrast workloads that name none; wins over spec.namespace of the configuration",
    )


def add_findings(parser: Parser, *, variable: bool = True) -> None:
    """Add `--format`, `--report`, `--color`, `-v` and `-q`: how the findings are printed.

    variable: whether CONTRAST_KRM_FORMAT stands for the first.
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
    amount.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors in text")


def form_of(options: Namespace) -> "Form":
    """Return the form of the findings that the options of `add_findings` ask for."""
    from krm_function.cli.messages import Form, Shown
    from krm_function.cli.terminal import coloured

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


def add_output_format(parser: Parser) -> None:
    """Add `--output text|json`."""
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text", help="output format")


def add_genpolicy(parser: Parser, *, required: bool = False) -> None:
    """Add `--genpolicy`: a generator to use in place of the built-in one."""
    parser.add_argument(
        "--genpolicy",
        metavar="PATH",
        default="",
        required=required,
        help="Kata's or Contrast's genpolicy, which makes the policies instead of the built-in generator; "
        "it uses the network",
    )
    parser.add_argument(
        "--genpolicy-timeout",
        metavar="SECONDS",
        type=_seconds,
        default=300,
        help="how long it may take for one workload (default: 300)",
    )


def _namespace(text: str) -> str:
    from argparse import ArgumentTypeError

    from krm_function.model.labels import is_dns_label

    if not is_dns_label(text):
        raise ArgumentTypeError("must be a DNS label: at most 63 lower-case letters, digits and inner hyphens")
    return text


def _seconds(text: str) -> int:
    from argparse import ArgumentTypeError

    if not text.isascii() or not text.isdecimal() or len(text) > 9 or not 0 < int(text) <= LONGEST_TIMEOUT:
        raise ArgumentTypeError("must be a number of seconds, at least 1")
    return int(text)
