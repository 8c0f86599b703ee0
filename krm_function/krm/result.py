"""Results in the form of the KRM functions specification v1, and the exceptions that become results."""

from collections.abc import Mapping
from typing import Any, Literal, Protocol

from krm_function.record import NamedTuple

# --- Results in the form of the KRM functions specification v1: what a function reports about its input
#
# Rule: kpt shows all results on one line, older versions show four, on a line each. So a message is one line, whatever
# the input adds to it. Only the v1 form is produced.
#
# Source: docs/facts/krm-functions.md#results.


Severity = Literal["error", "warning", "info"]
FieldPath = tuple[str | int, ...]  # map keys and list indexes


class ResourceRef(NamedTuple):
    """The object a result is about. The specification requires all but the namespace."""

    api_version: str
    kind: str
    name: str
    namespace: str = ""

    def __str__(self) -> str:
        """Write `apps/v1/Deployment/shop/web`, as kpt prints it."""
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
    """One message. A field needs a resource_ref, and a resource_ref its kind and name: `Results.append` checks."""

    message: str
    severity: Severity = "error"
    resource_ref: ResourceRef | None = None
    field: Field | None = None
    file: File | None = None
    tags: Mapping[str, str] = {}

    def __str__(self) -> str:
        """Write `[error] apps/v1/Deployment/shop/web spec.replicas: message`: one line, as kpt prints it."""
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


def one_line(text: str) -> str:
    """Put `text` on one line: line breaks become a space, other control and format characters visible escapes."""
    if text.isprintable():
        return text
    joined = " ".join(part for part in map(str.strip, text.splitlines()) if part)
    return visible(joined)


def visible(text: str) -> str:
    """Show control, format and separator characters of `text` as escapes."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def dotted(path: FieldPath) -> str:
    """Write a field path as the specification does: `spec.containers[0].image`.

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


# --- The possible subjects of a result
#
# Rule: only for type checkers; no running program loads it.


class Describable(Protocol):
    """The subject of a result: a KubeObject, or a SubObject of one."""

    def result(self, message: str, severity: Severity = "error", path: FieldPath = ()) -> Result:
        """Make a result about it."""


# --- The exceptions of a function: for faults of its input, and for faults of its own code
#
# Rule: a FunctionError becomes an error result (exit 1). Any other exception is a bug of the function (exit 70); its
# message is not shown, because it may quote a Secret, except for a MisuseError, which contains no value.


class FunctionError(ValueError):
    """The input is not what the function needs: raise it, with a one-line message, to stop with an error result.

    `raise FunctionError("needs a limit", item, ("spec",))` is about an object and a field of it, as in `Results.error`.
    `result` is what will be shown.
    """

    def __init__(self, message: str, about: "Describable | None" = None, path: FieldPath = ()) -> None:
        super().__init__(message)
        self.result = Result(message) if about is None else about.result(message, "error", path)


class NotAResourceListError(FunctionError):
    """The bytes on stdin are not one ResourceList."""


class FieldError(FunctionError):
    """A field of an object is not what the function needs. `result` names the object, its file and the field."""

    def __init__(self, result: Result) -> None:
        super().__init__(str(result).removeprefix(f"[{result.severity}] "))
        self.result = result


class MisuseError(TypeError):
    """The function's code passes something these helpers cannot take. The message has the right form."""
