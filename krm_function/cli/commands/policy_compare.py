"""`contrast-krm policy compare`: the policy of one pod beside the one that genpolicy makes of it, field by field.

Rule of this file: both get the same rules and settings, so that each difference is one of the two generators.
"""

from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from krm_function.cli.configuration import from_files_and_resources
from krm_function.cli.inputs import Inputs, read_inputs
from krm_function.cli.messages import print_findings
from krm_function.cli.parser import (
    Parser,
    add_config,
    add_findings,
    add_genpolicy,
    add_namespace,
    add_output_format,
    add_paths,
    add_workload,
)
from krm_function.cli.sealed_policies import sealed_workload
from krm_function.cli.streams import write_out
from krm_function.config.collect import collect
from krm_function.config.references import References
from krm_function.findings import finding, has_errors
from krm_function.policy.compare import WorkloadDifferences, compare_initdata
from krm_function.policy.genpolicy import genpolicy_input, read_result, settings_text
from krm_function.policy.initdata import POLICY, decode_toml, read_policy_data, rules_of, unreadable
from krm_function.policy.open_variables import open_variables
from krm_function.policy.rules import profile_of_data
from krm_function.report.policy_text import policy_diff_json, policy_diff_text

DESCRIPTION = "Both get the same rules and settings. genpolicy pulls the pod's images."
HEAD = "the native policy against genpolicy's; weaker: the native one allows more\n"


def add_arguments(parser: Parser) -> None:
    """Add output, genpolicy, the workload, inputs, findings."""
    add_output_format(parser)
    add_genpolicy(parser, required=True)
    add_workload(parser)
    add_paths(parser)
    add_config(parser, variable=False)
    add_namespace(parser)
    add_findings(parser)


def run(options: Namespace) -> int:
    """Print where the native policy of one workload and that of genpolicy differ."""
    from krm_function.cli.genpolicy_program import engine

    inputs = read_inputs(options.paths)
    workload, toml, output, findings = sealed_workload(options, inputs)
    with engine(options.genpolicy, options.genpolicy_timeout) as (run, engine_findings):
        findings += engine_findings
        if workload is None or run is None or has_errors(findings):
            return print_findings(findings, options.format, options.report)
        try:
            native = decode_toml(toml)
            rego = native.data.get(POLICY, "")
            data = read_policy_data(rego)
            profile = profile_of_data(data)
        except ValueError as problem:
            return print_findings((*findings, unreadable(workload, problem)), options.format, options.report)
        references = References(output.values)
        opened = open_variables(data, workload, references)
        if opened:
            names = ", ".join(one.name for one in opened)
            findings += (finding("CC0614.open", workload.ref, workload.spec_path, variables=names),)
            return print_findings(findings, options.format, options.report)
        settings = settings_text(_settings(options, inputs), profile)
        answer = run(genpolicy_input(workload, references, rules_of(rego), settings))
    answered, problems = read_result(answer, workload, references)
    findings += problems
    if answered is not None:
        try:
            # the other files of the initdata are the configuration's, whichever generator makes the policy
            compared = compare_initdata(
                answered._replace(data={**native.data, POLICY: answered.data[POLICY]}), native, foreign=True
            )
        except ValueError as problem:
            return print_findings((*findings, unreadable(workload, problem)), options.format, options.report)
        lines = [WorkloadDifferences(workload.ref, compared)] if compared else []
        text = policy_diff_json(lines) if options.output == "json" else HEAD + policy_diff_text(lines)
        write_out(text.encode("utf-8"))
    return print_findings(findings, options.format, options.report)


def _settings(options: Namespace, inputs: Inputs) -> Mapping[str, Any] | None:
    """Return the settings that the render had, None for the built-in ones; rendered output does not say which."""
    documents, _ = from_files_and_resources(options.config, inputs.resources, options.config_from)
    config, _ = collect(documents)
    return (config.generate.policy.settings or config.release.policy_settings) if config else None
