"""The text of an object whose data was changed.

Rule of this file: elements that changed places are moved, and all other differences are spliced in, each at the deepest
place; key order and `1` against `1.0` do not differ (`yamltext.same`). Whatever comes out has been parsed and compared.
"""

from typing import Any

from krm_function.krm.field_path import check_plain, look_up
from krm_function.krm.matching import in_order, match
from krm_function.krm.outline import Outline, below, state
from krm_function.krm.reorder import moved
from krm_function.krm.result import FieldPath
from krm_function.krm.string_map import UPSTREAM_IDENTIFIER, check_settable
from krm_function.yamltext import Change, Document, same
from krm_function.yamltext.edit.splice import splice


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


def difference(before: Outline | None, old: Any, new: Any, path: FieldPath = ()) -> list[Change]:
    """Return the changes that make `new` of `old`, in order, as `apply` takes them.

    before: the maps and lists that were given out with the data `old`, whatever they hold by now; None where that is
    not known.
    """
    if isinstance(old, dict | list) and state(old) == state(new):
        return []  # in C, a hundredth of the time
    if isinstance(old, dict) and isinstance(new, dict):
        changes = [Change((*path, key), "remove") for key in old if key not in new]
        for key, value in new.items():
            if key in old:
                changes += difference(below(before, key), old[key], value, (*path, key))
            else:
                changes.append(Change((*path, key), "set", value))
        return changes
    if isinstance(old, list) and isinstance(new, list | tuple):
        return _of_lists(before, old, list(new), path)
    return [] if same(old, new) else [Change(path, "set", new)]


def _of_lists(before: Outline | None, old: list[Any], new: list[Any], path: FieldPath) -> list[Change]:
    matches = in_order(match(before, old, new))
    kept = {index for index in matches if index is not None}
    changes = [Change((*path, index), "remove") for index in range(len(old) - 1, -1, -1) if index not in kept]
    for at, index in enumerate(matches):
        if index is None:
            changes.append(Change((*path, at), "insert", new[at]))
        else:
            changes += difference(below(before, index), old[index], new[at], (*path, at))
    return changes
