"""Edits of a text: the bytes that change are the bytes that were meant."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from krm_function.text.changes import Change, ChangeError, apply, same
from krm_function.text.parse import parse
from krm_function.text.restore import restore
from krm_function.text.splice import splice
from krm_function.text.split import split_items

DATA = Path(__file__).parent / "data"


def put(*path: str | int, value: Any) -> Change:
    return Change(path, "set", value)


def insert(*path: str | int, value: Any) -> Change:
    return Change(path, "insert", value)


def remove(*path: str | int) -> Change:
    return Change(path, "remove")


def edited(text: str, changes: Sequence[Change]) -> str:
    document = parse(text)
    new, undo = splice(document, changes)
    assert same(parse(new).value, apply(document.value, list(changes)))
    assert restore(parse(new), undo) == text
    return new


@pytest.mark.parametrize(
    ("text", "changes", "wanted"),
    [
        # a new key: below the last line of the map, at the column of its first key
        ("a: 1 # one\n\n# foot\n", [put("b", value=2)], "a: 1 # one\nb: 2\n\n# foot\n"),
        ("a:\n    b: 1\nc: 2\n", [put("a", "e", value="x")], "a:\n    b: 1\n    e: x\nc: 2\n"),
        ("a:\n  b: |\n    x\n\n# c\n", [put("a", "e", value=1)], "a:\n  b: |\n    x\n  e: 1\n\n# c\n"),
        ("a:\n  b: |+\n    x\n\n# c\n", [put("a", "e", value=1)], "a:\n  b: |+\n    x\n\n  e: 1\n# c\n"),
        ("a: >-\n  x\n     \n\n", [put("e", value=1)], "a: >-\n  x\n     \ne: 1\n\n"),
        ("- name: x\n  l:\n  - 1\n", [put("e", value={"k": "v"})], "- name: x\n  l:\n  - 1\n  e:\n    k: v\n"),
        ("a: [1,\n  2] # c\nb: 'x\n\n  y'\n", [put("e", value=1)], "a: [1,\n  2] # c\nb: 'x\n\n  y'\ne: 1\n"),
        ("a: 1\n...\n", [put("b", value=2)], "a: 1\nb: 2\n...\n"),
        ("# h\n--- # c\na: 1\n# foot\n", [put("b", value=2)], "# h\n--- # c\na: 1\nb: 2\n# foot\n"),
        ("a: \U0001f600 # é\n", [put("b", value=2)], "a: \U0001f600 # é\nb: 2\n"),
        ("a:\n  - 1\nb: 2\n", [put("e", value=[1])], "a:\n  - 1\nb: 2\ne:\n  - 1\n"),
        # the end of the text
        ("a: 1", [put("b", value=2)], "a: 1\nb: 2"),
        ("a:\n  b: 1", [put("a", "c", value=2), put("d", value=3)], "a:\n  b: 1\n  c: 2\nd: 3"),
        ("a: |\n  x", [put("b", value=2)], "a: |-\n  x\nb: 2"),
        ("a: |\n  x", [put("b", value="p\nq\n")], 'a: |-\n  x\nb: "p\\nq\\n"'),
        ("a:", [put("b", value=2)], "a:\nb: 2"),
        ("a:", [put("a", value=2), put("b", value=2)], "a: 2\nb: 2"),
        # line endings
        ("a: 1\r\nb:\r\n  c: 2\r\n", [put("b", "l", value=["x"])], "a: 1\r\nb:\r\n  c: 2\r\n  l:\r\n  - x\r\n"),
        ("a: |\r\n  x\r\nb: 1", [put("e", value=1)], "a: |\r\n  x\r\nb: 1\r\ne: 1"),
        # values that are replaced: the comment on the line stays
        ("a: 'x' # c\n", [put("a", value="y/z")], "a: y/z # c\n"),
        ("a: x\n", [put("a", value="1:30 b")], 'a: "1:30 b"\n'),
        ("a:\nb: ~ # c\nc: null\n",
        [put("a", value=1), put("b", value=2), put("c", value=3)], "a: 1\nb: 2 # c\nc: 3\n"),
        ("a: |\n  x\n  y\n# c\nb: 1\n", [put("a", value="z")], "a: z\n# c\nb: 1\n"),
        ("a: x\nb: 1\n", [put("a", value="p\nq\n")], "a: |\n  p\n  q\nb: 1\n"),
        ("a: x # c\n", [put("a", value="p\nq\n")], 'a: "p\\nq\\n" # c\n'),
        ("a:\n  'x' # c\n", [put("a", value=5)], "a: 5 # c\n"),
        ("a:\n  b: 1\n  c: 2 # two\nd: 1\n", [put("a", value=5)], "a: 5 # two\nd: 1\n"),
        ("a: 1\nb: 2\n", [put("a", value={"x": [1]})], "a:\n  x:\n  - 1\nb: 2\n"),
        ("- a\n- b # c\n- c\n", [put(1, value={"x": 1, "z": 2})], "- a\n- x: 1\n  z: 2 # c\n- c\n"),
        ("? a\n: 1\n", [put("a", value=2)], "? a\n: 2\n"),
        ("? a\n? b\n", [put("b", value=2)], "a: null\nb: 2\n"),
        ("!!map\na: &x 1 # c\n", [put("a", value=2)], "!!map\na: 2 # c\n"),
        # a map or list that replaces one changes only where it differs
        ("a: # c\n  b: 1 # b\n  c: 2\n", [put("a", value={"b": 1, "c": 3})], "a: # c\n  b: 1 # b\n  c: 3\n"),
        ("a:\n- x # x\n- z\n", [put("a", value=["x", "y2", "z"])], "a:\n- x # x\n- y2\n- z\n"),
        ("a: [x, # x\n  z]\n", [put("a", value=["x", "z"])], "a: [x, # x\n  z]\n"),
        # lists
        ("l:\n- a\n# c\nb: 1\n", [insert("l", 1, value="n1")], "l:\n- a\n- n1\n# c\nb: 1\n"),
        ("l:\n  # head\n\n  # on a\n  - a\n", [insert("l", 0, value={"n1": 1, "b": 2})],
         "l:\n  # head\n\n  - n1: 1\n    b: 2\n  # on a\n  - a\n"),
        ("l:\n- a\n# on b\n- b\n", [insert("l", 1, value=[1, 2])], "l:\n- a\n- - 1\n  - 2\n# on b\n- b\n"),
        ("l:\n- a: |\n    x\n    # text\n- b\n",
        [insert("l", 1, value=1)], "l:\n- a: |\n    x\n    # text\n- 1\n- b\n"),
        ("- - a\n  - b\n- c\n", [insert(0, 0, value="x")], "- - x\n  - a\n  - b\n- c\n"),
        ("- - a # c\n  - b\n- c\n", [remove(0, 0)], "- - b\n- c\n"),
        ("-\n  a: 1\n", [put("b", value=2)], "-\n  a: 1\n  b: 2\n"),
        ("l:\n-\n- a: 1\n", [put("l", 0, value={"x": 1}), put("l", 1, "b", value=2)], "l:\n- x: 1\n- a: 1\n  b: 2\n"),
        # several insertions at one offset: the deepest comes first
        ("s:\n  c:\n  - n: a\n    m:\n    - x\n", [put("v", value=1), put("s", "v", value=2), put("s",
        "c", 0, "v", value=3),
          insert("s",
          "c", 0, "m", 1, value="z1")], "s:\n  c:\n  - n: a\n    m:\n    - x\n    - z1\n    v: 3\n  v: 2\nv: 1\n"),
        # removals take their lines
        ("a: 1\nb: 2 # c\n# on c\nc: 3\n", [remove("b")], "a: 1\n# on c\nc: 3\n"),
        ("a: 1\nb: 2", [remove("b")], "a: 1"),
        ("a: |\n  x\nb: 2", [remove("b")], "a: |\n  x\n"),
        ("- name: x\n  # c\n  b: 1\n", [remove("name")], "- b: 1\n"),
        ("a:\n  b: 1 # c\nc: 1\n", [remove("a", "b")], "a: {} # c\nc: 1\n"),
        ("l:\n  - a\n", [remove("l", 0)], "l: []\n"),
        ("a: 1\nb: 2\n", [remove("a"), put("a", value=3)], "a: 3\nb: 2\n"),
        # flow stays flow
        ("a: {} # c\n", [put("a", "k", value="v")], 'a: {"k": "v"} # c\n'),
        ("a: { }\n", [put("a", "k", value=1)], 'a: {"k": 1 }\n'),
        ("a: []\n", [insert("a", 0, value={"k": [1]})], 'a: [{"k": [1]}]\n'),
        ("a: {b: 1}\n", [put("a", "c", value=None)], 'a: {b: 1, "c": null}\n'),
        ("a: {b: 1,}\n", [put("a", "c", value=2)], 'a: {b: 1, "c": 2,}\n'),
        ("a: [\n  b, # b\n  c # c\n]\n", [insert("a", 2, value="d")], 'a: [\n  b, # b\n  c,\n  "d" # c\n]\n'),
        ("a: [b, c]\n", [insert("a", 0, value="x")], 'a: ["x", b, c]\n'),
        ("a: [b,c]\n", [insert("a", 1, value="x"), remove("a", 2)], 'a: [b, "x"]\n'),
        ("a: {b: , c}\n", [put("a", "b", value=1)], "a: {b: 1 , c}\n"),
        ("a: [b: c]\n", [put("a", 0, "b", value="d")], 'a: [{"b": "d"}]\n'),
        ('{"a":{"b":1},"c":[]}\n', [put("a", "b", value="x"), insert("c", 0, value=1), put("d", value={})],
         '{"a":{"b": "x"},"c":[1], "d": {}}\n'),
        ('{\n  "a": 1\n}\n', [put("b", value=[1])], '{\n  "a": 1,\n  "b": [1]\n}\n'),
        ("--- {a: 1}\n", [put("a", value=2)], "--- {a: 2}\n"),
        # anchors and merge keys
        ("v: &v # c\n- 1\n", [insert("v", 1, value=2)], "v: &v # c\n- 1\n- 2\n"),
        ("a: &x {k: 1}\nb: *x\n", [put("a", "k", value=2)], 'a: &x {k: 2}\nb: {"k": 1}\n'),
        ("a: &x {k: 1}\nb: *x # c\n", [put("b", "k", value=2)], 'a: &x {k: 1}\nb: {"k": 2} # c\n'),
        ("a: &x {k: 0o17}\nb: [*x]\n", [remove("a")], 'b: [{"k": 0o17}]\n'),
        ("a: &x {k: 1}\nb:\n  <<: *x\n", [put("b", "k", value=2)], "a: &x {k: 1}\nb:\n  <<: *x\n  k: 2\n"),
        ("a: &x {k: {l: 1}}\nb:\n  <<: *x\n", [put("b", "k", "m", value=2)],
         "a: &x {k: {l: 1}}\nb:\n  <<: *x\n  k:\n    l: 1\n    m: 2\n"),
        ("a: &x {k: 1}\nb:\n  <<: *x\n  c: 1\n", [put("a",
        "k", value=5)], 'a: &x {k: 5}\nb:\n  <<: {"k": 1}\n  c: 1\n'),
        ("a: &x {k: 1, l: 2}\nb:\n  <<: *x\n", [remove("b", "k")], "a: &x {k: 1, l: 2}\nb:\n  l: 2\n"),
        ("a: &x 1\nb: &x 2\nc: *x\n", [put("b", value=3)], "a: &x 1\nb: 3\nc: 2\n"),
        # the root
        ("a: 1\n", [put(value={"b": [1]})], "b:\n- 1\n"),
        ("- a: 1\n  b: 2\n", [put(value="x")], "- x\n"),
        ("--- {a: 1} # c\n", [put(value={"b": 1})], '--- {"b": 1} # c\n'),
        ("# only\n", [put(value={"b": 1})], "# only\nb: 1\n"),
    ],
)  # fmt: skip
def test_an_edit_changes_the_bytes_it_means_and_can_be_taken_back(
    text: str, changes: list[Change], wanted: str
) -> None:
    document = parse(text)
    new, undo = splice(document, changes)
    assert new == wanted
    assert same(parse(new).value, apply(document.value, changes))
    back = restore(parse(new), undo)
    assert same(parse(back).value, document.value)
    if text not in _NOT_EXACT:
        assert back == text


_NOT_EXACT = {"# only\n", "a: &x {k: 1, l: 2}\nb:\n  <<: *x\n", "? a\n? b\n"}


def test_without_an_effective_change_the_text_is_the_same_object() -> None:
    document = parse("a: 0o17 # c\nb: {}\n")
    assert splice(document, [put("a", value=15), put("b", value={})], ("m", "x")) == (document.text, [])


def test_a_path_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(ChangeError):
        splice(parse("a: 1\n"), [put("b", "c", value=1)])
    with pytest.raises(ChangeError):
        splice(parse("m: {x: []}\n"), [put("b", value=1)], ("m", "x", "k"))
    with pytest.raises(ChangeError):
        splice(parse("m: text\n"), [put("b", value=1)], ("m", "x", "k"))


def test_a_comment_below_does_not_become_part_of_a_literal() -> None:
    assert edited("a: x\n    # deep\n", [put("a", value="p\nq")]) == 'a: "p\\nq"\n    # deep\n'
    assert edited("a: |\n  x\nb: 1\n  # deep\nc: 1\n", [remove("b")]) == "a: |\n  x\nc: 1\n"


def test_an_item_of_a_resource_list_is_edited_in_place() -> None:
    text = (DATA / "kpt-render.yaml").read_text(encoding="utf-8")
    found = split_items(text)
    assert found is not None
    chunk = found.items[0]
    document = parse(chunk.of(text), line=chunk.line)
    containers = ("spec", "template", "spec", "containers")
    changes = [
        insert(*containers, 0, value={"name": "init", "image": "i@sha256:0"}),
        insert(*containers, 1, "env", 2, value={"name": "C"}),
        put("spec", "template", "spec", "runtimeClassName", value="contrast-cc"),
        put("spec", "template", "metadata", "annotations", value={"k": "v"}),
    ]
    new = edited(document.text, changes)
    lines, before = new.splitlines(), document.text.splitlines()
    assert [line for line in lines if line not in before] == [
        "        annotations:", "          k: v", "        - name: init", '          image: "i@sha256:0"',
        "          - name: C",
        "        runtimeClassName: contrast-cc",
    ]  # fmt: skip
    assert [line for line in lines if line in before] == before
    assert lines.index("        # the main container") == lines.index("        - name: main") - 1


def test_flow_metadata_with_appended_annotations_is_edited_inside_of_its_braces() -> None:
    text = "metadata: {name: d, annotations: {a/b: 'c'}}\n"
    assert edited(text, [put("metadata", "annotations", "k", value="v")]) == (
        'metadata: {name: d, annotations: {a/b: \'c\', "k": "v"}}\n'
    )
