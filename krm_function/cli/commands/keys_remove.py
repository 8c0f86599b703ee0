"""`contrast-krm keys remove`: an owner's public key out of a configuration.

Rule of this file: exactly one key is named, and the last one of its owners goes only if that is said.
"""

from argparse import Namespace

from krm_function.cli.parser import Parser, add_findings

DESCRIPTION = (
    "Removes the key with this name or fingerprint, as `keys list` shows them, from the ContrastGenerate in a file. "
    "The coordinator accepts the key until the next manifest is set."
)
CONSEQUENCES = {
    "workload": "nobody could update the manifest after it",
    "seedshare": "nobody could recover the coordinator by it",
}


def add_arguments(parser: Parser) -> None:
    """Add which key, where from, findings."""
    parser.add_argument("key", metavar="KEY", help="name of the key, or the beginning of its fingerprint")
    parser.add_argument("--from", dest="file", metavar="FILE", required=True, help="the file with the ContrastGenerate")
    parser.add_argument("--last", action="store_true", help="also if it is the last key of its owners")
    add_findings(parser)


def run(options: Namespace) -> int:
    """Remove one key. Raises FileProblem."""
    from krm_function.cli.configuration import configured_keys
    from krm_function.cli.messages import print_findings
    from krm_function.config.edit import without_owner_key
    from krm_function.contrast.owner_keys import FIELDS, named
    from krm_function.findings import finding, has_errors
    from krm_function.hosts.files import read_file
    from krm_function.hosts.write_files import write_file
    from krm_function.kubernetes.objects import listed
    from krm_function.report.findings import on_one_line

    keys, findings = configured_keys([options.file])
    if has_errors(findings):
        return print_findings(findings, options.format, options.report)
    found = named(keys, options.key)
    if len(found) != 1:
        known = [f"{one.fingerprint} ({one.name})" if one.name else one.fingerprint for one in found or keys]
        code = "CC1374.several" if found else "CC1374.none" if keys else "CC1374.empty"
        wrong = finding(code, text=options.key, where=options.file, count=len(found), known=listed(known))
        return print_findings([wrong], options.format, options.report)
    (key,) = found
    if not options.last and sum(one.owner == key.owner for one in keys) == 1:
        last = finding("CC1375", owner=key.owner, key=key.fingerprint, consequence=CONSEQUENCES[key.owner])
        return print_findings([last], options.format, options.report)
    field = FIELDS[key.owner][0]
    write_file(options.file, without_owner_key(read_file(options.file), field, key.position))
    done = f"{key.owner} owner key {key.fingerprint}: removed from spec.manifest.{field} in {options.file}"
    return print_findings(findings, options.format, options.report, f"{on_one_line(done)}\n")
