"""`contrast-krm keys list`: the owner keys of a configuration, and of a manifest beside it.

Rule of this file: nothing is written; a key is shown by its fingerprint, name and date, never as a whole.
"""

from argparse import Namespace
from typing import TYPE_CHECKING

from krm_function.cli.parser import Parser, add_config, add_findings, add_output_format

if TYPE_CHECKING:
    from krm_function.contrast.owner_keys import KnownKey

DESCRIPTION = (
    "Shows which owner keys the ContrastGenerate has, by fingerprint, name and date. With --manifest also those of a "
    "manifest, such as the one that was set last."
)


def add_arguments(parser: Parser) -> None:
    """Add configuration, manifest, output, findings."""
    add_config(parser)
    parser.add_argument("--manifest", metavar="FILE", default="", help="also show the keys of this manifest.json")
    add_output_format(parser)
    add_findings(parser)


def run(options: Namespace) -> int:
    """Print the keys. Raises FileProblem."""
    from krm_function.cli.configuration import configured_keys, manifest_keys
    from krm_function.cli.messages import print_findings
    from krm_function.cli.streams import write_out
    from krm_function.contrast.owner_keys import joined
    from krm_function.findings import finding, has_errors

    if not options.config and not options.manifest:
        return print_findings([finding("CC1373", option="--config")], options.format, options.report)
    configured, findings = configured_keys(options.config, options.config_from)
    listed, problems = manifest_keys(options.manifest) if options.manifest else ([], ())
    findings += problems
    if not has_errors(findings):
        keys = joined(configured, listed)
        text = _json(keys) if options.output == "json" else _text(keys, compared=bool(options.manifest))
        write_out(text.encode("utf-8"))
    return print_findings(findings, options.format, options.report)


def _text(keys: "list[KnownKey]", *, compared: bool) -> str:
    """Write a line for each key. compared: with the places that have it, of two."""
    if not keys:
        return "no owner keys\n"
    rows = [
        (one.owner, one.fingerprint, one.since or "-", one.name or "-", " and ".join(one.places) if compared else "")
        for one in keys
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    lines = ["  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "".join(f"{line}\n" for line in lines)


def _json(keys: "list[KnownKey]") -> str:
    import json

    rows = [
        {"owner": one.owner, "fingerprint": one.fingerprint, "name": one.name, "since": one.since, "in": one.places}
        for one in keys
    ]
    return json.dumps({"version": 1, "keys": rows}, indent=2) + "\n"
