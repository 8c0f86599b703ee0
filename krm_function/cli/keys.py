"""`contrast-krm keys new`: an owner's key pair, the private half in a file of its own.

Rule of this file: a private key is written to a new file that only its owner can read, or printed if somebody asks for
that with `-o -`; it is in no message, and an existing file is never touched.
"""

import os
from argparse import Namespace

from krm_function.cli.say import complain, write_out
from krm_function.findings import finding
from krm_function.hosts.files import FileProblem, create_file
from krm_function.manifest.new_keys import KeyPair, new_seedshare_owner, new_workload_owner
from krm_function.report.order import escape

PRIVATE = 0o600
PUBLIC = 0o644
STANDARD_OUTPUT = "-"


def run_keys_new(options: Namespace) -> int:
    """Make one pair. Raises FileProblem, with nothing left behind."""
    owner = "seedshare" if options.seedshare_owner else "workload"
    private = options.output or f"{owner}-owner.pem"  # the name that Contrast's own commands look for
    public = "" if options.public == STANDARD_OUTPUT else options.public
    if private == STANDARD_OUTPUT and not public:
        problem, remedy = "the public key would go to standard output as well", "name a file with --public"
        found = finding("CC0909", option="--output", problem=problem, remedy=remedy)
        return complain([found], options.format, options.report)
    for path in filter(None, (private, public)):
        if path != STANDARD_OUTPUT and os.path.lexists(path):  # told before seconds go by; `create_file` makes sure
            raise FileProblem(path, "exists; a key is never overwritten, name another file", writing=True)
    pair = new_seedshare_owner() if owner == "seedshare" else new_workload_owner()
    _write(pair, private, public, _shown(pair.public, as_yaml=options.yaml).encode("ascii"))
    told = [] if private == STANDARD_OUTPUT else [f"private key: {private}; keep it secret, and out of Git"]
    told += [f"public key: {public}"] if public else []
    told += [f"the public key goes into spec.manifest.{owner}OwnerKeys of the ContrastGenerate"]
    return complain([], options.format, options.report, "".join(f"{escape(line)}\n" for line in told))


def _write(pair: KeyPair, private: str, public: str, shown: bytes) -> None:
    """Both files or none; the private one first, so that no public key is about whose other half is lost."""
    if private == STANDARD_OUTPUT:
        create_file(public, shown, PUBLIC)
        try:
            write_out(pair.private)
        except OSError:
            os.unlink(public)
            raise
        return
    create_file(private, pair.private, PRIVATE)
    try:
        if public:
            create_file(public, shown, PUBLIC)
        else:
            write_out(shown)
    except OSError:
        os.unlink(private)
        raise


def _shown(pem: str, *, as_yaml: bool) -> str:
    """PEM, or the same as an entry of a YAML list, to be pasted below the field's name."""
    if not as_yaml:
        return pem
    return "- |\n" + "".join(f"  {line}\n" for line in pem.splitlines())
