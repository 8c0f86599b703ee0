"""`contrast-krm check`: rendered output as it is, against itself and its manifest.

Rule of this file: nothing is restored or rendered; the verdict is about the bytes that will be applied.
"""

from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from krm_function.cli.inputs import Inputs, read_inputs
from krm_function.cli.outputs import of_documents
from krm_function.cli.policy_diff import weaker_findings
from krm_function.cli.say import complain
from krm_function.findings import Finding, finding, has_errors
from krm_function.hosts.files import read_file
from krm_function.manifest import ManifestError, decode, validate
from krm_function.model.located import yaml_finding
from krm_function.model.objects import objects, reference
from krm_function.model.runtime_class import parse as parse_class
from krm_function.model.vcpus import vcpus
from krm_function.model.workload import KINDS
from krm_function.policy import References
from krm_function.stages.check import check_classes, check_manifest, check_workload
from krm_function.stages.manifest import manifest_of
from krm_function.stages.policy import measure
from krm_function.stages.schedule import schedule
from krm_function.stages.select import select
from krm_function.yamltext import YamlError, parse

LOOKED_AT = frozenset((*KINDS, "List", "RuntimeClass", "ConfigMap", "Secret"))


def run_check(options: Namespace) -> int:
    """Check rendered output."""
    inputs = read_inputs(options.paths)
    findings, documents = _documents(inputs)
    values = [value for document in documents for _, value in objects(document)]
    manifest, problems = _manifest(options.manifest, values)
    findings += problems
    if not has_errors(findings):
        findings += _verdict(documents, values, manifest)
        if options.no_weaker:
            findings += weaker_findings(options.no_weaker, of_documents(documents))
    count = sum(len(select(document).workloads) for document in documents)
    summary = f"checked {count} Contrast workload{'' if count == 1 else 's'}\n"
    return complain(findings, options.format, options.report, summary)


def _documents(inputs: Inputs) -> tuple[list[Finding], list[Any]]:
    findings = list(inputs.findings)
    documents: list[Any] = []
    for resource in inputs.resources:
        if resource.kind in LOOKED_AT:
            try:
                documents.append(parse(resource.text, line=resource.line).value)
            except YamlError as problem:
                findings.append(yaml_finding(problem, resource.file))
    return findings, documents


def _manifest(path: str, values: list[Any]) -> tuple[Mapping[str, Any] | None, list[Finding]]:
    """The manifest of the output or of a file; None when there is neither."""
    texts = [text for text in map(manifest_of, values) if text is not None]
    data = read_file(path) if path else (texts[0].encode("utf-8") if texts else None)
    if data is None:
        return None, []
    try:
        return decode(data), []
    except ManifestError as problem:
        return None, [finding("CC0702", field=path or "manifest.json", problem=str(problem), file=path)]


def _verdict(documents: list[Any], values: list[Any], manifest: Mapping[str, Any] | None) -> list[Finding]:
    references = References(values)
    classes = {
        reference(value).name: parse_class(value).runtime_class
        for value in values
        if reference(value).kind == "RuntimeClass" and reference(value).name.startswith("contrast-cc")
    }
    workloads = [workload for document in documents for workload in select(document).workloads]
    findings: list[Finding] = [found for document in documents for found in select(document).findings]
    digests = {}
    for workload in workloads:
        checked = check_workload(workload, references)
        findings += checked.findings
        findings += schedule(workload, classes.get(workload.runtime_class)).findings
        digests[workload.ref] = checked.digest
        count = vcpus(workload)
        if manifest is not None and checked.platform is not None and isinstance(count, int) and checked.digest:
            snp = (manifest.get("ReferenceValues") or {}).get("snp") or ()
            stale = measure(workload, checked.platform, count, snp)
            findings += stale.findings
            if stale.edits:
                field = "the vCPU count (cpu limits) or the ID block"
                findings.append(finding("CC1103", workload.ref, workload.spec_path, field=field))
    findings += check_classes(workloads, list(classes))
    if manifest is None:
        return findings + ([finding("CC1106")] if workloads else [])
    findings += [finding("CC0702", field=one.field, problem=one.problem) for one in validate(manifest)]
    return findings + list(check_manifest(digests, manifest))
