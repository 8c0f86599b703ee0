"""`gpus` of ContrastGenerate: the rule that gives GPUs the names of the nodes that pass them to VMs.

Rule of this file: what a user writes. A resource that is not named stays as it is.
"""

from collections.abc import Mapping
from typing import Any

from krm_function.model.gpu_names import gpu_name, is_passable
from krm_function.record import Annotated, NamedTuple
from krm_function.schema.kinds import Field, MapOf, Problems, Text
from krm_function.schema.table import EMPTY, table

LONGEST = 316  # bytes of a qualified name: a domain of 253 and a name of 63
_RESOURCE = r"[a-z0-9.-]+/[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?"


def _passable(name: str) -> str:
    return "" if is_passable(name) else "is no GPU that nodes pass to VMs: nvidia.com/pgpu, or nvidia.com/ and a model"


FROM = Text("the name of an extended resource", _RESOURCE, LONGEST, "nvidia.com/gpu")
TO = Text(
    "the name of a GPU that is passed to VMs", r"nvidia\.com/[A-Za-z0-9_]+", LONGEST, "nvidia.com/pgpu", _passable
)


def _check(renamed: dict[str, Any]) -> Problems:
    said = "is no other GPU, and no part of one, that a rule could rename"
    return tuple(((name,), said) for name in renamed if gpu_name(name) not in ("other", "part"))


class GpuRules(NamedTuple):
    """rename: resource of the pods -> the name in its place."""

    rename: Annotated[
        Mapping[str, str],
        Field(
            MapOf(FROM, TO, _check),
            "GPUs, and parts of them, that the nodes of Contrast's GPU platforms do not offer, and the name that is "
            "written in their place: each becomes a whole GPU of the pod's VM",
        ),
    ] = EMPTY


GPUS = table(GpuRules)
