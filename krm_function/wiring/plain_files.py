"""Digests in the image fields of plain YAML: files of objects as kpt, kubectl and `generate` read them.

Rule of this file: a field changes only if it is exactly the image of a pin, and then only in its digest. Every other
byte of the file stays, comments and other documents included. The edit is not recorded: it is the user's own, made by a
command, and no render undoes it.
"""

from collections.abc import Mapping, Sequence

from krm_function.wiring.image_places import image_places
from krm_function.wiring.pin import Pin
from krm_function.yamltext import parse, split_stream
from krm_function.yamltext.edit.within import replace_scalars


def pin_in_file(text: str, pins: Sequence[Pin]) -> tuple[str, frozenset[Pin]]:
    """Return a file with its images pinned, and the pins that it holds now. Raises YamlError."""
    wanted = {str(pin.image): pin for pin in pins}
    made: set[Pin] = set()
    for chunk in reversed(split_stream(text)):
        if not chunk.empty and _may_name(chunk.of(text), wanted):
            document = parse(chunk.of(text), line=chunk.line)
            places = [(path, wanted[image]) for path, image in image_places(document.value) if image in wanted]
            if places:
                words = {path: (str(pin.image), pin.pinned) for path, pin in places}
                text = chunk.replaced(text, replace_scalars(document, words))
                made.update(pin for _, pin in places)
    return text, frozenset(made)


def _may_name(text: str, wanted: Mapping[str, Pin]) -> bool:
    """Tell whether a text may hold one of the names; only an escape of a quoted scalar can write one otherwise."""
    return "\\" in text or any(name in text for name in wanted)
