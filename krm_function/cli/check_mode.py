"""`mode: check` of a function: verify resources that were rendered before, as the command `check` does.

Rule of this file: nothing is ever changed here; the caller passes the resources on.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from krm_function.api.collect_config import collect, options_in
from krm_function.api.document import ConfigDocument
from krm_function.cli.configuration import with_namespace
from krm_function.cli.messages import TEXT, Form, print_findings
from krm_function.findings import Finding, has_errors
from krm_function.model.resource import Resource
from krm_function.pipeline.prepare import NO_RELEASE

if TYPE_CHECKING:
    from krm_function.checking import Verdict


def wants_check(options: ConfigDocument) -> bool:
    """Tell whether a function's own configuration wants a check and no render."""
    return options_in(options).get("mode") == "check"


def check_resources(
    resources: Sequence[Resource],
    documents: Sequence[ConfigDocument],
    options: ConfigDocument,
    namespace: str | None = None,
) -> "Verdict":
    """Judge some resources, problems of the configuration included.

    documents: the whole configuration with the options. namespace: of the command line, if one is given.

    The resources are rendered again if the options of the render are known: among the items, as in kpt, or beside
    `mode: check` in the function's own configuration.
    """
    from krm_function.checking import Verdict, check_output

    alone = options_in(options).keys() == {"mode"}
    config, unmet = collect(documents, "render" if alone else "check")
    specs = [options_in(document) for document in documents]
    if alone and not any(spec and spec.get("mode") != "check" for spec in specs):
        config = None
    problems = tuple(found for found in unmet if found.code != NO_RELEASE)
    if has_errors(problems):
        return Verdict(problems)
    verdict = check_output(resources, None, with_namespace(config, namespace), as_function=True)
    return verdict._replace(findings=(*problems, *verdict.findings))


def print_verdict(
    verdict: "Verdict",
    before: tuple[Finding, ...] = (),
    form: Form = TEXT,
    report: str = "",
    *,
    in_results: bool = False,
) -> int:
    """Print a verdict after the findings `before`; the exit code. in_results: as of `print_findings`.

    A function prints no summary if all workloads are right; it prints one if there are none, or if something was not
    checked.
    """
    from krm_function.checking import beside_summary

    every = (*before, *verdict.findings)
    findings = beside_summary(every, form.name)
    complete = verdict.workloads and len(findings) == len(every)
    summary = "" if complete or has_errors(findings) else verdict.summary
    return print_findings(findings, form, report, summary, in_results=in_results)
