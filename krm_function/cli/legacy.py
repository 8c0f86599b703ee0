"""The legacy kustomize plugin: the only way to run an executable through kubectl.

Source: docs/facts/kustomize.md#legacy-plugin.

Rule of this file: argument one is the configuration, standard input a stream of documents, standard output the same;
further arguments (`argsOneLiner`, `argsFromFile`) are `--config FILE`. kustomize hides the warnings of a plugin that
succeeds.
"""

from collections.abc import Sequence

from krm_function.cli.configuration import from_files_and_resources, overridden
from krm_function.cli.function import check_resources, print_verdict, wants_check
from krm_function.cli.messages import IN_PIPE, print_findings
from krm_function.cli.streams import read_in, write_out
from krm_function.config.collect import collect
from krm_function.findings import has_errors
from krm_function.hosts.stream import decode_stream, encode_stream
from krm_function.kubernetes.resource import yaml_finding
from krm_function.render.pipeline import render
from krm_function.text.errors import YamlError


def run_legacy(config_file: str, arguments: Sequence[str]) -> int:
    """Turn standard input into standard output as a legacy transformer."""
    config_files = [config_file, *_parse_config_files(arguments)]
    try:
        stream = decode_stream(read_in())
    except YamlError as problem:
        return print_findings([yaml_finding(problem, "")], IN_PIPE)
    documents, findings = from_files_and_resources(config_files, stream.resources)
    if documents and documents[0].file == config_file and wants_check(documents[0]):
        verdict = check_resources(stream.resources, documents, documents[0])
        if not has_errors((*findings, *verdict.findings)):
            write_out(encode_stream(stream, [resource.text for resource in stream.resources]))
        return print_verdict(verdict, findings, IN_PIPE)
    config, unmet = collect(documents)
    rendered = render(stream.resources, overridden(config, None, hidden=True), findings + unmet)
    if not rendered.failed:
        write_out(encode_stream(stream, rendered.texts, rendered.added))
    return print_findings(rendered.findings, IN_PIPE)


def _parse_config_files(arguments: Sequence[str]) -> list[str]:
    if not arguments:
        return []
    from krm_function.cli.parser import Parser

    parser = Parser(prog="contrast-krm", add_help=False)
    parser.add_argument("--config", action="append", default=[])
    files: list[str] = parser.parse_args(arguments).config
    return files
