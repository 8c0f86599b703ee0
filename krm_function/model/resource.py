"""A resource on its way through a render: its text and origin, what was read in it, and what the render makes of it.

Rule of this file: text is authoritative. A resource that no stage edits keeps its text. Whoever wants to know what a
resource holds asks it, so that no text is parsed twice: `document` if it was read, else `parsed`.
"""

from collections.abc import Container, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from krm_function.findings import Finding, Path
from krm_function.model.edits import ObjectEdits
from krm_function.model.pod_kinds import SHIPPED, Kinds
from krm_function.record import NamedTuple

if TYPE_CHECKING:
    from krm_function.yamltext import Document

State = Literal[
    "unread",  # only its header is known: nothing in it can matter, or nothing has asked
    "given",  # parsed as it stands
    "restored",  # parsed, and what an earlier render did to objects in it is undone
    "added",  # an object that an earlier render added
]
Retired = Literal["", "spec", "status", "earlier"]


class Copy(NamedTuple):
    """What a controller made. origin: the workload that it was made of.

    retired: what says that an object runs no pod, and so is not checked; "" if nothing does. "earlier": it is of an
    earlier template of that workload, and runs.
    """

    origin: Any
    retired: Retired = ""


NO_COPIES: Mapping[Path, Copy] = MappingProxyType({})


class Resource(NamedTuple):
    """One document of a stream, or one item of a ResourceList.

    What the host hands over. text: exactly the characters of the document, with its separator line and comments. line:
    line of the text's first character in `file`, from 1. file: "" for standard input. api_version, kind, name: as the
    document has them, "" if absent. certain: they can be trusted (see `yamltext.Chunk`).

    kinds: those with pod templates that this call knows.

    What was read. position: in the input, -1 while it is unread. document: its values and their positions, restored if
    an earlier render is undone. undone: the objects in it whose undo records were applied, and are not proven yet.
    copies: the objects in it that controllers made, by their paths.

    What the render makes of it. edits: of its objects. rendered: the new text, None while it is the old one. dropped:
    it has no place in the output.
    """

    text: str
    line: int = 1
    file: str = ""
    api_version: str = ""
    kind: str = ""
    name: str = ""
    certain: bool = True
    position: int = -1
    state: State = "unread"
    document: "Document | None" = None
    undone: tuple[Path, ...] = ()
    copies: Mapping[Path, Copy] = NO_COPIES
    edits: tuple[ObjectEdits, ...] = ()
    rendered: str | None = None
    dropped: bool = False
    kinds: Kinds = SHIPPED

    def may_be(self, kinds: Container[str]) -> bool:
        """Tell whether the document may contain an object of these kinds: by its kind, or by an uncertain header."""
        return not self.certain or self.kind in kinds

    @property
    def may_have_pods(self) -> bool:
        """Whether the document may be an object with pod templates that a render seals."""
        return not self.certain or self.kind in self.kinds.names

    @property
    def output(self) -> str | None:
        """Its text in the output, None if it is dropped."""
        if self.dropped:
            return None
        return self.text if self.rendered is None else self.rendered

    @property
    def value(self) -> Any:
        """Its value: as read, else as the text has it. Raises YamlError."""
        if self.document is not None:
            return self.document.value
        from krm_function.yamltext import YamlError, read_value

        try:
            return read_value(self.text)
        except YamlError:
            return self.given().value  # raises the same, with the lines of the file

    def parsed(self) -> "Resource":
        """Return the resource with a document: what was read, else its text. Raises YamlError."""
        return self if self.document is not None else self.given()

    def given(self) -> "Resource":
        """Return the resource as it stands in the input, parsed, with the record of an earlier render in it.

        Nothing keeps it, as the input may be large. Raises YamlError.
        """
        if self.state in ("given", "added") and self.document is not None and self.document.node is not None:
            return self
        from krm_function.yamltext import parse

        document = parse(self.text, line=self.line)
        return self._replace(state="given", document=document, undone=(), edits=(), rendered=None)

    def all_placed(self, findings: Iterable[Finding]) -> list[Finding]:
        """Return findings about this resource, each placed; a text not read yet is parsed only if there are any."""
        some = list(findings)
        return list(map(self.parsed().placed, some)) if some else some

    def placed(self, found: Finding) -> Finding:
        """Return a finding about this resource with the line and column of its path, and the origin of the resource."""
        if found.line or found.severity == "info" or self.document is None:
            return found
        from krm_function.model.origin import origin_of
        from krm_function.yamltext import locate

        line, column = locate(self.document, found.path)
        origin = None if self.file else origin_of(self.text, self.document.value)
        return found._replace(file=self.file, line=line, column=column, origin=origin)


def knowing(resources: Iterable[Resource], kinds: Kinds) -> tuple[Resource, ...]:
    """Return resources that know these kinds with pod templates."""
    if kinds is SHIPPED:
        return tuple(resources)
    return tuple(one._replace(kinds=kinds) for one in resources)
