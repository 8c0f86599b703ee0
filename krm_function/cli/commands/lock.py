"""`contrast-krm lock`: what the policies have to know of each image, written into an ImageLock.

Rule of this file: a lock is written whole or not at all, and an existing one keeps what people wrote into it.
"""

import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from krm_function.cli.arguments.options import LONGEST_TIMEOUT, add_config, add_findings, add_paths
from krm_function.cli.arguments.parser import Parser

if TYPE_CHECKING:
    from krm_function.cli.lock.lock_file import WrittenLock
    from krm_function.findings import Finding
    from krm_function.lock import LockLimits, SourceOption

DESCRIPTION = "Uses the network, unless --from names files only. On an error nothing is printed or written."
UNITS = {"": 1, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30}
MOST_JOBS = 64
WRITERS = ("write_kustomize", "write_values", "write_files")


def add_arguments(parser: Parser) -> None:
    """Add inputs, the lock, where images are, limits, findings."""
    add_paths(parser, what="resources")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        default="",
        help="the lock: a new file, or one whose entries and comments are kept (default: standard output)",
    )
    parser.add_argument("--prune", action="store_true", help="drop entries of images that the resources do not use")
    parser.add_argument(
        "--check",
        action="store_true",
        help="fetch and write nothing: an error for each image that the lock of -o lacks and, with --prune, for each "
        "of its entries that nothing uses",
    )
    add_config(parser)
    parser.add_argument(
        "--from",
        dest="source",
        metavar="SOURCE",
        action="append",
        default=[],
        help="where images are: registry (the default), oci:PATH (a layout, directory or tar) or docker-archive:PATH; "
        "repeatable, tried in this order",
    )
    parser.add_argument(
        "--insecure-registry",
        metavar="HOST",
        action="append",
        default=[],
        help="use plain HTTP for this registry, host or host:port (repeatable)",
    )
    parser.add_argument(
        "--max-layer-size", metavar="SIZE", default="8Gi", help="refuse images with a larger layer (default: 8Gi)"
    )
    parser.add_argument("--jobs", metavar="N", type=int, default=4, help="images at a time (default: 4)")
    parser.add_argument("--timeout", metavar="SECONDS", type=int, default=900, help="time for one image (default: 900)")
    parser.add_argument(
        "--write-kustomize",
        metavar="FILE|DIR",
        default="",
        help="also write the digests of images without one, or with an older one, into images: of this kustomization, "
        "beside their tags",
    )
    parser.add_argument(
        "--write-values",
        metavar="FILE",
        default="",
        help="also write them into this file of Helm values, behind their tags",
    )
    parser.add_argument(
        "--write-files",
        metavar="PATH",
        action="append",
        default=[],
        help="also write them into the image fields of this file, or of all files in this directory, behind their tags "
        "(repeatable)",
    )
    parser.add_argument(
        "--upgrade",
        metavar="IMAGE",
        nargs="*",
        help="look tags up again, though their images have digests: of these images (names or globs, such as web or "
        "'shop/*'), or of all",
    )
    add_findings(parser)


def run(options: Namespace) -> int:
    """Lock the images of some resources."""
    import gc

    from krm_function.cli.lock.lock_file import write_lock
    from krm_function.cli.lock.pinned_files import NOT_PINNED, pinned_files
    from krm_function.cli.lock.task import completed, read_task
    from krm_function.cli.lock.upgrade import doubtful_tags, kept_entries, unwritten, with_tags
    from krm_function.cli.messages import print_findings
    from krm_function.findings import finding, has_errors
    from krm_function.lock import LockProblem, open_sources, resolve_all
    from krm_function.model.finding_position import yaml_finding
    from krm_function.wiring.pin import Pin
    from krm_function.yamltext import YamlError

    sources, limits, misused = _flags(options)
    if misused:
        return print_findings(misused, options.format, options.report)
    task, findings = read_task(options)
    if not task.images and not has_errors(findings):
        findings.append(finding("CC1210"))
    if has_errors(findings) or not task.images:
        return print_findings(findings, options.format, options.report)
    if options.check:
        from krm_function.cli.lock.stale_lock import check_lock

        findings += check_lock(task, prune=options.prune)
        done = "" if has_errors(findings) else f"all images of the input are in {options.output}\n"
        return print_findings(findings, options.format, options.report, done)
    try:
        opened = open_sources(sources, options.insecure_registry, options.jobs)
    except LockProblem as problem:
        return print_findings([*findings, problem.finding("")], options.format, options.report)
    gc.enable()  # which the command line switches off for renders; this may take minutes
    asked = [task.asked(image) for image in task.images]
    with _progress(len(asked), shown=not options.quiet) as progress:
        run = resolve_all(asked, opened, task.known, limits, options.jobs, progress)
    new = [
        Pin(image, digest)
        for image, digest in zip(task.images, run.digests, strict=True)
        if digest and digest != image.digest
    ]
    extra = pinned_files(options, new, task.resources)
    for use, about_image in zip(task.images.values(), run.findings, strict=True):
        findings += [use.place(one) for one in about_image if one.code != NOT_PINNED]
    findings += [task.images[pin.image].place(unwritten(pin)) for pin in new if pin.image not in extra.done]
    looked_up = {
        str(image._replace(digest=digest))
        for image, digest in zip(asked, run.digests, strict=True)
        if digest and not image.digest
    }
    entries = with_tags(completed(run.entries, task.partial), task.entries, looked_up)
    entries |= kept_entries(new, extra.done, task.entries)
    findings += doubtful_tags(task.images, entries)
    findings += extra.findings
    if task.uses:
        from krm_function.cli.lock.unstated_users import unstated_users

        findings += unstated_users(task.uses, entries, task.profile)
    summary = ""
    if not has_errors(findings):
        try:
            written = write_lock(task.file, entries, extra.files, prune=options.prune)
            findings += written.findings
            if not has_errors(findings):
                summary = extra.summary + _summary(len(run.entries), run.fetched, written)
        except YamlError as problem:
            findings.append(yaml_finding(problem, options.output))
    return print_findings(findings, options.format, options.report, summary)


def _summary(count: int, fetched: int, written: "WrittenLock") -> str:
    """Return the closing line: how many images, and what else is worth knowing."""
    text = f"{count} image{'' if count == 1 else 's'}: {fetched} fetched, {count - fetched} known already"
    if written.kept:
        text += f", {written.kept} that nothing uses any more kept (--prune drops them)"
    if written.waited >= 1:
        text += f", after {written.waited:.0f} s of waiting for another run that writes into the same directory"
    return f"{text}\n"


def _flags(options: Namespace) -> "tuple[list[SourceOption], LockLimits, list[Finding]]":
    """Return the sources and limits of one call, and what is wrong with its flags."""
    import re

    from krm_function.findings import finding
    from krm_function.lock import FORMS, LockLimits, parse_source
    from krm_function.model.image import HOST

    misused: list[Finding] = []

    def refuse(code: str, option: str, **values: Any) -> None:
        misused.append(finding(code, option=option, **values))

    sources = []
    for text in options.source or ["registry"]:
        source = parse_source(text)
        if source is None:
            refuse("CC0909.source", "--from", known=", ".join(FORMS[:-1]), last=FORMS[-1])
        else:
            sources.append(source)
    for host in options.insecure_registry:
        if not re.fullmatch(rf"{HOST}(?::[0-9]{{1,5}})?", host):
            refuse("CC0909.registry", "--insecure-registry")
    size = re.fullmatch(r"([1-9][0-9]{0,12})(Ki|Mi|Gi)?", options.max_layer_size)
    if size is None:
        refuse("CC0909.layer-size", "--max-layer-size")
    if not 1 <= options.jobs <= MOST_JOBS:
        refuse("CC0909.jobs", "--jobs", limit=MOST_JOBS)
    if not 1 <= options.timeout <= LONGEST_TIMEOUT:
        refuse("CC0909.timeout", "--timeout", limit=LONGEST_TIMEOUT)
    limit = int(size[1]) * UNITS[(size[2] or "").lower()] if size else 0
    return sources, LockLimits(limit, float(options.timeout)), [*misused, *_contradictions(options)]


def _contradictions(options: Namespace) -> "Iterator[Finding]":
    """Yield the flags of a call that want another flag, or do not go together with --check."""
    from krm_function.findings import finding

    if options.prune and not options.output:
        yield finding("CC0909.prune", option="--prune")
    if options.check and not options.output:
        yield finding("CC0909.check-what", option="--check")
    for option in ("source", *WRITERS, "upgrade") if options.check else ():
        value = getattr(options, option)
        if value or (option == "upgrade" and value is not None):
            yield finding("CC0909.check", option=f"--{option.replace('source', 'from').replace('_', '-')}")


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
