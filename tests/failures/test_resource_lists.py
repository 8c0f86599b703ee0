"""What a host may send to the function that is no ResourceList, or one with parts that nobody understands."""

import json
from typing import Any

import pytest

from tests import quick_yaml as yaml
from tests.failures.running import Zygote
from tests.failures.world import World, canaries

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"
LIST = World().resource_list().decode()


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        ("", "the input is empty"),
        ("\n \n", "the input is empty"),
        (f"{HEAD}items: {{a: 1}}\n", "not one document with items"),
        (f"{HEAD}items: text\n", "not one document with items"),
        (HEAD, "not one document with items"),
        (LIST.replace("kind: ResourceList\n", "", 1), "not a config.kubernetes.io/v1 ResourceList"),
        (LIST.replace("apiVersion: config.kubernetes.io/v1\n", "", 1), "not a config.kubernetes.io/v1 ResourceList"),
        (LIST.replace("config.kubernetes.io/v1", "example.com/v1", 1), "but example.com/v1/ResourceList"),
        (f"{LIST}---\n{LIST}", "not one document with items"),
        (World().stream().decode(), "not one document with items"),
    ],
    ids=[
        "nothing", "blank", "items a map", "items a text", "no items", "no kind", "no version", "another group",
        "two documents", "a stream",
    ],
)  # fmt: skip
def test_what_is_no_resource_list_is_echoed_with_one_error(sent: str, says: str, call: Zygote) -> None:
    run = call("fn", "--format", "json", data=sent.encode())
    assert run.code == 1
    assert run.stdout == sent.encode()
    (error,) = run.errors
    assert error["code"] == ("CC0109" if not sent.strip() else "CC0108")
    assert says in error["message"]
    assert error["hint"]


@pytest.mark.parametrize("items", ["null", "[]", "\n- just text", "\n-", "\n- [a]", "\n- {a: 1}"])
def test_a_list_of_nothing_that_is_ours_passes_as_it_is(items: str, call: Zygote) -> None:
    sent = f"{HEAD}items: {items}\n".encode()
    run = call("fn", "--format", "json", data=sent)
    assert (run.code, run.stdout, run.findings) == (0, sent, [])


@pytest.mark.parametrize(
    ("config", "code", "place", "hint"),
    [
        (
            {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "x"}},
            "CC0908",
            "x kind",
            "use a ContrastGenerate",
        ),
        ({"spec": {"platform": "metal-qemu-snp"}}, "CC0908", "kind", "use a ContrastGenerate"),
        ("platform=metal-qemu-snp", "CC0908", "kind", "use a ContrastGenerate"),
        (["metal-qemu-snp"], "CC0908", "kind", "use a ContrastGenerate"),
        (
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": "x"},
                "data": {"platfrom": "metal-qemu-snp"},
            },
            "CC0902",
            "x data.platfrom",
            "did you mean platform?",
        ),
        (
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": "x"},
                "data": {"platform": "metal-qemu-snb"},
            },
            "CC0901",
            "x spec.platform",
            "did you mean metal-qemu-snp?",
        ),
        ({"apiVersion": "contrast-krm.dev/v2", "kind": "ContrastGenerate"}, "CC0907", "apiVersion", "v1alpha1"),
    ],
)
def test_a_function_config_that_is_not_understood_is_an_error(
    config: Any, code: str, place: str, hint: str, call: Zygote
) -> None:
    world = World()
    del world.documents["options"]
    world.function_config = config
    sent = world.resource_list()
    run = call("fn", "--format", "json", data=sent)
    assert run.code == 2
    assert run.stdout.startswith(sent)
    error = run.errors[0]
    assert error["code"] == code
    assert f"{error.get('resource', {}).get('name', '')} {error['field']}".strip() == place
    assert hint in error["hint"]
    assert ("line" in error) != ("resource" in error), "nobody sees the ResourceList, if an object can be named"


@pytest.mark.parametrize(
    "config", [None, {}, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": {}}]
)
def test_a_function_config_without_options_is_none(config: Any, call: Zygote) -> None:
    world = World()
    world.function_config = config
    assert call("fn", data=world.resource_list()).code == 0


@pytest.mark.parametrize("indent", [None, 2])
def test_json_is_answered_with_json(indent: int | None, call: Zygote) -> None:
    world = World()
    world.pod["runtimeClassName"] = "contrast-cc-nope"
    value = yaml.safe_load(world.resource_list())
    run = call("fn", "--format", "json", data=json.dumps(value, indent=indent).encode())
    assert run.code == 1
    answer = json.loads(run.stdout)
    assert answer["items"] == value["items"]
    assert [result["tags"]["code"] for result in answer["results"]] == ["CC0401"]
    assert not list(canaries(json.dumps(answer["results"])))


def test_results_of_functions_before_us_stay(call: Zygote) -> None:
    world = World()
    world.pod["runtimeClassName"] = "contrast-cc-nope"
    sent = world.resource_list() + b"results:\n- message: from before\n  severity: info\n"
    run = call("fn", data=sent)
    assert run.code == 1
    assert [result["message"].split()[0] for result in yaml.safe_load(run.stdout)["results"]] == ["from", "CC0401"]


def test_a_quoted_scalar_cannot_hide_the_item_behind_it(call: Zygote) -> None:
    """A `- ` at the start of a line inside of quotes is text: what stands there is no pod, what follows is one."""
    pod = "- apiVersion: v1\n  kind: Pod\n  metadata: {{name: {0}}}\n  spec: {{runtimeClassName: contrast-cc-nope}}\n"
    head = '- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a}\n  data:\n    text: "\n'
    sent = f'{LIST}{head}{pod.format("inside")}"\n{pod.format("behind")}'.encode()
    assert [item["metadata"]["name"] for item in yaml.safe_load(sent)["items"]][-2:] == ["a", "behind"]
    run = call("fn", "--format", "json", data=sent)
    assert run.code == 1
    assert run.stdout.startswith(sent)
    assert {(error["resource"]["name"], error["code"]) for error in run.errors} >= {("behind", "CC0401")}
    assert "inside" not in run.stderr


def test_a_list_after_our_own_render_fails_as_cleanly(call: Zygote) -> None:
    """A second run over our own output must find the same mistakes, and add its results to no others."""
    rendered = call("fn", data=World().resource_list())
    assert rendered.code == 0
    broken = rendered.stdout.replace(b"cpu: 500m", b"cpu: half")
    assert broken != rendered.stdout
    run = call("fn", "--format", "json", data=broken)
    assert run.code == 1
    assert [error["code"] for error in run.errors] == ["CC0408"]
    assert yaml.safe_load(run.stdout)["items"] == yaml.safe_load(broken)["items"]
