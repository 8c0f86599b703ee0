"""Reading: what is parsed, what an earlier render did is taken back."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_function.kubernetes.kinds import KINDS
from krm_function.kubernetes.objects import objects, reference
from krm_function.kubernetes.resource import Edit, ObjectEdits, Resource
from krm_function.kubernetes.workload import EMITTED, ORIGINAL
from krm_function.render.read import read
from krm_function.render.select import select
from krm_function.render.write import with_edits, write
from krm_function.text.changes import ABSENT
from krm_function.text.parse import parse
from tests.world import a_list, added, an_object, coordinator, documents, stream


def edited(*values: Any) -> tuple[Resource, ...]:
    """The documents after a render that set one field of every workload and added one."""
    resources = stream(*values)
    source = read(resources)
    edits = []
    for index, document in documents(source).items():
        for root, value in objects(document.value):
            ref = reference(value)
            if ref.kind in KINDS:
                where = (*root, *KINDS[ref.kind][1], "spec")
                changes = (
                    Edit("set", (*where, "runtimeClassName"), "contrast-cc", f"rendered-{ref.name}", "CC0404", ""),
                    Edit("set", (*where, "hostname"), ABSENT, ref.name, "CC0404", ""),
                )
                edits.append((index, ObjectEdits(root, ref, changes)))
    made = write(with_edits(source.resources, edits), ())
    assert made.findings == ()
    return tuple(one._replace(text=text or "") for one, text in zip(resources, made.texts, strict=True))


def texts(resources: tuple[Resource, ...]) -> list[str]:
    """What the resources read as."""
    source = read(resources)
    assert source.findings == ()
    return [documents(source)[index].text for index in range(len(resources))]


@pytest.mark.parametrize("kind", [*KINDS, "List", "RuntimeClass"])
def test_every_kind_that_can_matter_is_parsed(kind: str) -> None:
    (resource,) = stream({"apiVersion": "v1", "kind": kind, "metadata": {"name": "x"}})
    source = read([resource])
    assert documents(source)[0].value["kind"] == kind
    assert (added(source), source.findings) == ({}, ())


@pytest.mark.parametrize("kind", ["Service", "ConfigMap", "Secret", "PodTemplate", ""])
def test_other_kinds_are_not_even_parsed(kind: str) -> None:
    resource = Resource("this: is: no: YAML", kind=kind)
    assert read([resource]) == ((resource,), ())


def test_the_kinds_to_parse_may_be_chosen() -> None:
    resources = stream({"kind": "ConfigMap"}, {"kind": "Secret"}, {"kind": "Pod"})
    assert set(documents(read(resources, ("ConfigMap", "Secret")))) == {0, 1}


@pytest.mark.parametrize("mark", [EMITTED, ORIGINAL])
def test_a_resource_of_any_kind_with_a_mark_of_ours_is_parsed(mark: str) -> None:
    resource = Resource(f"kind: Service\nmetadata:\n  annotations:\n    {mark}: '[]'\n", kind="Service")
    source = read([resource])
    assert set(added(source)) | set(documents(source)) == {0}


def test_what_a_render_added_is_kept_apart() -> None:
    annotated = {"kind": "ConfigMap", "metadata": {"annotations": {EMITTED: "true"}}}
    source = read(stream({"kind": "Pod"}, annotated, {"kind": "Job"}))
    assert (set(documents(source)), set(added(source))) == ({0, 2}, {1})


def test_the_mark_counts_as_an_annotation_and_nowhere_else() -> None:
    value = {"kind": "ConfigMap", "metadata": {"labels": {EMITTED: "true"}}, "data": {EMITTED: "true"}}
    source = read(stream(value))
    assert (set(documents(source)), set(added(source))) == ({0}, set())


def test_a_problem_of_one_resource_does_not_keep_others_from_being_read() -> None:
    resources = (
        Resource("a: [", 7, "first.yaml", kind="Pod"),
        *stream(an_object()),
        Resource("b: {", 9, "last.yaml", kind="Job"),
    )
    source = read(resources)
    assert set(documents(source)) == {1}
    assert [(found.code, found.file) for found in source.findings] == [
        ("CC0101", "first.yaml"),
        ("CC0101", "last.yaml"),
    ]
    assert source.findings[0].line >= 7
    assert source.findings[1].line >= 9


def test_places_in_a_document_count_from_the_start_of_its_file() -> None:
    resource = Resource("kind: Pod\nspec:\n  a: 1\n", 40, "f.yaml", kind="Pod")
    assert documents(read([resource]))[0].line == 40


@pytest.mark.parametrize("kind", KINDS)
def test_a_document_that_was_edited_reads_as_it_was_before(kind: str) -> None:
    before = stream(an_object(kind))
    after = edited(an_object(kind))
    assert after[0].text != before[0].text
    assert texts(after) == [before[0].text]


def test_every_member_of_a_list_is_taken_back() -> None:
    document = a_list(
        an_object(name="a"), {"kind": "Service"}, a_list(an_object("CronJob", "b"), an_object("Pod", "c"))
    )
    before = stream(document)
    after = edited(document)
    assert len([value for _, value in objects(parse(after[0].text).value)]) == 4
    assert after[0].text.count(f"{ORIGINAL}:") == 3
    assert after[0].text.count("rendered-") >= 3
    assert texts(after) == [before[0].text]


def members(document: Any) -> dict[str, Any]:
    return {reference(value).name: value for _, value in objects(document)}


def test_members_that_a_host_moved_inside_their_list_are_taken_back_each_to_its_own() -> None:
    (made,) = edited(a_list(an_object(name="a"), coordinator("b"), an_object("CronJob", "c")))
    a, b, c = parse(made.text).value["items"]
    source = read(stream(a_list(c, a, b)))
    assert source.findings == ()
    wanted = {"a": an_object(name="a"), "b": coordinator("b"), "c": an_object("CronJob", "c")}
    assert members(documents(source)[0].value) == wanted


def test_members_that_a_host_took_out_of_their_list_are_taken_back() -> None:
    (made,) = edited(a_list(an_object(name="a"), coordinator("b")))
    source = read(stream(*parse(made.text).value["items"]))
    assert [documents(source)[index].value for index in range(2)] == [an_object(name="a"), coordinator("b")]


def test_objects_that_a_host_put_into_a_list_are_taken_back() -> None:
    made = [parse(one.text).value for one in edited(an_object(name="a"), coordinator("b"))]
    source = read(stream(a_list({"kind": "Service"}, *made)))
    assert members(documents(source)[0].value)["b"] == coordinator("b")
    assert members(documents(source)[0].value)["a"] == an_object(name="a")


def test_annotations_that_a_host_added_beside_ours_stay() -> None:
    for wrap in (lambda one: one, a_list):
        (made,) = edited(wrap(an_object()))
        value = parse(made.text).value
        one = value["items"][0] if "items" in value else value
        one["metadata"]["annotations"]["config.kubernetes.io/index"] = "3"
        (after,) = texts(stream(value))
        wanted = an_object()
        wanted["metadata"]["annotations"] = {"config.kubernetes.io/index": "3"}
        assert next(iter(members(parse(after).value).values())) == wanted


@pytest.mark.parametrize(
    "value",
    [
        "no json",
        "{}",
        "5",
        "null",
        '"x"',
        "[5]",
        "[[]]",
        '[["?", "/a"]]',
        '[["="]]',
        '[["-", 5]]',
        '[["=", "/a", 1, 2]]',
        "[" * 40000,
        '[["-", "/a", true]]',
        "",
        7,
        None,
        ["x"],
        {"a": "b"},
    ],
)
def test_records_that_are_none_are_a_located_error(value: Any) -> None:
    for wrap, root in ((lambda one: one, ()), (lambda one: a_list({}, one), ("items", 1))):
        document = an_object("StatefulSet", "db")
        document["metadata"]["annotations"] = {ORIGINAL: value}
        source = read(stream(wrap(document)))
        if value is None:
            assert source.findings == ()
            continue
        (found,) = source.findings
        assert (found.severity, found.path) == ("error", (*root, "metadata", "annotations", ORIGINAL))
        assert found.ref is not None
        assert (found.ref.kind, found.ref.name) == ("StatefulSet", "db")
        assert found.line > 0


segments = st.lists(
    st.sampled_from(
        ["spec", "template", "containers", "@web", "#0", "#9", "#x", "metadata", "annotations", "", "~1", "items"]
    ),
    max_size=6,
).map(lambda parts: "".join(f"/{part}" for part in parts))
plain = st.none() | st.integers() | st.text(max_size=3) | st.just({"a": 1}) | st.just([1])
records = st.lists(
    st.tuples(st.just("-"), segments)
    | st.tuples(st.just("-"), segments, st.integers(-2, 9))
    | st.tuples(st.just("="), segments, plain)
    | st.tuples(st.just("="), segments, plain, st.text(max_size=5))
    | st.tuples(st.just("~"), segments, st.text(max_size=5))
    | st.tuples(st.just("+"), segments, plain, st.text(max_size=5), segments, st.integers(-2, 9)),
    max_size=4,
)


@given(records)
def test_records_that_somebody_made_up_never_raise(undo: Any) -> None:
    document = an_object()
    document["metadata"]["annotations"] = {ORIGINAL: json.dumps(undo)}
    source = read(stream(document))
    assert 0 in documents(source)
    assert all(found.severity == "error" for found in source.findings)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "rest",
    [
        {},
        {"metadata": {"name": "a", "namespace": "b", "labels": {"c": "d"}}},
        {"metadata": {"generateName": "a-"}},
        {"metadata": None, "spec": None},
        {"spec": {"template": {}, "jobTemplate": {"spec": {}}}},
        {"spec": {"template": None}},
        {"spec": {"template": []}},
        {"spec": {"jobTemplate": {"spec": 5}}},
        {"spec": []},
        {"spec": {"template": {"spec": {"containers": [{"name": "a"}]}}}},
        {"spec": {"runtimeClassName": "kata", "template": {"spec": {"runtimeClassName": "kata"}}}},
        {"apiVersion": "other/v1"},
        {"apiVersion": 5},
    ],
)
def test_a_pod_without_a_runtime_class_is_selected_as_if_it_were_parsed(kind: str, rest: dict[str, Any]) -> None:
    (resource,) = stream({"apiVersion": KINDS[kind][0], "kind": kind, **rest})
    found, whole = documents(read([resource]))[0], parse(resource.text)
    reasons = [
        [(template.ref, template.skipped) for template in select(value).skipped] for value in (found.value, whole.value)
    ]
    assert reasons[0] == reasons[1]
    assert select(found.value)._replace(skipped=()) == select(whole.value)._replace(skipped=())
    assert reference(found.value) == reference(whole.value)
    assert found.text == resource.text


def test_what_cannot_be_read_is_said_with_its_place_also_of_pods_that_nobody_edits() -> None:
    (resource,) = stream({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}})
    broken = resource._replace(text=resource.text + "spec: {}\nspec: {}\n", line=7)
    (found,) = read([broken]).findings
    assert (found.code, found.line) == ("CC0106", 7 + broken.text.count("\n") - 1)
