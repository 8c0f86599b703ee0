"""Texts of an entry of spec.podTemplates: what a controller writes into pods, as far as the object says it.

    {metadata.name}                    the field of the object
    {spec.network.subdomain=web}       the field, or `web` where it is absent or empty
    {.groupName}                       the field of the list entry that the pod template stands in
    {.params['num-cpus']}              a key with other characters than letters and digits
    {.ports[name=http].containerPort}  a field of the entry of a list that has this name
    {rayStart}, {rayPods}              what a rule computes of the object (model/ray_texts.py)
    {number}, {suffix}, {templateHash}, {hash}, {digest}, {uid}
                                       what only the cluster knows, of that form
    {index}                            the completion index of a Job, which stays where a name is cut
    {pod}                              the name of the pod
    {{ and }}                          braces

Rule of this file: a form is as narrow as what controllers write, and there is none for any text. What is known is a
text of its own, and can never be read as a form: forms are markers until the policy is written.
"""

import functools
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from krm_function.findings import Path
from krm_function.model.lookup import dig, mapping, maps
from krm_function.record import NamedTuple

# what stands in braces -> the token of policy/variable_expansion.py
FORMS: Mapping[str, str] = {
    "number": "pod-index",
    "index": "completion-index",
    "suffix": "generated",
    "templateHash": "template-hash",
    "hash": "controller-hash",
    "pod": "sandbox-name",
    "digest": "controller-digest",
    "uid": "pod-uid",
}
RULES = ("rayStart", "rayPods")
NAMESPACE = "metadata.namespace"
FIELD = r"(?:metadata|spec)?(?:\.[A-Za-z][A-Za-z0-9]*|\['[A-Za-z0-9._/-]+'\]|\[name=[A-Za-z0-9.-]+\])+"
PIECES = r"\{\{|\}\}|\{([^{}]*)\}|[{}]"
REFERENCE = rf"({FIELD})(?:=([A-Za-z0-9._-]*))?"
STEPS = r"\[name=([^\]]+)\]|([A-Za-z][A-Za-z0-9]*)|\['([^']+)'\]"
AT_LEAST = ">="  # before a version, in a condition

Known = Literal["form", "field", "rule", "text"]


class MissingFieldError(ValueError):
    """A field that a text needs is not in the object, or is neither a text nor a number."""


class NotDerivedError(MissingFieldError):
    """A rule does not know what the controller writes for this object. reason, instead: as in a finding."""

    def __init__(self, reason: str, instead: str) -> None:
        """Keep both."""
        super().__init__(reason)
        self.reason, self.instead = reason, instead


class Piece(NamedTuple):
    """A piece of a text. value: the text, the name of a form or rule, or the path of a field. default: or None."""

    known: Known
    value: str
    default: str | None = None


def text_problem(text: str) -> str:
    """Return what is wrong with a text of an entry, "" if nothing is."""
    if "\0" in text:
        return "holds a NUL"
    try:
        pieces(text)
    except ValueError as problem:
        return str(problem)
    return ""


@functools.lru_cache(maxsize=1024)  # the texts of an entry are those of all objects of its kind
def pieces(text: str) -> tuple[Piece, ...]:
    """Return the pieces of a text. Raises ValueError with what is wrong with it."""
    return tuple(_pieces(text))


def _pieces(text: str) -> Iterator[Piece]:
    end = 0
    for match in re.finditer(PIECES, text):
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
        elif inside in RULES:
            yield Piece("rule", inside)
        else:
            found = re.fullmatch(REFERENCE, inside)
            if found is None:
                raise ValueError(f"has {{{inside}}}, which is no field of the object and none of {', '.join(FORMS)}")
            yield Piece("field", found[1], found[2])
    if end < len(text):
        yield Piece("text", text[end:])


def field_of(path: str, value: Any, template: Path) -> Any:
    """Return a field of an object, or of the list entry around a pod template; None if it is not there."""
    steps = field_steps(path)
    if not path.startswith((".", "[")):
        return _at(value, steps)
    inner = next((index for index in reversed(range(len(template))) if isinstance(template[index], int)), None)
    return None if inner is None else _at(dig(value, template[: inner + 1]), steps)


def _at(value: Any, steps: tuple[str, ...]) -> Any:
    """Return the value at the steps of a field; in a list, a step is the name of the first entry that has it."""
    for step in steps:
        if isinstance(value, list):
            value = next((one for one in maps(value) if one.get("name") == step), None)
        else:
            value = mapping(value).get(step)
    return value


@functools.lru_cache(maxsize=1024)
def field_steps(path: str) -> tuple[str, ...]:
    """Return the keys and names of the path of a field.

    >>> field_steps("metadata.annotations['ray.io/x']")
    ('metadata', 'annotations', 'ray.io/x')
    >>> field_steps(".ports[name=http].containerPort")
    ('ports', 'http', 'containerPort')
    """
    return tuple(found[1] or found[2] or found[3] for found in re.finditer(STEPS, path))


def applies(entry: Mapping[str, Any], value: Any, template: Path) -> bool:
    """Tell whether the conditions of an entry hold for an object: `when` all of them, `unless` none."""
    when, unless = entry.get("when") or {}, entry.get("unless") or {}
    if not when and not unless:
        return True
    return all(_has(path, wanted, value, template) for path, wanted in when.items()) and not any(
        _has(path, wanted, value, template) for path, wanted in unless.items()
    )


def _has(path: str, wanted: Any, value: Any, template: Path) -> bool:
    found = field_of(path, value, template)
    if isinstance(found, (dict, list)):
        return False  # is no text, and to write a whole pod template as one takes long
    text = "" if found is None else str(found).lower() if isinstance(found, bool) else str(found)
    return text in wanted or any(_at_least(text, one) for one in wanted if one.startswith(AT_LEAST))


def _at_least(text: str, wanted: str) -> bool:
    """Tell whether a text begins with a version that is not before that of `>=1.2.3`."""
    versions = [re.match(r"v?([0-9]+(?:\.[0-9]+)*)", one) for one in (text, wanted.removeprefix(AT_LEAST))]
    if not all(versions):
        return False
    found, least = ([int(number) for number in one[1].split(".")] for one in versions if one)
    size = max(len(found), len(least))
    return [*found, *[0] * (size - len(found))] >= [*least, *[0] * (size - len(least))]


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
            case "rule":
                from krm_function.model.ray_texts import RAY

                made.append(RAY[piece.value](value, template))
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
