"""Facts from the files of a Contrast release, each recognised by its content."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from krm_function.config.document import is_config, load_object
from krm_function.config.release import VERSION
from krm_function.contrast import manifest
from krm_function.contrast.injected import INITIALIZER, INITIALIZER_IMAGE, SERVICE_MESH, SERVICE_MESH_IMAGE
from krm_function.contrast.manifest import PRODUCTS, ManifestError, decode
from krm_function.contrast.platforms import PLATFORMS, Platform, is_placeholder, parse_runtime_class
from krm_function.findings import Finding, Path, finding
from krm_function.kubernetes.image import CONTRAST, Image, is_pinned, parse_image
from krm_function.kubernetes.kinds import template_paths
from krm_function.kubernetes.objects import dig, listed, mapping, maps, objects, reference
from krm_function.kubernetes.resource import yaml_finding
from krm_function.kubernetes.workload import COORDINATOR, POD_ROLE
from krm_function.record import NamedTuple
from krm_function.text.errors import YamlError
from krm_function.text.errors import decode as decode_text
from krm_function.text.parse import parse
from krm_function.text.split import split_stream

# --- One fact about a release, and its place
#
# Rule: a path identifies the fact, so that the same fact of two files can be compared.
#
#     path                                            value
#     version                                         "v1.25.0"
#     policyProfile                                   "contrast-1.25", derived from the version
#     platforms, <platform>, handler                  "contrast-cc-<platform>-<hash>"
#     platforms, <platform>, overhead                 {"memory": "682Mi"}
#     platforms, <platform>, snp, Milan, <field>      a measured value of the entry for this product
#     platforms, <platform>, tdx, "", <field>         a measured value of the entry
#     platforms, <platform>, tdx, "", Rtmrs, <n>      one of the four
#     platforms, <platform>, rtmr0ByVCPU, "<n>"       RTMR0 for n vCPUs
#     images, <image as a pod names it>               the pinned image


POLICY_PROFILE: Path = ("policyProfile",)
MEASURED = {
    tee: tuple(
        name for name, field in entry.fields.items() if manifest.MEASURED in field.marks and name != "Rtmr0Alternatives"
    )
    for tee, entry in manifest.ENTRIES.items()
}


class Fact(NamedTuple):
    """One fact. weak: it depends on more than the release, so any other source is preferred.

    listed: of a platform that the file only lists among all of the release, so it counts if another file has that
    platform.
    """

    path: Path
    value: Any
    file: str
    line: int = 0
    weak: bool = False
    listed: bool = False

    @property
    def field(self) -> str:
        """The path as text: `platforms.metal-qemu-snp.handler`, `platforms.metal-qemu-snp.Milan.APEIP`."""
        return ".".join(str(part) for part in self.path if part not in {"snp", "tdx", ""})


class Facts(NamedTuple):
    """The facts of one file."""

    facts: tuple[Fact, ...] = ()
    findings: tuple[Finding, ...] = ()


# --- Tell the release from the tags of its images
#
# Rule: only a tag that looks like a version counts; `latest` and a digest alone do not.


def version_facts(images: Iterable[Any], file: str, line: int) -> tuple[Fact, ...]:
    """Return the versions in image references."""
    parsed = [parse_image(image) for image in images if isinstance(image, str)]
    tags = [image.tag for image in parsed if isinstance(image, Image)]
    return tuple(Fact(("version",), tag, file, line) for tag in dict.fromkeys(tags) if re.fullmatch(VERSION, tag))


# --- Containers of Contrast in resources: their images, and the release by the tags
#
# The coordinator is in coordinator.yml; `contrast generate` writes the others into the user's resources.
#
# Rule: only a pinned image is a fact. Source: docs/facts/contrast.md#coordinator-file, #initializer, #service-mesh.


IMAGE = f"{CONTRAST}/{COORDINATOR}:latest"  # the name in coordinator.yml before a release
INJECTED = {INITIALIZER: INITIALIZER_IMAGE, SERVICE_MESH: SERVICE_MESH_IMAGE}


def is_coordinator(value: dict[str, Any]) -> bool:
    """Tell whether an object is the coordinator's StatefulSet, by label or, before mid-2026, by annotation."""
    metadata = ("spec", "template", "metadata")
    roles = [dig(value, (*metadata, place, POD_ROLE)) for place in ("labels", "annotations")]
    return value.get("kind") == "StatefulSet" and COORDINATOR in roles


def container_facts(value: dict[str, Any], file: str, line: int) -> Facts | None:
    """Return the facts of Contrast's containers in an object with pod templates; None if it has no such container."""
    lists = {"initContainers": INJECTED, "containers": {COORDINATOR: IMAGE} if is_coordinator(value) else {}}
    images = [
        (names[str(entry["name"])], str(entry.get("image")))
        for template in template_paths(str(value.get("kind")), value)
        for part, names in lists.items()
        for entry in maps(dig(value, (*template, "spec", part)))
        if str(entry.get("name")) in names
    ]
    facts = [Fact(("images", name), image, file, line) for name, image in images if is_pinned(image)]
    versions = version_facts([image for _, image in images], file, line)
    return Facts((*versions, *facts)) if images else None


# --- Measurements: the reference values of a manifest.json, or of Contrast's CLI
#
# Rule: only a release's measurements are read; an operator's values belong to the ContrastGenerate.
# Sources: docs/facts/contrast-manifest.md#manifest, docs/facts/contrast-manifest.md#release-measurements (an object by
# handler), docs/facts/contrast-manifest.md#rtmr0.


MARKERS = {platform.marker: platform for platform in PLATFORMS.values()}
OPERATORS = {"snp": ("MinimumTCB", "AllowedChipIDs", "MinimumMitigationVector"), "tdx": ("MrSeam", "AllowedPIIDs")}


class MeasuredEntry(NamedTuple):
    """One entry of `snp` or `tdx`; field: its name for people."""

    platform: Platform
    product: str
    value: Mapping[str, Any]
    field: str


def is_by_handler(value: Mapping[str, Any]) -> bool:
    """Tell whether every key is a runtime handler."""
    meant = [parse_runtime_class(key) if not is_placeholder(key) else None for key in value]
    return bool(meant) and all(isinstance(platform, Platform) for platform in meant)


def handler_facts(value: Mapping[str, Any], file: str) -> Facts:
    """Return the facts of the CLI's reference values."""
    facts: list[Fact] = []
    for handler, values in value.items():
        platform = parse_runtime_class(handler)
        if isinstance(platform, Platform):
            facts.append(Fact(("platforms", platform.name, "handler"), handler, file))
            for entry in maps(mapping(values).get(platform.tee)):
                measured = MeasuredEntry(platform, _read_product(entry), entry, handler)
                facts += _list_measured(measured, file, first_rtmr_is_weak=False)
            for count, digest in mapping(mapping(values).get("rtmr0ByVCPU")).items():
                facts.append(Fact(("platforms", platform.name, "rtmr0ByVCPU", count), digest, file))
    return Facts(tuple(facts))


def manifest_facts(manifest: Mapping[str, Any], file: str, vcpus: int) -> Facts:
    """Return the facts of a manifest. vcpus: of all its TDX pods, which makes its RTMR0 a fact; else 0."""
    findings: list[Finding] = []
    entries = list(_list_entries(manifest, file, findings))
    facts = [fact for entry in entries for fact in _list_measured(entry, file, first_rtmr_is_weak=True)]
    tdx = [entry for entry in entries if entry.platform.rtmr0_by_vcpus]
    if vcpus:
        facts += _find_rtmr0(tdx, file, vcpus, findings)
    filled = [
        f"{entry.field}.{name}"
        for entry in entries
        for name in OPERATORS[entry.platform.tee]
        if _is_set(entry.value.get(name))
    ]
    if filled:
        findings.append(finding("CC1305.operator", file=file, what=", ".join(filled)))
    return Facts(tuple(facts), tuple(findings))


def _list_entries(manifest: Mapping[str, Any], file: str, findings: list[Finding]) -> Iterator[MeasuredEntry]:
    values = mapping(manifest["ReferenceValues"])
    for tee in MEASURED:
        for index, value in enumerate(maps(values.get(tee))):
            field, marker = f"{tee}[{index}]", value.get("Platform")
            platform = MARKERS.get(marker) if isinstance(marker, str) else None
            if platform is not None and platform.tee == tee:
                yield MeasuredEntry(platform, _read_product(value), value, field)
            elif marker:
                findings.append(finding("CC1305.platform", file=file, what=f"ReferenceValues.{field}"))
            else:
                findings.append(finding("CC1304.platform", file=file, field=field))


def _list_measured(entry: MeasuredEntry, file: str, *, first_rtmr_is_weak: bool) -> list[Fact]:
    """Return the measured values of one entry. A manifest's first RTMR is specific to its pods."""
    tee, facts = entry.platform.tee, []
    place = ("platforms", entry.platform.name, tee, entry.product)
    for name in MEASURED[tee]:
        value = entry.value.get(name)
        if name == "Rtmrs" and isinstance(value, list):
            weak = first_rtmr_is_weak and entry.platform.rtmr0_by_vcpus
            facts += [
                Fact((*place, name, index), digest, file, weak=weak and index == 0)
                for index, digest in enumerate(value)
            ]
        elif value:
            facts.append(Fact((*place, name), value, file))
    return facts


def _find_rtmr0(entries: list[MeasuredEntry], file: str, vcpus: int, findings: list[Finding]) -> list[Fact]:
    """Return RTMR0 of one vCPU count, if the manifest was made for pods of only that size."""
    sure = [entry for entry in entries if not entry.value.get("Rtmr0Alternatives")]
    rtmrs = [entry.value.get("Rtmrs") for entry in sure]
    if not entries or len(sure) < len(entries):
        code = "CC0909.sizes" if entries else "CC0909.no-tdx"
        findings.append(finding(code, option="--vcpus", file=file))
        return []
    place = ("platforms", entries[0].platform.name, "rtmr0ByVCPU", str(vcpus))
    return [Fact(place, registers[0], file) for registers in rtmrs if isinstance(registers, list) and registers]


def _read_product(entry: Mapping[str, Any]) -> str:
    product = entry.get("ProductName")
    return product if isinstance(product, str) else ""


def _is_set(value: Any) -> bool:
    """Tell whether an operator has set a value: null, "", 0 and objects of them are not set."""
    return any(map(_is_set, value.values())) if isinstance(value, dict) else bool(value)


# --- Image replacements: lines `image = replacement`, as Contrast reads them
#
# Source: docs/facts/contrast.md#image-replacements.
#
# Rule: the grammar is Contrast's; in addition, a replacement must be pinned. Contrast uses the last of two lines for
# one image; `release import` refuses them if they differ (config/release_text.py).


LINE = re.compile(r"[ \t]*([^\s=]+)[ \t]*=[ \t]*(\S+)[ \t]*")


def replacements(text: str) -> Iterator[tuple[int, str, str, bool]]:
    """Yield every line that is not a comment: its number, the image and its replacement, and whether it is usable.

    A usable line is `image = replacement` with a pinned replacement.
    """
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = LINE.fullmatch(line)
        image, pinned = match.groups() if match else ("", "")
        parsed = parse_image(pinned)
        usable = match is not None and isinstance(parsed, Image) and parsed.pinned
        yield number, image, pinned, usable


def looks_like_replacements(text: str) -> bool:
    """Tell whether the first line that is not a comment has this form; no YAML file of a release begins so."""
    return bool(next((image for _, image, _, _ in replacements(text)), ""))


def replacement_facts(text: str, file: str) -> Facts:
    """Return the facts of an image-replacements file: images, and the release from the tags of Contrast's images."""
    facts: list[Fact] = []
    findings: list[Finding] = []
    versions: list[Fact] = []
    for line, image, pinned, usable in replacements(text):
        if not usable:
            findings.append(finding("CC1304.replacement", file=file, line=line))
            continue
        facts.append(Fact(("images", image), pinned, file, line))
        if image.startswith(f"{CONTRAST}/"):
            versions += version_facts([pinned], file, line)
    return Facts((*facts, *versions), tuple(findings))


# --- The text of `contrast --version`: version, images, and of each platform the handler and the launch digests
#
# Source: docs/facts/contrast.md#version-text, which has no line of TDX and none that names a product.
#
#     line                                                is
#     contrast version v1.25.0                            the version
#     container image versions:                           the beginning of the images
#       REGISTRY/NAME:TAG@DIGEST                          what replaces ghcr.io/edgelesssys/contrast/NAME:latest
#     reference values for Metal-QEMU-SNP platform:       the beginning of a platform
#       runtime handler: contrast-cc-metal-qemu-snp-1a    its handler
#       - launch digest: 96 hex digits                    TrustedMeasurement, if the same entry names its product;
#         any label: Milan, or Genoa                      otherwise nothing, and CC1307 asks for a manifest.json
#       genpolicy version, default SNP TCB and its four   not a fact of the release
#     any other                                           CC1305


VERSION_TEXT = "contrast version "
SECTION = re.compile(r"container image versions:|reference values for (\S+) platform:")
NO_FACTS = {"default SNP TCB", "bootloader", "tee", "snp", "microcode", "genpolicy version"}


def version_text_facts(text: str, file: str) -> Facts:
    """Return the facts of the text; one finding names the lines that are not known."""
    facts: list[Fact] = []
    unknown: list[str] = []
    images, platform = False, None
    digest = product = ""
    for number, line in enumerate(text.splitlines(), 1):
        words = line.strip()
        section = SECTION.fullmatch(line.rstrip())
        if section:
            images, platform = section[1] is None, MARKERS.get(section[1] or "")
        if words.startswith("- ") or section:
            digest = product = ""
        label, _, value = map(str.strip, words.removeprefix("- ").partition(":"))
        place: Path = ("platforms", platform.name) if platform else ()
        parsed = parse_image(words) if images else ""
        if number == 1 and re.fullmatch(VERSION_TEXT + VERSION, words):
            facts.append(Fact(("version",), words.removeprefix(VERSION_TEXT), file, 1))
        elif isinstance(parsed, Image) and parsed.pinned:
            image = f"{CONTRAST}/{parsed.repository.rpartition('/')[2]}:latest"
            facts.append(Fact(("images", image), words, file, number))
        elif platform and label == "runtime handler" and parse_runtime_class(value) == platform:
            facts.append(Fact((*place, "handler"), value, file, number, listed=True))
        elif platform and label == "launch digest" and not digest and re.fullmatch("[0-9a-f]{96}", value):
            digest = value
        elif platform and value in PRODUCTS and not product:
            product = value
        elif words and not (platform and label in NO_FACTS) and (not section or not (images or platform)):
            unknown.append(str(number))
        if digest and product and platform:
            facts.append(Fact((*place, "snp", product, "TrustedMeasurement"), digest, file, number, listed=True))
            digest = ""
    findings = [finding("CC1305.version", file=file, what=f"lines {listed(unknown)}")] if unknown else []
    return Facts(tuple(facts), tuple(findings))


# --- runtime-<platform>.yml: the handler and the overhead of a platform, and the release by its node installer
#
# Rule: a RuntimeClass and its handler have the same name, because pods name the class and nodes the handler.
# Source: docs/facts/contrast.md#runtime-file.


INSTALLER = "installer"


def runtime_facts(value: dict[str, Any], file: str, line: int) -> Facts | None:
    """Return the facts of a RuntimeClass or a node installer; None for objects that are not Contrast's."""
    if value.get("kind") == "DaemonSet":
        return _read_installer(value, file, line)
    name, handler = dig(value, ("metadata", "name")), value.get("handler")
    meant = parse_runtime_class(handler if isinstance(handler, str) else "")
    if meant == "foreign":
        return None
    problems = tuple(_find_problems(value, name, handler, meant))
    if problems or not isinstance(meant, Platform):
        return Facts(findings=tuple(problem._replace(file=file, line=line) for problem in problems))
    facts = [Fact(("platforms", meant.name, "handler"), handler, file, line)]
    overhead = dig(value, ("overhead", "podFixed"))
    if overhead is not None:
        facts.append(Fact(("platforms", meant.name, "overhead"), overhead, file, line))
    return Facts(tuple(facts))


def _find_problems(value: dict[str, Any], name: Any, handler: Any, meant: object) -> Iterator[Finding]:
    ref = reference(value)
    if meant == "insecure":
        yield finding("CC1305.insecure", ref, what=f"runtime class {handler}")
    elif not isinstance(meant, Platform) or is_placeholder(handler):
        yield finding("CC1304.handler", ref, ("handler",), handler=handler)
    elif name != handler:
        yield finding("CC1304.names", ref, ("handler",), name=name, handler=handler)


def _read_installer(value: dict[str, Any], file: str, line: int) -> Facts | None:
    containers = maps(dig(value, ("spec", "template", "spec", "initContainers")))
    images = [mapping(entry).get("image") for entry in containers if entry.get("name") == INSTALLER]
    return Facts(version_facts(images, file, line)) if images else None


# --- Classify a release file by content, never by file name
#
# Rule: any other file is an error, since the release would lack its facts.
#
#     content                                                   is
#     JSON object with ReferenceValues                          a manifest.json of `contrast generate`
#     JSON object whose every key is a runtime handler          the CLI's reference values
#     YAML with a RuntimeClass                                  runtime-<platform>.yml
#     YAML with a coordinator StatefulSet                       coordinator.yml
#     YAML with an injected container                           resources that `contrast generate` changed
#     text that begins with `contrast version `                 the output of `contrast --version`
#     lines `image = replacement`                               an image-replacements file


BLANK = " \t\r\n"


def facts_of(data: bytes, file: str, vcpus: int = 0) -> Facts:
    """Return the facts of one file. vcpus: of the pods of a manifest, 0 if not given."""
    try:
        text = decode_text(data).text
    except YamlError as problem:
        return Facts(findings=(yaml_finding(problem, file),))
    if text.lstrip(BLANK).startswith("{"):
        return _read_json(data, text, file, vcpus)
    if text.startswith(VERSION_TEXT):
        return version_text_facts(text, file)
    if looks_like_replacements(text):
        return replacement_facts(text, file)
    return _read_yaml(text, file)


def _read_json(data: bytes, text: str, file: str, vcpus: int) -> Facts:
    try:
        value = load_object(text)
    except (ValueError, RecursionError) as problem:
        code = "CC1304.json" if isinstance(problem, ValueError) else "CC1304.depth"
        return _report_unknown(code, file, error=str(problem))
    if is_by_handler(value):
        return handler_facts(value, file)
    try:
        manifest = decode(data)
    except ManifestError as problem:
        return _report_unknown("CC1304.json", file, problem.line, error=str(problem))
    if "ReferenceValues" not in manifest:
        return _report_unknown("CC1304.object", file)
    return manifest_facts(manifest, file, vcpus)


def _read_yaml(text: str, file: str) -> Facts:
    facts: list[Fact] = []
    findings: list[Finding] = []
    recognised = False
    try:
        documents = [(chunk.line, parse(chunk.of(text), line=chunk.line)) for chunk in split_stream(text)]
    except YamlError as problem:
        return Facts(findings=(yaml_finding(problem, file),))
    for line, document in documents:
        for _, value in objects(document.value):
            read = _read_object(mapping(value), file, line)
            recognised = recognised or read is not None
            facts += read.facts if read else ()
            findings += read.findings if read else ()
    if not recognised:
        return _report_unknown("CC1304.nothing", file)
    return Facts(tuple(facts), tuple(findings))


def _read_object(value: dict[str, object], file: str, line: int) -> Facts | None:
    kind = value.get("kind")
    if kind == "ContrastRelease" and is_config(str(value.get("apiVersion", ""))):
        return _report_unknown("CC1304.release", file, line)
    runtime = runtime_facts(value, file, line) if kind in {"RuntimeClass", "DaemonSet"} else None
    return runtime or container_facts(value, file, line)


def _report_unknown(code: str, file: str, line: int = 0, error: str = "") -> Facts:
    return Facts(findings=(finding(code, file=file, line=line, error=error),))
