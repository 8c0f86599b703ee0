"""Several objects of one document are edited, and restored, at once: the same bytes as one after the other."""

import re
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from krm_function.text.changes import Change, Path, apply, same
from krm_function.text.errors import YamlError
from krm_function.text.parse import Document, parse, read_value
from krm_function.text.restore import MemberUndo, read_undo, restore, restore_members
from krm_function.text.splice import EditedMember, MemberChanges, splice_members
from krm_function.text.split import split_items
from krm_function.text.writer import flow
from tests.yamltext.conftest import Writer, changes_for

AT = ("metadata", "annotations", "contrast-krm.dev/original")
POD = """\
- kind: Pod # {name}
  metadata:
    name: {name}
  spec:
    class: old
    list:
    - a
"""
HEAD = "kind: List\nitems:\n"
RENDER = [Change(("spec", "class"), "set", "new"), Change(("spec", "list", 0), "insert", {"name": "init"})]


def pods(*names: str) -> str:
    return HEAD + "".join(POD.format(name=name) for name in names)


def a_list(seed: int, *, anchors: bool) -> str:
    """A List in one of the styles that people and programs write."""
    random, writer = Random(seed), Writer(seed, anchors=anchors)  # noqa: S311
    if random.random() < 0.15:
        values = [parse("\n".join(Writer(seed + at).mapping(0, 2))).value for at in range(random.randint(2, 5))]
        text = flow({"kind": "List", "items": values}).replace(", ", random.choice((", ", ",\n  ")))
        return text + random.choice(("", "\n"))
    column = random.choice((0, 2))
    lines = ["kind: List", *random.choice(([], ["metadata:", "  l:", "    - x"])), "items:"]
    for _ in range(random.randint(2, 6)):
        member = writer.mapping(column + 2, random.randint(1, 3))
        lines += random.choice(([], [], [" " * column + "# between"], [""]))
        alone = random.random() < 0.1
        lines += [" " * column + "-", *member] if alone else [" " * column + "- " + member[0].lstrip(" "), *member[1:]]
    lines += random.choice(([], ["# foot"], ["zz: 1"]))
    newline = random.choice(("\n", "\n", "\r\n"))
    text = newline.join(line.replace("\n", newline) for line in lines)
    return text + random.choice((newline, newline, ""))


def random_members(document: Document, seed: int) -> list[MemberChanges]:
    """Changes of most of the members of a List, for objects that have a place for their records."""
    random = Random(seed + 1)  # noqa: S311
    found = []
    for at, value in enumerate(document.value["items"]):
        if isinstance(value, dict) and random.random() < 0.8:
            changes = changes_for(value, seed + at)
            after = apply(value, changes)
            metadata = after.get("metadata", {}) if isinstance(after, dict) else None
            if isinstance(metadata, dict) and isinstance(metadata.get("annotations", {}), dict):
                found.append(MemberChanges(("items", at), changes, AT))
    return found


def one_by_one(document: Document, members: Sequence[MemberChanges]) -> tuple[str, dict[Path, Any]]:
    """The text after one edit a member, and the outcomes; members with aliases of other members' anchors come last."""
    found = split_items(document.text)
    assert found is not None
    texts = [item.of(document.text) for item in found.items]
    outcomes: dict[Path, Any] = {}
    for one in sorted(members, key=lambda one: not stands_alone(texts[int(one.root[1])])):
        text, (outcomes[one.root],) = splice_members(document, [one])
        document = parse(text)
    return document.text, outcomes


def stands_alone(item: str) -> bool:
    return set(re.findall(r"\*(n[0-9]+)", item)) <= set(re.findall("&(n[0-9]+)", item))


def undo_records(document: Document, members: Sequence[MemberChanges]) -> list[MemberUndo]:
    """The undo records of the members, those of the last one first."""
    found = [(one.root, read_undo(document, one.root + AT)) for one in reversed(members)]
    return [(root, undo) for root, undo in found if undo is not None]


def random_edit(seed: int, *, anchors: bool) -> tuple[Document, list[MemberChanges]]:
    document = parse(a_list(seed, anchors=anchors))
    return document, random_members(document, seed)


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were proven since."""
    proven: list[str] = []

    def read(text: str) -> Any:
        proven.append(text)
        return read_value(text)

    monkeypatch.setattr("krm_function.text.splice.read_value", read)
    return proven


@pytest.mark.parametrize("anchors", [False, True], ids=["without anchors", "with anchors"])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=250, deadline=None)
def test_members_edited_at_once_are_those_edited_one_by_one(seed: int, *, anchors: bool) -> None:
    document, members = random_edit(seed, anchors=anchors)
    text, outcomes = splice_members(document, members)
    wanted, one_by_one_outcomes = one_by_one(document, members)
    assert text == wanted
    assert {one.root: outcome for one, outcome in zip(members, outcomes, strict=True)} == one_by_one_outcomes
    assert all(isinstance(outcome, EditedMember) for outcome in outcomes)


@pytest.mark.parametrize("anchors", [False, True], ids=["without anchors", "with anchors"])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=150, deadline=None)
def test_members_restored_at_once_are_those_restored_one_by_one(seed: int, *, anchors: bool) -> None:
    document, members = random_edit(seed, anchors=anchors)
    rendered = parse(splice_members(document, members)[0])
    undo = undo_records(rendered, members)
    text, problems = restore_members(rendered, undo)
    assert problems == [None] * len(undo)
    assert same(parse(text).value, document.value)
    for root, records in undo:
        rendered = parse(restore(rendered, records, root))
    assert text == rendered.text


@pytest.mark.parametrize("count", [2, 7, 40])
def test_independent_members_take_one_edit_of_the_text(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    proven = counted(monkeypatch)
    document = parse(pods(*(f"p{at}" for at in range(count))))
    members = [MemberChanges(("items", at), RENDER, AT) for at in range(count)]
    rendered = parse(splice_members(document, members)[0])
    assert len(proven) == 1
    assert restore_members(rendered, undo_records(rendered, members))[0] == document.text
    assert len(proven) == 2
    assert len({str(read_undo(rendered, one.root + AT)) for one in members}) == 1


@pytest.mark.parametrize("bad", [0, 3, 6])
def test_a_member_that_cannot_be_edited_is_named_and_the_others_are_edited(bad: int) -> None:
    names = [f"p{at}" for at in range(7)]
    document = parse(pods(*names))
    half = [Change(("spec", "class"), "set", "\ud800")]
    members = [MemberChanges(("items", at), half if at == bad else RENDER, AT) for at in range(7)]
    text, outcomes = splice_members(document, members)
    assert [isinstance(outcome, YamlError) for outcome in outcomes] == [at == bad for at in range(7)]
    classes = [one["spec"]["class"] for one in parse(text).value["items"]]
    assert classes == ["old" if at == bad else "new" for at in range(7)]
    assert POD.format(name=names[bad]) in text


def test_a_record_that_does_not_read_back_costs_only_its_own_member_the_old_bytes() -> None:
    document = parse(pods("a", "b", "c").replace("class: old", "class: 'old'"))
    members = [MemberChanges(("items", at), RENDER[:1], AT) for at in range(3)]
    rendered = parse(splice_members(document, members)[0])
    undo = undo_records(rendered, members)
    (kept,) = (record for record in undo[1][1] if record[0] == "~")
    assert kept == ["~", "/spec/class", " 'old'"]
    kept[:] = ["=", "/spec/class", "older", " 'old'"]
    text, problems = restore_members(rendered, undo)
    assert problems == [None] * 3
    assert re.findall("class: (.*)", text) == ["'old'", "older", "'old'"]


def test_a_member_that_needs_a_larger_edit_costs_only_its_own_comments() -> None:
    """Without its last item, the list of the first member would end with a literal that keeps the blank line."""
    first = "- list:\n  - |+\n    x\n  - y\n\n  kind: A # kept\n"
    document = parse(HEAD + first + POD.format(name="b").replace("    - a", "    # kept\n    - a"))
    members = [
        MemberChanges(("items", 0), [Change(("list", 1), "remove")], AT),
        MemberChanges(("items", 1), RENDER, AT),
    ]
    text, _ = splice_members(document, members)
    assert "- list:\n  - |\n    x\n\n  kind: A # kept\n" in text
    assert "    list:\n    - name: init\n    # kept\n    - a\n" in text
    assert text == one_by_one(document, members)[0]


def test_anchors_that_members_hand_on_are_followed_from_member_to_member() -> None:
    text = HEAD + "- a: &a\n    x: 1\n- a: *a\n  b: &b\n    k: 0x2\n    z: [1]\n- b: *b\n"
    document = parse(text)
    members = [
        MemberChanges(("items", 0), [Change(("a", "x"), "set", 2)], AT),
        MemberChanges(("items", 1), [Change(("b", "z", 0), "set", 3)], AT),
        MemberChanges(("items", 2), [Change(("b", "new"), "set", 4)], AT),
    ]
    rendered, outcomes = splice_members(document, members)
    assert rendered == one_by_one(document, members)[0]
    assert '- b: {"k": 0x2, "z": [1], "new": 4}' in rendered
    assert same(
        [outcome.value for outcome in outcomes if isinstance(outcome, EditedMember)][2],
        {"b": {"k": 2, "z": [1], "new": 4}},
    )


def test_an_alias_that_loses_its_anchor_is_written_out_and_no_undo_record_says_so() -> None:
    text = HEAD + "- spec: &s\n    class: old\n    size: 0x10\n- spec: *s\n- spec: *s\n"
    document = parse(text)
    members = [MemberChanges(("items", at), RENDER[:1], AT) for at in range(2)]
    rendered, outcomes = splice_members(document, members)
    assert [outcome.undo for outcome in outcomes if isinstance(outcome, EditedMember)] == [
        [["=", "/spec/class", "old"], ["-", "/metadata/annotations/contrast-krm.dev~1original", 2]]
    ] * 2
    assert rendered.endswith('- spec: {"class": "old", "size": 0x10}\n')
    restored = restore_members(parse(rendered), undo_records(parse(rendered), members))[0]
    assert same(parse(restored).value, document.value)
    assert splice_members(parse(restored), members)[0] == rendered


def test_objects_within_each_other_and_changes_without_effect_are_edited_as_well() -> None:
    document = parse("kind: Outer\nitems:\n- kind: Inner\n- kind: Other\n")
    members = [
        MemberChanges((), [Change(("kind",), "set", "Outer2")], AT),
        MemberChanges(("items", 0), [Change(("kind",), "set", "Inner2")], AT),
        MemberChanges(("items", 1), [Change(("kind",), "set", "Other")], AT),
    ]
    text, outcomes = splice_members(document, members)
    value = parse(text).value
    assert (value["kind"], [one["kind"] for one in value["items"]]) == ("Outer2", ["Inner2", "Other"])
    assert outcomes[2] == EditedMember({"kind": "Other"}, [])
    assert "metadata" not in value["items"][1]


def test_a_member_with_a_field_called_name_can_be_undone() -> None:
    document = parse(HEAD + "- name: x\n  kind: A\n- name: y\n  kind: B\n")
    members = [MemberChanges(("items", at), [Change(("kind",), "set", "C")], AT) for at in range(2)]
    rendered = parse(splice_members(document, members)[0])
    assert restore_members(rendered, undo_records(rendered, members))[0] == document.text


def test_an_alias_on_the_way_to_an_object_is_written_out_so_that_its_undo_record_can_reach_it() -> None:
    document = parse("old: &items\n- kind: A\n- kind: A # second\nitems: *items\n")
    members = [MemberChanges(("items", at), [Change(("kind",), "set", "B")], AT) for at in range(2)]
    rendered, outcomes = splice_members(document, members)
    assert all(isinstance(outcome, EditedMember) for outcome in outcomes)
    assert rendered.startswith("old: &items\n- kind: A\n- kind: A # second\nitems:")
    assert [one["kind"] for one in parse(rendered).value["items"]] == ["B", "B"]
    restored = restore_members(parse(rendered), undo_records(parse(rendered), members))[0]
    assert same(parse(restored).value, document.value)
    assert splice_members(parse(restored), members)[0] == rendered
