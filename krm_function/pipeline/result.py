"""The result of a render: the new texts, the objects to add, the findings, the plan and the manifest.

Rule of this file: records only. With a finding of severity error the texts are those of the input.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from krm_function.findings import Finding, Ref, has_errors
from krm_function.model.edits import Edit
from krm_function.model.runtime_class_objects import RuntimeClass
from krm_function.model.workload import Workload
from krm_function.record import NamedTuple

if TYPE_CHECKING:
    from krm_function.model.pod_memory import PodMemory
    from krm_function.policy.open_variables import OpenVariable

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
