"""Exit codes: 0 ok, 1 error findings, 2 usage or configuration, 3 environment, 70 a bug of ours.

Rule of this file: the code follows from the findings alone, so that every host and verb agrees.

    an error of    CC09 (configuration)   CC10 (environment), CC125 (registries)   anything else   nothing
    exits with     2                      3                                        1               0
"""

from collections.abc import Iterable

from krm_function.findings import Finding

OK = 0
FINDINGS = 1
USAGE = 2
ENVIRONMENT = 3
BUG = 70


class Exit(Exception):
    """Leave with a code after everything has been said."""

    def __init__(self, code: int) -> None:
        """Remember the code."""
        super().__init__(code)
        self.code = code


def exit_code(findings: Iterable[Finding]) -> int:
    """The exit code that the findings ask for; configuration first, because it explains the rest."""
    errors = [found.code for found in findings if found.severity == "error"]
    if any(code.startswith("CC09") for code in errors):
        return USAGE
    if any(code.startswith(("CC10", "CC125")) for code in errors):
        return ENVIRONMENT
    return FINDINGS if errors else OK
