"""Tell whether the files of a deployment make any workload confidential, and name those that they do not.

Rule of this file: the coordinator does not count, since it is of the Contrast release and protects nothing alone. The
templates of a chart are no YAML yet, so one that names a runtime class counts.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from krm_function.cli.init.existing_files import data_of, values_of
from krm_function.hosts.files import FoundFile
from krm_function.model.address import address_of
from krm_function.model.objects import reference
from krm_function.model.runtime_class_names import FIELD, is_contrast_name
from krm_function.model.workload import Workload, workloads_of


def plain_workloads(resources: Sequence[FoundFile]) -> list[str] | None:
    """Name the workloads without a class of Contrast's, by address; None if another one has such a class.

    An empty list means that no workload can be read, as in a chart.
    """
    names: list[str] = []
    for file in resources:
        data = data_of(file)
        if b"{{" in data and FIELD.encode() in data:
            return None
        for workload in _workloads(values_of(data)):
            if workload.is_coordinator:
                continue
            if is_contrast_name(str(workload.runtime_class)):
                return None
            names.append(address_of(workload.ref))
    return list(dict.fromkeys(names))


def _workloads(values: Sequence[dict[str, Any]]) -> Iterator[Workload]:
    for value in values:
        ref = reference(value)
        yield from workloads_of(value, (), ref)
