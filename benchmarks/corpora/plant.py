"""Plant the placeholder into the workloads of a stream, and pin their images.

Rule of this file: no image is looked up. A reference gets a digest that is made of its own text, and the lock says of
each that it runs as a user with a number, has a program, and no VOLUME: what is refused because of an image is not
measured here, nor what the layers of a real one weigh.
"""

from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any, NamedTuple

from krm_function.config.image_lock import ImageFacts
from krm_function.contrast.gpus import gpu_count
from krm_function.hosts.stream import decode_stream, encode_stream
from krm_function.kubernetes.image import Image, parse_image
from krm_function.kubernetes.objects import controller_of, dig, objects, reference
from krm_function.kubernetes.workload import Workload, workloads_of
from krm_function.text.changes import Change
from krm_function.text.errors import YamlError
from krm_function.text.parse import parse
from krm_function.text.splice import splice

PLACEHOLDER = "contrast-cc-metal-qemu-snp"
OWNER = f"registry.example.com/tools/busybox:1.37@sha256:{'b' * 64}"  # of `adopt --volume-owner`
Key = tuple[str, str, str, str]  # kind, namespace, name, place of the pod template
FACTS = {"User": "65532:65532", "Entrypoint": ["/program"], "WorkingDir": "/"}


class Planted(NamedTuple):
    """A stream whose workloads ask for Contrast. workloads: as they stand in it, by key."""

    text: str
    workloads: dict[Key, Workload]


def key_of(workload: Workload) -> Key:
    """Name a pod template within a stream."""
    kind, namespace, name = workload.ref.kind, workload.ref.namespace, workload.ref.name
    return kind, namespace, name, ".".join(map(str, workload.template))


def planted(
    text: str, wanted: Callable[[Key], bool], edit: Callable[[Workload], list[Change]] = lambda _: []
) -> Planted:
    """Plant into the wanted workloads. edit: more changes of one. Raises YamlError."""
    stream = decode_stream(text.encode("utf-8"))
    texts: list[str] = []
    found: dict[Key, Workload] = {}
    for resource in stream.resources:
        if "containers" not in resource.text:
            texts.append(resource.text)
            continue
        document = parse(resource.text, line=resource.line)
        here = [one for one in _workloads(document.value) if wanted(key_of(one))]
        changes = [change for one in here for change in (*edit(one), *_changes(one))]
        try:
            texts.append(splice(document, changes).text if changes else resource.text)
        except YamlError:
            texts.append(resource.text)  # a document that cannot be edited stays plain
            continue
        found |= {key_of(one): one for one in here}
    return Planted(encode_stream(stream, texts).decode("utf-8"), found)


def _workloads(value: Any) -> Iterator[Workload]:
    for root, each in objects(value):
        if controller_of(each):
            continue  # of a live cluster: no render takes it
        for one in workloads_of(each, root, reference(each)):
            if isinstance(dig(each, (*one.template, "spec")), dict) and _is_whole(one):
                yield one


def _is_whole(workload: Workload) -> bool:
    """Tell a pod from a patch of one, which names no images."""
    return bool(workload.containers) and all(
        isinstance(one.container.get("image"), str) for one in workload.all_containers
    )


def _changes(workload: Workload) -> Iterator[Change]:
    name = f"{PLACEHOLDER}-gpu" if gpu_count(workload.pod_spec) else PLACEHOLDER
    yield Change((*workload.spec_path, "runtimeClassName"), "set", name)
    for each in workload.all_containers:
        image = each.container.get("image")
        if isinstance(image, str) and image and pinned(image) != image:
            yield Change((*each.path, "image"), "set", pinned(image))


def pinned(image: str) -> str:
    """Return a reference with a digest; one that has one, or is none, as it is."""
    parsed = parse_image(image)
    if not isinstance(parsed, Image) or parsed.digest:
        return image
    return f"{image}@sha256:{sha256(image.encode()).hexdigest()}"


def facts(workloads: Iterator[Workload] | list[Workload]) -> dict[str, ImageFacts]:
    """Return the lock of some workloads, before or after they were planted."""
    named = {OWNER} | {pinned(str(each.container.get("image"))) for one in workloads for each in one.all_containers}
    return {name: ImageFacts(name.rpartition("@")[2], FACTS, "", "") for name in named if "@sha256:" in name}
