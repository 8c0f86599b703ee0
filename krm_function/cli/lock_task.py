"""The images that `lock` has to look up, the file that it writes, and the places that it pins."""

import os
from argparse import Namespace
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

from krm_function.cli.configuration import from_files, from_files_and_resources
from krm_function.cli.inputs import read_inputs
from krm_function.cli.streams import write_out
from krm_function.config.collect import NO_RELEASE, Config, collect
from krm_function.config.document import ConfigDocument
from krm_function.config.generate import CALCULATE
from krm_function.config.image_lock import KIND, parse_image_lock
from krm_function.config.wiring import KUSTOMIZATIONS, listed
from krm_function.contrast.profiles import ProfileName
from krm_function.findings import Cause, Finding, Path, finding, has_errors
from krm_function.hosts.files import CHART, FileProblem, find_files, read_file
from krm_function.hosts.stream import decode_stream, encode_stream
from krm_function.hosts.write_files import NewFile, in_turn, is_stream, write_files
from krm_function.kubernetes.image import Image, is_contrast_image, parse_image, printable_reference
from krm_function.kubernetes.objects import dig, mapping, maps
from krm_function.kubernetes.pod_fields import type_findings
from krm_function.kubernetes.resource import Resource, yaml_finding
from krm_function.kubernetes.workload import Workload
from krm_function.lock.lock_text import PINNED_OVER, new_lock, updated_lock
from krm_function.lock.pins import (
    CONTAINERS,
    Pin,
    Pinned,
    image_places,
    pin_in_file,
    pin_in_kustomization,
    pin_in_values,
)
from krm_function.record import NamedTuple
from krm_function.render.pipeline import find_unproven
from krm_function.render.prepare import prepare
from krm_function.render.select import select
from krm_function.schema.check import nearest
from krm_function.schema.table import EMPTY
from krm_function.text.errors import YamlError, decode, encode
from krm_function.text.parse import locate, parse

# --- Read and update the file that `lock` writes
#
# Rule: everything but new and dropped entries stays unchanged, including other documents; and a file with anything but
# a lock is never used as one. Several runs may write the same file at once: one after the other, each reads it again
# and adds its entries.


Entries = dict[str, dict[str, Any]]
IMAGES = ("spec", "images")


class LockFile(NamedTuple):
    """Where the lock goes ("": standard output) and, if there is one already, its document."""

    path: str
    lock: ConfigDocument | None = None


def open_lock(path: str) -> tuple[LockFile, list[Finding]]:
    """Read an existing lock. The file may be missing or empty. Raises FileProblem like `read_file`."""
    if not path or not os.path.exists(path) or is_stream(path) or not read_file(path):
        return LockFile(path), []
    documents, findings = from_files([path])
    locks = [document for document in documents if _is_lock(document)]
    if len(locks) != 1 and not has_errors(findings):
        code = "CC0909.locks" if locks else "CC0909.no-lock"
        return LockFile(path), [finding(code, option="--output", count=len(locks), file=path)]
    return LockFile(path, locks[0] if locks else None), list(findings)


def known_entries(documents: Iterable[ConfigDocument]) -> tuple[Entries, list[Finding]]:
    """Return the entries of all locks by reference, as they are written there."""
    entries: Entries = {}
    findings: list[Finding] = []
    for document in documents:
        if _is_lock(document):
            images, problems = parse_image_lock(document)
            findings += problems
            written = mapping(dig(document.value, IMAGES))
            entries |= {name: written[name] for name in images or {}}
    return entries, findings


class WrittenLock(NamedTuple):
    """unused: entries that no resource needs. waited: seconds for other runs. With an error, nothing was written."""

    unused: int = 0
    waited: float = 0
    findings: tuple[Finding, ...] = ()


def write_lock(
    file: LockFile, entries: Mapping[str, Mapping[str, Any]], further: Sequence[NewFile] = (), *, prune: bool
) -> WrittenLock:
    """Write the lock: add the missing entries to the file's current content.

    further: files to write after it. prune: drop the entries that the file had when it was read and that no resource
    needs; an entry that another run has added since stays.
    Raises FileProblem, and YamlError for a document that cannot be edited.
    """
    if not file.path:
        write_out(new_lock(entries).encode("utf-8"))
        write_files(further)
        return WrittenLock()
    if is_stream(file.path):
        write_files([NewFile(file.path, new_lock(entries).encode("utf-8")), *further])
        return WrittenLock()
    old_names = mapping(dig(file.lock.value, IMAGES)) if file.lock else {}
    with in_turn(file.path) as lock:
        if lock.timed_out:
            late = finding("CC1212", file=file.path, lock=file.path, seconds=f"{lock.waited:.0f}")
            return WrittenLock(waited=lock.waited, findings=(late,))
        now, findings = open_lock(file.path)
        if has_errors(findings):
            return WrittenLock(waited=lock.waited, findings=tuple(findings))
        if lock.unguarded:
            findings.append(finding("CC1213", file=file.path, lock=file.path, problem=lock.unguarded))
        dropped = [name for name in old_names if name not in entries] if prune else ()
        write_files([*_make_changes(now, entries, dropped), *further])
    unused = 0 if prune else sum(name not in entries for name in old_names)
    return WrittenLock(unused, lock.waited, tuple(findings))


def _make_changes(file: LockFile, entries: Mapping[str, Mapping[str, Any]], dropped: Collection[str]) -> list[NewFile]:
    if file.lock is None:
        return [NewFile(file.path, new_lock(entries).encode("utf-8"))]
    old = read_file(file.path)
    stream = decode_stream(old, file.path)
    texts = [
        updated_lock(resource.text, entries, dropped) if resource.line == file.lock.line else resource.text
        for resource in stream.resources
    ]
    data = encode_stream(stream, texts)
    return [NewFile(file.path, data)] if data != old else []


def _is_lock(document: ConfigDocument) -> bool:
    return bool(mapping(document.value).get("kind") == KIND)


# --- List the images that a deployment needs: those of its Contrast workloads, as a render would leave them
#
# Rule: `render.prepare` restores, replaces and injects as a render does, and reports the same errors, except those that
# a lock resolves. Without a release nothing can be rendered, so the pods are read unchanged, which is right for
# rendered output.


# images without a digest (an error in a render) or a lock entry (a warning): `lock` resolves both
SETTLED = ("CC0502", "CC0813")


class Use(NamedTuple):
    """The first place of an image; workload: as a render leaves it."""

    path: Path
    workload: Workload

    def place(self, problem: Finding) -> Finding:
        """Set this place as the place of a finding about the image."""
        return self.workload.placed(problem._replace(ref=self.workload.ref, path=self.path))


class Needed(NamedTuple):
    """The uses of images, in order."""

    uses: tuple[tuple[Image, Use], ...] = ()
    findings: tuple[Finding, ...] = ()

    @cached_property
    def images(self) -> dict[Image, Use]:
        """Each image with its first use."""
        images: dict[Image, Use] = {}
        for image, use in self.uses:
            images.setdefault(image, use)
        return images


def needed(resources: Sequence[Resource], config: Config | None, *, refused_too: bool = False) -> Needed:
    """Find the images, and problems of the resources. refused_too: also those of workloads with errors."""
    return (
        _find_unrendered(resources) if config is None else _find_in_render(resources, config, refused_too=refused_too)
    )


def _find_in_render(resources: Sequence[Resource], config: Config, *, refused_too: bool) -> Needed:
    log, read, injected = prepare(resources, config, without=SETTLED)
    forged = find_unproven(read, config, rendered=False, seals=False)
    log.add(forged)
    uses: list[tuple[Image, Use]] = []
    # a forged record may name any image
    for workload in injected.workloads if injected and not forged else ():
        log.add(workload.findings)
        if refused_too or not workload.failed:
            used, problems = _find_uses(workload)
            uses += used
            log.add(problems)
    return Needed(tuple(uses), tuple(log.reported(config)))


def _find_unrendered(resources: Sequence[Resource]) -> Needed:
    """Find the images of the workloads, ignoring the records of an earlier render."""
    uses: list[tuple[Image, Use]] = []
    findings: list[Finding] = []
    for resource in resources:
        if not resource.may_have_pods and resource.kind != "List":
            continue
        try:
            original = resource.given()
        except YamlError as problem:
            findings.append(yaml_finding(problem, resource))
            continue
        selection = select(original.value, original)
        findings += selection.findings
        for workload in selection.workloads:
            type_problems = type_findings(workload)
            findings += map(workload.placed, type_problems)
            if not has_errors(type_problems):
                used, problems = _find_uses(workload)
                uses += used
                findings += problems
    return Needed(tuple(uses), tuple(findings))


def _find_uses(workload: Workload) -> tuple[list[tuple[Image, Use]], tuple[Finding, ...]]:
    """Find the images of one workload, and CC0503 for each text that is not an image reference."""
    uses, problems = [], []
    for path, text in _find_images(workload):
        image = parse_image(text)
        if isinstance(image, Image):
            uses.append((image, Use(path, workload)))
        else:
            problem = finding("CC0503", workload.ref, path, image=printable_reference(text), problem=image)
            problems.append(workload.placed(problem))
    return uses, tuple(problems)


def _find_images(workload: Workload) -> Iterator[tuple[Path, str]]:
    for container in workload.all_containers:
        image = container.container.get("image")
        yield (*container.path, "image"), image if isinstance(image, str) else ""
    for index, volume in enumerate(maps(workload.pod_spec.get("volumes"))):
        image = mapping(volume.get("image")).get("reference")
        if isinstance(image, str):
            yield (*workload.spec_path, "volumes", index, "image", "reference"), image


# --- The options --write-... of `lock`: write digests where a deployment's own files name its images
#
# Rule: nothing is written here; the caller writes the texts after the lock.


PLAIN_FILES = "--write-files"


class PinnedFiles(NamedTuple):
    """Files to write, the images pinned in them, why others are not, a line for each pin; the tags that pins copy."""

    files: tuple[NewFile, ...] = ()
    done: frozenset[Image] = frozenset()
    findings: tuple[Finding, ...] = ()
    summary: str = ""
    followed: Mapping[str, str] = EMPTY


def pinned_files(options: Namespace, pins: Sequence[Pin], task: "Task") -> PinnedFiles:
    """Return the files that the options name, with their pins. Raises FileProblem."""
    files: list[NewFile] = []
    done: set[Image] = set()
    findings: list[Finding] = []
    lines: list[str] = []
    followed: dict[str, str] = {}
    for option, file, root, edited in _list_targets(options, pins, task):
        if options.output and os.path.realpath(file) == os.path.realpath(options.output):
            findings.append(finding("CC0909.lock-too", option=option))
            continue
        try:
            source = decode(read_file(file, root))
            pinned = edited(source.text)
        except YamlError as problem:
            findings.append(yaml_finding(problem, file))
            continue
        except ValueError as problem:
            findings.append(finding("CC0909.pins", option=option, error=str(problem), file=file))
            continue
        if option != PLAIN_FILES:
            hidden, copies = _follow_tags(file, source.text, pinned, task)
            findings, followed = [*findings, *hidden], followed | copies
        files += [NewFile(file, encode(pinned.text, source.bom))] if pinned.text != source.text else []
        done |= {pin.image for pin in pinned.done}
        findings += [_report_unpinned(pin, cause, file) for pin, cause in pinned.unpinned]
        lines += [_pin_line(file, pin) for pin in pins if pin in pinned.done]
    if options.write_files:
        cause, into = Cause("CC1215.files", {}), " ".join(options.write_files)
        findings += [_report_unpinned(pin, cause, into) for pin in pins if pin.image not in done]
    return PinnedFiles(tuple(files), frozenset(done), tuple(findings), "".join(lines), followed)


def _list_targets(
    options: Namespace, pins: Sequence[Pin], task: "Task"
) -> Iterator[tuple[str, str, str, Callable[[str], Pinned]]]:
    """Yield option, file, the directory that has to hold it, and the function that pins images in its text."""
    targets = [options.output]  # files that --write-files leaves out, such as the lock in a package of kpt
    if options.write_kustomize:
        file = kustomization_file(options.write_kustomize)
        images = [(path, image) for path, image, _ in named_images(task.resources) if path[-1] == "image"]
        used = {image for path, image in images if path[-3] in CONTAINERS}  # where kustomize looks for them
        directory = os.path.dirname(file) or "."
        targets.append(file)
        yield "--write-kustomize", file, directory, lambda text: pin_in_kustomization(text, pins, used)
    if options.write_values:
        targets.append(options.write_values)
        yield "--write-values", options.write_values, "", lambda text: pin_in_values(text, pins)
    left_out = {os.path.realpath(path) for path in targets if path}
    for path, root in find_files(options.write_files):
        if os.path.realpath(path) not in left_out:
            yield PLAIN_FILES, path, root, lambda text: Pinned(*pin_in_file(text, pins))


def _pin_line(file: str, pin: Pin) -> str:
    """Return a line that reports what was written into a file."""
    return f"{file}: {pin.image} is pinned to {pin.digest}; from now on, change its tag in this file\n"


def _report_unpinned(pin: Pin, cause: Cause, file: str) -> Finding:
    return finding(cause.code, file=file, image=str(pin.image), into=file, pinned=pin.pinned, **cause.values)


def kustomization_file(path: str) -> str:
    """Return the kustomization in a directory, or the file itself. Raises FileProblem."""
    if not os.path.isdir(path):
        return path
    names = [name for name in KUSTOMIZATIONS if os.path.isfile(os.path.join(path, name))]
    if len(names) != 1:
        raise FileProblem(path, f"it has {len(names) or 'no'} kustomization{'s' if names else ''}")
    return os.path.join(path, names[0])


def named_images(resources: Sequence[Resource]) -> Iterator[tuple[Path, str, int]]:
    """Yield path, text and line of every image that the resources name, unchanged."""
    for resource in resources:
        if "image" in resource.text:
            try:
                document = parse(resource.text, line=resource.line)
                yield from ((path, text, locate(document, path)[0]) for path, text in image_places(document.value))
            except YamlError:  # of a kind without pods; otherwise the lock reports it
                continue


# --- The tags below a pin: a change of one has no effect, because the pin of `lock` hides it
#
#     pin in                   the tag below it
#     `images:` of an overlay  that of local resources, bases and components, after the `images:` of the bases
#     Helm values              appVersion in the Chart.yaml beside them
#
# Rule: `pinnedOver` in the lock records the tag below where the pin is its copy: the file with the pin had no tag
# before, or followed already. Elsewhere a user has overridden the tag, and a change below it is no news.


def _follow_tags(file: str, text: str, pinned: Pinned, task: "Task") -> tuple[list[Finding], dict[str, str]]:
    """Return CC0517 for tags hidden now, and by pinned reference the tag of which each new pin is a copy, or ""."""
    overs = {name: entry[PINNED_OVER] for name, entry in task.entries.items() if PINNED_OVER in entry}
    digests = {name.partition("@")[2] for name in overs}
    below: dict[str, dict[str, str]] = {}
    read = _read_images(file) if os.path.basename(file) in KUSTOMIZATIONS else _read_chart(file, task.needs.images)
    with suppress(FileProblem, YamlError):  # where a file below cannot be read, nothing is compared
        for name, tag, place in read:
            below.setdefault(name, {})[tag] = place
    hidden = []
    for image in (image for image in task.needs.images if str(image) in overs and image.digest in text):
        over, line = overs[str(image)], text[: text.find(image.digest)].count("\n") + 1
        for tag, place in below.get(image.untagged, EMPTY).items():
            values = {"image": str(image), "place": place, "tag": tag, "over": over}
            hidden += [finding("CC0517", file=file, line=line, **values)] if tag != over else []
    followed = {}
    for pin in pinned.done:
        tags = list(below.get(pin.image.untagged, ()))
        copied = (pin in pinned.untagged or pin.image.digest in digests) and len(tags) == 1 and tags[0] in pin.image.tag
        over = tags[0] if copied else overs.get(str(pin.image), "")
        shared = pin.pinned in task.entries and overs.get(pin.pinned, "") != over  # by a deployment with another tag
        followed[pin.pinned] = "" if shared else over
    return hidden, followed


def _read_chart(values: str, images: Iterable[Image]) -> Iterator[tuple[str, str, str]]:
    chart = os.path.join(os.path.dirname(values), CHART)
    document = parse(decode(read_file(chart)).text)
    version = str(mapping(document.value).get("appVersion") or "")
    yield from ((image.untagged, version, f"{chart}:{locate(document, ('appVersion',))[0]}") for image in images)


def _read_images(path: str, above: tuple[str, ...] = ()) -> Iterator[tuple[str, str, str]]:
    """Yield name, tag and place of the images of a file or base. above: its overlays; () for what is below `path`."""
    if path in above or not os.path.exists(path):
        return
    file = kustomization_file(path)
    if os.path.basename(file) not in KUSTOMIZATIONS:
        for _, text, line in named_images(decode_stream(read_file(file), file).resources):
            if isinstance(image := parse_image(text), Image):
                yield image.untagged, image.tag, f"{file}:{line}"
        return
    document = parse(decode(read_file(file)).text)
    entries = {entry.get("name"): (index, entry) for index, entry in enumerate(maps(dig(document.value, ("images",))))}
    for local in (name for key in ("resources", "bases", "components") for name in listed(document.value, key)):
        base = os.path.normpath(os.path.join(os.path.dirname(file), local))
        for name, tag, place in _read_images(base, (*above, path)):
            index, entry = entries.get(name, (0, {}))
            new_tag = str(entry.get("newTag") or "").partition("@")[0] if above else ""
            line, _ = locate(document, ("images", index, "newTag"))
            yield str(entry.get("newName") or name), new_tag or tag, f"{file}:{line}" if new_tag else place


# --- `lock --upgrade`: the images that it looks up again, and the tags in a lock
#
#     image of the input            no names given        its name given
#     name:tag, name:tag@digest     looked up by tag      looked up by tag
#     name@digest                   stays                 CC1241: it has no tag
#     of the Contrast release       stays                 CC1241: its digest belongs to the release
#
# Rule: only images that the input itself names are looked up again: the release determines the images that a render
# adds. Without --upgrade, no image in the lock is looked up.


def chosen_images(
    names: Sequence[str], images: Iterable[Image], in_input: Collection[str], released: Collection[str]
) -> tuple[frozenset[Image], list[Finding]]:
    """Choose the images to look up again by their tags, and report names without effect.

    names: from the command line, none for all. in_input: references there. released: images that the release pins.
    """
    in_use = [image for image in images if str(image) in in_input]
    facts = {image for image in in_use if is_contrast_image(str(image)) or str(image) in released}
    able = [image for image in in_use if image.tag and image not in facts]
    if not names:
        return frozenset(able), []
    findings = []
    for name in dict.fromkeys(names):
        meant = [image for image in in_use if _is_meant(name, image)]
        if not any(image in able for image in meant):
            findings.append(_report_name(name, meant, in_use, facts))
    return frozenset(image for image in able if any(_is_meant(name, image) for name in names)), findings


def _is_meant(name: str, image: Image) -> bool:
    """Tell whether a name or glob matches an image: with or without its registry, its first directories and its tag."""
    texts = {str(image._replace(digest="")), image.untagged}
    whole = {str(image), image.name, *texts}
    tails = {"/".join(text.split("/")[first:]) for text in whole for first in range(text.count("/") + 1)}
    return any(fnmatchcase(text, name) for text in tails)


def _report_name(name: str, meant: Sequence[Image], in_use: Sequence[Image], facts: Collection[Image]) -> Finding:
    if any(image in facts for image in meant):
        return finding("CC1241.release", option="--upgrade", image=name)
    if meant:
        return finding("CC1241.no-tag", option="--upgrade", image=name)
    near = nearest(name, [image.untagged.rpartition("/")[2] for image in in_use])
    candidates = near or ", ".join(sorted({str(image) for image in in_use})) or "none"
    return finding("CC1241.unknown", option="--upgrade", image=name, known=candidates)


# --- The task of `lock`: the images of some resources, and their known entries
#
# Rule: an image in the lock is not fetched again, unless its entry lacks passwd or group, or layer sizes that are
# required, or --upgrade names its tag.


class Task(NamedTuple):
    """entries: all known ones, by reference. file: where the lock goes. profile: of the policies, None for the default.

    upgrade: images to look up by their tags, whatever is recorded. sizes: whether all layers are read for their sizes.
    """

    needs: Needed
    entries: Mapping[str, dict[str, Any]]
    file: LockFile
    resources: tuple[Resource, ...] = ()
    profile: ProfileName | None = None
    upgrade: frozenset[Image] = frozenset()
    sizes: bool = False

    def asked(self, image: Image) -> Image:
        """Return the reference to look up: without its digest if the tag decides."""
        return image._replace(digest="") if image in self.upgrade else image


def read_task(options: Namespace) -> tuple[Task, list[Finding]]:
    """Read resources, configuration and lock. Without a release nothing is injected, which is a finding."""
    inputs = read_inputs(options.paths)
    documents, problems = from_files_and_resources(options.config, inputs.resources, options.config_from)
    locks = [document for document in documents if document.file and _is_lock(document)]
    file, file_problems = open_lock(options.output or (locks[0].file if options.check and len(locks) == 1 else ""))
    if options.check and not file.path:
        file_problems.append(finding("CC0909.check-what", option="--check"))
    config, unmet = collect(documents)
    entries, lock_findings = known_entries([*documents, *([file.lock] if file.lock else [])])
    findings = [*inputs.findings, *problems, *file_problems, *unmet, *lock_findings]
    if not inputs.findings and not any(resource.kind or not resource.certain for resource in inputs.resources):
        findings.append(finding("CC0108.no-document"))  # the previous command failed
    findings = [finding("CC1211") if problem.code == NO_RELEASE else problem for problem in dict.fromkeys(findings)]
    if has_errors(findings):
        return Task(Needed(), entries, file), findings
    needs = needed(inputs.resources, config)
    profile = config.generate.policy.profile if config is not None else None
    upgrade: frozenset[Image] = frozenset()
    if options.upgrade is not None and needs.images:
        released = set(config.release.images.values()) if config is not None else set()
        written = {text for _, text, _ in named_images(inputs.resources)}
        upgrade, about_names = chosen_images(options.upgrade, needs.images, written, released)
        findings += about_names
    task = Task(needs, entries, file, inputs.resources, profile, upgrade, wants_sizes(options, config))
    return task, [*findings, *needs.findings]


def wants_sizes(options: Namespace, config: Config | None) -> bool:
    """Tell whether to read all layers for their sizes: on demand, or because the configuration needs them."""
    return options.sizes or (config is not None and config.generate.memory == CALCULATE)
