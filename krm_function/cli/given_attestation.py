"""`check --attestation FILE`: whether the output, and what it was made of, are what a statement about a render says.

Rule of this file: the attestation is hostile input. Its signature is not verified here, and every call that passes says
so.
"""

from collections.abc import Iterable, Sequence

from krm_function.check.output import ManifestFile
from krm_function.cli.inputs import InputFile, ReadFile
from krm_function.findings import Finding, finding
from krm_function.hosts.files import find_files, read_file
from krm_function.kubernetes.resource import Resource
from krm_function.kubernetes.workload import EMITTED
from krm_function.provenance.attestation import (
    LONGEST,
    AttestationProblem,
    Statement,
    compare_inputs,
    compare_outputs,
    parse_attestation,
)
from krm_function.provenance.statement import Artefact, Role, digest_of
from krm_function.render.make_manifest import read_emitted_manifest


class FilesRead:
    """What a call of `check` has read beside the output, to compare with the statement in `file`."""

    def __init__(self, file: str) -> None:
        """file: the attestation."""
        self.file = file
        self.files: dict[Role, list[Artefact]] = {}

    def reader(self, role: Role) -> ReadFile:
        """Return a reader that remembers the digests of what it reads. Raises FileProblem."""
        artefacts = self.files.setdefault(role, [])

        def read(path: str, root: str = "") -> bytes:
            data = read_file(path, root)
            artefacts.append(Artefact(path, digest_of(data)))
            return data

        return read


def attestation_findings(
    files_read: FilesRead,
    sources: Sequence[InputFile],
    resources: Iterable[Resource],
    manifest: ManifestFile | None,
    inputs: Sequence[str],
) -> list[Finding]:
    """Return the verdict on an output. Raises FileProblem.

    inputs: files and directories of which the output was made, () if none is named.
    """
    if "-" in (files_read.file, *inputs):
        return [finding("CC0909.stdin-no-file", option="--attestation" if files_read.file == "-" else "--input")]
    if inputs:
        read = files_read.reader("input")
        for file in find_files(inputs):
            read(file.path, file.root)
    try:
        statement = parse_attestation(read_file(files_read.file, most=LONGEST + 1))
    except AttestationProblem as problem:
        return [finding(problem.cause.code, file=files_read.file, **problem.cause.values)]
    outputs = [Artefact(file.file, digest_of(file.data)) for file in sources]
    beside = [Artefact(manifest.name, digest_of(manifest.data))] if manifest else []
    findings = compare_outputs(statement, files_read.file, [*outputs, *beside], map(digest_of, _manifests(resources)))
    for role, files in files_read.files.items():
        findings += compare_inputs(statement, files_read.file, role, files)
    return findings or [_as_attested(statement, files_read)]


def _manifests(resources: Iterable[Resource]) -> list[bytes]:
    """Return the manifests in an output, as `contrast-krm manifest` prints them."""
    items = (item for resource in resources if EMITTED in resource.text for item in resource.objects)
    texts = (read_emitted_manifest(item.value) for item in items)
    return [text.encode("utf-8") for text in texts if text is not None]


def _as_attested(statement: Statement, files_read: FilesRead) -> Finding:
    left = dict.fromkeys(one.role for one in statement.materials if one.role not in files_read.files)
    return finding(
        "CC1335.signed" if statement.signed else "CC1335.unsigned",
        file=files_read.file,
        version=statement.version,
        compared=", ".join(("output", *files_read.files)),
        left=", ".join(left) or "nothing",
    )
