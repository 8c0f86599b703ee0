"""Whether a render may have made an image of another one.

Rule of this file: it goes by the replacements of a release, and for outputs of older releases by repositories.
"""

from collections.abc import Callable, Mapping

from krm_function.model.image import Image, parse_image

Images = Callable[[str, str], bool]  # the image now, the image before: whether a render may have replaced it


def any_image(_now: str, _before: str) -> bool:
    """Accept any image: where no release is known, and nothing of the result is deployed."""
    return True


def images_of(replaced: Mapping[str, str]) -> Images:
    """Make the rule for images from the replacements of a release: reference -> pinned reference.

    now                                     before: a reference that the release replaces
    is the replacement of one               of this one
    is any other, of an older release       of the same repository as itself or as its replacement; both with a digest
    """
    known = frozenset(replaced.values())

    def rule(now: str, before: str) -> bool:
        wanted = replaced.get(before)
        if wanted is None or now in known:
            return wanted == now
        parsed = [parse_image(one) for one in (now, before, wanted)]
        if not all(isinstance(one, Image) for one in parsed):
            return False
        names = [one.name for one in parsed if isinstance(one, Image)]
        pinned = [one.pinned for one in parsed if isinstance(one, Image)]
        return names[0] in names[1:] and (pinned[0] or not pinned[2])

    return rule


def images_again(replaced: Mapping[str, str], images: Images) -> Images:
    """Make the rule from an image now to that after a render: the replacement of any that it may have been before."""
    return lambda now, after: any(
        wanted == after and (now == name or images(now, name)) for name, wanted in replaced.items()
    )
