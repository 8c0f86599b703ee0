"""Rendered output as plain data: documents, objects, workloads.

Rule of this file: nothing is restored or rendered; what stands there is what will be applied.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from krm_function.cli.files.inputs import Inputs, read_inputs
from krm_function.findings import Finding, Ref
from krm_function.model.finding_position import yaml_finding
from krm_function.model.objects import objects
from krm_function.model.workload import Workload
from krm_function.record import NamedTuple
from krm_function.stages.select import select
from krm_function.yamltext import YamlError, parse

READ_KINDS = frozenset(("List", "ConfigMap", "Secret"))  # beside those with pods


class RenderedOutput(NamedTuple):
    """The objects and Contrast workloads of some documents. outside: workloads without a Contrast runtime class."""

    values: tuple[Any, ...] = ()
    workloads: tuple[Workload, ...] = ()
    outside: tuple[Ref, ...] = ()
    findings: tuple[Finding, ...] = ()


def read_rendered_output(paths: Sequence[str]) -> RenderedOutput:
    """Read rendered output from files or standard input. Raises FileProblem."""
    return output_of(read_inputs(paths))


def output_of(inputs: Inputs) -> RenderedOutput:
    """Take rendered output out of inputs that were read already."""
    findings = list(inputs.findings)
    documents = []
    for resource in inputs.resources:
        if resource.may_have_pods or resource.may_be(READ_KINDS):
            try:
                documents.append(parse(resource.text, line=resource.line).value)
            except YamlError as problem:
                findings.append(yaml_finding(problem, resource))
    return of_documents(documents, findings)


def of_documents(documents: Iterable[Any], findings: Iterable[Finding] = ()) -> RenderedOutput:
    """Take the rendered output out of parsed documents."""
    documents = list(documents)
    chosen = [select(document) for document in documents]
    return RenderedOutput(
        tuple(value for document in documents for _, value in objects(document)),
        tuple(workload for one in chosen for workload in one.workloads),
        tuple(skipped.ref for one in chosen for skipped in one.skipped),
        (*findings, *(found for one in chosen for found in one.findings)),
    )


def manifest_among(output: RenderedOutput) -> tuple[str, tuple[Finding, ...]]:
    """Return the manifest of rendered outputs: of several the last one's, if the objects of one name follow each other.

    "" with a finding if there is none, or it cannot be told which one counts.
    """
    from krm_function.findings import finding
    from krm_function.manifest.last_of import last_of
    from krm_function.model.objects import reference
    from krm_function.stages.manifest_config_map import manifest_of

    found = {reference(value): text for value in output.values if (text := manifest_of(value)) is not None}
    if not found:
        return "", (finding("CC1106.not-emitted"),)
    last = last_of([text.encode("utf-8") for text in found.values()])
    if last is None:
        return "", (finding("CC0108.manifests", count=len(found)),)
    return last.decode("utf-8"), ()
