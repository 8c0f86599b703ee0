"""Tell what an image takes of a VM's memory, from the sizes of its layers.

A layer is pulled into the memory of the VM and unpacked there (docs/facts/contrast.md#memory), so it counts as it comes
and as it is unpacked. Truth table, of one layer:

    compressed   unpacked   counts as
    known        known      both, exactly
    known        -          both; unpacked about TIMES as much, at least as much
    -            known      both; compressed about a TIMES-th, at least nothing
    -            -          nothing is known of the image

Rule of this file: bytes in, bytes out. What is estimated says so, and no error rests on an estimate.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from krm_function.model.lookup import maps
from krm_function.record import NamedTuple

SIZES = ("compressedSize", "uncompressedSize")
TIMES = (12, 5)  # unpacked to compressed bytes: docs/facts/oci-registries.md#sizes


class ImageSize(NamedTuple):
    """Bytes in the memory of a VM. total: compressed and unpacked; exact: whether nothing of it is estimated.

    least: what the unpacked layers take in any case.
    """

    total: int
    least: int
    exact: bool = True


def is_sized(layers: Any) -> bool:
    """Tell whether both sizes of each layer are known. layers: of an entry of the lock, of any shape."""
    rows = maps(layers)
    return bool(rows) and all(isinstance(one.get(name), int) for one in rows for name in SIZES)


def image_size(layers: Iterable[Mapping[str, Any]]) -> ImageSize | None:
    """Add up the layers of an image as a lock names them; None if it does not say what they take."""
    total = least = 0
    exact, known = True, False
    for layer in layers:
        compressed, unpacked = (layer.get(name) for name in SIZES)
        both = _both(compressed, unpacked)
        if both is None:
            return None
        known = True
        exact = exact and compressed is not None and unpacked is not None
        least += both[0] if unpacked is None else unpacked
        total += sum(both)
    return ImageSize(total, least, exact) if known else None


def _both(compressed: int | None, unpacked: int | None) -> tuple[int, int] | None:
    """Return both sizes of a layer, one of them estimated if need be; None if neither is known."""
    more, less = TIMES
    if compressed is None:
        return None if unpacked is None else (unpacked * less // more, unpacked)
    return compressed, compressed * more // less if unpacked is None else unpacked
