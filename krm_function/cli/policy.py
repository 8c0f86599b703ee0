"""`contrast-krm policy show` and `policy compare`: what is sealed into one pod, and what genpolicy would seal into it.

Rule of this file: the policy is read back from the annotation, because that is what will be applied. Where there is a
configuration the input is rendered first, by the same line as always. Standard output is the policy's own bytes.
"""

import json
from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from krm_function.api import collect, is_config
from krm_function.cli.configuration import from_files_and_resources
from krm_function.cli.generate import rendered_inputs
from krm_function.cli.genpolicy import engine
from krm_function.cli.inputs import Inputs, read_inputs
from krm_function.cli.outputs import LOOKED_AT, Output, of_documents, output_of
from krm_function.cli.say import complain
from krm_function.cli.streams import write_out
from krm_function.findings import Finding, Ref, finding, has_errors
from krm_function.model.address import find
from krm_function.model.workload import INITDATA, Workload
from krm_function.policy import References, decode_toml, describe, digest, from_annotation, host_data
from krm_function.policy.base import unreadable
from krm_function.policy.compare.policy_data import compare
from krm_function.policy.compare.workloads import Compared
from krm_function.policy.document import rules_of
from krm_function.policy.expected import profile_of_data
from krm_function.policy.genpolicy import read_answer, settings_text, task
from krm_function.policy.initdata import POLICY
from krm_function.report.policy_diff import policy_diff_json, policy_diff_text
from krm_function.yamltext import parse

HEAD = "the native policy against genpolicy's; weaker: the native one allows more\n"


def run_show(options: Namespace) -> int:
    """Print the policy of one workload in one of its forms."""
    inputs = read_inputs(options.paths)
    workload, toml, _, findings = _sealed(options, inputs)
    if workload is None or has_errors(findings):
        return complain(findings, options.format, options.report)
    try:
        write_out(_form(toml, options.output))
    except ValueError as problem:
        findings = (*findings, unreadable(workload, problem))
    return complain(findings, options.format, options.report)


def run_compare(options: Namespace) -> int:
    """Print where the native policy of one workload and that of genpolicy differ."""
    inputs = read_inputs(options.paths)
    workload, toml, output, findings = _sealed(options, inputs)
    with engine(options.genpolicy, options.genpolicy_timeout) as (run, wrong):
        findings += wrong
        if workload is None or run is None or has_errors(findings):
            return complain(findings, options.format, options.report)
        try:
            native = decode_toml(toml)
            rego = native.data.get(POLICY, "")
            profile = profile_of_data(describe(rego))
        except ValueError as problem:
            return complain((*findings, unreadable(workload, problem)), options.format, options.report)
        references = References(output.values)
        settings = settings_text(_settings(options, inputs), profile)
        answer = run(task(workload, references, rules_of(rego), settings))
    made, problems = read_answer(answer, workload, references)
    findings += problems
    if made is not None:
        try:
            # the other files of the initdata are the configuration's, whoever makes the policy
            compared = compare(made._replace(data={**native.data, POLICY: made.data[POLICY]}), native)
        except ValueError as problem:
            return complain((*findings, unreadable(workload, problem)), options.format, options.report)
        lines = [Compared(workload.ref, compared)] if compared else []
        text = policy_diff_json(lines) if options.output == "json" else HEAD + policy_diff_text(lines)
        write_out(text.encode("utf-8"))
    return complain(findings, options.format, options.report)


def _sealed(options: Namespace, inputs: Inputs) -> tuple[Workload | None, bytes, Output, tuple[Finding, ...]]:
    """The workload that is meant, its initdata, and all that was read or rendered."""
    if options.config or any(is_config(one.api_version) for one in inputs.resources):
        rendered = rendered_inputs(options, inputs)
        findings = rendered.findings
        kept = [
            text
            for text, resource in zip(rendered.texts, inputs.resources, strict=True)
            if text is not None and resource.may_be(LOOKED_AT)
        ]
        output = of_documents([parse(text).value for text in kept]) if not rendered.failed else Output()
    else:
        output = output_of(inputs)
        findings = output.findings
    if has_errors(findings):
        return None, b"", output, findings
    meant = find(options.workload, [one.ref for one in output.workloads])
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


def _settings(options: Namespace, inputs: Inputs) -> Mapping[str, Any] | None:
    """The settings that the render had, None for our own: rendered output does not say which they were."""
    documents, _ = from_files_and_resources(options.config, inputs.resources)
    config, _ = collect(documents)
    return (config.generate.policy.settings or config.release.policy_settings) if config else None


def _form(toml: bytes, form: str) -> bytes:
    """The bytes of one form. Raises ValueError for initdata that does not hold it."""
    if form == "initdata":
        return toml
    initdata = decode_toml(toml)
    if form == "digest":
        return f"{digest(toml, initdata.algorithm)}\n".encode()
    if form == "host-data":
        hashed = digest(toml, initdata.algorithm)
        return "".join(f"{tee} {host_data(hashed, tee).hex()}\n" for tee in ("snp", "tdx")).encode()
    rego = initdata.data.get(POLICY)
    if rego is None:
        raise ValueError(f"its data has no {POLICY}")
    if form == "rego":
        return rego.encode()
    try:
        return f"{json.dumps(describe(rego), indent=2, ensure_ascii=False)}\n".encode()
    except RecursionError:
        raise ValueError("policy_data is nested too deeply") from None
