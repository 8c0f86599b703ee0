"""The result of a render, and the findings and the plan that it gathers while it runs."""

from collections.abc import Sequence
from typing import Any, NoReturn

from krm_function.config.collect import Config, reported
from krm_function.findings import Finding, has_errors
from krm_function.kubernetes.workload import Workload
from krm_function.record import NamedTuple

# --- The result of a render: the new texts, the objects to add, the findings, the plan and the manifest
#
# Rule: records only. With a finding of severity error the texts are those of the input.


class Rendered(NamedTuple):
    """The result of a render: a text for every input resource (None: dropped), and the objects to add.

    plan: the workloads, including skipped ones. release: the version of the Contrast release of the render, "" if the
    configuration has errors.
    """

    texts: tuple[str | None, ...]
    added: tuple[Any, ...] = ()
    findings: tuple[Finding, ...] = ()
    plan: tuple[Workload, ...] = ()
    manifest: bytes = b""
    release: str = ""

    @property
    def failed(self) -> bool:
        """Whether there is an error, so that the caller must keep its input."""
        return has_errors(self.findings)


# --- Gather the findings and the plan of one render while it runs
#
# Rule: the log is the only mutable object of the pipeline; no stage sees it.


class Stop(Exception):
    """Leaves the pipeline early: there is nothing to render, or an error; the input stays as it is."""


class Log:
    """Findings in the order of the stages, and the plan so far."""

    def __init__(self) -> None:
        self.findings: tuple[Finding, ...] = ()
        self.plan: tuple[Workload, ...] = ()

    def add(self, findings: Sequence[Finding], *, stop: bool = False) -> None:
        """Add findings. stop: raise Stop if one of them is an error."""
        self.findings += tuple(findings)
        if stop and has_errors(tuple(findings)):
            self.stop()

    def reported(self, config: Config | None) -> tuple[Finding, ...]:
        """Return all findings as the configuration has them reported."""
        return reported(config, self.findings)

    def stop(self) -> NoReturn:
        """Leave the pipeline."""
        raise Stop

    @property
    def failed(self) -> bool:
        """Whether there is an error so far."""
        return has_errors(self.findings)
