"""What a cluster has of other releases: no policy of an earlier render of a workload that is there."""

from krm_function.check.running_pods import read_sealed_digest
from krm_function.kubernetes.pod_kinds import SHIPPED
from krm_function.operations.live import sealed_in_the_cluster
from krm_function.render.select import select
from tests.diagnosis.objects import Json, deployment, pod, rendered, replica_set


def digest_of(value: Json) -> str:
    (workload,) = select(value).workloads
    return read_sealed_digest(workload)


def test_an_old_replica_set_is_no_workload_of_its_own() -> None:
    """It has the policy of another template, and so have its pods."""
    of_now, old = deployment(), replica_set()
    metadata = rendered("Deployment", "payments")["spec"]["template"]["metadata"]
    old["spec"]["template"]["metadata"]["annotations"] = metadata["annotations"]
    copy = pod(old)
    assert digest_of(old) == digest_of(copy) != digest_of(of_now)
    assert sealed_in_the_cluster([old, copy, of_now], SHIPPED) == {digest_of(of_now)}
    assert sealed_in_the_cluster([old, copy], SHIPPED) == {digest_of(old)}, "whose owner is not shown"
