"""Type unquoted scalars as Kubernetes does: the typing of sigs.k8s.io/yaml, which is Go's yaml.v2 read as JSON.

Rule of this file: what kubectl reads is right, whatever a YAML version says. So `yes`, `on` and `y` are booleans,
`0755` and `0o755` are octal, `089` is 89, `1e3` is 1000, and dates, `22:22` and `=` are strings. A number without a
fraction is an int, since Go writes 1000.0 as `1000` into JSON. Sources:
docs/facts/kubernetes.md#scalars; goyaml.v2/resolve.go.
"""

import re
from math import isinf, isnan

_TAG = "tag:yaml.org,2002:"
_WORDS: dict[str, bool | float | None] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
}
_HINTS = frozenset("0123456789+-.yYnNtTfFoO~")
_DIGITS = frozenset("0123456789")
_OF_NUMBERS = frozenset("0123456789abcdefABCDEFxXoO+-._")  # all that a number can be made of
_INT = r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[oO]?([0-7]+)|0[bB]([01]+)|(0|[1-9][0-9]{0,20}))"  # compiled when first needed
# A decimal number of more digits is a float, or a string where no float is so large; Python reads 4300 digits at most.
_FLOAT = r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
_DOT = r"\.[0-9](?:_?[0-9])*(?:[eE][-+]?[0-9](?:_?[0-9])*)?"
_SURE = 18  # so many digits are within any bounds
_SIZE = 1e21  # from here on Go writes a float with an exponent

Scalar = str | int | float | bool | None


def typed(text: str) -> Scalar:
    """Return the value of a plain scalar without a tag."""
    if text and text[0] not in _HINTS:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if not _OF_NUMBERS.issuperset(text):
        return text
    if text[0] != "0" and len(text) <= _SURE and _DIGITS.issuperset(text):
        return int(text)
    if text[0] == ".":
        return _number(text, text) if re.fullmatch(_DOT, text) else text
    if text[0] not in "0123456789+-":
        return text
    digits = text.replace("_", "")
    match = re.fullmatch(_INT, digits)
    if match is not None:
        sign, *bases = match.groups()
        for found, base in zip(bases, (16, 8, 2, 10), strict=True):
            if found is not None:
                number = -int(found, base) if sign == "-" else int(found, base)
                if -(2**63) <= number < (2**64 if not sign else 2**63):
                    return number
    return _number(text, digits) if re.fullmatch(_FLOAT, digits) else text


def _number(text: str, digits: str) -> Scalar:
    number = float(digits)
    if isinf(number):
        return text
    return int(number) if number.is_integer() and abs(number) < _SIZE else number


def tagged(text: str, tag: str) -> Scalar:
    """Return the value of a scalar with a tag. Raises ValueError for a tag that is unknown or does not fit."""
    kind = tag.removeprefix(_TAG)
    if tag == "!" or kind in ("str", "timestamp"):
        return text
    if kind == "binary":
        from binascii import a2b_base64

        try:
            return a2b_base64(text.encode("ascii", "replace")).decode()
        except UnicodeDecodeError:
            raise ValueError("base64 of bytes that are no text") from None
    value = typed(text)
    fits = {
        "null": value is None,
        "bool": isinstance(value, bool),
        "int": isinstance(value, int) and not isinstance(value, bool) and not _is_float(text),
        "float": isinstance(value, int | float) and not isinstance(value, bool),
    }
    if kind == tag or not fits.get(kind, False):
        raise ValueError("a tag that is not known" if kind not in fits else f"a scalar that is no {kind}")
    return value


def _is_float(text: str) -> bool:
    digits = text.replace("_", "")
    return not re.fullmatch(_INT, digits)


def key_text(value: Scalar) -> str:
    """Return the JSON key that a scalar key becomes. Raises ValueError for null, which Kubernetes refuses."""
    if isinstance(value, str):
        return value
    if value is None:
        raise ValueError("a null key")
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else _go_float(value)


def _go_float(value: float) -> str:
    if isnan(value):
        return ".nan"
    if isinf(value):
        return ".inf" if value > 0 else "-.inf"
    return repr(value)
