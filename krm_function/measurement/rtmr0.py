"""Select the values that TDX's RTMR0 may have in a set of VMs.

Rule of this file: a lookup by vCPU count, nothing computed. RTMR0 covers the tables that QEMU hands to the
firmware, and they name each vCPU; only the release knows the values. Source: docs/facts/contrast-manifest.md#rtmr0.
"""

from collections.abc import Iterable, Mapping

from krm_function.measurement.vcpu_count import vcpus_text


class UnknownVcpuCount(KeyError):
    """The release has no RTMR0 for `count` vCPUs."""

    def __init__(self, count: int) -> None:
        """Remember the count."""
        super().__init__(count)
        self.count = count

    def __str__(self) -> str:
        """Return a sentence, where KeyError would print the bare number."""
        return f"no RTMR0 for {vcpus_text(self.count)}"


def select_rtmr0(table: Mapping[str, str], counts: Iterable[int]) -> tuple[str, tuple[str, ...]]:
    """Pick the RTMR0 of each vCPU count from a release's `rtmr0ByVCPU` (decimal count -> 96 hex digits).

    Returns the smallest value in string order, for Rtmrs[0], and the others ascending, for Rtmr0Alternatives; no value
    twice. Raises UnknownVcpuCount (smallest first) for a count the table lacks, ValueError when there are no counts.
    """
    found = set()
    for count in sorted(set(counts)):
        if str(count) not in table:
            raise UnknownVcpuCount(count)
        found.add(table[str(count)])
    if not found:
        raise ValueError("no vCPU counts given")
    first, *rest = sorted(found)
    return first, tuple(rest)
