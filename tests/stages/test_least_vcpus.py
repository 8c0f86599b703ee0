"""`vcpus.minimum`: the least number of vCPUs of a VM, by a cpu limit of the pod as a whole."""

from typing import Any

import pytest

from krm_function.contrast.measurement import MAX_VCPUS
from krm_function.render.rendered import Rendered
from krm_function.report.plan import changes_of
from tests.world import WEB, again, an_object, codes, config, coordinator, digests, named, pod_spec, run, values

Json = dict[str, Any]
GPU = "contrast-cc-metal-qemu-snp-gpu"


def container(limit: Any = None, request: Any = None, gpus: int = 0, name: str = "web", **more: Any) -> Json:
    limits: Json = {"memory": "1Gi", **({"cpu": limit} if limit else {}), **({"nvidia.com/pgpu": gpus} if gpus else {})}
    resources: Json = {"limits": limits, **({"requests": {"cpu": request}} if request else {})}
    return {"name": name, "image": WEB, "resources": resources, **more}


def pod(*containers: Json, **more: Any) -> Json:
    return an_object(spec=pod_spec(containers=list(containers), **more))


def render(given: Json, minimum: Any = 0) -> Rendered:
    return run(coordinator(), given, to=config(vcpus=minimum))


def limit(made: Rendered) -> Any:
    return (named(made, "web").pod_spec.get("resources") or {}).get("limits", {}).get("cpu")


def count(made: Rendered) -> int:
    return next(one.vcpus for one in made.plan if one.ref.name == "web")


@pytest.mark.parametrize(
    ("given", "minimum", "written", "vcpus"),
    [
        (pod(container()), 4, "3", 4),
        (pod(container("3")), 4, None, 4),
        (pod(container("3500m")), 4, None, 5),
        (pod(container("1"), container("1", name="b")), 4, "3", 4),
        (pod(container("500m", "500m")), 2, None, 2),
        (pod(container(request="4500m")), 4, "5", 6),
        (pod(container(request="1"), resources={"requests": {"cpu": "6"}}), 4, "6", 7),
        (pod(container(), resources={"limits": {"cpu": "1", "memory": "3Gi"}}), 4, "3", 4),
        (pod(container()), MAX_VCPUS, "219", MAX_VCPUS),
        (pod(container(gpus=4), runtimeClassName=GPU), "gpus", "3", 4),
        (pod(container("1", gpus=4), runtimeClassName="contrast-cc"), "gpus", "3", 4),
        (pod(container(gpus=1), runtimeClassName=GPU), "gpus", None, 1),
        (pod(container()), "gpus", None, 1),
    ],
)
def test_the_vm_has_at_least_so_many(given: Json, minimum: Any, written: Any, vcpus: int) -> None:
    made = render(given, minimum)
    assert codes(made) == []
    assert (limit(made), count(made)) == (written, vcpus)
    rest = {
        key: value for key, value in (named(made, "web").pod_spec.get("resources") or {}).items() if key != "limits"
    }
    assert rest == {
        k: v for k, v in (given["spec"]["template"]["spec"].get("resources") or {}).items() if k != "limits"
    }
    assert "CC0410" not in codes(made, "warning"), "the kubelet tells the same size"
    entry = next(one for one in made.plan if one.ref.name == "web")
    assert ("vCPUs raised" in changes_of(entry)) == (written is not None)


@pytest.mark.parametrize("minimum", [4, "gpus"])
def test_it_is_as_if_a_person_had_written_the_limit_and_comes_back(minimum: Any) -> None:
    given = pod(container("1", gpus=4), runtimeClassName=GPU)
    by_rule = render(given, minimum)
    by_hand = render(pod(container("1", gpus=4), runtimeClassName=GPU, resources={"limits": {"cpu": "3"}}))
    assert named(by_rule, "web").pod_spec == named(by_hand, "web").pod_spec
    assert digests(by_rule)["web"] == digests(by_hand)["web"]
    assert values(again(by_rule, to=config(vcpus=minimum))) == values(by_rule)
    assert codes(run(*values(by_rule), to=config())) == ["CC0406"], "without the rule the pod is what it was"


def test_each_remedy_of_the_hint_is_followed_to_the_letter() -> None:
    refused = pod(container(gpus=4), runtimeClassName=GPU)
    made = render(refused)
    assert codes(made) == ["CC0406"]
    (found,) = [one for one in made.findings if one.code == "CC0406"]
    assert "cpu limits to 3 in total" in found.hint
    assert "vcpus.minimum: gpus" in found.hint
    assert codes(render(pod(container("3", gpus=4), runtimeClassName=GPU))) == []
    assert codes(render(pod(container("2999m", gpus=4), runtimeClassName=GPU))) == []
    assert codes(render(pod(container("2", gpus=4), runtimeClassName=GPU))) == ["CC0406"]
    assert codes(render(refused, "gpus")) == []


def test_limits_that_are_no_quantities_stay_what_is_wrong() -> None:
    assert codes(render(pod(container("half")), 4)) == ["CC0408"]
