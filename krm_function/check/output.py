"""The documents and the manifest of rendered output, and what its workloads share in the manifest."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from krm_function.contrast.identity import Names, base_entries, key_of_derived, object_key
from krm_function.contrast.manifest import COORDINATOR, ManifestError, decode, short, validate
from krm_function.contrast.manifest_merge import last_of
from krm_function.findings import Finding, Path, dotted, finding
from krm_function.kubernetes.lookup import dig
from krm_function.kubernetes.objects import listed
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
# Rule: it is given paths only, never values, so that no value can get into a finding.


SHOWN = 4  # places in one sentence


def paths_text(paths: list[Path]) -> str:
    """Return the first paths as text, and how many more there are."""
    more = f" and {len(paths) - SHOWN} more" if len(paths) > SHOWN else ""
    return ", ".join(dotted(path) or "all of it" for path in paths[:SHOWN]) + more


# --- Parse the documents of rendered output that may have to do with Contrast
#
# Rule: a document is left unparsed only if nothing in it can be Contrast's. All names of Contrast's
# contain one of two words; YAML can hide a word only by an escape or a tag, so a text that has one of those is parsed,
# too.


LOOKED_AT = frozenset(("List", "RuntimeClass", "ConfigMap", "Secret"))  # beside those with pods
CONTRAST = "contrast"  # every name by which a pod can ask for Contrast has this in it, but for LEGACY
LEGACY = "kata-cc-isolation"
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


def parse_output(resources: Sequence[Resource]) -> Output:
    """Parse what may have to do with Contrast. CC1118: there is no document at all."""
    every: list[Resource] = []
    findings: list[Finding] = []
    for position, resource in enumerate(resources):
        every.append(resource)
        if not resource.may_have_pods and not resource.may_be(LOOKED_AT) and not _may_name_contrast(resource.text):
            continue
        try:
            every[-1] = resource.given()._replace(position=position)
        except YamlError as problem:
            findings.append(yaml_finding(problem, resource))
    if not findings and not any(map(_is_document, resources)):
        findings.append(finding("CC1118"))
    return Output(add_copies(every), tuple(findings))


def _may_name_contrast(text: str) -> bool:
    """Tell whether a text may hold a name of Contrast's."""
    folded = text.lower()
    return CONTRAST in folded or LEGACY in folded or ESCAPES.search(text) is not None


def _is_document(resource: Resource) -> bool:
    """Tell whether a text holds more than comments."""
    if resource.kind or resource.api_version or resource.name:
        return True
    try:
        return read_value(resource.text) is not None
    except YamlError:
        return True


def object_findings(output: Output) -> list[Finding]:
    """Check objects by themselves: an undo record that cannot be read, a wrong handler of a RuntimeClass."""
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
# Rule: a manifest is signed and compared byte for byte, so other bytes are another manifest; the fields
# that differ are named for people.


IN_THE_INPUT = "the input"
DIGEST = 16  # letters of one in a path


class ManifestFile(NamedTuple):
    """A manifest in a file of its own."""

    name: str
    data: bytes


class Manifests(NamedTuple):
    """All manifests as bytes, that of the file first. text, decoded: the one that counts, None when there is none."""

    file: ManifestFile | None
    texts: tuple[bytes, ...] = ()
    text: bytes = b""
    decoded: Mapping[str, Any] | None = None

    @property
    def place(self) -> str:
        """The file of the first one, "" for the input."""
        return self.file.name if self.file else ""


def find_manifests(file: ManifestFile | None, values: Sequence[Any]) -> tuple[Manifests, list[Finding]]:
    """Find the manifests of the file and of the output; CC0702 when the first is none.

    That of the file counts; without a file that of the release that was rendered last, see `last_of`, or the first one.
    """
    emitted = [text.encode("utf-8") for text in map(read_emitted_manifest, values) if text is not None]
    texts = (*([file.data] if file else []), *emitted)
    made = Manifests(file, texts)
    if not texts:
        return made, []
    text = texts[0] if file else last_of(texts) or texts[0]
    try:
        return made._replace(text=text, decoded=decode(text)), []
    except ManifestError as problem:
        return made, [finding("CC0702", field=made.place or "manifest.json", problem=str(problem), file=made.place)]


def manifest_problems(manifests: Manifests) -> list[Finding]:
    """Return what `contrast set` would refuse in the manifest alone."""
    if manifests.decoded is None:
        return []
    return manifest_findings(manifests.decoded)


def manifest_findings(manifest: Mapping[str, Any], file: str = "") -> list[Finding]:
    """Return what `contrast set` would refuse in a manifest; all values that are not filled in are one finding."""
    problems = validate(manifest)
    found = [finding("CC0702", field=one.field, problem=one.problem, file=file) for one in problems if not one.missing]
    empty = [one.field for one in problems if one.missing]
    return [*found, finding("CC0702.unfilled", field=", ".join(_shortened(empty)), file=file)] if empty else found


def _shortened(fields: Sequence[str]) -> Iterator[str]:
    """Yield the fields, each without the parent that it shares with the one before it: `a.b, .c`."""
    before = ""
    for field in fields:
        parent, _, name = field.rpartition(".")
        yield f".{name}" if parent == before else field
        before = parent


def differing_bytes(manifests: Manifests) -> list[Finding]:
    """Return a finding if there are two manifests of different bytes, unless one was the base of the other."""
    if len(set(manifests.texts)) < 2 or last_of(manifests.texts) == manifests.text:
        return []
    return [finding("CC1111", first=manifests.place or IN_THE_INPUT, second=IN_THE_INPUT)]


def differing_manifest(manifests: Manifests, again: bytes, *, sealed_otherwise: bool) -> list[Finding]:
    """Return where the manifest of another render differs; b"": that render makes none.

    sealed_otherwise: pods differ, so their digests in the manifest do as well and are not reported again.
    """
    if not manifests.texts or manifests.text == again:
        return []
    paths = differing_paths(manifests.decoded, decode(again) if again else {})
    others = [path for path in paths if not (sealed_otherwise and path[0] == "Policies")]
    return [finding("CC1113", fields=_fields_text(others), file=manifests.place)] if others or not paths else []


def manifest_difference(ours: str, theirs: str) -> str:
    """Name the fields in which two manifests differ; say so if one of the texts is no manifest."""
    try:
        first, second = decode(ours.encode("utf-8")), decode(theirs.encode("utf-8"))
    except ManifestError:
        return "one of them is no manifest"
    return _fields_text(differing_paths(first, second))


def _fields_text(paths: Sequence[Path]) -> str:
    return paths_text([_short(path) for path in paths]) if paths else "the same values in other bytes"


def _short(path: Path) -> Path:
    """Cut a digest in a path to its beginning."""
    if path[0] != "Policies" or len(path) < 2:
        return path
    digest = str(path[1])
    return (path[0], digest[:DIGEST] + ("…" if len(digest) > DIGEST else ""), *path[2:])


# --- Find what workloads of rendered output share in their manifest: the role of coordinator, names, secrets
#
# Rule: without the configuration nobody knows whether it is meant, so it is said as a warning. With it,
# the second render decides.


def shared_identities(sealed: Sequence[Workload], manifest: Mapping[str, Any] | None) -> Iterator[Finding]:
    """Yield CC0726 for each role, name and secret that several entries of the manifest have."""
    keys = {one.digest: object_key(one.ref.whole) for one in sealed if one.digest}
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
    told: set[frozenset[str]] = set()
    for name in dict.fromkeys(name for entry in entries for name in entry.names):
        alike = frozenset(names.holders(name))
        if len(alike) > 1 and alike not in told:
            told.add(alike)
            yield finding("CC0726.name", name=short(name), names=len(alike))
