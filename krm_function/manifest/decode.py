"""A manifest from bytes: strict JSON, lenient names.

Rule of this file: what two readers could understand differently is refused (duplicate keys, NaN, lone surrogates);
what Go's encoding/json understands in one way only is understood in that way (letter case of field names).
"""

import json
from collections.abc import Sequence
from typing import Any, NoReturn

from krm_function.manifest.ordered_fields import MANIFEST, Json
from krm_function.manifest.problem import ManifestProblem, short
from krm_function.schema.check import wrong_type
from krm_function.schema.kinds import ANY_TEXT, ListOf, MapOf, Path, Record, Spec

MAX_BYTES = 16 * 2**20  # some 60000 policies
MAX_DEPTH = 32  # a manifest needs six


class ManifestError(ValueError):
    """Bytes that are no manifest. `line` and `column` count from 1; 0 means unknown."""

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        """Keep the place beside the message."""
        super().__init__(message)
        self.line = line
        self.column = column


def decode(data: bytes) -> Json:
    """Read a manifest, its field names brought to the canonical letter case; nothing is filled in or dropped.

    Fields that no manifest has and values of wrong types are kept for `validate` to report. Raises ManifestError for
    anything but one JSON object in UTF-8, for keys given twice (also in different letter case), for non-JSON numbers,
    and beyond MAX_BYTES or MAX_DEPTH.
    """
    if len(data) > MAX_BYTES:
        raise ManifestError(f"{len(data)} bytes, the limit is {MAX_BYTES}")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise ManifestError(f"not UTF-8 at byte {error.start}") from error
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_finite)
    except ManifestError:
        raise
    except json.JSONDecodeError as error:
        raise ManifestError(f"not JSON: {error.msg.lower()}", error.lineno, error.colno) from error
    except RecursionError as error:
        raise ManifestError(f"nested deeper than {MAX_DEPTH} levels") from error
    except ValueError as error:  # an integer of thousands of digits
        raise ManifestError("a number is too long") from error
    if not isinstance(value, dict):
        raise ManifestError("not a JSON object")
    _check(value, MAX_DEPTH)
    named: Json = _named(value, MANIFEST, ())
    return named


def _object(pairs: Sequence[tuple[str, Any]]) -> Json:
    """Make an object of its members; the same key twice is an error."""
    result = dict(pairs)
    if len(result) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ManifestError(f"duplicate key {short(key)}")
            seen.add(key)
    return result


def _constant(name: str) -> NoReturn:
    """Refuse NaN and the infinities, which Python would read."""
    raise ManifestError(f"{name} is not JSON")


def _finite(digits: str) -> float:
    """Refuse what no float64 can hold: Go's reader does, and Python would write it as Infinity."""
    number = float(digits)
    if number - number != 0:
        raise ManifestError("a number is too large")
    return number


def _check(value: Any, depth: int) -> None:
    """Refuse what is nested deeper than `depth` levels, and text that UTF-8 cannot carry."""
    if isinstance(value, str):
        if wrong_type(ANY_TEXT, value):
            raise ManifestError("half of a surrogate pair is no character")
    elif isinstance(value, dict | list):
        if not depth:
            raise ManifestError(f"nested deeper than {MAX_DEPTH} levels")
        for part in value:
            _check(part, depth - 1)
        if isinstance(value, dict):
            for part in value.values():
                _check(part, depth - 1)


def _named(value: Any, spec: Spec, path: Path) -> Any:
    """Rename fields to their canonical case, as deep as the tables go."""
    match spec:
        case Record() if isinstance(value, dict):
            known = {name.casefold(): name for name in spec.fields}
            result: Json = {}
            for key, part in value.items():
                name = known.get(key.casefold()) or key
                if len(name) != len(key):  # a ligature folds to two letters; Go does not match those
                    name = key
                here = (*path, name)
                if name in result:
                    raise ManifestError(f"duplicate key {ManifestProblem(here, '').field} in two spellings")
                result[name] = _named(part, spec.fields[name].spec, here) if name in spec.fields else part
            return result
        case MapOf() if isinstance(value, dict):
            return {key: _named(part, spec.values, (*path, key)) for key, part in value.items()}
        case ListOf() if isinstance(value, list):
            return [_named(part, spec.items, (*path, index)) for index, part in enumerate(value)]
        case _:
            return value
