"""`contrast-krm`: one executable for several hosts.

Rule of this file: which host is calling is decided by the arguments and kustomize's own environment, never by a guess
about the input. Every call ends here: with the exit code of the command, or of the exception that ended it.

    arguments                      environment               is
    none, or `fn`                  any                       the KRM function
    `post-render` alone            any                       the Helm post-renderer, without configuration
    a file (and kustomize's args)  KUSTOMIZE_PLUGIN_CONFIG_* the legacy kustomize plugin
    a command                      any                       that command

Every render is a new process, so nothing is imported here before it is needed.
"""

import gc
import io
import os
import sys

from krm_function.cli.exits import (
    ENVIRONMENT,
    INTERNAL_ERROR,
    OK,
    Terminated,
    exit_code_of_exception,
    is_called_by_helm_4,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from krm_function.cli.messages import Form

ISSUES = "https://github.com/contrast-krm/contrast-krm/issues"
HOW = "Helm passes an option as --post-renderer-args --config --post-renderer-args FILE; --report lists all findings"
LEGACY_ENVIRONMENT = ("KUSTOMIZE_PLUGIN_CONFIG_STRING", "KUSTOMIZE_PLUGIN_CONFIG_ROOT")


def main() -> int:
    """Run the command line and return the exit code."""
    # a render is short and allocates trees: collection costs more than the work (docs/facts/python.md#start-up)
    gc.disable()
    if not sys.stderr:
        sys.stderr = io.StringIO()  # the caller has closed it
    if os.name == "nt":  # no fcntl, no signals of a terminal, other rules for paths
        sys.stderr.write("contrast-krm: Windows is not supported; nothing was written\n  hint: run it in WSL\n")
        return ENVIRONMENT
    arguments = sys.argv[1:]
    try:
        if arguments[:1] == ["post-render"] and is_called_by_helm_4():
            return _call_for_helm_4(arguments)
        return _guarded(arguments)
    finally:
        gc.freeze()  # the interpreter collects once more at exit, and would walk all objects of a render


def _call(arguments: list[str]) -> int:
    try:
        return _dispatch(arguments)
    except OSError as problem:
        return _print_file_problem(problem, None, "")


def _guarded(arguments: list[str]) -> int:
    try:
        return _call(arguments)
    except (Exception, KeyboardInterrupt) as problem:  # noqa: BLE001 (no traceback may reach a user)
        code = exit_code_of_exception(problem)
        if code == INTERNAL_ERROR:
            _print_internal_error(problem)
        elif isinstance(problem, ImportError):
            text, _, hint = str(problem).partition("\n")
            sys.stderr.write(f"contrast-krm: {text}; nothing was written\n{hint}\n")
        return code


def _call_for_helm_4(arguments: list[str]) -> int:
    """Run the post-renderer so that Helm 4 shows its first error, and return 0, since Helm must read the output.

    Helm 4 discards what its plugin writes to standard error. It shows the error of its YAML parser, which quotes a line
    that begins like a separator but is not one (docs/facts/helm.md#helm-4-stream). A render that fails has printed
    nothing, so such a line is the whole output: no reader accepts it.
    """
    stderr, sys.stderr = sys.stderr, io.StringIO()
    try:
        code = _guarded(arguments)
        text = sys.stderr.getvalue()
    finally:
        sys.stderr = stderr
    sys.stderr.write(text)
    if code == OK:
        return code
    from krm_function.cli.streams import write_out
    from krm_function.report.findings import on_one_line

    problem, *rest = text.splitlines() or ["error"]
    hint = next((line.strip() for line in rest[:1] if line.strip().startswith("hint:")), "")
    line = on_one_line(f"contrast-krm: {problem} ({hint}{'; ' if hint else ''}{HOW})")
    write_out(f"\n--- {line}\n".encode())  # Helm looks at separators only from the second document on
    return OK


def _dispatch(arguments: list[str]) -> int:
    if not arguments or arguments == ["fn"]:
        from krm_function.cli.function import run_function

        return run_function()
    if arguments == ["post-render"]:
        from krm_function.cli.unconfigured import run_unconfigured

        return run_unconfigured()
    if any(name in os.environ for name in LEGACY_ENVIRONMENT) and os.path.isfile(arguments[0]):
        from krm_function.cli.legacy import run_legacy

        return run_legacy(arguments[0], arguments[1:])
    from krm_function.cli.command_line import die, parse_arguments, terminable

    options = parse_arguments(arguments)
    try:
        with terminable():
            return _run(options)
    except Terminated as ended:
        die(ended.number)


def _run(options: "Namespace") -> int:
    form, report = getattr(options, "format", None), getattr(options, "report", "")
    try:
        code: int = options.run(options)
    except OSError as problem:
        return _print_file_problem(problem, form, report, options.parser.prog, getattr(options, "workload", ""))
    except ModuleNotFoundError as missing:
        return _print_missing_extra(missing, form, report, cluster=getattr(options, "cluster", False))
    return code


def _print_missing_extra(missing: ModuleNotFoundError, form: "Form | None", report: str, *, cluster: bool) -> int:
    """Print which extra a command needs. Raises the error again if no extra has the module."""
    from krm_function.cli.build import missing_extra
    from krm_function.cli.messages import TEXT, print_findings

    problem = missing_extra(missing, cluster=cluster)
    if problem is None:
        raise missing
    return print_findings([problem], form or TEXT, report)


def _print_file_problem(
    problem: OSError, form: "Form | None", report: str, command: str = "contrast-krm", workload: str = ""
) -> int:
    """Print which file cannot be read or written. Raises any other error of the system.

    command, workload: as for `empty_finding`.
    """
    from krm_function.cli.messages import TEXT, empty_finding, file_finding, print_findings
    from krm_function.hosts.files import EmptyProblem, FileProblem

    if isinstance(problem, EmptyProblem):
        return print_findings([empty_finding(problem, command, workload)], form or TEXT, report)
    if not isinstance(problem, FileProblem):
        raise problem
    return print_findings([file_finding(problem)], form or TEXT, "" if problem.path == report else report)


def _print_internal_error(problem: BaseException) -> None:
    """Print one line: the exception and its place, never its message, which may quote a value of the input."""
    if os.environ.get("CONTRAST_KRM_DEBUG"):
        import traceback

        traceback.print_exception(problem)
    frame = problem.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    where = f"{os.path.basename(frame.tb_frame.f_code.co_filename)}:{frame.tb_lineno}" if frame else "?"
    writer = sys.modules.get("krm_function.hosts.write_files")
    count = len(writer.PLACED) if writer else 0
    written = f"{count} {'file was' if count == 1 else 'files were'} written before" if count else "nothing was written"
    sys.stderr.write(
        f"contrast-krm: internal error: {type(problem).__name__} at {where}; {written}\n"
        f"  hint: this is a bug in contrast-krm; report it with the output of CONTRAST_KRM_DEBUG=1: {ISSUES}\n"
    )
