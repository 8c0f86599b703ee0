"""Kubernetes quantities, against exact fractions."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_function.kubernetes.quantity import LARGEST, NANO, equal, milli, nano, units

SUFFIXES = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "": Fraction(1),
    "k": Fraction(10**3),
    "M": Fraction(10**6),
    "G": Fraction(10**9),
    "T": Fraction(10**12),
    "P": Fraction(10**15),
    "E": Fraction(10**18),
    "Ki": Fraction(2**10),
    "Mi": Fraction(2**20),
    "Gi": Fraction(2**30),
    "Ti": Fraction(2**40),
    "Pi": Fraction(2**50),
    "Ei": Fraction(2**60),
}


@pytest.mark.parametrize(
    "value, expected",
    [
        ("500m", 500),
        ("1.5", 1500),
        ("1e3", 1_000_000),
        ("1E3", 1_000_000),
        ("1E", 10**21),
        ("128Mi", 128 * 2**20 * 1000),
        (".5", 500),
        ("5.", 5000),
        ("+2", 2000),
        ("-2", -2000),
        ("0", 0),
        ("-0", 0),
        ("1n", 1),
        ("1001u", 2),
        ("-1001u", -2),
        ("1.0001", 1001),
        ("2e-3", 2),
        (2, 2000),
        (0.5, 500),
        (1e-07, 1),
        (0, 0),
    ],
)
def test_milli_rounds_away_from_zero_as_kubernetes_does(value: object, expected: int) -> None:
    assert milli(value) == expected


@pytest.mark.parametrize(
    "first, second", [("250m", "0.25"), ("1Ki", "1024"), ("1e3", 1000), ("0.5Gi", "512Mi"), (1, 1.0)]
)
def test_equal_values_in_different_spellings_are_equal(first: object, second: object) -> None:
    assert equal(first, second)


def test_different_values_are_not_equal() -> None:
    assert not equal("1Ki", "1k")


@pytest.mark.parametrize("value", ["much", None, True, {}])
def test_what_is_no_quantity_is_equal_to_none(value: object) -> None:
    assert not equal(value, value)


def test_units_round_up_to_whole_ones() -> None:
    assert [units(text) for text in ("1", "1.1", "1m", "0", "2Ki")] == [1, 2, 1, 0, 2048]


def test_less_than_a_nano_is_a_nano() -> None:
    assert nano("0.0000000001") == 1
    assert nano("-1e-400") == -1
    assert nano("0e999999999") == 0


NO_TEXTS = [
    "",
    " 1",
    "1 ",
    "1\n",
    ".",
    "+",
    "m",
    "Mi",
    "1i",
    "1mi",
    "1Kim",
    "1 Mi",
    "1e",
    "1e1.5",
    "--1",
    "1,5",
    "0x10",
    "१",
    "1_0",
    "1e19",
    "16Ei",
    "1e99999999999",
]
NO_VALUES: list[object] = [None, True, [], {}, float("nan"), float("inf"), "1" * 65, 2**63, 10**400]


@pytest.mark.parametrize("value", [*NO_TEXTS, *NO_VALUES])
def test_what_is_no_quantity_is_a_problem_without_the_value(value: object) -> None:
    with pytest.raises(ValueError, match=r"^(is|must be) ") as caught:
        nano(value)

    assert not isinstance(value, str) or len(value) < 2 or value not in str(caught.value)


def test_the_largest_quantity_is_accepted() -> None:
    assert nano(str(2**63 - 1)) == LARGEST
    assert nano(2**63 - 1) == LARGEST


@given(
    st.sampled_from(["", "+", "-"]),
    st.integers(0, 10**20).map(str),
    st.none() | st.integers(0, 10**12).map(str),
    st.sampled_from(sorted(SUFFIXES)) | st.tuples(st.sampled_from("eE"), st.integers(-30, 30)),
)
def test_every_quantity_has_the_value_that_exact_arithmetic_gives(
    sign: str, whole: str, fraction: str | None, suffix: str | tuple[str, int]
) -> None:
    number = whole if fraction is None else f"{whole}.{fraction}"
    factor = SUFFIXES[suffix] if isinstance(suffix, str) else Fraction(10) ** suffix[1]
    text = sign + number + (suffix if isinstance(suffix, str) else f"{suffix[0]}{suffix[1]}")
    exact = Fraction(number) * factor * NANO
    rounded = -(-exact.numerator // exact.denominator)

    if rounded > LARGEST:
        with pytest.raises(ValueError, match="larger"):
            nano(text)
    else:
        assert nano(text) == (-rounded if sign == "-" else rounded)
        assert milli(text) == (-1 if sign == "-" else 1) * -(-rounded // 10**6)


@given(st.text(max_size=20) | st.floats() | st.integers() | st.booleans())
def test_any_other_value_is_a_quantity_or_a_value_error(value: object) -> None:
    problem = ""
    try:
        amount = nano(value)
    except ValueError as error:
        amount, problem = 0, str(error)

    assert abs(amount) <= LARGEST
    assert not problem or problem.startswith(("is ", "must be "))
