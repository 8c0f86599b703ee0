"""A workload together with the digest of its initdata."""

from krm_function.model.workload import POD_ROLE, Workload
from krm_function.record import NamedTuple


class SealedWorkload(NamedTuple):
    """A workload and the sha256 of its initdata document in hex; "" if it has none yet."""

    workload: Workload
    digest: str

    @property
    def role(self) -> str:
        """The workload's role in the manifest: the pod's label contrast.edgeless.systems/pod-role, "" if absent."""
        return str(self.workload.labels.get(POD_ROLE) or "")
