"""The records that take an edit back. Their shapes are described in `undo`, which reads them.

Rule of this file: no more than what the edited text cannot say itself. Something added needs its address only; a value
that was replaced needs its old bytes only where writing the value would not give them.
"""

from typing import Any

from krm_function.yamltext.changes import Path, same
from krm_function.yamltext.document import parse
from krm_function.yamltext.errors import YamlError
from krm_function.yamltext.pointer import escape, pointer, segment
from krm_function.yamltext.shadow import Entry, Live, value_of

Undo = list[list[Any]]


def below(undo: Undo, root: Path) -> Undo:
    """The records with addresses that start at `root`; all of them are below it."""
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

    def added(self, path: str, entry: Entry) -> None:
        """Record a new entry. Of maps made for the records themselves only our own keys go: a host may add others."""
        if not self.keep.startswith(path + "/"):
            self.undo.append(["-", path])
            return
        around = 0
        value = value_of(entry.child)
        while path != self.keep:
            inner = f"{self.keep}/"
            ours = next(key for key in value if inner.startswith(f"{path}/{escape(key)}/"))
            self.undo += [["-", f"{path}/{escape(key)}"] for key in value if key != ours]
            value = value[ours]
            path = f"{path}/{escape(ours)}"
            around += 1
        self.undo.append(["-", path, around])

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
