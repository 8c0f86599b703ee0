"""Compare files with the ones that a statement names.

    the statement         the call            finding
    has its digest        a file              none
    has no such digest    a file              CC1331 for an output, CC1333 for what was read
    names a file          none of its digest  CC1332 for an output, CC1334 for what was read

Rule of this file: digests decide and names only explain, because a file may have been moved; a file that the statement
names more than once has to be there as often.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from krm_function.findings import Finding, finding
from krm_function.provenance.parse import Statement
from krm_function.provenance.statement_parts import STREAM, Artefact, Role

MOST_NAMES = 5  # in one message


def compare_outputs(
    statement: Statement, file: str, outputs: Sequence[Artefact], inside: Iterable[str] = ()
) -> list[Finding]:
    """Return findings about outputs. file: the attestation. inside: digests of the manifests that the outputs hold."""
    digests = {one.sha256 for one in statement.outputs}
    missing = _missing(statement.outputs, [*(one.sha256 for one in outputs), *inside])
    findings = [_other(one, missing or statement.outputs, file) for one in outputs if one.sha256 not in digests]
    if missing and not findings:
        findings.append(finding("CC1332", file=file, names=_names(missing)))
    return findings


def compare_inputs(statement: Statement, file: str, role: Role, read: Sequence[Artefact]) -> list[Finding]:
    """Return findings about all the files of one option."""
    attested = statement.of_role(role)
    digests = {one.sha256 for one in attested}
    missing = _missing(attested, [one.sha256 for one in read])
    findings = [
        finding("CC1333", file=file, name=one.name or STREAM, role=role, found=one.sha256)
        for one in read
        if one.sha256 not in digests
    ]
    if missing:
        findings.append(finding("CC1334", file=file, role=role, names=_names(missing)))
    return findings


def _missing(attested: Sequence[Artefact], digests: Iterable[str]) -> list[Artefact]:
    """Return the files of the statement of which there are fewer than it names."""
    left = Counter(digests)
    missing = []
    for artefact in attested:
        left[artefact.sha256] -= 1
        if left[artefact.sha256] < 0:
            missing.append(artefact)
    return missing


def _other(output: Artefact, missing: Sequence[Artefact], file: str) -> Finding:
    """Make CC1331: an output that the statement does not name. missing: those of the statement that are not there."""
    name = output.name or STREAM
    same = [one for one in missing if one.name == name] or missing
    return finding("CC1331", file=file, name=name, found=output.sha256, names=_names(same))


def _names(files: Sequence[Artefact]) -> str:
    """Return the names with their digests, the first ones of many."""
    shown = ", ".join(f"{one.name or STREAM} ({one.sha256})" for one in files[:MOST_NAMES])
    more = len(files) - MOST_NAMES
    return f"{shown} and {more} more" if more > 0 else shown
