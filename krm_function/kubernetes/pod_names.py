"""The names of pods: how the API server and controllers make them, and the pattern of exactly these names.

The API server cuts a generated name to 58 characters and appends five random letters, so the hash, the time or the
dash before them may be cut away. Only the completion index of a Job survives: the Job controller shortens the name
before it. Names that a controller gives by itself, as for a StatefulSet, are never cut.

    kind                                           name of a pod                  cut
    Pod                                            NAME                           no
    ReplicaSet, ReplicationController, DaemonSet   NAME-XXXXX                     NAME-
    Deployment                                     NAME-HASH-XXXXX                NAME-HASH-
    Job                                            NAME-XXXXX                     NAME-
    Job, Indexed                                   NAME-INDEX-XXXXX               NAME
    CronJob                                        as a Job called NAME-MINUTES
    StatefulSet                                    NAME-ORDINAL                   no

An object that has a generateName gets the first 58 characters of it and five letters as its own NAME.
Source: docs/facts/kubernetes.md#names-of-pods.
"""

import re
from collections.abc import Callable, Iterable, Mapping

from krm_function.record import NamedTuple

LONGEST_LABEL = 63
LONGEST_BASE = 58  # characters of a generated name before its random letters


class Letters(NamedTuple):
    """Characters that only the cluster chooses. alphabet: as in a character class; the first one is a character."""

    alphabet: str
    least: int
    most: int

    def pattern(self, least: int = 0, most: int = 0) -> str:
        """Return the regex of these letters, or of a part of their possible lengths."""
        low, high = least or self.least, most or self.most
        count = f"{{{low},{high}}}" if low < high else f"{{{low}}}" if low > 1 else ""
        return f"[{self.alphabet}]{count}"


RANDOM = Letters("bcdfghjklmnpqrstvwxz2456789", 5, 5)
HASH = Letters("4-9bcdf", 1, 10)  # 32 bits as decimal digits, each written as one of ten letters
NUMBER = Letters("0-9", 1, 10)  # an ordinal or an index: 31 bits
MINUTES = Letters("0-9", 8, 8)  # since 1970, from 1989 to 2160

Parts = tuple[str | Letters, ...]


class PodName(NamedTuple):
    """How the names of pods are made.

    is_generated: the API server cuts the parts and appends random letters. is_indexed: a Job's index comes before them.
    """

    parts: Parts
    is_generated: bool = False
    is_indexed: bool = False


# kind -> the longest name that still gets pods, and why
_LONGEST_NAMES: Mapping[str, tuple[int, str]] = {
    "StatefulSet": (52, "pods have the name and a hash in the label controller-revision-hash"),
    "Job": (63, "pods have the name in the label job-name"),
    "CronJob": (52, "Jobs have the name and the time"),
}


def pod_name(kind: str, name: str, *, is_generated: bool = False, is_indexed: bool = False) -> PodName:
    """Return how the pods of an object of one of the eight kinds are named.

    name: of the object, or its generateName if `is_generated`. is_indexed: whether its Jobs have completion indexes.
    """
    base: Parts = (name[:LONGEST_BASE], RANDOM) if is_generated else (name,)
    match kind:
        case "ReplicaSet" | "ReplicationController" | "DaemonSet":
            return PodName((*base, "-"), is_generated=True)
        case "Deployment":
            return PodName((*base, "-", HASH, "-"), is_generated=True)
        case "StatefulSet":
            return PodName((*base, "-", NUMBER))
        case "Job" | "CronJob":
            base = (*base, "-", MINUTES) if kind == "CronJob" else base
            return PodName(base if is_indexed else (*base, "-"), is_generated=True, is_indexed=is_indexed)
        case _:
            return PodName(base)


def kata_pattern(kind: str, name: str, *, is_generated: bool = False) -> str:
    """Return the wider regex that genpolicy writes, and contrast-krm before 0.2: no name is cut, and dots match any.

    Source: docs/facts/kata.md#sandbox-names.
    """
    letters, digits = f"[{RANDOM.alphabet}]+", f"[{NUMBER.alphabet}]+"
    base = f"{_escape(name)}{letters}" if is_generated else name
    match kind:
        case "ReplicaSet" | "ReplicationController" | "DaemonSet":
            return f"{base}-{letters}"
        case "Deployment":
            return f"{base}-{letters}-{letters}"
        case "StatefulSet":
            return f"{base}-{digits}"
        case "Job":
            return f"{base}(-{digits})?-{letters}"
        case "CronJob":
            return f"{base}-{digits}(-{digits})?-{letters}"
        case _:
            return base


def longest_name(kind: str, completions: int = 0) -> tuple[int, str]:
    """Return the length of the longest name that still gets pods, 0 for any; and the reason.

    completions: of Jobs whose pods have an index, else 0.
    """
    limit, reason = _LONGEST_NAMES.get(kind, (0, ""))
    if not completions:
        return limit, reason
    host_name = LONGEST_LABEL - len(f"-{completions - 1}") - (len("-") + MINUTES.most if kind == "CronJob" else 0)
    return (
        (host_name, "pods have the name of the Job and the index as their host name")
        if host_name < limit
        else (limit, reason)
    )


def make_name(form: PodName, choose: Callable[[Letters], str]) -> str:
    """Make one name. choose: returns the letters that the cluster chooses."""
    base = "".join(part if isinstance(part, str) else choose(part) for part in form.parts)
    if not form.is_generated:
        return base
    index = f"-{choose(NUMBER)}-" if form.is_indexed else ""
    return f"{base[: LONGEST_BASE - len(index)]}{index}{choose(RANDOM)}"


def sample_names(form: PodName) -> list[str]:
    """Return a name for each length that the letters of the cluster may have."""
    return [
        make_name(form, lambda letters: letters.alphabet[0] * min(max(count, letters.least), letters.most))  # noqa: B023
        for count in range(1, NUMBER.most + 1)
    ]


def name_pattern(form: PodName) -> str:
    """Return the regex, without anchors, of the names that `make_name` can make."""
    if not form.is_generated:
        return _cut_pattern(form.parts, sum(_longest(part) for part in form.parts))
    if not form.is_indexed:
        return _cut_pattern(form.parts, LONGEST_BASE) + RANDOM.pattern()
    heads = _group_runs(
        range(NUMBER.least, NUMBER.most + 1), lambda count: _cut_pattern(form.parts, LONGEST_BASE - count - 2)
    )
    return _join_alternatives(f"{head}-{NUMBER.pattern(*counts)}-" for head, counts in heads) + RANDOM.pattern()


def _cut_pattern(parts: Parts, room: int) -> str:
    """Return the regex of the first `room` characters of the parts."""
    if sum(map(_longest, parts)) <= room:
        return "".join(_escape(part) if isinstance(part, str) else part.pattern() for part in parts)
    if room <= 0:
        return ""
    first, rest = parts[0], parts[1:]
    if isinstance(first, str):
        return _escape(first[:room]) + _cut_pattern(rest, room - len(first))
    counts = range(min(first.least, room), min(first.most, room) + 1)
    tails = _group_runs(counts, lambda count: _cut_pattern(rest, room - count))
    return _join_alternatives(first.pattern(*lengths) + tail for tail, lengths in tails)


def _group_runs(counts: Iterable[int], text_of: Callable[[int], str]) -> list[tuple[str, tuple[int, int]]]:
    """Group neighbouring counts with equal texts: each text with its first and last count."""
    runs: list[tuple[str, tuple[int, int]]] = []
    for count in counts:
        text = text_of(count)
        low = runs.pop()[1][0] if runs and runs[-1][0] == text else count
        runs.append((text, (low, count)))
    return runs


def _join_alternatives(patterns: Iterable[str]) -> str:
    alternatives = list(patterns)
    return alternatives[0] if len(alternatives) == 1 else f"(?:{'|'.join(alternatives)})"


def _longest(part: str | Letters) -> int:
    return len(part) if isinstance(part, str) else part.most


def _escape(text: str) -> str:
    return re.escape(text).replace(r"\-", "-")  # a dash has no meaning, and a name can be read
