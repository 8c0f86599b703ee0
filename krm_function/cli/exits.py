"""The exit codes, and which outcome gives which code.

    outcome                                                                         code
    standard error cannot be written                                                3   ENVIRONMENT
    an error finding CC09 (configuration)                                           2   USAGE
    an error finding CC10 (environment) or CC125 (registries), and none above       3   ENVIRONMENT
    any other error finding, and none above                                         1   FINDINGS
    an error in a call of our Helm 4 plugin (main.py)                               0   OK; Helm stops at the output
    no error, but there are differences and `--exit-code` is given                      1   FINDINGS
    anything else                                                                   0   OK

    arguments that cannot be parsed; nothing to do                                  2   USAGE
    a file that cannot be read or written                                           3   ENVIRONMENT, by its finding CC10
    the reader of standard output has gone (broken pipe)                            3   ENVIRONMENT
    a PyYAML that cannot be used (libyaml.py)                                       3   ENVIRONMENT
    Windows                                                                         3   ENVIRONMENT
    SIGINT                                                                          130 INTERRUPTED
    SIGTERM, SIGHUP                                                                 the process dies by the signal
    any other exception                                                             70  INTERNAL_ERROR

Rule of this file: no other module turns an outcome into a code. Shells show death by SIGTERM as 143, by SIGHUP as 129.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # importing typing takes longer than passing on a stream without Contrast
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
    """SIGTERM or SIGHUP has arrived; like KeyboardInterrupt, handlers of Exception do not catch it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def is_called_by_helm_4() -> bool:
    """Tell whether Helm 4 post-renders by our plugin: not by a wrapper, nor by a plugin that is a command.

    HELM_BIN is set for commands of Helm that are plugins, not for post-renderers.
    """
    return os.environ.get("HELM_PLUGIN_NAME") == "contrast-krm" and "HELM_BIN" not in os.environ


def exit_code(findings: Iterable[Finding], *, printed: bool = True) -> int:
    """Return the exit code for findings. printed: whether they could be written to standard error."""
    errors = [problem.code for problem in findings if problem.severity == "error"]
    if not printed:
        return ENVIRONMENT
    if any(code.startswith(OF_CONFIGURATION) for code in errors):
        return USAGE  # first, because it explains the rest
    if any(code.startswith(OF_ENVIRONMENT) for code in errors):
        return ENVIRONMENT
    return FINDINGS if errors else OK


def exit_code_of_differences(code: int, *, differ: bool) -> int:
    """Return the exit code of a call with `--exit-code`. code: the exit code for its findings."""
    return FINDINGS if code == OK and differ else code


def exit_code_of_exception(problem: BaseException) -> int:
    """Return the exit code for an exception, other than for files that cannot be read or written."""
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
