"""What a function says about its input: results in the form of the KRM functions specification v1.

Rule of this file: kpt shows one line a result and only the first four. So a message is one line, whatever the input put
into it, and errors come first. Only the v1 form is produced. Source:
docs/facts/krm-functions.md#results.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from krm_function.record import NamedTuple

Severity = Literal["error", "warning", "info"]
Path = tuple[str | int, ...]

RANK: dict[str, int] = {"error": 0, "warning": 1, "info": 2}


class ResourceRef(NamedTuple):
    """The object a result is about. The specification requires all but the namespace."""

    api_version: str
    kind: str
    name: str
    namespace: str = ""

    def __str__(self) -> str:
        """`apps/v1/Deployment/shop/web`, as kpt prints it."""
        return "/".join(part for part in (self.api_version, self.kind, self.namespace, self.name) if part)


class Field(NamedTuple):
    """The field a result is about; `spec.containers[0].image`. Values are plain data; None: not given."""

    path: str
    current_value: Any = None
    proposed_value: Any = None


class File(NamedTuple):
    """The file of the package that holds the object: slash-separated relative path, number of the document in it."""

    path: str
    position: int = 0


class Result(NamedTuple):
    """One thing to say. A field needs a resource_ref, and a resource_ref its kind and name: `Results.append` checks."""

    message: str
    severity: Severity = "error"
    resource_ref: ResourceRef | None = None
    field: Field | None = None
    file: File | None = None
    tags: Mapping[str, str] = {}

    def __str__(self) -> str:
        """`[error] apps/v1/Deployment/shop/web spec.replicas: message`: one line, as kpt prints it."""
        return one_line(f"[{self.severity}] {self._place()}{self.message}")

    def _place(self) -> str:
        if self.resource_ref is not None:
            return f"{self.resource_ref} {self.field.path if self.field else ''}".rstrip() + ": "
        return f"{self.file.path}: " if self.file else ""

    def to_data(self) -> dict[str, Any]:
        """Make the entry for `results` of a ResourceList; absent parts are left out."""
        data: dict[str, Any] = {"message": one_line(self.message), "severity": self.severity}
        if self.resource_ref is not None:
            names = ("apiVersion", "kind", "name", "namespace")
            pairs = zip(names, self.resource_ref, strict=True)
            data["resourceRef"] = {key: one_line(value) for key, value in pairs if value}
        if self.field is not None:
            values = {"currentValue": self.field.current_value, "proposedValue": self.field.proposed_value}
            present = {key: value for key, value in values.items() if value is not None}
            data["field"] = {"path": one_line(self.field.path), **present}
        if self.file is not None:
            data["file"] = {"path": one_line(self.file.path)}
            if self.file.position:
                data["file"]["index"] = self.file.position
        if self.tags:
            data["tags"] = dict(self.tags)
        return data


class Results:
    """The results of one run, in the order in which they were said.

    bug: whether the function stopped by a fault of its own; `run` sets it, `exit_code` is 70 then.
    """

    def __init__(self, results: Iterable[Result] = ()) -> None:
        """Begin with `results`."""
        self.bug = False
        self._results: list[Result] = []
        self.extend(results)

    def __iter__(self) -> Iterator[Result]:
        """Go through them in the order in which they were said."""
        return iter(self._results)

    def __len__(self) -> int:
        """Count them."""
        return len(self._results)

    def __repr__(self) -> str:
        """Show them."""
        return f"Results({self._results!r})"

    def append(self, result: Result) -> None:
        """Add one result. Raises ValueError for one that the specification does not allow."""
        if result.severity not in RANK:
            raise ValueError(f"unknown severity {result.severity}")
        if result.resource_ref is not None and not (result.resource_ref.kind and result.resource_ref.name):
            raise ValueError("a resource_ref needs kind and name")
        if result.field is not None and result.resource_ref is None:
            raise ValueError("a field needs a resource_ref")
        self._results.append(result)

    def extend(self, results: Iterable[Result]) -> None:
        """Add several."""
        for result in results:
            self.append(result)

    def errorf(self, message: str, *values: object) -> None:
        """Say that the run has failed. `values` fill the message's %-placeholders, as in Go."""
        self.append(Result(message % values if values else message, "error"))

    def warningf(self, message: str, *values: object) -> None:
        """Say what someone should look at."""
        self.append(Result(message % values if values else message, "warning"))

    def infof(self, message: str, *values: object) -> None:
        """Say what was done."""
        self.append(Result(message % values if values else message, "info"))

    def sort(self) -> None:
        """Errors before warnings before infos; then by file, then by text."""
        self._results.sort(key=_order)

    @property
    def failed(self) -> bool:
        """Whether one of them is an error."""
        return any(result.severity == "error" for result in self._results)

    @property
    def exit_code(self) -> int:
        """0: fine, 1: an error, 70: a bug of the function (EX_SOFTWARE)."""
        return 70 if self.bug else int(self.failed)

    def to_data(self) -> list[dict[str, Any]]:
        """Make the entries for `results` of a ResourceList, sorted."""
        return [result.to_data() for result in sorted(self._results, key=_order)]

    def lines(self, *, infos: bool = True) -> list[str]:
        """One line a result, sorted: what a function prints on stderr, since kustomize shows no results."""
        return [str(result) for result in sorted(self._results, key=_order) if infos or result.severity != "info"]


def _order(result: Result) -> tuple[int, str, int, str]:
    file = result.file or File("")
    return (RANK[result.severity], file.path, file.position, str(result))


def one_line(text: str) -> str:
    """`text` on one line: line breaks become a space, other control and format characters visible escapes."""
    if text.isprintable():
        return text
    joined = " ".join(part for part in map(str.strip, text.splitlines()) if part)
    return visible(joined)


def visible(text: str) -> str:
    """`text` with control, format and separator characters as escapes."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def dotted(path: Path) -> str:
    """`spec.containers[0].image`: a field path as the specification writes it.

    A key with a dot or a slash is quoted in brackets: `metadata.annotations["a.b/c"]`. A login before an @ is left out.
    """
    out = ""
    for part in path:
        if isinstance(part, int):
            out += f"[{part}]"
            continue
        if "@" in part:
            login, at, _ = part.partition("@sha256:")[0].rpartition("@")
            part = f"…{part[len(login) :]}" if at and ":" in login else part  # noqa: PLW2901
        if "." in part or "/" in part or not part:
            out += f'["{part}"]'
        else:
            out += f".{part}" if out else part
    return out
