"""`contrast-krm diff`: the changes of a render as unified diffs, or the differences of two outputs' policies.

Rule of this file: without errors the diff goes to standard output; with errors there is none, as a render would have no
output. So with --exit-code, exit code 1 and an empty standard output mean an error, never a change.
"""

import sys
from argparse import Namespace

from krm_function.cli.exits import exit_code_of_differences
from krm_function.cli.inputs import Inputs, read_inputs, read_rendered_output
from krm_function.cli.messages import print_findings
from krm_function.cli.parser import Parser, add_findings, add_output_format, add_paths, add_render, coloured
from krm_function.cli.render_inputs import render_inputs
from krm_function.cli.sealed_policies import differing_policies
from krm_function.cli.streams import write_out
from krm_function.findings import Finding, finding, has_errors
from krm_function.kubernetes.workload import INITDATA
from krm_function.report.diff import changed_documents, diff_text, identity_text
from krm_function.report.findings import ordered
from krm_function.report.policy_text import policy_diff_json, policy_diff_text

DESCRIPTION = (
    "Secrets, values of variables and long annotations are masked. On an error nothing is printed. With "
    "--policy, one line per difference with the verdict weaker, stronger or different; an unknown field "
    "counts as weaker."
)


def add_arguments(parser: Parser) -> None:
    """Add inputs, the two outputs of --policy, the output, findings."""
    add_paths(parser)
    parser.add_argument(
        "--policy",
        nargs=2,
        metavar=("OLD", "NEW"),
        help="compare policies instead: files or directories with rendered output; - is standard input",
    )
    add_output_format(parser)
    parser.add_argument(
        "--exit-code",
        action="store_true",
        help="exit 1 if anything would change or differs; an error also exits 1, 2 or 3, but prints no diff",
    )
    add_render(parser)
    add_findings(parser)


def run(options: Namespace) -> int:
    """Print a diff of every document that would change, or with --policy the differences of the policies."""
    if options.policy:
        configured = options.config and not options.config_from
        if options.paths or configured or options.namespace:
            options.parser.error("--policy takes two outputs and nothing else")
        return _diff_policies(options)
    if options.output != "text":
        options.parser.error("-o json is for --policy")
    return _diff_documents(options)


def _diff_documents(options: Namespace) -> int:
    inputs = read_inputs(options.paths)
    rendered = render_inputs(options, inputs, live=True)
    documents = () if rendered.failed else changed_documents(inputs.resources, rendered)
    if not rendered.failed:
        text = diff_text(documents, colour=coloured(options.color, sys.stdout)) + identity_text(rendered)
        write_out(text.encode("utf-8"))
    findings = _merge_hints(rendered.findings, inputs)
    code = print_findings(findings, options.format, options.report)
    return exit_code_of_differences(code, differ=bool(documents)) if options.exit_code else code


def _merge_hints(findings: tuple[Finding, ...], inputs: Inputs) -> tuple[Finding, ...]:
    """Give CC0118 of two or more rendered outputs one hint, which names the command that compares them."""
    outputs = {resource.file for resource in inputs.resources if INITDATA in resource.text}
    twice = [problem for problem in findings if problem.code == "CC0118"]
    if len(outputs) < 2 or not twice:
        return findings
    hint, first = finding("CC0118.outputs", kind="", name="", other="").hint, ordered(twice)[0]
    hints = dict.fromkeys(twice, "") | {first: hint}
    return tuple(problem._replace(hint=hints.get(problem, problem.hint)) for problem in findings)


def _diff_policies(options: Namespace) -> int:
    old_path, new_path = options.policy
    if old_path == new_path == "-":
        return print_findings([finding("CC0909.stdin-twice", option="--policy")], options.format, options.report)
    old, new = read_rendered_output([old_path]), read_rendered_output([new_path])
    compared, findings = differing_policies(old, new)
    if not has_errors(findings):
        text = policy_diff_json(compared) if options.output == "json" else policy_diff_text(compared)
        write_out(text.encode("utf-8"))
    code = print_findings(findings, options.format, options.report)
    return exit_code_of_differences(code, differ=bool(compared)) if options.exit_code else code
