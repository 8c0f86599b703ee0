"""`contrast-krm assess`: which pods of an application are confidential, and which cannot be; nothing is written.

Rule of this file: it needs no configuration, but judges with the one of --config; images and nodes are left to `lock`
and `plan`.
"""

import sys
from argparse import Namespace

from krm_function.check.assess import assess
from krm_function.cli.exits import FINDINGS
from krm_function.cli.inputs import read_inputs
from krm_function.cli.messages import print_findings
from krm_function.cli.parser import Parser, add_config, add_findings, add_output_format, add_paths, coloured
from krm_function.cli.streams import write_out
from krm_function.findings import has_errors
from krm_function.report.assessment import assessment_json, assessment_text
from krm_function.report.findings import ansi, plain

DESCRIPTION = (
    "Reads any resources, rendered or not, and needs no release, lock or network. With --config, pods that "
    "spec.workloads names are confidential or plain as it declares, and its rules apply. A pod is "
    "confidential, plain, blocked (it cannot be sealed as it is) or misplaced (it asks for Contrast where "
    "nothing reads that). Exit code 1 if a pod is misplaced."
)


def add_arguments(parser: Parser) -> None:
    """Add inputs, what to judge and what fails, output, findings."""
    add_paths(parser, "PATH")
    add_config(parser)
    parser.add_argument(
        "--all", action="store_true", help="also assess pods that do not ask for Contrast, as if they did"
    )
    parser.add_argument(
        "--require-all",
        action="store_true",
        help="exit code 1 if any pod is blocked, misplaced, or plain without a reason in the configuration",
    )
    add_output_format(parser)
    add_findings(parser)


def run(options: Namespace) -> int:
    """Print the assessment; findings are about unreadable input."""
    inputs = read_inputs(options.paths)
    config, findings = None, inputs.findings
    if options.config:
        from krm_function.cli.render_inputs import configured
        from krm_function.render.prepare import find_blocking

        config, findings = configured(options, inputs)
        if config is None or has_errors(findings):
            return print_findings(find_blocking(findings) or findings, options.format, options.report)
    assessed = assess(inputs.resources, config, judge_plain=options.all)
    findings = (*findings, *assessed.findings)
    if not has_errors(inputs.findings) and (assessed.pods or not has_errors(findings)):
        if options.output == "json":
            text = assessment_json(assessed)
        else:
            text = assessment_text(assessed, ansi if coloured(options.color, sys.stdout) else plain)
        write_out(text.encode("utf-8"))
    code = print_findings(findings, options.format, options.report)
    unwanted = ("misplaced", "blocked", "plain") if options.require_all else ("misplaced",)
    return code or (FINDINGS if any(pod.state in unwanted and not pod.reason for pod in assessed.pods) else 0)
