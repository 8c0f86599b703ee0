"""Digests in `images:` of a kustomization, beside the tags.

Rule of this file: an entry of `images:` is for every tag and digest of its name in the whole build, so a name that is
used in two ways gets none. newTag and digest are written together: with a digest alone kustomize drops the tag, and the
reference would be another one than the lock has (docs/facts/kustomize.md#images).

    entry of that name                 written
    none, or one with tagSuffix, or    a new entry at the end, with the name of the build's output
    one that has no effect
    one that makes the output's name   newTag and digest of the last such entry
    one with newTag: "1.2@sha256:..."  newTag: "1.2@sha256:<new>", as docs/facts/delivery.md#renovate reads it
"""

from collections.abc import Collection, Sequence
from typing import Any

from krm_function.findings import Cause
from krm_function.model.image import parse_image
from krm_function.model.lookup import mapping, maps
from krm_function.wiring.pin import Pin, Pinned
from krm_function.yamltext import Change, parse
from krm_function.yamltext.edit.splice import splice

IMAGES = "images"


def pin_in_kustomization(text: str, pins: Sequence[Pin], used: Collection[str]) -> Pinned:
    """Pin images. used: all references of the build's output, of other workloads as well. Raises YamlError.

    Raises ValueError for a text that is no kustomization.
    """
    document = parse(text)
    value = mapping(document.value)
    if not isinstance(document.value, dict) or value.get("kind", "Kustomization") != "Kustomization":
        raise ValueError("it is no kustomization")
    if not isinstance(value.get(IMAGES), list | None) or not all(
        isinstance(one, dict) for one in value.get(IMAGES) or ()
    ):
        raise ValueError("images is no list of maps")
    entries, pinned, left = maps(value.get(IMAGES)), [], []
    changes: list[Change] = []
    new: list[dict[str, Any]] = []
    for pin in pins:
        others = _other_uses(pin, used)
        if others:
            left.append((pin, Cause("CC1215.other", {"other": ", ".join(others)})))
            continue
        pinned.append(pin)
        index = _entry(entries, pin)
        if index is None:
            new.append({"name": pin.name, **_fields(pin)})
        else:
            fields = _joined(pin) if "@" in str(entries[index].get("newTag")) else _fields(pin)
            changes += [Change((IMAGES, index, key), "set", text) for key, text in fields.items()]
    if new and entries:
        changes += [Change((IMAGES, len(entries) + number), "insert", entry) for number, entry in enumerate(new)]
    elif new:
        changes.append(Change((IMAGES,), "set", new))
    return Pinned(splice(document, changes).text if changes else text, tuple(pinned), tuple(left))


def _fields(pin: Pin) -> dict[str, str]:
    return {**({"newTag": pin.image.tag} if pin.image.tag else {}), "digest": pin.digest}


def _joined(pin: Pin) -> dict[str, str]:
    return {"newTag": f"{pin.image.tag}@{pin.digest}"}


def _entry(entries: Sequence[dict[str, Any]], pin: Pin) -> int | None:
    """Return the last entry that makes the image's name; None if there is none that can hold a tag and a digest.

    An entry that has this digest has no effect: if it matched an image, that image would be pinned already.
    """
    for index in reversed(range(len(entries))):
        entry = entries[index]
        if (entry.get("newName") or entry.get("name")) == pin.name:
            return None if "tagSuffix" in entry or entry.get("digest") == pin.digest else index
    return None


def _other_uses(pin: Pin, used: Collection[str]) -> list[str]:
    """Return the other references of the same name."""
    uses = []
    for text in sorted(used):
        image = parse_image(text)
        if not isinstance(image, str) and str(image._replace(tag="", digest="")) == pin.name:
            uses += [text] if text not in {str(pin.image), pin.pinned} else []
    return uses
