"""P-384: our arithmetic against OpenSSL's."""

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP384R1, derive_private_key
from hypothesis import given
from hypothesis import strategies as st

from krm_function.measurement.p384 import SPACING, TEETH, B, G, N, P, on_curve, times_generator

CORNERS = [1, 2, 3, 15, 16, 2**95, 2**96 - 1, 2**96, 2**96 + 1, 2**288, 2**383, sum(2 ** (96 * i) for i in range(4))]


def openssl(k: int) -> tuple[int, int]:
    numbers = derive_private_key(k, SECP384R1()).public_key().public_numbers()
    return numbers.x, numbers.y


@pytest.mark.parametrize("k", [*CORNERS, *(N - k for k in CORNERS)])
def test_corners(k: int) -> None:
    assert times_generator(k) == openssl(k)


@given(st.integers(1, N - 1))
def test_any_multiple(k: int) -> None:
    assert times_generator(k) == openssl(k)


def test_the_neutral_point_is_refused() -> None:
    with pytest.raises(ValueError, match="neutral"):
        times_generator(0)


def test_on_curve() -> None:
    x, y = G
    assert on_curve(x, y)
    assert on_curve(x, P - y)
    assert not on_curve(x, y + 1)
    assert not on_curve(x + P, y)
    assert not on_curve(x, y - P)
    assert not on_curve(0, 0)
    assert not on_curve(B, B)


def test_the_teeth_are_multiples_of_the_generator() -> None:
    assert [*TEETH] == [openssl(2 ** (SPACING * index)) for index in range(4)]
