"""The words of a call of `upgrade`, for the commands that it prints: paths, files of the configuration, names.

Rule of this file: every word is quoted for a shell; what is not known is a word in capitals, which the reader replaces.
"""

import os
import shlex
from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import Any

from krm_function.api.records import Config
from krm_function.cli.configuration import from_files
from krm_function.cli.files.inputs import Inputs
from krm_function.cli.upgrade.found_hosts import CHART, directory_with
from krm_function.findings import Ref
from krm_function.model.kinds import KINDS
from krm_function.model.lookup import dig, mapping
from krm_function.model.objects import objects, reference
from krm_function.upgrade.change import Change
from krm_function.upgrade.waves import Places
from krm_function.wiring import KPTFILE, KUSTOMIZATIONS
from krm_function.yamltext import YamlError, parse


def places_of(options: Namespace, inputs: Inputs, config: Config, change: Change) -> tuple[Places, list[str]]:
    """Return the words of a call, and the directories that it names."""
    named = [*options.config, *options.paths]
    directories = [one if os.path.isdir(one) else os.path.dirname(one) or "." for one in named if one != "-"]
    files = {
        str(one.value.get("kind")): one.file for one in from_files(options.config)[0] if isinstance(one.value, dict)
    }
    files |= {one.kind: one.file for one in inputs.resources if one.file and one.kind not in files}
    spaces = sorted({ref.namespace for ref in change.workloads if ref.namespace})
    holder = _object(inputs, change.coordinator)
    quoted = [shlex.quote(path) for path in options.config]
    places = Places(
        paths=shlex.join(options.paths) or "RESOURCES",
        config=" ".join(f"--config {path}" for path in quoted) or "--config CONFIG",
        configured=tuple(quoted) or ("CONFIG",),
        generate=shlex.quote(files.get("ContrastGenerate") or "contrast.yaml"),
        release=shlex.quote(files.get("ContrastRelease") or "release.yaml"),
        lock=shlex.quote(files.get("ImageLock") or "images.yaml"),
        next_release=shlex.quote(options.to),
        namespace=shlex.quote(change.coordinator.namespace if change.coordinator else (spaces or [""])[0]) or "default",
        directory=shlex.quote(directory_with((*KUSTOMIZATIONS, KPTFILE), directories)) if directories else "OVERLAY",
        chart=shlex.quote(directory_with((CHART,), directories) or "CHART"),
        label=_label(inputs, holder[0]) if holder else "",
        before=shlex.quote(options.before) if options.before else "earlier-release.yaml",
        emits=config.generate.runtime_classes == "emit",
    )
    if holder and holder[1]:
        places = places._replace(coordinator_file=shlex.quote(holder[1]))
    if places.directory in ("", "''"):
        places = places._replace(directory="OVERLAY")
    return places, directories


def _values(inputs: Inputs) -> Iterator[tuple[Any, str]]:
    """Yield each object of the input with its file; a document that cannot be read has been told."""
    for resource in inputs.resources:
        try:
            document = parse(resource.text, line=resource.line).value
        except YamlError:
            continue
        yield from ((value, resource.file) for _, value in objects(document))


def _object(inputs: Inputs, ref: Ref | None) -> tuple[Any, str] | None:

    if ref is None:
        return None
    return next(
        (one for one in _values(inputs) if (at := reference(one[0])).kind == ref.kind and at.name == ref.name), None
    )


def _label(inputs: Inputs, holder: Any) -> str:
    """Return a label that the coordinator's own object has, and no other workload; "" if there is none."""
    others: Sequence[Any] = [
        mapping(dig(value, ("metadata", "labels")))
        for value, _ in _values(inputs)
        if reference(value).kind in KINDS and reference(value) != reference(holder)
    ]
    for key, value in mapping(dig(holder, ("metadata", "labels"))).items():
        if isinstance(value, str) and not any(labels.get(key) == value for labels in others):
            return f"{key}={value}"
    return ""
