"""What `lock --write-kustomize` and `--write-values` write: digests where a deployment's own files name its images.

Rule of this file: nothing is written here; the texts go with the lock, after it.
"""

import os
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from krm_function.findings import Cause, Finding, finding
from krm_function.hosts.files import FileProblem, read_file
from krm_function.hosts.staged_file import NewFile
from krm_function.model.finding_position import yaml_finding
from krm_function.model.image import Image
from krm_function.model.lookup import mapping, maps
from krm_function.model.resource import Resource
from krm_function.record import NamedTuple
from krm_function.wiring import KUSTOMIZATIONS
from krm_function.wiring.helm_values import pin_in_values
from krm_function.wiring.kustomize_images import pin_in_kustomization
from krm_function.wiring.pin import Pin, Pinned
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
        file, used = kustomization_file(options.write_kustomize), set(_references(resources))
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
        lines += [f"{file}: {pin.image} is pinned to {pin.digest}\n" for pin in pinned.made]
    return PinnedFiles(tuple(files), frozenset(done), tuple(findings), "".join(lines))


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


def _references(resources: Sequence[Resource]) -> Iterator[str]:
    """Yield the images of all containers in all objects, where kustomize looks for them."""
    for resource in resources:
        if "image" in resource.text:
            try:
                yield from _images_in(parse(resource.text).value)
            except YamlError:  # of a kind that no pod has; a finding of the lock otherwise
                continue


def _images_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, part in value.items():
            if key in {"containers", "initContainers"}:
                yield from (one["image"] for one in maps(part) if isinstance(mapping(one).get("image"), str))
            yield from _images_in(part)
    elif isinstance(value, list):
        for part in value:
            yield from _images_in(part)
