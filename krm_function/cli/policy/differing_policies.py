"""Compare the policies of two rendered outputs, for `diff --policy OLD NEW` and for `check --no-weaker OLD`.

Rule of this file: both use the same comparison; `check` only turns its lines into findings.
"""

from krm_function.checking.manifests import find_manifests
from krm_function.cli.files.rendered_output import RenderedOutput, read_rendered_output
from krm_function.findings import Finding, finding, has_errors
from krm_function.policy.compare.difference import STRONGER, WEAKER
from krm_function.policy.compare.identity import GivenAway, given_away
from krm_function.policy.compare.workloads import WorkloadDifferences, compare_workloads, workload_key
from krm_function.report.policy_diff import changed

STRONGER_FINDING = "CC0619"
FINDINGS_OF_VERDICTS = {WEAKER: "CC0617", STRONGER: STRONGER_FINDING}


def differing_policies(
    old: RenderedOutput, new: RenderedOutput
) -> tuple[tuple[WorkloadDifferences, ...], tuple[Finding, ...]]:
    """Return the workloads of two outputs whose policies differ; nothing but findings if one cannot be read."""
    findings = old.findings + new.findings
    if has_errors(findings):
        return (), findings
    outside = {workload_key(ref) for ref in new.outside}
    compared, problems = compare_workloads(old.workloads, new.workloads, outside, _given_away(old, new))
    return compared, findings + problems


def _given_away(old: RenderedOutput, new: RenderedOutput) -> tuple[GivenAway, GivenAway]:
    """Return what each output gives to its workloads, by its manifest if both have one."""
    manifests = [find_manifests(None, output.values)[0].decoded for output in (old, new)]
    first, second = manifests if None not in manifests else (None, None)
    return given_away(old.workloads, first), given_away(new.workloads, second)


def weaker_findings(old_path: str, new: RenderedOutput) -> tuple[Finding, ...]:
    """Return an error for each line in which an output is weaker than the earlier one, an info for each stronger.

    The infos help to review the rest. Raises FileProblem.
    """
    if old_path == "-":
        return (finding("CC0909.stdin-no-file", option="--no-weaker"),)
    paths = {workload_key(one.ref): one.spec_path for one in new.workloads}
    compared, findings = differing_policies(read_rendered_output([old_path]), new)
    lines = [
        finding(
            FINDINGS_OF_VERDICTS[line.verdict],
            one.ref,
            paths.get(workload_key(one.ref), ()),
            what=changed(line),
            why=line.why,
        )
        for one in compared
        for line in one.lines
        if line.verdict in FINDINGS_OF_VERDICTS
    ]
    return (*findings, *lines)
