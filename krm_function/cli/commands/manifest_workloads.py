"""`contrast-krm manifest workloads`: the objects that `contrast set` needs with a manifest.

Rule of this file: each policy of the manifest once, from any output with its workload; others are left out and named.
Source: docs/facts/contrast-manifest.md#set-and-verify.
"""

import json
from argparse import Namespace

from krm_function.check.running_pods import read_sealed_digest
from krm_function.cli.inputs import manifest_among, read_rendered_output
from krm_function.cli.messages import print_findings
from krm_function.cli.parser import Parser, add_findings, add_paths
from krm_function.cli.streams import write_out
from krm_function.contrast.manifest import decode
from krm_function.findings import finding, has_errors
from krm_function.kubernetes.objects import listed, mapping
from krm_function.report.findings import on_one_line

DESCRIPTION = (
    "`contrast set` needs each policy of the manifest exactly once among the workloads that it receives. "
    "If the manifest also has policies of the earlier render (manifest.keep), name both outputs."
)


def add_arguments(parser: Parser) -> None:
    """Add rendered outputs, findings."""
    add_paths(parser, content="rendered outputs, the newest last")
    add_findings(parser)


def run(options: Namespace) -> int:
    """Print one document for each policy."""
    output = read_rendered_output(options.paths)
    text, problems = manifest_among(output)
    findings = (*output.findings, *problems)
    if has_errors(findings):
        return print_findings(findings, options.format, options.report)
    policies = mapping(decode(text.encode("utf-8")).get("Policies"))
    sealed = {read_sealed_digest(workload): workload for workload in output.workloads}
    lacking = [digest for digest in policies if digest not in sealed]
    if lacking:
        names = ", ".join(
            "/".join(map(str, (mapping(policies[digest]).get("SANs") or [digest[:16]])[:1])) for digest in lacking
        )
        return print_findings((*findings, finding("CC1376", names=names)), options.format, options.report)
    objects = {id(sealed[digest].object): sealed[digest].object for digest in policies}
    write_out("".join(f"---\n{json.dumps(value)}\n" for value in objects.values()).encode())
    refs = [workload.ref for workload in output.workloads if read_sealed_digest(workload) not in policies]
    omitted = sorted({f"{ref.kind}/{ref}" for ref in refs})
    summary = f"{len(policies)} policies, {len(objects)} workloads"
    summary += f"; not in the manifest, and left out: {listed(omitted)}" if omitted else ""
    return print_findings(findings, options.format, options.report, f"{on_one_line(summary)}\n")
