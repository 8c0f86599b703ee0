"""The records that take an edit back. Their shapes are described in `undo`, which reads them.

Rule of this file: no more than what the edited text cannot say itself. Something added needs its address only; a value
that was replaced needs its old bytes only where writing the value would not give them.
"""

from typing import Any

from krm_function.yamltext.changes import Path, same
from krm_function.yamltext.document import parse
from krm_function.yamltext.edit.pointer import escape, pointer, segment
from krm_function.yamltext.edit.tree import Entry, Live, value_of
from krm_function.yamltext.errors import YamlError
from krm_function.yamltext.nodes import Node

Undo = list[list[Any]]


def below(undo: Undo, root: Path) -> Undo:
    """The records with addresses that start at `root`; all of them are below it."""
    if not root:
        return undo
    prefix = pointer(root)
    return [[record[0], record[1].removeprefix(prefix), *record[2:]] for record in undo]


def within(undo: Undo, root: Path) -> Undo:
    """The inverse of `below`."""
    prefix = pointer(root)
    return [[record[0], prefix + record[1], *record[2:]] for record in undo]


class Records:
    """Collects the records of one edit."""

    def __init__(self, keep: str) -> None:
        """Start without records; `keep` is the address of the string that will hold them, "" when nothing will."""
        self.keep = keep
        self.undo: Undo = []

    def replaced(self, path: str, before: Any, raw: str, again: str) -> None:
        """Record that the bytes `raw` were replaced; `again`: what would be written for their value."""
        if raw == again and "\n" not in raw:
            self.undo.append(["=", path, before])
        elif _says(raw, before):
            self.undo.append(["~", path, raw])
        else:
            self.undo.append(["=", path, before, raw])

    def added(self, path: str, parent: Node, entry: Entry) -> None:
        """Record a new entry. Of a new map or list only what we put into it goes: a host or a person may add more.

        An item of a list goes as a whole. Entries beside the records themselves may be a host's own, which it takes
        away later; then no empty map is left behind.
        """
        value = None if parent.kind == "seq" else value_of(entry.child)
        self._added(path, value, 1 if path == self.keep and parent.parts else 0)

    def _added(self, path: str, value: Any, around: int) -> None:
        inner: list[tuple[str, Any]] = []
        if isinstance(value, dict):
            inner = [(f"{path}/{escape(key)}", child) for key, child in value.items()]
        elif isinstance(value, list):
            names = [item.get("name") if isinstance(item, dict) else None for item in value]
            if all(isinstance(name, str) for name in names) and len(set(names)) == len(names):
                inner = [(f"{path}/@{escape(str(name))}", None) for name in names]
        if not inner:
            self.undo.append(["-", path, around] if around else ["-", path])
        for address, child in inner:
            self._added(address, child, around + 1)

    def removed(self, live: Live, path: str, index: int, raw: str, gap: int = 0) -> None:
        """Record that an entry of the text is gone: its bytes, and which entry it stood in front of."""
        part = live.node.parts[index]
        if live.node.kind == "map":
            where, before = f"{path}/{escape('<<' if part[2] is None else part[2])}", part[1].data
        else:
            where, before = f"{path}/#{index}", part.data
        follower = next((entry for entry in live.entries if entry.origin > index), None)
        record: list[Any] = ["+", where, before, raw, segment(live, follower) if follower else "", gap]
        while record[-1] in ("", 0) and len(record) > 3:
            record.pop()
        self.undo.append(record)


def _says(raw: str, value: Any) -> bool:
    try:
        return same(read_raw(raw), value)
    except YamlError:
        return False


def read_raw(raw: str) -> Any:
    """The value that bytes behind a colon stand for. Raises YamlError when they are not a value by themselves."""
    value = parse(f"x:{raw}").value
    if not isinstance(value, dict) or list(value) != ["x"]:
        raise YamlError("not one value", code="shape")
    return value["x"]
