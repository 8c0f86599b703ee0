"""The changes of a render, object by object, as unified diffs."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any

from krm_function.kubernetes.address import address_of
from krm_function.kubernetes.objects import objects, reference
from krm_function.kubernetes.resource import Resource
from krm_function.record import NamedTuple
from krm_function.render.rendered import Rendered
from krm_function.report.findings import on_one_line
from krm_function.report.masking import hidden
from krm_function.text.changes import Change
from krm_function.text.errors import YamlError
from krm_function.text.parse import parse
from krm_function.text.splice import splice
from krm_function.text.writer import dump

# --- Unified diff of two texts in linear time
#
# Rule: lines that both texts have once, in the same order, are the same line (as in patience diff). The standard
# library, whose time is quadratic, compares only the parts between such lines.


CONTEXT = 3  # lines
Opcode = tuple[str, int, int, int, int]  # of difflib: operation; lines of the old text; lines of the new text


def unified_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a unified diff below its header, without line ends."""
    matcher = SequenceMatcher(None, "", "")
    matcher.opcodes = list(_join_opcodes(_compare(old, new)))  # type: ignore[attr-defined]  # which it then groups
    for group in matcher.get_grouped_opcodes(CONTEXT) if old or new else ():
        (_, first, _, into, _), (_, _, last, _, end) = group[0], group[-1]
        yield f"@@ -{_format_range(first, last)} +{_format_range(into, end)} @@"
        for tag, low, high, start, stop in group:
            if tag == "equal":
                yield from (f" {line}" for line in old[low:high])
                continue
            yield from (f"-{line}" for line in old[low:high])
            yield from (f"+{line}" for line in new[start:stop])


def _format_range(start: int, stop: int) -> str:
    """Format a range of lines as a hunk header: counted from 1; an empty range is after the previous line."""
    count = stop - start
    return f"{start + bool(count)}" if count == 1 else f"{start + bool(count)},{count}"


def _compare(old: Sequence[str], new: Sequence[str]) -> Iterator[Opcode]:
    edges = [(-1, -1), *_find_anchors(old, new), (len(old), len(new))]
    for (low, start), (high, stop) in pairwise(edges):
        old_part, new_part = old[low + 1 : high], new[start + 1 : stop]
        for tag, *(first, last, into, end) in SequenceMatcher(None, old_part, new_part).get_opcodes():
            yield tag, low + 1 + first, low + 1 + last, start + 1 + into, start + 1 + end
        if high < len(old):
            yield "equal", high, high + 1, stop, stop + 1


def _find_anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return the positions of lines that both texts have once: the longest series with ascending positions in both."""
    counts = Counter(old), Counter(new)
    places = {line: at for at, line in enumerate(new) if counts[1][line] == 1}
    shared = [(at, places[line]) for at, line in enumerate(old) if counts[0][line] == 1 and line in places]
    ends: list[int] = []  # by length of a series: the lowest last position in the new text
    series: list[int] = []  # the index of that pair
    above: list[int] = []  # for each pair, the index of the previous pair in its series
    for index, (_, place) in enumerate(shared):
        size = bisect_left(ends, place)
        ends[size : size + 1], series[size : size + 1] = [place], [index]
        above.append(series[size - 1] if size else -1)
    anchors: list[tuple[int, int]] = []
    index = series[-1] if series else -1
    while index >= 0:
        anchors.append(shared[index])
        index = above[index]
    return anchors[::-1]


def _join_opcodes(opcodes: Iterator[Opcode]) -> Iterator[Opcode]:
    for tag, group in groupby(opcodes, key=itemgetter(0)):
        steps = list(group)
        (_, low, _, start, _), (_, _, high, _, stop) = steps[0], steps[-1]
        yield tag, low, high, start, stop


# --- The changes of a render, object by object, as unified diffs of the YAML text
#
# Rule: the texts of input and output are compared, including comments. Hidden values are replaced in both texts first,
# so that no context line reveals them.


ONLY_MASKED = "only values that are not shown differ"
COLOURS = {"+": "\x1b[32m", "-": "\x1b[31m", "@": "\x1b[36m"}
BOLD, RESET = "\x1b[1m", "\x1b[0m"


class ChangedDocument(NamedTuple):
    """One document before and after a render, None where it does not exist. title: the header of its diff."""

    title: str
    old: str | None
    new: str | None


def changed_documents(resources: Sequence[Resource], rendered: Rendered) -> list[ChangedDocument]:
    """Return every document that a render would change, remove or add, in the order of the output."""
    documents = [
        ChangedDocument(_make_title(resource, text), resource.text, text)
        for resource, text in zip(resources, rendered.texts, strict=True)
        if text != resource.text
    ]
    return documents + [
        ChangedDocument(f"{address_of(reference(value))}, new", None, dump(value)) for value in rendered.added
    ]


def diff_text(documents: Iterable[ChangedDocument], *, colour: bool = False) -> str:
    """Return all diffs, each with a header; "" for none."""
    return "".join(_paint_line(line, colour=colour) + "\n" for document in documents for line in _diff_lines(document))


def identity_text(rendered: Rendered) -> str:
    """Return the grants of the manifest to workloads that the base lacks: a header for each, "" for none."""
    lines = []
    for workload in rendered.plan:
        if workload.identity:
            lines.append(f"=== {on_one_line(address_of(workload.ref))}, in the manifest")
            lines += [f"# {on_one_line(note)}" for note in workload.identity]
    return "".join(f"{line}\n" for line in lines)


def _make_title(resource: Resource, new: str | None) -> str:
    value = _read_value(resource.text)
    names = ", ".join(address_of(reference(value_of_object)) for _, value_of_object in objects(value)) or resource.kind
    place = f"{resource.file}:{resource.line}" if resource.file else ""
    return " ".join(part for part in (names, f"({place})" if place else "", "removed" if new is None else "") if part)


def _diff_lines(document: ChangedDocument) -> list[str]:
    old_text, new_text = ("" if text is None else _mask(text) for text in (document.old, document.new))
    old = "/dev/null" if document.old is None else "input"
    new = "/dev/null" if document.new is None else "output"
    lines = list(unified_lines(old_text.splitlines(), new_text.splitlines()))
    head = [f"=== {on_one_line(document.title)}", f"--- {old}", f"+++ {new}"]
    return head + ([on_one_line(line.removesuffix("\r")) for line in lines] or [f"# {ONLY_MASKED}"])


def _read_value(text: str) -> Any:
    try:
        return parse(text).value
    except YamlError:
        return None


def _mask(text: str) -> str:
    """Mask the values of a text. A document that cannot be edited in place is written again."""
    try:
        document = parse(text)
        changes = [Change(path, "set", shown) for path, shown in hidden(document.value)]
        return splice(document, changes).text if changes else text
    except YamlError:
        return "# (a text that cannot be read)\n"


def _paint_line(line: str, *, colour: bool) -> str:
    if not colour:
        return line
    if line.startswith(("===", "---", "+++")):
        return f"{BOLD}{line}{RESET}"
    paint = COLOURS.get(line[:1], "")
    return f"{paint}{line}{RESET}" if paint else line
