"""Load the shipped catalogue: one file for each API group, in the form of spec.podTemplates.

Rule of this file: a file is read when an object of its group and of one of its kinds is there, and never before; which
kinds those are, `CATALOGUED` of model/kinds.py says.
"""

import functools
import os
from collections.abc import Mapping

from krm_function.model.pod_kind import PodKind
from krm_function.model.pod_template_entries import ENTRIES, kinds_of
from krm_function.schema.read import filled, read_value
from krm_function.yamltext import read_value as read_yaml

DIRECTORY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "catalogue")


def shipped(group: str, kind: str) -> PodKind | None:
    """Return the kind of the catalogue, None if it has none of this group and name."""
    return of_group(group).get((group, kind))


@functools.cache
def of_group(group: str) -> Mapping[tuple[str, str], PodKind]:
    """Return the kinds of one group. Raises ValueError if the file, which is part of the package, is broken."""
    with open(os.path.join(DIRECTORY, f"{group}.yaml"), encoding="utf-8") as file:
        reading = read_value(ENTRIES, read_yaml(file.read())["podTemplates"])
    if reading.faults:
        raise ValueError(f"{group}: {reading.faults[0]}")
    return kinds_of(filled(ENTRIES, reading.value), "catalogue")
