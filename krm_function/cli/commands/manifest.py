"""`contrast-krm manifest`: the exact bytes of manifest.json from rendered output, or the verdict on such a file.

Rule of this file: Contrast signs and compares the bytes, so they are printed unchanged.
"""

from argparse import Namespace

from krm_function.check.output import check_manifest_values
from krm_function.cli.inputs import Inputs, read_inputs
from krm_function.cli.messages import print_findings
from krm_function.cli.parser import Parser, add_findings, add_paths
from krm_function.cli.streams import write_out
from krm_function.contrast.manifest import ManifestError, decode
from krm_function.contrast.manifest_merge import last_of
from krm_function.contrast.owned import emitted_objects
from krm_function.findings import Finding, finding, has_errors
from krm_function.hosts.files import read_file
from krm_function.kubernetes.workload import ORIGINAL
from krm_function.render.make_manifest import read_emitted_manifest
from krm_function.render.read import read

DESCRIPTION = "`contrast set` and `contrast verify` take this file."


def add_arguments(parser: Parser) -> None:
    """Add inputs, --validate, findings."""
    add_paths(parser, content="rendered output")
    parser.add_argument("--validate", metavar="FILE", default="", help="report the problems of a manifest.json instead")
    add_findings(parser)


def run(options: Namespace) -> int:
    """Print or validate a manifest."""
    if options.validate:
        return print_findings(_validate(options.validate), options.format, options.report)
    inputs = read_inputs(options.paths)
    texts, findings = _read_manifests(inputs)
    if not has_errors(findings):
        if not texts:
            rendered = any(ORIGINAL in resource.text for resource in inputs.resources)
            findings += (finding("CC1106.not-emitted" if rendered else "CC1106.not-rendered"),)
        elif (last := last_of([text.encode("utf-8") for text in texts])) is None:
            findings += (finding("CC0108.manifests", count=len(texts)),)
        else:
            write_out(last)
    return print_findings(findings, options.format, options.report)


def _read_manifests(inputs: Inputs) -> tuple[list[str], tuple[Finding, ...]]:
    resources, findings = read(inputs.resources, ())
    documents = [resource.document.value for resource in resources if resource.document is not None]
    texts = [read_emitted_manifest(value) for document in documents for _, value in emitted_objects(document)]
    return [text for text in texts if text is not None], inputs.findings + findings


def _validate(path: str) -> list[Finding]:
    """Return the problems of a manifest file. A missing value is an error here, as for `contrast set`."""
    try:
        manifest = decode(read_file(path))
    except ManifestError as problem:
        broken = finding("CC0702", field="manifest.json", problem=str(problem), file=path)
        return [broken._replace(line=problem.line, column=problem.column)]
    unowned = [] if manifest.get("WorkloadOwnerPubKeys") else [finding("CC0770", file=path)]
    return [*check_manifest_values(manifest, path), *unowned]
