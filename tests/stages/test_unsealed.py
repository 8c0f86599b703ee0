"""What asks for a Contrast class and is not sealed is refused; a pod of `/v1` is a pod in every stage."""

from typing import Any

import pytest

from krm_function.contrast.class_in_text import may_ask_for_contrast
from krm_function.contrast.platforms import contrast_names_in
from krm_function.render.unsealed import find_unsealed
from tests.world import an_object, codes, config, coordinator, good, manifest, named, pod_spec, run, stream

THING = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "web", "namespace": "shop"}}
CLASS = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "mine"}}
HANDLER = "contrast-cc-metal-qemu-snp-1a2b3c4d"


def slashed(value: dict[str, Any]) -> dict[str, Any]:
    return value | {"apiVersion": f"/{value['apiVersion']}"}


@pytest.mark.parametrize("kind", ["Pod", "ReplicationController"])
def test_a_pod_of_slash_v1_is_sealed_under_the_same_identity(kind: str) -> None:
    ordinary, other = (good(coordinator(), value) for value in (an_object(kind), slashed(an_object(kind))))
    assert manifest(other) == manifest(ordinary)
    assert f"core/v1/{kind}/shop/web" in str(manifest(other))
    assert named(other, "web").object["apiVersion"] == "/v1"


def test_two_spellings_of_one_pod_are_the_same_object_twice() -> None:
    assert "CC0118" in codes(run(coordinator(), an_object("Pod"), slashed(an_object("Pod"))))


def test_a_config_map_of_slash_v1_gives_its_values() -> None:
    spec = pod_spec()
    spec["containers"][0]["env"] = [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "it", "key": "a"}}}]
    it = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "it", "namespace": "shop"}, "data": {"a": "b"}}
    ordinary, other = (good(coordinator(), an_object(spec=spec), one) for one in (it, slashed(it)))
    assert manifest(other) == manifest(ordinary)


@pytest.mark.parametrize("name", ["contrast-cc", HANDLER, "kata-cc-isolation", "Contrast-CC", "contrast-insecure"])
def test_a_custom_resource_that_asks_for_a_class_is_refused(name: str) -> None:
    asked = THING | {"spec": {"template": {"spec": {"runtimeClassName": name}}}}
    (found,) = (one for one in run(coordinator(), asked).findings if one.severity == "error")
    assert (found.code, found.path) == ("CC1109", ("spec", "template", "spec", "runtimeClassName"))
    assert codes(run(asked)) == ["CC1109"], "also where there is nothing else to render"
    assert codes(run(coordinator(), an_object(), asked)) == ["CC1109"]


def test_a_custom_resource_of_another_class_passes_through() -> None:
    other = THING | {"spec": {"template": {"spec": {"runtimeClassName": "gvisor"}}, "note": "contrast"}}
    assert codes(good(coordinator(), an_object(), other)) == []


def test_a_class_that_gives_a_handler_another_name_is_refused() -> None:
    pod = an_object("Pod", spec=pod_spec(runtimeClassName="mine"))
    assert codes(run(CLASS | {"handler": HANDLER}, pod)) == ["CC1116"]
    assert codes(run(CLASS | {"handler": "gvisor"}, pod)) == ["CC0291"]


@pytest.mark.parametrize(
    "version", ["node.k8s.io/v1", "example.com/v1", ""], ids=["kubernetes", "another-group", "none"]
)
def test_a_pod_in_an_object_that_is_called_a_class_is_refused(version: str) -> None:
    asked = CLASS | {"apiVersion": version, "spec": {"runtimeClassName": "contrast-cc"}}
    assert "CC1109" in codes(run(coordinator(), an_object(), asked))


def test_what_a_class_says_of_nodes_may_have_any_name() -> None:
    nodes = {"handler": "gvisor", "scheduling": {"nodeSelector": {"contrast-cc": "true"}}}
    assert codes(good(coordinator(), an_object(), CLASS | nodes)) == []
    foreign = CLASS | nodes | {"apiVersion": "example.com/v1"}
    assert codes(run(coordinator(), an_object(), foreign)) == ["CC1109"]


@pytest.mark.parametrize("version", ["node.k8s.io/v1", "example.com/v1"])
def test_a_pod_in_fields_that_may_have_any_name_is_refused(version: str) -> None:
    pod = {"spec": {"runtimeClassName": "contrast-cc", "containers": []}}
    metadata = {"name": "contrast-cc", "labels": {"class": "contrast-cc"}}
    asked = CLASS | {"apiVersion": version, "metadata": metadata}
    assert "CC1109" not in codes(run(coordinator(), an_object(), asked))
    for fields in ({"metadata": {**metadata, "template": pod}}, {"scheduling": pod}):
        assert "CC1109" in codes(run(coordinator(), an_object(), asked | fields))


def test_a_class_of_the_release_is_compared_with_it_and_with_nothing_else() -> None:
    ours = CLASS | {"metadata": {"name": HANDLER}, "handler": "runc", "overhead": {"podFixed": {"memory": "682Mi"}}}
    assert codes(run(coordinator(), an_object(), ours, to=config(runtime_classes="check"))) == ["CC0308"]


def test_a_map_by_the_name_of_the_key_is_looked_into() -> None:
    value = {"runtimeClassName": {"runtimeClassName": "contrast-cc"}}
    assert list(contrast_names_in(value)) == [(("runtimeClassName", "runtimeClassName"), "contrast-cc")]


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("runtimeClassName: contrast-cc", True),
        ("runtimeClassName: Kata-CC-Isolation", True),
        ('"runtimeClass\\x4eame": gvisor', True),
        ('"runtimeClass\\\n  Name": contrast-cc', True),
        ("a: !!binary Y29udHJhc3QtY2M=", True),
        ("%TAG !e! tag:yaml.org,2002:bin\n---\na: !e!ary Y29udHJhc3QtY2M=", True),
        ("runtimeClassName: gvisor", False),
        ("contrast: of colours", False),
        ("a: if [ ! -f x ]; then echo 'a\\nb'; fi", False),
    ],
)
def test_a_text_that_cannot_ask_is_not_parsed(text: str, may: bool) -> None:
    assert may_ask_for_contrast(text) == may


def test_the_documents_that_cannot_ask_are_left_as_they_are() -> None:
    odd = "kind: Thing\na: *nowhere\n"
    (resource,) = stream(THING)
    assert find_unsealed([resource._replace(text=odd)], {}) == ()
    assert [
        one.code for one in find_unsealed([resource._replace(text=f"{odd}runtimeClassName: contrast-cc\n")], {})
    ] == ["CC0105"]
