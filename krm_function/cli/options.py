"""Arguments that several commands share.

Rule of this file: an option means the same in every command that has it, so it is declared once, here.
"""

from krm_function.cli.parser import Parser

FORMATS = ("text", "json", "github", "sarif")
LONGEST_TIMEOUT = 86_400  # seconds: a day


def add_paths(parser: Parser, metavar: str = "FILE", what: str = "files or directories") -> None:
    """`FILE ...`, or standard input."""
    parser.add_argument("paths", metavar=metavar, nargs="*", help=f"{what} (default: standard input)")


def add_workload(parser: Parser) -> None:
    """`WORKLOAD`."""
    named = "KIND/NAME or KIND/NAMESPACE/NAME, such as Deployment/web"
    parser.add_argument("workload", metavar="WORKLOAD", help=named)


def add_config(parser: Parser) -> None:
    """`--config`: the configuration."""
    parser.add_argument(
        "--config",
        metavar="FILE",
        action="append",
        default=[],
        help="file or directory with ContrastGenerate, ContrastRelease and ImageLock objects (repeatable)",
    )


def add_namespace(parser: Parser) -> None:
    """`--namespace`: of the Contrast workloads that name none."""
    parser.add_argument(
        "--namespace",
        metavar="NAME",
        type=_namespace,
        help="namespace of the Contrast workloads that name none; wins over spec.namespace of the configuration",
    )


def add_findings(parser: Parser) -> None:
    """`--format` and `--report`: how the findings are printed."""
    parser.add_argument(
        "--format", choices=FORMATS, default="text", help="format of the findings on standard error (default: text)"
    )
    parser.add_argument(
        "--report", metavar="FILE", default="", help="also write the findings to FILE, in the same format"
    )


def add_output_format(parser: Parser) -> None:
    """`--output text|json`."""
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text", help="output format")


def add_genpolicy(parser: Parser, *, required: bool = False) -> None:
    """`--genpolicy`: a generator to use in place of the built-in one."""
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

    if not text.isascii() or not text.isdecimal() or not 0 < int(text) <= LONGEST_TIMEOUT:
        raise ArgumentTypeError("must be a number of seconds, at least 1")
    return int(text)
