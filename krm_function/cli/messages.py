"""Print findings on standard error, and write them to the report file.

Rule of this file: standard output is data. Messages go to standard error, once, and, because Helm 4 hides that
(docs/facts/helm.md#helm-4-stream), to the file that --report names. The exit code follows from the findings (exits.py),
so that every host and command agrees. Only the text format has colours and depends on -v and -q: the formats for
machines, the report and the exit code do not.
"""

import os
import sys
from collections.abc import Iterable
from typing import Literal

from krm_function.cli.exits import exit_code
from krm_function.findings import Finding, documentation_of_all, finding
from krm_function.hosts.files import EmptyProblem, FileProblem
from krm_function.record import NamedTuple
from krm_function.report.findings import ansi, plain, render_github, render_json, render_sarif, render_text

EXPLAIN_THEMSELVES = ("CC0909", "CC10")  # mistakes of the command line; the system's messages about a file or a server

Shown = Literal["error", "warning", "info"]


class Form(NamedTuple):
    """How findings are printed: `name` is one of options.FORMATS, the rest is for the text format only.

    shown      option    prints
    error      -q        errors
    warning              errors, warnings, and the closing lines of the command
    info       -v        those, infos (what was done), and every place of a finding that many places share

    in_pipe: standard input comes from a program, so a user cannot look at a line of it. No format prints the line of a
    finding that names its object, and the text explains once how to identify the files.
    """

    name: str = "text"
    colour: bool = False
    shown: Shown = "warning"
    in_pipe: bool = False


TEXT = Form()
IN_PIPE = Form(in_pipe=True)
ORIGINS = "for the files: buildMetadata: [originAnnotations] in kustomization.yaml\n"
FROM_ENVIRONMENT = "CC0911"  # an info that every format prints: a setting in the environment must not act unseen


def print_findings(
    findings: Iterable[Finding],
    form: Form = TEXT,
    report: str = "",
    summary: str = "",
    *,
    shown_info: str = "",
    in_results: bool = False,
) -> int:
    """Print the findings, and return the exit code of a call that has these.

    report: a file that gets all of them too, "" for none. summary: closing lines in the text format. shown_info: the
    code of the infos that every format prints; others go to json, to the report, and to text with -v. in_results: the
    orchestrator shows the results of the ResourceList, so the text format prints only the summary. Raises FileProblem
    for a report that cannot be written.
    """
    all_findings = list(findings)
    if form.in_pipe:
        summary += _make_origins_hint(all_findings)
        all_findings = [
            item._replace(line=0, column=0) if _has_only_stream_line(item) else item for item in all_findings
        ]
    chosen = [item for item in all_findings if item.severity != "info" or item.code in (shown_info, FROM_ENVIRONMENT)]
    if form.name != "text":
        text = format_findings(all_findings if form.name == "json" else chosen, form.name, infos=True)
    elif in_results:
        text = summary
    else:
        text = _format_text(all_findings, chosen, summary, form)
    printed = _try_to_print(text)
    if report:
        from krm_function.hosts.write_files import write_file

        complete = format_findings(all_findings, form.name, infos=True)
        if form.name == "text":
            complete += _make_link_line(all_findings) + summary
        write_file(report, complete.encode("utf-8"))
    return exit_code(all_findings, printed=printed)


def format_findings(findings: Iterable[Finding], form: str, *, infos: bool = False) -> str:
    """Return findings as text in one of options.FORMATS. infos: include infos; json always has them."""
    if form == "text":
        return render_text(findings, infos=infos, whole=True)
    if form == "sarif":
        return render_sarif(findings, infos=infos)
    return render_json(findings) if form == "json" else render_github(findings, infos=infos)


def _format_text(all_findings: list[Finding], usual: list[Finding], summary: str, form: Form) -> str:
    """Return the text that a form shows. usual: the findings of form.shown "warning"."""
    behind = _make_link_line(usual) + summary
    whole = form.shown == "info"
    if form.shown == "error":
        usual, behind = [item for item in all_findings if item.severity == "error"], ""
    elif whole:
        usual = all_findings
    return render_text(usual, infos=True, whole=whole, paint=ansi if form.colour else plain) + behind


def _has_only_stream_line(problem: Finding) -> bool:
    """Tell whether a line of standard input is a finding's only position, although it names its object."""
    return bool(problem.ref and problem.line and not problem.file)


def _make_origins_hint(findings: Iterable[Finding]) -> str:
    lost = [problem for problem in findings if problem.severity != "info" and _has_only_stream_line(problem)]
    return "" if not lost or any(problem.origin for problem in lost) else ORIGINS


def _make_link_line(findings: Iterable[Finding]) -> str:
    raised = {problem.code for problem in findings if problem.severity != "info"}
    codes = sorted(code for code in raised if not code.startswith(EXPLAIN_THEMSELVES))
    return f"more: {documentation_of_all(codes)}\n" if codes else ""


def _try_to_print(text: str) -> bool:
    """Print to standard error; return False if that fails, which no message can report."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # or the interpreter tries again at its end
        return False
    return True


def file_finding(problem: FileProblem) -> Finding:
    """Return the finding of a file that cannot be read or written."""
    reason = problem.problem[:1].lower() + problem.problem[1:]  # the system's words, in lower case like all messages
    if problem.writing:
        return finding("CC1002.file", file=problem.path, error=reason)
    return finding("CC1001", file=problem.path, problem=reason)


def empty_finding(problem: EmptyProblem, command: str, workload: str = "") -> Finding:
    """Return the finding for an empty input.

    command: its name, such as `contrast-krm check`. workload: its argument WORKLOAD, perhaps meant as a file.
    """
    if problem.path:
        return finding("CC0109.file", file=problem.path, command=command)
    if workload and os.path.isfile(workload):
        return finding("CC0109.workload", command=command, text=workload)
    return finding("CC0109.pipe", command=command)
