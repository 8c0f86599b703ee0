"""`contrast-krm keys add`: an owner's public key into a configuration, with its name and date.

Rule of this file: nothing of a private key leaves its file; a key that is there already changes nothing.
"""

from argparse import ArgumentTypeError, Namespace
from typing import TYPE_CHECKING

from krm_function.cli.parser import Parser, add_findings

if TYPE_CHECKING:
    from krm_function.contrast.owner_keys import KnownKey

DESCRIPTION = (
    "An ECDSA key becomes a workload owner's, an RSA key a seedshare owner's. KEY may be the file of a private key as "
    "well; only its public half is used."
)


def add_arguments(parser: Parser) -> None:
    """Add the key, where it goes, its name and date, findings."""
    parser.add_argument("key", metavar="KEY", help="file of the key, PEM")
    parser.add_argument("--to", metavar="FILE", required=True, help="the file with the ContrastGenerate")
    parser.add_argument("--name", metavar="NAME", required=True, type=_name, help="whose key it is, such as alice")
    parser.add_argument(
        "--since", metavar="DATE", default=None, type=_date, help="since when, as 2026-11-25 (default: today)"
    )
    add_findings(parser)


def run(options: Namespace) -> int:
    """Add one key. Raises FileProblem."""
    from krm_function.cli.configuration import configured_keys
    from krm_function.cli.messages import print_findings
    from krm_function.config.edit import with_owner_key
    from krm_function.contrast.owner_keys import FIELDS, KeyProblem, with_note
    from krm_function.findings import finding, has_errors
    from krm_function.hosts.files import read_file
    from krm_function.hosts.write_files import write_file
    from krm_function.report.findings import on_one_line

    try:
        pem, key = _read(read_file(options.key).decode("utf-8", "replace"))
    except KeyProblem as problem:
        wrong = finding("CC0909.key", option="KEY", file=options.key, error=str(problem))
        return print_findings([wrong], options.format, options.report)
    there, findings = configured_keys([options.to])
    if has_errors(findings):
        return print_findings(findings, options.format, options.report)
    field = FIELDS[key.owner][0]
    done = f"{key.owner} owner key {key.fingerprint}: "
    if any(one.entry == key.entry for one in there):
        done += f"is in spec.manifest.{field} of {options.to} already"
    else:
        noted = with_note(pem, options.name, options.since or _today())
        try:
            data = with_owner_key(read_file(options.to), field, noted)
        except ValueError as problem:
            wrong = finding("CC0909.add-to", option="--to", file=options.to, error=str(problem))
            return print_findings([wrong], options.format, options.report)
        write_file(options.to, data)
        done += f"added to spec.manifest.{field} in {options.to}"
    return print_findings(findings, options.format, options.report, f"{on_one_line(done)}\n")


def _read(text: str) -> "tuple[str, KnownKey]":
    """Return the public key of a file, bare, and what it is. Raises KeyProblem."""
    from krm_function.cli.render_inputs import public_key
    from krm_function.contrast.owner_keys import AnotherKindProblem, KeyProblem, key_of

    pem = public_key(text)
    try:
        key = key_of(pem, "workload")
    except KeyProblem as problem:
        try:
            key = key_of(pem, "seedshare")
        except AnotherKindProblem:
            raise problem from None
    start = pem.index("-----BEGIN")
    return pem[start:].rstrip() + "\n", key


def _today() -> str:
    from datetime import UTC, datetime

    return datetime.now(UTC).date().isoformat()


def _name(text: str) -> str:
    import re

    from krm_function.contrast.owner_keys import NAME

    if not re.fullmatch(NAME, text):
        raise ArgumentTypeError("must be letters, digits, blanks and any of @._+-, at most 100")
    return text


def _date(text: str) -> str:
    from datetime import date

    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise ArgumentTypeError("must be a date such as 2026-11-25") from None
