"""`contrast-krm schema [KIND]`: the JSON Schema of a kind, or of all three.

Rule of this file: the case of a kind does not matter, as in kubectl.
"""

import json
from argparse import Namespace

from krm_function.cli.messages import print_findings
from krm_function.cli.parser import Parser
from krm_function.cli.streams import write_out
from krm_function.config.json_schema import KINDS, schema, schema_text
from krm_function.findings import finding
from krm_function.schema.check import nearest

DESCRIPTION = "Without a kind: of all, in one object."


def add_arguments(parser: Parser) -> None:
    """Add the kind."""
    kinds = "ContrastGenerate, ContrastRelease or ImageLock"
    parser.add_argument("kind", metavar="KIND", nargs="?", default="", help=kinds)


def run(options: Namespace) -> int:
    """Print one schema, or an object with all of them by kind."""
    kind = {name.lower(): name for name in KINDS}.get(options.kind.lower(), "")
    if options.kind and not kind:
        suggestion = nearest(options.kind, KINDS) or ", ".join(KINDS)
        return print_findings([finding("CC0905", kind=options.kind, suggestion=suggestion)])
    text = schema_text(kind) if kind else f"{json.dumps({name: schema(name) for name in KINDS}, indent=2)}\n"
    write_out(text.encode())
    return print_findings([])
