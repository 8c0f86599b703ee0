"""`contrast-krm` and `contrast-krm fn`: the KRM function of kustomize and kpt.

Rule of this file: on success the ResourceList with edits spliced in; on an error the items as they came, with results,
and exit code 1 or 2, because only the exit code fails a build (krm.md 0.2).
"""

import sys
from collections.abc import Sequence

from krm_function.api import ConfigDocument, collect, from_config_map, is_config
from krm_function.cli.configuration import from_files, from_resources
from krm_function.cli.exits import USAGE
from krm_function.cli.say import complain, write_out
from krm_function.findings import Finding, finding
from krm_function.hosts.resource_list import NotAResourceList, decode_list, encode_failure, encode_list
from krm_function.model.located import yaml_finding
from krm_function.pipeline import render
from krm_function.report.krm import krm_results
from krm_function.yamltext import YamlError

ON_A_TERMINAL = """contrast-krm reads a ResourceList on standard input. Try:
  contrast-krm --help
  kustomize build --enable-alpha-plugins --enable-exec DIR
  contrast-krm generate DIR --config release.yaml
"""


def run_function(config_files: Sequence[str] = (), form: str = "text", report: str = "") -> int:
    """Standard input to standard output as a KRM function."""
    if sys.stdin.isatty():
        sys.stderr.write(ON_A_TERMINAL)
        return USAGE
    data = sys.stdin.buffer.read()
    try:
        decoded = decode_list(data)
    except NotAResourceList as problem:
        write_out(data)  # a pipe without pipefail must not lose what it carries
        return complain([finding("CC0108", problem=str(problem))], form, report)
    except YamlError as problem:
        write_out(data)
        return complain([yaml_finding(problem, "")], form, report)
    documents, findings = from_resources(decoded.resources)
    if config_files:
        named, problems = from_files(config_files)
        documents, findings = documents + named, findings + problems
    if decoded.function_config is not None:
        documents, more = _with_function_config(documents, decoded.function_config)
        findings += more
    config, problems = collect(documents)
    rendered = render(decoded.resources, config, findings + problems)
    if rendered.failed:
        write_out(encode_failure(decoded, krm_results(rendered.findings)))
        return complain(rendered.findings, form, report)
    write_out(encode_list(decoded, rendered.texts, rendered.added, krm_results(rendered.findings)))
    return complain(rendered.findings, form, report)


def _with_function_config(
    documents: list[ConfigDocument], function_config: ConfigDocument
) -> tuple[list[ConfigDocument], tuple[Finding, ...]]:
    """The functionConfig is one more document, unless kustomize also handed it over as an item (krm.md 2.5)."""
    value = function_config.value if isinstance(function_config.value, dict) else {}
    if is_config(str(value.get("apiVersion", ""))):
        name = (value.get("metadata") or {}).get("name")
        others = [one for one in documents if not _same(one, value.get("kind"), name)]
        return [*others, function_config], ()
    if value.get("kind") == "ConfigMap":
        made, findings = from_config_map(function_config)
        return ([*documents, made] if made is not None else documents), findings
    if not value.get("kind"):
        return documents, ()
    return documents, (finding("CC0908", kind=value.get("kind")),)


def _same(document: ConfigDocument, kind: object, name: object) -> bool:
    value = document.value if isinstance(document.value, dict) else {}
    return value.get("kind") == kind and (value.get("metadata") or {}).get("name") == name


