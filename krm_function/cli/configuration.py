"""Read configuration: the functionConfig, items of the input, and files that the operator names."""

import os
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from krm_function.cli.messages import file_finding
from krm_function.config.collect import Config
from krm_function.config.document import CONFIG_KINDS, GROUP, ConfigDocument, config_reference, is_config
from krm_function.config.generate import KIND, OPTIONAL, parse_generate
from krm_function.contrast.class_in_text import may_hide_words
from krm_function.findings import Finding, finding, has_errors
from krm_function.hosts.files import FileProblem, find_files, read_file
from krm_function.kubernetes.objects import reference
from krm_function.kubernetes.pod_kinds import SHIPPED, Kinds
from krm_function.kubernetes.resource import Resource, yaml_finding
from krm_function.text.errors import YamlError
from krm_function.text.parse import locate, parse

if TYPE_CHECKING:
    from krm_function.cli.inputs import ReadFile


# --- Read configuration: the functionConfig, items of its API group in the input, and files that the operator names
#
# Rule: the only files to read are those that the operator names, on the command line or, for commands that people call,
# in the environment (cli/command_line.py). A configuration cannot name files.


def overridden(
    config: Config | None, namespace: str | None, *, strict: bool = False, hidden: bool = False
) -> Config | None:
    """Apply `--namespace` and `--warnings-as-errors` to a configuration. hidden: whether the host hides warnings."""
    if config is None or not (namespace or strict or hidden):
        return config
    generate = config.generate
    warnings = "error" if strict else generate.warnings
    generate = generate._replace(namespace=namespace or generate.namespace, warnings=warnings)
    return config._replace(generate=generate, hidden=hidden)


def selects_nothing(config: Config | None, findings: tuple[Finding, ...]) -> bool:
    """Tell whether a configuration has no errors, requires no confidential pod, and names nothing that must exist."""
    if config is None or has_errors(findings):
        return False
    return set(config.generate.workloads) == {OPTIONAL} and not config.generate.volumes.names_something


def from_files(
    paths: Sequence[str], variable: str = "", read: "ReadFile" = read_file
) -> tuple[list[ConfigDocument], tuple[Finding, ...]]:
    """Return the configuration documents of the files; other kinds in them are left for the render.

    variable: the environment variable that names the paths, for CC0911; "" for the command line. read: reads one file.
    Raises FileProblem.
    """
    from krm_function.hosts.stream import decode_stream

    documents: list[ConfigDocument] = []
    findings: list[Finding] = []
    if variable:
        findings.append(finding("CC0911", variable=variable, value=os.pathsep.join(paths)))
    try:
        files = find_files(paths)
    except FileProblem as problem:
        return [], (*findings, file_finding(problem))
    for file in files:
        try:
            in_file, problems = from_resources(decode_stream(read(file.path, file.root), file.path).resources)
        except FileProblem as problem:
            in_file, problems = [], (file_finding(problem),)
        except YamlError as problem:
            in_file, problems = [], (as_configuration(yaml_finding(problem, file.path)),)
        documents += in_file
        findings += problems
    return documents, tuple(findings)


def from_files_and_resources(
    paths: Sequence[str],
    resources: Iterable[Resource],
    variable: str = "",
    read: "ReadFile" = read_file,
) -> tuple[list[ConfigDocument], tuple[Finding, ...]]:
    """Return the configuration in the files that the operator names, then that in the input. As `from_files`."""
    documents, findings = from_files(paths, variable, read)
    from_input, problems = from_resources(resources)
    return documents + from_input, findings + problems


def _may_be_config(text: str) -> bool:
    """Tell whether a document of uncertain kind may be configuration. Checking the text takes a tenth of parsing it."""
    return any(word in text for word in (GROUP, *CONFIG_KINDS)) or may_hide_words(text)


def from_resources(resources: Iterable[Resource]) -> tuple[list[ConfigDocument], tuple[Finding, ...]]:
    """Return the configuration objects among the resources, parsed."""
    documents: list[ConfigDocument] = []
    findings: list[Finding] = []
    for resource in resources:
        in_header = is_config(resource.api_version) or resource.kind in CONFIG_KINDS
        if not in_header and (resource.certain or not _may_be_config(resource.text)):
            continue
        try:
            document = parse(resource.text, line=resource.line)
        except YamlError as problem:
            if in_header:  # the render reports a broken document of another kind
                findings.append(as_configuration(yaml_finding(problem, resource)))
            continue
        ref = reference(document.value)
        if not is_config(ref.api_version) and ref.kind not in CONFIG_KINDS:
            continue
        documents.append(ConfigDocument(document.value, resource.file, resource.line, partial(locate, document)))
    return documents, tuple(findings)


def as_configuration(problem: Finding) -> Finding:
    """Turn a YAML problem in a configuration file into a configuration error: the same message, exit code 2."""
    error = finding("CC0910", problem=problem.message, remedy=problem.hint)
    return error._replace(line=problem.line, column=problem.column, file=problem.file, origin=problem.origin)


# --- The kinds with pod templates that configuration files add, for commands that need nothing else from them
#
# Rule: only `spec.podTemplates` is read, so neither a release nor a lock is required.


def configured_kinds(paths: Sequence[str]) -> tuple[Kinds, tuple[Finding, ...]]:
    """Return the built-in kinds and those that these configuration files add, and findings about the files."""
    documents, findings = from_files(paths)
    kinds = SHIPPED
    for document in documents:
        if config_reference(document).kind == KIND:
            generate, problems = parse_generate(document)
            findings += problems
            kinds = generate.kinds if generate else kinds
    return kinds, findings
