"""The owner keys of configuration files and of a manifest, for the commands that list and change them.

Rule of this file: everything but the keys of a ContrastGenerate is left alone, so neither a release nor a lock has to
be there.
"""

from collections.abc import Sequence

from krm_function.api.contrast_generate import KIND, parse_generate
from krm_function.api.document import config_reference
from krm_function.cli.configuration import from_files
from krm_function.findings import Finding, finding
from krm_function.hosts.files import read_file
from krm_function.manifest.decode import ManifestError, decode
from krm_function.manifest.known_keys import FIELDS, KnownKey, key_of, of_manifest
from krm_function.manifest.owner_keys import KeyProblem


def configured_keys(paths: Sequence[str], variable: str = "") -> tuple[list[KnownKey], tuple[Finding, ...]]:
    """Return the keys of the ContrastGenerate in some files, and what is wrong with the files or the keys."""
    documents, findings = from_files(paths, variable)
    keys: list[KnownKey] = []
    for document in documents:
        if config_reference(document).kind != KIND:
            continue
        generate, problems = parse_generate(document)
        findings += problems
        if generate is None:
            continue
        manifest = generate.manifest
        pems = {"workload": manifest.workload_owner_keys, "seedshare": manifest.seedshare_owner_keys}
        for owner, (field, _) in FIELDS.items():
            for index, pem in enumerate(pems[owner]):
                try:
                    keys.append(key_of(pem, owner, index))
                except KeyProblem as problem:
                    path = ("spec", "manifest", field, index)
                    findings += (finding("CC0707", generate.ref, path, problem=str(problem)),)
    return keys, findings


def manifest_keys(path: str) -> tuple[list[KnownKey], tuple[Finding, ...]]:
    """Return the keys of a manifest's file. Raises FileProblem."""
    try:
        return of_manifest(decode(read_file(path))), ()
    except ManifestError as problem:
        unread = finding("CC0909.base", option="--manifest", error=str(problem))
        return [], (unread._replace(line=problem.line, file=path),)
