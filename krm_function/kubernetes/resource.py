"""A resource on its way through a render, the edits of it, and the file that it comes from."""

from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from krm_function.findings import Finding, Origin, Path, Ref, finding
from krm_function.kubernetes.objects import dig, mapping, objects, reference
from krm_function.kubernetes.pod_kinds import SHIPPED, Kinds
from krm_function.record import NamedTuple
from krm_function.text.changes import Change, Op
from krm_function.text.errors import YamlError

if TYPE_CHECKING:
    from krm_function.text.parse import Document


# --- Records of edits: the path, the value before and after, the code of the rule, and the reason
#
# Rule: every stage returns edits and findings and changes nothing itself. `plan`, `explain`, `diff`,
# `uninject` and the KRM results all read these records.


class Edit(NamedTuple):
    """One change to one object. `path` starts at the root of the object's document."""

    op: Op
    path: Path
    before: Any
    after: Any
    code: str
    reason: str

    @property
    def change(self) -> Change:
        """The edit as a change of its document."""
        return self.change_in(())

    def change_in(self, root: Path) -> Change:
        """Return the edit as a change whose path starts at the object at `root` of the document."""
        return Change(self.path[len(root) :], self.op, None if self.op == "remove" else self.after)


class Outcome(NamedTuple):
    """The edits and findings of one stage for one workload."""

    edits: tuple[Edit, ...] = ()
    findings: tuple[Finding, ...] = ()


class ObjectEdits(NamedTuple):
    """All edits of one object of a resource. root: path from the document to the object, where their paths start."""

    root: Path
    ref: Ref
    edits: tuple[Edit, ...]


# --- A resource on its way through a render: its text and origin, what was read in it, and what the render makes of
# it
#
# Rule: text is authoritative. A resource that no stage edits keeps its text. All readers ask the resource for its
# values, so that no text is parsed twice: `document` if it was read, else `parsed`.


State = Literal[
    "unread",  # only its header is known: its content cannot matter, or was not needed
    "given",  # parsed, unchanged
    "restored",  # parsed, and what an earlier render did to objects in it is undone
    "added",  # an object that an earlier render added
]
Retired = Literal["", "spec", "status", "earlier"]


class Copy(NamedTuple):
    """An object made by a controller. origin: the workload that it was made of.

    retired: the field that proves that an object runs no pod, and so is not checked; "" if none does. "earlier": it is
    of an earlier template of that workload, and runs.
    """

    origin: Any
    retired: Retired = ""


NO_COPIES: Mapping[Path, Copy] = MappingProxyType({})


class ObjectAt(NamedTuple):
    """An object of a resource. root: its path in the document."""

    resource: "Resource"
    root: Path
    ref: Ref
    value: Any

    def placed(self, problem: Finding) -> Finding:
        """Return a finding about this object with its line and column."""
        return self.resource.parsed().placed(problem)


class Resource(NamedTuple):
    """One document of a stream, or one item of a ResourceList.

    From the host. text: exactly the characters of the document, with its separator line and comments. line:
    line of the text's first character in `file`, from 1. file: "" for standard input. api_version, kind, name: as the
    document has them, "" if absent. certain: they can be trusted (see `Chunk`).

    kinds: all with pod templates in this call.

    From reading. position: in the input, -1 while it is unread. document: its values and their positions, restored if
    an earlier render is undone. undone: the objects in it whose undo records were applied, and are not proven yet.
    copies: the objects in it that controllers made, by their paths.

    From the render. edits: of its objects. rendered: the new text, None while it is the old one. dropped:
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

    @cached_property
    def names_contrast(self) -> bool:
        """Whether its text has a word that is in all names of Contrast's: what no name is in, is searched only once."""
        return "contrast" in self.text or "kata-cc-" in self.text

    @property
    def output(self) -> str | None:
        """Its text in the output, None if it is dropped."""
        if self.dropped:
            return None
        return self.text if self.rendered is None else self.rendered

    @property
    def value(self) -> Any:
        """Its value, as read or else parsed. Raises YamlError."""
        if self.document is not None:
            return self.document.value
        from krm_function.text.parse import read_value

        try:
            return read_value(self.text)
        except YamlError:
            return self.given().value  # raises the same, with the lines of the file

    @cached_property
    def objects(self) -> tuple[ObjectAt, ...]:
        """Every object in it, members of lists among them; () for an unparsable text, which `read` reports."""
        try:
            value = self.value
        except YamlError:
            return ()
        return tuple(ObjectAt(self, root, reference(object_), object_) for root, object_ in objects(value))

    def parsed(self) -> "Resource":
        """Return the resource with a document, parsed unless it was read. Raises YamlError."""
        return self if self.document is not None else self.given()

    def given(self) -> "Resource":
        """Return the resource as in the input, parsed, with the record of an earlier render in it.

        Nothing keeps it, as the input may be large. Raises YamlError.
        """
        if self.state in ("given", "added") and self.document is not None and self.document.node is not None:
            return self
        from krm_function.text.parse import parse

        document = parse(self.text, line=self.line)
        return self._replace(state="given", document=document, undone=(), edits=(), rendered=None)

    def all_placed(self, findings: Iterable[Finding]) -> list[Finding]:
        """Return findings about this resource, each placed; a text not read yet is parsed only if there are any."""
        some = list(findings)
        return list(map(self.parsed().placed, some)) if some else some

    def placed(self, problem: Finding) -> Finding:
        """Return a finding about this resource with the line and column of its path, and the origin of the resource."""
        if problem.line or problem.severity == "info" or self.document is None:
            return problem
        from krm_function.text.parse import locate

        line, column = locate(self.document, problem.path)
        origin = None if self.file else origin_of(self.text, self.document.value)
        return problem._replace(file=self.file, line=line, column=column, origin=origin)


def objects_of(resources: Iterable[Resource], kinds: Collection[str], *words: str) -> Iterator[ObjectAt]:
    """Yield the objects of some kinds, from documents that may have these kinds and one of the words, if any.

    kinds: with `List`, members of lists count, too.
    """
    for resource in resources:
        if resource.may_be(kinds) and (not words or any(word in resource.text for word in words)):
            yield from (item for item in resource.objects if item.ref.kind in kinds)


def with_kinds(resources: Iterable[Resource], kinds: Kinds) -> tuple[Resource, ...]:
    """Return resources for which these are the kinds with pod templates."""
    if kinds is SHIPPED:
        return tuple(resources)
    return tuple(resource._replace(kinds=kinds) for resource in resources)


# --- Find out which file an object of a stream comes from, as the tool that made the stream has noted it
#
#     written by                           where                                               index
#     kpt                                  internal.config.kubernetes.io/path, or without      the annotation `index`
#                                          `internal.`
#     Helm 4                               postrenderer.helm.sh/postrender-filename            not known
#     kustomize with originAnnotations     config.kubernetes.io/origin, unless from a repo     not known
#     Helm 3, `helm template`              the comment `# Source: PATH` above the object       not known
#
# The first row that has a usable path counts. Sources: docs/facts/krm-functions.md#bookkeeping-annotations,
# docs/facts/helm.md#helm-3-stream, docs/facts/helm.md#helm-4-stream.
#
# Rule: an author of the input can write all of these, so only an unambiguous relative path is accepted.


LONGEST = 250  # characters of a path
PATHS = ("internal.config.kubernetes.io/", "config.kubernetes.io/")  # + path, + index
FILENAME = "postrenderer.helm.sh/postrender-filename"
KUSTOMIZE = "config.kubernetes.io/origin"
HELM_SOURCE = "# Source: "
LONGEST_INDEX = 6  # digits


def origin_of(text: str, value: Any = None) -> Origin | None:
    """Return the origin of a document of a stream; None without a usable one.

    value: the parsed document, None if it cannot be parsed.
    """
    return origin_of_object(value) or _origin_of_comment(text)


def origin_of_object(value: Any) -> Origin | None:
    """Return the origin that the annotations of an object name."""
    annotations = mapping(dig(value, ("metadata", "annotations")))
    for prefix in PATHS:
        if path := _checked_path(annotations.get(f"{prefix}path")):
            return Origin(path, _checked_index(annotations.get(f"{prefix}index")))
    path = _checked_path(annotations.get(FILENAME)) or _kustomize_path(annotations)
    return Origin(path) if path else None


def origin_of_line(text: str, line: int) -> Origin | None:
    """Return the origin of a line, from 1, of a stream that cannot be cut: it is in the nearest comment above."""
    above = text.split("\n", line - 1)[: line - 1] if line > 0 else []
    comments = (text.rstrip("\r") for text in reversed(above) if text.startswith(HELM_SOURCE))
    path = _checked_path(next(comments, "").removeprefix(HELM_SOURCE).strip())
    return Origin(path) if path else None


def _kustomize_path(annotations: Mapping[Any, Any]) -> str:
    """Read kustomize's annotation, a small YAML text; return "" for a file of another repository."""
    text = annotations.get(KUSTOMIZE)
    lines = text[: 4 * LONGEST].splitlines() if isinstance(text, str) else []
    fields = dict(line.split(": ", 1) for line in lines if ": " in line)
    return "" if "repo" in fields else _checked_path(fields.get("path"))


def _origin_of_comment(text: str) -> Origin | None:
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        line = text[start : end if end >= 0 else len(text)]
        if line.startswith(HELM_SOURCE):
            path = _checked_path(line.removeprefix(HELM_SOURCE).strip())
            return Origin(path) if path else None
        if end < 0 or (line.strip() and not line.startswith(("---", "#"))):
            break
        start = end + 1
    return None


def _checked_index(claim: Any) -> int | None:
    if not isinstance(claim, str) or not claim.isascii() or not claim.isdecimal() or len(claim) > LONGEST_INDEX:
        return None
    return int(claim)


def _checked_path(claim: Any) -> str:
    """Accept a relative path of printable characters only."""
    if not isinstance(claim, str) or not 0 < len(claim) <= LONGEST or not claim.isprintable() or claim != claim.strip():
        return ""
    if claim.startswith("/") or any(character in claim for character in ':\\"<>|*?'):
        return ""
    return claim


# --- Turn a problem of a text into a finding with a code and a position
#
# Rule: every YamlError becomes a finding here; a report never shows one as it is.


CODES = {
    "syntax": "CC0101",
    "encoding": "CC0102",
    "size": "CC0103",
    "depth": "CC0104",
    "alias": "CC0105",
    "duplicate": "CC0106",
    "tag": "CC0107",
    "shape": "CC0108",
    "splice": "CC0110",
    "separator": "CC0112",
    "template": "CC0119",
}


def yaml_finding(problem: YamlError, source: str | Resource, ref: Ref | None = None, path: Path = ()) -> Finding:
    """Make the finding for one YamlError. source: the resource that has it, or the name of a file, "" for a stream."""
    file = source if isinstance(source, str) else source.file
    origin = None if isinstance(source, str) or file else origin_of(source.text)
    placeless = finding(CODES[problem.code], ref, path, problem=problem.message)
    return placeless._replace(line=problem.line, column=problem.column, file=file, origin=origin)


def stream_finding(problem: YamlError, text: str) -> Finding:
    """Make the finding for a YamlError of a stream that cannot be cut into documents."""
    return yaml_finding(problem, "")._replace(origin=origin_of_line(text, problem.line))
