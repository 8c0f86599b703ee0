"""What was done can be taken back, also after a host has re-serialised the object."""

import json
from pathlib import Path
from typing import Any

import pytest

from krm_function.text.changes import Change, apply, same
from krm_function.text.errors import YamlError
from krm_function.text.parse import parse
from krm_function.text.restore import read_undo, restore
from krm_function.text.splice import MemberChanges, splice, splice_members
from krm_function.text.writer import dump

AT = ("metadata", "annotations", "contrast-krm.dev/original")
DATA = Path(__file__).parent / "data"
POD = """\
# Source: chart/pod.yaml
apiVersion: v1
kind: Pod # the pod
metadata:
  name: 'web'
spec:
  # the containers
  containers:
    # main
    - name: main # m
      image: 'nginx:1.25' # pinned below
      resources: { }
    - name: side
      image: "side"
  runtimeClassName: contrast-cc # class
  nodeSelector: {a: b}
  overhead: ~
# foot
"""
CHANGES = [
    Change(("spec", "containers", 0), "insert", {"name": "init", "args": ["a\nb\n"]}),
    Change(("spec", "containers", 1, "image"), "set", "nginx@sha256:abc"),
    Change(("spec", "containers", 1, "resources", "limits"), "set", {"cpu": "1"}),
    Change(("spec", "containers", 1, "volumeMounts"), "set", [{"name": "v", "mountPath": "/x"}]),
    Change(("spec", "containers", 2), "remove"),
    Change(("spec", "volumes"), "set", [{"name": "v"}]),
    Change(("spec", "runtimeClassName"), "set", "contrast-cc-x-1a2b"),
    Change(("spec", "overhead"), "set", {"memory": "1Gi"}),
    Change(("spec", "nodeSelector", "c"), "set", "d"),
]  # fmt: skip


def ordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: ordered(value[key]) for key in sorted(value)}
    return [ordered(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_rendered_pod_comes_back_byte_for_byte(newline: str) -> None:
    text = POD.replace("\n", newline)
    document = parse(text)
    new, undo = splice(document, CHANGES, AT)
    assert newline == "\n" or "\n" not in new.replace("\r\n", "")
    again = parse(new)
    assert read_undo(again, AT) == undo
    assert restore(again, undo) == text


def test_the_records_are_kept_in_one_readable_line_and_say_no_more_than_needed() -> None:
    new, undo = splice(parse(POD), CHANGES, AT)
    assert undo == [
        ["-", "/metadata/annotations/contrast-krm.dev~1original", 1],
        ["-", "/spec/containers/@init"],
        ["~", "/spec/containers/@main/image", " 'nginx:1.25'"],
        ["-", "/spec/containers/@main/resources/limits/cpu", 1],
        ["-", "/spec/containers/@main/volumeMounts/@v", 1],
        ["+", "/spec/containers/#1", {"name": "side", "image": "side"}, '    - name: side\n      image: "side"\n'],
        ["=", "/spec/runtimeClassName", "contrast-cc"],
        ["-", "/spec/nodeSelector/c"],
        ["~", "/spec/overhead", " ~"],
        ["-", "/spec/volumes/@v", 1],
    ]
    line = next(line for line in new.splitlines() if "contrast-krm.dev/original" in line)
    assert line.startswith('    contrast-krm.dev/original: \'[["-","/metadata/annotations/')
    assert line.isascii()


def test_a_host_that_sorts_keys_and_drops_comments_does_not_hinder_the_values() -> None:
    document = parse(POD)
    new, _ = splice(document, CHANGES, AT)
    for host in (dump(ordered(parse(new).value)), json.dumps(parse(new).value), json.dumps(parse(new).value, indent=2)):
        again = parse(host)
        undo = read_undo(again, AT)
        assert undo is not None
        assert same(parse(restore(again, undo)).value, document.value)


def test_what_a_host_adds_is_kept() -> None:
    document = parse("metadata:\n  name: x\nspec:\n  l:\n  - name: a\n  - name: b\n")
    new, _ = splice(document, [Change(("spec", "l", 1, "v"), "set", 1)], AT)
    value = parse(new).value
    value["metadata"]["annotations"]["config.kubernetes.io/path"] = "x.yaml"
    value["spec"]["l"].insert(0, {"name": "istio"})
    again = parse(dump(value))
    undo = read_undo(again, AT)
    assert undo is not None
    assert parse(restore(again, undo)).value == {
        "metadata": {"name": "x", "annotations": {"config.kubernetes.io/path": "x.yaml"}},
        "spec": {"l": [{"name": "istio"}, {"name": "a"}, {"name": "b"}]},
    }


def test_a_record_whose_target_is_gone_is_skipped() -> None:
    new, _ = splice(parse(POD), CHANGES, AT)
    value = parse(new).value
    del value["spec"]["containers"], value["spec"]["runtimeClassName"]
    again = parse(dump(value))
    undo = read_undo(again, AT)
    assert undo is not None
    assert parse(restore(again, undo)).value == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web"},
        "spec": {"nodeSelector": {"a": "b"}, "overhead": None},
    }


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("metadata:\n  name: x\n", "metadata:\n  name: x\n  annotations:\n    contrast-krm.dev/original: "),
        (
            "metadata:\n  annotations:\n    a: b\n",
            "metadata:\n  annotations:\n    a: b\n    contrast-krm.dev/original: ",
        ),
        ("metadata: {annotations: {}}\n", 'metadata: {annotations: {"contrast-krm.dev/original": "'),
        ("metadata:\n  annotations:\n", "metadata:\n  annotations:\n    contrast-krm.dev/original: "),
        ("kind: X\n", "kind: X\n"),
        ("metadata: {name: x}\n", 'metadata: {name: x, "annotations": {"contrast-krm.dev/original": "'),
    ],
)
def test_the_maps_around_the_records_are_made_and_undone(text: str, wanted: str) -> None:
    new, undo = splice(parse(text), [Change(("spec",), "set", {"a": 1})], AT)
    assert new.startswith(wanted)
    assert restore(parse(new), undo) == text


def test_annotations_of_our_own_beside_the_records_go_one_by_one() -> None:
    changes = [Change(("metadata",), "set", {"name": "n"}), Change(("metadata", "annotations"), "set", {"ours": "1"})]
    new, undo = splice(parse("kind: X\n"), changes, AT)
    assert undo == [
        ["-", "/metadata/name", 1],
        ["-", "/metadata/annotations/ours", 2],
        ["-", "/metadata/annotations/contrast-krm.dev~1original", 2],
    ]
    assert restore(parse(new), undo) == "kind: X\n"


@pytest.mark.parametrize("data", ["legacy-kubectl", "helm3-template"])
def test_every_recorded_object_can_be_edited_and_restored(data: str) -> None:
    text = (DATA / f"{data}.yaml").read_text(encoding="utf-8").split("---\n")[0 if data == "legacy-kubectl" else 4]
    document = parse(text)
    pod = ("spec", "template", "spec")
    changes = [
        Change((*pod, "containers", 0, "env"), "set", [{"name": "X", "value": "yes"}]),
        Change((*pod, "initContainers"), "set", [{"name": "contrast-initializer"}]),
        Change((*pod, "runtimeClassName"), "set", "contrast-cc"),
    ]
    new, undo = splice(document, changes, AT)
    assert restore(parse(new), undo) == text


@pytest.mark.parametrize(
    "kept",
    [
        "5", "null", "x", "'{}'", "'[1]'", "'[[]]'", "'[[\"*\",\"/a\"]]'", "'[[\"-\"]]'", "'[[\"-\",1]]'",
        "'[[\"-\",\"/a\",true]]'",
        "'[[\"=\",\"/a\"]]'", "'[[\"=\",\"/a\",1,2]]'", "'[[\"+\",\"/a\",1,\"\",\"\",\"\"]]'",
        "'[[\"-\",\"/a\",1,1]]'", "'[[[],\"/a\"]]'",
        "'" + "[" * 100_000 + "'",
    ],
)  # fmt: skip
def test_records_that_someone_has_damaged_are_an_error_at_their_place(kept: str) -> None:
    document = parse(f"metadata:\n  annotations:\n    contrast-krm.dev/original: {kept}\n")
    with pytest.raises(YamlError) as caught:
        read_undo(document, AT)
    assert (caught.value.code, caught.value.line, caught.value.column) == ("shape", 3, 5)


@pytest.mark.parametrize(
    "text", ["", "a: 1\n", "metadata: x\n", "metadata: {annotations: }\n", "metadata: {annotations: {a: b}}\n"]
)
def test_without_records_there_is_nothing_to_read(text: str) -> None:
    assert read_undo(parse(text), AT) is None


@pytest.mark.parametrize(
    "undo",
    [
        [],
        [["-", "/x"]],
        [["-", "/l/@gone"]],
        [["-", "/l/#7"]],
        [["-", "/l/x"]],
        [["=", "/x/z", 1]],
        [["+", "/x/z", 1]],
        [["-", ""]],
    ],
)
def test_records_of_another_text_change_nothing(undo: list[list[Any]]) -> None:
    text = "l:\n- name: a # c\n"
    assert restore(parse(text), undo) == text


def test_an_object_can_be_rendered_again_after_it_was_restored() -> None:
    first = splice(parse(POD), CHANGES, AT).text
    document = parse(first)
    undo = read_undo(document, AT)
    assert undo is not None
    assert splice(parse(restore(document, undo)), CHANGES, AT).text == first


def test_a_secret_looking_raw_that_is_no_value_is_not_trusted() -> None:
    text = "a: 1\nb: 2\n"
    back = restore(parse(text), [["=", "/a", 5, " 6\nc: 7"], ["=", "/b", 1]])
    assert parse(back).value == apply(parse(text).value, [Change(("a",), "set", 5), Change(("b",), "set", 1)])


def test_the_records_of_a_member_of_a_list_move_with_it() -> None:
    text = "kind: List\nitems:\n- kind: A\n- kind: Pod # p\n  metadata: {name: x}\n"
    changes = [Change(("spec",), "set", {"a": 1})]
    new, (edited,) = splice_members(parse(text), [MemberChanges(("items", 1), changes, AT)])
    assert not isinstance(edited, YamlError)
    undo = edited.undo
    assert undo[-1] == ["-", "/spec/a", 1]
    value = parse(new).value
    value["items"].reverse()
    again = parse(dump(value))
    assert read_undo(again, ("items", 0, *AT)) == undo
    assert parse(restore(again, undo, root=("items", 0))).value["items"] == parse(text).value["items"][::-1]
    assert restore(parse(new), undo, root=("items", 1)) == text


def test_what_was_put_beside_a_new_map_entry_or_list_item_stays() -> None:
    text = "kind: Pod\nmetadata: {name: x}\nspec:\n  a: 1\n"
    changes = [
        Change(("metadata", "annotations"), "set", {"ours": "1"}),
        Change(("spec", "initContainers"), "set", [{"name": "ours"}]),
    ]
    document = parse(splice(parse(text), changes, ("spec", "keep")).text)
    touched = splice(
        document,
        [
            Change(("metadata", "annotations", "theirs"), "set", "2"),
            Change(("spec", "initContainers", 1), "insert", {"name": "theirs"}),
        ],
    ).text

    undo = read_undo(parse(touched), ("spec", "keep"))
    assert undo is not None
    value = parse(restore(parse(touched), undo)).value

    assert value["metadata"]["annotations"] == {"theirs": "2"}
    assert value["spec"] == {"a": 1, "initContainers": [{"name": "theirs"}]}


def test_a_map_that_only_held_what_a_host_took_away_again_is_not_left_behind() -> None:
    text = "kind: Pod\nmetadata:\n  annotations:\n    host: '1'\n"
    spliced = splice(parse(text), [Change(("kind",), "set", "Job")], AT).text
    without = spliced.replace("    host: '1'\n", "")
    undo = read_undo(parse(without), AT)
    assert undo is not None
    assert parse(restore(parse(without), undo)).value == {"kind": "Pod", "metadata": {}}


def test_the_copy_of_a_comment_that_kpt_puts_on_a_new_first_item_goes_with_it() -> None:
    text = "kind: Pod\nlist:\n# first\n- name: a\n"
    spliced = splice(parse(text), [Change(("list", 0), "insert", {"name": "new"})], AT).text
    copied = spliced.replace("- name: new", "# first\n- name: new")
    undo = read_undo(parse(copied), AT)
    assert undo is not None
    assert restore(parse(copied), undo) == text


@pytest.mark.parametrize("metadata", ["\n  name: web", " {name: web}"])
@pytest.mark.parametrize("value", ["'[\"records\"]'", '"[\\"records\\"]"', "x"])
@pytest.mark.parametrize("gone", [False, True])
def test_text_that_looks_like_the_stand_in_for_the_records_stays(metadata: str, value: str, *, gone: bool) -> None:
    text = f"metadata:{metadata}\nspec:\n  a: {value}\n  b: 1\n"
    document = parse(text)
    kept = "gone" if gone else document.value["spec"]["a"]
    spliced = splice(document, [Change(("spec", "a"), "set", kept), Change(("spec", "b"), "set", 2)], keep_undo_at=AT)
    after = parse(spliced.text)
    assert after.value["spec"] == {"a": kept, "b": 2}
    assert read_undo(after, AT) == spliced.undo
    assert restore(after, spliced.undo) == text
