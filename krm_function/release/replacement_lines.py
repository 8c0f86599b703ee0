"""Image replacements: lines `image = replacement`, as Contrast reads them.

Source: docs/facts/contrast.md#image-replacements.

Rule of this file: the grammar is Contrast's; in addition, a replacement must be pinned.
Contrast takes the last of two lines for one image; `release import` refuses them where they differ (combine.py).
"""

import re
from collections.abc import Iterator

from krm_function.findings import Finding, finding
from krm_function.model.image import CONTRAST, Image, parse_image
from krm_function.record import NamedTuple
from krm_function.release.facts import Fact, Facts
from krm_function.release.image_tags import version_facts

LINE = re.compile(r"[ \t]*([^\s=]+)[ \t]*=[ \t]*(\S+)[ \t]*")


class Replacement(NamedTuple):
    """One line, counted from 1. usable: whether it is `image = replacement`, and the replacement is pinned."""

    line: int
    image: str
    pinned: str
    usable: bool = True


def replacements(text: str) -> Iterator[Replacement]:
    """Yield every line that is no comment."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = LINE.fullmatch(line)
        image, pinned = match.groups() if match else ("", "")
        parsed = parse_image(pinned)
        usable = match is not None and isinstance(parsed, Image) and parsed.pinned
        yield Replacement(number, image, pinned, usable)


def looks_like_replacements(text: str) -> bool:
    """Tell whether the first line that is no comment has this form; no YAML file of a release begins so."""
    first = next(replacements(text), None)
    return first is not None and bool(first.image)


def replacement_facts(text: str, file: str) -> Facts:
    """Return the facts of an image-replacements file: images, and the release by the tags of Contrast's own."""
    facts: list[Fact] = []
    findings: list[Finding] = []
    versions: list[Fact] = []
    for entry in replacements(text):
        if not entry.usable:
            findings.append(finding("CC1304.replacement", file=file, line=entry.line))
            continue
        facts.append(Fact(("images", entry.image), entry.pinned, file, entry.line))
    for fact in facts:
        if str(fact.path[1]).startswith(f"{CONTRAST}/"):
            versions += version_facts([fact.value], file, fact.line)
    return Facts((*facts, *versions), tuple(findings))
