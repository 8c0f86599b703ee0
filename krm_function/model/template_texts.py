"""Texts of an entry of spec.podTemplates: what a controller writes into pods, as far as the object says it.

    {metadata.name}                    the field of the object
    {spec.network.subdomain=web}       the field, or `web` where it is absent or empty
    {.groupName}                       the field of the list entry that the pod template stands in
    {number}, {suffix}, {hash}, {uid}  what only the controller knows, of that form
    {pod}                              the name of the pod
    {{ and }}                          braces

Rule of this file: a form is as narrow as what controllers write, and there is none for any text. What is known is a
text of its own, and can never be read as a form: forms are markers until the policy is written.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from krm_function.findings import Path
from krm_function.model.lookup import dig
from krm_function.record import NamedTuple

# what stands in braces -> the token of policy/variable_expansion.py
FORMS: Mapping[str, str] = {
    "number": "pod-index",
    "suffix": "template-hash",
    "hash": "controller-hash",
    "pod": "sandbox-name",
    "uid": "pod-uid",
}
NAMESPACE = "metadata.namespace"
FIELD = r"(?:metadata|spec)?(?:\.[A-Za-z][A-Za-z0-9]*)+"
PIECES = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
REFERENCE = re.compile(rf"({FIELD})(?:=([A-Za-z0-9._-]*))?")

Known = Literal["form", "field", "text"]


class Piece(NamedTuple):
    """A piece of a text. value: the text, the name of a form, or the path of a field. default: None without one."""

    known: Known
    value: str
    default: str | None = None


class MissingFieldError(ValueError):
    """A field that a text needs is not in the object, or is neither a text nor a number."""


def text_problem(text: str) -> str:
    """Return what is wrong with a text of an entry, "" if nothing is."""
    if "\0" in text:
        return "holds a NUL"
    try:
        list(pieces(text))
    except ValueError as problem:
        return str(problem)
    return ""


def pieces(text: str) -> Iterator[Piece]:
    """Yield the pieces of a text. Raises ValueError with what is wrong with it."""
    end = 0
    for match in PIECES.finditer(text):
        if match.start() > end:
            yield Piece("text", text[end : match.start()])
        end = match.end()
        inside = match[1]
        if inside is None:
            if match[0] in "{}":
                raise ValueError("has a brace without its other one; write {{ or }} for a brace")
            yield Piece("text", match[0][0])
        elif inside in FORMS:
            yield Piece("form", inside)
        else:
            found = REFERENCE.fullmatch(inside)
            if found is None:
                raise ValueError(f"has {{{inside}}}, which is no field of the object and none of {', '.join(FORMS)}")
            yield Piece("field", found[1], found[2])
    if end < len(text):
        yield Piece("text", text[end:])


def field_of(path: str, value: Any, template: Path) -> Any:
    """Return a field of an object, or of the list entry around a pod template; None if it is not there."""
    if not path.startswith("."):
        return dig(value, tuple(path.split(".")))
    inner = next((index for index in reversed(range(len(template))) if isinstance(template[index], int)), None)
    if inner is None:
        return None
    return dig(value, (*template[: inner + 1], *path[1:].split(".")))


def applies(entry: Mapping[str, Any], value: Any, template: Path) -> bool:
    """Tell whether the conditions of an entry hold for an object: `when` all of them, `unless` none."""
    when, unless = (entry.get(name) or {} for name in ("when", "unless"))
    return all(_has(path, wanted, value, template) for path, wanted in when.items()) and not any(
        _has(path, wanted, value, template) for path, wanted in unless.items()
    )


def _has(path: str, wanted: Any, value: Any, template: Path) -> bool:
    found = field_of(path, value, template)
    return ("" if found is None else str(found)) in wanted


def written(text: str, value: Any, template: Path, *, marked: bool = True) -> str:
    """Return a text with its fields, and with markers for its forms.

    value, template: the object and the path of the pod template in it. marked: else a form is MissingFieldError, too.
    """
    made = []
    for piece in pieces(text):
        match piece.known:
            case "text":
                made.append(piece.value)
            case "form":
                if not marked:
                    raise MissingFieldError(piece.value)
                made.append(f"\0{FORMS[piece.value]}\0")
            case "field":
                made.append(_scalar(piece, field_of(piece.value, value, template)))
    return "".join(made)


def _scalar(piece: Piece, found: Any) -> str:
    if (found is None or found == "") and piece.default is not None:
        return piece.default
    if (found is None or found == "") and piece.value == NAMESPACE:
        return "\0sandbox-namespace\0"  # what kubectl gives it
    if isinstance(found, bool):
        return "true" if found else "false"
    if isinstance(found, int) or (isinstance(found, str) and "\0" not in found):
        return str(found)
    raise MissingFieldError(piece.value)
