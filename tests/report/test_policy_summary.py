"""What a policy allows, read back from what was sealed."""

import pytest

from krm_function.findings import Ref
from krm_function.kubernetes.workload import INITDATA, Workload, workloads_of
from krm_function.report.policy_text import allowed
from tests.world import an_object, coordinator, good, initdata, named, pod_spec


def sealed() -> Workload:
    mounts = [{"name": "data", "mountPath": "/data"}]
    limits = {"cpu": "500m", "memory": "200Mi"}
    container = {
        **pod_spec()["containers"][0],
        "command": ["/bin/serve", "--token=CANARY"],
        "env": [{"name": "PASSWORD", "value": "CANARY"}],
        "volumeMounts": mounts,
        "resources": {"limits": limits},
        "securityContext": {
            "runAsUser": 7,
            "runAsGroup": 8,
            "readOnlyRootFilesystem": True,
            "allowPrivilegeEscalation": False,
        },
        "livenessProbe": {"exec": {"command": ["/bin/probe", "CANARY"]}},
    }
    spec = pod_spec(
        containers=[container], volumes=[{"name": "data", "emptyDir": {}}], securityContext={"supplementalGroups": [0]}
    )
    return named(good(coordinator(), an_object(spec=spec)), "web")


def test_a_container_in_a_few_words() -> None:
    by_name = {one.name: one for one in allowed(sealed())}
    assert set(by_name) == {"contrast-initializer", "web"}
    web = by_name["web"]
    assert (web.program, web.arguments, web.user, web.exec, web.devices) == ("/bin/serve", 1, "7:8", 1, 0)
    assert (web.readonly, web.privileges) == (True, False)
    assert set(web.mounts) == {"/data", "/contrast"}
    assert "PASSWORD" in web.variables
    assert web.image in str(sealed().pod_spec)


def test_no_value_is_told() -> None:
    assert "CANARY" not in repr(allowed(sealed()))


def test_every_container_of_the_pod_is_told() -> None:
    workload = sealed()
    names = {container["name"] for container in workload.containers + workload.init_containers}
    assert {one.name for one in allowed(workload)} == names


@pytest.mark.parametrize("value", [None, 3, "", "aGVsbG8=", "%%%"])
def test_what_is_no_policy_allows_nothing_to_tell(value: object) -> None:
    annotations = {} if value is None else {INITDATA: value}
    workload = workloads_of(an_object(annotations=annotations), (), Ref("apps/v1", "Deployment", "shop", "web"))[0]
    assert allowed(workload) == ()


def test_the_summary_is_about_the_policy_itself() -> None:
    """Not about the pod: what is read is what was sealed."""
    workload = sealed()
    workload.containers[0]["command"] = ["/bin/other"]
    assert {one.program for one in allowed(workload)} >= {"/bin/serve"}
    assert initdata(workload)
