"""Read standard input and write standard output, as bytes.

Rule of this file: each is read or written as a whole; and nothing is imported unless something goes wrong.
"""

from __future__ import annotations

import os
import sys

from krm_function.cli.exits import USAGE, Exit

TYPE_CHECKING = False  # importing typing takes longer than passing on a stream without Contrast
if TYPE_CHECKING:
    from collections.abc import Iterable


MOST = 1 << 28  # bytes of standard input, as for a file (hosts/files.py)


def read_in() -> bytes:
    """Read all of standard input. Raises FileProblem, and Exit if it is a terminal."""
    if not sys.stdin:
        raise _file_problem("standard input", "it is closed")
    if sys.stdin.isatty():
        from krm_function.cli.messages import print_findings
        from krm_function.findings import finding

        print_findings([finding("CC0909.terminal", option="standard input")])
        raise Exit(USAGE)
    try:
        data = sys.stdin.buffer.read(MOST + 1)
    except OSError as problem:  # it is a directory
        raise _file_problem("standard input", problem.strerror or "not readable") from problem
    if len(data) > MOST:
        raise _file_problem("standard input", f"it has more than {MOST >> 20} MiB")
    return data


def write_out(data: bytes) -> None:
    """Write all of standard output at once: a host must never see half of it. Raises FileProblem."""
    write_pieces((data,))


def write_pieces_first(pieces: Iterable[bytes], path: str) -> None:
    """Write standard output before the file at `path`, and raise FileProblem if its reader has gone."""
    try:
        write_pieces(pieces)
    except BrokenPipeError as problem:
        reason = f"its reader has closed it, so {path} was not written either"
        raise _file_problem("standard output", reason, writing=True) from problem


def write_pieces(pieces: Iterable[bytes]) -> None:
    """Write all of standard output, encoding while writing; nothing but the writing may fail here."""
    if not sys.stdout:  # the caller has closed it
        raise _file_problem("standard output", "it is closed", writing=True)
    try:
        sys.stdout.buffer.writelines(pieces)
    except OSError as problem:
        raise _make_write_error(problem) from problem
    except BaseException:
        _discard_buffer()
        raise
    flush()


def flush() -> None:
    """Write buffered output while a failure can still be reported. Raises FileProblem."""
    if sys.stdout:
        try:
            sys.stdout.flush()
        except OSError as problem:
            raise _make_write_error(problem) from problem
        except BaseException:  # a signal
            _discard_buffer()
            raise


def _make_write_error(problem: OSError) -> OSError:
    """Return the error to raise after standard output failed; a closed pipe stays BrokenPipeError, not a finding."""
    _discard_buffer()
    if isinstance(problem, BrokenPipeError):
        return problem
    return _file_problem("standard output", problem.strerror or "not writable", writing=True)


def _file_problem(name: str, reason: str, *, writing: bool = False) -> OSError:
    from krm_function.hosts.files import FileProblem

    return FileProblem(name, reason, writing=writing)


def _discard_buffer() -> None:
    """Discard buffered output: at exit the interpreter would write it, wait for a reader, or print an error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
