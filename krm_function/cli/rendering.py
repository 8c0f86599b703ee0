"""Verbs that render, and that take rendered output apart: fn, post-render, generate, uninject, manifest.

Rule of this file: as in arguments.py, nothing is done here, and a verb's module is imported when the verb is used.
"""

import argparse

from krm_function.cli.parser import Parser, Verbs, config, genpolicy, say, verb


def fn(verbs: "Verbs[Parser]") -> None:
    """`fn`."""
    parser = verb(
        verbs,
        "fn",
        "KRM function: ResourceList from standard input to standard output (the default)",
        "On an error the items leave as they came, with results.",
    )
    config(parser)
    genpolicy(parser)
    say(parser)

    def run(options: argparse.Namespace) -> int:
        from krm_function.cli.fn import run_function
        from krm_function.cli.genpolicy import engine

        with engine(options.genpolicy, options.genpolicy_timeout) as chosen:
            return run_function(options.config, options.format, options.report, *chosen)

    parser.set_defaults(run=run)


def post_render(verbs: "Verbs[Parser]") -> None:
    """`post-render`."""
    parser = verb(
        verbs,
        "post-render",
        "Helm post-renderer: documents from standard input to standard output",
        "On an error nothing is printed. Helm 4 hides standard error: use --report.",
    )
    config(parser)
    genpolicy(parser)
    say(parser)

    def run(options: argparse.Namespace) -> int:
        from krm_function.cli.genpolicy import engine
        from krm_function.cli.post_render import run_post_render

        with engine(options.genpolicy, options.genpolicy_timeout) as chosen:
            return run_post_render(options.config, options.format, options.report, *chosen)

    parser.set_defaults(run=run)


def generate(verbs: "Verbs[Parser]") -> None:
    """`generate`."""
    parser = verb(
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
    config(parser)
    genpolicy(parser)
    say(parser)
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


def uninject(verbs: "Verbs[Parser]") -> None:
    """`uninject`."""
    parser = verb(verbs, "uninject", "turn rendered output back into its input", "Needs no configuration.")
    parser.add_argument("paths", metavar="FILE", nargs="*", help="rendered output (default: standard input)")
    say(parser)

    def run(options: argparse.Namespace) -> int:
        from krm_function.cli.uninject import run_uninject

        return run_uninject(options)

    parser.set_defaults(run=run)


def manifest(verbs: "Verbs[Parser]") -> None:
    """`manifest`."""
    parser = verb(
        verbs,
        "manifest",
        "print the exact manifest.json bytes out of rendered output",
        "These are what `contrast set` and `contrast verify` take.",
    )
    parser.add_argument("paths", metavar="FILE", nargs="*", help="rendered output (default: standard input)")
    parser.add_argument("--validate", metavar="FILE", default="", help="say what is wrong with a manifest.json instead")
    say(parser)

    def run(options: argparse.Namespace) -> int:
        from krm_function.cli.manifest import run_manifest

        return run_manifest(options)

    parser.set_defaults(run=run)
