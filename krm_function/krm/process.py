"""Run a function: bytes in, bytes out, results on stderr, an exit code that orchestrators understand.

Rule of this file: all or nothing. An empty stdout with exit 0 makes kustomize and kpt delete everything
(docs/facts/krm-functions.md#process). So the whole output exists before its first byte is written, and a failure
answers with the input and the results.
"""

import gc
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO, TextIO

from krm_function.krm.bug import bug
from krm_function.krm.errors import FunctionError
from krm_function.krm.resource_list import ResourceList
from krm_function.krm.result import one_line
from krm_function.krm.results import Results
from krm_function.yamltext import YamlError

Function = Callable[[ResourceList], bool | None]
DEBUG = "KRM_FUNCTION_DEBUG"  # set: the traceback of what stopped the function, which may quote values of the input


def run(fn: Function, data: bytes) -> tuple[bytes, Results]:
    """Run `fn` over the bytes of one ResourceList; return the bytes to print, and the results.

    `fn` edits the list in place. It fails by an error result, by returning False, or by raising; the output is then the
    input with the results, and for bytes that are no ResourceList the very same bytes. An exception other than
    FunctionError and YamlError is a bug of `fn`: `Results.bug` is set. `run` itself never raises for any input;
    what was raised is `Results.cause`.
    """
    results = Results()
    try:
        resources = ResourceList.parse(data)
    except (FunctionError, YamlError) as error:
        results.error(str(error))
        results.cause = error
        return data, results
    except Exception as error:  # noqa: BLE001
        results.error(bug(error))
        results.bug = True
        results.cause = error
        return data, results
    results = resources.results
    try:
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
    gc.disable()  # a third of the time of a large list, and the process ends before it would pay
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
    """Drop what could not be written, else the interpreter tries again at its end and prints a traceback."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stdout.fileno())
