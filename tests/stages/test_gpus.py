"""GPUs of pods: names that nodes do not offer, the rule that renames them, and what has no effect."""

from typing import Any

import pytest

from krm_function.config.generate import GPUS, GpuRules
from krm_function.render.rendered import Rendered
from krm_function.schema.table import read_value
from tests.world import WEB, again, an_object, codes, config, coordinator, digests, named, pod_spec, run, values

Json = dict[str, Any]
GPU = "contrast-cc-metal-qemu-snp-gpu"
NONE = GpuRules()
RENAME = GpuRules({"nvidia.com/gpu": "nvidia.com/pgpu"})
CDI = {"cdi.k8s.io/gpu": "nvidia.com/pgpu=0"}


def container(name: Any = "web", requests: Any = None, **limits: Any) -> Json:
    resources: Json = {"limits": {"cpu": "4", "memory": "1Gi", **limits}}
    return {"name": name, "image": WEB, "resources": resources | ({"requests": requests} if requests else {})}


def pod(*containers: Json, cls: str = GPU, **more: Any) -> Json:
    return an_object(spec=pod_spec(containers=list(containers), runtimeClassName=cls, **more))


def render(*objects: Json, rules: GpuRules = NONE, **options: Any) -> Rendered:
    return run(coordinator(), *objects, to=config(gpus=rules, **options))


def limits(made: Rendered, at: int = 0) -> Json:
    found: Json = named(made, "web").pod_spec["containers"][at]["resources"]["limits"]
    return found


@pytest.mark.parametrize("name", ["nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/xe", "nvidia.com/mig-1g.5gb"])
@pytest.mark.parametrize("cls", [GPU, "contrast-cc"])
def test_the_two_remedies_of_the_hint_make_the_same_pod(name: str, cls: str) -> None:
    refused = pod(container(**{name: 1}), cls=cls)
    made = render(refused)
    assert codes(made) == ["CC0411"]
    (found,) = [one for one in made.findings if one.code == "CC0411"]
    assert "use nvidia.com/pgpu instead" in found.hint
    assert f"{name}: nvidia.com/pgpu under spec.gpus.rename" in found.hint

    by_hand = render(pod(container(**{"nvidia.com/pgpu": 1}), cls=cls))
    by_rule = render(refused, rules=GpuRules({name: "nvidia.com/pgpu"}))
    assert codes(by_hand) == codes(by_rule) == []
    assert limits(by_hand) == limits(by_rule)
    assert digests(by_hand) == digests(by_rule)


def test_limits_and_requests_of_all_containers_are_renamed_and_come_back() -> None:
    given = pod(
        container("web", {"cpu": "1", "nvidia.com/gpu": "1"}, **{"nvidia.com/gpu": "1"}),
        container("side", **{"example.com/dongle": 1}),
        initContainers=[container("first", **{"nvidia.com/gpu": 1})],
    )
    made = render(given, rules=RENAME)
    assert codes(made) == []
    spec = named(made, "web").pod_spec
    assert spec["containers"][0]["resources"]["requests"] == {"cpu": "1", "nvidia.com/pgpu": "1"}
    assert limits(made)["nvidia.com/pgpu"] == "1"
    assert spec["containers"][1]["resources"]["limits"]["example.com/dongle"] == 1
    (first,) = [one for one in spec["initContainers"] if one["name"] == "first"]
    assert first["resources"]["limits"]["nvidia.com/pgpu"] == 1
    assert "nvidia.com/gpu" not in str(spec)
    assert values(again(made, to=config(gpus=RENAME))) == values(made)
    off = run(*values(made), to=config())
    assert codes(off) == ["CC0411", "CC0411"], "the rule is off, so the pod is what it was"


def test_a_rule_changes_no_pod_that_does_not_have_the_name() -> None:
    plain = pod(container(**{"nvidia.com/pgpu": 1}))
    assert values(render(plain, rules=RENAME)) == values(render(plain))


@pytest.mark.parametrize(
    "asked", [{"nvidia.com/gpu": 1, "nvidia.com/pgpu": 1}, {"nvidia.com/gpu": 1, "amd.com/gpu": 1}], ids=["both", "two"]
)
def test_two_numbers_for_one_name_are_refused(asked: Json) -> None:
    rules = GpuRules({"nvidia.com/gpu": "nvidia.com/pgpu", "amd.com/gpu": "nvidia.com/pgpu"})
    assert "CC0413" in codes(render(pod(container(**asked)), rules=rules))


@pytest.mark.parametrize(
    ("renamed", "right"),
    [
        ({"nvidia.com/gpu": "nvidia.com/pgpu"}, True),
        ({"nvidia.com/mig-1g.5gb": "nvidia.com/GH100_H100_PCIE"}, True),
        ({"nvidia.com/gpu": "nvidia.com/gpu.shared"}, False),
        ({"nvidia.com/gpu": "memory"}, False),
        ({"cpu": "nvidia.com/pgpu"}, False),
        ({"nvidia.com/gpumem": "nvidia.com/pgpu"}, False),
        ({"nvidia.com/pgpu": "nvidia.com/pgpu"}, False),
        ({"example.com/dongle": "nvidia.com/pgpu"}, False),
    ],
    ids=str,
)
def test_only_gpus_are_renamed_and_only_to_what_nodes_pass(renamed: Json, *, right: bool) -> None:
    assert (not read_value(GPUS, {"rename": renamed})[1]) == right


def test_a_gpu_on_an_explicit_platform_without_one_is_an_error_and_following_its_hint_is_none() -> None:
    asked = container(**{"nvidia.com/pgpu": 1})
    made = render(pod(asked, cls="contrast-cc-metal-qemu-snp"))
    assert codes(made) == ["CC0409"]
    for cls in (GPU, "contrast-cc"):
        assert cls in made.findings[-1].hint or any(cls in one.hint for one in made.findings)
        assert codes(render(pod(asked, cls=cls))) == []


def test_shares_of_a_gpu_are_a_warning_and_count_for_nothing() -> None:
    shared: Json = {"nvidia.com/gpumem": 1024, "nvidia.com/gpucores": 30}
    made = render(pod(container(**{"nvidia.com/gpu": 1, **shared})), rules=RENAME)
    assert codes(made) == []
    assert codes(made, "warning").count("CC0414") == 2
    assert codes(render(pod(container(**shared), cls="contrast-cc"))) == []


def test_the_number_of_the_hint_about_vcpus_is_enough_and_one_less_is_not() -> None:
    def with_cpus(cpus: int) -> Rendered:
        return render(pod({**container(), "resources": {"limits": {"cpu": cpus, "nvidia.com/pgpu": 4}}}))

    made = with_cpus(2)
    assert codes(made) == ["CC0406"]
    assert any("cpu limits to 3 in total" in one.hint for one in made.findings)
    assert codes(with_cpus(3)) == []


@pytest.mark.parametrize(
    ("cls", "asked", "annotated", "said"),
    [
        (GPU, 0, False, ["CC0415"]),
        (GPU, 1, False, []),
        (GPU, 1, True, []),
        (GPU, 0, True, ["CC0415", "CC0416"]),
        ("contrast-cc", 0, False, []),
        ("contrast-cc", 0, True, ["CC0416"]),
        ("contrast-cc", 1, True, []),
    ],
)
def test_what_has_no_effect_without_a_gpu_is_a_warning(cls: str, asked: int, annotated: bool, said: list[str]) -> None:
    gpus: Json = {"nvidia.com/pgpu": asked} if asked else {}
    subject = pod(container(**gpus), cls=cls)
    if annotated:
        subject["spec"]["template"]["metadata"]["annotations"] = CDI
    made = render(subject)
    assert codes(made) == []
    assert [code for code in codes(made, "warning") if code in {"CC0415", "CC0416"}] == said


def test_a_pod_without_gpu_on_nodes_that_all_have_some_is_no_mistake() -> None:
    made = render(pod(container(), cls="contrast-cc"), platform="metal-qemu-snp-gpu")
    assert "CC0415" not in codes(made, "warning")
