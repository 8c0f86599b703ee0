"""`contrast-krm check`: rendered output as it is, against itself and its manifest.

Rule of this file: a ResourceList on standard input is answered with itself, so that the verb can stand in a pipe of
KRM functions: a host that reads an empty answer would delete everything (docs/facts/krm-functions.md#process).
"""

from argparse import Namespace

from krm_function.api import Config, collect
from krm_function.checking import ManifestFile, Verdict, beside_summary, check_output
from krm_function.cli.configuration import from_files_and_resources
from krm_function.cli.inputs import Inputs, read_inputs
from krm_function.cli.outputs import output_of
from krm_function.cli.policy_diff import GAINED, gate_findings
from krm_function.cli.say import complain
from krm_function.cli.streams import write_out
from krm_function.findings import Finding, has_errors
from krm_function.hosts.files import read_file
from krm_function.hosts.resource_list import DecodedList, encode_failure
from krm_function.report.krm import krm_results


def run_check(options: Namespace) -> int:
    """Check rendered output."""
    inputs = read_inputs(options.paths)
    config, findings = _config(options.config, inputs)
    file = ManifestFile(options.manifest, read_file(options.manifest)) if options.manifest else None
    checked = Verdict() if has_errors(findings) else check_output(inputs.resources, file, config)
    findings += checked.findings
    if options.no_weaker and not has_errors(findings):
        findings += gate_findings(options.no_weaker, output_of(inputs))
    for source in inputs.sources:
        if isinstance(source.decoded, DecodedList) and not source.file:
            write_out(encode_failure(source.decoded, krm_results(findings)))
    said = beside_summary(findings, options.format)
    return complain(said, options.format, options.report, checked.summary, asked=GAINED)


def _config(paths: list[str], inputs: Inputs) -> tuple[Config | None, tuple[Finding, ...]]:
    """The configuration to render again under; None unless the operator named one."""
    if not paths:
        return None, inputs.findings
    documents, findings = from_files_and_resources(paths, inputs.resources)
    config, unmet = collect(documents)
    return config, inputs.findings + findings + unmet
