"""Exit codes: 0 ok, 1 error findings, 2 usage or configuration, 3 environment, 70 a bug of ours.

Rule of this file: names only; `say.exit_code` chooses one by the findings. SIGINT gives 130; SIGTERM and SIGHUP end the
process as signals do, which shells show as 143 and 129.
"""

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


class Terminated(BaseException):
    """A signal asks us to end; like KeyboardInterrupt it passes whatever catches errors."""

    def __init__(self, number: int) -> None:
        """Remember the signal."""
        super().__init__(number)
        self.number = number
