"""Which objects are workloads of Contrast: docs/facts/contrast.md#selection."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_function.kubernetes.kinds import KINDS
from krm_function.kubernetes.objects import dig
from krm_function.render.select import select
from tests.world import a_list, an_object, pod_spec

TEMPLATES = {
    "Pod": (),
    "ReplicationController": ("spec", "template"),
    "Deployment": ("spec", "template"),
    "DaemonSet": ("spec", "template"),
    "StatefulSet": ("spec", "template"),
    "ReplicaSet": ("spec", "template"),
    "Job": ("spec", "template"),
    "CronJob": ("spec", "jobTemplate", "spec", "template"),
}
VERSIONS = {"Pod": "v1", "ReplicationController": "v1", "Job": "batch/v1", "CronJob": "batch/v1"}


def reasons(document: Any) -> list[str]:
    made = select(document)
    assert made.workloads == ()
    assert made.findings == ()
    return [template.skipped for template in made.skipped]


def test_exactly_the_eight_kinds_of_contrast_are_known() -> None:
    assert set(KINDS) == set(TEMPLATES)


@pytest.mark.parametrize("kind", TEMPLATES)
def test_every_kind_is_selected_at_its_template(kind: str) -> None:
    value = an_object(kind)
    made = select(value)
    assert (made.skipped, made.findings) == ((), ())
    (one,) = made.workloads
    assert one.template_path == TEMPLATES[kind]
    assert one.pod_spec == pod_spec()
    assert (one.ref.kind, one.ref.name, one.ref.namespace) == (kind, "web", "shop")
    assert one.ref.api_version == VERSIONS.get(kind, "apps/v1")


@pytest.mark.parametrize("kind", TEMPLATES)
def test_a_pod_spec_one_step_off_the_template_path_is_not_read(kind: str) -> None:
    value = an_object(kind)
    value["other"], value["spec"] = {"template": {"spec": pod_spec()}}, {}
    assert reasons(value) == ["no runtimeClassName"]


@pytest.mark.parametrize("kind", TEMPLATES)
@pytest.mark.parametrize("version", ["v2", "extensions/v1beta1", "apps/v1beta1", "batch/v1beta1"])
def test_another_api_version_is_skipped_and_both_versions_are_named(kind: str, version: str) -> None:
    (reason,) = reasons(an_object(kind) | {"apiVersion": version})
    assert reason == f"apiVersion {version} is not {VERSIONS.get(kind, 'apps/v1')}"


@pytest.mark.parametrize("version", [None, 1, ["v1"]])
def test_a_missing_or_ill_typed_api_version_is_called_missing(version: Any) -> None:
    assert reasons(an_object("Pod") | {"apiVersion": version}) == ["apiVersion missing is not v1"]


@pytest.mark.parametrize("kind", ["PodTemplate", "Rollout", "Service", "ConfigMap", "deployment", "List ", "", None, 3])
def test_other_kinds_get_no_answer_at_all(kind: Any) -> None:
    made = select(an_object() | {"kind": kind})
    assert (made.workloads, made.skipped, made.findings) == ((), (), ())


@pytest.mark.parametrize("document", [None, "text", 5, [], {}, [an_object()], {"kind": "List"}, a_list(None, 3, "x")])
def test_documents_that_are_no_objects_get_no_answer(document: Any) -> None:
    made = select(document)
    assert (made.workloads, made.skipped, made.findings) == ((), (), ())


def test_every_member_of_a_list_is_selected_with_its_place() -> None:
    inner = a_list(an_object("Pod", "c"))
    document = a_list(an_object("Job", "a"), {"kind": "Service"}, an_object("CronJob", "b"), inner)
    made = select(document)
    assert [(one.ref.name, one.root) for one in made.workloads] == [
        ("a", ("items", 0)),
        ("b", ("items", 2)),
        ("c", ("items", 3, "items", 0)),
    ]
    assert made.workloads[1].spec_path == ("items", 2, "spec", "jobTemplate", "spec", "template", "spec")
    assert all(one.pod_spec == pod_spec() and one.object is dig(document, one.root) for one in made.workloads)


@pytest.mark.parametrize("depth", [0, 1, 4, 5, 40])
def test_lists_in_lists_are_followed_as_deep_as_kubectl_does(depth: int) -> None:
    document: Any = an_object()
    for _ in range(depth):
        document = a_list(document)
    made = select(document)
    assert len(made.workloads) == 1
    assert made.findings == ()


@pytest.mark.parametrize("items", [[], None, {}, [an_object(name="x")]])
@pytest.mark.parametrize("kind", [*TEMPLATES, "RuntimeClass"])
def test_a_workload_that_has_items_is_an_error(kind: str, items: Any) -> None:
    """kubectl would apply the items, the API server the workload."""
    value = (an_object(kind) if kind in TEMPLATES else {"kind": kind}) | {"items": items}
    (found,) = select(value).findings
    assert (found.code, found.path) == ("CC0111", ("items",))


@pytest.mark.parametrize("kind", ["ConfigMap", "Service", "PodList", "DeploymentList", "list", "LIST", "", "Kptfile"])
def test_items_are_looked_into_whatever_the_kind(kind: str) -> None:
    assert [one.root for one in select({"kind": kind, "items": [an_object()]}).workloads] == [("items", 0)]


@pytest.mark.parametrize(
    ("member", "codes"),
    [
        ({}, ["CC0113"]),
        ({"kind": ""}, ["CC0113"]),
        ({"kind": 5, "apiVersion": None}, ["CC0113"]),
        ({"apiVersion": "v1"}, []),
        ({"kind": "Service"}, []),
    ],
)
@pytest.mark.parametrize("kind", ["Pod", "CronJob", "RuntimeClass"])
def test_a_member_takes_no_kind_from_its_list(kind: str, member: Any, codes: list[str]) -> None:
    """kubectl gives a member without kind and apiVersion those of a PodList."""
    made = select({"kind": f"{kind}List", "items": [member | {"spec": {}}]})
    assert [found.code for found in made.findings] == codes


@pytest.mark.parametrize(
    "name",
    [
        "contrast-cc",
        "kata-cc-isolation",
        "contrast-cc-metal-qemu-snp",
        "contrast-cc-metal-qemu-tdx-gpu-0123abcd",
        "contrast-insecure",
        "contrast-insecure-metal-qemu",
        "contrast-cc-nonsense",
        "contrast-cc-",
        "Contrast-CC",
    ],
)
def test_a_name_that_means_contrast_is_selected_even_to_be_refused(name: str) -> None:
    assert len(select(an_object(spec=pod_spec(runtimeClassName=name))).workloads) == 1


@pytest.mark.parametrize(
    "name",
    ["kata", "kata-qemu", "runc", "my-contrast-cc", "x-contrast-cc-metal-qemu-snp", "kata-cc-isolation2", "gvisor"],
)
def test_a_name_that_holds_contrast_without_beginning_with_it_is_skipped(name: str) -> None:
    assert reasons(an_object(spec=pod_spec(runtimeClassName=name))) == [f"runtime class {name} is not Contrast's"]


def test_an_empty_name_is_skipped_and_shown_as_empty() -> None:
    assert reasons(an_object(spec=pod_spec(runtimeClassName=""))) == ["runtime class (empty) is not Contrast's"]


def test_a_pod_without_a_runtime_class_is_skipped() -> None:
    assert reasons(an_object(spec=pod_spec(runtimeClassName=None))) == ["no runtimeClassName"]
    assert reasons(an_object(spec={"runtimeClassName": None})) == ["no runtimeClassName"]


def test_text_about_contrast_elsewhere_in_the_pod_selects_nothing() -> None:
    spec = pod_spec(runtimeClassName=None, nodeSelector={"runtimeClassName": "contrast-cc"})
    assert reasons(an_object(spec=spec, annotations={"runtimeClassName": "contrast-cc"})) == ["no runtimeClassName"]


@pytest.mark.parametrize(
    "name, actual",
    [(True, "a boolean"), (3, "an integer"), (1.5, "a fractional number"), (["contrast-cc"], "a list"), ({}, "a map")],
)
def test_a_runtime_class_of_another_type_is_a_located_error(name: Any, actual: str) -> None:
    made = select(a_list({}, an_object("CronJob", spec=pod_spec(runtimeClassName=name))))
    (found,) = made.findings
    assert (made.workloads, made.skipped, found.code) == ((), (), "CC0207")
    assert found.path == ("items", 1, "spec", "jobTemplate", "spec", "template", "spec", "runtimeClassName")
    assert found.message == f"runtimeClassName must be a string, not {actual}"
    assert found.ref is not None
    assert found.ref.name == "web"


@pytest.mark.parametrize("kind", TEMPLATES)
@pytest.mark.parametrize("wrong, actual", [("text", "a string"), (7, "an integer"), (False, "a boolean")])
def test_a_wrong_shape_on_the_way_to_the_pod_spec_is_found_at_its_first_step(
    kind: str, wrong: Any, actual: str
) -> None:
    steps = (*TEMPLATES[kind], "spec")
    for depth in range(len(steps)):
        value = an_object(kind)
        place = value
        for part in steps[:depth]:
            place = place[part]
        place[steps[depth]] = wrong
        made = select(a_list(value))
        (found,) = made.findings
        assert (made.workloads, made.skipped, found.code) == ((), (), "CC0207")
        assert found.path == ("items", 0, *steps[: depth + 1])
        assert found.message == f"{steps[depth]} must be a map, not {actual}"


@pytest.mark.parametrize("kind", TEMPLATES)
def test_a_list_in_place_of_a_map_on_the_way_to_the_pod_spec_is_an_error(kind: str) -> None:
    steps = (*TEMPLATES[kind], "spec")
    for depth in range(len(steps)):
        value = an_object(kind)
        place = value
        for part in steps[:depth]:
            place = place[part]
        place[steps[depth]] = [place[steps[depth]]]
        (found,) = select(value).findings
        assert (found.code, found.path) == ("CC0207", steps[: depth + 1])
        assert found.message == f"{steps[depth]} must be a map, not a list"


@pytest.mark.parametrize("spec", [None, {}])
@pytest.mark.parametrize("kind", TEMPLATES)
def test_an_absent_or_empty_spec_is_skipped_without_a_complaint(kind: str, spec: Any) -> None:
    assert reasons(an_object(kind) | {"spec": spec}) == ["no runtimeClassName"]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["kind", "apiVersion", "items", "spec", "template", "metadata", "jobTemplate"]),
                inner | st.sampled_from(["List", "Pod", "Deployment", "CronJob", "v1", "apps/v1", "batch/v1"]),
                max_size=4,
            )
        ),
    )
)
def test_no_document_makes_selection_raise(document: Any) -> None:
    made = select(document)
    assert all(found.severity == "error" for found in made.findings)
