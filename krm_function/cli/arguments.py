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
from krm_function.cli.plan_output import Outputs
from krm_function.cli.say import FORMATS, flush, write_out
from krm_function.report.order import escape

DESCRIPTION = """Turn rendered Kubernetes resources into confidential ones for Contrast, and make the manifest.

Without arguments: a KRM function (ResourceList on standard input), as kustomize and kpt call it."""
EPILOG = """exit codes: 0 ok, 1 error findings, 2 usage or configuration, 3 environment, 70 a bug of ours"""


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
        name = action.option_strings[-1] if action.option_strings else "verb"
        what = f"{name} {escape(str(value))} is not known" if name != "verb" else f"unknown verb {escape(str(value))}"
        self._refuse(what, self._meant(str(value), known) or f"use one of {', '.join(known)}")

    def _meant(self, word: str, known: Sequence[str]) -> str:
        from krm_function.model.nearest import nearest

        close = nearest(word, known)
        return f"did you mean {close}?" if close else ""

    def _refuse(self, message: str, hint: str) -> NoReturn:
        sys.stderr.write(f"contrast-krm: {message}\n  hint: {hint}\n")
        raise Exit(USAGE)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The options of one call; `run` is the verb's function. Raises Exit for --help and for mistakes."""
    options, unknown = _parser().parse_known_args(arguments)
    if unknown:
        options.parser.refuse_unknown(unknown)
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
        formatter_class=Formatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="print the version")
    parser.set_defaults(run=_bare, parser=parser)
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", parser_class=Parser)
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
        write_out(f"contrast-krm {__version__}\n".encode())
        return 0
    sys.stderr.write(_parser().format_help())
    return USAGE


def _verb(verbs: "Verbs[Parser]", name: str, summary: str, description: str = "") -> Parser:
    """A verb. summary: its line in the list of verbs; description: what there is to know beyond it."""
    about = f"{summary[0].upper()}{summary[1:]}." + (f" {description}" if description else "")
    parser = verbs.add_parser(name, help=summary, description=about, allow_abbrev=False, formatter_class=Formatter)
    parser.set_defaults(parser=parser)
    return parser


def _say(parser: Parser) -> None:
    parser.add_argument(
        "--format", choices=FORMATS, default="text", help="form of the findings on standard error (default: text)"
    )
    parser.add_argument(
        "--report", metavar="FILE", default="", help="also write the findings to FILE, in the same form"
    )


def _config(parser: Parser) -> None:
    parser.add_argument(
        "--config",
        metavar="FILE",
        action="append",
        default=[],
        help="file or directory with ContrastGenerate, ContrastRelease and ImageLock objects (repeatable)",
    )


def _fn(verbs: "Verbs[Parser]") -> None:
    parser = _verb(
        verbs,
        "fn",
        "KRM function: ResourceList from standard input to standard output (the default)",
        "On an error the items leave as they came, with results.",
    )
    _config(parser)
    _say(parser)

    def run(options: argparse.Namespace) -> int:
        from krm_function.cli.fn import run_function

        return run_function(options.config, options.format, options.report)

    parser.set_defaults(run=run)


def _post_render(verbs: "Verbs[Parser]") -> None:
    parser = _verb(
        verbs,
        "post-render",
        "Helm post-renderer: documents from standard input to standard output",
        "On an error nothing is printed. Helm 4 hides standard error: use --report.",
    )
    _config(parser)
    _say(parser)

    def run(options: argparse.Namespace) -> int:
        from krm_function.cli.post_render import run_post_render

        return run_post_render(options.config, options.format, options.report)

    parser.set_defaults(run=run)


def _generate(verbs: "Verbs[Parser]") -> None:
    parser = _verb(
        verbs,
        "generate",
        "render files and directories",
        "Prints one stream, unless -o or --in-place is given. On an error nothing is printed or written.",
    )
    parser.add_argument("paths", metavar="PATH", nargs="*", help="files or directories (default: standard input)")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("-o", "--output", metavar="FILE", default="", help="write everything to this file")
    where.add_argument(
        "--in-place",
        action="store_true",
        help="rewrite the files that change; new objects go to contrast-manifest.yaml",
    )
    _config(parser)
    _say(parser)
    like = parser.add_argument_group("as in `contrast generate`")
    like.add_argument(
        "--reference-values", metavar="PLATFORM", default="", help="platform of the bare placeholder contrast-cc"
    )
    like.add_argument("-m", "--manifest", metavar="FILE", default="", help="manifest.json to merge with and to write")
    like.add_argument("--skip-initializer", action="store_true", help="inject no initializer")
    like.add_argument("--skip-service-mesh", action="store_true", help="inject no service mesh")
    like.add_argument("--inject-image-store", action="store_true", help="inject the secure image store")
    like.add_argument("-p", "--policy", metavar="FILE", default="", help="Rego rules in place of our own")
    like.add_argument(
        "-s", "--settings", metavar="FILE", default="", help="genpolicy-settings.json in place of our own"
    )
    like.add_argument(
        "--image-replacements",
        metavar="FILE",
        default="",
        help="`image = replacement` lines in place of the release's images",
    )
    like.add_argument(
        "-w",
        "--add-workload-owner-key",
        metavar="FILE",
        action="append",
        default=[],
        help="PEM file with the ECDSA key of someone who may update the manifest (repeatable)",
    )
    like.add_argument(
        "--add-seedshare-owner-key",
        metavar="FILE",
        action="append",
        default=[],
        help="PEM file with the RSA key of someone who may recover the coordinator (repeatable)",
    )
    like.add_argument(
        "-d", "--disable-updates", action="store_true", help="no workload owners: the manifest can never be updated"
    )

    def run(options: argparse.Namespace) -> int:
        from krm_function.cli.generate import run_generate

        return run_generate(options)

    parser.set_defaults(run=run)


def _plan(verbs: "Verbs[Parser]") -> None:
    parser = _verb(
        verbs,
        "plan",
        "what a render would do, one line a workload; no resource is written",
        "Given nodes, also which of them take each pod, and why the others do not; a pod that fits none is an error.",
    )
    parser.add_argument("paths", metavar="PATH", nargs="*", help="files or directories (default: standard input)")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FORM|FILE",
        choices=Outputs(),
        action="append",
        default=[],
        help="text (default), json, mermaid or html, or a file whose name ends in .txt, .json, .mmd or .html",
    )
    nodes = parser.add_mutually_exclusive_group()
    nodes.add_argument(
        "--nodes",
        metavar="FILE",
        action="append",
        default=[],
        help="what `kubectl get nodes -o yaml` printed (repeatable, - is standard input); replaces Nodes among PATH",
    )
    nodes.add_argument(
        "--cluster",
        action="store_true",
        help="ask the cluster of the current kubeconfig context for its nodes (needs contrast-krm[cluster])",
    )
    _config(parser)
    _say(parser)

    def run(options: argparse.Namespace) -> int:
        from krm_function.cli.plan import run_plan

        return run_plan(options)

    parser.set_defaults(run=run)


def _check(verbs: "Verbs[Parser]") -> None:
    parser = _verb(
        verbs,
        "check",
        "verify rendered output: placeholders, policies, images, manifest",
        "Looks at what will be applied; needs no configuration.",
    )
    parser.add_argument("paths", metavar="FILE", nargs="*", help="rendered output (default: standard input)")
    parser.add_argument("--manifest", metavar="FILE", default="", help="manifest.json, when it is not in the output")
    _say(parser)

    def run(options: argparse.Namespace) -> int:
        from krm_function.cli.check import run_check

        return run_check(options)

    parser.set_defaults(run=run)


def _uninject(verbs: "Verbs[Parser]") -> None:
    parser = _verb(verbs, "uninject", "turn rendered output back into its input", "Needs no configuration.")
    parser.add_argument("paths", metavar="FILE", nargs="*", help="rendered output (default: standard input)")
    _say(parser)

    def run(options: argparse.Namespace) -> int:
        from krm_function.cli.uninject import run_uninject

        return run_uninject(options)

    parser.set_defaults(run=run)


def _manifest(verbs: "Verbs[Parser]") -> None:
    parser = _verb(
        verbs,
        "manifest",
        "print the exact manifest.json bytes out of rendered output",
        "These are what `contrast set` and `contrast verify` take.",
    )
    parser.add_argument("paths", metavar="FILE", nargs="*", help="rendered output (default: standard input)")
    parser.add_argument("--validate", metavar="FILE", default="", help="say what is wrong with a manifest.json instead")
    _say(parser)

    def run(options: argparse.Namespace) -> int:
        from krm_function.cli.manifest import run_manifest

        return run_manifest(options)

    parser.set_defaults(run=run)


def _schema(verbs: "Verbs[Parser]") -> None:
    parser = _verb(verbs, "schema", "print the JSON Schema of a kind", "Without a kind: of all, in one object.")
    kinds = "ContrastGenerate, ContrastRelease or ImageLock"
    parser.add_argument("kind", metavar="KIND", nargs="?", default="", help=kinds)

    def run(options: argparse.Namespace) -> int:
        from krm_function.cli.schema import run_schema

        return run_schema(options.kind)

    parser.set_defaults(run=run)
