"""Decode UTF-8 input to text, and encode text to bytes.

Rule of this file: the input is UTF-8, and `encode(decode(data))` is `data`. A byte order mark is taken off (libyaml's
positions would be off by one) and remembered.
"""

from krm_function.record import NamedTuple
from krm_function.yamltext.errors import LIMITS, Limits, YamlError

_MARK = b"\xef\xbb\xbf"


class Source(NamedTuple):
    """A decoded input: its text without the byte order mark, and whether there was one."""

    text: str
    bom: bool = False


def decode(data: bytes, limits: Limits = LIMITS) -> Source:
    """Decode one input. Raises YamlError (size, encoding) with the line of the first byte that is not UTF-8."""
    if len(data) > limits.bytes:
        raise YamlError(f"the input has {len(data)} bytes, the limit is {limits.bytes}", code="size")
    bom = data.startswith(_MARK)
    body = data[3:] if bom else data
    try:
        return Source(body.decode("utf-8"), bom)
    except UnicodeDecodeError as error:
        before = body[: error.start]
        wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
        raise YamlError(
            "the input is UTF-16, not UTF-8" if wide else "a byte that is not UTF-8",
            before.count(b"\n") + 1,
            len(before[before.rfind(b"\n") + 1 :].decode("utf-8")) + 1,
            "encoding",
        ) from None


def encode(text: str, bom: bool = False) -> bytes:
    """Encode `text`; the exact inverse of `decode`. Raises YamlError for a lone surrogate."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError:
        raise YamlError("the text holds half a surrogate pair", code="encoding") from None
    return _MARK + data if bom else data
