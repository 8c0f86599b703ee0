"""The natural Python way, and each mistake of a Python programmer: it works, or it is an error. Nothing is lost."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from krm_function.krm import (
    FieldError,
    FunctionError,
    KubeObject,
    MisuseError,
    ResourceList,
    run,
)
from krm_function.krm.fields import UPSTREAM_IDENTIFIER

CONTAINERS = ("spec", "template", "spec", "containers")
DEPLOYMENT = """\
- apiVersion: apps/v1
  kind: Deployment
  metadata:
    name: web
    labels: {app: 'web'} # labels
  spec:
    replicas: 2 # two
    template:
      spec:
        containers:
        # the main one
        - name: main # keep
          image: "nginx:1"
          args: ['-c', "x"]
          resources:
            limits: {memory: 256Mi}
        # the other
        - name: side
          image: 'busybox'
          ports:
          - containerPort: 80 # http
          - containerPort: 443
        volumes: []
"""


def deployment() -> KubeObject:
    return KubeObject(DEPLOYMENT, 5)


def edited(*replacements: tuple[str, str], text: str = DEPLOYMENT) -> str:
    for old, new in replacements:
        assert text.count(old) == 1
        text = text.replace(old, new)
    return text


def containers(item: KubeObject) -> list[Any]:
    found = item.nested(CONTAINERS)
    assert isinstance(found, list)
    return found


# --- in place


IMAGES = edited(('"nginx:1"', "new"), ("'busybox'", "new"))


def test_what_is_changed_in_place_is_written() -> None:
    item = deployment()
    for container in containers(item):
        container["image"] = "new"
    assert item.changed
    assert item.text == IMAGES


def test_setting_back_what_was_changed_in_place_is_the_same() -> None:
    item = deployment()
    found = containers(item)
    for container in found:
        container["image"] = "new"
    item.set_nested(CONTAINERS, found)
    assert item.text == IMAGES


def test_setting_a_changed_copy_writes_the_same_bytes() -> None:
    item = deployment()
    found = copy.deepcopy(containers(item))
    for container in found:
        container["image"] = "new"
    assert not item.changed
    item.set_nested(CONTAINERS, found)
    assert item.text == IMAGES


def test_sub_objects_are_live() -> None:
    item = deployment()
    for container in item.sub_objects(CONTAINERS):
        container.set_nested(("image",), "new")
    assert item.text == IMAGES


def test_a_change_is_seen_by_every_getter() -> None:
    item = deployment()
    first = item.sub_objects(CONTAINERS)[0]
    containers(item)[0]["image"] = "a"
    assert first.get_str(("image",)) == item.get_str((*CONTAINERS, 0, "image")) == first.data["image"] == "a"
    assert item.value["spec"]["template"]["spec"]["containers"][0] is first.data


def test_a_change_that_is_taken_back_leaves_the_very_text() -> None:
    item = deployment()
    item.value["metadata"]["labels"]["app"] = "api"
    assert item.text != DEPLOYMENT
    item.value["metadata"]["labels"]["app"] = "web"
    assert not item.changed
    assert item.text is DEPLOYMENT


def test_looking_changes_nothing() -> None:
    item = deployment()
    assert (len(containers(item)), item.get_map(("spec",)), dict(item.labels)) == (
        2,
        item.value["spec"],
        {"app": "web"},
    )
    assert item.text is DEPLOYMENT


def test_an_edit_after_the_text_was_read_is_written_as_well() -> None:
    item = deployment()
    containers(item)[0]["image"] = "a"
    assert 'image: "nginx:1"' not in item.text
    containers(item)[0]["image"] = "nginx:2"
    assert item.text == edited(('"nginx:1"', '"nginx:2"'))


def test_the_name_follows_a_change_in_place() -> None:
    item = KubeObject(DEPLOYMENT, 1, ("apps/v1", "Deployment", "web"))
    item.value["metadata"]["name"] = "api"
    assert item.name == "api"
    assert item.text == edited(("name: web", "name: api"))


def test_numbers_that_are_the_same_to_kubernetes_are_no_change() -> None:
    item = deployment()
    item.value["spec"]["replicas"] = 2.0
    assert item.text == DEPLOYMENT
    item.value["spec"]["replicas"] = True
    assert item.text == edited(("replicas: 2 ", "replicas: true "))


def test_the_order_of_keys_is_no_change() -> None:
    item = deployment()
    item.set_nested(("metadata",), dict(reversed(item.value["metadata"].items())))
    assert item.text == DEPLOYMENT


# --- keys and elements


def test_keys_are_deleted_in_place() -> None:
    item = deployment()
    del containers(item)[0]["resources"]
    containers(item)[1].pop("ports")
    assert item.text == edited(
        ("          resources:\n            limits: {memory: 256Mi}\n", ""),
        ("          ports:\n          - containerPort: 80 # http\n          - containerPort: 443\n", ""),
    )


def test_null_is_a_value_and_no_removal() -> None:
    item = deployment()
    containers(item)[1]["image"] = None
    item.set_nested((*CONTAINERS, 0, "image"), None)
    assert item.text == edited(("'busybox'", "null"), ('"nginx:1"', "null"))
    assert item.get_str((*CONTAINERS, 0, "image")) is None
    assert item.remove_nested((*CONTAINERS, 0, "image"))
    assert not item.remove_nested((*CONTAINERS, 0, "image"))


def test_removing_elements_while_going_through_the_sub_objects() -> None:
    item = deployment()
    for container in item.sub_objects(CONTAINERS):
        containers(item).remove(container.data)
    assert containers(item) == []
    assert KubeObject(item.text).value == item.value


def test_deleting_labels_while_going_through_them() -> None:
    item = deployment()
    item.labels.update(tier="front", team="shop")
    for key in item.labels:
        if key != "team":
            del item.labels[key]
    assert item.labels == {"team": "shop"}
    assert item.text == edited(("{app: 'web'}", '{"team": "shop"}'))


def test_python_itself_refuses_to_change_a_dict_under_its_iterator() -> None:
    item = deployment()
    keys = iter(item.value["metadata"])
    item.value["metadata"]["new"] = next(keys)
    with pytest.raises(RuntimeError):
        next(keys)


def test_comprehensions_slices_and_filters_keep_what_stays() -> None:
    item = deployment()
    item.set_nested(CONTAINERS, [one for one in containers(item) if one["name"] != "main"])
    start, end = DEPLOYMENT.index("        - name: main"), DEPLOYMENT.index("        # the other")
    assert item.text == DEPLOYMENT[:start] + DEPLOYMENT[end:]


def test_an_element_put_in_front_leaves_the_others() -> None:
    item = deployment()
    containers(item).insert(0, {"name": "first"})
    assert item.text == edited(("        # the main one\n", "        - name: first\n        # the main one\n"))


def test_a_sorted_list_takes_its_comments_along() -> None:
    item = deployment()
    before = item.text
    containers(item).sort(key=lambda one: str(one["name"]))
    assert item.text == before
    containers(item).sort(key=lambda one: str(one["name"]), reverse=True)
    main = before[before.index("        # the main one") : before.index("        # the other")]
    side = before[before.index("        # the other") : before.index("        volumes")]
    assert item.text == before.replace(main + side, side + main)


def test_a_list_sorted_and_changed_at_once() -> None:
    item = deployment()
    found = containers(item)
    found.reverse()
    found[0]["ports"].reverse()
    found[0]["image"] = "new"
    found.append({"name": "third"})
    del found[1]["args"]
    assert KubeObject(item.text).value == item.value
    for comment in ("# the main one\n        - name: main # keep", "# the other\n        - name: side", "80 # http"):
        assert comment in item.text
    assert item.text.index("containerPort: 443") < item.text.index("containerPort: 80 # http")


def test_flow_lists_are_sorted_with_their_quotes() -> None:
    item = deployment()
    containers(item)[0]["args"].sort(reverse=True)
    assert item.text == edited(("['-c', \"x\"]", "[\"x\", '-c']"))


def test_values_are_the_same_object_when_set_twice() -> None:
    item, other = deployment(), deployment()
    limits = {"cpu": "1"}
    item.set_nested((*CONTAINERS, 0, "resources", "limits"), limits)
    other.set_nested((*CONTAINERS, 1, "resources"), {"limits": limits})
    limits["cpu"] = "2"
    assert item.get_str((*CONTAINERS, 0, "resources", "limits", "cpu")) == "2"
    assert KubeObject(item.text).value == item.value
    assert KubeObject(other.text).value == other.value
    assert 'cpu: "2"' in other.text


def test_one_map_twice_in_one_list() -> None:
    item = deployment()
    containers(item).append(containers(item)[0])
    containers(item)[0]["image"] = "new"
    assert [one["image"] for one in KubeObject(item.text).value["spec"]["template"]["spec"]["containers"]] == [
        *("new", "busybox", "new")
    ]


def test_tuples_are_lists() -> None:
    item = deployment()
    item.set_nested((*CONTAINERS, 0, "args"), ("-c", "y"))
    item.set_nested((*CONTAINERS, 1, "env"), [{"name": "A", "hosts": ("a", "b")}])
    found = item.get_list((*CONTAINERS, 1, "env", 0, "hosts"))
    assert found == ["a", "b"]
    found.append("c")
    assert item.nested((*CONTAINERS, 0, "args")) == ["-c", "y"]
    assert KubeObject(item.text).nested((*CONTAINERS, 1, "env", 0, "hosts")) == ["a", "b", "c"]
    assert """args: ['-c', "y"]""" in item.text


def test_a_list_is_a_path_as_well() -> None:
    item = deployment()
    item.set_nested(["spec", "replicas"], 3)  # type: ignore[arg-type]
    assert item.get_int(["spec", "replicas"]) == 3  # type: ignore[call-overload]


def test_a_negative_index_counts_from_the_end() -> None:
    item = deployment()
    item.set_nested((*CONTAINERS, -1, "image"), "new")
    assert item.text == edited(("'busybox'", "new"))
    assert item.remove_nested((*CONTAINERS, -1))
    assert len(containers(item)) == 1


# --- mistakes


PATHS: dict[str, Callable[[KubeObject], object]] = {
    "nested": lambda item: item.nested("spec.replicas"),  # type: ignore[arg-type]
    "one key": lambda item: item.nested("spec"),  # type: ignore[arg-type]
    "set": lambda item: item.set_nested("metadata.labels.app", "x"),  # type: ignore[arg-type]
    "remove": lambda item: item.remove_nested("spec"),  # type: ignore[arg-type]
    "typed": lambda item: item.get_int("spec.replicas", 1),  # type: ignore[call-overload]
    "sub-objects": lambda item: item.sub_objects("spec.template"),  # type: ignore[arg-type]
    "default": lambda item: item.setdefault("spec", {}),  # type: ignore[call-overload]
    "result": lambda item: item.result("is odd", path="spec"),  # type: ignore[arg-type]
    "sub-object": lambda item: item.sub_objects(CONTAINERS)[0].set_nested("image", "x"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("use", PATHS.values(), ids=PATHS)
def test_a_string_is_no_path(use: Callable[[KubeObject], object]) -> None:
    item = deployment()
    with pytest.raises(TypeError, match=r'write \("spec", "replicas"\), not "spec\.replicas"'):
        use(item)
    assert not item.changed


@pytest.mark.parametrize("path", [(True,), (1.0,), (None,), (("spec",),), 5, None])
def test_parts_of_a_path_are_keys_and_indexes(path: Any) -> None:
    with pytest.raises(MisuseError, match="a path "):
        deployment().nested(path)


def test_a_mistake_in_the_code_names_its_line_and_what_to_write() -> None:
    def wrong(resources: ResourceList) -> None:
        resources.items[0].set_nested("metadata.labels.app", "secret")  # type: ignore[arg-type]

    data = f"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{DEPLOYMENT}".encode()
    output, results = run(wrong, data)
    (line,) = results.lines()
    here = wrong.__code__.co_firstlineno + 1
    assert line.startswith(f"[error] bug of the function: MisuseError in test_live.py:{here}: a path is a tuple")
    assert results.exit_code == 70
    assert "secret" not in line
    assert output.startswith(data)


DATA: dict[str, tuple[Any, str]] = {
    "object": (object(), r"spec\.x: plain data is dict, list, str, int, float, bool and None, not object"),
    "inside": ({"a": [1, {2}]}, r"spec\.x\.a\[1\]: plain data is .*, not set"),
    "bytes": (b"x", "not bytes"),
    "key": ({"a": {5: "x"}}, r"spec\.x\.a: a key is a string, not int"),
    "none as key": ({None: 1}, "a key is a string, not NoneType"),
    "generator": ((one for one in "ab"), "not generator"),
}


@pytest.mark.parametrize(("value", "problem"), DATA.values(), ids=DATA)
def test_only_plain_data_can_be_set(value: Any, problem: str) -> None:
    item = deployment()
    with pytest.raises(MisuseError, match=problem):
        item.set_nested(("spec", "x"), value)
    assert not item.changed


@pytest.mark.parametrize(("value", "problem"), DATA.values(), ids=DATA)
def test_only_plain_data_can_be_put_in_place(value: Any, problem: str) -> None:
    item = deployment()
    item.value["spec"]["x"] = value
    with pytest.raises(MisuseError, match=problem):
        _ = item.text


def test_a_map_inside_itself() -> None:
    item = deployment()
    spec = item.value["spec"]
    spec["again"] = spec
    with pytest.raises(MisuseError, match="inside itself"):
        _ = item.text
    with pytest.raises(MisuseError, match="inside itself"):
        item.set_nested(("spec", "x"), spec)


def test_maps_inside_each_other_many_times_end_at_once() -> None:
    """As the containers of a pod that were each given a reference to the pod."""
    item = deployment()
    spec = item.value["spec"]
    spec["children"] = [{"parent": spec} for _ in range(20)]
    with pytest.raises(MisuseError, match="inside itself"):
        _ = item.text
    new = KubeObject.from_value({"kind": "Foo"})
    new.value["spec"] = spec
    with pytest.raises(MisuseError, match="inside itself"):
        _ = new.text


def test_an_index_out_of_range() -> None:
    item = deployment()
    assert item.get_str((*CONTAINERS, 7, "image")) is None
    assert item.get_str((*CONTAINERS, 7, "image"), "none") == "none"
    with pytest.raises(FieldError, match=r"web spec\.template\.spec\.containers: has no element 7"):
        item.set_nested((*CONTAINERS, 7, "image"), "x")
    with pytest.raises(FieldError, match=r"spec\.nowhere: there is no list yet"):
        item.set_nested(("spec", "nowhere", 0), "x")
    assert item.text is DEPLOYMENT


def test_a_default_cannot_swallow_changes() -> None:
    item = deployment()
    assert item.get_list(("spec", "tolerations")) is None
    assert item.get_map(("spec", "selector")) is None
    assert item.sub_objects(("spec", "tolerations")) == ()
    item.setdefault(("spec", "template", "spec", "tolerations"), []).append({"key": "a"})
    item.setdefault(("spec", "selector"), {})["app"] = "web"
    assert item.setdefault(("spec", "replicas"), 7) == 2
    assert item.setdefault(("spec", "minReadySeconds"), 7) == 7
    assert KubeObject(item.text).value == item.value
    assert item.nested(("spec", "template", "spec", "tolerations")) == [{"key": "a"}]
    with pytest.raises(FieldError, match=r"spec\.replicas: is an integer, a list is expected"):
        item.setdefault(("spec", "replicas"), [])


def test_labels_are_live_and_hold_strings() -> None:
    item = deployment()
    item.labels["app"] = "api"
    assert item.text == edited(("'web'}", '"api"}'))
    item.labels = {"tier": "front"}
    assert item.labels == {"tier": "front"}
    item.labels = item.labels
    item.labels |= {"b": "c"}
    assert item.labels == {"tier": "front", "b": "c"}
    item.annotations.setdefault("note", "x")
    assert item.annotations.pop("note") == "x"
    with pytest.raises(KeyError):
        del item.annotations["note"]
    for wrong in (1, None, True, ["a"]):
        with pytest.raises(MisuseError, match="labels are strings"):
            item.labels["app"] = wrong  # type: ignore[assignment]
    with pytest.raises(MisuseError, match="labels are strings, not int"):
        item.labels[5] = "x"  # type: ignore[index]


def test_identity_is_set_by_properties() -> None:
    item = KubeObject(DEPLOYMENT, 1, ("apps/v1", "Deployment", "web"))
    twin = deployment()
    assert item.same_id(twin)
    item.namespace = "shop"
    assert not item.same_id(twin)
    item.name, item.kind, item.api_version = "api", "StatefulSet", "apps/v2"
    assert item.short_string == "apps/v2/StatefulSet/shop/api"
    item.namespace = ""
    assert item.text == edited(
        ("apps/v1", "apps/v2"), ("kind: Deployment", "kind: StatefulSet"), ("name: web", "name: api")
    )
    with pytest.raises(MisuseError, match=r"metadata\.name is a string, not an integer"):
        item.name = 5  # type: ignore[assignment]


def test_owners() -> None:
    item = deployment()
    assert list(item.owner_references) == []
    item.setdefault(("metadata", "ownerReferences"), []).append({"kind": "ReplicaSet", "name": "w", "uid": "1"})
    assert [owner.get_str(("kind",)) for owner in item.owner_references] == ["ReplicaSet"]


UPSTREAM = ("metadata", "annotations", UPSTREAM_IDENTIFIER)
WAYS: dict[str, Callable[[KubeObject], object]] = {
    "set": lambda item: item.set_nested(UPSTREAM, "x"),
    "live": lambda item: item.value["metadata"]["annotations"].update({UPSTREAM_IDENTIFIER: "x"}),
    "map": lambda item: item.annotations.update({UPSTREAM_IDENTIFIER: "x"}),
    "taken out": lambda item: item.value["metadata"]["annotations"].pop(UPSTREAM_IDENTIFIER),
    "removed": lambda item: item.remove_nested(UPSTREAM),
}


@pytest.mark.parametrize("change", WAYS.values(), ids=WAYS)
def test_the_annotation_of_kpt_is_changed_by_no_way(change: Callable[[KubeObject], object]) -> None:
    item = KubeObject(f"kind: A\nmetadata:\n  annotations:\n    {UPSTREAM_IDENTIFIER}: a\n    b: c\n")
    with pytest.raises(FunctionError, match="belongs to kpt"):
        _ = (change(item), item.text)


def test_the_function_config_is_only_read() -> None:
    def change(resources: ResourceList) -> None:
        assert resources.function_config is not None
        resources.function_config.set_nested(("data", "a"), "b")

    data = b"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\nfunctionConfig:\n  data: {a: c}\n"
    output, results = run(change, data)
    assert results.exit_code == 70
    assert "the functionConfig is only read" in results.lines()[0]
    assert output.startswith(data)


# --- types


TYPED: dict[str, tuple[Callable[[KubeObject], object], str]] = {
    "string": (lambda item: item.get_str(("spec", "replicas")), "spec.replicas: is an integer, a string is expected"),
    "integer": (lambda item: item.get_int(("kind",)), "kind: is a string, an integer is expected"),
    "boolean": (
        lambda item: item.get_bool(("spec", "replicas")),
        "spec.replicas: is an integer, a boolean is expected",
    ),
    "float": (lambda item: item.get_float(("kind",), 1.0), "kind: is a string, a number is expected"),
    "list": (lambda item: item.get_list(("spec",)), "spec: is a map, a list is expected"),
    "map": (lambda item: item.get_map(CONTAINERS), "spec.template.spec.containers: is a list, a map is expected"),
    "way": (lambda item: item.get_str(("kind", "x", "y")), "kind: is a string, a map is expected"),
    "index": (lambda item: item.get_str(("spec", 0)), "spec: is a map, a list is expected"),
    "strings": (
        lambda item: item.get_strings(CONTAINERS),
        "spec.template.spec.containers[0]: is a map, a string is expected",
    ),
    "string map": (lambda item: item.get_string_map(("spec",)), "spec.replicas: is an integer, a string is expected"),
    "sub-objects": (
        lambda item: item.sub_objects((*CONTAINERS, 0, "args")),
        "spec.template.spec.containers[0].args[0]: is a string, a map is expected",
    ),
    "sub-object": (
        lambda item: item.sub_objects(CONTAINERS)[1].get_str(("ports", 0, "containerPort")),
        "spec.template.spec.containers[1].ports[0].containerPort: is an integer, a string is expected",
    ),
}


@pytest.mark.parametrize(("look", "problem"), TYPED.values(), ids=TYPED)
def test_a_field_of_another_type_is_an_error_that_names_object_and_field(
    look: Callable[[KubeObject], object], problem: str
) -> None:
    def check(resources: ResourceList) -> None:
        look(resources.items[0])

    data = f"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{DEPLOYMENT}".encode()
    output, results = run(check, data)
    assert results.lines() == [f"[error] apps/v1/Deployment/web {problem}"]
    assert results.exit_code == 1
    (entry,) = results.to_data()
    assert entry["field"]["path"] == problem.partition(":")[0]
    assert output.startswith(data)


def test_a_boolean_is_no_integer_and_a_float_no_integer() -> None:
    item = KubeObject("kind: A\nspec: {flag: true, half: 0.5, one: 1, none: null}\n")
    for field in ("flag", "half"):
        with pytest.raises(FieldError, match="an integer is expected"):
            item.get_int(("spec", field))
    with pytest.raises(FieldError, match="is a boolean, a number is expected"):
        item.get_float(("spec", "flag"))
    assert (item.get_float(("spec", "one")), item.get_float(("spec", "half"))) == (1.0, 0.5)
    assert item.get_bool(("spec", "flag"), default=False) is True
    assert (item.get_int(("spec", "none")), item.get_int(("spec", "none"), 4), item.get_int(("x",), 5)) == (None, 4, 5)
    assert item.get_string_map(("spec", "none")) is None


def test_typed_lists_and_maps_are_live() -> None:
    item = deployment()
    arguments = item.get_strings((*CONTAINERS, 0, "args"))
    labels = item.get_string_map(("metadata", "labels"))
    assert arguments is not None
    assert labels is not None
    arguments[1] = "y"
    labels["app"] = "api"
    assert item.text == edited(("'-c', \"x\"", "'-c', \"y\""), ("'web'", '"api"'))


def test_a_sub_object_names_its_place_of_now() -> None:
    item = deployment()
    side = item.sub_objects(CONTAINERS)[1]
    limits = item.sub_objects(CONTAINERS)[0].sub_object(("resources", "limits"))
    assert limits is not None
    containers(item).reverse()
    found = side.result("no limits", "warning", ("resources",))
    assert str(found) == "[warning] apps/v1/Deployment/web spec.template.spec.containers[0].resources: no limits"
    assert str(limits.result("low")).endswith("containers[1].resources.limits: low")
    assert item.sub_object(("spec", "nothing")) is None


def test_a_sub_object_is_replaced_as_a_whole() -> None:
    item = deployment()
    first = item.sub_objects(CONTAINERS)[0]
    first.set_nested((), {"name": "main", "image": "new"})
    assert item.nested((*CONTAINERS, 0)) == {"name": "main", "image": "new"}
    assert "# keep" in item.text
    with pytest.raises(MisuseError, match="a sub-object is a map, not a string"):
        first.set_nested((), "x")


# --- anchors, JSON, new objects


def test_a_change_does_not_leak_through_an_alias() -> None:
    text = "kind: A\nspec:\n  a: &x {k: 1}\n  b: *x\n  c:\n    <<: *x\n    own: 2\n"
    item = KubeObject(text)
    item.value["spec"]["b"]["k"] = 5
    assert item.value["spec"]["a"] == {"k": 1}
    item.value["spec"]["c"]["k"] = 6
    assert (
        KubeObject(item.text).value
        == item.value
        == {
            "kind": "A",
            "spec": {"a": {"k": 1}, "b": {"k": 5}, "c": {"k": 6, "own": 2}},
        }
    )
    other = KubeObject(text)
    other.value["spec"]["a"]["k"] = 7
    assert KubeObject(other.text).value == {
        "kind": "A",
        "spec": {"a": {"k": 7}, "b": {"k": 1}, "c": {"k": 1, "own": 2}},
    }
    third = KubeObject(text)
    del third.value["spec"]["c"]["k"]
    assert KubeObject(third.text).value["spec"]["c"] == {"own": 2}


def test_an_alias_that_would_come_before_its_anchor() -> None:
    item = KubeObject("kind: A\nspec:\n- &x {name: a, k: 1} # first\n- name: b # second\n  like: *x\n")
    item.value["spec"].reverse()
    assert [one["name"] for one in KubeObject(item.text).value["spec"]] == ["b", "a"]
    assert KubeObject(item.text).value == item.value


def test_json_stays_json() -> None:
    text = '{"kind": "A", "spec": {"list": [{"name": "b"}, {"name": "a"}], "n": 1}}'
    item = KubeObject(text)
    item.value["spec"]["list"].sort(key=lambda one: one["name"])
    item.value["spec"]["n"] = 2
    assert item.text == text.replace('{"name": "b"}, {"name": "a"}', '{"name": "a"}, {"name": "b"}').replace(
        '"n": 1', '"n": 2'
    )


def test_keys_that_are_no_strings_in_the_text_are_strings_in_the_data() -> None:
    item = KubeObject("kind: A\ndata:\n  80: http # port\n  true: x\n")
    item.value["data"]["80"] = "web"
    assert item.text == "kind: A\ndata:\n  80: web # port\n  true: x\n"


def test_a_new_object_is_live_from_the_data_it_was_made_of() -> None:
    value: dict[str, Any] = {"kind": "ConfigMap", "data": {}}
    item = KubeObject.from_value(value)
    value["data"]["a"] = "b"
    assert item.text == "kind: ConfigMap\ndata:\n  a: b\n"
    item.set_nested((), {"kind": "Secret"})
    assert (item.kind, item.text) == ("Secret", "kind: Secret\n")
    with pytest.raises(MisuseError, match="an object is made of a map, not of a list"):
        KubeObject.from_value([])  # type: ignore[arg-type]
    with pytest.raises(MisuseError, match="data: a key is a string, not int"):
        KubeObject.from_value({"data": {5: "x"}})


def test_an_added_object_is_written_as_it_is_at_the_end() -> None:
    resources = ResourceList.parse(b"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n")
    item = resources.add({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}})
    item.labels["app"] = "web"
    item.value["data"] = {"k": "v"}
    assert ResourceList.parse(resources.to_bytes()).items[0].value == item.value
    with pytest.raises(ValueError, match="part of a list already"):
        resources.add(item)
    item.value["data"]["k"] = object()
    with pytest.raises(MisuseError, match=r"data\.k: plain data"):
        resources.to_bytes()


def test_an_object_that_is_no_map_can_become_one() -> None:
    item = KubeObject("")
    assert item.nested(("spec",)) is None
    item.set_nested(("kind",), "A") if item.value else item.set_nested((), {"kind": "A"})
    assert item.text == "kind: A\n"


# --- which element is which


LIST = """\
kind: A
ports:
- number: 80 # web
  open: yes
# secure
- number: 443 # tls
names:
- a # the first
- b # the second
- c # the third
"""


def test_a_map_without_a_name_is_known_by_being_the_same_map() -> None:
    item = KubeObject(LIST)
    ports = item.value["ports"]
    ports[0]["number"], ports[1]["number"] = 81, 444
    ports.reverse()
    assert item.text == LIST.replace(
        "- number: 80 # web\n  open: yes\n# secure\n- number: 443 # tls\n",
        "# secure\n- number: 444 # tls\n- number: 81 # web\n  open: yes\n",
    )


def test_a_renamed_map_is_the_same_map() -> None:
    item = deployment()
    found = containers(item)
    found[0]["name"] = "web"
    found.insert(0, {"name": "main", "image": "x"})
    assert item.text == edited(
        ("        # the main one\n", "        - name: main\n          image: x\n        # the main one\n"),
        ("- name: main # keep", "- name: web # keep"),
    )


def test_a_text_in_the_place_of_another_keeps_the_comment_of_the_place() -> None:
    item = KubeObject(LIST)
    item.value["names"][1] = "x"
    assert item.text == LIST.replace("- b #", "- x #")
    item.value["names"][2] = "y"
    assert item.text == LIST.replace("- b #", "- x #").replace("- c #", '- "y" #')


def test_another_map_in_the_place_of_one_takes_none_of_its_comments() -> None:
    item = deployment()
    containers(item)[0] = {"name": "other", "image": "nginx:1"}
    assert "# keep" not in item.text
    assert KubeObject(item.text).value == item.value


def test_a_whole_object_is_replaced() -> None:
    item = deployment()
    before = item.value
    item.set_nested((), {"kind": "Pod", "metadata": {"name": "p"}})
    assert (item.kind, item.name, item.nested(("spec",))) == ("Pod", "p", None)
    assert KubeObject(item.text).value == {"kind": "Pod", "metadata": {"name": "p"}}
    item.set_nested((), before)
    assert item.text is DEPLOYMENT
