"""Rule of this file: a mutation changes one place of a request, in one way, and nothing else.

A place says of an element of a list what kind of element it is: `OCI.Mounts[bind].options[]`, `OCI.Process.Env[PATH]`.
Keys of maps stay as they are, because an annotation is known by its key.

| value | ways |
|---|---|
| text | alter (its first character), prefix, suffix, newline at the end, case, empty |
| number | more, less |
| boolean | flip |
| null | object |
| list | drop, repeat each element; swap each with the one before; none; add a copy of the last one, altered |
| map (Annotations, Sysctl) | drop each key, which is a change of that place; add one |
| other object | null |

The agent's input is made from protocol buffers: a field is never missing, it has its zero value instead.
"""

import copy
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from krm_function.policy.image_storage import SANDBOX
from tests.policy.node import CONTRAST

Path = tuple[str | int, ...]

MAPS = ("Annotations", "Sysctl")
FIRST: dict[str, Any] = {  # what is added to a list of messages that is empty
    "devices": {"id": "", "type_": "", "vm_path": "", "container_path": "/dev/x", "options": []},
    "Devices": {"Path": "/dev/x", "Type": "c", "Major": 1, "Minor": 1, "FileMode": 0, "UID": 0, "GID": 0},
}


class Mutation(NamedTuple):
    """One changed request. place: where; way: how; request: the result."""

    place: str
    way: str
    request: Any

    @property
    def shape(self) -> tuple[str, str]:
        """The place without kinds of elements, and the way: what a quick test tries one example of."""
        return re.sub(r"\[(?!')[^]]*\]", "[]", self.place), self.way


def mutations(request: Any) -> Iterator[Mutation]:
    """Every single-field mutation of a request."""
    for path, place, value in _places(request, (), ""):
        for way, changed in _ways(place, value):
            yield Mutation(place, way, _put(request, path, changed))
        if isinstance(value, dict) and place.endswith(MAPS):
            for key in value:
                below = {other: kept for other, kept in value.items() if other != key}
                yield Mutation(_below(place, key), "drop", _put(request, path, below))
        elif isinstance(value, dict) and path and isinstance(path[-1], str):
            yield Mutation(place, "null", _put(request, path, None))


def _places(value: Any, path: Path, place: str) -> Iterator[tuple[Path, str, Any]]:
    yield path, place, value
    if isinstance(value, dict):
        for key, below in value.items():
            yield from _places(below, (*path, key), _below(place, key))
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from _places(below, (*path, index), f"{place}[{_kind(place, below)}]")


def _below(place: str, key: str) -> str:
    return f"{place}['{key}']" if place.endswith(MAPS) else f"{place}.{key}".lstrip(".")


def _kind(place: str, element: Any) -> str:
    """What tells an element of a list from the others, as far as the rules treat it in another way."""
    if isinstance(element, dict) and str(element.get("source")).endswith("/sandbox/shm"):
        return "shm"  # the one bind mount whose source is no pattern in a policy
    if isinstance(element, dict) and element.get("source") == SANDBOX:
        return SANDBOX  # the image inside the VM, which has no digest
    if place.endswith("MaskedPaths") and element in CONTRAST.masked["container"]:
        return "more"  # than a policy asks for
    if isinstance(element, dict):
        return str(next((element[key] for key in ("driver", "Type", "type_") if element.get(key)), ""))
    return element.partition("=")[0] if place.endswith("Env") else ""


def _ways(place: str, value: Any) -> Iterator[tuple[str, Any]]:
    match value:
        case bool():
            yield "flip", not value
        case int():
            yield "more", value + 1
            yield "less", value - 1
        case None:
            yield "object", {}
        case str():
            yield from _texts(value)
        case list():
            for index, element in enumerate(value):
                kind = f" {_kind(place, element)}".rstrip()
                yield f"drop{kind}", value[:index] + value[index + 1 :]
                yield f"repeat{kind}", [*value[:index], element, *value[index:]]
                if index and value[index - 1] != element:
                    yield f"swap{kind}", [*value[: index - 1], element, value[index - 1], *value[index + 1 :]]
            if len(value) > 1:
                yield "none", []
            if value:
                yield f"add {_kind(place, value[-1])}".rstrip(), [*value, _altered(value[-1])]
            else:
                yield "add", [FIRST.get(place.rpartition(".")[2], "x")]
        case dict() if place.endswith(MAPS):
            yield "add", {**value, "x.example.com/y": "z"}


def _texts(text: str) -> Iterator[tuple[str, str]]:
    if text:
        yield "alter", ("y" if text[0] != "y" else "z") + text[1:]
        yield "empty", ""
        if text.swapcase() != text:
            yield "case", text.swapcase()
    yield "prefix", f"x{text}"
    yield "suffix", f"{text}x"
    yield "newline", f"{text}\n"


def _altered(value: Any) -> Any:
    """A value of the same form that is another one."""
    if isinstance(value, dict):
        return {key: f"{below}x" if isinstance(below, str) else below for key, below in value.items()}
    return f"{value}x" if isinstance(value, str) else value + 1


def _put(root: Any, path: Path, value: Any) -> Any:
    """A copy of `root` in which `value` stands at `path`; the rest is shared."""
    if not path:
        return value
    fresh = copy.copy(root)
    fresh[path[0]] = _put(root[path[0]], path[1:], value)
    return fresh
