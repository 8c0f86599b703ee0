"""Parse and compare Kubernetes quantities: exact, in integers.

Rule of this file: `500m`, `0.5` and `5e-1` are one value. Every quantity is an integer number of nano units, because
Kubernetes keeps nothing finer: a smaller part is rounded away from zero to the next nano (apimachinery, ParseQuantity).
"""

import re
from functools import lru_cache
from typing import Any

NANO = 10**9
MILLI = 10**6  # nanos in a milli
LARGEST = (2**63 - 1) * NANO  # Kubernetes caps here; nothing real is larger, so it is an error
LONGEST = 64  # characters
GRAMMAR = r"([+-]?)([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E|[eE][+-]?[0-9]{1,9})?"
DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
STEPS = 100  # decimal exponents beyond this are out of range for any mantissa of 64 digits


def nano(value: Any) -> int:
    """Convert a quantity to nano units.

    value: text, or the number a YAML document holds in its place. Raises ValueError with a problem text (lower case,
    without the value).
    """
    return _parse_nano(_quantity_text(value))


@lru_cache(4096)  # a chart writes the same few quantities everywhere, and several rules read each
def _parse_nano(text: str) -> int:
    matched = re.fullmatch(GRAMMAR, text)
    if matched is None:
        raise ValueError("is not a Kubernetes quantity")
    sign, number, suffix = matched[1], matched[2], matched[3] or ""
    whole, _, fraction = number.partition(".")
    mantissa = int(whole + fraction)
    exponent = 9 - len(fraction)
    if suffix in BINARY:
        mantissa <<= BINARY[suffix]
    else:
        exponent += DECIMAL[suffix] if suffix in DECIMAL else int(suffix[1:])
    amount = _scale(mantissa, exponent)
    if amount > LARGEST:
        raise ValueError("is larger than any Kubernetes quantity")
    return -amount if sign == "-" else amount


def _quantity_text(value: Any) -> str:
    match value:
        case bool():
            raise ValueError("must be a quantity, not a boolean")
        case str():
            text = value
        case int():
            if abs(value) > LARGEST:
                raise ValueError("is larger than any Kubernetes quantity")
            text = str(value)
        case float():
            text = repr(value)
        case _:
            raise ValueError("must be a quantity")
    if len(text) > LONGEST:
        raise ValueError(f"is longer than {LONGEST} characters")
    return text


def _scale(mantissa: int, exponent: int) -> int:
    """Compute mantissa * 10**exponent, rounded up, for any exponent."""
    if not mantissa:
        return 0
    factor: int = 10 ** min(abs(exponent), STEPS)
    return mantissa * factor if exponent >= 0 else -(-mantissa // factor)


def milli(value: Any) -> int:
    """Convert to thousandths, rounded away from zero: Kubernetes' MilliValue. Raises ValueError like `nano`."""
    return _divide_away(nano(value), MILLI)


def units(value: Any) -> int:
    """Convert to whole units, rounded away from zero: Kubernetes' Value. Raises ValueError like `nano`."""
    return _divide_away(nano(value), NANO)


def _divide_away(amount: int, step: int) -> int:
    return -(-amount // step) if amount >= 0 else amount // step


def equal(first: Any, second: Any) -> bool:
    """Tell whether two quantities are the same value; False for anything but quantities."""
    try:
        return nano(first) == nano(second)
    except ValueError:
        return False
