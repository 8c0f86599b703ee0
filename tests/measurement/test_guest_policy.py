"""The guest policy's bits."""

import pytest

from krm_function.contrast.measurement import guest_policy


def test_the_default_allows_multithreading_only() -> None:
    assert guest_policy({}) == 196608


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"SMT": False}, 0x20000),
        ({"ABIMinor": 31}, 0x3001F),
        ({"ABIMinor": 255, "ABIMajor": 1}, 0x301FF),
        ({"SMT": False, "MigrateMA": True}, 0x60000),
        ({"SMT": False, "Debug": True}, 0xA0000),
        ({"SMT": False, "SingleSocket": True}, 0x120000),
        ({"SMT": False, "CXLAllowed": True}, 0x220000),
        ({"SMT": False, "MemAES256XTS": True}, 0x420000),
        ({"SMT": False, "RAPLDis": True}, 0x820000),
        ({"SMT": False, "CipherTextHidingDRAM": True}, 0x1020000),
        ({"SMT": False, "PageSwapDisable": True}, 0x2020000),
    ],
)
def test_each_field_has_its_bits(fields: dict[str, int], expected: int) -> None:
    assert guest_policy(fields) == expected


@pytest.mark.parametrize(
    "fields",
    [
        {"ABIMinor": 256},
        {"ABIMinor": -1},
        {"ABIMajor": True},
        {"ABIMajor": "0"},
        {"SMT": 1},
        {"Debug": None},
        {"smt": True},
    ],
)
def test_what_the_bits_cannot_say_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="guest policy"):
        guest_policy(fields)
