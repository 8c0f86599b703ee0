"""The text of an object whose data was changed.

Rule of this file: elements that changed places are moved, and all other differences are spliced in. Whatever comes out
has been parsed and compared.
"""

from typing import Any

from krm_function.krm.difference import difference
from krm_function.krm.field_path import check_plain, look_up
from krm_function.krm.outline import Outline
from krm_function.krm.reorder import moved
from krm_function.krm.string_map import UPSTREAM_IDENTIFIER, check_settable
from krm_function.yamltext import Document, same, splice


def rewritten(document: Document, given_out: Outline | None, value: Any) -> str:
    """Return the text of `document` with the data `value`; the very same text if they agree.

    given_out: the maps and lists that were given out with the data of `document`. value: plain data (`check_plain`).
    Raises MisuseError for what cannot be written, FunctionError for a change of kpt's own annotation, YamlError
    (splice) should no edit read back as meant.
    """
    path = ("metadata", "annotations", UPSTREAM_IDENTIFIER)
    if not same(look_up(document.value, path), look_up(value, path)):
        check_settable(UPSTREAM_IDENTIFIER)
    document, given_out = moved(document, given_out, value)
    changes = difference(given_out, document.value, value)
    for change in changes:
        check_plain(change.value, change.path)
    return splice(document, changes).text if changes else document.text
