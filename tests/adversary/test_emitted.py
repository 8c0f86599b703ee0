"""The mark of what a render adds, on what no render adds: an error in every command, so nothing is dropped for it."""

import json
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import pytest

from krm_function.kubernetes.workload import EMITTED, ORIGINAL
from krm_function.text.writer import dump
from tests.hosts.running import called
from tests.world import HANDLERS, a_list, an_object, codes, config, coordinator, good, pod_spec, run, stream

Json = dict[str, Any]

HANDLER = HANDLERS["metal-qemu-snp"]
MANIFEST = json.dumps({"Policies": {}, "ReferenceValues": {}})


def a_class(name: str = HANDLER, handler: Any = HANDLER, **fields: Any) -> Json:
    head = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": name}, "handler": handler}
    return {key: value for key, value in {**head, **fields}.items() if value is not None}


def a_map(data: Any = None, metadata: Mapping[str, Any] | None = None, **fields: Any) -> Json:
    data = {"manifest.json": MANIFEST} if data is None else data
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "m", **(metadata or {})},
        "data": data,
        **fields,
    }


# why somebody would mark it: to have it dropped from what is deployed, or replaced by something of ours
HOSTILE: dict[str, Any] = {
    "a workload, which then runs nowhere": an_object(),
    "the coordinator, without which nothing attests": coordinator(),
    "an ordinary workload": an_object(spec=pod_spec(runtimeClassName=None)),
    "a pod with a placeholder, alone in its stream": an_object("Pod"),
    "a network policy that keeps others out": {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "deny"},
        "spec": {"podSelector": {}},
    },
    "a secret": {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {}},
    "a ConfigMap of the application's": a_map({"MODE": "safe"}),
    "a manifest beside something else": a_map({"manifest.json": MANIFEST, "MODE": "safe"}),
    "a manifest beside binary data": a_map(binaryData={"x": "AA=="}),
    "an immutable ConfigMap": a_map(immutable=True),
    "a ConfigMap without data": a_map({}),
    "a manifest that is none": a_map({"manifest.json": "{}"}),
    "a manifest with a field of theirs": a_map({"manifest.json": MANIFEST.replace("}}", '}, "x": 1}')}),
    "a manifest that two readers read in two ways": a_map(
        {"manifest.json": MANIFEST.replace("}}", '}, "policies": {}}')}
    ),
    "a manifest that is no JSON": a_map({"manifest.json": "{"}),
    "a manifest that is no text": a_map({"manifest.json": 5}),
    "a ConfigMap that somebody waits for": a_map(metadata={"finalizers": ["example.com/x"]}),
    "a ConfigMap of an owner": a_map(metadata={"ownerReferences": []}),
    "a ConfigMap of another group": {**a_map(), "apiVersion": "example.com/v1"},
    "a class that runs without a VM": a_class("runc", "runc"),
    "a class of another runtime": a_class("kata", "kata-qemu"),
    "a class with the name of ours and another handler": a_class(HANDLER, "runc"),
    "a class with the handler of ours and another name": a_class("gvisor", HANDLER),
    "a class without a handler": a_class(handler=None),
    "a class named like a placeholder": a_class("contrast-cc", "contrast-cc"),
    "a class named like an explicit placeholder": a_class("contrast-cc-metal-qemu-snp", "contrast-cc-metal-qemu-snp"),
    "a class with a field that no render writes": a_class(deletionPolicy="x"),
    "a class with another overhead": a_class(overhead={"podFixed": {}, "x": 1}),
    "a class with another scheduling": a_class(scheduling={"nodeName": "x"}),
    "a class with an older version": {**a_class(), "apiVersion": "node.k8s.io/v1beta1"},
    "a class that Helm keeps for its tests": a_class(
        metadata={"name": HANDLER, "annotations": {"helm.sh/hook": "test"}}
    ),
    "a manifest that Helm puts in the place of another": a_map(
        metadata={"annotations": {"helm.sh/hook": "post-install"}}
    ),
    "a whole list": {**a_list(coordinator(), an_object()), "metadata": {}},
    "nothing but metadata": {"metadata": {"name": "x"}},
}
# what a render added, whichever: with another hash, for another platform, as hosts and the API server write it
GENUINE: dict[str, Any] = {
    "a manifest": a_map(),
    "a manifest with labels of a host": a_map(metadata={"labels": {"team": "a"}, "namespace": "shop"}),
    "a manifest out of a cluster": a_map(metadata={"uid": "1", "resourceVersion": "2", "creationTimestamp": None}),
    "a class of today": a_class(overhead={"podFixed": {"memory": "1Mi"}}, scheduling={"nodeSelector": {"a": "b"}}),
    "a class of another release": a_class("contrast-cc-metal-qemu-snp-ffff", "contrast-cc-metal-qemu-snp-ffff"),
    "a class of another platform": a_class("contrast-cc-metal-qemu-tdx-ffff", "contrast-cc-metal-qemu-tdx-ffff"),
    "a class with a prefix": a_class(f"shop-{HANDLER}"),
}


def marked(value: Json, **more: str) -> Json:
    value = deepcopy(value)
    metadata = value["metadata"]
    metadata["annotations"] = {**metadata.get("annotations", {}), EMITTED: "true", **more}
    return value


@pytest.mark.parametrize("name", HOSTILE)
def test_a_mark_on_anything_else_is_an_error_and_nothing_is_written(name: str) -> None:
    value = marked(HOSTILE[name])
    beside = [coordinator(), an_object(name="other"), value]
    for documents in (
        beside,
        [value],
        [a_list(*beside)] if value["kind" if "kind" in value else "metadata"] != "List" else beside,
    ):
        made = run(*documents)
        assert "CC0116" in codes(made)
        assert made.texts == tuple(one.text for one in stream(*documents))
        found = next(one for one in made.findings if one.code == "CC0116")
        assert found.path[-1] == EMITTED


@pytest.mark.parametrize("name", HOSTILE)
def test_neither_uninject_nor_a_render_without_configuration_drops_it(name: str) -> None:
    data = dump(marked(HOSTILE[name])).encode()
    for command in ("uninject", "post-render", "manifest"):
        ran = called(command, stdin=data)
        assert (ran.code, ran.out) == (1, b"")
        assert "CC0116" in ran.err


@pytest.mark.parametrize("name", GENUINE)
def test_what_a_render_added_is_dropped(name: str) -> None:
    value = marked(GENUINE[name])
    made = good(coordinator(), value, to=config())
    assert made.texts[1] is None
    ran = called("uninject", stdin=dump(an_object()).encode() + b"---\n" + dump(value).encode())
    assert (ran.code, ran.out) == (0, dump(an_object()).encode())


def test_an_addition_has_no_record() -> None:
    value = marked(a_map(), **{ORIGINAL: "[]"})
    assert codes(run(coordinator(), value)) == ["CC0116"]
    assert codes(run(a_list(coordinator(), value))) == ["CC0116", "CC0115"]


@pytest.mark.parametrize(
    "text", ['"contrast-krm.dev\\/emitted": x', "'contrast-krm.dev/emitted': {a: b}", "contrast-krm.dev/emitted: 5"]
)
def test_the_mark_may_be_written_in_any_way(text: str) -> None:
    head = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: x\n  annotations:\n    "
    made = run(coordinator(), f"{head}{text}\nspec: {{template: {{spec: {{runtimeClassName: contrast-cc}}}}}}\n")
    assert "CC0116" in codes(made)
