"""`explain`: the edits of one workload in their order, with rules and reasons."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Shop
from tests.failures.running import Run
from tests.failures.world import World, canaries

GPU = Path(__file__).parents[2] / "examples" / "gpu"


def explain(shop: Shop, *arguments: str) -> Run:
    run = shop("explain", *arguments, "deployment", "--config", "config.yaml")
    assert not list(canaries(run.stdout.decode() + run.stderr))
    return run


def explanation(shop: Shop, *arguments: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(explain(shop, *arguments, "-o", "json").stdout)
    assert told["version"] == 1
    return told


def test_the_explanation_is_in_the_order_of_the_edits(shop: Shop) -> None:
    run = explain(shop, "deploy/web")
    assert (run.code, run.stderr) == (0, "")
    text = run.stdout.decode()
    assert text.startswith("Deployment/shop/web\n  placeholder     contrast-cc-metal-qemu-snp\n")
    steps = re.findall(r"^(\d+)\. (CC\d{4}) ", text, re.MULTILINE)
    assert [int(number) for number, _ in steps] == list(range(1, len(steps) + 1))
    assert [code for _, code in steps] == ["CC0404", "CC0801", "CC0804", "CC0801", "CC0607", "CC0606"]
    assert (
        "~ spec.template.spec.runtimeClassName: contrast-cc-metal-qemu-snp -> contrast-cc-metal-qemu-snp-1a2b" in text
    )


def test_every_step_names_the_command_that_explains_its_rule(shop: Shop) -> None:
    for step in explanation(shop, "deploy/web")["steps"]:
        assert step["documentation"] == f"contrast-krm explain {step['code']}"
        assert shop("explain", step["code"]).stdout.decode().startswith(f"{step['code']} ")
        assert step["reason"]
        assert step["rule"]


def test_the_explanation_has_the_edits_of_the_plan(shop: Shop) -> None:
    plan = json.loads(shop("plan", "deployment", "--config", "config.yaml", "-o", "json").stdout)
    (web,) = (one for one in plan["workloads"] if one["name"] == "web")
    told = explanation(shop, "deploy/web")
    assert [(step["code"], step["op"], step["field"], step["reason"]) for step in told["steps"]] == [
        (one["code"], one["op"], one["field"], one["reason"]) for one in web["changes"]
    ]
    assert told["digest"] == web["digest"]


def test_a_long_annotation_is_shown_by_its_length_and_digest(shop: Shop) -> None:
    last = explanation(shop, "deploy/web")["steps"][-1]
    assert re.fullmatch(r"\(\d+ characters, sha256 [0-9a-f]{16}\)", last["after"])


def test_a_workload_that_is_left_alone_says_why_and_what_would_change_it(shop: Shop) -> None:
    world = World()
    del world.pod["runtimeClassName"]
    shop.change(world)
    run = explain(shop, "deploy/web")
    assert run.code == 0
    assert b"left alone      no runtimeClassName" in run.stdout
    assert b"set spec.template.spec.runtimeClassName to contrast-cc-<platform>" in run.stdout
    assert explanation(shop, "deploy/web")["skipped"] == "no runtimeClassName"


def test_a_workload_with_an_error_tells_it_once_and_how_far_it_came(shop: Shop) -> None:
    world = World()
    world.container["image"] = "registry.example.com/shop/web:1.0"
    shop.change(world)
    run = explain(shop, "deploy/web")
    assert (run.code, run.stderr) == (1, "")
    text = run.stdout.decode()
    assert text.count("error CC0502 shop/web") == 1
    assert "hint: append @sha256:<digest>" in text
    assert text.endswith("nothing is written: an error of this workload stops the render\n")
    assert [found["code"] for found in explanation(shop, "deploy/web")["findings"]] == ["CC0502"]


def test_an_error_of_another_workload_is_printed_beside_the_explanation(shop: Shop) -> None:
    world = World()
    world.container["image"] = "registry.example.com/shop/web:1.0"
    shop.change(world)
    run = explain(shop, "sts/coordinator")
    assert run.code == 1
    assert "error CC0502 shop/web" in run.stderr
    assert run.stdout.decode().endswith("nothing is written: an error of another object stops the render\n")


def test_a_workload_of_a_second_render_has_the_same_explanation(shop: Shop) -> None:
    def without_lines() -> bytes:
        return re.sub(rb":\d+:\d+", b"", explain(shop, "deploy/web").stdout)

    once = without_lines()
    assert shop.generate("--in-place").code == 0
    assert without_lines() == once


@pytest.mark.parametrize(
    ("address", "hint"),
    [("deploy/wbe", "did you mean Deployment/shop/web?"), ("web", "did you mean Deployment/shop/web?")],
)
def test_an_address_of_nothing_is_a_usage_error(address: str, hint: str, shop: Shop) -> None:
    run = explain(shop, address)
    assert (run.code, run.stdout) == (2, b"")
    assert f"hint: {hint}" in run.stderr


def test_without_an_address_the_call_is_refused_before_anything_is_read(shop: Shop) -> None:
    run = shop("explain")
    assert (run.code, run.stdout) == (2, b"")
    assert "name a workload as KIND/NAME" in run.stderr


def test_input_that_cannot_be_read_says_so_and_not_that_nothing_was_found(shop: Shop) -> None:
    shop.write("deployment/broken.yaml", "a: [")
    run = explain(shop, "deploy/web", "--format", "json")
    assert (run.code, run.stdout, [error["code"] for error in run.errors]) == (1, b"", ["CC0101"])


def test_without_a_release_the_missing_release_is_the_answer(shop: Shop) -> None:
    world = World()
    del world.documents["release"]
    shop.change(world)
    run = explain(shop, "deploy/web", "--format", "json")
    assert (run.code, [error["code"] for error in run.errors]) == (2, ["CC0903"])


def test_a_field_that_was_not_there_is_marked_as_new(shop: Shop) -> None:
    lines = explain(shop, "Deployment/web").stdout.decode().splitlines()
    added = 'spec.template.metadata.annotations["io.katacontainers'
    assert any(line.startswith(f"   + {added}") for line in lines)
    assert not any(line.startswith(f"   ~ {added}") for line in lines)
    changed = "spec.template.spec.runtimeClassName: contrast-cc-metal-qemu-snp -> "
    assert any(line.startswith(f"   ~ {changed}") for line in lines)


def test_one_is_written_in_the_singular(shop: Shop) -> None:
    said = explain(shop, "StatefulSet/coordinator").stdout.decode()
    assert "metal-qemu-snp, 1 vCPU\n" in said
    assert "VM with 1 vCPU\n" in said
    assert "metal-qemu-snp, 2 vCPUs\n" in explain(shop, "Deployment/web").stdout.decode()


def test_a_container_that_shares_the_gpus_of_its_pod_is_named(shop: Shop) -> None:
    for command in (("explain", "deploy/recommendations"), ("plan",)):
        for form in ("text", "json"):
            run = shop(*command, str(GPU / "resources"), "--config", str(GPU / "config"), "-o", form)
            said = " ".join(run.stdout.decode().split())
            assert "container gpu-metrics gets all GPUs of the pod, by NVIDIA_VISIBLE_DEVICES=all" in said
