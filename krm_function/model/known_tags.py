"""Which tags a digest is known by, beside the one of a reference.

    reference          the lock knows                    other tags
    name:2@D           name:1@D                          1
    name:2@D           name:1@D, found as 0.9            1
    name:2@D           other/name:1@D                    none: another repository may tag as it likes
    name:2@D           name@D, name:2@D                  none: neither says anything else
    name@D             anything                          none: it has no tag that could be wrong
    name:2             anything                          none: a registry is asked for it

Rule of this file: a node pulls by digest and reads no tag, so a tag beside an old digest names an image that does not
run. Nothing here asks a registry.
"""

from collections.abc import Iterable

from krm_function.model.image import Image, parse_image


def other_tags(image: Image, references: Iterable[str]) -> tuple[str, ...]:
    """Return the other tags under which references name the digest of an image in its own repository, sorted."""
    if not image.tag or not image.digest:
        return ()
    known = (parse_image(text) for text in references if text.endswith(image.digest))
    tags = {one.tag for one in known if isinstance(one, Image) and one.name == image.name}
    return tuple(sorted(tags - {"", image.tag})) if image.tag not in tags else ()
