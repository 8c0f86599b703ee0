"""What the options --write-... of `lock` write: digests where a deployment's own files name its images.

Rule of this file: nothing is written here; the texts go with the lock, after it.
"""

import os
from argparse import Namespace
from collections.abc import Callable, Collection, Iterator, Sequence

from krm_function.findings import Cause, Finding, Path, finding
from krm_function.hosts.files import FileProblem, find_files, read_file
from krm_function.hosts.staged_file import NewFile
from krm_function.model.finding_position import yaml_finding
from krm_function.model.image import Image
from krm_function.model.resource import Resource
from krm_function.record import NamedTuple
from krm_function.wiring import KUSTOMIZATIONS
from krm_function.wiring.helm_values import pin_in_values
from krm_function.wiring.image_places import CONTAINERS, image_places
from krm_function.wiring.kustomize_images import pin_in_kustomization
from krm_function.wiring.pin import Pin, Pinned
from krm_function.wiring.plain_files import pin_in_file
from krm_function.yamltext import YamlError, decode, encode, parse

NOT_PINNED = "CC1201"


class PinnedFiles(NamedTuple):
    """Files to write, the images that are pinned in them, why others are not; summary: a line for each pin."""

    files: tuple[NewFile, ...] = ()
    done: frozenset[Image] = frozenset()
    findings: tuple[Finding, ...] = ()
    summary: str = ""


def pinned_files(options: Namespace, pins: Sequence[Pin], resources: Sequence[Resource]) -> PinnedFiles:
    """Return the files that the options name, with their pins. Raises FileProblem."""
    targets: list[tuple[str, str, Callable[[str], Pinned]]] = []
    if options.write_kustomize:
        file, used = kustomization_file(options.write_kustomize), set(kustomized_references(resources))
        targets.append(("--write-kustomize", file, lambda text: pin_in_kustomization(text, pins, used)))
    if options.write_values:
        targets.append(("--write-values", options.write_values, lambda text: pin_in_values(text, pins)))
    files: list[NewFile] = []
    done: set[Image] = set()
    findings: list[Finding] = []
    lines: list[str] = []
    for option, file, edited in targets:
        if options.output and os.path.realpath(file) == os.path.realpath(options.output):
            findings.append(finding("CC0909.lock-too", option=option))
            continue
        try:
            source = decode(read_file(file, os.path.dirname(file) or "." if option == "--write-kustomize" else ""))
            pinned = edited(source.text)
        except YamlError as problem:
            findings.append(yaml_finding(problem, file))
            continue
        except ValueError as problem:
            findings.append(finding("CC0909.pins", option=option, error=str(problem), file=file))
            continue
        files += [NewFile(file, encode(pinned.text, source.bom))] if pinned.text != source.text else []
        done |= {pin.image for pin in pinned.made}
        findings += [_left(pin, cause, file) for pin, cause in pinned.left]
        lines += [pin_line(file, pin) for pin in pinned.made]
    if options.write_files:
        plain = plain_files(options, pins, done, [options.output, *(file for _, file, _ in targets)])
        return PinnedFiles(
            (*files, *plain.files), plain.done | done, (*findings, *plain.findings), "".join(lines) + plain.summary
        )
    return PinnedFiles(tuple(files), frozenset(done), tuple(findings), "".join(lines))


def plain_files(
    options: Namespace, pins: Sequence[Pin], elsewhere: Collection[Image], others: Sequence[str]
) -> PinnedFiles:
    """Return the files of --write-files. Raises FileProblem.

    elsewhere: images that another file pins already. others: files that are not of these, though they stand among them.
    """
    left_out = {os.path.realpath(path) for path in others if path}
    files: list[NewFile] = []
    made: set[Pin] = set()
    findings: list[Finding] = []
    lines: list[str] = []
    for file in find_files(options.write_files):
        if os.path.realpath(file.path) in left_out:  # as the lock in a package of kpt
            continue
        try:
            source = decode(read_file(file.path, file.root))
            text, here = pin_in_file(source.text, pins)
        except YamlError as problem:
            findings.append(yaml_finding(problem, file.path))
            continue
        files += [NewFile(file.path, encode(text, source.bom))] if text != source.text else []
        made |= here
        lines += [pin_line(file.path, pin) for pin in pins if pin in here]
    into = " ".join(options.write_files)
    cause = Cause("CC1215.files", {})
    findings += [_left(pin, cause, into) for pin in pins if pin not in made and pin.image not in elsewhere]
    return PinnedFiles(tuple(files), frozenset(pin.image for pin in made), tuple(findings), "".join(lines))


def pin_line(file: str, pin: Pin) -> str:
    """Say in one line what was written into a file."""
    return f"{file}: {pin.image} is pinned to {pin.digest}\n"


def _left(pin: Pin, cause: Cause, file: str) -> Finding:
    return finding(cause.code, file=file, image=str(pin.image), into=file, pinned=pin.pinned, **cause.values)


def kustomization_file(path: str) -> str:
    """Return the kustomization in a directory, or the file itself. Raises FileProblem."""
    if not os.path.isdir(path):
        return path
    names = [name for name in KUSTOMIZATIONS if os.path.isfile(os.path.join(path, name))]
    if len(names) != 1:
        raise FileProblem(path, f"it has {len(names) or 'no'} kustomization{'s' if names else ''}")
    return os.path.join(path, names[0])


def kustomized_references(resources: Sequence[Resource]) -> Iterator[str]:
    """Yield the images of all containers in all objects, where kustomize looks for them."""
    for path, image in named_images(resources):
        if path[-1] == "image" and path[-3] in CONTAINERS:
            yield image


def named_images(resources: Sequence[Resource]) -> Iterator[tuple[Path, str]]:
    """Yield path and text of every image that the resources name, as they stand."""
    for resource in resources:
        if "image" in resource.text:
            try:
                yield from image_places(parse(resource.text).value)
            except YamlError:  # of a kind that no pod has; a finding of the lock otherwise
                continue
