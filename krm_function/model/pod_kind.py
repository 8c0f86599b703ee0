"""A kind of objects with pod templates: where they stand, and what its controller makes of them.

Rule of this file: records, and how paths in them are written. Which kinds there are, pod_kinds.py says.
"""

from collections.abc import Mapping
from typing import Any, Literal

from krm_function.findings import Path
from krm_function.model.kinds import Pattern
from krm_function.record import NamedTuple

EMPTY: Mapping[str, Any] = {}
_KEY = "[A-Za-z][A-Za-z0-9_-]*"
PATH = rf"{_KEY}(?:\[\*\])?(?:\.{_KEY}(?:\[\*\])?)*"  # of a template, in an entry
OF_CONTROLLER = "the controller, as "  # how the source of an open variable begins of which the form is known


class PodTemplate(NamedTuple):
    """Where pod templates stand in an object, and what its controller makes of them.

    path: from the object. part: the name of the workload behind `#`, "" if the object has but one; `{...}` stands for a
    field. names: what the names of its pods look like, () for any name. adds: what the controller adds to each pod.
    claims: where claim templates of the pods stand, as in a StatefulSet; () for none. conditions: of which objects all
    of that is so. refuses: which objects of those no render seals, and why. warns: of which
    it says what no policy covers. longest_name: characters of a name of which there will be pods, 0 for any.
    """

    path: Pattern
    part: str = ""
    names: tuple[str, ...] = ()
    adds: Mapping[str, Any] = EMPTY
    claims: Path = ()
    conditions: Mapping[str, Any] = EMPTY
    refuses: tuple[Mapping[str, Any], ...] = ()
    warns: tuple[Mapping[str, Any], ...] = ()
    longest_name: int = 0


class PodKind(NamedTuple):
    """A kind with pod templates. versions: those it was seen in, () for any. refused: why no render seals its pods.

    instead: what to do then. source: who says so.
    """

    group: str
    kind: str
    templates: tuple[PodTemplate, ...] = ()
    versions: tuple[str, ...] = ()
    refused: str = ""
    instead: str = ""
    source: Literal["built-in", "catalogue", "configuration"] = "built-in"


class PlacedTemplate(NamedTuple):
    """One pod template of an object. path: from the object. part: as in an address. made_by: None for the eight."""

    path: Path
    part: str = ""
    made_by: PodTemplate | None = None
