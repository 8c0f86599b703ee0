"""Verbs and flags.

Rule of this file: nothing is done here. A verb's module is imported only when the verb is used; every verb explains
itself with --help on standard output.
"""

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

from krm_function import __version__
from krm_function.cli.exits import USAGE, Exit
from krm_function.cli.say import FORMATS

DESCRIPTION = """Turn rendered Kubernetes resources into confidential ones for Contrast, and make the manifest.

Without arguments: a KRM function (ResourceList on standard input), as kustomize and kpt call it."""
EPILOG = """exit codes: 0 ok, 1 error findings, 2 usage or configuration, 3 environment, 70 a bug of ours"""


class Parser(argparse.ArgumentParser):
    """argparse with our exit code, our tone, and a suggestion for a mistyped verb or flag."""

    def error(self, message: str) -> NoReturn:
        """One line, one hint, exit 2."""
        sys.stderr.write(f"contrast-krm: {message}\n  hint: {self._hint(message)}\n")
        raise Exit(USAGE)

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """Leave through the one exit."""
        if message:
            sys.stderr.write(message)
        raise Exit(status)

    def _hint(self, message: str) -> str:
        from krm_function.model.nearest import nearest

        known = [option for action in self._actions for option in action.option_strings]
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 (argparse has no public name for it)
                known += list(action.choices)
        for word in message.replace("'", " ").replace(",", " ").split():
            close = nearest(word.partition("=")[0], known) if word not in known else ""
            if close and (word.startswith("-") or "invalid choice" in message):
                return f"did you mean {close}?"
        return f"{self.prog} --help"


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The options of one call; `run` is the verb's function. Raises Exit for --help and for mistakes."""
    options = _parser().parse_args(arguments)
    if not hasattr(options, "run"):
        raise Exit(USAGE)
    return options


def parse_config_only(arguments: Sequence[str]) -> list[str]:
    """`--config FILE` arguments of a legacy plugin."""
    parser = Parser(prog="contrast-krm", allow_abbrev=False, add_help=False)
    parser.add_argument("--config", action="append", default=[])
    config: list[str] = parser.parse_args(arguments).config
    return config


def _parser() -> Parser:
    parser = Parser(
        prog="contrast-krm",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="print the version")
    parser.set_defaults(run=_bare)
    verbs = parser.add_subparsers(metavar="VERB", parser_class=Parser)
    _fn(verbs)
    _post_render(verbs)
    _generate(verbs)
    _plan(verbs)
    _check(verbs)
    _uninject(verbs)
    _manifest(verbs)
    _schema(verbs)
    return parser


Verbs = argparse._SubParsersAction  # noqa: SLF001


def _bare(options: argparse.Namespace) -> int:
    if options.version:
        sys.stdout.write(f"contrast-krm {__version__}\n")
        return 0
    sys.stdout.write(_parser().format_help())
    return USAGE


def _verb(verbs: "Verbs[Parser]", name: str, summary: str) -> Parser:
    return verbs.add_parser(name, help=summary, description=summary[0].upper() + summary[1:], allow_abbrev=False)


def _say(parser: Parser) -> None:
    parser.add_argument("--format", choices=FORMATS, default="text", help="form of the findings (default: text)")
    parser.add_argument("--report", metavar="FILE", default="", help="also write everything said to FILE")


def _config(parser: Parser) -> None:
    parser.add_argument(
        "--config",
        metavar="FILE",
        action="append",
        default=[],
        help="ContrastGenerate, ContrastRelease or ImageLock; a file or a directory of them (repeatable)",
    )


def _fn(verbs: "Verbs[Parser]") -> None:
    parser = _verb(verbs, "fn", "KRM function: ResourceList on standard input to standard output (the default)")
    _config(parser)
    _say(parser)

    def run(options: argparse.Namespace) -> int:
        from krm_function.cli.fn import run_function

        return run_function(options.config, options.format, options.report)

    parser.set_defaults(run=run)


def _post_render(verbs: "Verbs[Parser]") -> None:
    parser = _verb(verbs, "post-render", "Helm post-renderer: a stream on standard input to standard output")
    _config(parser)
    _say(parser)

    def run(options: argparse.Namespace) -> int:
        from krm_function.cli.post_render import run_post_render

        return run_post_render(options.config, options.format, options.report)

    parser.set_defaults(run=run)


def _generate(verbs: "Verbs[Parser]") -> None:
    parser = _verb(verbs, "generate", "render files and directories")
    parser.add_argument("paths", metavar="PATH", nargs="*", help="files or directories (default: standard input)")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("-o", "--output", metavar="FILE", default="", help="one file for everything")
    where.add_argument("--in-place", action="store_true", help="rewrite the files; new objects go to a file beside them")
    _config(parser)
    _say(parser)
    like = parser.add_argument_group("as in `contrast generate`")
    like.add_argument("--reference-values", metavar="PLATFORM", default="", help="platform of bare placeholders")
    like.add_argument("-m", "--manifest", metavar="FILE", default="", help="manifest to merge with, if it exists, and to write")
    like.add_argument("--skip-initializer", action="store_true", help="inject no initializer")
    like.add_argument("--skip-service-mesh", action="store_true", help="inject no service mesh")
    like.add_argument("--inject-image-store", action="store_true", help="inject the secure image store")
    like.add_argument("-p", "--policy", metavar="FILE", default="", help="rules file in place of our own")
    like.add_argument("-s", "--settings", metavar="FILE", default="", help="genpolicy settings in place of our own")
    like.add_argument("--image-replacements", metavar="FILE", default="", help="image map in place of the release's")
    like.add_argument("-w", "--add-workload-owner-key", metavar="FILE", action="append", default=[], help="PEM (repeatable)")
    like.add_argument("--add-seedshare-owner-key", metavar="FILE", action="append", default=[], help="PEM (repeatable)")
    like.add_argument("-d", "--disable-updates", action="store_true", help="no workload owner: the manifest is final")

    def run(options: argparse.Namespace) -> int:
        from krm_function.cli.generate import run_generate

        return run_generate(options)

    parser.set_defaults(run=run)


def _plan(verbs: "Verbs[Parser]") -> None:
    parser = _verb(verbs, "plan", "one line per workload: what a render would do; nothing is written")
    parser.add_argument("paths", metavar="PATH", nargs="*", help="files or directories (default: standard input)")
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text", help="form of the plan")
    _config(parser)
    _say(parser)

    def run(options: argparse.Namespace) -> int:
        from krm_function.cli.plan import run_plan

        return run_plan(options)

    parser.set_defaults(run=run)


def _check(verbs: "Verbs[Parser]") -> None:
    parser = _verb(verbs, "check", "was the function really applied? looks at rendered output, needs no configuration")
    parser.add_argument("paths", metavar="FILE", nargs="*", help="rendered output (default: standard input)")
    parser.add_argument("--manifest", metavar="FILE", default="", help="manifest.json, when it is not in the output")
    _say(parser)

    def run(options: argparse.Namespace) -> int:
        from krm_function.cli.check import run_check

        return run_check(options)

    parser.set_defaults(run=run)


def _uninject(verbs: "Verbs[Parser]") -> None:
    parser = _verb(verbs, "uninject", "rendered output back to its input, on standard output; needs no configuration")
    parser.add_argument("paths", metavar="FILE", nargs="*", help="rendered output (default: standard input)")
    _say(parser)

    def run(options: argparse.Namespace) -> int:
        from krm_function.cli.uninject import run_uninject

        return run_uninject(options)

    parser.set_defaults(run=run)


def _manifest(verbs: "Verbs[Parser]") -> None:
    parser = _verb(verbs, "manifest", "the exact manifest.json bytes out of rendered output")
    parser.add_argument("paths", metavar="FILE", nargs="*", help="rendered output (default: standard input)")
    parser.add_argument("--validate", metavar="FILE", default="", help="validate a manifest.json instead")
    _say(parser)

    def run(options: argparse.Namespace) -> int:
        from krm_function.cli.manifest import run_manifest

        return run_manifest(options)

    parser.set_defaults(run=run)


def _schema(verbs: "Verbs[Parser]") -> None:
    parser = _verb(verbs, "schema", "JSON Schema of a kind")
    parser.add_argument("kind", metavar="KIND", nargs="?", default="", help="ContrastGenerate, ContrastRelease, ImageLock")

    def run(options: argparse.Namespace) -> int:
        from krm_function.cli.schema import run_schema

        return run_schema(options.kind)

    parser.set_defaults(run=run)
