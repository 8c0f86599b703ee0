"""The result of a render, and the findings and the plan that it gathers while it runs."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

from krm_function.config.collect import Config
from krm_function.findings import Finding, Ref, has_errors
from krm_function.kubernetes.resource import Edit
from krm_function.kubernetes.runtime_classes import RuntimeClass
from krm_function.kubernetes.workload import Workload
from krm_function.record import NamedTuple

if TYPE_CHECKING:
    from krm_function.contrast.vm_size import PodMemory
    from krm_function.policy.open_variables import OpenVariable


# --- The result of a render: the new texts, the objects to add, the findings, the plan and the manifest
#
# Rule: records only. With a finding of severity error the texts are those of the input.


NO_LABELS: Mapping[str, str] = MappingProxyType({})


class Planned(NamedTuple):
    """One entry of the plan: a workload, what the render does to it and why; or why it is skipped.

    workload: after the render. scheduled: the RuntimeClass that it was checked against, None if there is none.
    open: the variables of which its policy allows any value. notes:
    sentences that a reader of the plan must know and that are no findings; the forms of the plan show them with the
    workload. identity: those of them about what the manifest gives to it. owned: a controller made what is
    skipped. memory: what its VM gets and needs, None if that was not worked out.
    """

    ref: Ref
    placeholder: str = ""
    platform: str = ""
    runtime_class: str = ""
    vcpus: int = 0
    node_selector: Mapping[str, str] = NO_LABELS
    edits: tuple[Edit, ...] = ()
    digest: str = ""
    skipped: str = ""
    workload: Workload | None = None
    scheduled: RuntimeClass | None = None
    open: "tuple[OpenVariable, ...]" = ()
    notes: tuple[str, ...] = ()
    identity: tuple[str, ...] = ()
    owned: bool = False
    memory: "PodMemory | None" = None

    @property
    def is_plain(self) -> bool:
        """Whether it is a pod of its own that runs outside of a VM."""
        return bool(self.skipped) and not self.owned


class Rendered(NamedTuple):
    """The result of a render: a text for every input resource (None: dropped), and the objects to add.

    release: the version of the Contrast release that it was made for, "" when no configuration could be made.
    """

    texts: tuple[str | None, ...]
    added: tuple[Any, ...] = ()
    findings: tuple[Finding, ...] = ()
    plan: tuple[Planned, ...] = ()
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
