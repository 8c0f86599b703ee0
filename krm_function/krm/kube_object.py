"""A Kubernetes object of a ResourceList: read like data, edited like text.

Rule of this file: text is authoritative. An object nobody looks into is never parsed; one that is edited keeps its
comments, order and quotes, since edits are spliced into the text. Getters never raise for an odd shape.
"""

from collections.abc import Mapping
from typing import Any

from krm_function.krm.errors import FunctionError
from krm_function.krm.result import Field, File, Path, ResourceRef, Result, Severity, dotted
from krm_function.yamltext import Change, Document, Op, apply, dump, parse, same, splice

PATH = ("internal.config.kubernetes.io/path", "config.kubernetes.io/path")  # the second is the legacy twin
INDEX = ("internal.config.kubernetes.io/index", "config.kubernetes.io/index")
ID = ("internal.config.kubernetes.io/id", "config.k8s.io/id")
LOCAL_CONFIG = "config.kubernetes.io/local-config"
FUNCTION = "config.kubernetes.io/function"
UPSTREAM_IDENTIFIER = "internal.kpt.dev/upstream-identifier"  # kpt's own; the Go SDK refuses to edit it as well

_ABSENT = object()


class KubeObject:
    """One object: an item, the functionConfig, or a new object made of plain data.

    Plain data is dict, list, str, int, float, bool and None. What a getter returns belongs to the object: change it
    through `set_nested`, not in place.
    """

    # a list may have thousands
    __slots__ = ("_base", "_certain", "_changes", "_document", "_header", "_line", "_read", "_text", "_value")

    def __init__(
        self, text: str, line: int = 1, header: tuple[str, str, str] = ("", "", ""), certain: bool = True
    ) -> None:
        """Wrap a document, or a `- item` slice, that begins in `line` of the input.

        header: apiVersion, kind and metadata.name where they are known without parsing, else "". certain: as of the
        Chunk that they were read from.
        """
        self._line = line
        self._read = text  # as it was handed over
        self._base = text  # what the changes are made to
        self._changes: tuple[Change, ...] = ()
        self._header = header
        self._certain = certain
        self._document: Document | None = None
        self._value: Any = _ABSENT
        self._text: str | None = text

    @classmethod
    def from_value(cls, value: Mapping[str, Any]) -> "KubeObject":
        """Make a new object of plain data; its line is 0."""
        return cls(dump(dict(value)), 0)

    def __repr__(self) -> str:
        """Name the object as far as it is known without parsing."""
        return f"KubeObject({' '.join(part for part in self._header if part) or f'line {self._line}'})"

    # --- the whole object, as text and as data

    @property
    def text(self) -> str:
        """The text with all edits spliced in; the very input while there are none. Raises YamlError."""
        if self._text is None:
            self._text = splice(self.document, self._changes).text
        return self._text

    @property
    def document(self) -> Document:
        """The parsed text, without the edits recorded since. Raises YamlError."""
        if self._document is None:
            self._document = parse(self._base, line=max(self._line, 1))
        return self._document

    @property
    def value(self) -> Any:
        """The object as plain data with all edits; a dict unless the input is odd. Raises YamlError."""
        if self._value is _ABSENT:
            self._value = self.document.value
        return self._value

    @property
    def line(self) -> int:
        """The line of the input in which the text begins, from 1; 0 for a new object."""
        return self._line

    @property
    def changes(self) -> tuple[Change, ...]:
        """The edits recorded so far, in order."""
        return self._changes

    @property
    def changed(self) -> bool:
        """Whether the text is another than was read."""
        return bool(self._changes) or self._base != self._read

    def replace_text(self, text: str) -> None:
        """Put `text` in the place of the whole text, for callers who spliced it themselves; edits so far are dropped.

        An item of a list stays an item: its text begins with the same dash and ends with the same line end.
        """
        self._base = self._text = text
        self._changes = ()
        self._header = ("", "", "")
        self._document = None
        self._value = _ABSENT

    # --- who it is

    @property
    def certain(self) -> bool:
        """Whether `header` can be trusted; else only `value` can tell what the object is."""
        return self._certain

    @property
    def header(self) -> tuple[str, str, str]:
        """What was known of apiVersion, kind and metadata.name without parsing."""
        return self._header

    @property
    def api_version(self) -> str:
        """`apps/v1`, or "" when absent."""
        return self._header[0] or self._string("apiVersion")

    @property
    def kind(self) -> str:
        """`Deployment`, or "" when absent."""
        return self._header[1] or self._string("kind")

    @property
    def name(self) -> str:
        """`metadata.name`, or "": a Kustomization has none."""
        return self._header[2] or self._string("metadata", "name")

    @property
    def namespace(self) -> str:
        """`metadata.namespace`, or "" when absent."""
        return self._string("metadata", "namespace")

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
        """Whether it is exactly that group (core: ""), version and kind."""
        return self.kind == kind and self.api_version == (f"{group}/{version}" if group else version)

    def is_group_kind(self, group: str, kind: str) -> bool:
        """Whether it is of that group (core: "") and kind, in any version."""
        return self.kind == kind and self.api_version.rpartition("/")[0] == group

    # --- labels and annotations

    @property
    def labels(self) -> dict[str, str]:
        """`metadata.labels` as strings; {} when absent. A copy."""
        return self._strings("metadata", "labels")

    @property
    def annotations(self) -> dict[str, str]:
        """`metadata.annotations` as strings; {} when absent. A copy."""
        return self._strings("metadata", "annotations")

    @property
    def is_local_config(self) -> bool:
        """Whether the object is for tools only and never reaches a cluster."""
        return self.annotations.get(LOCAL_CONFIG, "") not in {"", "false"}

    @property
    def path_annotation(self) -> str:
        """The file of the package that holds the object, or "": kustomize does not tell."""
        return self._first(PATH)

    @property
    def index_annotation(self) -> int:
        """The position in that file; 0 when it is not told."""
        text = self._first(INDEX)
        return int(text) if text.isascii() and text.isdigit() else 0

    @property
    def id_annotation(self) -> str:
        """The orchestrator's mark for this call, or ""."""
        return self._first(ID)

    def set_annotation(self, key: str, value: str) -> None:
        """Set one annotation of the object's metadata."""
        if key == UPSTREAM_IDENTIFIER:
            raise FunctionError(f"annotation {key} belongs to kpt and may not be set")
        self._set_string("annotations", key, value)

    def set_label(self, key: str, value: str) -> None:
        """Set one label of the object's metadata."""
        self._set_string("labels", key, value)

    # --- any field

    def nested(self, path: Path) -> Any:
        """Return the value at `path`; None when it is null or absent, or the way there no map or list."""
        value = self.value
        for part in _keys(path):
            value = _child(value, part)
        return None if value is _ABSENT else value

    def set_nested(self, path: Path, value: Any) -> None:
        """Set the value at `path`, and make the maps above it where they are absent or null.

        An index may be that of an element, or the length of the list, which appends. Setting what is there already
        changes nothing. Raises FunctionError when the path leads through something that is no map or list.
        """
        path = _keys(path)
        current = self.value
        op: Op = "set"
        for depth, part in enumerate(path, 1):
            _check(current, path[:depth])
            child = _child(current, part)
            if child is _ABSENT or (child is None and depth < len(path)):
                op = "insert" if child is _ABSENT and isinstance(part, int) else "set"
                value = _wrap(path, depth, value)
                path = path[:depth]
                break
            current = child
        else:
            if same(current, value):
                return
        self._record(Change(path, op, value))

    def remove_nested(self, path: Path) -> bool:
        """Remove the key or element at `path`; False when there is none."""
        path = _keys(path)
        value = self.value
        for part in path:
            value = _child(value, part)
        if value is _ABSENT or not path:
            return False
        self._record(Change(path, "remove"))
        return True

    # --- results

    def result(
        self,
        message: str,
        severity: Severity = "error",
        path: Path = (),
        *,
        current_value: Any = None,
        proposed_value: Any = None,
    ) -> Result:
        """Say something about this object, and about its field at `path`; the values are told only if given here."""
        ref = self.ref
        field = Field(dotted(path), current_value, proposed_value) if path and ref else None
        file = File(self.path_annotation, self.index_annotation) if self.path_annotation else None
        return Result(message if field or not path else f"{dotted(path)}: {message}", severity, ref, field, file)

    # --- how

    def _record(self, change: Change) -> None:
        self._value = apply(self.value, (change,))
        self._changes += (change,)
        self._text = None
        if change.path[0] in {"apiVersion", "kind", "metadata"}:
            self._header = ("", "", "")

    def _set_string(self, where: str, key: str, value: str) -> None:
        if not isinstance(value, str):  # kpt would write a number as it is, and Kubernetes refuse it
            raise TypeError(f"{where} are strings, not {type(value).__name__}")
        self.set_nested(("metadata", where, key), value)

    def _string(self, *path: str) -> str:
        return _as_string(self.nested(path)) or ""

    def _strings(self, *path: str) -> dict[str, str]:
        found = self.nested(path)
        if not isinstance(found, dict):
            return {}
        pairs = ((key, _as_string(value)) for key, value in found.items())
        return {key: value for key, value in pairs if value is not None}

    def _first(self, keys: tuple[str, str]) -> str:
        annotations = self.annotations
        return annotations.get(keys[0]) or annotations.get(keys[1], "")


def _keys(path: Path | str) -> Path:
    """Forgive `("spec")`, which is a string and no tuple."""
    return (path,) if isinstance(path, str) else tuple(path)


def _child(value: Any, part: str | int) -> Any:
    if isinstance(value, dict) and isinstance(part, str):
        return value.get(part, _ABSENT)
    if isinstance(value, list) and isinstance(part, int) and 0 <= part < len(value):
        return value[part]
    return _ABSENT


def _check(value: Any, path: Path) -> None:
    """Raise FunctionError when the last part of `path` cannot be set in `value`."""
    part, where = path[-1], dotted(path[:-1]) or "the object"
    if isinstance(part, str):
        if not isinstance(value, dict):
            raise FunctionError(f"{where} is not a map")
    elif not isinstance(value, list):
        raise FunctionError(f"{where} is not a list")
    elif not 0 <= part <= len(value):
        raise FunctionError(f"{where} has no element {part}")


def _wrap(path: Path, depth: int, value: Any) -> Any:
    """Put `value` into new maps for the keys of `path` from `depth` on."""
    for part in reversed(path[depth:]):
        if isinstance(part, int):
            raise FunctionError(f"{dotted(path)}: there is no list yet; set the whole list")
        value = {part: value}
    return value


def _as_string(value: Any) -> str | None:
    """Return a scalar as text, since kyaml reads `a: 5` as "5"; None for a map or a list."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return ""
    return str(value) if isinstance(value, str | int | float) else None
