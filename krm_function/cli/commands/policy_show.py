"""`contrast-krm policy show`: the sealed policy of one pod, in one of several formats.

Rule of this file: standard output is the policy's own bytes, as the annotation has them.
"""

import json
from argparse import Namespace

from krm_function.cli.inputs import read_inputs
from krm_function.cli.messages import print_findings
from krm_function.cli.parser import Parser, add_findings, add_paths, add_render, add_workload
from krm_function.cli.sealed_policies import sealed_workload
from krm_function.cli.streams import write_out
from krm_function.findings import has_errors
from krm_function.policy.initdata import POLICY, decode_toml, digest, host_data, read_policy_data, unreadable

DESCRIPTION = "Reads rendered output; with a configuration it renders the input first."


def add_arguments(parser: Parser) -> None:
    """Add the format, the workload, inputs, findings."""
    parser.add_argument(
        "-o",
        "--output",
        choices=("rego", "data", "initdata", "digest", "host-data"),
        default="rego",
        help="the policy document, its data as JSON, the initdata TOML, its digest as the manifest names it, or that "
        "digest as SNP and TDX report it (default: rego)",
    )
    add_workload(parser)
    add_paths(parser)
    add_render(parser, variable=False)
    add_findings(parser)


def run(options: Namespace) -> int:
    """Print the policy of one workload in one of several formats."""
    inputs = read_inputs(options.paths)
    workload, toml, _, findings = sealed_workload(options, inputs)
    if workload is None or has_errors(findings):
        return print_findings(findings, options.format, options.report)
    try:
        write_out(_form(toml, options.output))
    except ValueError as problem:
        findings = (*findings, unreadable(workload, problem))
    return print_findings(findings, options.format, options.report)


def _form(toml: bytes, form: str) -> bytes:
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
        return f"{json.dumps(read_policy_data(rego), indent=2, ensure_ascii=False)}\n".encode()
    except RecursionError:
        raise ValueError("policy_data is nested too deeply") from None
