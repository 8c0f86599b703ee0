"""`contrast-krm keys new`: an owner's key pair, the private half in a file of its own.

Rule of this file: a private key is written to a new file that only its owner can read, or printed if `-o -` is given;
it is in no message, and an existing key is never touched.
"""

import os
from argparse import Namespace

from krm_function.cli.messages import print_findings
from krm_function.cli.next_steps import is_open_to_git
from krm_function.cli.parser import Parser, add_findings, add_output_file
from krm_function.cli.streams import write_pieces_first
from krm_function.config.edit import with_owner_key
from krm_function.contrast.owner_keys import KeyPair, new_seedshare_owner, new_workload_owner
from krm_function.findings import Finding, finding
from krm_function.hosts.files import has_content, read_file
from krm_function.hosts.write_files import NewFile, in_turn, staged, sweep, write_files
from krm_function.kubernetes.resource import yaml_finding
from krm_function.report.findings import on_one_line
from krm_function.text.errors import YamlError

DESCRIPTION = "The private key goes into a new file that only you can read. An existing file is never overwritten."
PRIVATE = 0o600
PUBLIC = 0o644
STANDARD_OUTPUT = "-"


def add_arguments(parser: Parser) -> None:
    """Add the owner, the files of the two halves, findings."""
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--workload-owner", action="store_true", help="who may update the manifest: ECDSA, P-384")
    which.add_argument("--seedshare-owner", action="store_true", help="who may recover the coordinator: RSA, 4096 bits")
    add_output_file(parser, "file of the private key (default: workload-owner.pem or seedshare-owner.pem); - prints it")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--public", metavar="FILE", default="-", help="file of the public key (default: -, print it)")
    where.add_argument(
        "--add-to", metavar="FILE", default="", help="add the public key to the ContrastGenerate in FILE"
    )
    parser.add_argument("--yaml", action="store_true", help="print the public key as an entry of a YAML list, to paste")
    add_findings(parser)


def run(options: Namespace) -> int:
    """Make one pair. Raises FileProblem, and leaves nothing."""
    owner = "seedshare" if options.seedshare_owner else "workload"
    field = f"{owner}OwnerKeys"
    private = options.output or f"{owner}-owner.pem"  # the name that Contrast's own commands look for
    public = "" if options.public == STANDARD_OUTPUT else options.public
    findings = _check_options(private, public, options.add_to, field)
    if findings:
        return print_findings(findings, options.format, options.report)
    sweep((private, public, options.add_to))
    for path in filter(None, (private, public)):
        if path != STANDARD_OUTPUT and os.path.lexists(path):  # before seconds of work; writing checks again
            option = "--public" if path == public else "-o"
            return print_findings([finding("CC1002.key", file=path, option=option)], options.format, options.report)
    pair = new_seedshare_owner() if owner == "seedshare" else new_workload_owner()
    if options.add_to:
        with in_turn(options.add_to):
            old = read_file(options.add_to)
            _write(pair, private, NewFile(options.add_to, with_owner_key(old, field, pair.public), old=old))
    elif public:
        _write(pair, private, NewFile(public, _format_public_half(pair.public, as_yaml=options.yaml), PUBLIC, new=True))
    else:
        _print(pair, private, _format_public_half(pair.public, as_yaml=options.yaml))
    lines = [] if private == STANDARD_OUTPUT else [f"private key: {private}; keep it secret, and out of Git"]
    lines += [f"public key: {public}"] if public else []
    lines += [f"public key: added to spec.manifest.{field} in {options.add_to}"] if options.add_to else []
    lines += [] if options.add_to else [f"the public key goes into spec.manifest.{field} of the ContrastGenerate"]
    if private != STANDARD_OUTPUT and is_open_to_git(private):  # the next commit may include it
        pattern = "*-owner.pem" if private.endswith("-owner.pem") else os.path.basename(private)
        findings = [finding("CC1242", key=private, pattern=pattern)]
    return print_findings(findings, options.format, options.report, "".join(f"{on_one_line(line)}\n" for line in lines))


def _check_options(private: str, public: str, add_to: str, field: str) -> list[Finding]:
    if private == STANDARD_OUTPUT and not public and not add_to:
        return [finding("CC0909.public-key", option="--output")]
    if not add_to:
        return []
    try:
        with_owner_key(read_file(add_to), field, "")
    except YamlError as problem:
        return [yaml_finding(problem, add_to)]
    except ValueError as problem:
        return [finding("CC0909.add-to", option="--add-to", file=add_to, error=str(problem))]
    return []


def _write(pair: KeyPair, private: str, public: NewFile) -> None:
    """Write both halves or none; the private one first, so that no public key exists whose private half is lost."""
    if private != STANDARD_OUTPUT:
        write_files([NewFile(private, pair.private, PRIVATE, new=True), public])
        return
    with staged([public]) as put:
        write_pieces_first((pair.private,), public.path)
        put()


def _print(pair: KeyPair, private: str, shown: bytes) -> None:
    """Write the private half to its file, then the public one to standard output; keep no file if that fails."""
    try:
        write_files([NewFile(private, pair.private, PRIVATE, new=True)])
        write_pieces_first((shown,), private)
    except BaseException:  # including signals: the public half was not printed
        if has_content(private, pair.private):
            os.unlink(private)
        raise


def _format_public_half(pem: str, *, as_yaml: bool) -> bytes:
    lines = "".join(f"  {line}\n" for line in pem.splitlines())
    return (f"- |\n{lines}" if as_yaml else pem).encode("ascii")
