"""Find in an input the copies that controllers made of its workloads, for `check`, `plan` and `diff`."""

from collections.abc import Mapping, Sequence
from typing import Any

from krm_function.findings import Path
from krm_function.model.kinds import KINDS
from krm_function.model.objects import objects
from krm_function.model.resource import Resource
from krm_function.stages.copies import NO_COPIES, OWNERS, Copy, copies
from krm_function.yamltext import YamlError
from krm_function.yamltext.fast.values import read_value


def copies_in(resources: Sequence[Resource]) -> Mapping[tuple[int, Path], Copy]:
    """Return the copies by their places; what cannot be parsed is reported elsewhere."""
    if not any(OWNERS in resource.text for resource in resources):
        return NO_COPIES
    found: list[tuple[int, Path, Any]] = []
    for index, resource in enumerate(resources):
        if resource.may_be((*KINDS, "List")):
            try:
                found += [(index, root, value) for root, value in objects(read_value(resource.text))]
            except YamlError:
                continue
    return copies(found)
