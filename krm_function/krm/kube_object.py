"""A Kubernetes object of a ResourceList: read and changed like data, written like text.

Rule of this file: text is authoritative. An object that is not looked into is never parsed; one that is changed keeps
its comments, order and quotes, since the differences are spliced into its text. No property raises for an odd shape.
"""

from collections.abc import Mapping
from marshal import loads
from typing import Any

from krm_function.krm.errors import MisuseError
from krm_function.krm.field_path import ABSENT, check_plain, checked, kind_of, look_up
from krm_function.krm.fields import Fields, SubObject
from krm_function.krm.group_version import parse_group_version, plain_api_version
from krm_function.krm.outline import Outline, outline, state
from krm_function.krm.result import Field, FieldPath, File, ResourceRef, Result, Severity, dotted, one_line
from krm_function.krm.string_map import StringMap, as_string
from krm_function.yamltext import Document, parse
from krm_function.yamltext.writer import dump

PATH = ("internal.config.kubernetes.io/path", "config.kubernetes.io/path")  # the second is the legacy twin
INDEX = ("internal.config.kubernetes.io/index", "config.kubernetes.io/index")
ID = ("internal.config.kubernetes.io/id", "config.k8s.io/id")
LOCAL_CONFIG = "config.kubernetes.io/local-config"
LONGEST_INDEX = 18  # digits
FUNCTION = "config.kubernetes.io/function"

_TOP = frozenset(("data", "metadata", "spec", "status"))  # fields of most kinds, there or not
_NEW = b"new"  # in the place of a snapshot: there is no text that the data could equal


class KubeObject(Fields):
    """One object: an item, the functionConfig, or a new object made of plain data.

    Plain data is dict, list, str, int, float, bool and None. What the getters of `Fields` give out is live.
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
        self._read = text  # as it was handed over
        self._base = text  # what the differences are spliced into
        self._header = header
        self._certain = certain
        self._document: Document | None = None
        self._value: Any = None  # the live data, once something of it was given out
        self._outline: Outline | None = None  # which map and list of it stood where
        self._snapshot: bytes | None = None  # the data as it was given out; None: nothing was, so nothing can differ
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
        """Name the object as far as it is known without parsing."""
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

    @api_version.setter
    def api_version(self, value: str) -> None:
        self._set_string(("apiVersion",), value)

    @property
    def kind(self) -> str:
        """`Deployment`, or "" when absent."""
        return self._header[1] or self._string("kind")

    @kind.setter
    def kind(self, value: str) -> None:
        self._set_string(("kind",), value)

    @property
    def name(self) -> str:
        """`metadata.name`, or "": a Kustomization has none."""
        return self._header[2] or self._string("metadata", "name")

    @name.setter
    def name(self, value: str) -> None:
        self._set_string(("metadata", "name"), value)

    @property
    def namespace(self) -> str:
        """`metadata.namespace`, or "" when absent; setting "" removes it."""
        return self._string("metadata", "namespace")

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
        return self.kind == kind and parsed is not None and parsed.group == group

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
        return self._first(PATH)

    @property
    def index_annotation(self) -> int:
        """The position in that file; 0 when it is not known."""
        text = self._first(INDEX)
        return int(text) if text.isascii() and text.isdigit() and len(text) <= LONGEST_INDEX else 0

    @property
    def id_annotation(self) -> str:
        """The orchestrator's annotation for this call, or ""."""
        return self._first(ID)

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

    # --- how

    def _peek(self) -> Any:
        return self.document.value if self._snapshot is None else self._value

    def _live(self) -> Any:
        if self._snapshot is None:
            self._snapshot = state(self.document.value)
            self._value = loads(self._snapshot)  # noqa: S302 - a copy of our own, for the document keeps what was read
            self._outline = outline(self._value)
            self._header = ("", "", "")  # it may change from here on
        return self._value

    def _replace(self, value: Any) -> None:
        check_plain(value)
        self._live()  # takes the snapshot
        self._value = value

    def _state(self) -> bytes:
        """Return the data as bytes. Raises MisuseError, which names the object, for what is no plain data."""
        try:
            check_plain(self._value, new=False)  # `state` may never end on a map that holds itself twice
        except MisuseError as error:
            raise MisuseError(f"{self._named(())[0]}: {error}") from None
        return state(self._value)

    def _write(self) -> str:
        """Write the data as it is now. Raises MisuseError, which names the object."""
        try:
            if self._snapshot == _NEW:
                check_plain(self._value)
                return dump(self._value)
            from krm_function.krm.rewritten import rewritten

            return rewritten(self.document, self._outline, self._value)
        except MisuseError as error:
            raise MisuseError(f"{self._named(())[0]}: {error}") from None

    def _named(self, path: FieldPath) -> tuple[str, FieldPath]:
        return one_line(self.short_string) or "an object without kind and name", path

    def _refuse_dotted(self, path: FieldPath) -> None:
        first, dot, _ = str(path[0]).partition(".") if path else ("", "", "")
        value = self._peek()
        if dot and isinstance(value, dict) and path[0] not in value and (first in value or first in _TOP):
            parts = ", ".join(f'"{part}"' for part in str(path[0]).split("."))
            place = f"{self._named(())[0]}: {dotted(path)}"
            raise MisuseError(f"{place}: there is no such key; a path is a tuple of keys: write ({parts})")

    def _string(self, *path: str) -> str:
        return as_string(_none(look_up(self._peek(), path))) or ""

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

    def _first(self, keys: tuple[str, str]) -> str:
        annotations = self.annotations
        return annotations.get(keys[0]) or annotations.get(keys[1], "")


def _none(value: Any) -> Any:
    return None if value is ABSENT else value
