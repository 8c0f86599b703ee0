"""Which workload of its object a pod template is: the name behind `#` in an address.

Rule of this file: a name is unique in its object and can be typed. What the entry does not name has the words of its
path, and the name of the list entry that it stands in, or its number.

    spec.template                      (none, if the object has no other template)
    spec.leader                        leader
    spec.workerGroupSpecs[*].template  workerGroupSpecs-gpu, for the entry with `name: gpu`
"""

import re
from typing import Any

from krm_function.findings import Path
from krm_function.model.kinds import expand
from krm_function.model.lookup import dig
from krm_function.model.pod_kind import PlacedTemplate, PodKind, PodTemplate
from krm_function.model.template_texts import MissingFieldError, applies, written

_TYPED = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
_LEFT_OUT = ("spec", "template")


def placed_templates(known: PodKind, value: object) -> list[PlacedTemplate]:
    """Return the pod templates of an object of a kind of catalogue or configuration; only those that are there.

    An entry lists what an object may have, and it need not have all of it. If none is there, the first counts.
    """
    every = [(one, path) for one in known.templates for path in expand(one.path, value)]
    every = [(one, path) for one, path in every if applies(one.conditions, value, path)]
    there = [(one, path) for one, path in every if dig(value, path) is not None] or every[:1]
    alone = len(known.templates) == 1 and "*" not in known.templates[0].path and not known.templates[0].part
    made: list[PlacedTemplate] = []
    taken: set[str] = set()
    for one, path in there:
        part = "" if alone else _part(one, path, value)
        if part in taken:
            part = f"{part}-{len(made)}"
        taken.add(part)
        made.append(PlacedTemplate(path, part, one))
    return made


def _part(one: PodTemplate, path: Path, value: Any) -> str:
    try:
        part = written(one.part, value, path, marked=False) if one.part else ""
    except MissingFieldError:
        part = ""
    return part if _TYPED.fullmatch(part) else _of_path(path, value)


def _of_path(path: Path, value: Any) -> str:
    words = []
    for index, step in enumerate(path):
        if isinstance(step, int):
            name = dig(value, (*path[: index + 1], "name"))
            words.append(name if isinstance(name, str) and _TYPED.fullmatch(name) else str(step))
        elif step not in _LEFT_OUT:
            words.append(step)
    return "-".join(words) or "pod"
