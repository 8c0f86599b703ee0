"""Findings on standard error and in the report file.

Rule of this file: standard output is data; everything said about it goes to standard error, once, and, because Helm 4
throws that away (krm.md 0.7), to the file that --report names. The exit code follows from the findings alone, so that
every host and verb agrees.

    an error of    CC09 (configuration)   CC10 (environment), CC125 (registries)   anything else   nothing
    exits with     2                      3                                        1               0
"""

import os
import sys
from collections.abc import Iterable

from krm_function.cli.exits import ENVIRONMENT, FINDINGS, OK, USAGE
from krm_function.findings import Finding, finding
from krm_function.hosts.files import EmptyProblem, FileProblem, write_file

FORMATS = ("text", "json", "github", "sarif")


def render(findings: Iterable[Finding], form: str, *, infos: bool = False) -> str:
    """Findings in one of FORMATS."""
    if form == "text":
        from krm_function.report.text import render_text

        return render_text(findings, infos=infos)
    if form == "sarif":
        from krm_function.report.sarif import render_sarif

        return render_sarif(findings, infos=infos)
    from krm_function.report.machine import render_github, render_json

    return render_json(findings) if form == "json" else render_github(findings, infos=infos)


def complain(
    findings: Iterable[Finding], form: str = "text", report: str = "", summary: str = "", *, asked: str = ""
) -> int:
    """Say the findings and answer with the exit code they ask for. summary: one closing line for people.

    asked: the code of an info that the call asked for; it is said in every form, other infos only to machines.
    """
    found = list(findings)
    heard = [one for one in found if one.severity != "info" or one.code == asked]
    text = render(found, form) if form == "json" else render(heard, form, infos=True)
    if form == "text":
        text += summary
    heard_of = _said(text)
    if report:
        complete = render(found, form, infos=True) + (summary if form == "text" else "")
        write_file(report, complete.encode("utf-8"))
    return exit_code(found) if heard_of else ENVIRONMENT


def _said(text: str) -> bool:
    """Print on standard error; False if that cannot be written, which there is nowhere to tell."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # or the interpreter tries again at its end
        return False
    return True


def file_finding(problem: FileProblem) -> Finding:
    """The finding of a file that cannot be read or written."""
    said = problem.problem[:1].lower() + problem.problem[1:]  # in the words of the system, in our tone
    return finding("CC1002" if problem.writing else "CC1001", file=problem.path, problem=said)


def empty_finding(problem: EmptyProblem, verb: str) -> Finding:
    """The finding of an input with nothing in it. verb: the command as it is called, such as `contrast-krm check`."""
    if problem.path:
        return finding("CC0109.file", file=problem.path, command=verb)
    return finding("CC0109.pipe", command=verb)


def exit_code(findings: Iterable[Finding]) -> int:
    """The exit code that the findings ask for; configuration first, because it explains the rest."""
    errors = [found.code for found in findings if found.severity == "error"]
    if any(code.startswith("CC09") for code in errors):
        return USAGE
    if any(code.startswith(("CC10", "CC125")) for code in errors):
        return ENVIRONMENT
    return FINDINGS if errors else OK
