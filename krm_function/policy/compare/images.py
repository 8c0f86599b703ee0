"""Compare the images of two container policies: the storages that bind them, and their names.

A policy names a container's image in an annotation, which no rule compares, and may bind it with an image storage.

Rule of this file: a storage that binds an image is compared; the image's name is, where it differs from the storage's.
"""

from collections.abc import Iterator
from typing import Any

from krm_function.model.lookup import dig, mapping
from krm_function.policy.compare.difference import (
    ARROW,
    CANNOT_TELL,
    DIFFERENT,
    STRONGER,
    WEAKER,
    FieldChange,
    Op,
    as_text,
    both_texts,
    equal_json,
)
from krm_function.policy.image_storage import digest_suffix, images, is_bound, misshapen, without_images

Json = dict[str, Any]

NAME = "io.kubernetes.cri.image-name"
UNBOUND = "nothing binds the image any more: the host may have any image pulled"
BOUND = "the image is bound to its digest"
BOUND_SANDBOX = "the sandbox's image is the VM's own"
ANY = "nothing binds the image: without a digest any image will do"


def compare_images(old: Json, new: Json, *, sandbox: bool) -> Iterator[FieldChange]:
    """Yield the changes of one container's image. sandbox: whether it is the pause container."""
    before, after = images(old.get("storages")), images(new.get("storages"))
    if not equal_json(before, after):
        yield _compare_storages(before, after, sandbox=sandbox)
    notes = [dig(entry, ("OCI", "Annotations")) for entry in (old, new)]
    if not all(one is None or isinstance(one, dict) for one in notes):
        return  # `compare_annotations` compares them as a whole
    names = [mapping(one).get(NAME) for one in notes]
    sources = [[storage.get("source") for storage in found] for found in (before, after)]
    if not equal_json(*names) and not equal_json(sources, [[name] for name in names]):
        yield _compare_names(*names)


def without_image(entry: Json) -> Json:
    """Return a container's policy without the parts that `compare_images` compares."""
    out = dict(entry)
    if isinstance(entry.get("storages"), list):
        out["storages"] = without_images(entry["storages"])
    notes = dig(entry, ("OCI", "Annotations"))
    if isinstance(notes, dict) and NAME in notes:
        out["OCI"] = {**entry["OCI"], "Annotations": {key: notes[key] for key in notes if key != NAME}}
    return out


def _compare_storages(before: list[Json], after: list[Json], *, sandbox: bool) -> FieldChange:
    """Compare two lists of image storages that are not equal.

    before          after           verdict
    any             none            weaker
    any             malformed       weaker: two storages, or one with a member that no node sends
    any             no digest       weaker
    malformed       bound           weaker
    none            bound           stronger
    no digest       bound           stronger
    bound           bound           different: another image, or another name of the same
    """
    op: Op = "changed" if before and after else "removed" if before else "added"
    what = ARROW.join(filter(None, (_sources(before), _sources(after))))
    if not after:
        return FieldChange(op, what, WEAKER, UNBOUND)
    if not _well_formed(after) or (before and not _well_formed(before)):
        return FieldChange(op, what, WEAKER, CANNOT_TELL)
    if not is_bound(after[0], sandbox=sandbox):
        return FieldChange(op, what, WEAKER, ANY if not sandbox else CANNOT_TELL)
    if not before or not is_bound(before[0], sandbox=sandbox):
        return FieldChange(op, what, STRONGER, BOUND_SANDBOX if sandbox else BOUND)
    if digest_suffix(before[0]["source"]) == digest_suffix(after[0]["source"]):
        return FieldChange(op, what, DIFFERENT, "the same image under another name")
    return FieldChange(op, what, DIFFERENT, "another image")


def _well_formed(storages: list[Json]) -> bool:
    return len(storages) == 1 and not misshapen(storages[0])


def _sources(storages: list[Json]) -> str:
    return ", ".join(as_text(storage.get("source")) for storage in storages)


def _compare_names(old: Any, new: Any) -> FieldChange:
    if new is None:
        return FieldChange("removed", as_text(old), WEAKER, "the policy names no image any more")
    if old is None:
        return FieldChange("added", as_text(new), STRONGER, "the policy names an image")
    return FieldChange("changed", both_texts(old, new), DIFFERENT, "another image")
