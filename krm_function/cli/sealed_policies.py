"""One workload with its sealed initdata, and the policies of two outputs."""

from argparse import Namespace

from krm_function.check.output import find_manifests
from krm_function.cli.inputs import READ_KINDS, Inputs, RenderedOutput, of_documents, output_of, read_rendered_output
from krm_function.cli.render_inputs import render_inputs
from krm_function.config.document import is_config
from krm_function.findings import Finding, Ref, finding, has_errors
from krm_function.kubernetes.address import find_by_address
from krm_function.kubernetes.workload import INITDATA, Workload
from krm_function.policy.compare import GivenAway, WorkloadDifferences, compare_workloads, given_away, workload_key
from krm_function.policy.compare_values import STRONGER, WEAKER
from krm_function.policy.initdata import from_annotation, unreadable
from krm_function.report.policy_text import changed
from krm_function.text.parse import parse

# --- One workload of some resources with its sealed initdata, for `policy show` and `policy replay`
#
# Rule: the policy is read from the annotation, because that is what will be applied. If there is a configuration, the
# input is rendered first, by the usual pipeline.


def sealed_workload(
    options: Namespace, inputs: Inputs
) -> tuple[Workload | None, bytes, RenderedOutput, tuple[Finding, ...]]:
    """Return the workload that `options.workload` names, its initdata, everything read or rendered, and findings."""
    if options.config or any(is_config(resource.api_version) for resource in inputs.resources):
        rendered = render_inputs(options, inputs)
        findings = rendered.findings
        texts = [
            text
            for text, resource in zip(rendered.texts, inputs.resources, strict=True)
            if text is not None and (resource.may_have_pods or resource.may_be(READ_KINDS))
        ]
        output = of_documents([parse(text).value for text in texts]) if not rendered.failed else RenderedOutput()
    else:
        if options.namespace:
            options.parser.error("--namespace is for rendering, and there is no configuration")
        output = output_of(inputs)
        findings = output.findings
    if has_errors(findings):
        return None, b"", output, findings
    meant = find_by_address(options.workload, [workload.ref for workload in output.workloads])
    if not isinstance(meant, Ref):
        return None, b"", output, (*findings, meant)
    workload = next(candidate for candidate in output.workloads if candidate.ref == meant)
    value = workload.annotations.get(INITDATA)
    if value is None:
        path = (*workload.metadata_path, "annotations", INITDATA)
        return None, b"", output, (*findings, finding("CC1102", workload.ref, path))
    try:
        return workload, from_annotation(str(value)), output, findings
    except ValueError as problem:
        return None, b"", output, (*findings, unreadable(workload, problem))


# --- Compare the policies of two rendered outputs, for `diff --policy OLD NEW` and for `check --no-weaker OLD`
#
# Rule: both use the same comparison; `check` only turns its lines into findings.


STRONGER_FINDING = "CC0619"
FINDINGS_OF_VERDICTS = {WEAKER: "CC0617", STRONGER: STRONGER_FINDING}


def differing_policies(
    old: RenderedOutput, new: RenderedOutput
) -> tuple[tuple[WorkloadDifferences, ...], tuple[Finding, ...]]:
    """Return the workloads of two outputs whose policies differ; only findings if an output cannot be read."""
    findings = old.findings + new.findings
    if has_errors(findings):
        return (), findings
    outside = {workload_key(ref) for ref in new.outside}
    compared, problems = compare_workloads(old.workloads, new.workloads, outside, _read_grants(old, new))
    return compared, findings + problems


def _read_grants(old: RenderedOutput, new: RenderedOutput) -> tuple[GivenAway, GivenAway]:
    """Return what each output grants its workloads, by its manifest if both have one."""
    manifests = [find_manifests(None, output.values)[0].decoded for output in (old, new)]
    first, second = manifests if None not in manifests else (None, None)
    return given_away(old.workloads, first), given_away(new.workloads, second)


def weaker_findings(old_path: str, new: RenderedOutput) -> tuple[Finding, ...]:
    """Return an error for each line that makes an output weaker than the earlier one, an info for each stronger line.

    The infos help to review the rest. Raises FileProblem.
    """
    if old_path == "-":
        return (finding("CC0909.stdin-no-file", option="--no-weaker"),)
    paths = {workload_key(workload.ref): workload.spec_path for workload in new.workloads}
    compared, findings = differing_policies(read_rendered_output([old_path]), new)
    lines = [
        finding(
            FINDINGS_OF_VERDICTS[line.verdict],
            difference.ref,
            paths.get(workload_key(difference.ref), ()),
            what=changed(line),
            why=line.why,
        )
        for difference in compared
        for line in difference.lines
        if line.verdict in FINDINGS_OF_VERDICTS
    ]
    return (*findings, *lines)
