import json
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from krm_function.krm import (
    KubeObject,
    NotAResourceListError,
    ResourceList,
    Result,
    Results,
    is_resource_list,
)
from krm_function.text.errors import YamlError, decode
from krm_function.text.parse import parse

Payload = Callable[[str], bytes]

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "added"}}
SHARED = (
    HEAD
    + """\
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: a, labels: &labels {app: web}}
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: b
    labels: *labels
"""
)


def value_of(data: bytes) -> Any:
    return parse(decode(data).text).value


def said(text: str = "m") -> Results:
    return Results([Result(text)])


# --- identity


def test_identity(recorded: bytes) -> None:
    resources = ResourceList.parse(recorded)
    assert not resources.changed
    assert resources.to_bytes() == recorded


def test_identity_after_everything_was_looked_at(recorded: bytes) -> None:
    resources = ResourceList.parse(recorded)
    values = [item.value for item in resources.items]
    assert values == value_of(recorded)["items"]
    assert resources.function_config is not None
    assert resources.function_config.value == value_of(recorded)["functionConfig"]
    assert resources.to_bytes() == recorded


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + HEAD.encode() + b"items:\n- kind: Pod\n",
        (HEAD + "items:\n- kind: Pod\n  # foot\n").replace("\n", "\r\n").encode(),
        (HEAD + "items:\n- kind: Pod").encode(),
        (HEAD + "items: []\n").encode(),
        (HEAD + "items:\n").encode(),
        (HEAD + "items: []").encode(),
        (HEAD + "items: [{kind: Pod}, {kind: Job}]\n").encode(),
        (HEAD + "items:\n  - kind: Pod\n\n  # between\n  - kind: Job\n").encode(),
        f"---\n{HEAD}items: []\n".encode(),
        SHARED.encode(),
        b'{"kind":"ResourceList","apiVersion":"config.kubernetes.io/v1","items":[{"kind":"Pod"}]}',
        b"kind: ResourceList\napiVersion: 'config.kubernetes.io/v1alpha1'\nitems: []\n",
    ],
)
def test_identity_of_odd_styles(data: bytes) -> None:
    assert ResourceList.parse(data).to_bytes() == data


# --- what is in it


def test_items_in_order(payload: Payload) -> None:
    items = ResourceList.parse(payload("kpt-eval-exec-args")).items
    assert [item.short_string for item in items] == ["apps/v1/Deployment/web", "v1/ConfigMap/conf", "v1/Service/svc"]
    assert [item.path_annotation for item in items] == ["deploy.yaml", "sub/cm.yaml", "sub/cm.yaml"]
    assert [item.index_annotation for item in items] == [0, 0, 1]
    assert [item.line for item in items] == [4, 48, 68]


def test_looking_at_kinds_parses_nothing(payload: Payload, monkeypatch: pytest.MonkeyPatch) -> None:
    resources = ResourceList.parse(payload("kz-hash-over"))
    monkeypatch.setattr("krm_function.krm.kube_object.parse", None)
    assert [(item.api_version, item.kind, item.name) for item in resources.items] == [
        ("apps/v1", "Deployment", "pre-web"),
        ("v1", "ConfigMap", "pre-gen"),
    ]
    assert resources.to_bytes() == payload("kz-hash-over")


def test_the_version_received_is_answered() -> None:
    for version in ("v1", "v1beta1", "v1alpha1"):
        data = f"apiVersion: config.kubernetes.io/{version}\nkind: ResourceList\nitems: []\n".encode()
        resources = ResourceList.parse(data)
        resources.add(POD)
        assert value_of(resources.to_bytes())["apiVersion"] == f"config.kubernetes.io/{version}"
        assert resources.api_version == f"config.kubernetes.io/{version}"


@pytest.mark.parametrize("text", ["", "functionConfig: null\n", "functionConfig:\n", "functionConfig: ~\n"])
def test_no_function_config(text: str) -> None:
    assert ResourceList.parse(f"{HEAD}items: []\n{text}".encode()).function_config is None


def test_the_function_config_as_an_item(payload: Payload) -> None:
    resources = ResourceList.parse(payload("kz-gen-add"))
    assert [resources.is_function_config(item) for item in resources.items] == [True]
    resources = ResourceList.parse(payload("kz-hash-over"))
    assert [resources.is_function_config(item) for item in resources.items] == [False, False]
    resources = ResourceList.parse(payload("kpt-render-second"))
    assert not any(resources.is_function_config(item) for item in resources.items)


# --- edits


@pytest.mark.parametrize(
    ("name", "index", "old", "new"),
    [
        ("kustomize-exec-transformer", 1, b'example.com/x: "y"', b'example.com/x: "on"'),
        ("kz-odd", 0, b"      a: b\n      kustomize", b'      a: "on"\n      kustomize'),
        ("kpt-eval-exec-args", 1, b'example.com/x: "y"', b'example.com/x: "on"'),
        ("kpt-render-second", 3, b'example.com/x: "y"', b'example.com/x: "on"'),
        ("kpt-yml", 2, b'example.com/x: "y"', b'example.com/x: "on"'),
    ],
)
def test_one_annotation_and_no_other_byte(payload: Payload, name: str, index: int, old: bytes, new: bytes) -> None:
    data = payload(name)
    resources = ResourceList.parse(data)
    key = old.strip().split(b":")[0].decode()
    resources.items[index].annotations[key] = "on"
    assert data.count(old) == 1
    assert resources.changed
    assert resources.to_bytes() == data.replace(old, new)


def test_a_new_annotation_adds_one_line_to_every_item(recorded: bytes) -> None:
    resources = ResourceList.parse(recorded)
    for item in resources.items:
        item.annotations["example.com/new"] = "yes: # quoted"
    output = resources.to_bytes()
    expected = value_of(recorded)
    for item in expected["items"]:
        item["metadata"]["annotations"]["example.com/new"] = "yes: # quoted"
    assert value_of(output) == expected
    added = b'example.com/new: "yes: # quoted"'
    kept = [line for line in output.splitlines(keepends=True) if line.strip() != added]
    if recorded.count(b"annotations: {") == 0:
        assert b"".join(kept) == recorded
    again = ResourceList.parse(output)
    for item in again.items:
        assert item.remove_nested(("metadata", "annotations", "example.com/new"))
    assert again.to_bytes() == recorded


def test_comments_and_quotes_survive(payload: Payload) -> None:
    resources = ResourceList.parse(payload("kpt-eval-exec-args"))
    web = resources.items[0]
    web.set_nested(("spec", "replicas"), 3)
    web.set_nested(("spec", "template", "spec", "containers", 0, "image"), "nginx:1.26")
    expected = payload("kpt-eval-exec-args").replace(b"replicas: 2 # two", b"replicas: 3 # two")
    assert resources.to_bytes() == expected.replace(b'"nginx:1.25"', b'"nginx:1.26"')


def test_line_ends_and_byte_order_mark_stay(payload: Payload) -> None:
    data = b"\xef\xbb\xbf" + payload("kustomize-exec-transformer").replace(b"\n", b"\r\n")
    resources = ResourceList.parse(data)
    resources.items[0].set_nested(("spec", "replicas"), 3)
    assert resources.to_bytes() == data.replace(b"replicas: 2\r\n", b"replicas: 3\r\n")
    resources.add(POD)
    resources.results.info("done")
    output = resources.to_bytes()
    assert output.startswith(b"\xef\xbb\xbf")
    assert output.count(b"\n") == output.count(b"\r\n")


def test_a_text_that_the_caller_spliced(payload: Payload) -> None:
    resources = ResourceList.parse(payload("kz-hash-over"))
    item = resources.items[0]
    item.replace_text(item.text.replace("nginx:9.9", "nginx:10"))
    assert resources.to_bytes() == payload("kz-hash-over").replace(b"nginx:9.9", b"nginx:10")


# --- adding and removing


def test_add(recorded: bytes) -> None:
    resources = ResourceList.parse(recorded)
    added = resources.add({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "on"}, "data": {"a": "1e3"}})
    added.annotations["x"] = "y"
    assert resources.items[-1] is added
    output = resources.to_bytes()
    expected = value_of(recorded)
    expected["items"].append(added.value)
    assert value_of(output) == expected
    assert added.value["metadata"] == {"name": "on", "annotations": {"x": "y"}}
    before, after = recorded.splitlines(), output.splitlines()
    at = next(index for index, line in enumerate(after) if index >= len(before) or line != before[index])
    assert after[at + len(after) - len(before) :] == before[at:], "one block of new lines"


@pytest.mark.parametrize("items", ["items: []", "items:", "items: null", "items: [ ]", "items: [] # none"])
def test_add_to_nothing(items: str) -> None:
    for rest in ("", "functionConfig:\n  kind: X\n"):
        resources = ResourceList.parse(f"{HEAD}{items}\n{rest}".encode())
        resources.add(POD)
        resources.add(POD)
        value = value_of(resources.to_bytes())
        assert value["items"] == [POD, POD]
        assert ("functionConfig" in value) is bool(rest)


def test_remove(payload: Payload) -> None:
    data = payload("kpt-eval-exec-args")
    resources = ResourceList.parse(data)
    first, second, third = resources.items
    resources.remove(second)
    assert resources.items == (first, third)
    output = resources.to_bytes()
    assert output == data.replace(second.text.encode(), b"")
    with pytest.raises(ValueError, match="not in list"):
        resources.remove(second)


def test_remove_all_and_add(recorded: bytes) -> None:
    resources = ResourceList.parse(recorded)
    for item in resources.items:
        resources.remove(item)
    assert value_of(resources.to_bytes())["items"] == []
    resources.add(POD)
    output = value_of(resources.to_bytes())
    assert output["items"] == [POD]
    assert output["functionConfig"] == value_of(recorded)["functionConfig"]


def test_an_added_object_can_be_removed_again(payload: Payload) -> None:
    resources = ResourceList.parse(payload("kz-odd"))
    resources.remove(resources.add(POD))
    assert resources.to_bytes() == payload("kz-odd")


def test_an_object_is_in_one_list_once(payload: Payload) -> None:
    resources = ResourceList.parse(payload("kz-odd"))
    made = KubeObject.from_value(POD)
    assert resources.add(made) is made
    for item in (made, resources.items[0]):
        with pytest.raises(ValueError, match="part of a list already"):
            resources.add(item)


STYLES = [
    "items: []",
    "items:",
    "items:\n- kind: Pod\n  x: |\n    text\n\n",
    "items:\n- kind: Pod\n  x: |+\n    text\n\n",
    "items:\n- kind: Pod\n  x: |-\n    text",
    "items:\n  - kind: Pod\n  # foot\n# root\nfunctionConfig: {}\n",
    "items: [{kind: Pod}, {kind: Job, x: [1,\n 2]}]  # c\nresults: []\n",
    "results:\n- message: a\nitems:\n- {}\n",
    "items:\n- kind: Pod\n...\n",
    "items:\n-\n  kind: Pod\n- kind: Job # c\n\n\n# t",
    "items:\n- kind: Pod\n  metadata: {name: a}\nresults:\n  - message: one\nfunctionConfig:\n  kind: X",
    "items:\n- kind: Pod\n  a: &x {b: c}\n- kind: Job\n  a: *x\nfunctionConfig: {k: *x}\n",
]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("style", STYLES)
def test_every_combination_of_changes_reads_back(style: str, newline: str) -> None:
    data = (HEAD + style).replace("\n", newline).encode()
    count = len(ResourceList.parse(data).items)
    new = {**POD, "data": {"a": "x\ny\n", "b": "on"}}
    for edited, removed, added, said in product(range(-1, count), range(-1, count), range(3), range(2)):
        resources = ResourceList.parse(data)
        expected = value_of(data)
        if edited >= 0:
            resources.items[edited].annotations["a"] = "b: c\nd\n"
        items = [item.value for item in resources.items]
        if removed >= 0:
            resources.remove(resources.items[removed])
            del items[removed]
        expected["items"] = items + [resources.add(new).value for _ in range(added)]
        if said:
            resources.results.error("m")
            expected["results"] = [*(expected.get("results") or []), {"message": "m", "severity": "error"}]
        output = value_of(resources.to_bytes())
        assert {**output, "items": output["items"] or []} == expected


# --- results


def test_results_are_added(recorded: bytes) -> None:
    resources = ResourceList.parse(recorded)
    resources.results.info("two\nlines")
    resources.results.append(resources.items[0].result("look", "warning", ("spec",)))
    output = value_of(resources.to_bytes())
    assert [(entry["severity"], entry["message"]) for entry in output["results"]] == [
        ("warning", "look"),
        ("info", "two lines"),
    ]
    assert {key: output[key] for key in value_of(recorded)} == value_of(recorded)
    assert resources.to_bytes().startswith(recorded.rstrip(b"\n"))


def test_results_of_earlier_functions_stay_first() -> None:
    earlier = "results:\n- message: before # kept\n  severity: info\n  unknown: [1]\n"
    for data in (f"{HEAD}{earlier}items: []\n", f"{HEAD}items: []\n{earlier}", f"{HEAD}items:\n- {{}}\n{earlier}"):
        resources = ResourceList.parse(data.encode())
        assert resources.to_bytes() == data.encode()
        resources.results.error("now")
        for output in (resources.to_bytes(), resources.failed_bytes(resources.results)):
            assert value_of(output)["results"] == [
                {"message": "before", "severity": "info", "unknown": [1]},
                {"message": "now", "severity": "error"},
            ]


@pytest.mark.parametrize(
    ("results", "earlier"),
    [("[]", []), ("", []), ("null", []), ("{name: x, items: [{message: m}]}", [{"message": "m"}]), ("{}", [])],
)
def test_odd_forms_of_earlier_results(results: str, earlier: list[Any]) -> None:
    resources = ResourceList.parse(f"{HEAD}items: []\nresults: {results}\n".encode())
    resources.results.info("m")
    assert value_of(resources.to_bytes())["results"] == [*earlier, {"message": "m", "severity": "info"}]


def test_results_that_are_no_list() -> None:
    with pytest.raises(NotAResourceListError, match="not a list"):
        ResourceList.parse(f"{HEAD}items: []\nresults: text\n".encode())


def test_failure_keeps_the_items(recorded: bytes) -> None:
    resources = ResourceList.parse(recorded)
    resources.items[0].annotations["a"] = "b"
    resources.add(POD)
    resources.remove(resources.items[0])
    output = resources.failed_bytes(said("because"))
    assert output.startswith(recorded.rstrip(b"\n"))
    assert value_of(output) == {**value_of(recorded), "results": [{"message": "because", "severity": "error"}]}


# --- JSON


def test_json_is_answered_with_json(payload: Payload) -> None:
    value = value_of(payload("kustomize-exec-transformer"))
    for indent in (None, 2):
        data = json.dumps(value, indent=indent).encode()
        resources = ResourceList.parse(data)
        assert resources.to_bytes() == data
        resources.items[0].annotations["a"] = "b"
        resources.items[1].set_nested(("data", "num"), "on")
        resources.add(POD)
        resources.results.info("done")
        output = json.loads(resources.to_bytes())
        expected = json.loads(data)
        expected["items"][0]["metadata"]["annotations"]["a"] = "b"
        expected["items"][1]["data"]["num"] = "on"
        expected["items"].append(POD)
        expected["results"] = [{"message": "done", "severity": "info"}]
        assert output == expected
        failed = json.loads(resources.failed_bytes(said()))
        assert failed == {**json.loads(data), "results": [{"message": "m", "severity": "error"}]}


def test_empty_json() -> None:
    data = b'{"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": []}'
    resources = ResourceList.parse(data)
    resources.add(POD)
    resources.results.info("done")
    assert json.loads(resources.to_bytes()) == {
        **json.loads(data),
        "items": [POD],
        "results": [{"message": "done", "severity": "info"}],
    }


# --- aliases between items


def test_aliases_between_items_are_written_out_when_something_changes() -> None:
    resources = ResourceList.parse(SHARED.encode())
    first, second = resources.items
    assert second.labels == {"app": "web"}
    assert not resources.changed
    second.labels["tier"] = "a"
    output = value_of(resources.to_bytes())
    assert output["items"][0]["metadata"]["labels"] == {"app": "web"}
    assert output["items"][1]["metadata"]["labels"] == {"app": "web", "tier": "a"}
    assert b"*labels" not in resources.to_bytes()
    resources.remove(first)
    assert [item["metadata"]["name"] for item in value_of(resources.to_bytes())["items"]] == ["b"]
    assert resources.failed_bytes(said()).startswith(SHARED.encode())


def test_an_alias_into_the_function_config() -> None:
    text = f"{HEAD}functionConfig: {{kind: X, data: &d {{a: b}}}}\nitems:\n- kind: Y\n  data: *d\n"
    resources = ResourceList.parse(text.encode())
    assert resources.items[0].nested(("data", "a")) == "b"
    assert resources.to_bytes() == text.encode()


# --- what is none


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the input is empty"),
        (" \n\n", "the input is empty"),
        ("kind: Pod\n", "not one document with items"),
        (f"{HEAD}functionConfig: {{}}\n", "not one document with items"),
        (f"{HEAD}items: text\n", "not one document with items"),
        (f"{HEAD}items: []\n---\nkind: Pod\n", "not one document with items"),
        ("- a\n", "not one document with items"),
        ("apiVersion: v1\nkind: List\nitems: []\n", "but v1/List"),
        ("kind: ResourceList\nitems: []\n", "but ResourceList"),
        ("apiVersion: config.kubernetes.io/v1\nkind: X\nitems: []\n", "but config.kubernetes.io/v1/X"),
        ("items: []\n", "but nothing"),
    ],
)
def test_not_a_resource_list(text: str, problem: str) -> None:
    with pytest.raises(NotAResourceListError, match=problem):
        ResourceList.parse(text.encode())
    assert not is_resource_list(text) or text.startswith(HEAD)


@pytest.mark.parametrize("data", [b"\xff\xfe", b"a: [\n", f"{HEAD}items: &a [*a]\n".encode() + b"\x80"])
def test_unreadable(data: bytes) -> None:
    with pytest.raises(YamlError):
        ResourceList.parse(data)
    assert not is_resource_list(data) or data.startswith(HEAD.encode())


def test_is_resource_list(recorded: bytes) -> None:
    assert is_resource_list(recorded)
    assert is_resource_list(recorded.decode())
    assert is_resource_list(b"\xef\xbb\xbf" + recorded)
    assert is_resource_list("\ufeff" + recorded.decode())
    assert is_resource_list(recorded.replace(b"\n", b"\r\n"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": []}', True),
        ("# comment\nkind: ResourceList\nitems: []\napiVersion: config.kubernetes.io/v1beta1\n", True),
        ("---\napiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n", True),
        ("kind: ConfigMap\ndata:\n  a: |\n    apiVersion: config.kubernetes.io/v1\n    kind: ResourceList\n", False),
        ("kind: Pod\n---\napiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n", False),
        ("apiVersion: v1\nkind: ResourceList\nitems: []\n", False),
        ("a: 'ResourceList", False),
        ("", False),
        ("kind: ResourceList", False),
    ],
)
def test_is_resource_list_in_doubt(text: str, *, expected: bool) -> None:
    assert is_resource_list(text) is expected
    assert is_resource_list(text.encode()) is expected
