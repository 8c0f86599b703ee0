"""Run a function: bytes in, bytes out, results on stderr, an exit code that orchestrators understand."""

import gc
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from types import CodeType
from typing import BinaryIO, TextIO

from krm_function.krm.resource_list import ResourceList
from krm_function.krm.result import FunctionError, MisuseError, one_line
from krm_function.krm.results import Results
from krm_function.text.errors import YamlError

# --- One line about an exception that is a bug of the function: where it was raised, and the safe part of its message
#
# Rule: no value of the input is shown. The message of an exception may quote a Secret, so it is left out, except for a
# MisuseError. The names of a missing attribute and a missing key are shown if the code that used them contains them.


_HELPERS = ("krm_function.", "yaml.")  # and the modules that they load


def bug(error: BaseException) -> str:
    """Return the kind of a bug and the last line of the function's own code in it.

    Lines of these helpers and of the standard library are not the author's; without another one, a MisuseError names
    the object in place of a line.
    """
    where, code = _find_place(error)
    explained = f": {error}" if isinstance(error, MisuseError) else _name_missing(error, code)
    return f"bug of the function: {type(error).__name__}{where}{explained}"


def _find_place(error: BaseException) -> tuple[str, CodeType | None]:
    """Return ` in FILE:LINE` of the author's innermost line, and its code; without one, of the helpers' line."""
    where, author_code = "", None
    inside = ""
    trace = error.__traceback__
    while trace is not None:
        code, module = trace.tb_frame.f_code, str(trace.tb_frame.f_globals.get("__name__"))
        inside = f" in {code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}"
        if not module.startswith(_HELPERS) and not _is_standard(code.co_filename):
            where, author_code = inside, code
        trace = trace.tb_next
    return where or ("" if isinstance(error, MisuseError) else inside), author_code


def _is_standard(file: str) -> bool:
    return file.startswith("<frozen ") or (file.startswith(_LIBRARY) and "-packages/" not in file)


_LIBRARY = f"{(sys.modules['os'].__file__ or '').rpartition('/')[0]}/"


def _name_missing(error: BaseException, code: CodeType | None) -> str:
    """Return `: no attribute spec in KubeObject`, `: no key limits`, or "" for a name that may come from the input."""
    if code is None:
        return ""
    if isinstance(error, AttributeError) and error.name in code.co_names:
        return f": {type(error.obj).__name__} has no attribute {error.name}"
    if isinstance(error, KeyError) and error.args and isinstance(error.args[0], str):
        key = error.args[0]
        return f": there is no key {key}" if key in code.co_consts else ""
    return ""


# --- Run a function: bytes in, bytes out, results on stderr, an exit code that orchestrators understand
#
# Rule: all or nothing. An empty stdout with exit 0 makes kustomize and kpt delete everything
# (docs/facts/krm-functions.md#process). So the whole output exists before its first byte is written, and a failure
# answers with the input and the results.


Function = Callable[[ResourceList], bool | None]
DEBUG = "KRM_FUNCTION_DEBUG"  # set: print the traceback of the error, which may quote values of the input


def run(fn: Function, data: bytes) -> tuple[bytes, Results]:
    """Run `fn` over the bytes of one ResourceList; return the bytes to print, and the results.

    `fn` edits the list in place. It fails by an error result, by returning False, or by raising; the output is then the
    input with the results, and for bytes that are no ResourceList the very same bytes. An exception other than
    FunctionError and YamlError is a bug of `fn`: `Results.bug` is set. `run` itself never raises for any input;
    what was raised is `Results.cause`.
    """
    results = Results()
    resources: ResourceList | None = None
    try:
        resources = ResourceList.parse(data)
        results = resources.results
        if fn(resources) is False and not results.failed:
            results.error("the function reports a failure")
        if not results.failed:
            return resources.to_bytes(), results
    except YamlError as error:
        results.error(str(error))
        results.bug = error.code == "splice"
        results.cause = error
    except FunctionError as error:
        results.append(error.result)
        results.cause = error
    except (Exception, SystemExit) as error:  # noqa: BLE001
        results.error(bug(error))  # SystemExit: a sys.exit(0) with nothing printed would delete everything
        results.bug = True
        results.cause = error
    if resources is None:
        return data, results
    try:
        return resources.failed_bytes(results), results
    except Exception as error:  # noqa: BLE001
        results.error(f"the results cannot be written: {type(error).__name__}")
        results.bug = True
        return data, results


def execute(fn: Function, reader: BinaryIO, writer: BinaryIO) -> Results:
    """Read everything from `reader`, run `fn`, write everything to `writer`."""
    output, results = run(fn, reader.read())
    writer.write(output)
    writer.flush()
    return results


def as_main(fn: Function) -> int:
    """Run `fn` as a process: stdin to stdout, results to stderr. `sys.exit(as_main(fn))`.

    Returns the exit code: 0, 1 for a failure, 70 for a bug. What `fn` prints goes to stderr, stdout is the output.
    With `--help` as only argument it prints the docstring of `fn` (`kpt fn doc`).
    """
    if sys.argv[1:] == ["--help"]:
        print((fn.__doc__ or "a KRM function: ResourceList on stdin, ResourceList on stdout").strip())
        return 0
    stdout, sys.stdout = sys.stdout, sys.stderr
    collecting = gc.isenabled()
    gc.disable()  # a third of the time for a large list, and the process ends before collection pays off
    try:
        results = execute(fn, sys.stdin.buffer, stdout.buffer)
    except (OSError, AttributeError) as error:  # AttributeError: a closed stdin or stdout is None
        print(f"[error] {one_line(getattr(error, 'strerror', '') or 'stdin or stdout is closed')}", file=sys.stderr)
        _discard(stdout)
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        sys.stdout = stdout
        if collecting:
            gc.enable()
    if results.cause is not None and os.environ.get(DEBUG):
        from traceback import print_exception

        print_exception(results.cause)
    for line in results.lines(infos=results.failed):
        print(line, file=sys.stderr)
    return results.exit_code


def _discard(stdout: TextIO) -> None:
    """Drop unwritten output, else the interpreter tries again at exit and prints a traceback."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stdout.fileno())
