"""`contrast-krm init [DIR]`: the function in kustomization.yaml or Kptfile, and files to fill in.

For Helm and for plain files: only the files to fill in.

Rule of this file: everything is known before anything is written, and a second run changes nothing.
"""

import os
from argparse import Namespace
from collections.abc import Iterator, Mapping
from difflib import unified_diff

from krm_function.cli.messages import print_findings
from krm_function.cli.new_files import OperatorChoices, find_target, operator_values, wiring, write_all
from krm_function.cli.next_steps import steps
from krm_function.cli.parser import Parser, add_findings
from krm_function.cli.streams import write_out
from krm_function.config.document import CONFIG_KINDS
from krm_function.config.json_schema import SUFFIX, schema_file
from krm_function.config.wiring import Function
from krm_function.contrast.platforms import PLATFORMS, find_platform
from krm_function.findings import finding, has_errors
from krm_function.hosts.files import FileProblem, read_file
from krm_function.hosts.write_files import in_turn, sweep
from krm_function.kubernetes.image import parse_image
from krm_function.kubernetes.resource import yaml_finding
from krm_function.report.findings import on_one_line
from krm_function.schema.check import nearest
from krm_function.text.errors import YamlError

DESCRIPTION = "Adds what is missing and keeps the rest, comments included. A second run changes nothing."


def add_arguments(parser: Parser) -> None:
    """Add the directory, the orchestrator, the platform, findings."""
    parser.add_argument(
        "directory",
        metavar="DIR",
        nargs="?",
        default=".",
        help="the outermost overlay, the package, or a directory for the configuration; made if need be",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--kustomize", action="store_true", help="kustomization.yaml, created if there is none")
    which.add_argument("--kpt", action="store_true", help="Kptfile, created if there is none")
    which.add_argument(
        "--helm",
        metavar="CHART",
        default="",
        help="directory of a chart; DIR is for the configuration",
    )
    which.add_argument(
        "--files",
        metavar="RESOURCES",
        nargs="?",
        const="",
        help="plain files that `generate` renders: their directory (default: DIR); DIR is for the configuration",
    )
    parser.add_argument(
        "--function",
        choices=("exec", "container", "legacy"),
        help="how kustomize runs it: exec (default) needs --enable-exec; an image and a legacy plugin do not",
    )
    parser.add_argument("--image", metavar="IMAGE", default="", help="the image of --function container")
    parser.add_argument(
        "--platform", metavar="PLATFORM", default="", help="platform of the bare placeholder contrast-cc"
    )
    parser.add_argument(
        "--minimum-tcb",
        metavar="VERSIONS",
        default="",
        help="for SNP, the firmware versions to accept at least: "
        "BootloaderVersion=B,TEEVersion=T,SNPVersion=S,MicrocodeVersion=M",
    )
    parser.add_argument("--mr-seam", metavar="HEX", default="", help="for TDX, the measurement of the module to accept")
    parser.add_argument(
        "--require-all",
        action="store_true",
        help="write `workloads: required` into an existing file, as into a new one: every pod is confidential, or "
        "named as plain with a reason",
    )
    parser.add_argument("--dry-run", action="store_true", help="write nothing; print what would change as a diff")
    add_findings(parser)


def run(options: Namespace) -> int:
    """Wire a directory. Raises FileProblem."""
    with in_turn(os.path.join(options.directory, "")):
        return _run_in_turn(options)


def _run_in_turn(options: Namespace) -> int:
    directory = options.directory
    if os.path.lexists(directory) and not os.path.isdir(directory):
        raise FileProblem(directory, "not a directory")
    function = _choose_function(options)
    platform = find_platform(options.platform)
    values, findings = operator_values(options.minimum_tcb, options.mr_seam)
    if options.platform and platform is None:
        near = nearest(options.platform, PLATFORMS) or ", ".join(PLATFORMS)
        findings.append(finding("CC0909.platform", option="--platform", platform=options.platform, known=near))
    target, problems = find_target(directory, options)
    findings += problems
    if target and function and target.host != "kustomize":
        options.parser.error("--function is for a kustomization")
    if target is None or has_errors(findings):
        return print_findings(findings, options.format, options.report)
    try:
        choices = OperatorChoices(platform.name if platform else "", values, options.require_all, function)
        wired = wiring(directory, target, choices)
    except YamlError as problem:
        findings.append(yaml_finding(problem, os.path.join(directory, target.name)))
        return print_findings(findings, options.format, options.report)
    findings += wired.findings
    if has_errors(findings):
        return print_findings(findings, options.format, options.report)
    lines = [f"{'would be ' if options.dry_run else ''}{line}" for line in wired.changes] or ["nothing to do"]
    text = "".join(f"{on_one_line(line)}\n" for line in [*lines, *steps(wired.state)])
    if options.dry_run:
        write_out("".join(_make_diff(wired.files)).encode())
    else:
        names = os.listdir(directory) if os.path.isdir(directory) else []
        sweep(os.path.join(directory, name) for name in (*names, *map(schema_file, CONFIG_KINDS)))
        write_all(wired.files, "" if os.path.isdir(directory) else directory.rstrip("/"), wired.old)
    return print_findings(findings, options.format, options.report, text)


def _choose_function(options: Namespace) -> Function | None:
    """Return what kustomize has to run, None if the command line leaves it open. Raises Exit for an invalid image."""
    if bool(options.image) != (options.function == "container"):
        options.parser.error("--function container needs --image IMAGE, and no other form has one")
    problem = parse_image(options.image) if options.image else ""
    if isinstance(problem, str) and problem:
        options.parser.error(f"--image: {problem}")
    return Function(options.function, options.image) if options.function else None


def _make_diff(files: Mapping[str, bytes]) -> Iterator[str]:
    for path, data in files.items():
        exists = os.path.exists(path)
        present = read_file(path, os.path.dirname(path) or ".") if exists else b""
        old, new = (text.decode("utf-8", "replace").splitlines(keepends=True) for text in (present, data))
        if not path.endswith(SUFFIX):
            for line in unified_diff(old, new, path if exists else os.devnull, path):
                yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
