"""What a pod's VM gets of memory, against what its images take in it; and the rule that writes it."""

import re
from typing import Any

import pytest

from krm_function.config.image_lock import ImageFacts
from krm_function.kubernetes.workload import Workload
from krm_function.render.rendered import Rendered
from tests.world import (
    FACTS,
    LOCK,
    WEB,
    again,
    an_object,
    codes,
    config,
    coordinator,
    digests,
    named,
    pod_spec,
    run,
)

Json = dict[str, Any]
GIB, MIB = 1 << 30, 1 << 20
DEFAULT_MEMORY = "io.katacontainers.config.hypervisor.default_memory"


def layers(*sizes: tuple[int | None, int | None]) -> ImageFacts:
    """Facts of an image with layers of these sizes in MiB, compressed and unpacked."""
    rows = [
        {
            "diffID": f"sha256:{number:064}",
            **({"compressedSize": compressed * MIB} if compressed is not None else {}),
            **({"uncompressedSize": unpacked * MIB} if unpacked is not None else {}),
        }
        for number, (compressed, unpacked) in enumerate(sizes)
    ]
    return FACTS._replace(layers=tuple(rows))


SMALL = layers((10, 30))
LARGE = layers((7 * 1024, 14 * 1024))  # an image of 21 GiB


def container(memory: str | None, name: str = "web", **more: Any) -> Json:
    limits = {"cpu": "1", **({"memory": memory} if memory else {})}
    return {"name": name, "image": WEB, "resources": {"limits": limits}, **more}


def pod(*memory: str | None, annotations: Any = None, **more: Any) -> Json:
    containers = [container(one, f"web-{number}" if number else "web") for number, one in enumerate(memory)]
    return an_object(spec=pod_spec(containers=containers, **more), annotations=annotations)


def lock(image: ImageFacts) -> dict[str, ImageFacts]:
    return {**dict.fromkeys(LOCK, SMALL), WEB: image}


def render(given: Json, image: ImageFacts = LARGE, **options: Any) -> Rendered:
    return run(coordinator(), given, to=config(images=lock(image), **options))


def said(made: Rendered, code: str) -> tuple[str, str]:
    """Sentence and hint of the one finding of a code about the workload."""
    (found,) = [one for one in made.findings if one.code == code and one.ref and one.ref.name == "web"]
    return found.message, found.hint


def planned(made: Rendered) -> Any:
    return next(one for one in made.plan if one.ref.name == "web")


def resources(made: Rendered) -> Any:
    workload: Workload = named(made, "web")
    return workload.pod_spec.get("resources")


def test_an_image_of_21_gib_in_a_pod_with_a_limit_of_2_gi() -> None:
    made = render(pod("2Gi"))
    assert codes(made) == ["CC0420"]
    sentence, hint = said(made, "CC0420")
    assert "gets 2560Mi of memory" in sentence  # 512 MiB of the VM itself, 2 GiB of the limit
    assert "take 14.0Gi" in sentence
    assert "spec.resources.limits.memory: " in hint


@pytest.mark.parametrize("memory", [("2Gi",), (None,), ("2Gi", None), ("18Gi",)], ids=str)
def test_the_hint_followed_literally_is_enough(memory: tuple[str | None, ...]) -> None:
    made = render(pod(*memory))
    (found,) = [one for one in made.findings if one.code in {"CC0420", "CC0421"} and one.ref and one.ref.name == "web"]
    (figure,) = re.findall(r"[0-9.]+[KMG]i", found.hint)

    by_hand = render(pod(*memory, resources={"limits": {"memory": figure}}))
    assert not {"CC0420", "CC0421"} & {one.code for one in by_hand.findings if one.ref and one.ref.name == "web"}
    assert not by_hand.failed
    memory_of = planned(by_hand).memory
    assert memory_of.gets >= memory_of.needs
    by_rule = render(pod(*memory), memory="calculate")
    assert digests(by_hand) == digests(by_rule)  # no policy is about memory


@pytest.mark.parametrize(
    ("memory", "code", "sentence"),
    [
        ((None,), "CC0421", "no container has a memory limit"),
        (("1Gi", None), "CC0421", "container web-1 has no memory limit"),
        (("18Gi",), "CC0421", "compressed and unpacked"),
        (("24Gi",), "", ""),
        (("24Gi", None), "", ""),
        (("1Gi", "23Gi"), "", ""),
    ],
    ids=str,
)
def test_what_is_said_of_limits(memory: tuple[str | None, ...], code: str, sentence: str) -> None:
    made = render(pod(*memory))
    assert not made.failed
    if code:
        assert sentence in said(made, code)[0]
    else:
        assert not [one for one in made.findings if one.code == "CC0421" and one.ref and one.ref.name == "web"]


@pytest.mark.parametrize(
    ("request_", "limit", "differs"),
    [("50Mi", "1Gi", True), ("1024Mi", "1Gi", False), (None, "1Gi", False), ("50Mi", None, False), ("x", "1Gi", True)],
)
def test_a_request_unlike_the_limit_is_an_info(request_: str | None, limit: str | None, differs: bool) -> None:
    subject = pod(limit)
    subject["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"] = {"memory": request_}
    infos = [
        found
        for found in render(subject, SMALL).findings
        if found.code == "CC0426" and found.ref and found.ref.name == "web"
    ]
    assert [found.severity for found in infos] == ["info"] * differs


def test_the_annotation_counts_and_has_to_be_a_number() -> None:
    enough = render(pod("1Gi", annotations={DEFAULT_MEMORY: str(24 * 1024)}))
    assert "CC0421" not in {one.code for one in enough.findings if one.ref and one.ref.name == "web"}
    assert codes(enough) == []
    assert planned(enough).memory.of_vm == 24 * GIB
    wrong = render(pod("1Gi", annotations={DEFAULT_MEMORY: "24Gi"}))
    assert codes(wrong) == ["CC0420"]
    assert "is not a number of MiB" in said(wrong, "CC0425")[0]


def test_a_gpu_needs_8_gb() -> None:
    gpu = {"runtimeClassName": "contrast-cc-metal-qemu-snp-gpu"}
    one = container("2Gi")
    one["resources"]["limits"]["nvidia.com/pgpu"] = 1
    small = render(an_object(spec=pod_spec(containers=[one], **gpu)), SMALL)
    assert "8 GB" in said(small, "CC0421")[0]
    one["resources"]["limits"]["memory"] = "9Gi"
    assert "CC0421" not in {
        found.code
        for found in render(an_object(spec=pod_spec(containers=[one], **gpu)), SMALL).findings
        if found.ref and found.ref.name == "web"
    }


@pytest.mark.parametrize("facts", [FACTS, layers((None, None), (10, 20))], ids=["no layers", "a layer without sizes"])
@pytest.mark.parametrize("memory", [None, "1Mi"])
def test_without_sizes_nothing_is_compared_and_the_plan_knows(facts: ImageFacts, memory: str | None) -> None:
    made = render(pod(memory), facts)
    assert codes(made) == []
    assert not {"CC0420", "CC0421"} & {one.code for one in made.findings if one.ref and one.ref.name == "web"}
    assert (planned(made).memory.unknown, planned(made).memory.needs) == ((WEB,), None)


def test_an_estimate_is_no_error_and_says_so() -> None:
    partly = layers((7 * 1024, None))  # about 16.8 GiB unpacked; 7 in any case
    made = render(pod("10Gi"), partly)
    assert codes(made) == []
    assert "take about 23.8Gi of it" in said(made, "CC0421")[0]
    assert codes(render(pod("2Gi"), partly)) == ["CC0420"]


def test_an_image_store_holds_the_images() -> None:
    made = run(coordinator(), pod("1Gi"), to=config(images=lock(LARGE), image_store=True))
    assert not {"CC0420", "CC0421"} & {one.code for one in made.findings}
    rule = run(coordinator(), pod("1Gi"), to=config(images=lock(LARGE), image_store=True, memory="calculate"))
    assert resources(rule) is None
    assert "its images are in the image store, so its memory is not calculated" in planned(rule).notes


@pytest.mark.parametrize("value", ["2GB", "-1Gi", "lots"])
def test_a_limit_that_kubernetes_refuses(value: str) -> None:
    assert codes(render(pod(value), FACTS)) == ["CC0408"]


# --- memory: calculate


def test_the_memory_of_images_and_limits_as_contrast_calculates_it() -> None:
    given = pod(
        "1Gi", "2Gi", initContainers=[container("5Gi", "first"), container("1Gi", "side", restartPolicy="Always")]
    )
    made = render(given, memory="calculate")
    assert codes(made) == []
    figure = f"{7 * 1024 + 14 * 1024 + 40 + max((1 + 2 + 1) * 1024, 5 * 1024 + 50)}Mi"  # one image WEB, one initializer
    assert resources(made) == {"requests": {"memory": figure}, "limits": {"memory": figure}}


def test_a_limit_of_cpu_of_the_pod_stays_and_all_comes_back() -> None:
    given = pod("1Gi", resources={"limits": {"cpu": "3", "memory": "100Mi"}, "requests": {"cpu": "1"}})
    made = render(given, memory="calculate")
    assert codes(made) == []
    figure = resources(made)["limits"]["memory"]
    assert resources(made) == {"limits": {"cpu": "3", "memory": figure}, "requests": {"cpu": "1", "memory": figure}}
    assert again(made, config(images=lock(LARGE), memory="calculate")).texts[: len(made.texts)] == made.texts
    assert planned(made).memory.gets >= planned(made).memory.needs


@pytest.mark.parametrize("facts", [FACTS, layers((7, None))], ids=["unknown", "estimated"])
def test_an_image_without_exact_sizes_is_not_guessed(facts: ImageFacts) -> None:
    made = render(pod("1Gi"), facts, memory="calculate")
    assert codes(made) == ["CC0423"]
    sentence, hint = said(made, "CC0423")
    assert WEB in sentence
    assert "contrast-krm lock --sizes" in hint


def test_requests_that_kubernetes_would_refuse() -> None:
    given = pod("1Gi")
    asks = container(None, "asks")
    asks["resources"]["requests"] = {"memory": "100Gi"}
    given["spec"]["template"]["spec"]["containers"].append(asks)
    made = render(given, memory="calculate")
    assert codes(made) == ["CC0424"]
    asks["resources"]["limits"]["memory"] = "100Gi"
    given["spec"]["template"]["spec"]["containers"][-1] = asks
    assert codes(render(given, memory="calculate")) == []


def test_without_the_rule_nothing_moves() -> None:
    made, old = render(pod("24Gi")), render(pod("24Gi"), FACTS)
    assert made.texts == old.texts
    assert digests(made) == digests(old)
