"""The documents and the manifest of rendered output, and shared identities of workloads in the manifest."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from krm_function.contrast.class_in_text import CONTRAST, LEGACY
from krm_function.contrast.identity import Names, base_entries, key_of_derived, object_key
from krm_function.contrast.manifest import COORDINATOR, ManifestError, decode, short, validate
from krm_function.contrast.manifest_merge import last_of
from krm_function.findings import Finding, Path, dotted, finding
from krm_function.kubernetes.objects import dig, listed
from krm_function.kubernetes.resource import ObjectAt, Resource, yaml_finding
from krm_function.kubernetes.workload import ORIGINAL, Workload
from krm_function.record import NamedTuple
from krm_function.render.copies import add_copies
from krm_function.render.make_manifest import read_emitted_manifest
from krm_function.render.unsealed import check_handler
from krm_function.text.changes import differing_paths
from krm_function.text.errors import YamlError
from krm_function.text.parse import read_value
from krm_function.text.restore import read_undo

# --- Write the paths at which two values differ, for a finding
#
# Rule: the function gets paths only, never values, so that no value can get into a finding.


SHOWN = 4  # places in one sentence


def format_paths(paths: list[Path]) -> str:
    """Return the first paths as text, and the number of the rest."""
    rest = f" and {len(paths) - SHOWN} more" if len(paths) > SHOWN else ""
    return ", ".join(dotted(path) or "all of it" for path in paths[:SHOWN]) + rest


# --- Parse the documents of rendered output that may concern Contrast
#
# Rule: a document stays unparsed only if nothing in it can be Contrast's. All names of Contrast's contain one of two
# words; YAML can hide a word only by an escape or a tag, so a text with one of those is parsed, too.


LOOKED_AT = frozenset(("List", "RuntimeClass", "ConfigMap", "Secret"))  # beside those with pods
ESCAPES = re.compile("!|\\\\[xuU\r\n\x85\u2028\u2029]")  # a tag, a numeric escape, a word over two lines


class Output(NamedTuple):
    """The resources, of which some were parsed, and the findings of parsing."""

    resources: tuple[Resource, ...]
    findings: tuple[Finding, ...] = ()

    @property
    def parsed(self) -> Iterator[Resource]:
        """The resources that were parsed."""
        return (resource for resource in self.resources if resource.document is not None)

    def objects(self) -> Iterator[ObjectAt]:
        """Yield every object."""
        for resource in self.parsed:
            yield from resource.objects


def parse_output(resources: Sequence[Resource], *, all_kinds: bool = False) -> Output:
    """Parse the resources that may concern Contrast; all_kinds: each one. CC1118: there is no document at all."""
    parsed: list[Resource] = []
    findings: list[Finding] = []
    for position, resource in enumerate(resources):
        parsed.append(resource)
        may_concern = all_kinds or resource.may_have_pods or resource.may_be(LOOKED_AT)
        if not (may_concern or _may_name_contrast(resource.text)):
            continue
        try:
            parsed[-1] = resource.given()._replace(position=position)
        except YamlError as problem:
            findings.append(yaml_finding(problem, resource))
    if not findings and not any(map(_is_document, resources)):
        findings.append(finding("CC1118"))
    return Output(add_copies(parsed), tuple(findings))


def _may_name_contrast(text: str) -> bool:
    folded = text.lower()
    return CONTRAST in folded or LEGACY in folded or ESCAPES.search(text) is not None


def _is_document(resource: Resource) -> bool:
    if resource.kind or resource.api_version or resource.name:
        return True
    try:
        return read_value(resource.text) is not None
    except YamlError:
        return True


def check_objects(output: Output) -> list[Finding]:
    """Check objects by themselves: unreadable undo records, wrong handlers of RuntimeClasses."""
    findings: list[Finding] = []
    for resource, root, ref, value in output.objects():
        path = (*root, "metadata", "annotations", ORIGINAL)
        if resource.document is not None and dig(resource.value, path) is not None:
            try:
                read_undo(resource.document, path)
            except YamlError as problem:
                findings.append(yaml_finding(problem, resource, ref, path))
        if ref.kind == "RuntimeClass":
            findings += map(resource.placed, check_handler(ref, root, value))
    return findings


# --- Find the manifest of rendered output, validate it and compare it with that of another render
#
# Rule: a manifest is signed and compared byte for byte, so other bytes are another manifest; the finding names the
# fields that differ, for people.


IN_THE_INPUT = "the input"
DIGEST = 16  # letters of one in a path


class ManifestFile(NamedTuple):
    """A manifest in a file of its own."""

    name: str
    data: bytes


class Manifests(NamedTuple):
    """All manifests as bytes, the file's first. text, decoded: the one that counts, None without any."""

    file: ManifestFile | None
    texts: tuple[bytes, ...] = ()
    text: bytes = b""
    decoded: Mapping[str, Any] | None = None

    @property
    def place(self) -> str:
        """The file of the first one, "" for the input."""
        return self.file.name if self.file else ""


def find_manifests(file: ManifestFile | None, values: Sequence[Any]) -> tuple[Manifests, list[Finding]]:
    """Find the manifests of the file and of the output; CC0702 if the first is invalid.

    The file's counts; without a file, the manifest of the last rendered release (`last_of`), or else the first.
    """
    emitted = [text.encode("utf-8") for text in map(read_emitted_manifest, values) if text is not None]
    texts = (*([file.data] if file else []), *emitted)
    manifests = Manifests(file, texts)
    if not texts:
        return manifests, []
    text = texts[0] if file else last_of(texts) or texts[0]
    try:
        return manifests._replace(text=text, decoded=decode(text)), []
    except ManifestError as problem:
        return manifests, [
            finding("CC0702", field=manifests.place or "manifest.json", problem=str(problem), file=manifests.place)
        ]


def check_manifest_values(manifest: Mapping[str, Any], file: str = "") -> list[Finding]:
    """Return the problems for which `contrast set` would refuse a manifest; all unfilled values are one finding."""
    problems = validate(manifest)
    invalid = [problem for problem in problems if not problem.missing]
    findings = [finding("CC0702", field=problem.field, problem=problem.problem, file=file) for problem in invalid]
    if empty := [problem.field for problem in problems if problem.missing]:
        findings.append(finding("CC0702.unfilled", field=", ".join(_shorten_fields(empty)), file=file))
    return findings


def _shorten_fields(fields: Sequence[str]) -> Iterator[str]:
    """Yield the fields, each without the parent that it shares with the previous one: `a.b, .c`."""
    last_parent = ""
    for field in fields:
        parent, _, name = field.rpartition(".")
        yield f".{name}" if parent == last_parent else field
        last_parent = parent


def compare_bytes(manifests: Manifests) -> list[Finding]:
    """Return a finding if there are two manifests of different bytes, unless one was the base of the other."""
    if len(set(manifests.texts)) < 2 or last_of(manifests.texts) == manifests.text:
        return []
    return [finding("CC1111", first=manifests.place or IN_THE_INPUT, second=IN_THE_INPUT)]


def compare_manifest(manifests: Manifests, again: bytes, *, sealed_otherwise: bool) -> list[Finding]:
    """Return the differences from the manifest of another render; b"": that render makes none.

    sealed_otherwise: pods differ, so their digests in the manifest do as well and are not reported again.
    """
    if not manifests.texts or manifests.text == again:
        return []
    paths = differing_paths(manifests.decoded, decode(again) if again else {})
    rest = [path for path in paths if not (sealed_otherwise and path[0] == "Policies")]
    return [finding("CC1113", fields=format_fields(rest), file=manifests.place)] if rest or not paths else []


def describe_difference(ours: str, theirs: str) -> str:
    """Name the fields in which two manifests differ; report a text that is not a manifest."""
    try:
        first, second = decode(ours.encode("utf-8")), decode(theirs.encode("utf-8"))
    except ManifestError:
        return "one of them is not a manifest"
    return format_fields(differing_paths(first, second))


def format_fields(paths: Sequence[Path]) -> str:
    """Return the first paths of fields as text, digests cut; what differs without any."""
    return format_paths([_shorten(path) for path in paths]) if paths else "the same values in other bytes"


def _shorten(path: Path) -> Path:
    if path[0] != "Policies" or len(path) < 2:
        return path
    digest = str(path[1])
    return (path[0], digest[:DIGEST] + ("…" if len(digest) > DIGEST else ""), *path[2:])


# --- Find the role of coordinator, names and secrets that workloads of rendered output share in their manifest
#
# Rule: without the configuration, sharing may be intended, so it is a warning. With it, the second render decides.


def find_shared_identities(sealed: Sequence[Workload], manifest: Mapping[str, Any] | None) -> Iterator[Finding]:
    """Yield CC0726 for each role, name and secret that several entries of the manifest have."""
    keys = {workload.digest: object_key(workload.ref.whole) for workload in sealed if workload.digest}
    coordinators: list[str] = []
    secrets: dict[str, list[str]] = {}
    names = Names()
    entries = base_entries(manifest)
    for entry in entries:
        holder = keys.get(entry.digest) or key_of_derived(entry.secret) or entry.own_name
        if entry.role == COORDINATOR:
            coordinators.append(holder)
        if entry.secret and not (entry.digest in keys and holder in secrets.get(entry.secret, ())):
            secrets.setdefault(entry.secret, []).append(holder)  # the pods of one object share theirs
        for name in entry.names:
            names.add(name, keys.get(entry.digest, entry.digest))
    if len(coordinators) > 1:
        yield finding("CC0726.role", names=listed(coordinators))
    for secret, holders in secrets.items():
        if len(holders) > 1:
            yield finding("CC0726.secret", names=listed(holders), id=short(secret))
    reported: set[frozenset[str]] = set()
    for name in dict.fromkeys(name for entry in entries for name in entry.names):
        alike = frozenset(names.holders(name))
        if len(alike) > 1 and alike not in reported:
            reported.add(alike)
            yield finding("CC0726.name", name=short(name), names=len(alike))
