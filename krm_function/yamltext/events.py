"""Pull the events of libyaml, and convert its errors to YamlError.

Rule of this file: of libyaml only the events are used. They are pulled one by one, so that a reader can stop at a
limit; the C composer would recurse (and crash) on deep nesting before a limit is checked. A reader catches YAMLError
and raises what `located` makes of it: a wrapper around each pull would cost a sixth of the whole pass. Source:
docs/facts/python.md#libyaml.
"""

from collections.abc import Callable
from typing import Any

from krm_function.libyaml import CParser, MarkedYAMLError, ReaderError, YAMLError
from krm_function.separators import odd_separator
from krm_function.yamltext.errors import Limits, YamlError

Event = Any
Pull = Callable[[], Event]


def open_events(text: str, limits: Limits, line: int = 1) -> Pull:
    """Return a function that answers the next event of `text`, and raises YAMLError for what libyaml refuses.

    `line` is the line number of the start of `text`. Positions are code points into `text`. A carriage return on its
    own is refused: libyaml takes it for a line end, editors do not.
    """
    if len(text) > limits.bytes:
        raise YamlError(f"the input has {len(text)} characters, the limit is {limits.bytes}", code="size")
    if "\r" in text:
        _refuse_lone_return(text, line)
    try:
        return CParser(text).get_event
    except UnicodeEncodeError:
        raise YamlError("the text holds half a surrogate pair", code="encoding") from None


def located(error: YAMLError, text: str, line: int) -> YamlError:
    """Convert an error of libyaml: its message, which quotes nothing of the text, and its position."""
    if isinstance(error, ReaderError):
        before = text.encode("utf-8")[: int(error.position)].decode("utf-8", "ignore")
        column = len(before) - before.rfind("\n")
        return YamlError(str(error.reason), line + before.count("\n"), column, "syntax")
    if isinstance(error, MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        message = ", ".join(part for part in (error.context, error.problem) if part)
        if mark is not None:
            return YamlError(message, line + int(mark.line), int(mark.column) + 1, "syntax")
        return YamlError(message, code="syntax")
    return YamlError("not valid YAML", code="syntax")


def check_separators(text: str) -> None:
    """Refuse a whole input that Go's readers would cut elsewhere. Raises YamlError (separator)."""
    found = odd_separator(text)
    if found is not None:
        at, problem = found
        line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
        raise YamlError(f"{problem}: tools do not agree where documents end", line, column, "separator")


def _refuse_lone_return(text: str, line: int) -> None:
    at = text.find("\r")
    while at >= 0:
        if text[at + 1 : at + 2] != "\n":
            raise YamlError(
                "a carriage return without a line feed", line + text.count("\n", 0, at), at - text.rfind("\n", 0, at)
            )
        at = text.find("\r", at + 2)
