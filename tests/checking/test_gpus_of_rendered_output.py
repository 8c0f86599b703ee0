"""`check` without a configuration: GPUs that the nodes or the policy of a rendered pod do not give it."""

import copy
from typing import Any

import pytest

from krm_function.check.output import parse_output
from krm_function.check.pods import check_pod, gather_pods
from krm_function.config.generate import GpuRules, PolicyOptions
from krm_function.config.references import References
from krm_function.contrast.profiles import CONTRAST
from krm_function.policy.settings import default_document
from tests.stages.test_gpus import GPU, RENAME, container, pod
from tests.world import codes, config, coordinator, run, stream, values

Json = dict[str, Any]
SNP = "contrast-cc-metal-qemu-snp"


def rendered(given: Json, **options: Any) -> Json:
    """The object of the workload in the output of a render."""
    made = run(coordinator(), given, to=config(**options))
    assert codes(made) == []
    web: Json = next(one for one in values(made) if one["kind"] == "Deployment" and one["metadata"]["name"] == "web")
    return web


def said(output: Json) -> list[str]:
    """The errors of `check` about GPUs."""
    (resource,) = parse_output(stream(output)).resources
    (one,) = gather_pods(resource, References()).pods
    return [found.code for found in check_pod(one, None, None) if found.code.startswith("CC04")]


def asking(output: Json, **limits: Any) -> Json:
    output["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"].update(limits)
    return output


@pytest.mark.parametrize(
    ("cls", "limits", "code"),
    [
        (GPU, {"nvidia.com/gpu": 1}, "CC0411"),
        (GPU, {"amd.com/gpu": 1}, "CC0411"),
        (GPU, {"nvidia.com/mig-1g.5gb": 1}, "CC0411"),
        (SNP, {"nvidia.com/pgpu": 1}, "CC0409"),
        (SNP, {"nvidia.com/gpu": 1}, "CC0409"),
    ],
)
def test_a_gpu_that_came_after_the_render_or_that_an_old_one_let_pass(cls: str, limits: Json, code: str) -> None:
    output = rendered(pod(container(), cls=cls))
    assert said(output) == [], "without one there is nothing to say, and of a class that is too large a render has told"
    assert said(asking(output, **limits)) == [code]


@pytest.mark.parametrize("name", ["nvidia.com/pgpu", "nvidia.com/GH100_H100_PCIE"])
def test_a_gpu_that_the_render_passed(name: str) -> None:
    assert said(rendered(pod(container(**{name: 1})))) == []


def test_a_gpu_that_a_rule_renamed() -> None:
    assert GpuRules() != RENAME
    assert said(rendered(pod(container(**{"nvidia.com/gpu": 2})), gpus=RENAME)) == []


def test_a_name_that_the_settings_of_the_render_pass_is_no_error() -> None:
    settings = copy.deepcopy(default_document(CONTRAST))
    settings["devices"]["vfio"]["nvidia"]["pgpu_resource_keys"] = ["nvidia.com/H200"]
    output = rendered(pod(container(**{"nvidia.com/H200": 1})), policy=PolicyOptions(settings=settings))
    assert said(output) == []
    assert said(asking(output, **{"nvidia.com/mig-1g.5gb": 1})) == ["CC0411"], "a part is none"
