"""`contrast-krm`: one executable, several hosts.

Rule of this file: which host is calling is decided by the arguments and kustomize's own environment, never by a guess
about the input; an unexpected exception ends here, in one line and exit code 70.

    arguments                      environment               is
    none, or `fn`                  any                       the KRM function
    `post-render` alone            any                       the Helm post-renderer, without configuration
    a file (and kustomize's args)  KUSTOMIZE_PLUGIN_CONFIG_* the legacy kustomize plugin
    a verb                         any                       that verb

Every render is a new process, so nothing is imported here before it is needed.
"""

import io
import os
import sys

from krm_function.cli.exits import BUG, ENVIRONMENT, Exit, Terminated

LEGACY_ENVIRONMENT = ("KUSTOMIZE_PLUGIN_CONFIG_STRING", "KUSTOMIZE_PLUGIN_CONFIG_ROOT")


def main() -> int:
    """Run the command line; the return value is the exit code."""
    import gc

    gc.disable()  # a render is short and allocates trees: collecting them would cost more than the work (libs.md 0)
    if not sys.stderr:
        sys.stderr = io.StringIO()  # the caller has closed it
    try:
        return _answer(sys.argv[1:])
    except BrokenPipeError:
        return ENVIRONMENT  # the reader has gone; nothing left to say
    except KeyboardInterrupt:
        return 130
    except Terminated as ended:
        from krm_function.cli.signals import die

        die(ended.number)
    except Exception as bug:  # noqa: BLE001 (no traceback may reach a user; this is the one place that sees all)
        return _bug(bug)
    finally:
        gc.freeze()  # the interpreter collects once more at its end, and would walk all that a render has made


def _answer(arguments: list[str]) -> int:
    try:
        return _dispatch(arguments)
    except Exit as done:
        return done.code
    except OSError as problem:
        return _file_problem(problem, "text", "")


def _dispatch(arguments: list[str]) -> int:
    if not arguments or arguments == ["fn"]:
        from krm_function.cli.fn import run_function

        return run_function()
    if arguments == ["post-render"]:
        from krm_function.cli.unconfigured import run_unconfigured

        return run_unconfigured()
    if any(name in os.environ for name in LEGACY_ENVIRONMENT) and os.path.isfile(arguments[0]):
        from krm_function.cli.legacy import run_legacy

        return run_legacy(arguments[0], arguments[1:])
    from krm_function.cli.arguments import parse
    from krm_function.cli.signals import terminable

    options = parse(arguments)
    with terminable():
        try:
            code: int = options.run(options)
        except OSError as problem:
            form, report = getattr(options, "format", "text"), getattr(options, "report", "")
            return _file_problem(problem, form, report, options.parser.prog)
        except ModuleNotFoundError as missing:
            return _missing_extra(missing, getattr(options, "format", "text"), getattr(options, "report", ""))
    return code


def _missing_extra(missing: ModuleNotFoundError, form: str, report: str) -> int:
    """Say which extra a command needs; any other missing module is not expected."""
    from krm_function.cli.extras import missing_extra
    from krm_function.cli.say import complain

    found = missing_extra(missing)
    if found is None:
        raise missing
    return complain([found], form, report)


def _file_problem(problem: OSError, form: str, report: str, verb: str = "contrast-krm") -> int:
    """Say which file is in the way; any other error of the system is not expected. verb: as it is called."""
    from krm_function.cli.say import complain, empty_finding, file_finding
    from krm_function.hosts.files import EmptyProblem, FileProblem

    if isinstance(problem, EmptyProblem):
        return complain([empty_finding(problem, verb)], form, report)
    if not isinstance(problem, FileProblem):
        raise problem
    return complain([file_finding(problem)], form, "" if problem.path == report else report)


def _bug(bug: Exception) -> int:
    if os.environ.get("CONTRAST_KRM_DEBUG"):
        import traceback

        traceback.print_exception(bug)
    frame = bug.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    where = f"{os.path.basename(frame.tb_frame.f_code.co_filename)}:{frame.tb_lineno}" if frame else "?"
    sys.stderr.write(
        f"contrast-krm: internal error: {type(bug).__name__} at {where}; nothing was written\n"
        "  hint: this is a bug of ours; report it with the output of CONTRAST_KRM_DEBUG=1\n"
    )
    return BUG
