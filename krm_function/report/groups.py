"""Findings of one cause told as one: same code, same sentence, same remedy, at several places.

Rule of this file: for readers alone, so in text, on the plan's page and in SARIF. JSON, GitHub's commands and the
results of a ResourceList have each finding by itself, because programs count and place them.
"""

from collections.abc import Iterable

from krm_function.findings import Finding, dotted
from krm_function.record import NamedTuple
from krm_function.report.order import on_one_line, ordered


class Group(NamedTuple):
    """Findings that differ only in their places. found: the first in the order of a report; others: the rest."""

    found: Finding
    others: tuple[Finding, ...] = ()


def grouped(findings: Iterable[Finding]) -> list[Group]:
    """Group findings, in the order of the first of each group."""
    groups: dict[tuple[str, str, str, str], list[Finding]] = {}
    for found in ordered(findings):
        groups.setdefault((found.severity, found.code, sentence(found), found.hint), []).append(found)
    return [Group(first, tuple(others)) for first, *others in groups.values()]


def sentence(found: Finding) -> str:
    """Return the message of a finding on one line, without its field if it begins with that: the place is beside it."""
    field = dotted(found.path)
    subject, must, wanted = found.message.partition(" must ")
    if must and f".{field}".endswith(f".{subject}"):
        return on_one_line(f"must {wanted}")
    head, _, rest = found.message.partition(": ")
    named = found.ref is not None and head == f"{found.ref.kind} {found.ref.name}"
    place, _, said = rest.partition(": ") if named else (head, "", rest)
    if not said or not (field == place or field.endswith(f".{place}")):
        return on_one_line(found.message)
    return on_one_line(f"{head}: {said}" if named else said)
