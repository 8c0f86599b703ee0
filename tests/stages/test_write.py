"""Writing: splicing the edits, keeping the way back, and placing what a render adds."""

import re
from json import dumps
from typing import Any

import pytest

from krm_function.findings import Ref
from krm_function.kubernetes.objects import reference
from krm_function.kubernetes.resource import Edit, ObjectEdits, Resource
from krm_function.kubernetes.workload import EMITTED, ORIGINAL
from krm_function.render.read import read
from krm_function.render.write import WriteResult, with_edits, write
from krm_function.text.errors import YamlError
from krm_function.text.parse import parse, read_value
from krm_function.text.splice import rewrite
from tests.world import a_list, an_object, documents, stream

LOCAL = "config.kubernetes.io/local-config"
REF = Ref("apps/v1", "Deployment", "shop", "web")
NAME = ("spec", "template", "spec", "runtimeClassName")


def a_map(name: str = "m", namespace: str = "shop", data: str = "new", **annotations: str) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name} | ({"namespace": namespace} if namespace else {})
    metadata["annotations"] = {EMITTED: "true", **annotations}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"manifest.json": manifest(data)}}


def manifest(data: str) -> str:
    """The text of a manifest, one for each `data`."""
    return dumps({"Policies": {data: {}}, "ReferenceValues": {}})


def a_class(name: str = "contrast-cc-metal-qemu-snp-c", **fields: Any) -> dict[str, Any]:
    head = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": name}}
    return {**head, "handler": name, **fields}


def mine(value: dict[str, Any]) -> dict[str, Any]:
    """A user's object of the same name."""
    return {**value, "metadata": {key: part for key, part in value["metadata"].items() if key != "annotations"}}


def written(resources: tuple[Resource, ...], edits: tuple[tuple[int, ObjectEdits], ...] = (), *new: Any) -> WriteResult:
    source = read(resources)
    assert source.findings == ()
    return write(with_edits(source.resources, edits), new)


def change(value: str = "x", root: tuple[str | int, ...] = (), resource: int = 0) -> tuple[int, ObjectEdits]:
    edit = Edit("set", root + NAME, "contrast-cc", value, "CC0404", "")
    return resource, ObjectEdits(root, REF, (edit,))


def test_without_edits_every_text_stays_the_same_object() -> None:
    resources = stream(an_object(), {"kind": "Service"}, a_list(an_object()))
    made = written(resources)
    assert (made.texts, made.added, made.findings) == (tuple(one.text for one in resources), (), ())


def test_an_object_whose_edits_are_none_is_not_marked() -> None:
    resources = stream(an_object())
    assert written(resources, ((0, ObjectEdits((), REF, ())),)).texts == (resources[0].text,)


def test_an_edit_that_changes_nothing_leaves_the_text_alone() -> None:
    resources = stream(an_object())
    assert written(resources, (change("contrast-cc"),)).texts == (resources[0].text,)


def test_edits_reach_their_object_and_the_way_back_is_kept_on_its_own_metadata() -> None:
    resources = stream(an_object(), an_object(name="other"))
    made = written(resources, (change("one", resource=1),))
    assert made.texts[0] == resources[0].text
    value = parse(made.texts[1] or "").value
    assert value["spec"]["template"]["spec"]["runtimeClassName"] == "one"
    assert set(value["metadata"]["annotations"]) == {ORIGINAL}
    assert "annotations" not in value["spec"]["template"]["metadata"]


def test_comments_and_quotes_that_no_edit_touches_stay() -> None:
    text = """\
# first
apiVersion: 'apps/v1'   # why
kind: Deployment
metadata: {name: "web"}

spec:
    template:
        spec:
            # the class
            runtimeClassName: contrast-cc # here
            x: 0x1F
"""
    made = written(stream(text), (change("new"),))
    lines = str(made.texts[0]).splitlines()
    kept = [line for line in text.splitlines() if "contrast-cc" not in line and "metadata" not in line]
    assert [line for line in lines if line in kept] == kept
    assert "            runtimeClassName: new # here" in lines


def test_several_members_of_one_list_are_all_edited() -> None:
    document = a_list(an_object(name="a"), {"kind": "Service", "x": 1}, an_object(name="b"), an_object(name="c"))
    resources = stream(document)
    edits = tuple(change(f"new-{index}", ("items", index)) for index in (0, 2, 3))
    made = written(resources, edits)
    items = parse(made.texts[0] or "").value["items"]
    assert [items[index]["spec"]["template"]["spec"]["runtimeClassName"] for index in (0, 2, 3)] == [
        "new-0",
        "new-2",
        "new-3",
    ]
    assert all(set(items[index]["metadata"]["annotations"]) == {ORIGINAL} for index in (0, 2, 3))
    assert items[1] == {"kind": "Service", "x": 1}
    for index, name in ((0, "a"), (2, "b"), (3, "c")):
        items[index]["metadata"].pop("annotations")
        items[index]["spec"]["template"]["spec"]["runtimeClassName"] = "contrast-cc"
        assert items[index] == an_object(name=name)


def test_a_list_is_written_and_restored_in_as_many_passes_as_one_object(monkeypatch: pytest.MonkeyPatch) -> None:
    passes: list[str] = []

    def counted(text: str) -> Any:
        passes.append(text)
        return read_value(text)

    monkeypatch.setattr("krm_function.text.splice.read_value", counted)
    for count in (1, 3, 30):
        resources = stream(a_list(*(an_object(name=f"w{index}") for index in range(count))))
        made = written(resources, tuple(change("new", ("items", index)) for index in range(count)))
        assert len(passes) == 1
        source = read([resources[0]._replace(text=str(made.texts[0]))])
        assert len(passes) == 2
        assert documents(source)[0].text == resources[0].text
        assert len(source.resources[0].undone) == count
        passes.clear()


def test_a_member_of_a_list_that_cannot_be_edited_is_named_and_the_others_are_edited() -> None:
    resources = stream(a_list(*(an_object(name=f"w{index}") for index in range(5))))
    position, half = change("\ud800", ("items", 3))
    half = half._replace(ref=REF._replace(name="w3"))
    made = written(resources, (*(change("new", ("items", index)) for index in (0, 1, 2, 4)), (position, half)))
    assert [(found.code, found.ref) for found in made.findings] == [("CC0110", half.ref)]
    classes = re.findall("runtimeClassName: (.*)", str(made.texts[0]))
    assert classes == ["new", "new", "new", "contrast-cc", "new"]


def test_the_records_of_a_list_member_do_not_say_where_in_the_list_it_stood() -> None:
    made = [
        parse(written(stream(a_list(*([{}] * index), an_object())), (change("new", ("items", index)),)).texts[0] or "")
        for index in (0, 3)
    ]
    alone = parse(written(stream(an_object()), (change("new"),)).texts[0] or "").value
    assert made[0].value["items"][0] == made[1].value["items"][3] == alone


# --- what a render adds


def test_additions_without_a_predecessor_are_new() -> None:
    resources = stream(an_object())
    added = (a_map(), a_class())
    made = written(resources, (), *added)
    assert (made.texts, made.added, made.findings) == ((resources[0].text,), added, ())


@pytest.mark.parametrize("old, new", [("old", "new"), ("same", "same")])
def test_an_addition_takes_the_place_of_its_predecessor(old: str, new: str) -> None:
    comment = "# a host's comment\n"
    predecessor = stream(an_object(), a_map(data=old, **{"config.kubernetes.io/index": "4"}), an_object(name="z"))
    resources = tuple(one._replace(text=one.text.replace("\ndata:", f"\n{comment}data:")) for one in predecessor)
    made = written(resources, (), a_map(data=new))
    assert (made.added, made.findings) == ((), ())
    value = parse(made.texts[1] or "").value
    assert value["data"] == {"manifest.json": manifest(new)}
    assert value["metadata"]["annotations"] == {EMITTED: "true", "config.kubernetes.io/index": "4"}
    assert comment in str(made.texts[1])
    if old == new:
        assert made.texts[1] == resources[1].text


def test_every_field_that_a_render_decides_is_updated_and_no_other() -> None:
    old = a_class(overhead={"podFixed": {"memory": "1Mi"}}, scheduling={"nodeSelector": {"a": "b"}})
    old["metadata"]["annotations"] = {EMITTED: "true", "host": "keeps"}
    new = a_class(overhead={"podFixed": {"memory": "2Mi"}}, scheduling={"tolerations": [{"key": "c"}]})
    (text,) = written(stream(old), (), new | {"handler": "other"}).texts
    value = parse(text or "").value
    assert value == {**old, "handler": "other", "overhead": new["overhead"], "scheduling": new["scheduling"]}


def test_a_field_that_is_no_longer_decided_is_removed() -> None:
    old = a_class(overhead={"podFixed": {"memory": "1Mi"}}, scheduling={"nodeSelector": {"a": "b"}})
    old["metadata"]["annotations"] = {EMITTED: "true"}
    (text,) = written(stream(old), (), a_class()).texts
    value = parse(text or "").value
    assert set(value) == {"apiVersion", "kind", "metadata", "handler"}


@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize("after", [False, True])
def test_whether_the_object_is_local_follows_the_configuration(*, before: bool, after: bool) -> None:
    local = {LOCAL: "true"}
    (text,) = written(stream(a_map(**(local if before else {}))), (), a_map(**(local if after else {}))).texts
    assert parse(text or "").value["metadata"]["annotations"] == {EMITTED: "true", **(local if after else {})}


def test_a_predecessor_without_a_successor_is_dropped() -> None:
    resources = stream(an_object(), a_map("old"), a_class())
    made = written(resources, (), a_map("new"))
    assert made.texts == (resources[0].text, None, resources[2].text)
    assert [reference(one).name for one in made.added] == ["new"]


def test_of_two_predecessors_of_one_name_one_stays() -> None:
    made = written(stream(a_map(), a_map()), (), a_map())
    assert sum(text is not None for text in made.texts) == 1
    assert (made.added, made.findings) == ((), ())


@pytest.mark.parametrize("of_input, of_render", [("shop", "shop"), ("", "shop"), ("shop", ""), ("", "")])
@pytest.mark.parametrize("wrap", [lambda one: one, lambda one: a_list({}, a_list(one))])
def test_an_object_of_the_users_is_never_overwritten(wrap: Any, of_input: str, of_render: str) -> None:
    resources = stream(an_object(), wrap(mine(a_map(namespace=of_input))))
    made = written(resources, (), a_map(namespace=of_render))
    assert made.texts == tuple(one.text for one in resources)
    assert made.added == ()
    (found,) = made.findings
    assert (found.code, found.severity) == ("CC0710", "error")
    assert "ConfigMap/" in found.message
    assert found.ref == reference(a_map(namespace=of_render))


@pytest.mark.parametrize(
    "other",
    [a_map(namespace="else"), a_map("n"), a_map() | {"kind": "Secret"}, a_map() | {"apiVersion": "example.com/v1"}],
)
@pytest.mark.parametrize("wrap", [lambda one: one, a_list])
def test_another_object_does_not_stand_in_the_way(wrap: Any, other: dict[str, Any]) -> None:
    made = written(stream(wrap(mine(other))), (), a_map())
    assert (made.added, made.findings) == ((a_map(),), ())


def test_an_object_of_the_same_name_that_cannot_be_read_stands_in_the_way() -> None:
    made = written((Resource("data: [", kind="ConfigMap", name="m"),), (), a_map())
    assert [found.code for found in made.findings] == ["CC0710"]


def test_the_users_own_object_beside_a_predecessor_does_not_matter() -> None:
    resources = stream(a_map(data="old"), mine(a_map(namespace="else")))
    made = written(resources, (), a_map())
    assert (made.added, made.findings) == ((), ())
    assert made.texts[1] == resources[1].text


def test_an_object_of_another_name_that_cannot_be_read_does_not() -> None:
    made = written(
        (Resource("data: [", kind="ConfigMap", name="n"), Resource("data: [", kind="Service", name="m")), (), a_map()
    )
    assert (made.added, made.findings) == ((a_map(),), ())


def test_a_predecessor_in_another_namespace_makes_room() -> None:
    made = written(stream(a_map(namespace="")), (), a_map())
    assert (made.texts, made.added, made.findings) == ((None,), (a_map(),), ())


def test_an_edit_that_cannot_be_written_is_told_and_the_others_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(document: Any, *arguments: Any, **options: Any) -> Any:
        if "name: bad" in document.text:
            raise YamlError("no way", 3, 4, "splice")
        return rewrite(document, *arguments, **options)

    monkeypatch.setattr("krm_function.text.splice.rewrite", failing)
    resources = stream(an_object(name="a"), an_object(name="bad"), an_object(name="c"))
    made = written(resources, tuple(change("new", resource=index) for index in range(3)))
    assert [(found.code, found.ref) for found in made.findings] == [("CC0110", REF)]
    assert ["runtimeClassName: new" in str(text) for text in made.texts] == [True, False, True]
    assert made.texts[1] == resources[1].text


def test_what_is_kept_for_the_way_back_counts_against_the_limit_of_annotations() -> None:
    big = "x" * 200_000
    subject = an_object("Pod", annotations={"example.com/a": big})
    path = ("metadata", "annotations", "example.com/a")
    edit = Edit("set", path, big, "small", "CC0606", "")
    ref = reference(subject)
    made = written(stream(subject), ((0, ObjectEdits((), ref, (edit,))),))
    assert [found.code for found in made.findings] == ["CC0715"]
    edit = edit._replace(after="y" * 100_000)
    (found,) = written(stream(subject), ((0, ObjectEdits((), ref, (edit,))),)).findings
    assert (found.code, found.ref, found.path) == ("CC0611", ref, ("metadata", "annotations"))
