"""One image, or all of a run: from references to entries of the lock."""

import collections
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from threading import Event
from typing import Any, Protocol, TypeVar

from krm_function.findings import Finding, finding
from krm_function.kubernetes.image import Image
from krm_function.lock.layers import Layer, Shared, accounts, decompressed, scan
from krm_function.lock.media import (
    MALFORMED,
    MISSING,
    Budget,
    Descriptor,
    LockProblem,
    Manifest,
    choose,
    chunks,
    decode_manifest,
    image_config,
    malformed,
    refuse_too_large,
    whole,
)
from krm_function.lock.tar_archives import LAYER
from krm_function.record import NamedTuple

# --- One image: from its reference to its entry in the lock
#
# Rule: the chain of digests is followed link by link (reference, index, manifest, configuration, layers),
# and nothing is taken from a part before the part above it was verified. Sources decide where parts come from.


MANIFEST_LIMIT = 4 << 20  # bytes; what registries accept (OCI distribution specification 1.1)
CONFIG_LIMIT = 8 << 20
T = TypeVar("T")
Consume = Callable[[Iterable[bytes]], T]


class LockLimits(NamedTuple):
    """Limits of reading. layer: bytes of a layer, as fetched and uncompressed; seconds: for one image.

    sizes: read every layer for its uncompressed size, and not only the layers with the files of users.
    """

    layer: int = 8 << 30
    seconds: float = 900
    sizes: bool = False


class Found(NamedTuple):
    """An unverified manifest or index of a source. digest: of the image, "" to compute it from data.

    loose: the image was found by its name, in an archive without manifests, so the digest is not verified.
    """

    data: bytes
    media_type: str = ""
    loose: bool = False


class ImageSource(Protocol):
    """A source of images. All methods raise LockProblem."""

    def find(self, image: Image, digest: str, budget: Budget) -> Found:
        """Find the manifest or index of a digest, or of the image's tag for "". Raises LockProblem (MISSING)."""

    def read(self, image: Image, part: Descriptor, consume: Consume[T], budget: Budget) -> T:
        """Pass the bytes of a part to `consume`, again after a failure of the network, and return its result."""


class Locked(NamedTuple):
    """An image and its entry: `name` is the reference that pods have to use, always with the digest."""

    name: str
    entry: dict[str, Any]
    findings: tuple[Finding, ...] = ()


class SharedState(NamedTuple):
    """The state that all images of a run share."""

    sources: Sequence[ImageSource]
    limits: LockLimits
    layers: Shared


def resolve_image(image: Image, shared: SharedState, facts: dict[str, dict[str, Any]], budget: Budget) -> Locked:
    """Make the entry of one image. facts: entries by digest, which are never fetched again. Raises LockProblem."""
    if image.digest in facts:
        return Locked(str(image), facts[image.digest])
    source, answer = _find_in_sources(image, shared.sources, budget)
    if not image.digest and answer.loose:
        raise LockProblem("CC1209")
    digest = image.digest or f"sha256:{hashlib.sha256(answer.data).hexdigest()}"
    if image.digest and not answer.loose:
        whole([answer.data], Descriptor("", digest, -1), "the manifest", MANIFEST_LIMIT)
    name = str(image._replace(digest=digest))
    notes: tuple[Finding, ...] = ()
    if not image.digest:
        notes += (finding("CC1201", image=str(image), digest=digest, pinned=name),)
    if answer.loose:
        notes += (finding("CC1207", image=str(image)),)
    if digest in facts:
        return Locked(name, facts[digest], notes)
    manifest = _fetch_manifest(image, answer, source, budget)
    entry = {"digest": digest, **_collect_facts(image, manifest, source, shared, budget)}
    if answer.loose:  # the archive's layers are uncompressed, a node's are not
        for layer in entry.get("layers", ()):
            layer.pop("compressedSize", None)
    return Locked(name, entry, notes)


def _find_in_sources(image: Image, sources: Sequence[ImageSource], budget: Budget) -> tuple[ImageSource, Found]:
    for source in sources[:-1]:
        try:
            return source, source.find(image, image.digest, budget)
        except LockProblem as problem:
            if problem.code != MISSING:
                raise
    return sources[-1], sources[-1].find(image, image.digest, budget)


def _fetch_manifest(image: Image, answer: Found, source: ImageSource, budget: Budget) -> Manifest:
    """Follow an index to the manifest."""
    top = decode_manifest(answer.data, answer.media_type)
    if isinstance(top, Manifest):
        return top
    chosen = choose(top)
    refuse_too_large(chosen, "the manifest", MANIFEST_LIMIT)
    inner = source.find(image, chosen.digest, budget)
    data = whole([inner.data], chosen, "the manifest", MANIFEST_LIMIT)
    manifest = decode_manifest(data, inner.media_type or chosen.media_type)
    if not isinstance(manifest, Manifest):
        raise malformed("CC1204.nested-index", "the index")
    return manifest


def _collect_facts(
    image: Image, manifest: Manifest, source: ImageSource, shared: SharedState, budget: Budget
) -> dict[str, Any]:
    limits = shared.limits
    for layer in manifest.layers:
        refuse_too_large(layer, LAYER, limits.layer)

    def small(data: Iterable[bytes]) -> bytes:
        return whole(data, manifest.config, "the image configuration", CONFIG_LIMIT)

    refuse_too_large(manifest.config, "the image configuration", CONFIG_LIMIT)
    settings, diff_ids = image_config(source.read(image, manifest.config, small, budget), len(manifest.layers))

    def layer_of(part: Descriptor, watched: frozenset[str]) -> Layer:
        label = f"layer {part.digest}"

        def consume(data: Iterable[bytes]) -> Layer:
            verified = chunks(data, part, LAYER, limits.layer)
            try:
                scanned = scan(decompressed(verified), watched, limits.layer, budget)
            except LockProblem as problem:
                if problem.code == MALFORMED:  # report it only for the right bytes; wrong ones are another problem
                    collections.deque(verified, maxlen=0)
                    problem.values["what"] = label
                raise
            for _ in verified:  # bytes left here would not have been hashed
                raise malformed("CC1204.behind", label)
            return scanned

        return shared.layers.read(part.digest, watched, lambda: source.read(image, part, consume, budget))

    passwd, group, sizes = accounts(manifest.layers, diff_ids, layer_of, read_all=limits.sizes)
    entry: dict[str, Any] = {
        "config": dict(settings),
        "passwd": passwd or "",  # a missing file is like an empty one; without the member it is unknown
        "group": group or "",
    }
    if manifest.layers:
        entry["layers"] = _layer_entries(manifest, diff_ids, sizes)
    return entry


def _layer_entries(manifest: Manifest, diff_ids: Sequence[str], sizes: Mapping[str, int]) -> list[dict[str, Any]]:
    """Add the sizes that are known."""
    rows = []
    for layer, diff_id in zip(manifest.layers, diff_ids, strict=True):
        row: dict[str, Any] = {"diffID": diff_id}
        if layer.size >= 0:
            row["compressedSize"] = layer.size
        if diff_id in sizes:
            row["uncompressedSize"] = sizes[diff_id]
        rows.append(row)
    return rows


# --- All images of a run, several at a time
#
# Rule: the result does not depend on which image came first. Workers are bounded, every failure is a
# finding of its own image, but a problem of a registry is reported once, with the first of its images; and when
# the run is over (also by Ctrl-C) no worker goes on.


NAMED_IMAGES = 4  # images that a finding about several names


class Run(NamedTuple):
    """Entries by reference in the order of the images; findings: of each image; fetched: the number of new ones.

    digests: of each image, or "".
    """

    entries: dict[str, dict[str, Any]]
    findings: tuple[tuple[Finding, ...], ...]
    fetched: int
    digests: tuple[str, ...] = ()


def resolve_all(
    images: Sequence[Image],
    sources: Sequence[ImageSource],
    facts: Mapping[str, dict[str, Any]],
    limits: LockLimits,
    jobs: int,
    progress: Callable[[int], object],
) -> Run:
    """Resolve the images. facts: entries by digest; jobs: workers.

    progress: called in this thread, twice a second, with the number of images done since the last call.
    """
    stop = Event()
    shared = SharedState(sources, limits, Shared())
    old = dict(facts)

    def work(image: Image) -> Locked | LockProblem:
        try:
            return resolve_image(image, shared, old, Budget(limits.seconds, stop))
        except LockProblem as problem:
            return problem.with_traceback(None)  # a traceback would keep connections

    pool = ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="lock")
    try:
        futures = [pool.submit(work, image) for image in images]
        rest = set(futures)
        while rest:
            finished, rest = wait(rest, timeout=0.5, return_when=FIRST_COMPLETED)
            progress(len(finished))
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)
    results = [future.result() for future in futures]
    locked = [result for result in results if isinstance(result, Locked)]
    findings = tuple(_findings(images, results))
    fetched = len({result.entry["digest"] for result in locked} - old.keys())
    entries = {result.name: result.entry for result in locked}
    digests = tuple(result.entry["digest"] if isinstance(result, Locked) else "" for result in results)
    return Run(entries, findings, fetched, digests)


def _findings(images: Sequence[Image], results: Sequence[Locked | LockProblem]) -> Iterator[tuple[Finding, ...]]:
    """Report one problem of a registry once, with the first of its images."""
    together: dict[tuple[str, ...], list[Image]] = {}
    for image, result in zip(images, results, strict=True):
        if isinstance(result, LockProblem) and result.about_registry:
            together.setdefault(result.key, []).append(image)
    for image, result in zip(images, results, strict=True):
        if isinstance(result, Locked):
            yield result.findings
        elif not result.about_registry:
            yield (result.finding(str(image)),)
        else:
            same = together.pop(result.key, None)
            yield (result.finding(_name_images(same)),) if same else ()


def _name_images(images: Sequence[Image]) -> str:
    """Write `a`, `a and b`, or `a, b, c and 45 more`."""
    names = [str(image) for image in images[:NAMED_IMAGES]]
    rest = len(images) - len(names)
    if rest:
        return f"{', '.join(names)} and {rest} more"
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
