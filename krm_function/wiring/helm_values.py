"""Digests in a file of Helm values, behind the tags.

Rule of this file: a value changes only if it makes up exactly the image that a chart has rendered, and then only in
its tag: `tag: "1.2@sha256:..."` gives registry/name:1.2@sha256:... in a chart that writes name:tag. A value for digests
gets none: a chart that reads it may drop the tag, and the lock has the reference with the tag. Only where it holds the
digest of an image that is rendered with tag and digest, that digest is replaced.

    value                                             becomes
    image: registry/name:1.2                          image: registry/name:1.2@sha256:...
    {registry: ..., repository: ..., tag: "1.2"}      tag: "1.2@sha256:..."
    the same with an empty tag, or none               likewise; the chart takes the tag from its appVersion
    {..., tag: "1.2@sha256:<old>"}                    tag: "1.2@sha256:<new>"
    {..., tag: "1.2", digest: "sha256:<old>"}         digest: "sha256:<new>"
"""

from collections.abc import Iterator, Sequence
from typing import Any

from krm_function.findings import NOTHING, Cause, Path
from krm_function.wiring.pin import Pin, Pinned
from krm_function.yamltext import Change, parse
from krm_function.yamltext.edit.splice import splice

NAMES = ("repository", "image", "name")  # keys of a map that name an image without its tag


def pin_in_values(text: str, pins: Sequence[Pin]) -> Pinned:
    """Pin images in values. Raises YamlError, and ValueError for a text that is no map."""
    document = parse(text)
    if not isinstance(document.value, dict | None):
        raise ValueError("it is no map of values")  # noqa: TRY004 (what the file holds, not a misuse)
    pinned, left = [], []
    changes: list[Change] = []
    for pin in pins:
        of_pin = list(_changes(document.value, (), pin))
        changes += of_pin
        if of_pin:
            pinned.append(pin)
        else:
            left.append((pin, Cause("CC1215.value", NOTHING)))
    return Pinned(splice(document, changes).text if changes else text, tuple(pinned), tuple(left))


def _changes(value: Any, path: Path, pin: Pin) -> Iterator[Change]:
    """Yield the changes that pin an image in a value and below it."""
    if isinstance(value, str) and value == str(pin.image):
        yield Change(path, "set", pin.pinned)
    elif isinstance(value, dict):
        key = _key(value, pin)
        if key:
            yield Change((*path, key), "set", f"{pin.image.tag}@{pin.digest}" if key == "tag" else pin.digest)
        for key, part in value.items():
            yield from _changes(part, (*path, key), pin)
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _changes(part, (*path, index), pin)


def _key(value: dict[str, Any], pin: Pin) -> str:
    """Return the key of a map by which it makes up an image: tag, or digest; "" if it makes up another one."""
    names = [value[key] for key in NAMES if isinstance(value.get(key), str)]
    registry = value.get("registry")
    if not pin.image.tag or not any(pin.name in {name, f"{registry}/{name}"} for name in names):
        return ""
    tag, old = value.get("tag"), pin.image.digest
    if old and tag == f"{pin.image.tag}@{old}":
        return "tag"
    same_tag = tag in {None, ""} or str(tag) == pin.image.tag
    if old:
        return "digest" if same_tag and value.get("digest") == old else ""
    return "tag" if same_tag else ""
