"""JSON from a text, strictly: what lock, import and configuration read.

Rule of this file: one reading or none. Duplicate keys, NaN, half surrogates and numbers that no float64 can hold are
refused, because the next reader may see something else in them.
"""

from typing import Any, NoReturn

LONGEST = 309  # digits of the largest float64; Go reads no longer integer, and Python stops at 4300 digits
TOO_LARGE = "holds a number that no JSON reader can take: it is beyond 1.8e308"


def load_object(text: str) -> dict[str, Any]:
    """Read one JSON object. Raises ValueError with a problem text, RecursionError for absurd nesting."""
    value = load_any(text)
    if not isinstance(value, dict):
        raise ValueError("is not a JSON object")  # noqa: TRY004 (about the text)
    return value


def load_any(text: str) -> Any:
    """Read any JSON value. Raises like `load`."""
    import json

    try:
        value = json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_int=_integer, parse_float=_finite
        )
    except json.JSONDecodeError as error:
        raise ValueError(f"is not JSON: {error.msg.lower()} (line {error.lineno}, column {error.colno})") from error
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ValueError("must be valid Unicode") from error
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("has a key twice in one object")
    return made


def _constant(name: str) -> NoReturn:
    raise ValueError(f"holds {name}, which is not JSON")


def _integer(digits: str) -> int:
    if len(digits.lstrip("-")) > LONGEST:
        raise ValueError(TOO_LARGE)
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if number - number != 0:
        raise ValueError(TOO_LARGE)
    return number
