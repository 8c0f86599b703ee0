"""Combine facts into one ContrastRelease, and write it as a new file or into an existing one."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from krm_function.config.document import API_VERSION, CONFIG_KINDS, is_config
from krm_function.config.json_schema import modeline
from krm_function.config.release import NO_VERSION, Release, profile_of_version
from krm_function.config.release_files import MEASURED, POLICY_PROFILE, Fact
from krm_function.contrast.injected import INITIALIZER_IMAGE, SERVICE_MESH_IMAGE
from krm_function.contrast.manifest_merge import same_measurement
from krm_function.contrast.platforms import PLATFORMS
from krm_function.findings import Finding, Path, finding
from krm_function.krm.kube_object import LOCAL_CONFIG
from krm_function.kubernetes.image import CONTRAST
from krm_function.kubernetes.objects import dig, mapping, maps
from krm_function.record import NamedTuple
from krm_function.text.changes import Change
from krm_function.text.chunks import Chunk
from krm_function.text.errors import decode, encode
from krm_function.text.parse import parse
from krm_function.text.splice import splice
from krm_function.text.split import split_stream
from krm_function.text.writer import dump

# --- Warn about facts that a release lacks, and name their sources
#
# Rule: a warning, because a release may have one platform of several and no pod may use the mesh; but an error for the
# initializer, without which no workload can be rendered.


def missing(release: Release) -> tuple[Finding, ...]:
    """Return findings about missing facts: warnings about those that a render may need."""
    return tuple(_find_missing(release))


def _find_missing(release: Release) -> Iterator[Finding]:
    if not release.platforms:
        yield finding("CC1307.platform")
    for name, facts in release.platforms.items():
        if not facts.snp and not facts.tdx:
            yield finding("CC1307.reference-values", platform=name)
        for entry in facts.snp:
            if not entry.get("APEIP"):
                yield finding("CC1307.apeip", platform=name, product=entry["ProductName"])
        if PLATFORMS[name].rtmr0_by_vcpus and not facts.rtmr0_by_vcpu:
            yield finding("CC1307.rtmr0", platform=name)
    if INITIALIZER_IMAGE not in release.images:
        yield finding("CC0511", images=INITIALIZER_IMAGE)
    if SERVICE_MESH_IMAGE not in release.images:
        yield finding("CC1307.image", image=SERVICE_MESH_IMAGE)


# --- Combine the facts of several files and of an existing ContrastRelease into one release
#
# Rule: a contradiction is an error, never a choice. A release's facts never change, so an existing one must agree with
# the files; only a release of another version replaces it, and then as a whole.
#
#     the existing file      the files          the result
#     nothing                x                  x
#     x                      nothing            x; of another version: CC1306, it would be left over
#     x                      x                  x; of another version: CC1308 if it is a measurement
#     x                      y, same version    CC1301
#     x                      y, other version   y
#
# The policy profile is not in the files: it follows from the version and replaces the existing one.


ON_THE_COMMAND_LINE = "--release"
LONGEST = 64  # characters of a value that is shown whole
SHOWN, SHARED = 24, 8  # characters of a longer value; how many of them come before the first difference
MEASUREMENTS = frozenset(name for names in MEASURED.values() for name in names) - {"APEIP"}


class Combined(NamedTuple):
    """One release. facts: by path. earlier: the version of the existing release, "" for none."""

    facts: Mapping[Path, Fact]
    version: str
    earlier: str = ""
    findings: tuple[Finding, ...] = ()


def combine(stated: Iterable[Fact], existing: Iterable[Fact] = (), version: str = "") -> Combined:
    """Combine the facts of the files and of the existing release. version: from the command line, or ""."""
    findings: list[Finding] = []
    stated, existing = tuple(stated), tuple(existing)
    described = {fact.path[1] for fact in (*stated, *existing) if fact.path[0] == "platforms" and not fact.listed}
    stated = [fact for fact in stated if not fact.listed or fact.path[1] in described]
    of_call = [Fact(("version",), version, ON_THE_COMMAND_LINE)] if version else []
    new = _merge_files([*of_call, *stated], findings)
    old = {fact.path: fact for fact in existing if fact.path != POLICY_PROFILE}
    earlier = old[("version",)].value if ("version",) in old else ""
    now = new[("version",)].value if ("version",) in new else earlier
    if not now:
        findings.append(finding("CC1303"))
    if earlier in {"", now}:
        facts = _merge_existing(old, new, findings)
    else:
        facts = new
        findings += _find_left_over(old, new, earlier, now)
    facts |= _find_profile(facts.get(("version",)), findings)
    facts, left_out = _drop_without_handler(facts)
    findings += [*left_out, *_check_suffixes(facts)]
    return Combined(facts, now or NO_VERSION, earlier, tuple(findings))


def _find_profile(version: Fact | None, findings: list[Finding]) -> dict[Path, Fact]:
    if version is None or version.value == NO_VERSION:
        return {}
    profile, problems = profile_of_version(version.value)
    findings += [problem._replace(file=version.file, line=version.line) for problem in problems]
    return {POLICY_PROFILE: version._replace(path=POLICY_PROFILE, value=profile.name)} if profile else {}


def _merge_files(stated: Iterable[Fact], findings: list[Finding]) -> dict[Path, Fact]:
    """Take each fact once. Two sources that disagree are an error, unless one of them is weak."""
    facts: dict[Path, Fact] = {}
    for fact in stated:
        known_fact = facts.get(fact.path)
        if known_fact is None or (known_fact.weak and not fact.weak):
            facts[fact.path] = fact
        elif not fact.weak and not same_measurement(fact.value, known_fact.value):
            findings.append(_report_contradiction(known_fact, fact))
    return facts


def _merge_existing(old: Mapping[Path, Fact], new: Mapping[Path, Fact], findings: list[Finding]) -> dict[Path, Fact]:
    for path, fact in new.items():
        if path in old and not fact.weak and not same_measurement(fact.value, old[path].value):
            findings.append(_report_contradiction(old[path], fact))
    return {**new, **old}


def _report_contradiction(fact: Fact, second_fact: Fact) -> Finding:
    first, second = _shorten_pair(_write_value(fact.value), _write_value(second_fact.value))
    return finding(
        "CC1301",
        field=second_fact.field,
        first=first,
        one=fact.file,
        second=second,
        other=second_fact.file,
        file=second_fact.file,
        line=second_fact.line,
    )


def _write_value(value: object) -> str:
    return str(value) if isinstance(value, str) else ", ".join(f"{k}: {v}" for k, v in sorted(_list_items(value)))


def _shorten_pair(first: str, second: str) -> tuple[str, str]:
    """Shorten two long texts to their differences, with a little common text before."""
    if max(len(first), len(second)) <= LONGEST:
        return first, second
    differing = (at for at, (a, b) in enumerate(zip(first, second, strict=False)) if a != b)
    shared = next(differing, min(len(first), len(second)))
    start = shared - SHARED if shared > SHOWN else 0
    return _cut_part(first, start), _cut_part(second, start)


def _cut_part(text: str, start: int) -> str:
    end = start + SHOWN
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def _list_items(value: object) -> list[tuple[str, str]]:
    return [(str(key), str(item)) for key, item in value.items()] if isinstance(value, dict) else [("", str(value))]


def _find_left_over(old: Mapping[Path, Fact], new: Mapping[Path, Fact], earlier: str, now: str) -> list[Finding]:
    """Return findings for facts that only the old release has, and for measurements that did not change."""
    findings: list[Finding] = []
    groups = {_name_group(fact): fact for path, fact in old.items() if path not in new and _is_of_the_release(fact)}
    for field, fact in groups.items():
        findings.append(finding("CC1306", field=field, before=earlier, now=now, file=fact.file, line=fact.line))
    for path, fact in new.items():
        if fact.path[-1] in MEASUREMENTS and path in old and same_measurement(fact.value, old[path].value):
            findings.append(
                finding("CC1308", field=fact.field, before=earlier, now=now, file=fact.file, line=fact.line)
            )
    return findings


def _name_group(fact: Fact) -> str:
    """Return the name to report: a platform's reference values or RTMR0 table as a whole, else the fact itself."""
    if fact.path[0] != "platforms" or fact.path[2] in {"handler", "overhead"}:
        return fact.field
    part = "rtmr0ByVCPU" if fact.path[2] == "rtmr0ByVCPU" else "referenceValues"
    return f"platforms.{fact.path[1]}.{part}"


def _is_of_the_release(fact: Fact) -> bool:
    """Tell whether a fact belongs to one release only: all but images of other publishers."""
    return fact.path[0] != "images" or str(fact.path[1]).startswith(f"{CONTRAST}/")


def _drop_without_handler(facts: Mapping[Path, Fact]) -> tuple[dict[Path, Fact], list[Finding]]:
    """Drop the facts of platforms whose handler is unknown, as they cannot be used."""
    with_handler = {path[1] for path in facts if path[0] == "platforms" and path[2] == "handler"}
    usable = {path: fact for path, fact in facts.items() if path[0] != "platforms" or path[1] in with_handler}
    lost: dict[str, Fact] = {str(path[1]): fact for path, fact in facts.items() if path not in usable}
    findings = [
        finding("CC1305.handler", file=fact.file, what=f"platform {name}", platform=name)
        for name, fact in sorted(lost.items())
    ]
    return usable, findings


def _check_suffixes(facts: Mapping[Path, Fact]) -> list[Finding]:
    """Find handlers with different endings; all of a release are equal (docs/facts/contrast.md#runtime-class-names)."""
    handlers = [fact for path, fact in facts.items() if path[-1] == "handler"]
    first = next(iter(handlers), None)
    return [
        finding("CC1302", one=first.value, other=fact.value, file=fact.file, line=fact.line)
        for fact in handlers
        if first and fact.value.rpartition("-")[2] != first.value.rpartition("-")[2]
    ]


# --- Write a ContrastRelease, a new file or an existing one updated in place; and read one back as facts
#
# Rule: an update changes values and adds missing ones; comments, order and unknown fields stay.


KIND = CONFIG_KINDS[1]
HEAD = """# The facts of one Contrast release. Written by `contrast-krm release import`; comments of yours stay.
# Whoever can change this file decides what the deployment accepts: review it, and take its sources over a channel that
# you trust.
"""


Existing = tuple[dict[str, Any], Chunk]
"""The ContrastRelease document of a file: its value, and its place in the text."""


def existing(data: bytes) -> Existing | None:
    """Find the only ContrastRelease of a file; None if there is none. Raises YamlError, and ValueError for a second."""
    text = decode(data).text
    documents: list[Existing] = []
    for chunk in split_stream(text):
        if chunk.kind == KIND and is_config(chunk.api_version):
            value = parse(chunk.of(text), line=chunk.line).value
            documents.append((mapping(value), chunk))
    if len(documents) > 1:
        raise ValueError("it has two objects of kind ContrastRelease")
    return documents[0] if documents else None


def new_text(release: Combined, schema: str = "") -> bytes:
    """Write a new file. schema: location of the JSON Schema for editors, "" for no such line."""
    metadata = {"name": release.version, "annotations": {LOCAL_CONFIG: "true"}}
    value = {"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "spec": _make_spec(release, {})}
    return (modeline(schema) + HEAD + dump(value)).encode()


def updated_text(release: Combined, data: bytes, old: Existing) -> bytes:
    """Update the document of the release in the bytes of a file. Raises YamlError."""
    source = decode(data)
    value, chunk = old
    document = parse(chunk.of(source.text), line=chunk.line)
    old_spec = mapping(value.get("spec"))
    changes = list(_find_changes(old_spec, _make_spec(release, old_spec), ("spec",)))
    name = mapping(value.get("metadata")).get("name")
    if name in {release.earlier, NO_VERSION} and name != release.version:  # a user's own name stays
        changes.append(Change(("metadata", "name"), "set", release.version))
    if not changes:
        return data
    return encode(chunk.replaced(source.text, splice(document, changes).text), source.bom)


def _make_spec(release: Combined, old_spec: Mapping[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = _copy(old_spec)
    spec["version"] = release.version
    if POLICY_PROFILE in release.facts:
        spec["policyProfile"] = release.facts[POLICY_PROFILE].value
    spec["platforms"] = mapping(spec.get("platforms"))
    for path, fact in release.facts.items():
        match path:
            case ("platforms", str() as platform, *rest):
                _put(spec["platforms"].setdefault(platform, {}), platform, rest, fact)
            case ("images", str() as image):
                spec["images"] = mapping(spec.get("images")) | {image: fact.value}
            case _:
                pass
    order = [name for name in PLATFORMS if name in spec["platforms"]]
    spec["platforms"] = {name: spec["platforms"][name] for name in order}
    return spec


def _put(facts: dict[str, Any], platform: str, path: list[str | int], fact: Fact) -> None:
    if path[0] not in {"snp", "tdx"}:
        key, value = str(path[0]), fact.value
        facts[key] = mapping(facts.get(key)) | {str(path[1]): value} if len(path) > 1 else value
        return
    tee, product, field, *index = path
    entries = facts.setdefault("referenceValues", {}).setdefault(str(tee), [])
    entry: dict[str, Any] = next((old for old in entries if (old.get("ProductName") or "") == product), {})
    if not entry:
        entry |= {"Platform": PLATFORMS[platform].marker} | ({"ProductName": product} if product else {})
        entries.append(entry)
    if index:
        values = entry.setdefault(str(field), [])
        values[len(values) :] = [""] * (int(index[0]) + 1 - len(values))
        values[int(index[0])] = fact.value
    else:
        entry[str(field)] = fact.value


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value


def _find_changes(old: Any, new: Any, path: Path) -> Iterator[Change]:
    """Yield the changes from one spec to the other; nothing is ever removed. Numeric keys stay as written."""
    if isinstance(old, dict) and isinstance(new, dict) and old:
        written = {str(key): key for key in old}
        for key, value in new.items():
            if key not in written:
                yield Change((*path, key), "set", value)
            else:
                yield from _find_changes(old[written[key]], value, (*path, written[key]))
    elif isinstance(old, list) and isinstance(new, list) and old:
        for index, value in enumerate(new):
            if index < len(old):
                yield from _find_changes(old[index], value, (*path, index))
            else:
                yield Change((*path, index), "insert", value)
    elif old != new:
        yield Change(path, "set", new)


def known_facts(value: Any, file: str, line: int = 0) -> tuple[Fact, ...]:
    """Return the facts of a valid ContrastRelease, without its placeholder version."""
    spec = mapping(mapping(value).get("spec"))
    return tuple(
        Fact(path, value_found, file, line)
        for path, value_found in _read_facts(spec)
        if value_found not in (None, NO_VERSION)
    )


def _read_facts(spec: dict[str, Any]) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    yield ("version",), spec.get("version")
    yield POLICY_PROFILE, spec.get("policyProfile")
    for name, facts in mapping(spec.get("platforms")).items():
        of_platform = ("platforms", name)
        tee = PLATFORMS[name].tee
        yield (*of_platform, "handler"), mapping(facts).get("handler")
        yield (*of_platform, "overhead"), mapping(facts).get("overhead")
        for entry in maps(dig(facts, ("referenceValues", tee))):
            place = (*of_platform, tee, entry.get("ProductName") or "")
            for field in MEASURED[tee]:
                if field == "Rtmrs":
                    yield from (((*place, field, index), value) for index, value in enumerate(entry.get(field) or ()))
                else:
                    yield (*place, field), entry.get(field)
        yield from (
            ((*of_platform, "rtmr0ByVCPU", str(count)), value)
            for count, value in mapping(mapping(facts).get("rtmr0ByVCPU")).items()
        )
    yield from ((("images", name), image) for name, image in mapping(spec.get("images")).items())
