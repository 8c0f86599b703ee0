"""Two objects with one identity: an error at both places; and what is no such pair."""

from typing import Any

import pytest

from krm_function.hosts.stream import decode_stream
from krm_function.render.copies import find_duplicates
from tests import quick_yaml as yaml

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "a", "namespace": "shop"},
    "spec": {"runtimeClassName": "contrast-cc", "containers": []},
}
MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "shop"}, "data": {}}
LOCAL = {"config.kubernetes.io/local-config": "true"}
HOOK = {"helm.sh/hook": "pre-install"}


def changed(value: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """An object with other fields; None takes one away; those of metadata by their names."""
    top: dict[str, Any] = {key: fields.pop(key) for key in ("apiVersion", "kind", "spec") if key in fields}
    metadata = {key: one for key, one in {**value["metadata"], **fields}.items() if one is not None}
    return {**value, **top, "metadata": metadata}


def a_list(*items: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "List", "items": list(items)}


def found(*values: Any) -> list[tuple[int, str]]:
    """Line and message of each finding; the documents of a List are parsed before, as a render does."""
    resources = decode_stream(yaml.safe_dump_all(values, sort_keys=False).encode(), "in.yaml").resources
    said = find_duplicates([one.given() if one.kind in ("List", "Pod") else one for one in resources])
    assert all((one.code, one.file) == ("CC0118", "in.yaml") for one in said)
    return [(one.line, one.message) for one in said]


def test_each_finding_names_the_other_place() -> None:
    assert found(MAP, changed(POD, name="b"), MAP) == [
        (1, "ConfigMap shop/a is in the input twice, also at in.yaml:17"),
        (17, "ConfigMap shop/a is in the input twice, also at in.yaml:1"),
    ]


def test_of_three_each_is_told() -> None:
    assert [line for line, _ in found(MAP, MAP, MAP)] == [1, 8, 15]


TWICE = {
    "the same": (POD, POD),
    "another version": (changed(POD, apiVersion="apps/v1"), changed(POD, apiVersion="apps/v1beta1")),
    "another value": (MAP, {**MAP, "data": {"a": "b"}}),
    "default and no namespace": (changed(POD, namespace="default"), changed(POD, namespace=None)),
    "of Contrast's, and without a namespace": (POD, changed(POD, namespace=None, spec={})),
    "without a namespace, and of Contrast's": (changed(POD, namespace=None), changed(POD, spec={})),
    "an empty namespace": (changed(MAP, namespace="default"), changed(MAP, namespace="")),
    "one in a List": (MAP, a_list(MAP)),
    "both in one List": (a_list(MAP, MAP),),
    "each in a List": (a_list(MAP), a_list(a_list(MAP))),
    "a RuntimeClass in two namespaces, of which it has none": (
        changed(MAP, kind="RuntimeClass", apiVersion="node.k8s.io/v1"),
        changed(MAP, kind="RuntimeClass", apiVersion="node.k8s.io/v1", namespace="b"),
    ),
    "a hook with the class": (POD, changed(POD, annotations=HOOK)),
    "a template with the class": (POD, changed(POD, annotations=HOOK, spec={})),
    "two hooks": (changed(MAP, annotations=HOOK), changed(MAP, annotations=HOOK)),
    "two templates and a hook": (MAP, MAP, changed(MAP, annotations=HOOK)),
    "a hook without an event": (MAP, changed(MAP, annotations={"helm.sh/hook": ""})),
    "local to the package": (changed(MAP, annotations=LOCAL), changed(MAP, annotations=LOCAL)),
    "a package context that is applied": (
        changed(MAP, name="kptfile.kpt.dev", annotations=LOCAL),
        changed(MAP, name="kptfile.kpt.dev"),
    ),
}
DIFFERENT = {
    "another name": (MAP, changed(MAP, name="b")),
    "another kind": (MAP, changed(MAP, kind="Secret")),
    "another group": (POD, changed(POD, apiVersion="apps/v1")),
    "another namespace": (MAP, changed(MAP, namespace="b")),
    "of Contrast's in two namespaces": (POD, changed(POD, namespace="b")),
    "no namespace and another than default": (MAP, changed(MAP, namespace=None)),
    "generateName alone": (changed(POD, name=None, generateName="a"), changed(POD, name=None, generateName="a")),
    "a name like another's generateName": (POD, changed(POD, name=None, generateName="a")),
    "a hook and a template of nothing of Contrast's": (MAP, changed(MAP, annotations=HOOK)),
    "two package contexts of kpt": (changed(MAP, name="kptfile.kpt.dev", annotations=LOCAL),) * 2,
    "objects that are none": ({"a": 1}, {"a": 1}),
}


@pytest.mark.parametrize("name", TWICE)
def test_one_object_twice_is_found(name: str) -> None:
    assert len(found(*TWICE[name])) == (3 if name == "two templates and a hook" else 2)


@pytest.mark.parametrize("name", DIFFERENT)
def test_different_objects_are_left_alone(name: str) -> None:
    assert found(*DIFFERENT[name]) == []


def test_what_cannot_be_read_may_be_the_same_object() -> None:
    text = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {a: 1, a: 2}\n"
    resources = decode_stream(f"{text}---\n{text.replace(', a: 2', '')}".encode()).resources
    assert [one.code for one in find_duplicates(resources)] == ["CC0106"]
