"""Tell the release from the tags of its images.

Rule of this file: only a tag that looks like a version counts; `latest` and a digest alone do not.
"""

import re
from collections.abc import Iterable
from typing import Any

from krm_function.api.contrast_release import VERSION
from krm_function.model.image import Image, parse_image
from krm_function.release.facts import Fact


def version_facts(images: Iterable[Any], file: str, line: int) -> tuple[Fact, ...]:
    """Return the versions in image references."""
    parsed = [parse_image(image) for image in images if isinstance(image, str)]
    tags = [image.tag for image in parsed if isinstance(image, Image)]
    return tuple(Fact(("version",), tag, file, line) for tag in dict.fromkeys(tags) if re.fullmatch(VERSION, tag))
