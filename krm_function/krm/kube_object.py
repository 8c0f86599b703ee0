"""A Kubernetes object of a ResourceList: read and changed like data, written like text."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from marshal import loads
from typing import Any

from krm_function.krm.fields import (
    ABSENT,
    UPSTREAM_IDENTIFIER,
    Fields,
    Outline,
    StringMap,
    SubObject,
    as_string,
    below,
    check_plain,
    check_settable,
    checked,
    kind_of,
    look_up,
    outline,
    state,
    with_order,
)
from krm_function.krm.group_version import parse_group_version, plain_api_version
from krm_function.krm.result import Field, FieldPath, File, MisuseError, ResourceRef, Result, Severity, dotted, one_line
from krm_function.text import edit_text as offsets
from krm_function.text.changes import Change, apply, same
from krm_function.text.errors import YamlError
from krm_function.text.parse import Document, Node, parse
from krm_function.text.splice import node_at, splice
from krm_function.text.writer import dump

# --- A Kubernetes object of a ResourceList: read and changed like data, written like text
#
# Rule: text is authoritative. An object that is not read is never parsed; a changed object keeps its comments, order
# and quotes, since the differences are spliced into its text. No property raises for an odd shape.


PATH = ("internal.config.kubernetes.io/path", "config.kubernetes.io/path")  # the second is the legacy twin
INDEX = ("internal.config.kubernetes.io/index", "config.kubernetes.io/index")
ID = ("internal.config.kubernetes.io/id", "config.k8s.io/id")
LOCAL_CONFIG = "config.kubernetes.io/local-config"
LONGEST_INDEX = 18  # digits
FUNCTION = "config.kubernetes.io/function"

_TOP = frozenset(("data", "metadata", "spec", "status"))  # fields of most kinds, present or not
_NEW = b"new"  # instead of a snapshot: no text that the data could equal


class KubeObject(Fields):
    """One object: an item, the functionConfig, or a new object made of plain data.

    Plain data is dict, list, str, int, float, bool and None. Values that the getters of `Fields` return are live.
    """

    # a list may have thousands
    __slots__ = (
        "_base",
        "_certain",
        "_document",
        "_header",
        "_line",
        "_outline",
        "_read",
        "_snapshot",
        "_value",
        "_written",
    )

    def __init__(
        self, text: str, line: int = 1, header: tuple[str, str, str] = ("", "", ""), certain: bool = True
    ) -> None:
        """Wrap a document, or a `- item` slice, that begins in `line` of the input.

        header: apiVersion, kind and metadata.name where they are known without parsing, else "". certain: as of the
        Chunk that they were read from.
        """
        self._line = line
        self._read = text  # the original text
        self._base = text  # the text that gets the differences
        self._header = header
        self._certain = certain
        self._document: Document | None = None
        self._value: Any = None  # the live data, once any of it was returned
        self._outline: Outline | None = None  # the places of its maps and lists
        self._snapshot: bytes | None = None  # the data as returned first; None: never returned, so it cannot differ
        self._written: tuple[bytes, str] | None = None  # a state of the data and its text

    @classmethod
    def from_value(cls, value: Mapping[str, Any]) -> "KubeObject":
        """Make a new object of plain data; its line is 0. Raises MisuseError for what is no plain data."""
        if not isinstance(value, Mapping):
            raise MisuseError(f"an object is made of a map, not of {kind_of(value)}")
        item = cls("", 0)
        item._snapshot = _NEW
        item._replace(value if isinstance(value, dict) else dict(value))
        return item

    def __repr__(self) -> str:
        return f"KubeObject({' '.join(part for part in self._header if part) or f'line {self._line}'})"

    # --- the whole object, as text and as data

    @property
    def text(self) -> str:
        """The text with all changes spliced in; the very input while there are none. Raises YamlError, MisuseError."""
        if self._snapshot is None:
            return self._base
        now = self._state()
        if now and now == self._snapshot:
            return self._base
        if self._written is None or not now or now != self._written[0]:
            self._written = (now, self._write())
        return self._written[1]

    @property
    def document(self) -> Document:
        """The parsed text, without the changes made since; read it only. Raises YamlError."""
        if self._snapshot == _NEW:
            return parse(self.text)
        if self._document is None:
            self._document = parse(self._base, line=max(self._line, 1))
        return self._document

    @property
    def value(self) -> Any:
        """The object as live plain data; a dict unless the input is odd. Raises YamlError."""
        return self._live()

    @property
    def line(self) -> int:
        """The line of the input in which the text begins, from 1; 0 for a new object."""
        return self._line

    @property
    def changed(self) -> bool:
        """Whether the text is another than was read."""
        return self.text != self._read

    def replace_text(self, text: str) -> None:
        """Put `text` in the place of the whole text, for callers who spliced it themselves; changes so far are dropped.

        An item of a list stays an item: its text begins with the same dash and ends with the same line end.
        """
        self._base = text
        self._header = ("", "", "")
        self._document = None
        self._value = self._outline = self._snapshot = self._written = None

    # --- identity

    @property
    def certain(self) -> bool:
        """Whether `header` can be trusted; else only `value` has the kind and name for certain."""
        return self._certain

    @property
    def header(self) -> tuple[str, str, str]:
        """The apiVersion, kind and metadata.name as far as they are known without parsing."""
        return self._header

    @property
    def api_version(self) -> str:
        """`apps/v1`, or "" when absent."""
        return self._header[0] or self._read_string("apiVersion")

    @api_version.setter
    def api_version(self, value: str) -> None:
        self._set_string(("apiVersion",), value)

    @property
    def kind(self) -> str:
        """`Deployment`, or "" when absent."""
        return self._header[1] or self._read_string("kind")

    @kind.setter
    def kind(self, value: str) -> None:
        self._set_string(("kind",), value)

    @property
    def name(self) -> str:
        """`metadata.name`, or "": a Kustomization has none."""
        return self._header[2] or self._read_string("metadata", "name")

    @name.setter
    def name(self, value: str) -> None:
        self._set_string(("metadata", "name"), value)

    @property
    def namespace(self) -> str:
        """`metadata.namespace`, or "" when absent; setting "" removes it."""
        return self._read_string("metadata", "namespace")

    @namespace.setter
    def namespace(self, value: str) -> None:
        if value == "":
            self.remove_nested(("metadata", "namespace"))
        else:
            self._set_string(("metadata", "namespace"), value)

    @property
    def ref(self) -> ResourceRef | None:
        """How a result names the object; None for one without kind or name, which a result cannot name."""
        if not (self.kind and self.name):
            return None
        return ResourceRef(self.api_version, self.kind, self.name, self.namespace)

    @property
    def short_string(self) -> str:
        """`apps/v1/Deployment/shop/web`."""
        return str(ResourceRef(self.api_version, self.kind, self.name, self.namespace))

    def is_gvk(self, group: str, version: str, kind: str) -> bool:
        """Tell whether it is exactly that group (core: ""), version and kind."""
        return self.kind == kind and parse_group_version(self.api_version) == (group, version)

    def is_group_kind(self, group: str, kind: str) -> bool:
        """Tell whether it is of that group (core: "") and kind, in any version."""
        parsed = parse_group_version(self.api_version)
        return self.kind == kind and parsed is not None and parsed[0] == group

    def same_id(self, other: "KubeObject") -> bool:
        """Tell whether both have the same group, version, kind, namespace and name."""
        mine = (plain_api_version(self.api_version), self.kind, self.namespace, self.name)
        return mine == (plain_api_version(other.api_version), other.kind, other.namespace, other.name)

    @property
    def owner_references(self) -> tuple[SubObject, ...]:
        """`metadata.ownerReferences` as sub-objects; () when absent."""
        return self.sub_objects(("metadata", "ownerReferences"))

    # --- labels and annotations

    @property
    def labels(self) -> StringMap:
        """`metadata.labels`, a live map of strings; assign a dict to replace them all."""
        return StringMap(self, "labels")

    @labels.setter
    def labels(self, value: Mapping[str, str]) -> None:
        self._set_strings(self.labels, value)

    @property
    def annotations(self) -> StringMap:
        """`metadata.annotations`, a live map of strings; assign a dict to replace them all."""
        return StringMap(self, "annotations")

    @annotations.setter
    def annotations(self, value: Mapping[str, str]) -> None:
        self._set_strings(self.annotations, value)

    @property
    def is_local_config(self) -> bool:
        """Whether the object is for tools only and never reaches a cluster."""
        return self.annotations.get(LOCAL_CONFIG, "") not in {"", "false"}

    @property
    def path_annotation(self) -> str:
        """The file of the package that holds the object, or "": kustomize does not pass it on."""
        return self._read_first(PATH)

    @property
    def index_annotation(self) -> int:
        """The position in that file; 0 when it is not known."""
        text = self._read_first(INDEX)
        return int(text) if text.isascii() and text.isdigit() and len(text) <= LONGEST_INDEX else 0

    @property
    def id_annotation(self) -> str:
        """The orchestrator's annotation for this call, or ""."""
        return self._read_first(ID)

    # --- results

    def result(
        self,
        message: str,
        severity: Severity = "error",
        path: FieldPath = (),
        *,
        current_value: Any = None,
        proposed_value: Any = None,
    ) -> Result:
        """Make a result about this object, and about its field at `path`; values are shown only if given here."""
        path = checked(path)
        ref = self.ref
        field = Field(dotted(path), current_value, proposed_value) if path and ref else None
        file = File(self.path_annotation, self.index_annotation) if self.path_annotation else None
        return Result(message if field or not path else f"{dotted(path)}: {message}", severity, ref, field, file)

    # --- helpers

    def _peek(self) -> Any:
        return self.document.value if self._snapshot is None else self._value

    def _live(self) -> Any:
        if self._snapshot is None:
            self._snapshot = state(self.document.value)
            self._value = loads(self._snapshot)  # noqa: S302 - a copy of our own, for the document keeps what was read
            self._outline = outline(self._value)
            self._header = ("", "", "")  # it may change from now on
        return self._value

    def _replace(self, value: Any) -> None:
        check_plain(value)
        self._live()  # takes the snapshot
        self._value = value

    def _state(self) -> bytes:
        """Return the data as bytes. Raises MisuseError, which names the object, for data that is not plain."""
        try:
            check_plain(self._value, new=False)  # `state` may never end on a map that contains itself twice
        except MisuseError as error:
            raise MisuseError(f"{self._locate(())[0]}: {error}") from None
        return state(self._value)

    def _write(self) -> str:
        """Write the present data. Raises MisuseError, which names the object."""
        try:
            if self._snapshot == _NEW:
                check_plain(self._value)
                return dump(self._value)

            return rewritten(self.document, self._outline, self._value)
        except MisuseError as error:
            raise MisuseError(f"{self._locate(())[0]}: {error}") from None

    def _locate(self, path: FieldPath) -> tuple[str, FieldPath]:
        return one_line(self.short_string) or "an object without kind and name", path

    def _refuse_dotted(self, path: FieldPath) -> None:
        first, dot, _ = str(path[0]).partition(".") if path else ("", "", "")
        value = self._peek()
        if dot and isinstance(value, dict) and path[0] not in value and (first in value or first in _TOP):
            parts = ", ".join(f'"{part}"' for part in str(path[0]).split("."))
            place = f"{self._locate(())[0]}: {dotted(path)}"
            raise MisuseError(f"{place}: there is no such key; a path is a tuple of keys: write ({parts})")

    def _read_string(self, *path: str) -> str:
        value = look_up(self._peek(), path)
        return "" if value is ABSENT else as_string(value) or ""

    def _set_string(self, path: FieldPath, value: str) -> None:
        if not isinstance(value, str):
            raise MisuseError(f"{dotted(path)} is a string, not {kind_of(value)}")
        self.set_nested(path, value)

    def _set_strings(self, strings: StringMap, value: Mapping[str, str]) -> None:
        new = dict(value)  # it may be the same map
        for key in strings:
            if key not in new:
                del strings[key]
        strings.update(new)

    def _read_first(self, keys: tuple[str, str]) -> str:
        annotations = self.annotations
        return annotations.get(keys[0]) or annotations.get(keys[1], "")


# --- Match the elements of a changed list with those of the list that was read
#
# Rule: the identical map is the same element, wherever it is and whatever has changed in it. Other maps match by
# `name`, as in Kubernetes' merge keys, other values by value, and the rest by the place between neighbours: a text that
# replaces another is that element, changed.


Matches = list[int | None]  # for each new element the index of the old one; None: no old one


def match(given_out: Outline | None, old: list[Any], new: list[Any]) -> Matches:
    """Match two lists. given_out: the list, in the order of `old`; None if unknown."""
    given_ids = {id(part.data): at for at, part in enumerate(given_out.parts) if part is not None} if given_out else {}
    matches: Matches = [None] * len(new)
    free = set(range(len(old)))
    for at, item in enumerate(new):
        origin = given_ids.get(id(item)) if isinstance(item, dict | list) else None
        if origin in free:
            matches[at] = origin
            free.discard(origin)
    by_key: dict[Any, list[int]] = defaultdict(list)
    for index in sorted(free, reverse=True):
        by_key[_match_key(old[index])].append(index)
    for at, item in enumerate(new):
        if matches[at] is None and (indexes := by_key.get(_match_key(item))):
            matches[at] = index = indexes.pop()
            free.discard(index)
    for at, item in enumerate(new):
        if matches[at] is None:
            previous = matches[at - 1] if at else -1
            if previous is not None and previous + 1 in free and not _have_different_names(old[previous + 1], item):
                matches[at] = previous + 1
                free.discard(previous + 1)
    return matches


def in_order(matches: Matches) -> Matches:
    """Keep the longest run of matches whose elements have the same order as before; the others become None."""
    tails: list[int] = []  # by length of a run: the least old index at its end
    ends: list[int] = []  # the place of that index
    predecessors: dict[int, int] = {}
    for at, old in enumerate(matches):
        if old is None:
            continue
        length = bisect_left(tails, old)
        tails[length:] = [old, *tails[length + 1 :]]
        ends[length:] = [at, *ends[length + 1 :]]
        if length:
            predecessors[at] = ends[length - 1]
    longest: set[int] = set()
    at = ends[-1] if ends else -1
    while at >= 0:
        longest.add(at)
        at = predecessors.get(at, -1)
    return [old if at in longest else None for at, old in enumerate(matches)]


def _match_key(value: Any) -> Any:
    if isinstance(value, dict) and isinstance(value.get("name"), str):
        return ("name", value["name"])
    return state(value)


def _have_different_names(old: Any, new: Any) -> bool:
    return isinstance(old, dict) and isinstance(new, dict) and old.get("name") != new.get("name")


# --- Move the elements of a list in the text, each with its comments, if their order has changed
#
# Rule: a move is proved like every edit: the new text is parsed, and its value is the old one in the new order. If an
# alias would come before its anchor, the elements with anchors and aliases keep their order and the others move. If
# that fails too (two items on a line), nothing is moved. `difference` rewrites elements that were not moved.


Move = tuple[FieldPath, list[int]]
"""A list at a path of the old data, and the old indexes of its elements in the order in which they are to stand."""


def moved(document: Document, given_out: Outline | None, new: Any) -> tuple[Document, Outline | None]:
    """Return the document with all lists in the order of `new`, and the outline `given_out` in that order.

    given_out: as for `difference`; an element that is not in `new` stays after its predecessor.
    """
    done: set[FieldPath] = set()
    while moves := list(_find_moves(given_out, document.value, new, (), done)):  # none inside another
        done.update(path for path, _ in moves)
        together = _permute(document, moves)
        if together is not None:
            document, made_moves = together, moves
        else:
            made_moves = []
            for move in moves:
                document, some = _move_once(document, move)
                made_moves += some
        for path, order in made_moves:
            given_out = with_order(given_out, path, order)
    return document, given_out


def _move_once(document: Document, move: Move) -> tuple[Document, list[Move]]:
    """Return the document after one move, or the part that anchors and aliases allow, and the moves made."""
    for tried in (move, _keep_tied(document, move)):
        result = _permute(document, [tried])
        if result is not None:
            return result, [tried]
    return document, []


def _keep_tied(document: Document, move: Move) -> Move:
    """Return the move with the elements that have an anchor or an alias in the order of the old text.

    As many of them as possible go where the move puts them; each other one goes after its predecessor.
    """
    path, target = move
    node = node_at(document.node, path)
    tied = [index for index, part in enumerate(node.parts) if _is_tied(part)] if node is not None else []
    staying = set(in_order([index if index in tied else None for index in target]))
    order = [index for index in target if index not in tied or index in staying]
    for at, index in enumerate(tied):
        if index not in staying:
            first = min(order.index(neighbour) for neighbour in tied if neighbour in staying)
            order.insert(order.index(tied[at - 1]) + 1 if at else first, index)
    return path, order


def _is_tied(node: Node) -> bool:
    if node.kind == "alias" or node.anchored:
        return True
    return any(_is_tied(child) for part in node.parts for child in (part[:2] if node.kind == "map" else (part,)))


def _find_moves(
    given_out: Outline | None, old: Any, new: Any, path: FieldPath, done: AbstractSet[FieldPath]
) -> Iterator[Move]:
    """Find the outermost lists whose elements have another order; not those in `done`."""
    if isinstance(old, dict) and isinstance(new, dict):
        pairs: list[tuple[Any, Any]] = [(key, key) for key in old if key in new]
    elif isinstance(old, list) and isinstance(new, list):
        matches = match(given_out, old, new)
        pairs = [(index, at) for at, index in enumerate(matches) if index is not None]
        staying = [index for index, _ in pairs]
        if path not in done and staying != sorted(staying):
            yield (path, _insert_removed(staying, len(old)))
            return
    else:
        return
    for part, new_part in pairs:
        if isinstance(old[part], dict | list) and state(old[part]) != state(new[new_part]):
            yield from _find_moves(below(given_out, part), old[part], new[new_part], (*path, part), done)


def _insert_removed(staying: list[int], count: int) -> list[int]:
    order = list(staying)
    for index in sorted(set(range(count)).difference(staying)):
        order.insert(order.index(index - 1) + 1 if index else 0, index)
    return order


def _permute(document: Document, moves: list[Move]) -> Document | None:
    """Return the document with the elements of some lists in another order; None if the text does not allow it."""
    text = document.text
    pieces: list[tuple[int, int, str]] = []
    changes = []
    for path, order in moves:
        node = node_at(document.node, path)
        if node is None or node.kind != "seq":
            return None
        spans = _find_spans(text, node)
        if len(spans) != len(order):
            return None
        pieces += [(start, end, text[slice(*spans[at])]) for (start, end), at in zip(spans, order, strict=True)]
        changes.append(Change(path, "set", [node.data[at] for at in order]))
    permuted, end = "", 0
    for start, stop, piece in sorted(pieces):
        permuted += text[end:start] + piece
        end = stop
    try:
        result = parse(permuted + text[end:], line=document.line)
    except YamlError:
        return None
    return result if same(result.value, apply(document.value, changes)) else None


def _find_spans(text: str, node: Node) -> list[tuple[int, int]]:
    """Return the span of each item; in a block list its lines, with the comment lines above at the column of its dash.

    Without any span if a block item shares a line with another token, or if the last line has no end.
    """
    starts, ends = offsets.entry_spans(text, node)
    if node.style == "flow":
        return list(zip(starts, ends, strict=True))
    if not all(offsets.first_on_line(text, start) for start in starts):
        return []
    floors = [0, *(offsets.line_end(text, end) for end in ends[:-1])]
    tops = [
        offsets.comment_start(text, offsets.line_start(text, start), floor, offsets.column_of(text, start))
        for start, floor in zip(starts, floors, strict=True)
    ]
    last = offsets.line_end(text, ends[-1])
    return list(zip(tops, [*tops[1:], last], strict=True)) if text[last - 1 : last] == "\n" else []


# --- The text of an object whose data was changed
#
# Rule: elements that changed places are moved, and all other differences are spliced in, each at the deepest place; key
# order and `1` against `1.0` do not differ (`changes.same`). Every result has been parsed and compared.


def rewritten(document: Document, given_out: Outline | None, value: Any) -> str:
    """Return the text of `document` with the data `value`; the same text if they agree.

    given_out: the maps and lists that were returned with the data of `document`. value: plain data (`check_plain`).
    Raises MisuseError for data that cannot be written, FunctionError for a change of kpt's own annotation, YamlError
    (splice) if no edit reads back as intended.
    """
    path = ("metadata", "annotations", UPSTREAM_IDENTIFIER)
    if not same(look_up(document.value, path), look_up(value, path)):
        check_settable(UPSTREAM_IDENTIFIER)
    document, given_out = moved(document, given_out, value)
    changes = difference(given_out, document.value, value)
    for change in changes:
        check_plain(change.value, change.path)
    return splice(document, changes).text if changes else document.text


def difference(given_out: Outline | None, old: Any, new: Any, path: FieldPath = ()) -> list[Change]:
    """Return the changes that turn `old` into `new`, in order, as `apply` takes them.

    given_out: the maps and lists that were returned with the data `old`, whatever they contain now; None if unknown.
    """
    if isinstance(old, dict | list) and state(old) == state(new):
        return []  # in C, a hundredth of the time
    if isinstance(old, dict) and isinstance(new, dict):
        changes = [Change((*path, key), "remove") for key in old if key not in new]
        for key, value in new.items():
            if key in old:
                changes += difference(below(given_out, key), old[key], value, (*path, key))
            else:
                changes.append(Change((*path, key), "set", value))
        return changes
    if isinstance(old, list) and isinstance(new, list | tuple):
        return _find_list_changes(given_out, old, list(new), path)
    return [] if same(old, new) else [Change(path, "set", new)]


def _find_list_changes(given_out: Outline | None, old: list[Any], new: list[Any], path: FieldPath) -> list[Change]:
    matches = in_order(match(given_out, old, new))
    matched = {index for index in matches if index is not None}
    changes = [Change((*path, index), "remove") for index in range(len(old) - 1, -1, -1) if index not in matched]
    for at, index in enumerate(matches):
        if index is None:
            changes.append(Change((*path, at), "insert", new[at]))
        else:
            changes += difference(below(given_out, index), old[index], new[at], (*path, at))
    return changes
