"""Find the manifest of rendered output, validate it and compare it with that of another render.

Rule of this file: a manifest is signed and compared byte for byte, so other bytes are another manifest; the fields that
differ are named for people.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from krm_function.checking.paths_text import paths_text
from krm_function.findings import Finding, Path, finding
from krm_function.manifest.decode import ManifestError, decode
from krm_function.manifest.last_of import last_of
from krm_function.manifest.validate import validate
from krm_function.record import NamedTuple
from krm_function.stages.manifest_config_map import manifest_of
from krm_function.yamltext.comparison import differing_paths

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
    emitted = [text.encode("utf-8") for text in map(manifest_of, values) if text is not None]
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
