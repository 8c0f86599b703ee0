"""Run a function: bytes in, bytes out, findings on stderr, an exit code that hosts believe.

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

from krm_function.krm.errors import FunctionError
from krm_function.krm.resource_list import ResourceList
from krm_function.krm.result import Results, one_line
from krm_function.yamltext import YamlError

Function = Callable[[ResourceList], bool | None]


def run(fn: Function, data: bytes) -> tuple[bytes, Results]:
    """Run `fn` over the bytes of one ResourceList; answer the bytes to print and what there is to say.

    `fn` edits the list in place. It fails by an error result, by returning False, or by raising; the output is then the
    input with the results, and for bytes that are no ResourceList the very same bytes. An exception other than
    FunctionError and YamlError is a bug of `fn`: `Results.bug` is set. `run` itself never raises for any input.
    """
    results = Results()
    try:
        resources = ResourceList.parse(data)
    except (FunctionError, YamlError) as error:
        results.errorf(str(error))
        return data, results
    except Exception as error:  # noqa: BLE001
        results.errorf(_bug(error))
        results.bug = True
        return data, results
    results = resources.results
    try:
        if fn(resources) is False and not results.failed:
            results.errorf("the function reports a failure")
        if not results.failed:
            return resources.to_bytes(), results
    except YamlError as error:
        results.errorf(str(error))
        results.bug = error.code == "splice"
    except FunctionError as error:
        results.errorf(str(error))
    except (Exception, SystemExit) as error:  # noqa: BLE001
        results.errorf(_bug(error))  # SystemExit: a sys.exit(0) with nothing printed would delete everything
        results.bug = True
    try:
        return resources.failed_bytes(results), results
    except Exception as error:  # noqa: BLE001
        results.errorf(f"the results cannot be written: {type(error).__name__}")
        results.bug = True
        return data, results


def execute(fn: Function, reader: BinaryIO, writer: BinaryIO) -> Results:
    """Read everything from `reader`, run `fn`, write everything to `writer`."""
    output, results = run(fn, reader.read())
    writer.write(output)
    writer.flush()
    return results


def as_main(fn: Function) -> int:
    """Be the process of the function: stdin to stdout, findings to stderr. `sys.exit(as_main(fn))`.

    Answers the exit code: 0, 1 for a failure, 70 for a bug. What `fn` prints goes to stderr, for stdout is the reply.
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
    for line in results.lines(infos=results.failed):
        print(line, file=sys.stderr)
    return results.exit_code


def _discard(stdout: TextIO) -> None:
    """Drop what could not be written, else the interpreter tries again at its end and prints a traceback."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stdout.fileno())


def _bug(error: BaseException) -> str:
    """Where a bug is and of which kind; not its message, which may quote a Secret of the input."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f" in {trace.tb_frame.f_code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}" if trace else ""
    return f"bug of the function: {type(error).__name__}{where}"
