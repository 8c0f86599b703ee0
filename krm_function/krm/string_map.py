"""Labels and annotations as a live map of strings: `item.labels["app"] = "web"`, `del item.annotations["note"]`.

Rule of this file: a value that is written is a string, since kpt would write a number as it is and Kubernetes refuse
it; a value that is read is shown as the string that kyaml makes of it (`a: 5` is "5").
"""

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any, Literal, Self

from krm_function.krm.errors import FunctionError, MisuseError
from krm_function.krm.fields import Fields

UPSTREAM_IDENTIFIER = "internal.kpt.dev/upstream-identifier"  # kpt's own; the Go SDK refuses to edit it as well


class StringMap(MutableMapping[str, str]):
    """`metadata.labels` or `metadata.annotations` of one object, made there when the first key is set."""

    __slots__ = ("_field", "_object")

    def __init__(self, item: Fields, field: Literal["labels", "annotations"]) -> None:
        """Show the labels or annotations of `item`."""
        self._object = item
        self._field = field

    def __repr__(self) -> str:
        """Show it as the dict that it equals."""
        return repr(dict(self))

    def __getitem__(self, key: str) -> str:
        """Return one value. Raises KeyError when there is none, or no scalar."""
        return self._strings()[key]

    def __iter__(self) -> Iterator[str]:
        """Go through the keys as they are now; the map may be changed meanwhile."""
        return iter(self._strings())

    def __len__(self) -> int:
        """Count them."""
        return len(self._strings())

    def __setitem__(self, key: str, value: str) -> None:
        """Set one value. Raises MisuseError for what is no string, FieldError where labels are no map."""
        check_settable(key)
        for part in (key, value):
            if not isinstance(part, str):
                raise MisuseError(f"{self._field} are strings, not {type(part).__name__}: write str(...)")
        self._object.set_nested(("metadata", self._field, key), value)

    def __delitem__(self, key: str) -> None:
        """Remove one key. Raises KeyError when there is none."""
        check_settable(key)
        if not self._object.remove_nested(("metadata", self._field, key)):
            raise KeyError(key)

    def __ior__(self, other: Mapping[str, str]) -> Self:
        """Set several, as `|=` of a dict."""
        self.update(other)
        return self

    def _strings(self) -> dict[str, str]:
        """Return what can be read as strings; {} where there is no map."""
        found = self._object.nested(("metadata", self._field))
        if not isinstance(found, dict):
            return {}
        pairs = ((key, as_string(value)) for key, value in found.items())
        return {key: value for key, value in pairs if value is not None}


def check_settable(key: str) -> None:
    """Raise FunctionError for the annotation that only kpt may set."""
    if key == UPSTREAM_IDENTIFIER:
        raise FunctionError(f"annotation {key} belongs to kpt and may not be set")


def as_string(value: Any) -> str | None:
    """Return a scalar as text, since kyaml reads `a: 5` as "5"; None for a map or a list."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return ""
    return str(value) if isinstance(value, str | int | float) else None
