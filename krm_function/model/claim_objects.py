"""PersistentVolumeClaims of an input, and which of them a volume of a pod stands for.

Rule of this file: a claim is found by its name, as the kubelet finds it (docs/facts/kubernetes.md#claims). Where a
namespace is not written, it may be any.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from krm_function.findings import Path, Ref
from krm_function.model.injected.initializer import read_secure_pv
from krm_function.model.lookup import dig
from krm_function.model.objects import objects, reference
from krm_function.model.owned import CLAIM_KIND
from krm_function.model.resource import Resource
from krm_function.model.rewriting.encrypted_claim import (
    BLOCK,
    CLAIM_VERSION,
    MODE,
    claim_of,
    devices,
)
from krm_function.model.workload import Workload
from krm_function.record import NamedTuple
from krm_function.yamltext import YamlError


class ClaimObject(NamedTuple):
    """A PersistentVolumeClaim of the input. root: path from its document to it."""

    resource: Resource
    root: Path
    ref: Ref
    value: Any

    @property
    def is_block(self) -> bool:
        """Whether it is a block device."""
        return bool(dig(self.value, MODE) == BLOCK)


def claim_objects(resources: Iterable[Resource]) -> list[ClaimObject]:
    """Find the claims of an input; what cannot be read has none, and is reported elsewhere."""
    found: list[ClaimObject] = []
    for resource in resources:
        if resource.state == "added" or not resource.may_be((CLAIM_KIND, "List")):
            continue
        try:
            value = resource.value
        except YamlError:
            continue
        for root, one in objects(value):
            ref = reference(one)
            if (ref.api_version, ref.kind) == (CLAIM_VERSION, CLAIM_KIND):
                found.append(ClaimObject(resource, root, ref, one))
    return found


def claims_of(workload: Workload, volume: str, claims: Sequence[ClaimObject], namespace: str = "") -> list[ClaimObject]:
    """Return the claims of the input that a volume stands for. namespace: of objects that name none, "" for any.

    A StatefulSet makes of the template T the claims T-NAME-0, T-NAME-1 and so on, and takes those that are there.
    """
    name = claim_of(workload, volume)
    if name is None:
        return []
    ordinal = re.compile(f"{re.escape(f'{volume}-{workload.ref.name}-')}[0-9]+")
    own = workload.ref.namespace or namespace
    return [
        one
        for one in claims
        if (one.ref.name == name if name else ordinal.fullmatch(one.ref.name) is not None)
        and ("" in (own, place := one.ref.namespace or namespace) or own == place)
    ]


def device_volumes(workload: Workload) -> tuple[str, ...]:
    """Return the names of the claims that containers of a pod have as devices, and that of secure-pv."""
    secure_pv = read_secure_pv(workload.annotations)
    names = {*devices(workload), *((secure_pv.device,) if secure_pv else ())}
    return tuple(sorted(name for name in names if claim_of(workload, name) is not None))
