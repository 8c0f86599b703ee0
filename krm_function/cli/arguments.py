"""The command line: every verb in the order of the help.

Rule of this file: nothing is done here. A verb's module is imported only when the verb is used; every verb explains
itself with --help on standard output.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence

from krm_function import __version__
from krm_function.cli import looking, rendering, setting_up
from krm_function.cli.exits import USAGE
from krm_function.cli.parser import Formatter, Parser
from krm_function.cli.streams import write_out

DESCRIPTION = """Turn rendered Kubernetes resources into confidential ones for Contrast, and make the manifest.

Without arguments: a KRM function (ResourceList on standard input), as kustomize and kpt call it."""
EPILOG = """exit codes: 0 ok, 1 error findings, 2 usage or configuration, 3 environment, 70 a bug of ours"""
VERBS = {
    "fn": rendering.fn,
    "post-render": rendering.post_render,
    "generate": rendering.generate,
    "plan": looking.plan,
    "explain": looking.explain,
    "diff": looking.diff,
    "check": looking.check,
    "uninject": rendering.uninject,
    "policy": looking.policy,
    "lock": setting_up.lock,
    "manifest": rendering.manifest,
    "schema": setting_up.schema,
    "release": setting_up.release,
    "init": setting_up.init,
    "keys": setting_up.keys,
    "install": setting_up.install,
    "completion": setting_up.completion,
}


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The options of one call; `run` is the verb's function. Raises Exit for --help and for mistakes."""
    named = [name for name in VERBS if arguments[:1] == [name]]  # the others take as long to make as a small render
    options, unknown = make_parser(named or VERBS).parse_known_args(arguments)
    if unknown and hasattr(options, "paths") and not any(word.startswith("-") and word != "-" for word in unknown):
        options.paths += unknown  # argparse takes no files behind an option once a first word has been taken
    elif unknown:
        options.parser.refuse_unknown(unknown)
    return options


def parse_config_only(arguments: Sequence[str]) -> list[str]:
    """`--config FILE` arguments of a legacy plugin."""
    parser = Parser(prog="contrast-krm", allow_abbrev=False, add_help=False)
    parser.add_argument("--config", action="append", default=[])
    config: list[str] = parser.parse_args(arguments).config
    return config


def whole_parser() -> Parser:
    """The parser with all verbs."""
    return make_parser(VERBS)


def make_parser(names: Iterable[str]) -> Parser:
    """The parser with some verbs."""
    parser = Parser(
        prog="contrast-krm",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=Formatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="print the version")
    parser.set_defaults(run=_bare, parser=parser)
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", parser_class=Parser)
    for name in names:
        VERBS[name](verbs)
    return parser


def _bare(options: argparse.Namespace) -> int:
    if options.version:
        write_out(f"contrast-krm {__version__}\n".encode())
        return 0
    sys.stderr.write(whole_parser().format_help())
    return USAGE
