"""Image references: their parts, the other tags of a digest, and their replacements by a render."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

from krm_function.record import NamedTuple

# --- Parse image references: `registry/repository:tag@sha256:<hex>`
#
# Rule: the grammar is the OCI distribution reference grammar with sha256 as the only digest. Every pattern
# is linear and every text is capped before it is matched.


CONTRAST = "ghcr.io/edgelesssys/contrast"
LONGEST = 512  # characters of a reference
LONGEST_NAME = 255  # characters of registry/repository

# The grammar in parts; api/ builds its JSON Schemas from the same ones.
COMPONENT = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
LABEL = r"[a-zA-Z0-9]+(?:-+[a-zA-Z0-9]+)*"
HOST = rf"(?:{LABEL}(?:\.{LABEL})*|\[[0-9a-fA-F:]{{2,45}}\])"
# A part before a slash is a registry when it has a dot, a port or a capital, or is localhost, and a path component
# otherwise: as Docker and containerd read it.
IS_REGISTRY = r"localhost/|[^/.:A-Z\[]*[.:A-Z\[][^/]*/"
REGISTRY = rf"{HOST}(?::[0-9]{{1,5}})?"
NAME = rf"(?:(?={IS_REGISTRY})({REGISTRY})/|(?!{IS_REGISTRY}))({COMPONENT}(?:/{COMPONENT})*)"
TAG = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}"
DIGEST = r"sha256:[0-9a-f]{64}"
REFERENCE = rf"{NAME}(?::({TAG}))?(?:@({DIGEST}))?"
PINNED = rf"{NAME}(?::({TAG}))?@({DIGEST})"


class Image(NamedTuple):
    """A reference in parts, as written: registry, tag and digest are "" when absent. digest: `sha256:<64 hex>`."""

    registry: str
    repository: str
    tag: str
    digest: str

    @property
    def pinned(self) -> bool:
        """Whether the reference has a digest, so that it always means the same image."""
        return bool(self.digest)

    @property
    def name(self) -> str:
        """`registry/repository` with Docker's defaults filled in: nginx is docker.io/library/nginx."""
        if self.registry not in {"", "docker.io", "index.docker.io"}:
            return f"{self.registry}/{self.repository}"
        return f"docker.io/{self.repository if '/' in self.repository else 'library/' + self.repository}"

    @property
    def untagged(self) -> str:
        """The reference without its tag and digest, as it was written."""
        return str(self._replace(tag="", digest=""))

    def __str__(self) -> str:
        text = f"{self.registry}/{self.repository}" if self.registry else self.repository
        return text + (f":{self.tag}" if self.tag else "") + (f"@{self.digest}" if self.digest else "")


def is_pinned(text: str) -> bool:
    """Tell whether a text is a reference with a digest, as the pattern PINNED."""
    matched = re.fullmatch(REFERENCE, text)
    return matched is not None and matched[4] is not None


@lru_cache(maxsize=256)
def parse_image(text: str) -> Image | str:
    """Parse a reference; return a problem text (lower case, no full stop) for any other text."""
    if not text:
        return "it is empty"
    if len(text) > LONGEST:
        return f"it is longer than {LONGEST} characters"
    matched = re.fullmatch(REFERENCE, text)
    if matched is None:
        return _find_problem(text)
    registry, repository, tag, digest = matched[1] or "", matched[2], matched[3] or "", matched[4] or ""
    if len(registry) + len(repository) + bool(registry) > LONGEST_NAME:
        return f"its name is longer than {LONGEST_NAME} characters"
    if not registry and re.fullmatch("[0-9a-f]{64}", repository):
        return "64 hex digits are an image ID, not a name"
    return Image(registry, repository, tag, digest)


def _find_problem(text: str) -> str:
    if "{{" in text:
        return "it is a template that no program has rendered"
    name, at, digest = text.partition("@")
    if "@" in digest:
        return "it has two digests"
    if at and not re.fullmatch(DIGEST, digest):
        if not digest.startswith("sha256:"):
            return "its digest must start with sha256:"
        return "its digest must be sha256: and 64 lower-case hex digits"
    if "://" in name:
        return "a reference has no scheme such as https://"
    path, colon, tag = name.rpartition(":")
    if not colon or "/" in tag:
        path, colon, tag = name, "", ""
    if colon and re.fullmatch(r"[0-9.]+e\+[0-9]+", tag):
        return "its tag is a number, as YAML reads a tag such as 706798e8 without quotes; quote it where you set it"
    if colon and not re.fullmatch(TAG, tag):
        return "its tag is not valid"
    if path != path.lower() and "/" not in path:
        return "its name must be lower case"
    return "its name is not valid"


def printable_reference(text: str) -> str:
    """Make a text that should be a reference safe to print: without a URL's login and query."""
    name, at, digest = text.rpartition("@sha256:")
    if not at or not re.fullmatch("[0-9a-fA-F]*", digest):
        name, at, digest = text, "", ""
    name = re.sub(r"\A.*@", "…@", name, flags=re.DOTALL)
    return re.sub(r"[?#].*", "?…", name, flags=re.DOTALL) + at + digest


def is_contrast_image(text: str) -> bool:
    """Tell whether the reference names one of Contrast's own images, which a render replaces by pinned ones.

    Contrast tests the bare prefix (docs/facts/contrast.md#checks); here it must end at a `/`, `:` or `@`, or the text
    itself.
    """
    return text.startswith(CONTRAST) and text[len(CONTRAST) : len(CONTRAST) + 1] in {"", "/", ":", "@"}


# --- Other tags of a digest than a reference's
#
#     reference          the lock knows                    other tags
#     name:2@D           name:1@D                          1
#     name:2@D           name:1@D, found as 0.9            1
#     name:2@D           other/name:1@D                    none: another repository may tag as it likes
#     name:2@D           name@D, name:2@D                  none: neither has another tag
#     name@D             anything                          none: it has no tag that could be wrong
#     name:2             anything                          none: a registry is asked for it
#
# Rule: a node pulls by digest and reads no tag, so a tag beside an old digest names an image that does not
# run. Nothing here asks a registry.


def other_tags(image: Image, references: Iterable[str]) -> tuple[str, ...]:
    """Return the other tags under which references name the digest of an image in its own repository, sorted."""
    if not image.tag or not image.digest:
        return ()
    images = (parse_image(text) for text in references if text.endswith(image.digest))
    tags = {
        image_of_text.tag
        for image_of_text in images
        if isinstance(image_of_text, Image) and image_of_text.name == image.name
    }
    return tuple(sorted(tags - {"", image.tag})) if image.tag not in tags else ()


# --- Whether a render may have made an image of another one
#
# Rule: it goes by the replacements of a release, and for outputs of older releases by repositories.


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
    replacements = frozenset(replaced.values())

    def rule(now: str, old: str) -> bool:
        replacement = replaced.get(old)
        if replacement is None or now in replacements:
            return replacement == now
        parsed = [parse_image(text) for text in (now, old, replacement)]
        if not all(isinstance(image, Image) for image in parsed):
            return False
        names = [image.name for image in parsed if isinstance(image, Image)]
        pinned = [image.pinned for image in parsed if isinstance(image, Image)]
        return names[0] in names[1:] and (pinned[0] or not pinned[2])

    return rule


def images_again(replaced: Mapping[str, str], images: Images) -> Images:
    """Map an image to its image after a render: the replacement of any that it may have been before."""
    return lambda now, new: any(
        replacement == new and (now == name or images(now, name)) for name, replacement in replaced.items()
    )
