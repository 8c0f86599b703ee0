"""Digests where a deployment's own files name images: kustomizations, Helm values, plain files."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from krm_function.findings import NOTHING, Cause, Path
from krm_function.kubernetes.image import Image, parse_image
from krm_function.kubernetes.objects import dig, mapping, maps
from krm_function.record import NamedTuple
from krm_function.text.changes import Change
from krm_function.text.parse import parse
from krm_function.text.splice import splice
from krm_function.text.split import split_stream
from krm_function.text.within import replace_scalars

# --- An image that a deployment's own file is to pin, and the file with its pins
#
# Rule: records only.


class Pin(NamedTuple):
    """An image with a tag, as rendered pods name it, and the digest that the tag has now.

    image: without a digest, or with the old one.
    """

    image: Image
    digest: str

    @property
    def pinned(self) -> str:
        """The reference with its present digest."""
        return str(self.image._replace(digest=self.digest))


class Pinned(NamedTuple):
    """A file with pins. done: those in it; untagged: those whose tag it lacked before; unpinned: others, and why."""

    text: str
    done: Collection[Pin] = ()
    unpinned: tuple[tuple[Pin, Cause], ...] = ()
    untagged: Collection[Pin] = ()


# --- The image fields of an object, wherever its pods are
#
#     key of a list of maps                            image
#     containers, initContainers, ephemeralContainers  image
#     volumes                                          image.reference
#
# Rule: fields are found by the shape of a pod and not by the kind of its object, so those of a custom
# resource are found too. A text that holds a manifest, as in a ConfigMap, is not a pod.


CONTAINERS = ("containers", "initContainers")  # where kustomize writes, docs/facts/kustomize.md#images
LISTS = (*CONTAINERS, "ephemeralContainers", "volumes")


def image_places(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield path and text of every image in a value, in its order."""
    if isinstance(value, dict):
        for key, part in value.items():
            place = (*path, key)
            if key in LISTS and isinstance(part, list):
                inner = ("image", "reference") if key == "volumes" else ("image",)
                references = ((index, dig(entry, inner)) for index, entry in enumerate(part))
                yield from (((*place, index, *inner), text) for index, text in references if isinstance(text, str))
            yield from image_places(part, place)
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from image_places(part, (*path, index))


# --- Digests in a file of Helm values, after the tags
#
# Rule: a value changes only if it makes up exactly the image that a chart has rendered, and then only in
# its tag: `tag: "1.2@sha256:..."` gives registry/name:1.2@sha256:... in a chart that writes name:tag. A value for
# digests gets none: a chart that reads it may drop the tag, and the lock has the reference with the tag. Only where it
# holds the digest of an image that is rendered with tag and digest, that digest is replaced.
#
#     value                                             becomes
#     image: registry/name:1.2                          image: registry/name:1.2@sha256:...
#     {registry: ..., repository: ..., tag: "1.2"}      tag: "1.2@sha256:..."
#     the same with an empty tag, or none               likewise; the chart takes the tag from its appVersion
#     {..., tag: "1.2@sha256:<old>"}                    tag: "1.2@sha256:<new>"
#     {..., tag: "1.2", digest: "sha256:<old>"}         digest: "sha256:<new>"


NAMES = ("repository", "image", "name")  # keys of a map that name an image without its tag


def pin_in_values(text: str, pins: Sequence[Pin]) -> Pinned:
    """Pin images in values. Raises YamlError, and ValueError for a text that is not a map."""
    document = parse(text)
    if not isinstance(document.value, dict | None):
        raise ValueError("it is not a map of values")  # noqa: TRY004 (what the file holds, not a misuse)
    pinned, unpinned, untagged = [], [], []
    changes: list[Change] = []
    for pin in pins:
        of_pin = list(_pin_value(document.value, (), pin))
        changes += of_pin
        if of_pin:
            pinned.append(pin)
            untagged += [] if any(dig(document.value, change.path) for change in of_pin) else [pin]
        else:
            unpinned.append((pin, Cause("CC1215.value", NOTHING)))
    return Pinned(splice(document, changes).text if changes else text, tuple(pinned), tuple(unpinned), untagged)


def _pin_value(value: Any, path: Path, pin: Pin) -> Iterator[Change]:
    """Yield the changes in a value and below it."""
    if isinstance(value, str) and value == str(pin.image):
        yield Change(path, "set", pin.pinned)
    elif isinstance(value, dict):
        key = _pinned_key(value, pin)
        if key:
            yield Change((*path, key), "set", f"{pin.image.tag}@{pin.digest}" if key == "tag" else pin.digest)
        for key, part in value.items():
            yield from _pin_value(part, (*path, key), pin)
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _pin_value(part, (*path, index), pin)


def _pinned_key(value: dict[str, Any], pin: Pin) -> str:
    """Return the key to change: tag or digest; "" if the map makes up another image."""
    names = [value[key] for key in NAMES if isinstance(value.get(key), str)]
    registry = value.get("registry")
    if not pin.image.tag or not any(pin.image.untagged in {name, f"{registry}/{name}"} for name in names):
        return ""
    tag, old = value.get("tag"), pin.image.digest
    if old and tag == f"{pin.image.tag}@{old}":
        return "tag"
    same_tag = tag in {None, ""} or str(tag) == pin.image.tag
    if old:
        return "digest" if same_tag and value.get("digest") == old else ""
    return "tag" if same_tag else ""


# --- Digests in `images:` of a kustomization, beside the tags
#
# Rule: an entry of `images:` is for every tag and digest of its name in the whole build, so a name that is
# used in two ways gets none. newTag and digest are written together: with a digest alone kustomize drops the tag, and
# the reference would be another one than the lock has (docs/facts/kustomize.md#images).
#
#     entry of that name                 written
#     none, or one with tagSuffix, or    a new entry at the end, with the name of the build's output
#     one that has no effect
#     one that makes the output's name   newTag and digest of the last such entry
#     one with newTag: "1.2@sha256:..."  newTag: "1.2@sha256:<new>", as docs/facts/delivery.md#renovate reads it


IMAGES = "images"
TAG_KEYS = {"newTag", "tagSuffix"}


def pin_in_kustomization(text: str, pins: Sequence[Pin], used: Collection[str]) -> Pinned:
    """Pin images. used: all references of the build's output, also of other workloads.

    Raises YamlError, and ValueError for a text that is not a kustomization.
    """
    document = parse(text)
    value = mapping(document.value)
    if not isinstance(document.value, dict) or value.get("kind", "Kustomization") != "Kustomization":
        raise ValueError("it is not a kustomization")
    present = value.get(IMAGES)
    if not isinstance(present, list | None) or not all(isinstance(entry, dict) for entry in present or ()):
        raise ValueError("images is not a list of maps")
    entries, pinned, unpinned = maps(present), [], []
    changes: list[Change] = []
    new: list[dict[str, Any]] = []
    for pin in pins:
        other_uses = _find_other_uses(pin, used)
        if other_uses:
            unpinned.append((pin, Cause("CC1215.other", {"other": ", ".join(other_uses)})))
            continue
        pinned.append(pin)
        index = _last_entry(entries, pin)
        if index is None:
            new.append({"name": pin.image.untagged, **_tag_and_digest(pin)})
        else:
            joined = {"newTag": f"{pin.image.tag}@{pin.digest}"}
            fields = joined if "@" in str(entries[index].get("newTag")) else _tag_and_digest(pin)
            changes += [Change((IMAGES, index, key), "set", text) for key, text in fields.items()]
    if new and entries:
        changes += [Change((IMAGES, len(entries) + number), "insert", entry) for number, entry in enumerate(new)]
    elif new:
        changes.append(Change((IMAGES,), "set", new))
    untagged = [pin for pin in pinned if not any(_makes(entry, pin) and TAG_KEYS & entry.keys() for entry in entries)]
    return Pinned(splice(document, changes).text if changes else text, tuple(pinned), tuple(unpinned), untagged)


def _tag_and_digest(pin: Pin) -> dict[str, str]:
    return {**({"newTag": pin.image.tag} if pin.image.tag else {}), "digest": pin.digest}


def _last_entry(entries: Sequence[dict[str, Any]], pin: Pin) -> int | None:
    """Return the last entry that makes the image's name; None if no entry can hold a tag and a digest.

    An entry that has this digest has no effect: if it matched an image, that image would be pinned already.
    """
    for index in reversed(range(len(entries))):
        entry = entries[index]
        if _makes(entry, pin):
            return None if "tagSuffix" in entry or entry.get("digest") == pin.digest else index
    return None


def _makes(entry: dict[str, Any], pin: Pin) -> bool:
    return (entry.get("newName") or entry.get("name")) == pin.image.untagged


def _find_other_uses(pin: Pin, used: Collection[str]) -> list[str]:
    uses = []
    for text in sorted(used):
        image = parse_image(text)
        if not isinstance(image, str) and image.untagged == pin.image.untagged:
            uses += [text] if text not in {str(pin.image), pin.pinned} else []
    return uses


# --- Digests in the image fields of plain YAML: files of objects as kpt, kubectl and `generate` read them
#
# Rule: a field changes only if it is exactly the image of a pin, and then only in its digest. Every other
# byte of the file stays, comments and other documents included. The edit is not recorded: it is the user's own, made by
# a command, and no render undoes it.


def pin_in_file(text: str, pins: Sequence[Pin]) -> tuple[str, frozenset[Pin]]:
    """Return a file with its images pinned, and the pins that it holds now. Raises YamlError."""
    pins_by_name = {str(pin.image): pin for pin in pins}
    done: set[Pin] = set()
    for chunk in reversed(split_stream(text)):
        old = chunk.of(text)
        # a text may hold a name as it is, or with an escape of a quoted scalar
        if not chunk.empty and ("\\" in old or any(name in old for name in pins_by_name)):
            document = parse(old, line=chunk.line)
            images = image_places(document.value)
            places = [(path, pins_by_name[image]) for path, image in images if image in pins_by_name]
            if places:
                words = {path: (str(pin.image), pin.pinned) for path, pin in places}
                text = chunk.replaced(text, replace_scalars(document, words))
                done.update(pin for _, pin in places)
    return text, frozenset(done)
