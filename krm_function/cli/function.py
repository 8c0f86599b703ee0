"""The KRM function of kustomize and kpt: a ResourceList in, the rendered one out, or checked."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from krm_function.cli.configuration import from_files, from_resources, overridden, selects_nothing
from krm_function.cli.exits import USAGE
from krm_function.cli.messages import TEXT, Form, print_findings
from krm_function.cli.streams import read_in, write_out, write_pieces
from krm_function.config.collect import NO_RELEASE, collect, options_in
from krm_function.config.document import CONFIG_KINDS, ConfigDocument, is_config
from krm_function.findings import Finding, finding, has_errors
from krm_function.hosts.files import blank
from krm_function.hosts.functions import called_by_kpt, cut_list, encode_failure, list_pieces
from krm_function.hosts.pass_through import LARGEST, is_unrelated
from krm_function.krm.result import NotAResourceListError
from krm_function.kubernetes.objects import reference
from krm_function.kubernetes.resource import Resource, yaml_finding
from krm_function.report.findings import krm_results
from krm_function.text.errors import YamlError, decode, encode

if TYPE_CHECKING:
    from krm_function.check.check_output import Verdict


# --- `mode: check` of a function: verify rendered resources, as the command `check` does
#
# Rule: nothing changes here; the caller passes the resources on.


def wants_check(options: ConfigDocument) -> bool:
    """Tell whether a function's own configuration asks for a check instead of a render."""
    return options_in(options).get("mode") == "check"


def check_resources(
    resources: Sequence[Resource],
    documents: Sequence[ConfigDocument],
    options: ConfigDocument,
    namespace: str | None = None,
    *,
    strict: bool = False,
) -> "Verdict":
    """Check resources, and report problems of the configuration.

    documents: the whole configuration with the options. namespace, strict: of the command line, as for `run_function`.

    The resources are rendered again if the render's options are known: among the items, as in kpt, or beside
    `mode: check` in the function's own configuration.
    """
    from krm_function.check.check_output import Verdict, check_output

    alone = options_in(options).keys() == {"mode"}
    config, unmet = collect(documents, "render" if alone else "check")
    specs = [options_in(document) for document in documents]
    if alone and not any(spec and spec.get("mode") != "check" for spec in specs):
        config = None
    problems = tuple(problem for problem in unmet if problem.code != NO_RELEASE)
    if has_errors(problems):
        return Verdict(problems)
    verdict = check_output(resources, None, overridden(config, namespace, strict=strict), as_function=True)
    return verdict._replace(findings=(*problems, *verdict.findings))


def print_verdict(
    verdict: "Verdict",
    earlier: tuple[Finding, ...] = (),
    form: Form = TEXT,
    report: str = "",
    *,
    in_results: bool = False,
) -> int:
    """Print a verdict after the `earlier` findings, and return the exit code. in_results: as for `print_findings`.

    A function prints a summary only if a workload is wrong, if there are none, or if something was not checked.
    """
    from krm_function.check.check_output import list_beside_summary

    all_findings = (*earlier, *verdict.findings)
    findings = list_beside_summary(all_findings, form.name)
    complete = verdict.workloads and len(findings) == len(all_findings)
    summary = "" if complete or has_errors(findings) else verdict.summary
    return print_findings(findings, form, report, summary, in_results=in_results)


# --- The KRM function of kustomize and kpt: a ResourceList in, the rendered ResourceList out
#
# Rule: on success it prints the ResourceList with edits spliced in; on an error the unchanged items with results, and
# exit code 1 or 2, because only the exit code fails a build (docs/facts/krm-functions.md#results). `mode: check` never
# changes the items: kustomize's own validators cannot succeed, so a check is a transformer there
# (docs/facts/kustomize.md#validators). kpt shows the results, so standard error does not repeat them; kustomize shows
# standard error only.


ON_A_TERMINAL = """contrast-krm reads a ResourceList on standard input. Try:
  contrast-krm --help
  kustomize build --enable-alpha-plugins --enable-exec DIR
  contrast-krm generate DIR --config release.yaml
"""


def run_function(
    config_files: Sequence[str] = (),
    form: Form = TEXT,
    report: str = "",
    namespace: str | None = None,
    *,
    strict: bool = False,
) -> int:
    """Run as a KRM function, from standard input to standard output.

    namespace: from the command line, None without one. strict: a warning that is not acknowledged is an error.
    """
    if sys.stdin and sys.stdin.isatty():
        sys.stderr.write(ON_A_TERMINAL)
        return USAGE
    form = form._replace(in_pipe=True)
    data = read_in()
    if blank(data):
        write_out(data)
        return print_findings([finding("CC0109.resource-list")], form, report)
    try:
        source = decode(data)
    except YamlError as problem:
        write_out(data)  # a pipe without pipefail must not lose its content
        return print_findings([yaml_finding(problem, "")], form, report)
    del data  # from here on memory holds each part of the input once
    try:
        decoded = cut_list(source)
    except NotAResourceListError as problem:
        write_out(encode(*source))
        return print_findings([finding("CC0108.no-list", error=str(problem))], form, report)
    except YamlError as problem:
        write_out(encode(*source))
        return print_findings([yaml_finding(problem, "")], form, report)
    del source
    documents, findings = from_resources(decoded.resources)
    if config_files:
        from_options, problems = from_files(config_files)
        documents, findings = documents + from_options, findings + problems
    options, config_problems = _function_config(decoded.function_config)
    documents, findings = documents + options, findings + config_problems
    if options and wants_check(options[0]):
        verdict = check_resources(decoded.resources, documents, options[0], namespace, strict=strict)
        all_findings = (*findings, *verdict.findings)
        write_out(encode_failure(decoded, krm_results(all_findings)))
        in_results = _shows_results(decoded.resources, all_findings)
        return print_verdict(verdict, findings, form, report, in_results=in_results)
    config, problems = collect(documents)
    if selects_nothing(config, findings + problems) and _has_nothing_of_contrast(decoded.resources):
        write_pieces(list_pieces(decoded, [resource.text for resource in decoded.resources], (), ()))
        return print_findings((), form, report)
    from krm_function.render.pipeline import render

    config = overridden(config, namespace, strict=strict)
    rendered = render(decoded.resources, config, findings + problems)
    if rendered.failed:
        write_out(encode_failure(decoded, krm_results(rendered.findings)))
    else:
        write_pieces(list_pieces(decoded, rendered.texts, rendered.added, krm_results(rendered.findings)))
    in_results = _shows_results(decoded.resources, rendered.findings)
    return print_findings(rendered.findings, form, report, in_results=in_results)


def _has_nothing_of_contrast(resources: Sequence[Resource]) -> bool:
    """Tell whether all resources but the configuration are surely not Contrast's, so that no render is needed.

    No resource is parsed if one of them has the name, as a render parses them again.
    """
    if sum(len(resource.text) for resource in resources) >= LARGEST:
        return False
    texts = [resource.text for resource in resources if not (resource.certain and is_config(resource.api_version))]
    return not any("contrast" in text for text in texts) and all(is_unrelated(text, item=True) for text in texts)


def _shows_results(resources: Sequence[Resource], findings: Sequence[Finding]) -> bool:
    """Tell whether the caller shows the results, so that standard error need not repeat them."""
    return any(problem.severity != "info" for problem in findings) and called_by_kpt(resources)


def _function_config(document: ConfigDocument | None) -> tuple[list[ConfigDocument], tuple[Finding, ...]]:
    """Return the functionConfig if it is of a known kind. kpt sends an empty ConfigMap if there is none.

    Source: docs/facts/krm-functions.md#function-configuration.
    """
    if document is None or not document.value:
        return [], ()
    ref = reference(document.value)
    if ref.kind == "ConfigMap" or is_config(ref.api_version) or ref.kind in CONFIG_KINDS:
        return [document], ()
    return [], (finding("CC0908", ref if ref.name else None, ("kind",), line=document.line, kind=ref.kind or "(none)"),)
