"""Findings on standard error and in the report file.

Rule of this file: standard output is data; everything said about it goes to standard error, once, and, because Helm 4
throws that away (krm.md 0.7), to the file that --report names.
"""

import os
import sys
from collections.abc import Iterable

from krm_function.cli.exits import USAGE, Exit, exit_code
from krm_function.findings import Finding, finding
from krm_function.hosts.files import FileProblem, write_file

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
    said = problem.problem[:1].lower() + problem.problem[1:]  # in the words of the system, in our tone
    return finding("CC1002" if problem.writing else "CC1001", file=problem.path, problem=said)


def write_out(data: bytes) -> None:
    """All of standard output, in one go: a host must never see half of it. Raises FileProblem."""
    if not sys.stdout:  # the caller has closed it
        raise FileProblem("standard output", "it is closed", writing=True)
    try:
        sys.stdout.buffer.write(data)
    except OSError as problem:
        raise _unwritable(problem) from problem
    flush()


def flush() -> None:
    """Print what is held back, here where it can still be told that it failed. Raises FileProblem."""
    if sys.stdout:
        try:
            sys.stdout.flush()
        except OSError as problem:
            raise _unwritable(problem) from problem


def _unwritable(problem: OSError) -> OSError:
    """What to raise after standard output failed; a reader that has gone is nobody's problem."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or the interpreter tries again at its end, and complains
    if isinstance(problem, BrokenPipeError):
        return problem
    return FileProblem("standard output", problem.strerror or "not writable", writing=True)


def read_in() -> bytes:
    """All of standard input. Raises FileProblem, and Exit when a person sits there and waits for us."""
    if not sys.stdin:
        raise FileProblem("standard input", "it is closed")
    if sys.stdin.isatty():
        option = "standard input"
        complain(
            [finding("CC0909", option=option, problem="it is a terminal", remedy="name files, or pipe the input in")]
        )
        raise Exit(USAGE)
    return sys.stdin.buffer.read()
