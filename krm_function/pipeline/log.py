"""Gather the findings and the plan of one render while it runs.

Rule of this file: the log is the only mutable object of the pipeline; no stage sees it.
"""

from collections.abc import Sequence
from typing import NoReturn

from krm_function.api.records import Config
from krm_function.findings import Finding, has_errors
from krm_function.pipeline.result import Planned


class Stop(Exception):
    """Leaves the pipeline early: there is nothing to render, or an error; the input stays as it is."""


class Log:
    """Findings in the order of the stages, and the plan so far."""

    def __init__(self) -> None:
        """Start empty."""
        self.findings: tuple[Finding, ...] = ()
        self.plan: tuple[Planned, ...] = ()

    def add(self, findings: Sequence[Finding], *, stop: bool = False) -> None:
        """Keep findings. stop: raise Stop if there is an error among them."""
        self.findings += tuple(findings)
        if stop and has_errors(tuple(findings)):
            self.stop()

    def located(self, config: Config | None) -> tuple[Finding, ...]:
        """All findings; those about the configuration with their positions in its files."""
        return tuple(map(config.placed, self.findings)) if config else self.findings

    def stop(self) -> NoReturn:
        """Leave the pipeline."""
        raise Stop

    @property
    def failed(self) -> bool:
        """Whether there is an error so far."""
        return has_errors(self.findings)
