"""Look up the images of a task: the entries of its lock, the pins of its deployment's files, and what is wrong.

Rule of this file: the network is used here and nothing is written.
"""

import gc
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from krm_function.cli.lock.pinned_files import NOT_PINNED, PinnedFiles, pinned_files
from krm_function.cli.lock.task import Task, completed
from krm_function.cli.lock.upgrade import doubtful_tags, kept_entries, unwritten, with_tags
from krm_function.findings import Finding
from krm_function.lock import LockLimits, LockProblem, SourceOption, open_sources, resolve_all
from krm_function.record import NamedTuple
from krm_function.wiring.pin import Pin


class LookedUp(NamedTuple):
    """entries: of the lock, by reference. pinned: the files that get digests. found: how many images were.

    fetched: how many of them were not known before.
    """

    entries: dict[str, dict[str, Any]]
    pinned: PinnedFiles = PinnedFiles()
    findings: tuple[Finding, ...] = ()
    found: int = 0
    fetched: int = 0


def look_up(options: Namespace, task: Task, sources: Sequence[SourceOption], limits: LockLimits) -> LookedUp:
    """Look up all images of a task."""
    try:
        opened = open_sources(sources, options.insecure_registry, options.jobs)
    except LockProblem as problem:
        return LookedUp({}, findings=(problem.finding(""),))
    limits = limits._replace(sizes=task.sizes)
    gc.enable()  # which the command line switches off for renders; this may take minutes
    asked = [task.asked(image) for image in task.images]
    with _progress(len(asked), shown=not options.quiet) as progress:
        run = resolve_all(asked, opened, task.known, limits, options.jobs, progress)
    new = [
        Pin(image, digest)
        for image, digest in zip(task.images, run.digests, strict=True)
        if digest and digest != image.digest
    ]
    findings: list[Finding] = []
    pinned = pinned_files(options, new, task.resources)
    for use, about_image in zip(task.images.values(), run.findings, strict=True):
        findings += [use.place(one) for one in about_image if one.code != NOT_PINNED]
    findings += [task.images[pin.image].place(unwritten(pin)) for pin in new if pin.image not in pinned.done]
    looked_up = {
        str(image._replace(digest=digest))
        for image, digest in zip(asked, run.digests, strict=True)
        if digest and not image.digest
    }
    entries = with_tags(completed(run.entries, task.partial, sizes=task.sizes), task.entries, looked_up)
    entries |= kept_entries(new, pinned.done, task.entries)
    findings += doubtful_tags(task.images, entries)
    findings += pinned.findings
    if task.uses:
        from krm_function.cli.lock.unstated_users import unstated_users

        findings += unstated_users(task.uses, entries, task.profile)
    return LookedUp(entries, pinned, tuple(findings), len(run.entries), run.fetched)


@contextmanager
def _progress(total: int, *, shown: bool) -> Iterator[Callable[[int], object]]:
    """Draw a bar on standard error if that is a terminal; yield what to call with the number of images done."""
    if not shown or not sys.stderr.isatty():
        yield lambda _: None
        return
    from tqdm import tqdm

    with tqdm(total=total, desc="images", unit="image", leave=False, file=sys.stderr) as bar:

        def step(count: int) -> None:
            bar.update(count)
            bar.refresh()  # so that the clock goes on while a large layer arrives

        yield step
