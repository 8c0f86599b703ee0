"""Propose entries of spec.workloads for the pods that do not ask for Contrast.

Rule of this file: an entry names one object, by its kind, its name and, if it says one, its namespace. What asks by
itself, what an entry names already, and what a controller made of another object gets none.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from krm_function.adoption.decisions import Request, selects
from krm_function.adoption.valid import is_valid
from krm_function.api.records import Generate
from krm_function.api.workload_entries import naming
from krm_function.findings import Ref
from krm_function.input_checks.copies import with_copies
from krm_function.model.gpu import wants_gpu
from krm_function.model.platforms import PLATFORMS
from krm_function.model.resource import Resource, knowing
from krm_function.model.workload import Workload
from krm_function.stages.read import read
from krm_function.stages.select import select

GPU = "-gpu"


def plain_workloads(resources: Sequence[Resource], generate: Generate) -> list[Workload]:
    """Return the pod templates that are neither confidential nor named in the configuration."""
    known, _ = read(with_copies(knowing(resources, generate.kinds)), keep_plain=True)
    return [one for resource in known for one in _plain(resource, generate)]


def _plain(resource: Resource, generate: Generate) -> Iterator[Workload]:
    if resource.document is None or resource.state == "added":
        return
    for one in select(resource.value, resource).skipped:
        workload = one.workload
        if workload is None or one.owned or workload.runtime_class or workload.root in resource.copies:
            continue
        if not naming(generate.workloads, workload.ref, generate.namespace):
            yield workload


def proposed_entries(plain: Sequence[Workload], request: Request, platform: str) -> list[dict[str, Any]]:
    """Return the entries that a request asks for. platform: that of the bare placeholder, "" for none."""
    entries: dict[Ref, dict[str, Any]] = {}
    for one in plain:
        whole = one.ref._replace(part="")  # an entry names all templates of an object
        entry = {"kind": one.ref.kind, "name": one.ref.name}
        entry |= {"namespace": one.ref.namespace} if one.ref.namespace else {}
        reason = next((why for text, why in request.plain.items() if selects(text, one.ref)), "")
        if reason:
            entries[whole] = {**entry, "plain": reason}
        elif any(selects(text, one.ref) for text in request.confidential):
            with_gpu = wants_gpu(one.pod_spec) and f"{platform}{GPU}" in PLATFORMS
            if with_gpu or "platform" not in entries.get(whole, {}):
                entries[whole] = {**entry, **({"platform": f"{platform}{GPU}"} if with_gpu else {})}
    return [entry for entry in entries.values() if is_valid({"workloads": [entry]})]
