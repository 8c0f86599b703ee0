from typing import Any

import pytest

from krm_function.krm import Field, File, FunctionError, KubeObject, MisuseError, ResourceRef
from krm_function.krm.fields import UPSTREAM_IDENTIFIER
from krm_function.text.errors import YamlError

DEPLOYMENT = """\
- # head comment
  apiVersion: apps/v1
  kind: Deployment
  metadata:
    name: "web" # the name
    namespace: shop
    labels: {app: web}
    annotations:
      internal.config.kubernetes.io/path: 'a/deploy.yaml'
      internal.config.kubernetes.io/index: '2'
      internal.config.kubernetes.io/id: '7'
      number: 5
  spec:
    replicas: 2   # two
    paused:
    containers:
    - name: main
      image: "nginx"
  # foot comment
"""


def deployment() -> KubeObject:
    return KubeObject(DEPLOYMENT, 10)


def edited(text: str, *replacements: tuple[str, str]) -> str:
    for old, new in replacements:
        assert text.count(old) == 1
        text = text.replace(old, new)
    return text


def test_getters() -> None:
    item = deployment()
    assert (item.api_version, item.kind, item.name, item.namespace) == ("apps/v1", "Deployment", "web", "shop")
    assert item.labels == {"app": "web"}
    assert item.annotations["number"] == "5"
    assert (item.path_annotation, item.index_annotation, item.id_annotation) == ("a/deploy.yaml", 2, "7")
    assert item.short_string == "apps/v1/Deployment/shop/web"
    assert item.ref == ResourceRef("apps/v1", "Deployment", "web", "shop")
    assert item.nested(("spec", "containers", 0, "image")) == "nginx"
    assert item.nested(("spec", "containers", 1, "image")) is None
    assert item.nested(("spec", "replicas", "deeper")) is None
    assert item.nested(("spec", "containers", -1, "name")) == "main"
    assert item.nested(("spec", "containers", -2)) is None
    assert item.nested(("spec", "containers", "name")) is None
    assert item.nested(("spec", 0)) is None
    assert item.line == 10
    assert not item.changed
    assert item.text == DEPLOYMENT


def test_group_version_kind() -> None:
    item = deployment()
    assert item.is_gvk("apps", "v1", "Deployment")
    assert not item.is_gvk("", "v1", "Deployment")
    assert not item.is_gvk("apps", "v1beta1", "Deployment")
    assert item.is_group_kind("apps", "Deployment")
    assert not item.is_group_kind("apps", "Pod")
    pod = KubeObject("apiVersion: v1\nkind: Pod\n")
    assert pod.is_gvk("", "v1", "Pod")
    assert pod.is_group_kind("", "Pod")


def test_legacy_annotations_are_read_as_well() -> None:
    item = KubeObject(
        "metadata:\n  annotations:\n"
        "    config.kubernetes.io/path: p\n    config.kubernetes.io/index: '3'\n    config.k8s.io/id: '4'\n"
    )
    assert (item.path_annotation, item.index_annotation, item.id_annotation) == ("p", 3, "4")


@pytest.mark.parametrize(
    ("value", "local"), [("'true'", True), ("true", True), ("'false'", False), ("false", False), ("''", False)]
)
def test_local_config(value: str, *, local: bool) -> None:
    text = f"metadata: {{annotations: {{config.kubernetes.io/local-config: {value}}}}}\n"
    assert KubeObject(text).is_local_config is local


@pytest.mark.parametrize(
    "text",
    [
        "resources: [a.yaml]\n",
        "metadata:\n",
        "metadata: text\n",
        "metadata: [a]\n",
        "metadata: {annotations: 5, labels: [x], name: {a: b}, namespace: [c]}\nkind: {}\napiVersion: []\n",
        "- a\n- b\n",
        "just text\n",
        "",
        "null\n",
    ],
)
def test_getters_never_raise_for_odd_shapes(text: str) -> None:
    item = KubeObject(text)
    assert (item.api_version, item.kind, item.name, item.namespace) == ("", "", "", "")
    assert [*item.labels, *item.annotations] == []
    assert (item.path_annotation, item.index_annotation, item.id_annotation) == ("", 0, "")
    assert not item.is_local_config
    assert item.ref is None
    assert item.short_string == ""
    assert item.nested(("metadata", "annotations", "x")) is None
    assert item.text == text


def test_an_index_that_is_no_number() -> None:
    assert KubeObject("metadata: {annotations: {config.kubernetes.io/index: '²'}}\n").index_annotation == 0


def test_nothing_is_parsed_before_someone_looks() -> None:
    item = KubeObject("- {broken\n", 3, ("v1", "Pod", "p"))
    assert (item.api_version, item.kind, item.name) == ("v1", "Pod", "p")
    assert item.text == "- {broken\n"
    assert repr(item) == "KubeObject(v1 Pod p)"
    with pytest.raises(YamlError) as raised:
        _ = item.namespace
    assert raised.value.line >= 3


def test_edits_keep_every_other_byte() -> None:
    item = deployment()
    item.set_nested(("spec", "replicas"), 3)
    item.annotations["number"] = "yes"
    item.set_nested(("spec", "containers", 0, "image"), "nginx:1.25")
    assert item.changed
    assert item.nested(("spec", "replicas")) == 3
    assert item.text == edited(
        DEPLOYMENT,
        ("replicas: 2   #", "replicas: 3   #"),
        ("number: 5", 'number: "yes"'),
        ('image: "nginx"', 'image: "nginx:1.25"'),
    )


def test_the_head_follows_an_edit() -> None:
    item = KubeObject(DEPLOYMENT, 1, ("apps/v1", "Deployment", "web"))
    item.set_nested(("metadata", "name"), "api")
    item.set_nested(("kind",), "StatefulSet")
    assert (item.api_version, item.kind, item.name) == ("apps/v1", "StatefulSet", "api")
    assert item.text == edited(DEPLOYMENT, ('name: "web"', "name: api"), ("Deployment", "StatefulSet"))


def test_maps_on_the_way_are_made() -> None:
    item = KubeObject("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n")
    item.annotations["a.b/c"] = "1"
    item.labels["app"] = "web"
    item.annotations["second"] = "x"
    assert item.value["metadata"] == {
        "name": "c",
        "annotations": {"a.b/c": "1", "second": "x"},
        "labels": {"app": "web"},
    }
    assert KubeObject(item.text).value == item.value
    assert item.text.startswith("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n")


def test_null_on_the_way_becomes_a_map() -> None:
    item = deployment()
    item.set_nested(("spec", "paused", "since"), "today")
    assert item.nested(("spec", "paused")) == {"since": "today"}
    assert KubeObject(item.text).value == item.value


def test_null_is_a_value() -> None:
    item = deployment()
    item.set_nested(("spec", "paused"), None)
    item.set_nested(("spec", "replicas"), None)
    assert item.text == edited(DEPLOYMENT, ("replicas: 2", "replicas: null"))
    assert KubeObject(item.text).value["spec"]["replicas"] is None


def test_the_same_value_is_no_edit() -> None:
    item = deployment()
    item.set_nested(("spec", "replicas"), 2)
    item.labels["app"] = "web"
    assert item.text is DEPLOYMENT
    assert not item.changed


def test_a_string_is_not_the_number_it_reads_as() -> None:
    item = deployment()
    item.annotations["number"] = "5"
    assert item.text == edited(DEPLOYMENT, ("number: 5", 'number: "5"'))


def test_lists_grow_at_their_end() -> None:
    item = deployment()
    item.set_nested(("spec", "containers", 1), {"name": "side"})
    assert item.nested(("spec", "containers", 1, "name")) == "side"
    assert KubeObject(item.text).value == item.value


def test_remove() -> None:
    item = deployment()
    assert item.remove_nested(("spec", "replicas"))
    assert not item.remove_nested(("spec", "replicas"))
    assert not item.remove_nested(("spec", "containers", 4))
    assert not item.remove_nested(())
    assert item.remove_nested(("spec", "containers", 0))
    assert item.value["spec"] == {"paused": None, "containers": []}
    assert KubeObject(item.text).value == item.value


def test_an_edit_after_the_text_was_asked_for() -> None:
    item = deployment()
    item.set_nested(("spec", "replicas"), 3)
    assert "replicas: 3" in item.text
    item.set_nested(("spec", "replicas"), 4)
    assert item.text == edited(DEPLOYMENT, ("replicas: 2", "replicas: 4"))


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        (("spec", "replicas", "x"), 1, "web spec.replicas: is an integer, a map is expected"),
        (("spec", 0), 1, "web spec: is a map, a list is expected"),
        (("spec", "containers", "x"), 1, "web spec.containers: is a list, a map is expected"),
        (("spec", "containers", 2), 1, "web spec.containers: has no element 2"),
        (("spec", "containers", -2), 1, "web spec.containers: has no element -2"),
        (("spec", "new", 0), 1, "web spec.new: there is no list yet"),
    ],
)
def test_a_path_that_leads_nowhere(path: tuple[str | int, ...], value: Any, problem: str) -> None:
    item = deployment()
    with pytest.raises(FunctionError, match=problem):
        item.set_nested(path, value)
    assert not item.changed


def test_annotations_that_are_no_map() -> None:
    item = KubeObject("metadata: {annotations: [a]}\n")
    with pytest.raises(FunctionError, match=r"metadata\.annotations: is a list, a map is expected"):
        item.annotations["a"] = "b"
    with pytest.raises(FunctionError, match="is a list, a map is expected"):
        KubeObject("- a\n- b\n").labels["a"] = "b"


def test_annotations_are_strings() -> None:
    with pytest.raises(MisuseError, match="annotations are strings, not int"):
        deployment().annotations["a"] = 1  # type: ignore[assignment]


def test_the_annotation_of_kpt_is_left_alone() -> None:
    with pytest.raises(FunctionError, match="belongs to kpt"):
        deployment().annotations[UPSTREAM_IDENTIFIER] = "x"


def test_replace_text() -> None:
    item = KubeObject(DEPLOYMENT, 1, ("apps/v1", "Deployment", "web"))
    item.set_nested(("spec", "replicas"), 3)
    item.replace_text(DEPLOYMENT.replace('"web"', '"api"'))
    assert item.changed
    assert (item.name, item.nested(("spec", "replicas"))) == ("api", 2)
    item.replace_text(DEPLOYMENT)
    assert (item.changed, item.name) == (False, "web")


def test_a_new_object() -> None:
    item = KubeObject.from_value({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}})
    assert (item.line, item.kind, item.name) == (0, "ConfigMap", "c")
    item.set_nested(("data", "k"), "on")
    assert item.text == 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  k: "on"\n'


def test_results_about_an_object() -> None:
    item = deployment()
    found = item.result("too many", "warning", ("spec", "replicas"), proposed_value=1)
    assert found.resource_ref == item.ref
    assert found.field == Field("spec.replicas", None, 1)
    assert found.file == File("a/deploy.yaml", 2)
    assert str(found) == "[warning] apps/v1/Deployment/shop/web spec.replicas: too many"


def test_results_about_an_object_that_has_no_name() -> None:
    found = KubeObject("kind: Kustomization\n").result("is empty", path=("resources",))
    assert (found.resource_ref, found.field, found.message) == (None, None, "resources: is empty")
