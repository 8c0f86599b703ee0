"""Verbs and flags.

Rule of this file: nothing is done here. A verb's module is imported only when the verb is used; every verb explains
itself with --help on standard output.
"""

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

from krm_function import __version__
from krm_function.cli import looking
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
        name = action.option_strings[-1] if action.option_strings else str(action.metavar).lower()
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


def _parser() -> Parser:
    from krm_function.cli.setting_up import add_setting_up

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
    looking.add(verbs, _verb, (_config, _say))
    _check(verbs)
    _uninject(verbs)
    _policy(verbs)
    _lock(verbs)
    _manifest(verbs)
    _schema(verbs)
    add_setting_up(verbs)
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


def _genpolicy(parser: Parser, *, required: bool = False) -> None:
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


def _fn(verbs: "Verbs[Parser]") -> None:
    parser = _verb(
        verbs,
        "fn",
        "KRM function: ResourceList from standard input to standard output (the default)",
        "On an error the items leave as they came, with results.",
    )
    _config(parser)
    _genpolicy(parser)
    _say(parser)

    def run(options: argparse.Namespace) -> int:
        from krm_function.cli.fn import run_function
        from krm_function.cli.genpolicy import engine

        with engine(options.genpolicy, options.genpolicy_timeout) as chosen:
            return run_function(options.config, options.format, options.report, *chosen)

    parser.set_defaults(run=run)


def _post_render(verbs: "Verbs[Parser]") -> None:
    parser = _verb(
        verbs,
        "post-render",
        "Helm post-renderer: documents from standard input to standard output",
        "On an error nothing is printed. Helm 4 hides standard error: use --report.",
    )
    _config(parser)
    _genpolicy(parser)
    _say(parser)

    def run(options: argparse.Namespace) -> int:
        from krm_function.cli.genpolicy import engine
        from krm_function.cli.post_render import run_post_render

        with engine(options.genpolicy, options.genpolicy_timeout) as chosen:
            return run_post_render(options.config, options.format, options.report, *chosen)

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
    _genpolicy(parser)
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
        "-s",
        "--settings",
        metavar="FILE|DIR",
        default="",
        help="genpolicy-settings.json in place of our own, or a directory with it and genpolicy-settings.d/*.json",
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
        from krm_function.cli.genpolicy import engine

        with engine(options.genpolicy, options.genpolicy_timeout) as chosen:
            return run_generate(options, *chosen)

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
        "Looks at what will be applied; needs no configuration. With one it also renders again and compares, which "
        "finds what no policy can tell: a command that was removed, a cpu limit on TDX.",
    )
    _config(parser)
    parser.add_argument("paths", metavar="FILE", nargs="*", help="rendered output (default: standard input)")
    parser.add_argument("--manifest", metavar="FILE", default="", help="manifest.json, when it is not in the output")
    parser.add_argument(
        "--no-weaker",
        metavar="OLD",
        default="",
        help="rendered output of before: an error for every line by which a policy is weaker than there",
    )
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


def _policy(verbs: "Verbs[Parser]") -> None:
    parser = _verb(verbs, "policy", "print the policy of one workload, or compare it with genpolicy's")
    parts = parser.add_subparsers(title="parts", metavar="PART", parser_class=Parser, required=True)
    named = "KIND/NAME or KIND/NAMESPACE/NAME, such as Deployment/web"
    show = _verb(
        parts,
        "show",
        "print the policy that is sealed into a workload",
        "Out of rendered output; with a configuration the input is rendered first.",
    )
    show.add_argument(
        "-o",
        "--output",
        choices=("rego", "data", "initdata", "digest", "host-data"),
        default="rego",
        help="the policy document, its data as JSON, the initdata TOML, its digest as the manifest names it, or that "
        "digest as SNP and TDX report it (default: rego)",
    )
    compare = _verb(
        parts,
        "compare",
        "the native policy beside the one that genpolicy makes of the same pod, field by field",
        "Both get our rules and settings. genpolicy pulls the pod's images.",
    )
    compare.add_argument("-o", "--output", choices=("text", "json"), default="text", help="form of the differences")
    _genpolicy(compare, required=True)
    for one in (show, compare):
        one.add_argument("workload", metavar="WORKLOAD", help=named)
        one.add_argument("paths", metavar="FILE", nargs="*", help="files or directories (default: standard input)")
        _config(one)
        _say(one)

    def run_show(options: argparse.Namespace) -> int:
        from krm_function.cli.policy import run_show

        return run_show(options)

    def run_compare(options: argparse.Namespace) -> int:
        from krm_function.cli.policy import run_compare

        return run_compare(options)

    show.set_defaults(run=run_show)
    compare.set_defaults(run=run_compare)


def _lock(verbs: "Verbs[Parser]") -> None:
    parser = _verb(
        verbs,
        "lock",
        "look up every image of the Contrast workloads, and write an ImageLock",
        "The only verb with network. On an error nothing is printed or written.",
    )
    parser.add_argument("paths", metavar="FILE", nargs="*", help="resources (default: standard input)")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        default="",
        help="the lock: a new file, or one whose entries and comments are kept (default: standard output)",
    )
    parser.add_argument("--prune", action="store_true", help="drop entries of images that the resources do not use")
    _config(parser)
    parser.add_argument(
        "--from",
        dest="source",
        metavar="SOURCE",
        action="append",
        default=[],
        help="where images are: registry (the default), oci:PATH (a layout, directory or tar) or docker-archive:PATH; "
        "repeatable, asked in this order",
    )
    parser.add_argument(
        "--insecure-registry",
        metavar="HOST",
        action="append",
        default=[],
        help="use plain HTTP for this registry, host or host:port (repeatable)",
    )
    parser.add_argument(
        "--max-layer-size", metavar="SIZE", default="8Gi", help="refuse images with a larger layer (default: 8Gi)"
    )
    parser.add_argument("--jobs", metavar="N", type=int, default=4, help="images at a time (default: 4)")
    parser.add_argument("--timeout", metavar="SECONDS", type=int, default=900, help="time for one image (default: 900)")
    _say(parser)

    def run(options: argparse.Namespace) -> int:
        from krm_function.cli.lock import run_lock

        return run_lock(options)

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
