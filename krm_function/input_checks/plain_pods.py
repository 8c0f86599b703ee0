"""Name the pods that run outside of a VM, and warn where they are all but the coordinator.

Rule of this file: a pod is plain because nobody has said otherwise, which is no error; but nobody may believe that it
is protected. `generate`, `check` and `plan` name the plain pods, and an input whose only confidential pod is the
coordinator is a warning: its application has not been made confidential.
"""

from collections.abc import Iterable, Sequence

from krm_function.findings import Finding, Ref, finding
from krm_function.model.address import address_of
from krm_function.model.listed_names import listed
from krm_function.model.workload import Workload


def plain_line(plain: Iterable[Ref]) -> str:
    """Write `not confidential: Deployment/shop/a, ... and 3 more` as a line, "" if there is none."""
    names = list(dict.fromkeys(map(address_of, plain)))
    return f"not confidential: {listed(names)}\n" if names else ""


def only_the_coordinator(workloads: Sequence[Workload], plain: Sequence[Ref]) -> tuple[Finding, ...]:
    """Return CC0242 if coordinators are the only confidential pods, and others are plain."""
    if not plain or not workloads or not all(workload.is_coordinator for workload in workloads):
        return ()
    return (finding("CC0242", names=listed(list(dict.fromkeys(map(address_of, plain))))),)
