"""One document: its value, the places of its parts, and what is refused."""

from time import perf_counter
from typing import Any

import pytest

from krm_function.text.errors import Limits, YamlError
from krm_function.text.parse import locate, parse


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("# only\n", None),
        ("---\n", None),
        ("--- # c\na: 1\n...\n", {"a": 1}),
        ('{"a": [1, {"b": "c\\n"}]}\n', {"a": [1, {"b": "c\n"}]}),
        ("- a: 1\n  b: 2\n# foot\n", {"a": 1, "b": 2}),
        ("  - a: 1\n    b: 2\n", {"a": 1, "b": 2}),
        ("-\n  a: 1\n", {"a": 1}),
        ("- - a\n  - b\n", ["a", "b"]),
        ("- a\n- b\n", ["a", "b"]),
        ("[a]\n", ["a"]),
        ("a:\tb\n", {"a": "b"}),
        ("%YAML 1.2\n---\na: 1\n", {"a": 1}),
        ("a: &x {b: 1}\nc: *x\n", {"a": {"b": 1}, "c": {"b": 1}}),
        ("x: &x {a: 1, b: 2}\nz:\n  <<: *x\n  b: 3\n", {"x": {"a": 1, "b": 2}, "z": {"a": 1, "b": 3}}),
        ("z:\n  !!merge <<: [{a: 1}, {a: 2, b: 3}]\n", {"z": {"a": 1, "b": 3}}),
        ("x: {'<<': 1, z: [<<]}\n", {"x": {"<<": 1, "z": ["<<"]}}),
    ],
)
def test_a_text_means_one_value(text: str, value: Any) -> None:
    assert parse(text).value == value


def test_expanded_aliases_share_nothing() -> None:
    value = parse("a: &x {b: [1]}\nc: *x\nd: {<<: *x}\n").value
    assert value["a"]["b"] is not value["c"]["b"]
    assert value["c"]["b"] is not value["d"]["b"]


@pytest.mark.parametrize(
    ("text", "code", "line", "column"),
    [
        ("a: 1\nb: 2\na: 3\n", "duplicate", 3, 1),
        ("a: {b: 1, 'b': 2}\n", "duplicate", 1, 11),
        ("x: &x {}\ny:\n  <<: *x\n  <<: *x\n", "duplicate", 4, 3),
        ("x: &x {k: 1}\ny:\n  k: 2\n  <<: *x\n", "duplicate", 3, 3),
        ("a: *x\n", "alias", 1, 4),
        ("a: &x [*x]\n", "alias", 1, 8),
        ("a: {<<: 1}\n", "shape", 1, 9),
        ("a: 1\n---\nb: 1\n", "shape", 2, 1),
        ("a: b: c\n", "syntax", 1, 5),
        ("a:\n\t- b\n", "syntax", 2, 1),
        ('a: "\\ud83d"\n', "syntax", 1, 4),
        ("a: 'x\n---\nb'\n", "syntax", 2, 1),
    ],
)
def test_an_error_has_its_code_and_its_place(text: str, code: str, line: int, column: int) -> None:
    with pytest.raises(YamlError) as caught:
        parse("# above\n" + text, line=11)
    error = caught.value
    assert (error.code, error.line - 11) == (code, line)
    assert error.column == column or code == "syntax"
    assert str(error).startswith(f"line {error.line}, column {error.column}: {error.message}")


def test_a_duplicate_names_its_key_and_both_lines() -> None:
    with pytest.raises(YamlError, match="line 3, column 1: duplicate key a, first on line 1"):
        parse("a: 1\nb: 2\na: 3\n")


def test_a_key_above_a_merge_key_may_repeat_what_it_merges() -> None:
    assert parse("x: &x {k: 1}\nz:\n  k: 1\n  <<: *x\n").value["z"] == {"k": 1}


@pytest.mark.parametrize(
    "text",
    ["k: hunter2 : x", "a: *hunter2", "a: !hunter2 x", "a: 'hunter2", "a: !!int hunter2", "a: &hunter2 [*hunter2]"],
)
def test_a_message_never_quotes_a_value(text: str) -> None:
    with pytest.raises(YamlError) as caught:
        parse(text)
    assert "hunter2" not in str(caught.value)
    assert "\n" not in caught.value.message


def test_an_alias_bomb_is_refused_at_once() -> None:
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))
    start = perf_counter()
    with pytest.raises(YamlError) as caught:
        parse(bomb)
    assert caught.value.code == "alias"
    assert perf_counter() - start < 1


def test_aliases_that_copy_large_values_are_bounded() -> None:
    text = "a: &a [" + "x, " * 5000 + "]\nb: [" + "*a, " * 900 + "]\n"
    with pytest.raises(YamlError) as caught:
        parse(text)
    assert caught.value.code == "alias"


@pytest.mark.parametrize("text", ["[" * 100_000, "a: &a " + "[" * 60 + "]" * 60 + "\nb: " + "[" * 60 + "*a" + "]" * 60])
def test_depth_is_bounded_through_aliases_too(text: str) -> None:
    with pytest.raises(YamlError) as caught:
        parse(text)
    assert caught.value.code == "depth"


def test_the_depth_limit_is_exact() -> None:
    assert parse("[" * 5 + "]" * 5, limits=Limits(depth=5)).value == [[[[[]]]]]
    with pytest.raises(YamlError):
        parse("[" * 6 + "]" * 6, limits=Limits(depth=5))


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ((), (11, 3)),
        (("metadata",), (12, 3)),
        (("metadata", "name"), (13, 5)),
        (("metadata", "gone", "x"), (12, 3)),
        (("spec", "containers", 1), (17, 7)),
        (("spec", "containers", 1, "image"), (18, 7)),
        (("spec", "containers", 7), (15, 5)),
        (("spec", "alias", "name"), (19, 5)),
        (("spec", "flow", "b", 0), (20, 22)),
    ],
)
def test_locate_finds_the_deepest_part_that_exists(path: tuple[str | int, ...], place: tuple[int, int]) -> None:
    text = """\
- kind: Pod
  metadata: &m
    name: x
  spec:
    containers:
    - name: a
    - name: b
      image: c
    alias: *m
    flow: {a: 1, b: [x]}
"""
    document = parse(text, line=11)
    assert locate(document, path) == place


def test_a_text_without_content_is_located_at_its_start() -> None:
    assert locate(parse("# c\n", line=5), ("a",)) == (5, 1)
