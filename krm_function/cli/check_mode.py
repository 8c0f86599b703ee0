"""`mode: check` of a function: what there is to say of resources that were rendered before.

Rule of this file: the host decides what becomes of the answer; nothing is ever changed here.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from krm_function.api import ConfigDocument, collect, options_in
from krm_function.cli.messages import print_findings
from krm_function.findings import Finding, has_errors
from krm_function.model.resource import Resource
from krm_function.pipeline import NO_RELEASE

if TYPE_CHECKING:
    from krm_function.checking import Verdict


def asks_for_check(options: ConfigDocument) -> bool:
    """Whether a function's own configuration wants a check and no render."""
    return options_in(options).get("mode") == "check"


def checked(resources: Sequence[Resource], documents: Sequence[ConfigDocument], options: ConfigDocument) -> "Verdict":
    """The verdict, with what is wrong with the configuration. documents: all that there is of it, options included.

    It is rendered again where the render's options are known: they are among the items, as in kpt, or stand beside
    `mode: check` in the function's own configuration.
    """
    from krm_function.checking import Verdict, verdict

    alone = options_in(options).keys() == {"mode"}
    config, unmet = collect(documents, "render" if alone else "check")
    given = [options_in(document) for document in documents]
    if alone and not any(spec and spec.get("mode") != "check" for spec in given):
        config = None
    problems = tuple(found for found in unmet if found.code != NO_RELEASE)
    if has_errors(problems):
        return Verdict(problems)
    made = verdict(resources, None, config)
    return made._replace(findings=(*problems, *made.findings))


def say_checked(made: "Verdict", before: tuple[Finding, ...] = (), form: str = "text", report: str = "") -> int:
    """Print a verdict after the findings `before`; answers with the exit code.

    A function prints no summary of workloads that are as they should be; it does where there was none, or where
    something was not looked at.
    """
    from krm_function.checking import beside_summary

    every = (*before, *made.findings)
    findings = beside_summary(every, form)
    complete = made.workloads and len(findings) == len(every)
    return print_findings(findings, form, report, "" if complete or has_errors(findings) else made.summary)
