"""What the ImageLock says of the images of a pod, before their settings go into its policy.

    the lock has                                          finding
    no entry of the whole reference                       CC0504, an error
    no entry, but the digest under another tag            CC0510 besides: which tag it is known by
    an entry whose tag nobody has looked up               CC0510, a warning

Rule of this file: entries are found by the whole reference, exactly as the pod names the image.
"""

from collections.abc import Mapping

from krm_function.api.records import ImageFacts
from krm_function.findings import Finding, Path, finding
from krm_function.model.image import Image, parse_image
from krm_function.policy.pod_metadata import PodMetadata


def images_not_locked(pod: PodMetadata, images: Mapping[str, ImageFacts]) -> list[Finding]:
    """Return CC0504 for every image that the ImageLock does not have, and CC0510 if it has the digest."""
    findings: list[Finding] = []
    for path, reference in _references(pod):
        if reference not in images:
            from krm_function.model.known_tags import other_tags

            findings.append(finding("CC0504", pod.ref, path, image=reference))
            image = parse_image(reference)
            known = other_tags(image, images) if isinstance(image, Image) else ()
            findings += [_doubtful(pod, path, image, ", ".join(known))] if known and isinstance(image, Image) else []
    return findings


def unproven_tags(pod: PodMetadata, images: Mapping[str, ImageFacts]) -> list[Finding]:
    """Return CC0510 for every image whose tag nobody has looked up; all of them are in the lock."""
    findings: list[Finding] = []
    for path, reference in _references(pod):
        known = images[reference].found_as
        image = parse_image(reference) if known else ""
        findings += [_doubtful(pod, path, image, known)] if isinstance(image, Image) else []
    return findings


def _references(pod: PodMetadata) -> list[tuple[Path, str]]:
    return [
        ((*pod.spec_path, key, index, "image"), container["image"])
        for key in ("initContainers", "containers")
        for index, container in enumerate(pod.spec.get(key) or ())
    ]


def _doubtful(pod: PodMetadata, path: Path, image: Image, known: str) -> Finding:
    name = str(image._replace(digest=""))
    return finding("CC0510", pod.ref, path, image=str(image), known=known, tag=image.tag, name=name)
