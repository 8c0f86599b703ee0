"""What we write reads back, in any YAML."""

from json.encoder import encode_basestring
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from krm_function.text.changes import same
from krm_function.text.errors import YamlError
from krm_function.text.parse import parse
from krm_function.text.writer import Style, block, dump, flow, quoted, scalar

TRICKY = [
    "", " ", "a", "yes", "No", "on", "y", "N", "null", "NULL", "~", "true", "1", "1.5", "0o17", "0x1F", "1_000", "1e3",
    ".5",
    ".inf", "nan", "-", "- a", "? a", ": a", "a: b", "a #b", "#a", "&a", "*a", "!a", "|", ">", "%a", "@a", "`a", "'a'",
    '"a"',
    "{a}", "[a]", "a,b", "=", "<<", "---", "...", "2001-01-01", "22:22", "a\n", "a\nb", "a\nb\n", "a\n\nb\n", "\na",
    "a\n\n",
    " a\nb", "a\n b\n", "a \nb", "a\tb", "\ta\nb", "a\n\tb\n", "a\r\nb", "\x85", "\u2028", "\ufeff", "\x07", "\x7f",
    "\\", "\\n",
    "é ☃ \U0001f600", "a" * 2000, "word " * 100, "/bin/sh", "a/b-c.d_e", "x@sha256:ab", "$(VAR)", "#\n#", "a\n#b\n",
    "a\n---\nb\n",
    "0", "00", "+1", "-1", "Infinity", "inf", "None", "none", "<", "key: |\n  x", "it's", "\u00a0", "end.", "\ud7ff",
    "\ufffd", "\uffff",
    '{"a": "b\'c"}', "\0",
]  # fmt: skip


@pytest.mark.parametrize("text", TRICKY)
def test_any_string_reads_back_wherever_it_stands(text: str) -> None:
    for value in (text, {"a": text}, [text], {"a": [{"b": text}, text]}, {text: 1}, {"a": {text: {text: text}}}):
        assert same(parse(dump({"v": value})).value, {"v": value})
        assert same(parse(dump(value, 4)).value if isinstance(value, dict) else value, value)
        assert same(parse(flow({"v": value})).value, {"v": value})
    assert parse(f"v: {scalar(text)}\n").value == {"v": text}
    assert "\n" not in scalar(text)


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("web", "web"), ("contrast-cc-1a2b", "contrast-cc-1a2b"), ("/dev/csi0", "/dev/csi0"), ("yes", '"yes"'), ("Off",
        '"Off"'),
        ("v1.2", "v1.2"), ("1", '"1"'), ("a b", '"a b"'), ("x:1", '"x:1"'), ("null", '"null"'), ("-a", '"-a"'), ("",
        '""'),
        ("a\nb", '"a\\nb"'), ('say "hi"', "'say \"hi\"'"), ("\U0001f600", '"\U0001f600"'), ("\x85", '"\\u0085"'),
    ],
)  # fmt: skip
def test_a_string_is_plain_only_when_it_is_safe_everywhere(text: str, token: str) -> None:
    assert scalar(text) == token


@pytest.mark.parametrize(
    "value", [None, True, False, 0, -5, 2**63, 1.5, 1e22, float("inf"), float("-inf"), float("nan"), {}, []]
)
def test_any_other_value_reads_back(value: Any) -> None:
    assert same(parse(dump({"v": value})).value, {"v": value})
    assert same(parse(flow([value])).value, [value])


def test_blocks_have_two_spaces_and_dashes_at_the_column_of_the_key() -> None:
    value = {"b": [{"c": 1, "d": ["x", ["y1", "z1"], []]}, {}], "a": {"text": "one\n  two\nthree\n", "end": "x\ny"}}
    assert dump(value) == (
        "b:\n- c: 1\n  d:\n  - x\n  - - y1\n    - z1\n  - []\n- {}\n"
        "a:\n  text: |\n    one\n      two\n    three\n  end: |-\n    x\n    y\n"
    )
    assert dump([1, {"a": 2, "b": 3}], 4) == "    - 1\n    - a: 2\n      b: 3\n"


def test_no_line_is_folded_and_nothing_is_shared() -> None:
    inner = {"a": "word " * 100}
    text = dump({"x": inner, "y": inner})
    assert "&" not in text
    assert max(map(len, text.splitlines())) > 500


def test_a_very_long_key_is_written_so_that_it_can_be_read() -> None:
    value = {"k" * 3000: {"k" * 3000: ["v"]}, "a": 1}
    assert parse(dump(value)).value == value
    assert parse(flow(value)).value == value


def test_half_a_surrogate_pair_cannot_be_written() -> None:
    with pytest.raises(YamlError, match="surrogate"):
        dump({"a": "\ud800"})


@pytest.mark.parametrize("value", [{1: 2}, {"a": object()}, {"a": b"bytes"}])
def test_what_is_no_plain_data_is_a_type_error(value: Any) -> None:
    with pytest.raises(TypeError):
        dump(value)


class Word(str):
    """A text of a class of somebody's own, as other libraries hand them over."""

    __slots__ = ()


def test_an_item_like_one_before_it_is_not_mistaken_for_it() -> None:
    items: list[Any] = [{"a": 1}, {"a": True}, {"a": 1.0}, {"a": "1"}, {"a": -0.0}, {"a": 0.0}, {"a": [1]}, {"a": (1,)}]
    items += [{"a": 1, "b": "x\ny\n"}, {"b": "x\ny\n", "a": 1}, {"a": Word("1")}, {Word("a"): 1}, [{"a": 1}]]
    alone = ["- " + block(item, 2, Style()) + "\n" for item in items]
    assert dump(items) == "".join(alone)
    styles = [Style("\n"), Style("\r\n"), Style("\n", 2), Style("\n", literal=False)]
    written = [block(items[8:9], 0, style) for style in styles * 2]
    assert written[:4] == written[4:]
    assert written[:4] == [
        "- a: 1\n  b: |\n    x\n    y",
        "- a: 1\r\n  b: |\r\n    x\r\n    y",
        "- a: 1\n  b: |\n    x\n    y",
        '- a: 1\n  b: "x\\ny\\n"',
    ]
    assert block(items[6:7], 0, styles[2]) == "- a:\n    - 1"
    assert block(items[6:7], 0, styles[0]) == "- a:\n  - 1"


ESCAPES = "ab+/='\"\\\n\t\x00\x1f\x7f"


@given(st.text(ESCAPES, max_size=300) | st.text(ESCAPES[:5], min_size=150, max_size=300), st.text(ESCAPES, max_size=2))
@settings(max_examples=500, deadline=None, database=None, derandomize=True)
def test_a_long_string_without_escapes_is_quoted_as_the_json_encoder_quotes_it(text: str, end: str) -> None:
    assert quoted(text + end) == encode_basestring(text + end).replace("\x7f", "\\u007f")


@given(st.text(ESCAPES + "é\x85\u2028", max_size=40).map("1".__add__))
@settings(max_examples=500, deadline=None, database=None, derandomize=True)
def test_single_quotes_are_taken_where_they_are_shorter_and_read_the_same(text: str) -> None:
    token = quoted(text)
    single = "'" + text.replace("'", "''") + "'"
    shorter = len(token) > len(single) and text.isascii() and text.isprintable()
    assert scalar(text) == (single if shorter else token)
