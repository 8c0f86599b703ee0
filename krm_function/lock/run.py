"""All images of a run, several at a time.

Rule of this file: the result does not depend on which image came first. Workers are bounded, every failure is a finding
of its own image, but what is wrong with a registry is reported once, with the first of its images; and when the run is
over (also by Ctrl-C) no worker goes on.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from threading import Event
from typing import Any

from krm_function.findings import Finding
from krm_function.lock.accounts import Shared
from krm_function.lock.budget import Budget
from krm_function.lock.lock_problem import LockProblem
from krm_function.lock.resolve_image import ImageSource, Locked, LockLimits, SharedState, resolve_image
from krm_function.model.image import Image
from krm_function.record import NamedTuple

NAMED = 4  # images that a finding about several names


class Run(NamedTuple):
    """Entries by reference in the order of the images; findings: of each image; fetched: how many were not known.

    digests: of each image, "" for one that was not found.
    """

    entries: dict[str, dict[str, Any]]
    findings: tuple[tuple[Finding, ...], ...]
    fetched: int
    digests: tuple[str, ...] = ()


def resolve_all(
    images: Sequence[Image],
    sources: Sequence[ImageSource],
    known: Mapping[str, dict[str, Any]],
    limits: LockLimits,
    jobs: int,
    progress: Callable[[int], object],
) -> Run:
    """Resolve the images. known: entries by digest; jobs: workers.

    progress: called in this thread, twice a second, with how many images are done since the last time.
    """
    stop = Event()
    shop = SharedState(sources, limits, Shared())
    old = dict(known)

    def work(image: Image) -> Locked | LockProblem:
        try:
            return resolve_image(image, shop, old, Budget(limits.seconds, stop))
        except LockProblem as problem:
            return problem.with_traceback(None)  # which would keep connections

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
    fetched = len({one.entry["digest"] for one in locked} - old.keys())
    entries = {one.name: one.entry for one in locked}
    digests = tuple(one.entry["digest"] if isinstance(one, Locked) else "" for one in results)
    return Run(entries, findings, fetched, digests)


def _findings(images: Sequence[Image], results: Sequence[Locked | LockProblem]) -> Iterator[tuple[Finding, ...]]:
    """Yield the findings of each image. One problem of a registry is one finding, with the first of its images."""
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
            yield (result.finding(_named(same)),) if same else ()


def _named(images: Sequence[Image]) -> str:
    """Write `a`, `a and b`, or `a, b, c and 45 more`."""
    names = [str(image) for image in images[:NAMED]]
    more = len(images) - len(names)
    if more:
        return f"{', '.join(names)} and {more} more"
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
