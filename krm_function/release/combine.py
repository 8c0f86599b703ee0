"""Combine the facts of several files and of an existing ContrastRelease into one release.

Rule of this file: a contradiction is an error, never a choice. A release's facts never change, so an existing one must
agree with the files; only a release of another version replaces it, and then as a whole.

    the file there says    the files say      the result
    nothing                x                  x
    x                      nothing            x; of another version: CC1306, it would be left over
    x                      x                  x; of another version: CC1308 if it is a measurement
    x                      y, same version    CC1301
    x                      y, other version   y

The policy profile is in no file: it follows from the version, in place of whatever stood there.
"""

from collections.abc import Iterable, Mapping

from krm_function.api.profile_of_version import profile_of_version
from krm_function.findings import Finding, Path, finding
from krm_function.manifest.merge_reference_values import same_measurement
from krm_function.model.image import CONTRAST
from krm_function.record import NamedTuple
from krm_function.release.facts import MEASURED, NO_VERSION, POLICY_PROFILE, Fact

ON_THE_COMMAND_LINE = "--release"
LONGEST = 64  # characters of a value that is told whole
SHOWN, SHARED = 24, 8  # of a longer one; how many of them before the first that differs
MEASUREMENTS = frozenset(name for names in MEASURED.values() for name in names) - {"APEIP"}


class Combined(NamedTuple):
    """One release. facts: by path. before: the version of the existing release, "" for none."""

    facts: Mapping[Path, Fact]
    version: str
    before: str = ""
    findings: tuple[Finding, ...] = ()


def combine(stated: Iterable[Fact], existing: Iterable[Fact] = (), version: str = "") -> Combined:
    """Combine the facts of the files and of the existing release. version: of the command line, or ""."""
    findings: list[Finding] = []
    of_call = [Fact(("version",), version, ON_THE_COMMAND_LINE)] if version else []
    new = _once([*of_call, *stated], findings)
    old = {fact.path: fact for fact in existing if fact.path != POLICY_PROFILE}
    before = old[("version",)].value if ("version",) in old else ""
    now = new[("version",)].value if ("version",) in new else before
    if not now:
        findings.append(finding("CC1303"))
    if before in {"", now}:
        facts = _added(old, new, findings)
    else:
        facts = new
        findings += _left_over(old, new, before, now)
    facts |= _profile(facts.get(("version",)), findings)
    facts, left_out = _with_handlers(facts)
    findings += left_out
    findings += _one_suffix(facts)
    return Combined(facts, now or NO_VERSION, before, tuple(findings))


def _profile(version: Fact | None, findings: list[Finding]) -> dict[Path, Fact]:
    """Return the fact that follows from the version."""
    if version is None or version.value == NO_VERSION:
        return {}
    profile, problems = profile_of_version(version.value)
    findings += [problem._replace(file=version.file, line=version.line) for problem in problems]
    return {POLICY_PROFILE: version._replace(path=POLICY_PROFILE, value=profile.name)} if profile else {}


def _once(stated: Iterable[Fact], findings: list[Finding]) -> dict[Path, Fact]:
    """Take each fact once. Two sources that do not agree are an error, unless one of them is weak."""
    facts: dict[Path, Fact] = {}
    for fact in stated:
        other = facts.get(fact.path)
        if other is None or (other.weak and not fact.weak):
            facts[fact.path] = fact
        elif not fact.weak and not same_measurement(fact.value, other.value):
            findings.append(_contradiction(other, fact))
    return facts


def _added(old: Mapping[Path, Fact], new: Mapping[Path, Fact], findings: list[Finding]) -> dict[Path, Fact]:
    """Return the existing facts, and those that are new."""
    for path, fact in new.items():
        if path in old and not fact.weak and not same_measurement(fact.value, old[path].value):
            findings.append(_contradiction(old[path], fact))
    return {**new, **old}


def _contradiction(fact: Fact, other: Fact) -> Finding:
    first, second = _told_apart(_text(fact.value), _text(other.value))
    return finding(
        "CC1301",
        field=other.field,
        first=first,
        one=fact.file,
        second=second,
        other=other.file,
        file=other.file,
        line=other.line,
    )


def _text(value: object) -> str:
    return str(value) if isinstance(value, str) else ", ".join(f"{k}: {v}" for k, v in sorted(_items(value)))


def _told_apart(one: str, other: str) -> tuple[str, str]:
    """Shorten two long texts to what differs, with a little of what they share before it."""
    if max(len(one), len(other)) <= LONGEST:
        return one, other
    differing = (at for at, (here, there) in enumerate(zip(one, other, strict=False)) if here != there)
    shared = next(differing, min(len(one), len(other)))
    start = shared - SHARED if shared > SHOWN else 0
    return _part(one, start), _part(other, start)


def _part(text: str, start: int) -> str:
    """Return a part of a text, with marks where something is left out."""
    end = start + SHOWN
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def _items(value: object) -> list[tuple[str, str]]:
    return [(str(key), str(item)) for key, item in value.items()] if isinstance(value, dict) else [("", str(value))]


def _left_over(old: Mapping[Path, Fact], new: Mapping[Path, Fact], before: str, now: str) -> list[Finding]:
    """Return findings for facts that only the old release has, and for measurements that did not change."""
    findings: list[Finding] = []
    groups = {_group(fact): fact for path, fact in old.items() if path not in new and _is_of_the_release(fact)}
    for field, fact in groups.items():
        left_over = finding("CC1306", field=field, before=before, now=now, file=fact.file, line=fact.line)
        findings.append(left_over)
    for path, fact in new.items():
        if fact.path[-1] in MEASUREMENTS and path in old and same_measurement(fact.value, old[path].value):
            left_over = finding("CC1308", field=fact.field, before=before, now=now, file=fact.file, line=fact.line)
            findings.append(left_over)
    return findings


def _group(fact: Fact) -> str:
    """Return the name to report: a platform's reference values or its RTMR0 table as a whole, else the fact itself."""
    if fact.path[0] != "platforms" or fact.path[2] in {"handler", "overhead"}:
        return fact.field
    what = "rtmr0ByVCPU" if fact.path[2] == "rtmr0ByVCPU" else "referenceValues"
    return f"platforms.{fact.path[1]}.{what}"


def _is_of_the_release(fact: Fact) -> bool:
    """Tell whether a fact belongs to one release only: all but images of other publishers."""
    return fact.path[0] != "images" or str(fact.path[1]).startswith(f"{CONTRAST}/")


def _with_handlers(facts: Mapping[Path, Fact]) -> tuple[dict[Path, Fact], list[Finding]]:
    """Drop the facts of platforms whose handler is unknown, as they cannot be used."""
    named = {path[1] for path in facts if path[0] == "platforms" and path[2] == "handler"}
    kept = {path: fact for path, fact in facts.items() if path[0] != "platforms" or path[1] in named}
    lost: dict[str, Fact] = {str(path[1]): fact for path, fact in facts.items() if path not in kept}
    findings = [
        finding("CC1305.handler", file=fact.file, what=f"platform {name}", platform=name)
        for name, fact in sorted(lost.items())
    ]
    return kept, findings


def _one_suffix(facts: Mapping[Path, Fact]) -> list[Finding]:
    """Find handlers that do not end alike, as all of a release do (docs/facts/contrast.md#runtime-class-names)."""
    handlers = [fact for path, fact in facts.items() if path[-1] == "handler"]
    first = next(iter(handlers), None)
    return [
        finding("CC1302", one=first.value, other=fact.value, file=fact.file, line=fact.line)
        for fact in handlers
        if first and fact.value.rpartition("-")[2] != first.value.rpartition("-")[2]
    ]
