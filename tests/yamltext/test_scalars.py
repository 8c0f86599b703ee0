"""Scalars read as kubectl reads them. Every row was compared with `kubectl label --local -o json`."""

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from krm_function.text.changes import same
from krm_function.text.errors import YamlError
from krm_function.text.parse import parse, typed

TABLE: list[tuple[str, Any]] = [
    *((word, True) for word in ("yes", "Yes", "YES", "on", "On", "ON", "y", "Y", "true", "True", "TRUE")),
    *((word, False) for word in ("no", "No", "NO", "off", "Off", "OFF", "n", "N", "false", "False", "FALSE")),
    *((word, None) for word in ("~", "null", "Null", "NULL", "")),
    *((word, word) for word in ("tRue", "nULL", "oN", "none", "yess", "=", "<<", "Infinity", "nan")),
    ("0755", 493), ("0o755", 493), ("0O17", 15), ("089", 89), ("08", 8), ("00", 0), ("0b11", 3), ("0x1F", 31),
    ("-0x1F", -31), ("+0b1", 1), ("+12", 12), ("-0", 0), ("1_000", 1000), ("0x_1F", 31), ("-_1", -1), ("1__0", 10),
    ("0b", "0b"), ("0x", "0x"), ("0o8", "0o8"), ("0Xe", 14), ("0b2", "0b2"),
    ("1e3", 1000), ("1.0e3", 1000), ("12e03", 12000), ("1E400", "1E400"), ("1E_1", 10), ("08E_1", 80), ("1.5", 1.5),
    (".5", 0.5), ("-.5", -0.5), ("1.", 1), (".", "."), (".1_0", 0.1), ("._1", "._1"), (".5e999", ".5e999"),
    ("1.0", 1), ("-1.5e-3", -0.0015), ("1e21", 1e21), (".inf", float("inf")), ("-.INF", float("-inf")),
    (".NaN", float("nan")), ("22:22", "22:22"), ("1:30:00", "1:30:00"), ("190:20:30.15", "190:20:30.15"),
    ("2001-01-01", "2001-01-01"), ("2001-12-14t21:59:43.10-05:00", "2001-12-14t21:59:43.10-05:00"),
    ("9007199254740993", 9007199254740993), ("18446744073709551615", 18446744073709551615),
    ("9" * 40, float("9" * 40)), ("0x1FFFFFFFFFFFFFFFFF", "0x1FFFFFFFFFFFFFFFFF"),
    ("0777777777777777777777777", 7.77777777777777777777777e23),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), TABLE)
def test_a_plain_scalar_means_what_it_means_to_kubectl(text: str, value: Any) -> None:
    assert same(typed(text), value)
    assert same(parse(f"a: {text}\n").value, {"a": value})


@pytest.mark.parametrize("text", ["yes", "0755", "1e3", "null", "", "2001-01-01"])
def test_a_quoted_scalar_is_a_string(text: str) -> None:
    assert parse(f"a: '{text}'\nb: \"{text}\"\n").value == {"a": text, "b": text}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("!!str 5", "5"), ("!!str", ""), ('!!int "3"', 3), ("!!binary aGVsbG8=", "hello"), ("!!bool 'yes'", True),
        ("!!float 3", 3), ("!!null ''", None), ("!!timestamp 2001-01-01", "2001-01-01"), ("! 5", "5"), ("!!seq [a]",
        ["a"]),
        ("!!map {a: b}", {"a": "b"}),
    ],
)  # fmt: skip
def test_the_tags_of_yaml_are_honoured(text: str, value: Any) -> None:
    assert same(parse(f"a: {text}\n").value, {"a": value})


@pytest.mark.parametrize(
    "text", ["!custom 5", "!!int x", "!!int 1.5", "!!set {a: }", "!custom {a: b}", "!!map [a]", "!!bool 1"]
)
def test_a_tag_that_is_unknown_or_does_not_fit_is_refused(text: str) -> None:
    with pytest.raises(YamlError) as caught:
        parse(f"a: {text}\n")
    assert (caught.value.code, caught.value.line, caught.value.column) == ("tag", 1, 4)


def test_keys_are_the_strings_that_json_would_have() -> None:
    value = parse("8080: a\non: c\n0x10: d\n1.5: e\n2001-01-01: f\n'~': g\n.inf: h\n").value
    assert list(value) == ["8080", "true", "16", "1.5", "2001-01-01", "~", ".inf"]


def test_keys_that_become_the_same_string_are_duplicates() -> None:
    with pytest.raises(YamlError) as caught:
        parse("true: a\non: b\n")
    assert caught.value.code == "duplicate"


@pytest.mark.parametrize("text", ["~: a\n", "[a]: b\n", "{a: b}: c\n", "? \n: a\n"])
def test_a_key_that_kubernetes_refuses_is_refused(text: str) -> None:
    with pytest.raises(YamlError) as caught:
        parse(text)
    assert caught.value.code == "shape"


def exact(text: str) -> Any:
    """The value of a scalar that begins like a number and is no word, without a short cut."""
    digits = text.replace("_", "")
    if text[0] == ".":
        wanted = r"\.[0-9](_?[0-9])*([eE][-+]?[0-9](_?[0-9])*)?"
        number = float(text) if re.fullmatch(wanted, text) else None
    else:
        for pattern, base in (
            ("0[xX]([0-9a-fA-F]+)", 16),
            ("0[oO]?([0-7]+)", 8),
            ("0[bB]([01]+)", 2),
            ("([0-9]+)", 10),
        ):
            match = re.fullmatch("([-+]?)" + pattern, digits)
            if match and (base != 10 or match[2] == "0" or match[2][0] != "0"):
                whole = int(match[1] + match[2], base)
                if -(2**63) <= whole < (2**63 if match[1] else 2**64):
                    return whole
        wanted = r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"
        number = float(digits) if re.fullmatch(wanted, digits) else None
    if number is None or number in (float("inf"), float("-inf")):
        return text
    return int(number) if number.is_integer() and abs(number) < 1e21 else number


@given(
    st.text("0123456789", max_size=22) | st.text("0017+-._xXoObBeEaf:M\u0663", max_size=9), st.sampled_from("019.+-")
)
@settings(max_examples=3000, deadline=None, database=None, derandomize=True)
def test_what_begins_like_a_number_is_read_as_without_short_cuts(text: str, first: str) -> None:
    assert repr(typed(first + text)) == repr(exact(first + text))
