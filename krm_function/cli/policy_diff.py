"""Policies of two rendered outputs: `diff --policy OLD NEW`, and the gate of `check --no-weaker OLD`.

Rule of this file: both ask the same comparison; the gate only turns its lines into findings.
"""

from argparse import Namespace

from krm_function.cli.exits import FINDINGS
from krm_function.cli.outputs import Output, read_output
from krm_function.cli.say import complain
from krm_function.cli.streams import write_out
from krm_function.findings import Finding, finding, has_errors
from krm_function.policy.compare.difference import STRONGER, WEAKER
from krm_function.policy.compare.workloads import Compared, compare_workloads, identity
from krm_function.report.policy_diff import changed, policy_diff_json, policy_diff_text

GAINED = "CC0619"
GATE = {WEAKER: "CC0617", STRONGER: GAINED}


def run_policy_diff(options: Namespace) -> int:
    """Print the differences between the policies of two outputs; with --exit-code, 1 if there is any."""
    old_path, new_path = options.policy
    if old_path == new_path == "-":
        found = finding("CC0909.stdin-twice", option="--policy")
        return complain([found], options.format, options.report)
    old, new = read_output([old_path]), read_output([new_path])
    compared, findings = differences(old, new)
    if not has_errors(findings):
        text = policy_diff_json(compared) if options.output == "json" else policy_diff_text(compared)
        write_out(text.encode("utf-8"))
    code = complain(findings, options.format, options.report)
    return FINDINGS if not code and compared and options.exit_code else code


def differences(old: Output, new: Output) -> tuple[tuple[Compared, ...], tuple[Finding, ...]]:
    """The workloads of two outputs whose policies differ; nothing but findings if one cannot be read."""
    findings = old.findings + new.findings
    if has_errors(findings):
        return (), findings
    compared, problems = compare_workloads(old.workloads, new.workloads, {identity(ref) for ref in new.outside})
    return compared, findings + problems


def gate_findings(old_path: str, new: Output) -> tuple[Finding, ...]:
    """One error for every line by which an output is weaker than the one before. Raises FileProblem.

    What is stronger is printed as well, for the review of the rest.
    """
    if old_path == "-":
        return (finding("CC0909.stdin-no-file", option="--no-weaker"),)
    paths = {identity(one.ref): one.spec_path for one in new.workloads}
    compared, findings = differences(read_output([old_path]), new)
    told = [
        finding(GATE[line.verdict], one.ref, paths.get(identity(one.ref), ()), what=changed(line), why=line.why)
        for one in compared
        for line in one.lines
        if line.verdict in GATE
    ]
    return (*findings, *told)
