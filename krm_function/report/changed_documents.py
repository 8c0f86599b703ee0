"""Diff: what a render would change, object by object, as unified diffs of the YAML text.

Rule of this file: the texts of the input are compared with those of the output, comments included; what may not be
shown is replaced in both before that, so that no context line reveals it.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from krm_function.model.address import address_of
from krm_function.model.objects import objects, reference
from krm_function.model.resource import Resource
from krm_function.pipeline.result import Rendered
from krm_function.record import NamedTuple
from krm_function.report.line_diff import unified_lines
from krm_function.report.masking import hidden
from krm_function.report.order import on_one_line
from krm_function.yamltext import Change, YamlError, parse
from krm_function.yamltext.edit.splice import splice
from krm_function.yamltext.writer import dump

ONLY_MASKED = "only values that are not shown differ"
COLOURS = {"+": "\x1b[32m", "-": "\x1b[31m", "@": "\x1b[36m"}
BOLD, RESET = "\x1b[1m", "\x1b[0m"


class ChangedDocument(NamedTuple):
    """One document before and after a render, None where it does not exist. title: the header of its diff."""

    title: str
    before: str | None
    after: str | None


def changed_documents(resources: Sequence[Resource], rendered: Rendered) -> list[ChangedDocument]:
    """Return every document that a render would change, remove or add, in the order of the output."""
    documents = [
        ChangedDocument(_title(resource, text), resource.text, text)
        for resource, text in zip(resources, rendered.texts, strict=True)
        if text != resource.text
    ]
    return documents + [
        ChangedDocument(f"{address_of(reference(value))}, new", None, dump(value)) for value in rendered.added
    ]


def diff_text(documents: Iterable[ChangedDocument], *, colour: bool = False) -> str:
    """Return all diffs, each with a header; "" for none."""
    return "".join(_painted(line, colour=colour) + "\n" for one in documents for line in _lines(one))


def identity_text(rendered: Rendered) -> str:
    """Return what the manifest gives to workloads and the base does not: one header for each, "" for none."""
    lines = []
    for planned in rendered.plan:
        if planned.identity:
            lines.append(f"=== {on_one_line(address_of(planned.ref))}, in the manifest")
            lines += [f"# {on_one_line(note)}" for note in planned.identity]
    return "".join(f"{line}\n" for line in lines)


def _title(resource: Resource, after: str | None) -> str:
    value = _value(resource.text)
    names = ", ".join(address_of(reference(one)) for _, one in objects(value)) or resource.kind
    place = f"{resource.file}:{resource.line}" if resource.file else ""
    return " ".join(part for part in (names, f"({place})" if place else "", "removed" if after is None else "") if part)


def _lines(document: ChangedDocument) -> list[str]:
    """Write the unified diff of one document; line numbers count from its start."""
    before, after = ("" if text is None else _shown(text) for text in (document.before, document.after))
    old, new = (
        "/dev/null" if text is None else name for text, name in ((document.before, "input"), (document.after, "output"))
    )
    lines = list(unified_lines(before.splitlines(), after.splitlines()))
    head = [f"=== {on_one_line(document.title)}", f"--- {old}", f"+++ {new}"]
    return head + ([on_one_line(line.removesuffix("\r")) for line in lines] or [f"# {ONLY_MASKED}"])


def _value(text: str) -> Any:
    try:
        return parse(text).value
    except YamlError:
        return None


def _shown(text: str) -> str:
    """Mask the values of a text. A document that cannot be edited in place is written anew."""
    try:
        document = parse(text)
        changes = [Change(path, "set", shown) for path, shown in hidden(document.value)]
        return splice(document, changes).text if changes else text
    except YamlError:
        return "# (a text that cannot be read)\n"


def _painted(line: str, *, colour: bool) -> str:
    if not colour:
        return line
    if line.startswith(("===", "---", "+++")):
        return f"{BOLD}{line}{RESET}"
    paint = COLOURS.get(line[:1], "")
    return f"{paint}{line}{RESET}" if paint else line
