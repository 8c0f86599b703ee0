"""The hosts of a deployment, and the words of a call, for the commands that `upgrade` prints."""

import os
import shlex
from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import Any

from krm_function.cli.configuration import from_files
from krm_function.cli.inputs import Inputs
from krm_function.config.collect import Config
from krm_function.config.wiring import KPTFILE, KUSTOMIZATIONS
from krm_function.findings import Ref
from krm_function.kubernetes.kinds import KINDS
from krm_function.kubernetes.lookup import dig, mapping
from krm_function.kubernetes.objects import reference
from krm_function.kubernetes.resource import Resource
from krm_function.operations.upgrade import HOSTS, Change, HostName, Places

# --- Find the hosts of a deployment, by the files beside its configuration and input
#
#     there is                                                  hosts
#     kustomization.yaml, .yml, Kustomization                   kustomize
#     Kptfile                                                   kpt
#     Chart.yaml, or the comment of Helm in the input           helm3, helm4
#     an object of argoproj.io; of *.toolkit.fluxcd.io          argo-cd; flux
#     nothing of that                                           all
#
# Rule: names of files and headers of documents; nothing in a file is believed beyond that.


CHART = "Chart.yaml"
HELM = "# Source: "  # what helm template writes in front of each document
GROUPS: tuple[tuple[str, HostName], ...] = (("argoproj.io/", "argo-cd"), (".toolkit.fluxcd.io/", "flux"))


def found_hosts(directories: Sequence[str], resources: Sequence[Resource]) -> list[HostName]:
    """Return the hosts in the order of the table of hosts."""
    found = {*_of_files(directories), *_of_resources(resources)}
    return [name for name in HOSTS if name in found] or [*HOSTS]


def directory_with(names: Sequence[str], directories: Sequence[str]) -> str:
    """Return the first directory that has a file of one of these names, "" if none has."""
    return next((one for one in directories if any(os.path.isfile(os.path.join(one, name)) for name in names)), "")


def _of_files(directories: Sequence[str]) -> Iterator[HostName]:
    if directory_with(KUSTOMIZATIONS, directories):
        yield "kustomize"
    if directory_with((KPTFILE,), directories):
        yield "kpt"
    if directory_with((CHART,), directories):
        yield from ("helm3", "helm4")


def _of_resources(resources: Sequence[Resource]) -> Iterator[HostName]:
    for resource in resources:
        if not resource.file and any(line.startswith(HELM) for line in resource.text.splitlines()[:3]):
            yield from ("helm3", "helm4")
        for group, name in GROUPS:
            if resource.certain and group in resource.api_version and resource.kind not in ("Rollout", "Workflow"):
                yield name


# --- The words of a call of `upgrade`, for the commands that it prints: paths, files of the configuration, names
#
# Rule: every word is quoted for a shell; what is not known is a word in capitals, which the reader
# replaces.


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
    """Return each object of the input with its file."""
    return ((item.value, resource.file) for resource in inputs.resources for item in resource.objects)


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
