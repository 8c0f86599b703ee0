"""Verbs that set a deployment up: lock, schema, release, init, keys, install, completion.

Rule of this file: as in arguments.py, nothing is done here, and a verb's module is imported when the verb is used.
"""

import argparse

from krm_function.cli.parser import Parser, Verbs, config, group, say, verb

SHELLS = ("bash", "zsh", "fish")


def lock(verbs: "Verbs[Parser]") -> None:
    """`lock`."""
    parser = verb(
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
    config(parser)
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
    say(parser)

    def run(options: argparse.Namespace) -> int:
        from krm_function.cli.lock import run_lock

        return run_lock(options)

    parser.set_defaults(run=run)


def schema(verbs: "Verbs[Parser]") -> None:
    """`schema`."""
    parser = verb(verbs, "schema", "print the JSON Schema of a kind", "Without a kind: of all, in one object.")
    kinds = "ContrastGenerate, ContrastRelease or ImageLock"
    parser.add_argument("kind", metavar="KIND", nargs="?", default="", help=kinds)

    def run(options: argparse.Namespace) -> int:
        from krm_function.cli.schema import run_schema

        return run_schema(options.kind)

    parser.set_defaults(run=run)


def release(verbs: "Verbs[Parser]") -> None:
    """`release`."""
    inner = group(verbs, "release", "make or show a ContrastRelease: the facts of one Contrast release")
    parser = verb(
        inner,
        "import",
        "make a ContrastRelease out of a release's own files",
        "Takes runtime-*.yml, coordinator.yml, an image-replacements file, a manifest.json of `contrast generate`, the "
        "CLI's reference values, and an older ContrastRelease. Prints the result, unless -o is given.",
    )
    parser.add_argument("files", metavar="FILE", nargs="+", help="files of one release, in any order")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        default="",
        help="write this file; a ContrastRelease that is there is updated, its comments stay",
    )
    parser.add_argument(
        "--release", metavar="VERSION", default="", help="the release's version, where the images do not tell it"
    )
    parser.add_argument(
        "--vcpus",
        metavar="N",
        type=int,
        default=0,
        help="the manifest.json was made for TDX pods with N vCPUs: take its RTMR0 for them",
    )
    say(parser)

    def run_import(options: argparse.Namespace) -> int:
        from krm_function.cli.release_import import run_release_import

        return run_release_import(options)

    parser.set_defaults(run=run_import)
    parser = verb(inner, "show", "say what a ContrastRelease holds, and what it lacks")
    parser.add_argument("paths", metavar="FILE", nargs="*", help="files or directories (default: standard input)")
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text", help="form of the summary")
    say(parser)

    def run_show(options: argparse.Namespace) -> int:
        from krm_function.cli.release_show import run_release_show

        return run_release_show(options)

    parser.set_defaults(run=run_show)


def init(verbs: "Verbs[Parser]") -> None:
    """`init`."""
    parser = verb(
        verbs,
        "init",
        "wire the function into kustomization.yaml or Kptfile",
        "Adds what is missing and keeps the rest, comments included. A second run changes nothing.",
    )
    parser.add_argument(
        "directory", metavar="DIR", nargs="?", default=".", help="the outermost overlay, or the package"
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--kustomize", action="store_true", help="kustomization.yaml, which is made if there is none")
    which.add_argument("--kpt", action="store_true", help="Kptfile, which is made if there is none")
    parser.add_argument(
        "--platform", metavar="PLATFORM", default="", help="platform of the bare placeholder contrast-cc"
    )
    parser.add_argument("--dry-run", action="store_true", help="write nothing; print what would change as a diff")
    say(parser)

    def run(options: argparse.Namespace) -> int:
        from krm_function.cli.init import run_init

        return run_init(options)

    parser.set_defaults(run=run)


def keys(verbs: "Verbs[Parser]") -> None:
    """`keys`."""
    inner = group(verbs, "keys", "make owner keys")
    parser = verb(
        inner,
        "new",
        "make the key pair of an owner; the public key goes to standard output",
        "The private key goes into a new file that only you can read. An existing file is never overwritten.",
    )
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--workload-owner", action="store_true", help="who may update the manifest: ECDSA, P-384")
    which.add_argument("--seedshare-owner", action="store_true", help="who may recover the coordinator: RSA, 4096 bits")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        default="",
        help="file of the private key (default: workload-owner.pem or seedshare-owner.pem); - prints it",
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--public", metavar="FILE", default="-", help="file of the public key (default: -, print it)")
    where.add_argument(
        "--add-to", metavar="FILE", default="", help="add the public key to the ContrastGenerate in FILE"
    )
    parser.add_argument("--yaml", action="store_true", help="the public key as an entry of a list in YAML, to paste")
    say(parser)

    def run(options: argparse.Namespace) -> int:
        from krm_function.cli.keys import run_keys_new

        return run_keys_new(options)

    parser.set_defaults(run=run)


def install(verbs: "Verbs[Parser]") -> None:
    """`install`."""
    parser = verb(
        verbs,
        "install",
        "copy contrast-krm and all it needs into a directory, for Argo CD and legacy plugins",
        "Makes DIR/contrast-krm, which needs a Python of the same version and no pip, and DIR/plugin, a "
        "KUSTOMIZE_PLUGIN_HOME. A second run changes nothing.",
    )
    parser.add_argument("directory", metavar="DIR", help="where to; is made if there is none")
    parser.add_argument(
        "--python",
        metavar="PATH",
        default="",
        help="the Python that will run it: a path, or a name to be found on PATH (default: the one that runs this)",
    )
    say(parser)

    def run(options: argparse.Namespace) -> int:
        from krm_function.cli.install import run_install

        return run_install(options)

    parser.set_defaults(run=run)


def completion(verbs: "Verbs[Parser]") -> None:
    """`completion`."""
    parser = verb(
        verbs,
        "completion",
        "print the completion script of a shell",
        'For bash: eval "$(contrast-krm completion bash)". For zsh: the same into a file _contrast-krm of your fpath. '
        "For fish: contrast-krm completion fish | source.",
    )
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help=", ".join(SHELLS))

    def run(options: argparse.Namespace) -> int:
        from krm_function.cli.completion import run_completion

        return run_completion(options.shell)

    parser.set_defaults(run=run)
