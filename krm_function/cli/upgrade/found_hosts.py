"""Find the hosts of a deployment, by the files beside its configuration and input.

    there is                                                  hosts
    kustomization.yaml, .yml, Kustomization                   kustomize
    Kptfile                                                   kpt
    Chart.yaml, or the comment of Helm in the input           helm3, helm4
    an object of argoproj.io; of *.toolkit.fluxcd.io          argo-cd; flux
    nothing of that                                           all

Rule of this file: names of files and headers of documents; nothing in a file is believed beyond that.
"""

import os
from collections.abc import Iterator, Sequence

from krm_function.model.resource import Resource
from krm_function.upgrade.hosts import HOSTS, HostName
from krm_function.wiring import KPTFILE, KUSTOMIZATIONS

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
