"""YamlError, for texts that cannot be read or edited, the bounds of size, depth and aliases, and UTF-8."""

from typing import Literal

from krm_function.record import NamedTuple

# --- YamlError, for texts that cannot be read or edited, and Limits, the bounds of size, depth and aliases
#
# Rule: a message is lower case, one line, and never quotes the document beyond a mapping key: documents hold Secrets,
# and error messages end up in CI logs.


Code = Literal[
    "syntax", "encoding", "size", "depth", "alias", "duplicate", "tag", "shape", "splice", "separator", "template"
]


class YamlError(ValueError):
    """A text that cannot be read or edited. Lines and columns count from 1; 0 means unknown."""

    def __init__(self, message: str, line: int = 0, column: int = 0, code: Code = "syntax") -> None:
        """Keep the message, lower case and one line, and its place."""
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column
        self.code: Code = code

    def __str__(self) -> str:
        """Format as `line 3, column 7: message`; without an unknown place."""
        return f"line {self.line}, column {self.column}: {self.message}" if self.line else self.message


def of_template(problem: YamlError, text: str, line: int) -> YamlError:
    """Return the problem, or the template that caused it: a `{{` in its line or in one of the two lines before.

    text: the text with the problem, from line number `line` on: input for a program such as Helm, and not YAML yet.
    """
    if problem.code not in {"syntax", "shape"} or not problem.line or "{{" not in text:
        return problem
    lines = text.split("\n")
    last = min(problem.line - line, len(lines) - 1)
    for index in range(last, max(last - 3, -1), -1):
        column = lines[index].find("{{")
        if column >= 0 and not lines[index].lstrip().startswith("#"):
            return YamlError("an unrendered template in {{ }}", line + index, column + 1, "template")
    return problem


class Limits(NamedTuple):
    """Bounds of one input. They are checked before anything is built: libyaml's composer crashes on deep nesting."""

    bytes: int = 64 * 1024 * 1024
    depth: int = 100  # nested collections
    aliases: int = 1000  # alias expansions of one document, including those inside expanded aliases
    documents: int = 100_000


LIMITS = Limits()


# --- Decode UTF-8 input to text, and encode text to bytes
#
# Rule: the input is UTF-8, and `encode(decode(data))` is `data`. A byte order mark is removed (libyaml's positions
# would be off by one) and recorded.


_MARK = b"\xef\xbb\xbf"


class Source(NamedTuple):
    """A decoded input: its text without the byte order mark, and whether it had one."""

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
        readable = body[: error.start]
        wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
        raise YamlError(
            "the input is UTF-16, not UTF-8" if wide else "a byte that is not UTF-8",
            readable.count(b"\n") + 1,
            len(readable[readable.rfind(b"\n") + 1 :].decode("utf-8")) + 1,
            "encoding",
        ) from None


def encode(text: str, bom: bool = False) -> bytes:
    """Encode `text`; the exact inverse of `decode`. Raises YamlError for a lone surrogate."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError:
        raise YamlError("the text contains half of a surrogate pair", code="encoding") from None
    return _MARK + data if bom else data
