"""Collect the whole configuration of a render from all documents that may hold a part of it."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from krm_function.config.document import (
    API_VERSION,
    CONFIG_KINDS,
    ConfigDocument,
    config_reference,
    is_config,
    load_any,
    located,
    unknown_field,
    wrong_value,
)
from krm_function.config.generate import GENERATE, KIND, OPTIONAL, SHORT, Generate, parse_generate
from krm_function.config.image_lock import ImageFacts, parse_image_lock
from krm_function.config.release import Release, parse_release
from krm_function.findings import Finding, Path, Ref, finding, has_errors
from krm_function.kubernetes.objects import mapping
from krm_function.record import NamedTuple
from krm_function.schema.check import nearest
from krm_function.schema.values import Flag, ListOf, MapOf, Number, OneOrMany, Record, Spec, Text, Word

# --- The whole configuration of a render, and its records
#
# Rule: later code does not read the documents again. Each record is declared, field by field, in the module of its
# kind.


ACKNOWLEDGED = "CC0294"  # the info that a warning becomes
NO_RELEASE = "CC0903"  # the one configuration error that an input without Contrast workloads may have
OUTSIDE = ("CC0242", "CC0285", "CC0292")  # warnings of pods outside of a VM, or changed after they are sealed


class Config(NamedTuple):
    """The whole configuration of a render. images is None without an ImageLock.

    places: by object, the function that adds the position to a finding about it; only for objects from files. hidden:
    the host shows a warning only if the call fails.
    """

    generate: Generate
    release: Release
    images: Mapping[str, ImageFacts] | None = None
    places: Mapping[Ref, Callable[[Finding], Finding]] = MappingProxyType({})
    hidden: bool = False

    def report(self, problem: Finding) -> Finding:
        """Return a finding as it is reported; one about the configuration with its position in the file.

        severity    acknowledged    spec.warnings                          reported as
        warning     yes             either                                 CC0294, an info with the reason
        warning     no              error; or hidden, and one of OUTSIDE   an error
        otherwise                                                          it is
        """
        if problem.ref and problem.ref in self.places and not problem.line and problem.severity != "info":
            problem = self.places[problem.ref](problem)
        if problem.severity != "warning":
            return problem
        reason = next((entry.reason for entry in self.generate.acknowledged if entry.covers(problem)), "")
        if reason:
            accepted = finding(ACKNOWLEDGED, acknowledged=problem.code, message=problem.message, reason=reason)
            return problem._replace(code=accepted.code, severity="info", message=accepted.message, hint="")
        if self.generate.warnings == "report" and not (self.hidden and problem.code in OUTSIDE):
            return problem
        hint = f"{problem.hint}; or acknowledge {problem.code} in spec.acknowledged, with a reason"
        return problem._replace(severity="error", hint=hint.removeprefix("; or "))


def reported(config: Config | None, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings as the configuration has them reported; unchanged without one."""
    return tuple(map(config.report, findings)) if config else tuple(findings)


# --- Read a ConfigMap's string map, which `kpt fn eval ... -- key=value` makes, as a ContrastGenerate
#
# Source: docs/facts/krm-functions.md#function-configuration.
#
# Rule: a key is the dotted path of a field under `spec`, or one of a few short names; the text becomes the value of
# that field, and the reader of ContrastGenerate does the rest.


# Short names of the most common fields: `policy` for `policy.engine`.
SHORT_NAMES: Mapping[str, str] = {
    name: f"{name}.{inner}"
    for name, field in GENERATE.fields.items()
    if isinstance(field.spec, Record)
    for inner, field in field.spec.fields.items()
    if SHORT in field.marks
}
FIELDS = frozenset({"apiVersion", "kind", "metadata", "data", "immutable"})


def from_config_map(document: ConfigDocument) -> tuple[ConfigDocument | None, tuple[Finding, ...]]:
    """Make a ContrastGenerate document from a ConfigMap.

    None without data, which means no configuration: kpt sends `data: {}` if it was given none. Unknown keys, and one
    field given twice, are findings about the ConfigMap; then the document is None too.
    """
    root = mapping(document.value)
    findings = [
        unknown_field(document, "ConfigMap", (str(key),), nearest(str(key), FIELDS) or "data")
        for key in root
        if key not in FIELDS and root[key]
    ]
    data = root.get("data")
    if data is not None and not isinstance(data, dict):
        findings.append(wrong_value(document, "ConfigMap", ("data",), "must be a map", "write a map of strings"))
    spec: dict[str, Any] = {}
    sources: dict[Path, Path] = {}
    for key, text in mapping(data).items():
        source: Path = ("data", str(key))
        field_found = field_at(SHORT_NAMES.get(str(key), str(key)))
        if field_found is None:
            meant = nearest(str(key), (*_list_names(GENERATE), *SHORT_NAMES)) or "a field of ContrastGenerate"
            findings.append(unknown_field(document, "ConfigMap", source, meant))
            continue
        path, field = field_found
        if _overlaps(("spec", *path), sources):
            findings.append(wrong_value(document, "ConfigMap", source, "is given twice", "set the field once"))
        else:
            _insert(spec, path, coerce(field, text))
            sources["spec", *path] = source
    if findings:
        return None, tuple(findings)
    if not spec:
        return None, ()
    value = {"apiVersion": API_VERSION, "kind": KIND, "metadata": root.get("metadata"), "spec": spec}

    def locate(path: Path) -> tuple[int, int]:
        """Find the place of a field in the ConfigMap that it came from."""
        for end in range(len(path), 0, -1):
            if path[:end] in sources and document.locate:
                return document.locate(sources[path[:end]])
        return document.locate(path) if document.locate else (document.line, 0)

    return ConfigDocument(value, document.file, document.line, locate), ()


def field_at(key: str) -> tuple[tuple[str, ...], Spec] | None:
    """Return the path in the spec that a dotted key names, and its spec; free keys of a map may have dots."""
    spec: Spec = GENERATE
    path: tuple[str, ...] = ()
    parts = key.split(".")
    while parts:
        if isinstance(spec, OneOrMany):
            spec = spec.items
        if isinstance(spec, Record) and parts[0] in spec.fields:
            spec, path, parts = spec.fields[parts[0]].spec, (*path, parts[0]), parts[1:]
        elif isinstance(spec, MapOf):
            last = parts[-1:] if isinstance(spec.values, Record) else []
            name = ".".join(parts[: len(parts) - len(last)])
            spec, path, parts = spec.values, (*path, name), last
        else:
            return None
    return None if isinstance(spec, Record) else (path, spec)


def coerce(spec: Spec, text: Any) -> Any:
    """Convert a text to the type of this spec. A text that does not fit is returned for the reader to refuse."""
    if not isinstance(text, str):
        return text
    match spec:
        case Flag() | Word(spec=Flag()):
            return {"true": True, "false": False}.get(text.strip().lower(), text)
        case Number():
            digits = text.strip()
            return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 20 else text
        case ListOf(items=Text()):
            return [part.strip() for part in text.split(",") if part.strip()]
        case MapOf(values=Text()):
            pairs = [part.partition("=") for part in text.split(",") if part.strip()]
            return {name.strip(): value.strip() for name, equals, value in pairs} if all(p[1] for p in pairs) else text
        case ListOf() | MapOf() | OneOrMany():
            return _parse_json(text)
        case _:
            return text


def _parse_json(text: str) -> Any:
    """Parse a text as JSON; return the text itself if it is not JSON."""
    try:
        return load_any(text)
    except (ValueError, RecursionError):
        return text


def _insert(spec: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    for part in path[:-1]:
        spec = spec.setdefault(part, {})
    spec[path[-1]] = value


def _overlaps(path: Path, paths: Iterable[Path]) -> bool:
    """Tell whether `paths` has this field, a part of it, or a field that contains it."""
    return any(path[: len(taken_path)] == taken_path[: len(path)] for taken_path in paths)


def _list_names(spec: Record, prefix: str = "") -> list[str]:
    names: list[str] = []
    for name, field in spec.fields.items():
        names += _list_names(field.spec, f"{prefix}{name}.") if isinstance(field.spec, Record) else [prefix + name]
    return names


# --- Collect the configuration of a render from all documents that may hold a part of it
#
# Rule: no document of the group contrast-krm.dev is ignored. An unreadable document is an error, since a render without
# it would differ.


OTHER_MODE = {"render": "check", "check": "render"}


def options_in(document: ConfigDocument) -> dict[str, Any]:
    """Return the spec of a ContrastGenerate, or of a ConfigMap that replaces it, as written; {} for anything else."""
    config, _ = _read_configuration(document)
    value = mapping(config.value) if config else {}
    return mapping(value.get("spec")) if value.get("kind") == "ContrastGenerate" else {}


def collect(documents: Iterable[ConfigDocument], mode: str = "render") -> tuple[Config | None, tuple[Finding, ...]]:
    """Make the Config of a render; None if a finding is an error.

    mode: a ContrastGenerate of another mode is read, so that its faults are found, and then left to its own function.

    documents: of the group, or ConfigMaps with options; objects of other groups are skipped. The same object may come
    twice, as functionConfig and as item, and counts once. Without a ContrastGenerate its defaults apply; without a
    ContrastRelease there is no render; several ImageLocks are merged if they agree.
    """
    findings: list[Finding] = []
    by_kind: dict[str, list[ConfigDocument]] = {kind: [] for kind in CONFIG_KINDS}
    for document in documents:
        config, problems = _read_configuration(document)
        findings += problems
        if config is not None and options_in(config).get("mode", mode) == OTHER_MODE[mode]:
            findings += parse_generate(config)[1]
        elif config is not None:
            same = by_kind[mapping(config.value)["kind"]]
            if not any(_is_same_object(config, known_document) for known_document in same):
                same.append(config)
    for kind in ("ContrastGenerate", "ContrastRelease"):
        findings += [
            located(finding("CC0904", config_reference(document), kind=kind), document)
            for document in by_kind[kind][1:]
        ]
    generate: Generate | None = Generate()
    release: Release | None = None
    for document in by_kind["ContrastGenerate"][:1]:
        generate, problems = parse_generate(document)
        findings += problems
    for document in by_kind["ContrastRelease"][:1]:
        release, problems = parse_release(document)
        findings += problems
    images, problems = _merge_locks(by_kind["ImageLock"])
    findings += problems
    if not by_kind["ContrastRelease"]:
        findings.append(finding(NO_RELEASE))
        if generate is not None and set(generate.workloads) - {OPTIONAL}:
            selects = finding("CC0257", generate.ref, ("spec", "workloads"))
            findings += [located(selects, document) for document in by_kind["ContrastGenerate"][:1]]
    if generate is None or release is None or has_errors(findings):
        return None, tuple(findings)
    places = _make_places((*by_kind["ContrastGenerate"], *by_kind["ContrastRelease"]))
    return Config(generate, release, images, places), tuple(findings)


def _make_places(documents: Iterable[ConfigDocument]) -> Mapping[Ref, Callable[[Finding], Finding]]:
    """Return, by object, the function that gives a finding its position in the object's file."""
    return {
        config_reference(document)._replace(namespace=""): partial(located, document=document)
        for document in documents
        if document.file and document.locate
    }


def _read_configuration(document: ConfigDocument) -> tuple[ConfigDocument | None, tuple[Finding, ...]]:
    """Return the document if it is one of the three kinds, made from a ConfigMap if necessary."""
    ref = config_reference(document)
    if ref.api_version == "v1" and ref.kind == "ConfigMap":
        return from_config_map(document)
    if not is_config(ref.api_version) and ref.kind not in CONFIG_KINDS:
        return None, ()
    if ref.api_version != API_VERSION:
        problem = finding("CC0907", ref, ("apiVersion",), found=ref.api_version or "(none)")
        return None, (located(problem, document),)
    if ref.kind not in CONFIG_KINDS:
        suggestion = nearest(ref.kind, CONFIG_KINDS) or ", ".join(CONFIG_KINDS)
        problem = finding("CC0905", ref, ("kind",), kind=ref.kind or "(none)", suggestion=suggestion)
        return None, (located(problem, document),)
    return document, ()


def _is_same_object(first: ConfigDocument, second: ConfigDocument) -> bool:
    """Tell whether two documents are one object that was passed twice, apart from the orchestrator's annotations."""
    first_map, second_map = mapping(first.value), mapping(second.value)
    return (
        config_reference(first) == config_reference(second)
        and first_map.get("spec") == second_map.get("spec")
        and first_map.keys() == second_map.keys()
    )


def _merge_locks(documents: list[ConfigDocument]) -> tuple[dict[str, ImageFacts] | None, tuple[Finding, ...]]:
    findings: list[Finding] = []
    merged: dict[str, ImageFacts] = {}
    for document in documents:
        images, problems = parse_image_lock(document)
        findings += problems
        for name, facts in (images or {}).items():
            if merged.setdefault(name, facts) != facts:
                findings.append(_report_conflict(document, name))
    return (merged if documents else None), tuple(findings)


def _report_conflict(document: ConfigDocument, name: str) -> Finding:
    ref = config_reference(document)
    values: dict[str, Any] = {
        "field": f"spec.images of {name}",
        "problem": "another ImageLock has a different entry",
        "remedy": "keep one of the two entries",
    }
    return located(finding("CC0901", ref, ("spec", "images", name), kind=ref.kind, name=ref.name, **values), document)
