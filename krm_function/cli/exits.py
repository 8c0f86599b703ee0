"""Exit codes: which there are, and what decides between them.

    outcome                                                                         code
    standard error cannot be written                                                3   ENVIRONMENT
    an error finding CC09 (configuration)                                           2   USAGE
    an error finding CC10 (environment) or CC125 (registries), and none above       3   ENVIRONMENT
    any other error finding, and none above                                         1   FINDINGS
    an error in a call of our Helm 4 plugin without options (helm4_message.py)      0   OK; Helm stops at the output
    no error, but `--exit-code` is given and something differs                      1   FINDINGS
    nothing of that                                                                 0   OK

    arguments that cannot be parsed; nothing to do                                  2   USAGE
    a file that cannot be read or written                                           3   ENVIRONMENT, by its finding CC10
    the reader of standard output is gone (a broken pipe)                           3   ENVIRONMENT
    a PyYAML that cannot be used (libyaml.py)                                       3   ENVIRONMENT
    Windows                                                                         3   ENVIRONMENT
    SIGINT                                                                          130 INTERRUPTED
    SIGTERM, SIGHUP                                                                 the process dies by the signal
    any other exception                                                             70  INTERNAL_ERROR

Rule of this file: no other module turns an outcome into a code. Shells show death by SIGTERM as 143, by SIGHUP as 129.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing takes longer than all that a stream without Contrast needs
if TYPE_CHECKING:
    from collections.abc import Iterable

    from krm_function.findings import Finding

OK = 0
FINDINGS = 1
USAGE = 2
ENVIRONMENT = 3
INTERNAL_ERROR = 70
INTERRUPTED = 130

OF_CONFIGURATION = ("CC09",)
OF_ENVIRONMENT = ("CC10", "CC125")


class Exit(Exception):
    """End with a code; everything has been printed already."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Terminated(BaseException):
    """SIGTERM or SIGHUP has come; like KeyboardInterrupt it passes whatever catches errors."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def exit_code(findings: Iterable[Finding], *, printed: bool = True) -> int:
    """Return the code of a call with these findings. printed: whether they could be written to standard error."""
    errors = [problem.code for problem in findings if problem.severity == "error"]
    if not printed:
        return ENVIRONMENT
    if any(code.startswith(OF_CONFIGURATION) for code in errors):
        return USAGE  # first, because it explains the rest
    if any(code.startswith(OF_ENVIRONMENT) for code in errors):
        return ENVIRONMENT
    return FINDINGS if errors else OK


def exit_code_of_differences(code: int, *, differ: bool) -> int:
    """Return the code of a call with `--exit-code`. code: that of its findings."""
    return FINDINGS if code == OK and differ else code


def exit_code_of_exception(problem: BaseException) -> int:
    """Return the code of a call that an exception has ended, files that cannot be read or written excepted."""
    match problem:
        case Exit():
            return problem.code
        case BrokenPipeError():
            return ENVIRONMENT  # there is no reader to tell
        case ImportError(name="yaml"):
            return ENVIRONMENT  # a PyYAML that cannot be used, see libyaml.py
        case KeyboardInterrupt():
            return INTERRUPTED
        case _:
            return INTERNAL_ERROR
