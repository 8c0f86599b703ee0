"""What `lock --upgrade` asks a registry for again, and what becomes of the tags that a lock knows.

    image of the input            without names         by a name
    name:tag, name:tag@digest     asked by its tag      asked by its tag
    name@digest                   stays                 CC1241: it has no tag
    of the Contrast release       stays                 CC1241: its digest belongs to the release

Rule of this file: only images that the input itself names are asked for again, since what a render adds is a fact of
the release. Without --upgrade nothing that a lock knows is asked for.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from krm_function.cli.lock.needed_images import Use
from krm_function.cli.lock.pinned_files import NOT_PINNED
from krm_function.findings import Finding, finding
from krm_function.lock import FOUND_AS
from krm_function.model.image import Image, is_contrast_image, parse_image
from krm_function.model.known_tags import other_tags
from krm_function.record import NamedTuple
from krm_function.schema.nearest import nearest
from krm_function.wiring.pin import Pin


class Upgrade(NamedTuple):
    """images: those to ask for by their tags. findings: names that say nothing."""

    images: frozenset[Image] = frozenset()
    findings: tuple[Finding, ...] = ()


def chosen_images(
    names: Sequence[str], images: Iterable[Image], in_input: Collection[str], released: Collection[str]
) -> Upgrade:
    """Choose the images to look up again.

    names: of the command line, none for all. in_input: references there. released: those that the release pins.
    """
    own = [image for image in images if str(image) in in_input]
    facts = {image for image in own if is_contrast_image(str(image)) or str(image) in released}
    able = [image for image in own if image.tag and image not in facts]
    if not names:
        return Upgrade(frozenset(able))
    findings = []
    for name in dict.fromkeys(names):
        meant = [image for image in own if _is_meant(name, image)]
        if not any(image in able for image in meant):
            findings.append(_says_nothing(name, meant, own, facts))
    return Upgrade(frozenset(one for one in able if any(_is_meant(name, one) for name in names)), tuple(findings))


def _is_meant(name: str, image: Image) -> bool:
    """Tell whether a name or glob means an image: with or without its registry, its first directories and its tag."""
    texts = {image._replace(digest=""), image._replace(tag="", digest="")}
    whole = {str(image), image.name, *map(str, texts)}
    tails = {"/".join(text.split("/")[first:]) for text in whole for first in range(text.count("/") + 1)}
    return any(fnmatchcase(text, name) for text in tails)


def _says_nothing(name: str, meant: Sequence[Image], own: Sequence[Image], facts: Collection[Image]) -> Finding:
    if any(image in facts for image in meant):
        return finding("CC1241.release", option="--upgrade", image=name)
    if meant:
        return finding("CC1241.no-tag", option="--upgrade", image=name)
    near = nearest(name, [str(one._replace(tag="", digest="")).rpartition("/")[2] for one in own])
    known = near or ", ".join(sorted({str(one) for one in own})) or "none"
    return finding("CC1241.unknown", option="--upgrade", image=name, known=known)


def with_tags(
    entries: Mapping[str, dict[str, Any]], known: Mapping[str, dict[str, Any]], asked: Collection[str]
) -> dict[str, dict[str, Any]]:
    """Return entries that say of a digest by which other tag it is known, where nobody has asked for its own tag.

    known: the entries of all locks by reference. asked: references whose tag was looked up.
    """
    made = {}
    for name, entry in entries.items():
        image = parse_image(name)
        found_as = ""
        if name in known:
            found_as = known[name].get(FOUND_AS, "")
        elif isinstance(image, Image):
            tags = other_tags(image, known)
            found_as = min((_first_tag(image, tag, known) for tag in tags), default="")
        plain = {key: value for key, value in entry.items() if key != FOUND_AS}
        made[name] = {**plain, FOUND_AS: found_as} if found_as and name not in asked else plain
    return made


def _first_tag(image: Image, tag: str, known: Mapping[str, dict[str, Any]]) -> str:
    """Return the tag by which the entry of another tag was found."""
    first: str = known.get(str(image._replace(tag=tag)), {}).get(FOUND_AS, "")
    return first if first and first != image.tag else tag


def unwritten(pin: Pin) -> Finding:
    """Return what to do about a digest that no file has now."""
    if not pin.image.digest:
        return finding(NOT_PINNED, image=str(pin.image), digest=pin.digest, pinned=pin.pinned)
    return finding("CC1240", image=str(pin.image), tag=pin.image.tag, digest=pin.digest, pinned=pin.pinned)


def kept_entries(
    pins: Iterable[Pin], written: Collection[Image], known: Mapping[str, dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Return the known entries of images that keep their old digest, because no file has the new one."""
    old = [str(pin.image) for pin in pins if pin.image not in written]
    return {name: known[name] for name in old if name in known}


def doubtful_tags(images: Mapping[Image, Use], entries: Mapping[str, dict[str, Any]]) -> list[Finding]:
    """Return CC0510 for each image whose tag nobody has looked up, at its first place."""
    findings = []
    for image, use in images.items():
        known = entries.get(str(image), {}).get(FOUND_AS, "")
        if known:
            name = str(image._replace(digest=""))
            findings.append(use.place(finding("CC0510", image=str(image), known=known, tag=image.tag, name=name)))
    return findings
