"""Edit an object with ruamel.yaml, and write only what was changed.

    with ruamel_edit(item) as value:  # a CommentedMap
        value["spec"]["replicas"] = 3

ruamel.yaml writes a whole document anew, in its own way (docs/facts/python.md#round-trips). Here it is the hand that
edits and not the one that writes: what it has changed is compared with what it has read, and goes into the object as
data, whose differences are spliced into the text as those of any other edit.

Rule of this file: a value that was not changed is never taken from ruamel.yaml, which types dates and some numbers
otherwise than Kubernetes. It edits values, the order of lists and the keys of maps; comments, quotes and styles that
are set in its own objects are not written.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from krm_function.krm.kube_object import KubeObject, match
from krm_function.krm.result import MisuseError


@contextmanager
def ruamel_edit(item: KubeObject, yaml: Any = None) -> Iterator[Any]:
    """Give an object out as ruamel.yaml reads its text, and take over what was changed in it when the block ends.

    yaml: a `ruamel.yaml.YAML` of the round-trip type; None: one that is made. The block's object is a CommentedMap; the
    item itself must not be changed within the block. An exception in the block leaves the item as it was. Raises
    MisuseError for what is no plain data, such as a date, and for a document that ruamel.yaml cannot read; YamlError.
    """
    if yaml is None:
        from ruamel.yaml import YAML

        yaml = YAML(typ="rt")
    ours = item.value  # first, because the parser of this package limits depth and aliases
    data = _load(yaml, item.text)
    old = _copy_plain(data)
    yield data
    new = _copy_plain(data)
    if new == old and repr(new) == repr(old):  # 1 == True == 1.0
        return
    if not isinstance(new, dict):
        raise MisuseError(f"{item.short_string}: an object is a map")
    merged = _keep_unchanged(ours, old, new)
    ours.clear()
    ours.update(merged)


def _load(yaml: Any, text: str) -> Any:
    """Load one document, or the one element of a `- item` slice. Raises MisuseError."""
    from ruamel.yaml.error import YAMLError

    try:
        value = yaml.load(text)
    except (YAMLError, ValueError) as problem:
        raise MisuseError(f"ruamel.yaml cannot read the object: {type(problem).__name__}") from None
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, dict):
        raise MisuseError("ruamel.yaml reads no map")
    return value


def _copy_plain(value: Any) -> Any:
    """Copy a value of ruamel.yaml into plain data; a value without a plain form stays and is refused when written."""
    if isinstance(value, Mapping):
        return {_copy_plain(key): _copy_plain(part) for key, part in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_copy_plain(part) for part in value]
    if isinstance(value, bool) or type(value).__name__ == "ScalarBoolean":
        return bool(value)
    for kind in (str, int, float):
        if isinstance(value, kind):
            return kind(value)
    return value


def _keep_unchanged(ours: Any, old: Any, new: Any) -> Any:
    """Return `new` with every part of `ours` that is the same in `old` and `new`."""
    if type(old) is type(new) and old == new and repr(old) == repr(new):
        return ours
    if isinstance(old, dict) and isinstance(new, dict) and isinstance(ours, dict) and len(ours) == len(old):
        keys = dict(zip(old, ours, strict=True))  # keys are typed differently too
        return {
            keys.get(key, key): _keep_unchanged(ours[keys[key]], old[key], part) if key in old else part
            for key, part in new.items()
        }
    if isinstance(old, list) and isinstance(new, list) and isinstance(ours, list) and len(ours) == len(old):
        return [
            part if index is None else _keep_unchanged(ours[index], old[index], part)
            for part, index in zip(new, match(None, old, new), strict=True)
        ]
    return new
