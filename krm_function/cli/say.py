"""Findings on standard error and in the report file.

Rule of this file: standard output is data; everything said about it goes to standard error, once, and, because Helm 4
throws that away (krm.md 0.7), to the file that --report names.
"""

import sys
from collections.abc import Iterable

from krm_function.cli.exits import exit_code
from krm_function.findings import Finding, finding
from krm_function.hosts.files import FileProblem, write_file

FORMATS = ("text", "json", "github")


def render(findings: Iterable[Finding], form: str, *, infos: bool = False) -> str:
    """Findings in one of FORMATS."""
    if form == "text":
        from krm_function.report.text import render_text

        return render_text(findings, infos=infos)
    from krm_function.report.machine import render_github, render_json

    return render_json(findings) if form == "json" else render_github(findings)


def complain(findings: Iterable[Finding], form: str = "text", report: str = "", summary: str = "") -> int:
    """Say the findings and answer with the exit code they ask for. summary: one closing line for people."""
    found = list(findings)
    text = render(found, form)
    if form == "text":
        text += summary
    sys.stderr.write(text)
    if report:
        complete = render(found, form, infos=True) + (summary if form == "text" else "")
        write_file(report, complete.encode("utf-8"))
    return exit_code(found)


def file_finding(problem: FileProblem) -> Finding:
    """The finding of a file that cannot be read or written."""
    return finding("CC1002" if problem.writing else "CC1001", file=problem.path, problem=problem.problem)


def write_out(data: bytes) -> None:
    """All of standard output, in one go: a host must never see half of it."""
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
