"""One workload of some resources with the initdata that is sealed into it, for `policy show` and `policy compare`.

Rule of this file: the policy is read back from the annotation, because that is what will be applied. Where there is a
configuration the input is rendered first, by the same pipeline as always.
"""

from argparse import Namespace

from krm_function.api.document import is_config
from krm_function.cli.files.inputs import Inputs
from krm_function.cli.files.rendered_output import READ_KINDS, RenderedOutput, of_documents, output_of
from krm_function.cli.rendering.render_inputs import render_inputs
from krm_function.findings import Finding, Ref, finding, has_errors
from krm_function.model.address import find_by_address
from krm_function.model.workload import INITDATA, Workload
from krm_function.policy import from_annotation
from krm_function.policy.configured_initdata import unreadable
from krm_function.yamltext import parse


def sealed_workload(
    options: Namespace, inputs: Inputs
) -> tuple[Workload | None, bytes, RenderedOutput, tuple[Finding, ...]]:
    """Return the workload that `options.workload` names, its initdata, all that was read or rendered, and findings."""
    if options.config or any(is_config(one.api_version) for one in inputs.resources):
        rendered = render_inputs(options, inputs)
        findings = rendered.findings
        kept = [
            text
            for text, resource in zip(rendered.texts, inputs.resources, strict=True)
            if text is not None and (resource.may_have_pods or resource.may_be(READ_KINDS))
        ]
        output = of_documents([parse(text).value for text in kept]) if not rendered.failed else RenderedOutput()
    else:
        if options.namespace:
            options.parser.error("--namespace is for rendering, and there is no configuration")
        output = output_of(inputs)
        findings = output.findings
    if has_errors(findings):
        return None, b"", output, findings
    meant = find_by_address(options.workload, [one.ref for one in output.workloads])
    if not isinstance(meant, Ref):
        return None, b"", output, (*findings, meant)
    workload = next(one for one in output.workloads if one.ref == meant)
    value = workload.annotations.get(INITDATA)
    if value is None:
        path = (*workload.metadata_path, "annotations", INITDATA)
        return None, b"", output, (*findings, finding("CC1102", workload.ref, path))
    try:
        return workload, from_annotation(str(value)), output, findings
    except ValueError as problem:
        return None, b"", output, (*findings, unreadable(workload, problem))
