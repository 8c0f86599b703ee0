"""`contrast-krm manifest`: the exact bytes of manifest.json out of rendered output, or the verdict on such a file.

Rule of this file: the bytes are signed and compared by Contrast (contrast.md 2.6), so they leave as they were made.
"""

from argparse import Namespace

from krm_function.cli.inputs import Inputs, read_inputs
from krm_function.cli.say import complain
from krm_function.cli.streams import write_out
from krm_function.findings import Finding, finding, has_errors
from krm_function.hosts.files import read_file
from krm_function.manifest import ManifestError, decode, validate
from krm_function.model.objects import emitted_objects
from krm_function.stages.manifest_config_map import manifest_of
from krm_function.stages.read import read


def run_manifest(options: Namespace) -> int:
    """Print or validate a manifest."""
    if options.validate:
        return complain(_verdict(options.validate), options.format, options.report)
    inputs = read_inputs(options.paths)
    found, findings = find_manifests(inputs)
    if not has_errors(findings):
        if not found:
            findings += (finding("CC1106"),)
        elif len(set(found)) > 1:
            findings += (finding("CC0108.manifests", count=len(found)),)
        else:
            write_out(found[0].encode("utf-8"))
    return complain(findings, options.format, options.report)


def find_manifests(inputs: Inputs) -> tuple[list[str], tuple[Finding, ...]]:
    """The manifest texts of rendered output."""
    source = read(inputs.resources, ())
    documents = (*source.documents.values(), *source.emitted.values())
    texts = [manifest_of(value) for document in documents for _, value in emitted_objects(document.value)]
    return [text for text in texts if text is not None], inputs.findings + source.findings


def _verdict(path: str) -> list[Finding]:
    """What is wrong with a manifest file; values that are still missing are errors here, as for `contrast set`."""
    try:
        manifest = decode(read_file(path))
    except ManifestError as problem:
        found = finding("CC0702", field="manifest.json", problem=str(problem), file=path)
        return [found._replace(line=problem.line, column=problem.column)]
    return [finding("CC0702", field=one.field, problem=one.problem, file=path) for one in validate(manifest)]
