"""Parse a document to plain data without source positions; used to verify a splice.

Rule of this file: exactly `parse(text).value`, or `parse` itself where a document is not plain.
"""

from typing import Any

from krm_function.libyaml import DocumentEndEvent, DocumentStartEvent, SequenceStartEvent, StreamEndEvent, YAMLError
from krm_function.plain_values import NotPlain, plain_value
from krm_function.yamltext.document import parse
from krm_function.yamltext.errors import LIMITS
from krm_function.yamltext.events import Pull, open_events
from krm_function.yamltext.scalar_types import typed


def read_value(text: str) -> Any:
    """Return `parse(text).value`. Raises YamlError like it."""
    try:
        return _document(open_events(text, LIMITS))
    except (NotPlain, YAMLError):
        return parse(text).value


def _document(pull: Pull) -> Any:
    pull()  # the start of the stream
    if type(pull()) is not DocumentStartEvent:
        raise NotPlain
    first = pull()
    whole = plain_value(first, pull, LIMITS.depth, typed)
    if type(pull()) is not DocumentEndEvent or type(pull()) is not StreamEndEvent:
        raise NotPlain
    is_item = type(first) is SequenceStartEvent and not first.flow_style and len(whole) == 1
    return whole[0] if is_item else whole
